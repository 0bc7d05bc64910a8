"""Which text meets which evidence, and what has no score: every rule on texts of one line."""

import dataclasses
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay import __version__
from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen, record_of
from metassay.core.options import Options
from metassay.metrics import METRICS
from metassay.metrics.bleu import BleuOptions
from metassay.metrics.describe import Measured
from metassay.metrics.measure import measure
from metassay.metrics.rouge import RougeOptions
from metassay.tables import parquet
from metassay.tables.scores import MEASUREMENTS

OPTIONS: dict[str, Options] = {
    "rouge": RougeOptions(stemmer=False, split="newline"),
    "bleu": BleuOptions(tokenize="13a", lowercase=False),
    "edit_distance": Options(),
    "extractiveness": Options(),
    "lengths": Options(),
}
SOURCES = pd.DataFrame(
    {
        "doc_id": ["d1", "d2"],
        "passages": [["my knee hurts", "since monday"], ["i feel well"]],
    }
)
SECTIONS = [  # of the reference
    ("d1", "reference", "full", "knee pain\nbrace"),
    ("d1", "reference", "subjective", "knee pain"),
    ("d1", "reference", "assessment_and_plan", "brace"),
]
NOTHING = (None, 0, 0, 0)


def table(*rows: tuple[str, str, str, str | None]) -> pd.DataFrame:
    frame = pd.DataFrame(
        rows, columns=["doc_id", "author", "part", "text"], dtype=object
    )
    return frame.assign(
        leaf="yes",
        status=["refused" if text is None else "ok" for text in frame["text"]],
    )


def chosen(kind: str) -> Chosen:
    return Chosen(kind, record_of(METRICS, kind), OPTIONS[kind])


def measured(
    kind: str, parts: pd.DataFrame, sources: pd.DataFrame = SOURCES
) -> pd.DataFrame:
    table, warnings = measure(sources, parts, [chosen(kind)], segmentation="soap")
    assert warnings == ()
    return table


def scores(
    kind: str, metric: str, parts: pd.DataFrame, sources: pd.DataFrame = SOURCES
) -> Any:
    """By document, author and part: value, n_expected, n_judged, n_failed."""
    rows = measured(kind, parts, sources).query("metric == @metric").astype(object)
    rows = rows.where(rows.notna(), None).set_index(["doc_id", "author", "part"])
    known = rows.dropna(subset="value")
    assert (
        known["low"].tolist()
        == known["high"].tolist()
        == pytest.approx(known["value"].tolist())
    )
    counts = zip(
        *(rows[n] for n in ("value", "n_expected", "n_judged", "n_failed")), strict=True
    )
    return dict(zip(rows.index, counts, strict=True))


def test_a_text_meets_the_reference_of_its_own_document() -> None:
    parts = table(
        ("d2", "reference", "full", "well"),
        ("d1", "reference", "full", "knee pain"),
        ("d1", "a", "full", "knee"),
        ("d2", "a", "full", "knee"),
    )
    rows = measured("rouge", parts).query("metric == 'rouge1_recall'")
    # The reference is not compared with itself.
    assert list(zip(rows["doc_id"], rows["author"], strict=True)) == [
        ("d1", "a"),
        ("d2", "a"),
    ]
    assert (
        rows["value"].tolist()
        == rows["low"].tolist()
        == rows["high"].tolist()
        == [0.5, 0]
    )
    assert list(rows["statistics"].iloc[0]) == [1, 2]
    ends = (
        f"|against:reference|segmentation:soap|citations:removed|metassay:{__version__}"
    )
    rouge = "rouge1_recall|stemmer:no|split:newline|rouge-score:0.1.2"
    assert set(rows["recipe"]) == {rouge + ends}
    lengths = {f"{name}|words:whitespace{ends}" for name in ("words", "characters")}
    recipes = measured("lengths", parts)["recipe"]
    assert set(recipes) == {
        recipe.replace("reference", "nothing") for recipe in lengths
    }


def test_sections_that_one_side_left_out() -> None:
    parts = table(
        *SECTIONS,
        ("d1", "a", "full", "knee pain\nnormal"),
        ("d1", "a", "subjective", "knee pain"),
        ("d1", "a", "objective_exam", "normal"),
        ("d1", "b", "full", "knee pain"),
    )
    recall, precision = (
        scores("rouge", f"rouge1_{v}", parts) for v in ("recall", "precision")
    )
    # Left out by the author: an empty text. It says nothing wrong, so precision is
    # undefined.
    assert recall["d1", "a", "assessment_and_plan"] == (0, 1, 1, 0)
    assert precision["d1", "a", "assessment_and_plan"] == (None, 1, 1, 0)
    # Left out by the reference: all of it is too much, and there was nothing to recall.
    assert precision["d1", "a", "objective_exam"] == (0, 1, 1, 0)
    assert recall["d1", "a", "objective_exam"] == (None, 1, 1, 0)
    # An author without sections has left out all of the reference's. Left out by both:
    # no row.
    assert recall["d1", "b", "subjective"] == (0, 1, 1, 0)
    assert ("d1", "b", "objective_exam") not in recall
    # A reference without sections has nothing to compare a section with.
    whole = table(
        SECTIONS[0], ("d1", "a", "full", "brace"), ("d1", "a", "subjective", "brace")
    )
    rows = scores("rouge", "rouge1_precision", whole)
    assert rows["d1", "a", "full"] == (1, 1, 1, 0)
    assert rows["d1", "a", "subjective"] == NOTHING


@pytest.mark.parametrize("kind", ["rouge", "bleu", "edit_distance"])
@pytest.mark.parametrize("reference", [(), (("d1", "reference", "full", None),)])
def test_without_a_reference_nothing_is_expected(
    reference: tuple[Any, ...], kind: str
) -> None:
    parts = table(
        *reference, ("d1", "a", "full", "knee pain"), ("d1", "b", "full", None)
    )
    for description in chosen(kind).record.descriptions:
        rows = scores(kind, description.name, parts)
        assert rows == {("d1", author, "full"): NOTHING for author in ("a", "b")}
    assert measured(kind, parts)["statistics"].isna().all()


def test_without_source_there_is_nothing_to_copy_from() -> None:
    texts = table(("d1", "a", "full", "knee pain"), ("d2", "a", "full", "i feel well"))
    bare = SOURCES.assign(passages=[[], ["i feel well"]])
    rows = scores("extractiveness", "coverage", texts, bare)
    assert list(rows.values()) == [NOTHING, (1, 1, 1, 0)]
    with pytest.raises(BadInput, match=r"doc_id 'd3'.*run ingest") as error:
        measured("extractiveness", table(("d3", "a", "full", "secret words")))
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "metric", "expected"),
    [
        ("rouge", "rouge1_recall", [0, 1]),
        ("bleu", "bleu", [0, 100]),
        ("edit_distance", "edit_distance", [0, 1]),
        ("extractiveness", "coverage", [0, 1]),
        ("extractiveness", "density", None),
        ("lengths", "words", None),
    ],
)
def test_a_failed_text_is_unknown_and_not_wrong(
    kind: str, metric: str, expected: Any
) -> None:
    parts = table(*SECTIONS[:2], ("d1", "a", "full", None))
    frame = measured(kind, parts).query("metric == @metric and author == 'a'")
    row = frame.set_index("part").loc["full"]
    assert row[["n_expected", "n_judged", "n_failed"]].tolist() == [1, 0, 1]
    assert pd.isna(row["value"])
    assert row["statistics"] is None
    assert (
        row[["low", "high"]].tolist() == expected if expected else pd.isna(row["low"])
    )
    # Its sections failed too: they were not left out.
    if chosen(kind).record.against == "reference":
        assert frame.set_index("part").loc["subjective", "n_failed"] == 1


def test_against_the_source_or_nothing_every_author_counts_and_citations_are_no_words() -> (
    None
):
    parts = table(
        ("d1", "reference", "full", "knee hurts [0]."),
        ("d1", "reference", "subjective", "knee hurts"),
        ("d1", "a", "full", "hurts since monday [0][1]."),
        ("d1", "b", "full", "knee hurts [1]."),
    )
    density = scores("extractiveness", "density", parts)
    assert {key[1:]: row[0] for key, row in density.items()} == {
        # passages are one text: a fragment may run from one into the next
        ("reference", "full"): 2,
        ("reference", "subjective"): 2,
        ("b", "full"): 2,
        ("a", "full"): 3,
    }
    assert scores("lengths", "words", parts)["d1", "reference", "full"][0] == 2
    assert scores("rouge", "rouge1_precision", parts)["d1", "b", "full"][0] == 1


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_every_family_gives_a_valid_table_in_any_order(
    kind: str, tmp_path: Path
) -> None:
    parts = table(
        *SECTIONS[:2],
        ("d1", "a", "full", ""),
        ("d1", "b", "full", None),
        ("d2", "a", "full", "knee pain"),
        ("d2", "a", "subjective", "knee pain"),
        ("d2", "b", "full", "i feel well"),
    )
    for name, rows in (
        ("first", parts),
        ("turned", parts.iloc[::-1]),
        ("empty", parts[:0]),
    ):
        frame = measured(kind, rows, SOURCES.iloc[::-1])
        parquet.write(MEASUREMENTS, frame, tmp_path / f"{name}.parquet")
    assert (tmp_path / "first.parquet").read_bytes() == (
        tmp_path / "turned.parquet"
    ).read_bytes()
    assert parquet.read(MEASUREMENTS, tmp_path / "empty.parquet").empty
    frame = parquet.read(MEASUREMENTS, tmp_path / "first.parquet")
    assert (frame["n_judged"] + frame["n_failed"] == frame["n_expected"]).all()
    ranges = {each.name: each.range for each in chosen(kind).record.descriptions}
    assert set(frame["metric"]) == set(ranges)
    for metric, values in frame.dropna(subset="value").groupby("metric")["value"]:
        low, high = ranges[str(metric)]
        assert values.ge(low).all()
        assert high is None or values.le(high).all()
    # Further references are neither measured nor compared with.
    further = table(
        ("d1", "reference:2", "full", "four"), ("d1", "reference:3", "full", None)
    )
    beside = measured(kind, pd.concat([parts, further]))
    pd.testing.assert_frame_equal(beside, measured(kind, parts))


def test_letters_that_a_metric_does_not_read_are_counted() -> None:
    parts = table(
        ("d1", "reference", "full", "ไม่มีไข้"),
        ("d1", "a", "full", "ไม่มีไข้"),
        ("d2", "reference", "full", "well"),
        ("d2", "a", "full", "well"),
    )
    results = measure(SOURCES, parts, [chosen("rouge")], segmentation="soap")
    (line,) = results.warnings
    assert line.startswith("rouge: letters beyond a-z in 1 of 2 comparisons: ")


def test_what_a_model_could_not_read_to_its_end_is_counted_by_author() -> None:
    def measure_all(candidates: Any, *_: Any) -> dict[str, list[Measured]]:
        return {
            "words": [Measured(1.0, None, cut=len(text) > 4) for text in candidates]
        }

    _, record, options = chosen("lengths")
    changes: Any = {"measure": measure_all, "against": "reference"}
    short = dataclasses.replace(record, descriptions=record.descriptions[:1], **changes)
    parts = table(
        ("d1", "reference", "full", "knee"),
        ("d1", "a", "full", "knee pain"),
        ("d2", "reference", "full", "well"),
        ("d2", "a", "full", "very well"),
        ("d2", "b", "full", "well"),
    )
    results = measure(
        SOURCES, parts, [Chosen("short", short, options)], segmentation="soap"
    )
    assert results.warnings == (
        "short: 2 of 3 comparisons have a text that is longer than the model reads; only its"
        " beginning counts (a 2)",
    )
    assert results.table["value"].tolist() == [1.0, 1.0, 1.0]
    wrong = dataclasses.replace(record, measure=lambda *_: {"words": []})
    with pytest.raises(
        BadInput, match=r"wrong: returned .* values, not .*; correct the metric"
    ):
        measure(SOURCES, parts, [Chosen("wrong", wrong, options)], segmentation="soap")
