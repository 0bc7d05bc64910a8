"""One table, whatever it is kept in and whichever command reads it: the same numbers."""

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from metassay.api.columns import Roles
from metassay.api.eval_request import EvalRequest
from metassay.api.meta_eval import _read_all
from metassay.datasets import own_data
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.project.spreadsheets.summary import project_of
from metassay.tabular.files import read_sheet
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import frame_sheet

DOCS, SYSTEMS = [f"d{n}" for n in range(1, 7)], ("alba", "brise")
TEXTS = [["doc_id", "system", "text"]] + [
    [d, s, f"{s} says of {d} that it is well"] for d in DOCS for s in SYSTEMS
]
KEYS = [(d, s) for d in DOCS for s in SYSTEMS]
Rows = list[list[str]]


def scores(
    *names: str, cell: Callable[[int, int], str] = lambda n, m: f"0.{n}{m + 1}"
) -> Rows:
    """A column per metric, a row per text."""
    body = [
        [d, s, *(cell(n, m) for m in range(len(names)))]
        for n, (d, s) in enumerate(KEYS)
    ]
    return [["doc_id", "system", *names], *body]


def ratings(*names: str, cell: Callable[[int], str] = lambda n: str(1 + n % 5)) -> Rows:
    """A column per criterion, a row per text and rater."""
    body = [
        [d, s, rater, *(cell(n + m + k) for m in range(len(names)))]
        for n, (d, s) in enumerate(KEYS)
        for k, rater in enumerate(("ann", "ben"))
    ]
    return [["doc_id", "system", "rater", *names], *body]


def long(table: Rows, n_keys: int, thing: str) -> Rows:
    """A row per value."""
    head, *body = table
    each = [
        [*r[:n_keys], c, r[n_keys + m]]
        for r in body
        for m, c in enumerate(head[n_keys:])
    ]
    return [[*head[:n_keys], thing, "value"], *each]


def called(table: Rows, *names: str) -> Rows:
    """With other names of the first columns."""
    return [[*names, *table[0][len(names) :]], *table[1:]]


def cycle(*cells: str) -> Callable[[int], str]:
    return lambda n: cells[n % len(cells)]


def as_csv(table: Rows, folder: Path, name: str, separator: str = ",") -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(table)
    path = folder / f"{name}.csv"
    # As Excel writes it, where it writes semicolons.
    path.write_text(
        text.getvalue(), encoding="utf-8-sig" if separator == ";" else "utf-8"
    )
    return path


def as_xlsx(table: Rows, folder: Path, name: str) -> Path:
    book = openpyxl.Workbook()
    for row in table:
        book.active.append(list(map(typed, row)))
    book.save(folder / f"{name}.xlsx")
    return folder / f"{name}.xlsx"


def typed(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


def records(table: Rows) -> list[dict[str, Any]]:
    return [dict(zip(table[0], map(typed, row), strict=True)) for row in table[1:]]


def as_json(table: Rows, folder: Path, name: str) -> Path:
    (folder / f"{name}.json").write_text(json.dumps(records(table)))
    return folder / f"{name}.json"


def as_jsonl(table: Rows, folder: Path, name: str) -> Path:
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records(table))))
    return folder / f"{name}.jsonl"


def as_frame(table: Rows) -> pd.DataFrame:
    """A column of numbers where all cells are numbers, else of texts, as frames of Arrow have."""
    frame = pd.DataFrame(records(table))
    mixed = [name for name in frame if len({type(cell) for cell in frame[name]}) > 1]
    for name in mixed:
        place = table[0].index(name)
        frame[name] = [row[place] for row in table[1:]]
    return frame


def as_parquet(table: Rows, folder: Path, name: str) -> Path:
    as_frame(table).to_parquet(folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


PLAIN = (scores("error_rate", "align"), ratings("fluency"))
SETS: dict[str, tuple[Rows, Rows]] = {
    "plain": PLAIN,
    "long": (
        long(PLAIN[0], 2, "metric"),
        long(ratings("fluency", "accuracy"), 3, "criterion"),
    ),
    "usual names": (
        called(PLAIN[0], "visit_id", "model"),
        called(PLAIN[1], "case", "llm", "coder"),
    ),
    "less is better": (scores("TER", "omissions"), ratings("errors")),
    "known metrics": (scores("words", "coverage"), ratings("quality")),
    "yes and no": (
        PLAIN[0],
        ratings("faithful_overall", cell=cycle("yes", "no", "no")),
    ),
    "pass and fail": (
        PLAIN[0],
        ratings("accuracy", cell=cycle("pass", "fail", "fail")),
    ),
    "true and false": (scores("check", cell=lambda n, _: str(n % 3 == 0)), PLAIN[1]),
    "correct": (
        PLAIN[0],
        ratings("correctness", cell=cycle("correct", "incorrect", "N/A")),
    ),
    "Inspect": (scores("grader", cell=lambda n, _: "CIPN"[n % 4]), PLAIN[1]),
    "stars": (PLAIN[0], ratings("quality", cell=cycle("★★★★☆", "★★☆☆☆", "★★★★★"))),
    "stars in words": (
        PLAIN[0],
        ratings("quality", cell=cycle("4 stars", "1 star", "3 stars")),
    ),
    "out of five": (PLAIN[0], ratings("quality", cell=cycle("4/5", "2/5", "5/5"))),
    "Label Studio": (
        PLAIN[0],
        ratings("quality", cell=cycle('[{"rating": 3}]', '[{"rating": 5}]')),
    ),
    "labelled": (
        PLAIN[0],
        ratings("quality", cell=cycle("1 - poor", "3 (fair)", "5: good")),
    ),
    "C and I": (PLAIN[0], ratings("correctness", cell=cycle("C", "I", "C"))),
    "other words": (PLAIN[0], ratings("accuracy", cell=cycle("ja", "nein"))),
    "out of, in words": (
        PLAIN[0],
        ratings("quality", cell=cycle("4 out of 5", "2 out of 5")),
    ),
    "missing words": (
        PLAIN[0],
        ratings(
            "quality",
            cell=cycle("4", "N/A", "NULL", "missing", "—", "3", ".", "2", "1"),
        ),
    ),
    "decimal comma beside whole numbers": (
        PLAIN[0],
        ratings("quality", cell=cycle("3,5", "4", "2,5")),
    ),
    "a form with a column per text": (
        PLAIN[0],
        [
            ["Timestamp", "Email address", *(f"{d} - {s} [fluency]" for d, s in KEYS)],
            *(
                [
                    f"2024-05-0{k + 1}",
                    rater,
                    *(str(1 + (n + k) % 5) for n in range(len(KEYS))),
                ]
                for k, rater in enumerate(("ann", "ben"))
            ),
        ],
    ),
    "missing": (
        scores("align", cell=lambda n, _: "N/A" if n == 4 else f"0.{n + 1}"),
        ratings("quality", cell=cycle("1", "-", "3", "none", "5")),
    ),
    "percent": (scores("align", cell=lambda n, _: f"{n + 20}%"), PLAIN[1]),
    "decimal comma": (scores("align", cell=lambda n, _: f"0,{n + 1}"), PLAIN[1]),
    "a remark": (
        [[*row, "so" if n else "remark"] for n, row in enumerate(PLAIN[0])],
        PLAIN[1],
    ),
    "numbers beside": (
        [[*r, str(n) if n else "seed"] for n, r in enumerate(PLAIN[0])],
        PLAIN[1],
    ),
    "raters side by side": (
        PLAIN[0],
        [
            ["doc_id", "system", "rater_1", "rater_2"],
            *([d, s, str(1 + n % 5), str(1 + n % 4)] for n, (d, s) in enumerate(KEYS)),
        ],
    ),
    "criteria by rater": (
        PLAIN[0],
        [
            [
                "doc_id",
                "system",
                "fluency_r1",
                "fluency_r2",
                "accuracy_r1",
                "accuracy_r2",
            ],
            *(
                [d, s, *(str(1 + (n + m) % 5) for m in range(4))]
                for n, (d, s) in enumerate(KEYS)
            ),
        ],
    ),
    "empty columns at the end": ([[*row, "", ""] for row in PLAIN[0]], PLAIN[1]),
    "a title": ([["Scores of spring", "", "", ""], *PLAIN[0]], PLAIN[1]),
    "counted rows": (
        [[str(n - 1) if n else "", *row] for n, row in enumerate(PLAIN[0])],
        PLAIN[1],
    ),
    "capitals": (
        called(PLAIN[0], "Doc_ID", "System"),
        called(PLAIN[1], "DOC ID", "System", "Rater"),
    ),
}


def by_meta_eval(paths: dict[str, Path], **better: list[str]) -> dict[str, Any]:
    """What meta-eval evaluates."""
    faults = Findings()
    sheets = {kind: read_sheet(path, faults) for kind, path in paths.items()}
    assert not faults, faults.lines()
    return evaluated(sheets["scores"], sheets["ratings"], **better)


def evaluated(of_scores: Any, of_ratings: Any, **better: list[str]) -> dict[str, Any]:
    read = _read_all(
        [of_scores], [of_ratings], EvalRequest(Roles(), better, {}, None, [], {})
    )
    assert read.scores is not None
    scored = read.scores.table[["doc_id", "author", "metric", "value"]]
    rated = read.ratings.table[["doc_id", "author", "rater", "criterion", "value"]]
    return {
        "scores": frozenset(scored.itertuples(index=False, name=None)),
        "ratings": frozenset(rated.itertuples(index=False, name=None)),
        "metrics": read.settings.better,
        "criteria": {
            name: scale.better for name, scale in read.settings.criteria.items()
        },
        "lines": [line for line in read.settings.notes if " is better (" in line],
    }


def by_init(
    paths: dict[str, Path], folder: Path, **better: list[str]
) -> dict[str, Any]:
    """What init evaluates, and what own data hold that it wrote."""
    texts = as_csv(TEXTS, folder, "texts")
    files = {"texts": [texts], **{kind: [path] for kind, path in paths.items()}}
    inputs = read_all(Inputs(files, **better))
    content = project_of("mine", inputs, ["texts.csv"])
    data = folder / "data"
    data.mkdir(exist_ok=True)
    for name, data_bytes in content.data.items():
        (data / Path(name).name).write_bytes(data_bytes)
    rows = own_data.read(data)
    assert not rows.problems, rows.problems.lines()
    theirs = {new: old for old, new in inputs.renamed.items()}
    assert [r[1:] for r in rows.ratings] == [r[1:] for r in inputs.rows.ratings]
    scored = [(r.doc_id, r.author, theirs[r.metric], r.value) for r in rows.scores]
    rated = [(r.doc_id, r.author, r.rater, r.criterion, r.value) for r in rows.ratings]
    return {
        "scores": frozenset(row for row in scored if row[-1] is not None),
        "ratings": frozenset(row for row in rated if row[-1] is not None),
        "metrics": {theirs[row.metric]: row.better for row in rows.metrics},
        "criteria": {name: scale.better for name, scale in inputs.criteria.items()},
        "lines": list(inputs.directions),
    }


FILES = (
    *(partial(as_csv, separator=separator) for separator in ",;\t"),
    as_xlsx,
    as_json,
    as_jsonl,
    as_parquet,
)


@pytest.mark.parametrize("name", SETS)
def test_every_command_reads_the_same_whatever_it_is_kept_in(
    tmp_path: Path, name: str
) -> None:
    both = dict(zip(("scores", "ratings"), SETS[name], strict=True))
    # What a title stands above, or counts without a name, is not a table to any
    # program.
    forms = FILES[:4] if "" in SETS[name][0][0] else FILES
    results = []
    for n, form in enumerate(forms):
        paths = {kind: form(table, tmp_path, kind) for kind, table in both.items()}
        results.append(by_meta_eval(paths))
        if n in (0, len(name) % len(forms)):
            results.append(by_init(paths, tmp_path))
    if forms == FILES:
        sheets = [
            frame_sheet(as_frame(table), "frame", Findings()) for table in both.values()
        ]
        results.append(evaluated(*sheets))
    assert all(result == results[0] for result in results[1:])
    assert len(results[0]["scores"]) >= 11
    assert len(results[0]["ratings"]) >= 9


def plain_files(folder: Path) -> dict[str, Path]:
    both = zip(("scores", "ratings"), PLAIN, strict=True)
    return {kind: as_csv(table, folder, kind) for kind, table in both}


class Polars:
    """Only what a frame of polars is asked for."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def to_arrow(self) -> Any:
        import pyarrow as pa

        return pa.Table.from_pandas(self._frame, preserve_index=False)


class Streamed:
    """A frame by Arrow's protocol alone."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        lambda r: Polars(pd.DataFrame(r)).to_arrow(),
        lambda r: Polars(pd.DataFrame(r)),
        lambda r: Streamed(pd.DataFrame(r)),
    ],
)
def test_frames(tmp_path: Path, make: Callable[..., Any]) -> None:
    faults = Findings()
    sheets = [frame_sheet(make(records(table)), "frame", faults) for table in PLAIN]
    assert not faults
    paths = plain_files(tmp_path)
    assert evaluated(*sheets) == by_meta_eval(paths)
    assert frame_sheet(3, "frame", faults) is None
    assert "is not a data frame" in faults.lines()[0]


def test_what_is_said_of_directions_goes_before_the_name(tmp_path: Path) -> None:
    paths = plain_files(tmp_path)
    result = by_meta_eval(paths, higher=["error_rate"], lower=["fluency"])
    assert result == by_init(paths, tmp_path, higher=["error_rate"], lower=["fluency"])
    assert result["metrics"] == {"error_rate": "higher", "align": "higher"}
    assert result["criteria"] == {"fluency": "lower"}
    assert "metrics, more is better (as you say): 'error_rate'" in result["lines"]
    assert by_meta_eval(paths)["metrics"]["error_rate"] == "lower"
