"""Two invented benchmarks, an invented paper, and records of it in every form."""

import shutil
from pathlib import Path

import pandas as pd

from metassay.meta_evaluation.agreement import RATING_SUMMARIES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import empty, write
from papers.draw import Inputs, inputs_in
from papers.record import EachValue, Line, Missing, Numbers, Record

FORMS = ("dots", "bars", "lines", "heatmap", "scatter", "violins")
BOARD = Numbers(
    benchmark="ward",
    table="leaderboard",
    value="macro",
    low="low",
    high="high",
    n="n_documents",
)
ROWS = (
    Line(
        title="First & 50 %",
        ours={"author": "one"},
        printed={"system_or_metric": "First"},
    ),
    Line(
        title="Second_τ", ours={"author": "two"}, printed={"system_or_metric": "Second"}
    ),
    Line(
        title="Not here",
        ours={"author": "three"},
        printed={"system_or_metric": "Third"},
    ),
)
COLUMNS = (
    Line(
        title="Recall", ours={"metric": "claim_recall"}, printed={"quantity": "Recall"}
    ),
    Line(title="Words", ours={"metric": "words"}, printed=None),
)
PRINTED = "invented_table1.csv"
HEAD = "paper,table,dataset,split_or_section,system_or_metric,setting,evaluator,quantity,value"
LINES = (
    "First,,,Recall,0.50",
    "Second,,,Recall,0.75",
    "Third,,,Recall,0.9",
    "First,,,Style,",
)


def record(name: str = "table1", form: str = "table", **changes: object) -> Record:
    fields: dict[str, object] = {
        "numbers": BOARD,
        "rows": ROWS,
        "columns": COLUMNS,
        "printed_files": (PRINTED,),
        "caption": 'With "quotes", a_b, 5 %, {x} ~ ^ \\ # $ <b> − “ü”.',
        "axis": "share",
    }
    return Record(
        paper="invented",
        name=name,
        title=f"Invented {form}",
        form=form,
        **fields | changes,
    )  # type: ignore[arg-type]


def every_form() -> tuple[Record, ...]:
    drawn = tuple(record(f"fig_{form}", form) for form in FORMS)
    panels = (
        Line(title="First half", ours={"part": "full"}),
        Line(title="None", ours={"part": "exam"}),
    )
    ours_alone = record(
        "table2",
        rows=(EachValue(column="author", without=["one"]),),
        panels=panels,
        printed_files=(),
        numbers=Numbers(benchmark="clinic", table="leaderboard", value="macro"),
    )
    return (
        record(),
        ours_alone,
        *drawn,
        Record(
            paper="invented",
            name="fig9",
            title="Open",
            form="dots",
            open=Missing(kind="data", what="raters"),
        ),
    )


def project(root: Path) -> Inputs:
    """Tables and the printed file in a folder; 2 systems in `ward`, 3 in `clinic`."""
    write_board(root, "ward", {"one": 0.5, "two": 0.7512})
    write_board(root, "clinic", {"one": 0.1, "two": 0.2, "four": 0.4})
    summaries = root / "data/tables/ward/rating_summaries.parquet"
    write(RATING_SUMMARIES, empty(RATING_SUMMARIES), summaries)
    printed = root / "reports/published" / PRINTED
    printed.parent.mkdir(parents=True)
    rows = "".join(f"invented,1,Ward,,{line},0-1,\n" for line in LINES)
    printed.write_text(f"{HEAD},unit_or_range,note\n{rows}", encoding="utf-8")
    return inputs_in(root)


def write_board(root: Path, benchmark: str, recall: dict[str, float]) -> None:
    """A leaderboard with recall and words of each system."""
    rows = []
    for metric in ("claim_recall", "words"):
        for place, (author, value) in enumerate(recall.items()):
            macro = value if metric == "claim_recall" else 100.0 + place
            rows.append(
                {
                    "part": "full",
                    "metric": metric,
                    "judge": "none",
                    "author": author,
                    "macro": macro,
                    "low": macro - 0.1,
                    "high": macro + 0.1,
                    "micro": macro,
                    "least": macro,
                    "most": macro,
                    "n_documents": 9,
                    "n_undefined": 0,
                    "n_expected": 9,
                    "n_failed": 0,
                    "better": "higher",
                    "recipe": "invented",
                }
            )
    path = root / f"data/tables/{benchmark}/leaderboard.parquet"
    if path.exists():
        shutil.rmtree(path.parent)
    write(LEADERBOARD, pd.DataFrame(rows), path)
