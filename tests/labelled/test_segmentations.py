"""Tests of segmentations: labelled sentences from files and facets, predictions, and scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.labelled.segmentation_scores import Results, examine
from metassay.labelled.segmentations import (
    IngestedSentences,
    ingest_sentences,
    label_notes,
    label_of,
    predict,
    split_texts,
    texts_of,
)
from metassay.labelled.types import reader_problem, segment_options
from metassay.llm.needs import Resources
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics.shares import jeffreys
from metassay.tables.documents import TEXTS
from metassay.tables.parquet import round_trip
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES
from metassay.tables.sentences import SENTENCES
from metassay.tabular.rows import Place, Rows, SegmentRow, TextRow
from metassay.text.spans import Span
from metassay.units.record import Divided, Part, Segmentation, Text
from metassay.units.soap import WHOLE
from tests.support.labelled import put

ROOT = Path(__file__).parents[2]


# ---- raw files to checked tables


def ingested(
    raw: Path = ROOT / "data/sample_facets",
    reader: str = "sentences",
    **options: object,
) -> IngestedSentences:
    every = {"labels": {}, "sample": None} | options
    return ingest_sentences(reader, raw, segment_options(every, where="params.yaml"))


def line(doc_id: str, *labels: str) -> dict[str, object]:
    words = [f"Sentence {place}." for place, _ in enumerate(labels)]
    return {"doc_id": doc_id, "sentences": words, "labels": labels}


def test_the_sample_is_read_whole_and_labels_count_as_others() -> None:
    tables = ingested()
    texts = round_trip(TEXTS, tables.texts).set_index("doc_id")["text"]
    sentences = round_trip(SENTENCES, tables.sentences)
    assert (len(texts), len(sentences), tables.warnings) == (14, 93, ())
    roles = {"background", "objective", "method", "result", "conclusion", "other"}
    assert set(sentences["label"]) == roles
    first = tables.sentences.iloc[1]
    text = texts[first["doc_id"]][first["start"] : first["end"]]
    assert text == "Whether an invitation by a pharmacist changes this is unknown."
    before = sentences["label"].value_counts()
    after = ingested(labels={"objective": "background", "other": "none"}).sentences[
        "label"
    ]
    counts = after.value_counts()
    assert counts["background"] == before["background"] + before["objective"]
    assert counts["none"] == before["other"]
    assert "objective" not in counts


def test_a_sample_is_the_same_in_any_order_and_part_of_a_larger_one(
    tmp_path: Path,
) -> None:
    lines = [line(f"d{number}", "method") for number in range(20)]

    def names(items: int, seed: int = 3) -> set[str]:
        return set(
            ingested(tmp_path, sample={"items": items, "seed": seed}).texts["doc_id"]
        )

    put(tmp_path / "a.jsonl", *lines)
    few, more = names(5), names(8)
    assert (len(few), len(more), few < more) == (5, 8, True)
    assert names(5, seed=4) != few
    put(tmp_path / "a.jsonl", *reversed(lines))
    assert names(5) == few


def test_every_problem_comes_at_once(tmp_path: Path) -> None:
    def problems(*lines: object, **options: object) -> list[str]:
        with pytest.raises(BadInput) as caught:
            ingested(put(tmp_path / "a.jsonl", *lines), **options)
        return list(caught.value.problems)

    twice, spaced, yaml = problems(
        line("d1", "method"), line("d1", "a b"), line("d2", "no")
    )
    assert "a.jsonl: line 2: the same document occurs twice (document 'd1')" in twice
    assert "a label cannot be a facet's name ('a b')" in spaced
    assert "a label cannot be a facet's name ('no')" in yaml
    right = line("d1", "method", "result")
    assert problems(right, labels={"aim": "method"}) == [
        "params.yaml > options > labels: names a label that is not in the data ('aim');"
        " there are: method, result"
    ]
    (problem,) = problems(right, labels={"method": "none", "result": "none"})
    assert "no sentence has a facet" in problem
    for labels, where in (
        ({"a b": "method"}, "labels"),
        ({"method": "a b"}, "labels > method"),
    ):
        with pytest.raises(BadInput, match=f"options > {where}"):
            ingested(labels=labels)
    assert reader_problem("segmentation", "pubmed_rct") is None
    assert reader_problem("segmentation", "scholarsum") is None  # its rows bring facets
    problem = str(reader_problem("segmentation", "wice"))
    assert "does not suit test 'segmentation'; it takes one of" in problem


def test_sentences_have_the_facet_that_they_lie_in(tmp_path: Path) -> None:
    at, text = (
        Place("file.json", 1),
        "Salt harms many. We gave spoons to 40 adults. Intake fell",
    )
    text += " by a fifth. Data are open."
    facets = {
        "background": "salt harms many",
        "method": "We gave spoons to 40 adults.",
        "result": "Intake fell by a fifth. And more was seen.",
    }
    texts = [
        TextRow(at, "d1", author, "full", text) for author in ("reference", "system")
    ]
    segments = [SegmentRow(at, "d1", "reference", *facet) for facet in facets.items()]
    data = split_texts(Rows(texts=texts, segments=segments))
    (document,) = data.documents  # the system's text has no facets
    assert document.author == "reference"
    assert [s.label for s in document.sentences] == [
        "background",
        "method",
        "result",
        "none",
    ]
    assert data.notes == [
        "facets of the dataset that are not, or not wholly, in their texts: result 1 of 1",
        "1 of 4 sentences are in no facet of the dataset; of 0 of 1 texts every sentence is in one",
    ]
    for name in ("sources", "texts"):
        content = (ROOT / f"data/sample/{name}.jsonl").read_bytes()
        (tmp_path / f"{name}.jsonl").write_bytes(content)
    with pytest.raises(BadInput, match="has no labelled text"):
        ingested(tmp_path, "files")


# ---- from parts of a text to a label per sentence

TEXT = "Salt harms. We gave spoons. Intake fell."
SPANS = [Span(0, 11), Span(12, 27), Span(28, 40)]


class Facets(Options):
    facets: list[str] = ["background", "method"]  # noqa: RUF012


def predicted(*parts: list[Part]) -> pd.DataFrame:
    texts = [(doc, "reference", "full", TEXT, "ok", "given") for doc in ("two", "one")]
    rows = [
        (doc, "reference", place, *span, "background", None)
        for doc in ("one", "two")
        for place, span in reversed(list(enumerate(SPANS)))
    ]

    def divide(texts: Sequence[Text], *_: Any) -> Divided:
        assert [text.doc_id for text in texts] == ["one", "two"]
        assert [list(text.sentences or ()) for text in texts] == [SPANS, SPANS]
        return Divided(list(parts), ("a note",))

    record = Segmentation(
        options=Facets, divide=divide, facets=lambda o: tuple(o.facets)
    )
    chosen = Chosen("invented", record, Facets(facets=["background", "method"]))
    tables = (
        pd.DataFrame(texts, columns=list(TEXTS.columns)),
        pd.DataFrame(rows, columns=NAMES),
    )
    labels, notes = predict(texts_of(*tables), "mine", chosen, Resources(None))  # type: ignore[arg-type]
    assert notes == ("a note",)
    return labels


def part(name: str, *pieces: tuple[int, int], status: str = "ok") -> Part:
    text = (
        " ".join(TEXT[start:end] for start, end in pieces) if status == "ok" else None
    )
    return Part(name, text, [Span(*piece) for piece in pieces], status)


@pytest.mark.parametrize(
    ("parts", "label"),
    [
        ({"a": [(12, 27)]}, "a"),
        ({"a": [(0, 40)]}, "a"),
        ({"a": [(0, 11)]}, "none"),
        ({"a": []}, "none"),
        ({}, "none"),
        ({"a": [(12, 14), (15, 19)]}, "none"),  # "We", "gave": 6 of 13 characters
        ({"a": [(12, 14), (15, 20), (20, 21)]}, "a"),  # and "s": 7
        ({"a": [(12, 19)], "b": [(19, 27)]}, "b"),  # 6 and 7 of 13
        ({"a": [(12, 27)], "b": [(12, 27)]}, "a"),  # equals: the first
        ({"a": [(12, 22)], "b": [(12, 27)]}, "b"),  # both more than half
        ({"a": [(10, 20), (12, 20)]}, "none"),  # pieces that overlap count once
    ],
)
def test_a_sentence_is_of_the_part_that_covers_more_than_half(
    parts: dict[str, list[tuple[int, int]]], label: str
) -> None:
    named = [
        (name, [Span(*piece) for piece in pieces]) for name, pieces in parts.items()
    ]
    assert label_of(SPANS[1], TEXT, named) == label


def test_labels_of_sentences() -> None:
    labels = predicted([part("background", (0, 11)), part("method", (12, 27))], [])
    assert labels[["doc_id", "position", "status", "label"]].to_numpy().tolist() == [
        ["one", 0, "ok", "background"],
        ["one", 1, "ok", "method"],
        ["one", 2, "ok", "none"],
        *(["two", place, "ok", "none"] for place in range(3)),  # undivided
    ]
    assert set(labels["recipe"]) == {"invented,facets=['background', 'method']"}
    assert set(labels["segmentation"]) == {"mine"}
    # Where it failed nothing is known, but what another part covers.
    failed = [
        part("background", status="truncated"),
        part("method", status="truncated"),
    ]
    other = [part("background", (0, 11)), part("method", status="refused")]
    labels = predicted(failed, other)
    assert labels["status"].tolist() == [*["truncated"] * 3, "ok", "refused", "refused"]
    assert labels["label"].fillna("").tolist() == ["", "", "", "background", "", ""]


def test_facets_and_labels_that_do_not_meet_are_noted() -> None:
    facets = Segmentation(options=Facets, divide=None, facets=lambda o: tuple(o.facets))  # type: ignore[arg-type]
    chosen = Chosen("invented", facets, Facets())
    assert label_notes(chosen, {"background", "method", "none"}) == []
    unknown, never = label_notes(chosen, {"background", "result"})
    assert "the label method, which it may give" in unknown
    assert never == "it never gives the label result, which sentences have"
    assert label_notes(Chosen("whole", WHOLE, None), {"background"}) == []


# ---- labels beside right ones

Labels = Mapping[str, Sequence[str | None]]  # by document
NAMES = ["doc_id", "author", "position", "start", "end", "label", "confidence"]
B, M, R = "background", "method", "result"
RIGHT: Labels = {"one": [B, M, R], "two": [B, B, M, M, R, R]}
PREDICTED: Labels = {"one": [B, M, M], "two": [B, M, M, "none", R, R]}


def examined(
    right: Labels, *, sure: Sequence[float] | None = None, **runs: Labels
) -> Results:
    """Scores of segmentations, each with its labels."""
    rows = [
        (doc, "reference", place, 10 * place, 10 * place + 9, label, None)
        for doc, labels in right.items()
        for place, label in enumerate(labels)
    ]
    segmented = [
        (name, doc, "reference", place, "ok" if label else "truncated", label, "r")
        for name, labels in runs.items()
        for doc, of_text in labels.items()
        for place, label in enumerate(of_text)
    ]
    columns = [
        "segmentation",
        "doc_id",
        "author",
        "position",
        "status",
        "label",
        "recipe",
    ]
    sentences = pd.DataFrame(rows, columns=NAMES).astype({"confidence": "float64"})
    sentences["confidence"] = np.nan if sure is None else sure
    options = MetaOptions(resamples=500, confidence=0.95, seed=7)
    results = examine(sentences, pd.DataFrame(segmented, columns=columns), options)
    round_trip(SEGMENT_SCORES, results.scores)
    round_trip(CONFUSIONS, results.confusions)
    return results


def values(results: Results, of: str = "all", name: str = "all") -> dict[str, float]:
    rows = results.scores[
        (results.scores["of"] == of) & (results.scores["name"] == name)
    ]
    return dict(zip(rows["statistic"], rows["value"], strict=True))


def test_by_hand() -> None:
    results = examined(RIGHT, mine=PREDICTED)
    assert results.notes == []
    # Right of background 2 of 3, method 2 of 3, result 2 of 3; method is given 4 times.
    each = {B: (1.0, 2 / 3, 0.8), M: (0.5, 2 / 3, 4 / 7), R: (1.0, 2 / 3, 0.8)}
    for label, numbers in each.items():
        assert list(values(results, "label", label).values()) == pytest.approx(numbers)
    none = values(results, "label", "none")  # given once, nobody's label
    assert (none["precision"], none["f1"]) == (0.0, 0.0)
    assert np.isnan(none["recall"])
    whole = values(results)
    assert whole["accuracy"] == pytest.approx(6 / 9)
    assert whole["macro_f1"] == pytest.approx((0.8 + 4 / 7 + 0.8 + 0) / 4)
    assert whole["majority_baseline"] == pytest.approx(1 / 3)
    assert whole["failed"] == 0
    assert whole["accuracy_at_least"] == whole["accuracy_at_most"] == whole["accuracy"]
    cells = results.confusions.set_index(["label", "given"])["n"]
    assert (cells[R, M], cells[M, "none"], cells[B, B], cells["none", M]) == (
        1,
        1,
        2,
        0,
    )
    assert cells.sum() == 9
    # Thirds of three sentences are one each, of six two each.
    thirds = [
        values(results, "place", f"{name} third")
        for name in ("first", "middle", "last")
    ]
    assert [third["accuracy"] for third in thirds] == pytest.approx(
        [2 / 3, 2 / 3, 2 / 3]
    )
    assert "confidence" not in set(results.scores["of"])
    # Labels that people were less sure of are by themselves.
    results = examined(RIGHT, sure=[0.5, 0.6, 0.7, *[1.0] * 6], mine=PREDICTED)
    assert values(results, "confidence", "lower")["accuracy"] == pytest.approx(2 / 3)
    assert values(results, "confidence", "higher")["accuracy"] == pytest.approx(4 / 6)
    with pytest.raises(BadInput, match="mine lacks 6 sentences; run it again"):
        examined(RIGHT, mine={"one": [B, B, B]})


def test_as_scikit_learn_has_them() -> None:
    rng = np.random.default_rng(4)
    labels = np.array([B, M, R, "objective", "none"], dtype=object)
    right = {
        f"d{n}": list(rng.choice(labels[:4], rng.integers(2, 9))) for n in range(30)
    }
    answers = {
        doc_id: [
            label if rng.random() < 0.6 else str(rng.choice(labels))
            for label in of_text
        ]
        for doc_id, of_text in right.items()
    }
    value = values(examined(right, mine=answers))
    x, y = (
        [label for of_text in part.values() for label in of_text]
        for part in (right, answers)
    )
    for average in ("macro", "weighted"):
        expected = metrics.f1_score(x, y, average=average, zero_division=0)
        assert value[f"{average}_f1"] == pytest.approx(expected)
    assert value["accuracy"] == pytest.approx(metrics.accuracy_score(x, y))
    assert value["cohen_kappa"] == pytest.approx(metrics.cohen_kappa_score(x, y))


def test_unknown_is_not_wrong_and_bounds_say_what_it_may_be() -> None:
    results = examined(RIGHT, mine={**PREDICTED, "one": [None, None, None]})
    whole = values(results)
    assert whole["accuracy"] == pytest.approx(4 / 6)
    assert whole["failed"] == pytest.approx(3 / 9)
    assert whole["accuracy_at_least"] == pytest.approx(4 / 9)
    assert whole["accuracy_at_most"] == pytest.approx(7 / 9)
    row = results.scores.query("of == 'all' and statistic == 'accuracy'").iloc[0]
    assert (row["n"], row["n_failed"], row["n_documents"]) == (6, 3, 2)
    assert results.scores.query("statistic == 'accuracy_at_most'").iloc[0]["n"] == 9
    assert results.confusions["n"].sum() == 6
    (note,) = results.notes
    assert note.startswith("mine: 3 of 9 sentences have no label, because it failed")
    results = examined(
        RIGHT, mine={doc: [None] * len(labels) for doc, labels in RIGHT.items()}
    )
    whole = values(results)
    assert np.isnan(whole["accuracy"])
    assert (whole["failed"], whole["accuracy_at_least"], whole["accuracy_at_most"]) == (
        1,
        0,
        1,
    )
    assert results.confusions.empty


def test_intervals_are_for_documents() -> None:
    """One document is all right and nine are all wrong."""
    right = {f"d{n}": [B, M, R] for n in range(10)}
    answers = {name: [R, R, B] for name in right} | {"d0": [B, M, R]}
    rows = examined(right, mine=answers).scores
    (row,) = rows.query("of == 'all' and statistic == 'accuracy'").to_dict("records")
    assert row["value"] == pytest.approx(0.1)
    # Ten documents, one of which differs, are worth less than ten sentences.
    _, high = jeffreys(1, 10, confidence=0.95)
    assert row["low"] < 0.02
    assert high < row["high"] < 0.7
    assert examined({"d0": [B, M]}, mine={"d0": [B, R]}).scores["low"].isna().all()


def test_how_far_above_another_is_of_the_sentences_that_both_labelled() -> None:
    """Both are wrong of the hard documents; one is right once more in every document."""
    right = {f"d{n}": [B, M, R, R] for n in range(20)}
    worse = {
        name: [B, M, M, M] if n % 2 else [R, R, B, M] for n, name in enumerate(right)
    }
    better = {name: [*labels[:3], R] for name, labels in worse.items()}
    scores = examined(right, worse=worse, better=better).scores
    scores = scores[scores["statistic"] == "accuracy"].set_index("of")
    up, down = (
        scores[scores["segmentation"] == n].loc["above"] for n in ("better", "worse")
    )
    assert (up["name"], up["value"], up["n"]) == ("worse", 0.25, 80)
    # Right once more in each of 20 documents: it is better for sure, and not by .25 for
    # sure, though every document says so.
    assert 0.1 < up["low"] < 0.25 < up["high"] < 0.5
    assert (down["value"], down["high"]) == pytest.approx((-0.25, -up["low"]), abs=0.03)
    assert (scores.loc["all", "high"] - scores.loc["all", "low"]).min() > 0.1
    scores = examined(right, worse={**worse, "d0": [None] * 4}, better=better).scores
    above = scores[scores["of"] == "above"]
    assert (set(above["n"]), set(above["n_failed"])) == ({76}, {4})
