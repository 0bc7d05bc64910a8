"""The contracts hold on the way in and on the way out, and the page about them is current."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from metassay.core.errors import BadInput
from metassay.meta_evaluation.confounds import CONFOUNDS
from metassay.reporting.contract_page import TABLES, pages
from metassay.tables.documents import TEXTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty, read, write
from metassay.tables.ratings import RATINGS
from metassay.tables.units import UNITS

ROOT = Path(__file__).parent.parent

# The columns that the design promises to whoever reads the tables.
PROMISED = {
    "sources": "doc_id passages speaker group attributes",
    "texts": "doc_id author part status recipe",
    "parts": "doc_id author part",
    "units": "doc_id author part kind position text citations",
    "alignments": "doc_id author part position method",
    "pairs": "pair_id instrument premise hypothesis measure doc_id author part position",
    "judgments": "pair_id judge status label probability grade explanation tokens attempts",
    "scores": "doc_id author part metric judge value n_expected n_judged n_failed low high recipe",
    "leaderboard": "author part metric judge",
    "ratings": "study doc_id author part unit rater criterion",
    "correlations": "study criterion metric level coefficient value n n_undefined p",
    "significance": "metric_a metric_b p",
    "agreement": "rater_a rater_b value",
    "ensembles": "members value",
    "disagreements": "metric_a metric_b",
}


def texts(**changed: object) -> pd.DataFrame:
    row = {
        "author": "a",
        "part": "full",
        "text": "Well.",
        "status": "ok",
        "recipe": "r",
    }
    return pd.DataFrame([{"doc_id": "d1", **row}, {"doc_id": "d0", **row}]).assign(
        **changed
    )


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_promised_columns_are_declared_and_the_pages_are_current() -> None:
    for name, columns in PROMISED.items():
        assert set(columns.split()) <= set(TABLES[name].columns)
    folder = ROOT / "docs/tables"
    named = {f"tables/{page.name}" for page in folder.glob("*.md")}
    written = {
        name: (ROOT / "docs" / name).read_text(encoding="utf-8")
        for name in (*named, "tables.md")
    }
    assert written == pages(TABLES), "run `make docs`"


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_every_table_is_described_and_keyed_and_can_be_empty(table, tmp_path) -> None:
    write(table, empty(table), tmp_path / "table.parquet")
    back = read(table, tmp_path / "table.parquet")
    assert list(back.columns) == list(table.columns)
    assert back.empty
    assert set(table.key) <= set(table.columns)
    assert not any(table.columns[name].null for name in table.key)
    assert all(column.meaning for column in table.columns.values())


def test_same_rows_give_the_same_bytes_whatever_their_order_index_and_dtype(
    tmp_path: Path,
) -> None:
    write(TEXTS, texts(), tmp_path / "a.parquet")
    other = texts().iloc[::-1].astype("object").set_axis([7, 3])
    write(TEXTS, other[list(reversed(other.columns))], tmp_path / "b.parquet")
    assert digest(tmp_path / "a.parquet") == digest(tmp_path / "b.parquet")
    assert pq.read_schema(tmp_path / "a.parquet").metadata is None
    assert list(read(TEXTS, tmp_path / "b.parquet")["doc_id"]) == ["d0", "d1"]


def test_reals_are_rounded_so_that_the_order_of_a_sum_cannot_change_the_bytes(
    tmp_path,
) -> None:
    row = {name: None if c.null else 0 for name, c in CONFOUNDS.columns.items()}
    row |= dict.fromkeys(
        ("study", "criterion", "part", "metric", "judge", "confound"), "x"
    )
    row |= {"level": "global", "statistic": "partial", "coefficient": "pearson"}
    for name, value in (("a", 0.1 + 0.2), ("b", 0.3), ("z", -0.0), ("y", 0.0)):
        write(
            CONFOUNDS,
            pd.DataFrame([row | {"value": value}]),
            tmp_path / f"{name}.parquet",
        )
    assert digest(tmp_path / "a.parquet") == digest(tmp_path / "b.parquet")
    assert digest(tmp_path / "z.parquet") == digest(tmp_path / "y.parquet")


def test_what_somebody_wrote_is_kept_to_the_last_digit(tmp_path) -> None:
    row = dict.fromkeys(RATINGS.key, "x")
    for value in (0.1 + 0.2, 1 / 3, -0.0):
        write(RATINGS, pd.DataFrame([row | {"value": value}]), tmp_path / "r.parquet")
        assert read(RATINGS, tmp_path / "r.parquet")["value"][0] == value
    assert str(read(RATINGS, tmp_path / "r.parquet")["value"][0]) == "0.0"


def test_nulls_stay_nulls(tmp_path: Path) -> None:
    unit = {
        "doc_id": "d",
        "author": "a",
        "part": "full",
        "kind": "claim",
        "position": 0,
        "text": "t",
        "status": "ok",
        "citations": np.array([3, 1]),
        "statement": None,
        "start": 0,
        "end": 1,
    }
    write(UNITS, pd.DataFrame([unit]), tmp_path / "units.parquet")
    row = read(UNITS, tmp_path / "units.parquet").iloc[0]
    assert row["citations"] == [3, 1]
    assert pd.isna(row["statement"])
    assert pq.read_table(tmp_path / "units.parquet")["statement"].null_count == 1


def test_shared_premises_are_kept_once(tmp_path: Path) -> None:
    row = {
        "pair_id": "p",
        "instrument": "entailment",
        "measure": "claim_recall",
        "doc_id": "d",
        "author": "a",
        "part": "full",
        "citation": -1,
        "premise": "x" * 100_000,
        "hypothesis": "h",
        "context": None,
        "repeats": "d",
        "settled": None,
    }
    frame = pd.DataFrame([row | {"position": i} for i in range(1000)])
    write(PAIRS, frame, tmp_path / "pairs.parquet")
    assert (tmp_path / "pairs.parquet").stat().st_size < 20_000
    back = read(PAIRS, tmp_path / "pairs.parquet")
    assert back["premise"].memory_usage(deep=True) < 200_000
    assert back["premise"].iloc[999] == "x" * 100_000


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (texts().drop(columns="status"), "column 'status' is missing"),
        (texts(extra=1), "column 'extra' is unknown"),
        (texts(status="fine"), "'status' is none of ok, unparsed"),
        (texts(author=None), "'author' is null in 2 row(s); the first is doc_id='d1'"),
        (texts(doc_id="d1"), "the key occurs twice in 1 row(s)"),
        (texts(text=[["a"], "b"]), "column 'text' must be string"),
        (
            texts(text=pd.Series(["a", "\ud800"], dtype="object")),
            "holds half of a surrogate pair",
        ),
    ],
)
def test_a_bad_frame_is_refused_and_nothing_is_written(
    tmp_path, frame, message: str
) -> None:
    path = tmp_path / "texts.parquet"
    write(TEXTS, texts(), path)
    before = digest(path)
    with pytest.raises(BadInput) as caught:
        write(TEXTS, frame, path)
    assert message in str(caught.value)
    assert "Well." not in str(caught.value)
    assert digest(path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["texts.parquet"]


def test_all_problems_come_at_once_and_a_truncated_file_is_not_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "texts.parquet"
    with pytest.raises(BadInput) as caught:
        write(TEXTS, texts(author=None, status="fine"), path)
    assert len(caught.value.problems) == 2
    write(TEXTS, texts(), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(
        BadInput, match="is damaged or is not a Parquet file; metassay run builds"
    ):
        read(TEXTS, path)


def test_a_file_of_another_version_is_told_by_the_columns_that_differ(
    tmp_path: Path,
) -> None:
    path = tmp_path / "texts.parquet"
    write(TEXTS, texts(), path)
    rows = pq.read_table(path)
    pq.write_table(rows.rename_columns(["writer", *rows.schema.names[1:]]), path)
    with pytest.raises(BadInput) as caught:
        read(TEXTS, path)
    assert str(caught.value) == (
        f"texts: {path} is of another version: without {rows.schema.names[0]!r}, with 'writer';"
        " metassay run builds a benchmark's tables again"
    )
    pq.write_table(rows.select(rows.schema.names[::-1]), path)
    with pytest.raises(
        BadInput, match="its columns are in another order; metassay run builds"
    ):
        read(TEXTS, path)
    pairs = tmp_path / "pairs.parquet"
    write(PAIRS, empty(PAIRS), pairs)
    pq.write_table(pq.read_table(pairs).drop_columns(["context"]), pairs)
    with pytest.raises(BadInput, match="is of another version: without 'context'"):
        read(PAIRS, pairs)


def test_a_folder_is_one_table_and_keys_are_unique_across_its_files(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "texts"
    assert read(TEXTS, folder).empty
    write(TEXTS, texts(), folder / "b.parquet")
    write(TEXTS, texts(author="c"), folder / "a.parquet")
    assert list(read(TEXTS, folder)["author"]) == ["a", "c", "a", "c"]
    write(TEXTS, texts(), folder / "z.parquet")
    with pytest.raises(BadInput, match="the key occurs twice"):
        read(TEXTS, folder)
