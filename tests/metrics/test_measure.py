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
from metassay.metrics.describe import Description, Measured
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
        "task": "note",
        "passages": [["my knee hurts", "since monday"], ["i feel well"]],
        "speaker": [["", ""], [""]],
        "group": [["", ""], [""]],
        "attributes": None,
    }
)


def part(doc_id: str, author: str, name: str, text: str | None) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "author": author,
        "part": name,
        "text": text,
        "starts": [0],
        "ends": [len(text or "")],
        "leaf": "yes",
        "status": "refused" if text is None else "ok",
        "made_up": [],
    }


def table(*rows: tuple[str, str, str, str | None]) -> pd.DataFrame:
    return pd.DataFrame([part(*row) for row in rows])


def chosen(kind: str) -> Chosen:
    return Chosen(kind, record_of(METRICS, kind), OPTIONS[kind])


def measured(kind: str, parts: pd.DataFrame, sources: pd.DataFrame = SOURCES) -> pd.DataFrame:
    found = measure(sources, parts, [chosen(kind)], segmentation="soap")
    assert found.warnings == ()
    return found.table


def described(kind: str) -> dict[str, Description]:
    return {one.name: one for one in chosen(kind).record.descriptions}


def scores(kind: str, metric: str, parts: pd.DataFrame) -> dict[tuple[str, str, str], Any]:
    """The rows of one metric by document, author and part."""
    frame = measured(kind, parts)
    chosen = frame[frame["metric"] == metric].astype(object)
    chosen = chosen.where(chosen.notna(), None)
    return {(r["doc_id"], r["author"], r["part"]): r for r in chosen.to_dict("records")}


def counts(row: Any) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("value", "n_expected", "n_judged", "n_failed"))


def bounds(row: Any) -> tuple[Any, Any]:
    return row["low"], row["high"]


def test_a_text_meets_the_reference_of_its_own_document() -> None:
    rows = scores(
        "rouge",
        "rouge1_recall",
        table(
            ("d2", "reference", "full", "well"),
            ("d1", "reference", "full", "knee pain"),
            ("d1", "a", "full", "knee"),
            ("d2", "a", "full", "knee"),
        ),
    )
    # The reference is not compared with itself.
    assert list(rows) == [("d1", "a", "full"), ("d2", "a", "full")]
    assert counts(rows["d1", "a", "full"]) == (0.5, 1, 1, 0)
    assert bounds(rows["d1", "a", "full"]) == (0.5, 0.5)
    assert list(rows["d1", "a", "full"]["statistics"]) == [1, 2]
    assert rows["d2", "a", "full"]["value"] == 0


def test_without_source_there_is_nothing_to_copy_from() -> None:
    sources = SOURCES.assign(passages=[[], ["i feel well"]])
    texts = table(("d1", "a", "full", "knee pain"), ("d2", "a", "full", "i feel well"))
    frame = measured("extractiveness", texts, sources)
    coverage = frame[frame["metric"] == "coverage"].set_index("doc_id")
    assert coverage["value"].isna().tolist() == [True, False]
    assert coverage["n_expected"].tolist() == [0, 1]
    assert coverage["n_failed"].tolist() == [0, 0]


def test_sections_that_one_side_left_out() -> None:
    parts = table(
        ("d1", "reference", "full", "knee pain\nbrace"),
        ("d1", "reference", "subjective", "knee pain"),
        ("d1", "reference", "assessment_and_plan", "brace"),
        ("d1", "a", "full", "knee pain\nnormal"),
        ("d1", "a", "subjective", "knee pain"),
        ("d1", "a", "objective_exam", "normal"),
        ("d1", "b", "full", "knee pain"),
    )
    recall, precision = (scores("rouge", f"rouge1_{v}", parts) for v in ("recall", "precision"))
    # Left out by the author: an empty text. It says nothing wrong, so precision is undefined.
    assert counts(recall["d1", "a", "assessment_and_plan"]) == (0, 1, 1, 0)
    assert counts(precision["d1", "a", "assessment_and_plan"]) == (None, 1, 1, 0)
    # Left out by the reference: all of it is too much, and there was nothing to recall.
    assert counts(precision["d1", "a", "objective_exam"]) == (0, 1, 1, 0)
    assert counts(recall["d1", "a", "objective_exam"]) == (None, 1, 1, 0)
    # An author without sections has left out all of the reference's.
    assert recall["d1", "b", "subjective"]["value"] == 0
    # Left out by both: no row.
    assert not any(name == "objective_results" for _, _, name in recall)
    assert ("d1", "b", "objective_exam") not in recall


def test_a_reference_without_sections_has_nothing_to_compare_a_section_with() -> None:
    rows = scores(
        "rouge",
        "rouge1_precision",
        table(
            ("d1", "reference", "full", "knee pain"),
            ("d1", "a", "full", "knee pain"),
            ("d1", "a", "subjective", "knee pain"),
        ),
    )
    assert counts(rows["d1", "a", "full"]) == (1, 1, 1, 0)
    assert counts(rows["d1", "a", "subjective"]) == (None, 0, 0, 0)
    assert bounds(rows["d1", "a", "subjective"]) == (None, None)


@pytest.mark.parametrize("reference", [(), (("d1", "reference", "full", None),)])
def test_without_a_reference_nothing_is_expected(reference: tuple[Any, ...]) -> None:
    parts = table(*reference, ("d1", "a", "full", "knee pain"), ("d1", "b", "full", None))
    for kind in ("rouge", "bleu", "edit_distance"):
        for metric in described(kind):
            rows = scores(kind, metric, parts)
            for author in ("a", "b"):
                assert counts(rows["d1", author, "full"]) == (None, 0, 0, 0)
                assert rows["d1", author, "full"]["statistics"] is None


@pytest.mark.parametrize(
    ("kind", "metric", "expected"),
    [
        ("rouge", "rouge1_recall", (0, 1)),
        ("bleu", "bleu", (0, 100)),
        ("edit_distance", "edit_distance", (0, 1)),
        ("extractiveness", "coverage", (0, 1)),
        ("extractiveness", "density", (None, None)),
        ("lengths", "words", (None, None)),
    ],
)
def test_a_failed_text_is_unknown_and_not_wrong(kind: str, metric: str, expected: Any) -> None:
    rows = scores(
        kind,
        metric,
        table(
            ("d1", "reference", "full", "knee pain"),
            ("d1", "reference", "subjective", "knee pain"),
            ("d1", "a", "full", None),
        ),
    )
    assert counts(rows["d1", "a", "full"]) == (None, 1, 0, 1)
    assert bounds(rows["d1", "a", "full"]) == expected
    assert rows["d1", "a", "full"]["statistics"] is None
    # Its sections failed too: they were not left out.
    if (
        chosen(kind).record.against == "reference"
    ):  # its sections failed too, they were not left out
        assert counts(rows["d1", "a", "subjective"]) == (None, 1, 0, 1)


def test_against_the_source_or_nothing_every_author_counts() -> None:
    parts = table(
        ("d1", "reference", "full", "knee hurts"),
        ("d1", "reference", "subjective", "knee hurts"),
        ("d1", "a", "full", "hurts since monday"),
    )
    coverage = scores("extractiveness", "density", parts)
    assert list(coverage) == [
        ("d1", "a", "full"),
        ("d1", "reference", "full"),
        ("d1", "reference", "subjective"),
    ]
    assert coverage["d1", "reference", "full"]["value"] == 2
    # Passages are one text: a fragment may run from one into the next.
    assert coverage["d1", "a", "full"]["value"] == 3
    assert scores("lengths", "words", parts)["d1", "reference", "full"]["value"] == 2


def test_citations_are_no_words() -> None:
    parts = table(
        ("d1", "reference", "full", "knee hurts [0]."),
        ("d1", "a", "full", "knee hurts [0][1]."),
    )
    assert scores("rouge", "rouge1_precision", parts)["d1", "a", "full"]["value"] == 1
    assert scores("lengths", "words", parts)["d1", "a", "full"]["value"] == 2
    assert scores("extractiveness", "coverage", parts)["d1", "a", "full"]["value"] == 1


def test_recipes_say_everything() -> None:
    parts = table(("d1", "reference", "full", "knee"), ("d1", "a", "full", "knee"))
    recipe = scores("rouge", "rouge1_recall", parts)["d1", "a", "full"]["recipe"]
    assert recipe == (
        "rouge1_recall|stemmer:no|split:newline|rouge-score:0.1.2"
        f"|against:reference|segmentation:soap|citations:removed|metassay:{__version__}"
    )
    frame = measured("lengths", parts)
    assert set(frame["recipe"]) == {
        f"{name}|words:whitespace|against:nothing|segmentation:soap"
        f"|citations:removed|metassay:{__version__}"
        for name in ("words", "characters")
    }


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_every_family_gives_a_valid_table_in_any_order(kind: str, tmp_path: Path) -> None:
    parts = table(
        ("d1", "reference", "full", "knee pain\nbrace"),
        ("d1", "reference", "subjective", "knee pain"),
        ("d1", "a", "full", ""),
        ("d1", "b", "full", None),
        ("d2", "a", "full", "knee pain"),
        ("d2", "a", "subjective", "knee pain"),
        ("d2", "b", "full", "i feel well"),
    )
    for name, rows in (("once", parts), ("turned", parts.iloc[::-1])):
        frame = measured(kind, rows, SOURCES.iloc[::-1])
        parquet.write(MEASUREMENTS, frame, tmp_path / f"{name}.parquet")
    once, turned = (tmp_path / f"{name}.parquet" for name in ("once", "turned"))
    assert once.read_bytes() == turned.read_bytes()

    frame = parquet.read(MEASUREMENTS, once)
    assert (frame["n_judged"] + frame["n_failed"] == frame["n_expected"]).all()
    assert set(frame["metric"]) == set(described(kind))
    for metric, values in frame.dropna(subset="value").groupby("metric")["value"]:
        low, high = described(kind)[str(metric)].range
        assert values.ge(low).all()
        assert high is None or values.le(high).all()


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_no_texts_no_rows(kind: str, tmp_path: Path) -> None:
    frame = measured(kind, table(("d1", "a", "full", "x")).iloc[:0])
    parquet.write(MEASUREMENTS, frame, tmp_path / "empty.parquet")
    assert parquet.read(MEASUREMENTS, tmp_path / "empty.parquet").empty


def test_a_document_without_its_source_is_an_error() -> None:
    parts = table(("d3", "a", "full", "secret words"))
    with pytest.raises(BadInput, match=r"doc_id 'd3'.*run ingest") as error:
        measured("extractiveness", parts)
    assert "secret" not in str(error.value)


def test_what_a_model_could_not_read_to_its_end_is_counted_by_author() -> None:
    def measure_all(candidates: Any, *_: Any) -> dict[str, list[Measured]]:
        return {"words": [Measured(1.0, None, cut=len(text) > 4) for text in candidates]}

    _, record, options = chosen("lengths")
    short = dataclasses.replace(
        record, measure=measure_all, descriptions=record.descriptions[:1], against="reference"
    )
    parts = table(
        ("d1", "reference", "full", "knee"),
        ("d1", "a", "full", "knee pain"),
        ("d2", "reference", "full", "well"),
        ("d2", "a", "full", "very well"),
        ("d2", "b", "full", "well"),
    )
    found = measure(SOURCES, parts, [Chosen("short", short, options)], segmentation="soap")
    assert found.warnings == (
        "short: 2 of 3 comparisons have a text that is longer than the model reads; only its"
        " beginning counts (a 2)",
    )
    assert found.table["value"].tolist() == [1.0, 1.0, 1.0]


def test_further_references_are_neither_measured_nor_compared_with() -> None:
    own = [("a", "reference", "full", "one two"), ("a", "s", "full", "two three")]
    for kind in ("rouge", "lengths"):
        alone, beside = (
            measured(kind, table(*own, *more))
            for more in (
                [],
                [("a", "reference:2", "full", "four"), ("a", "reference:3", "full", None)],
            )
        )
        pd.testing.assert_frame_equal(alone, beside)
