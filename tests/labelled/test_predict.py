"""From parts of a text to a label per sentence: by hand, and where a segmentation fails."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.labelled.segmentations import label_notes, label_of, predict, texts_of
from metassay.llm.needs import Resources
from metassay.text.spans import Span
from metassay.units.record import Divided, Part, Segmentation, Text
from metassay.units.soap import WHOLE

TEXT = "Salt harms. We gave spoons. Intake fell."
SENTENCES = [Span(0, 11), Span(12, 27), Span(28, 40)]


class Facets(Options):
    facets: list[str] = ["background", "method"]  # noqa: RUF012


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    texts = pd.DataFrame(
        [
            (doc_id, "reference", "full", TEXT, "ok", "given")
            for doc_id in ("two", "one")  # not in order
        ],
        columns=["doc_id", "author", "part", "text", "status", "recipe"],
    )
    rows = [
        (doc_id, "reference", place, *span, "background", None)
        for doc_id in ("one", "two")
        for place, span in reversed(list(enumerate(SENTENCES)))
    ]
    names = ["doc_id", "author", "position", "start", "end", "label", "confidence"]
    return texts, pd.DataFrame(rows, columns=names)


def tried(
    parts: list[list[Part]], notes: tuple[str, ...] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    def divide(texts: Sequence[Text], options: Any, resources: Resources) -> Divided:
        assert [text.doc_id for text in texts] == ["one", "two"]
        assert [list(text.sentences or ()) for text in texts] == [SENTENCES, SENTENCES]
        return Divided(parts, notes)

    record = Segmentation(options=Facets, divide=divide, facets=lambda one: tuple(one.facets))
    chosen = Chosen("invented", record, Facets(facets=["background", "method"]))
    return predict(texts_of(*tables()), "mine", chosen, Resources(None))  # type: ignore[arg-type]


def part(name: str, *pieces: tuple[int, int], status: str = "ok") -> Part:
    text = " ".join(TEXT[start:end] for start, end in pieces) if status == "ok" else None
    return Part(name, text, [Span(*piece) for piece in pieces], status)


@pytest.mark.parametrize(
    ("parts", "label"),
    [
        ([("a", [(12, 27)])], "a"),
        ([("a", [(0, 40)])], "a"),
        ([("a", [(0, 11)])], "none"),
        ([("a", [])], "none"),
        ([], "none"),
        ([("a", [(12, 14), (15, 19)])], "none"),  # "We", "gave": 6 of 13 characters
        ([("a", [(12, 14), (15, 20), (20, 21)])], "a"),  # and "s": 7
        ([("a", [(12, 19)]), ("b", [(19, 27)])], "b"),  # 6 and 7 of 13
        ([("a", [(12, 27)]), ("b", [(12, 27)])], "a"),  # equals: the first
        ([("a", [(12, 22)]), ("b", [(12, 27)])], "b"),  # both more than half
        ([("a", [(10, 20), (12, 20)])], "none"),  # pieces that overlap count once
    ],
)
def test_a_sentence_is_of_the_part_that_covers_more_than_half(
    parts: list[tuple[str, list[tuple[int, int]]]], label: str
) -> None:
    named = [(name, [Span(*piece) for piece in pieces]) for name, pieces in parts]
    assert label_of(SENTENCES[1], TEXT, named) == label


def test_labels_of_sentences() -> None:
    labels, notes = tried(
        [[part("background", (0, 11)), part("method", (12, 27))], []], notes=("one is divided",)
    )
    assert notes == ("one is divided",)
    rows = labels[["doc_id", "position", "status", "label"]].to_numpy().tolist()
    assert rows == [
        ["one", 0, "ok", "background"],
        ["one", 1, "ok", "method"],
        ["one", 2, "ok", "none"],
        *(["two", place, "ok", "none"] for place in range(3)),  # undivided
    ]
    assert set(labels["recipe"]) == {"invented,facets=['background', 'method']"}
    assert set(labels["segmentation"]) == {"mine"}


def test_where_it_failed_nothing_is_known() -> None:
    failed = [part("background", status="truncated"), part("method", status="truncated")]
    labels, _ = tried([failed, [part("background", (0, 11)), part("method", status="refused")]])
    by_text = labels.groupby("doc_id")
    assert by_text.get_group("one")["label"].isna().all()
    assert set(by_text.get_group("one")["status"]) == {"truncated"}
    # What another part covers is known all the same.
    second = by_text.get_group("two")
    assert second["status"].tolist() == ["ok", "refused", "refused"]
    assert second["label"].iloc[0] == "background"


def test_facets_and_labels_that_do_not_meet_are_noted() -> None:
    facets = Segmentation(options=Facets, divide=None, facets=lambda one: tuple(one.facets))  # type: ignore[arg-type]
    chosen = Chosen("invented", facets, Facets())
    assert label_notes(chosen, {"background", "method", "none"}) == []
    unknown, never = label_notes(chosen, {"background", "result"})
    assert "the label method, which it may give" in unknown
    assert never == "it never gives the label result, which sentences have"
    assert label_notes(Chosen("whole", WHOLE, None), {"background"}) == []
