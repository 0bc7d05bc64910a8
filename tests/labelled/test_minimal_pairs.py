"""Minimal pairs of references: which sentences, which items, and that the seed alone decides."""

from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.labelled.ingest import ingest_items
from metassay.labelled.records import Items
from metassay.labelled.types import MinimalPairsOptions, minimal_pairs
from metassay.labelled.types import chosen_test as type_of
from metassay.tabular.rows import Place, Rows, TextRow
from metassay.text.edits.make import FLIPS

NOTE = (
    "EXAM\nPain in the left knee. Left hip pain. Tender.\n\nPLAN\nTake 20 mg of lisinopril daily."
)
OTHER = "Pain in the left knee.\nThe right knee hurts, and there is pain in it.\nIs it the ankle?"


def row(doc_id: str, author: str, text: str | None, part: str = "full") -> TextRow:
    status = "ok" if text is not None else "error"
    return TextRow(Place("texts.jsonl", 1), doc_id, author, part, text, status)


def rows(*texts: TextRow) -> Rows:
    return Rows(texts=list(texts))


def made(read: Rows, **changed: object) -> Items:
    options = {"sentences": 10, "seed": 1, "premise": "sentence", "kinds": []} | changed
    return minimal_pairs(read, MinimalPairsOptions.model_validate(options))


def test_sentences_of_references_are_edited_and_read_against_themselves() -> None:
    found = made(
        rows(row("b", "reference", NOTE), row("b", "system", "Pain in the left elbow today.")),
        kinds=["laterality", "dose", "identity"],
    )
    items = {one.item: one for one in found.items}
    assert list(items) == [
        *("b:0:laterality", "b:0:identity", "b:1:laterality", "b:1:identity"),
        *("b:3:dose", "b:3:identity"),
    ]
    hip = items["b:1:laterality"]
    assert (hip.premises, hip.hypothesis) == (["Left hip pain."], "Right hip pain.")
    assert (hip.label, hip.kind, hip.subset, hip.cluster) == (
        *("not_entailed", "laterality", "sentence"),
        "b",
    )
    assert items["b:1:identity"].label == "entailed"
    assert items["b:3:dose"].hypothesis in (
        "Take 10 mg of lisinopril daily.",
        "Take 40 mg of lisinopril daily.",
    )


def test_a_whole_text_as_premise_drops_what_it_states_elsewhere() -> None:
    read = rows(row("b", "reference", OTHER))
    alone = made(read, kinds=["laterality"])
    assert [one.hypothesis for one in alone.items] == [
        "Pain in the right knee.",
        "The left knee hurts, and there is pain in it.",
    ]
    assert made(read, kinds=["laterality"], premise="text").items == []
    (one,) = made(rows(row("b", "reference", NOTE)), kinds=["dose"], premise="text").items
    assert (one.premises, one.subset) == ([NOTE], "text")


def test_one_wording_counts_once_and_parts_go_on_counting() -> None:
    read = rows(
        row("a", "reference", "He denies fever.", "subjective"),
        row("a", "reference", "Pain in the left knee.", "exam"),
        row("c", "reference", NOTE),
    )
    found = made(read, kinds=["laterality"])
    assert [one.item for one in found.items] == ["a:1:laterality", "c:1:laterality"]


def test_the_sample_is_the_seeds_and_grows() -> None:
    texts = [f"Pain in the left {part}." for part in ("knee", "hip", "ankle", "foot", "arm", "leg")]
    read = rows(*(row(f"d{n}", "reference", text) for n, text in enumerate(texts)))
    backwards = rows(
        *(row(f"d{n}", "reference", text) for n, text in reversed([*enumerate(texts)]))
    )
    two, four = (
        {one.item for one in made(read, kinds=["laterality"], sentences=n).items} for n in (2, 4)
    )
    assert two < four
    assert len(two) == 2
    assert {one.item for one in made(backwards, kinds=["laterality"], sentences=2).items} == two
    seeds = {
        tuple(one.item for one in made(read, kinds=["laterality"], sentences=2, seed=seed).items)
        for seed in range(6)
    }
    assert len(seeds) > 1
    found = made(read, kinds=["laterality"], sentences=4)
    assert not found.warnings
    few = made(read, kinds=["laterality"], sentences=7)
    assert few.warnings.lines() == [
        "params.yaml > options > sentences: only 6 of 7 sentences are there;"
        " all of them are used; ask for fewer, or for more kinds"
    ]


def test_a_sentence_is_drawn_for_what_changes_its_truth() -> None:
    read = rows(row("a", "reference", "Thank you so much.\nPain in the left knee."))
    assert {one.item.split(":")[1] for one in made(read, kinds=["laterality", "form"]).items} == {
        "1"
    }
    assert {one.item.split(":")[1] for one in made(read, kinds=["form"]).items} == {"0", "1"}


def test_texts_without_a_reference_or_text_give_nothing() -> None:
    read = rows(row("a", "reference", None), row("b", "system", NOTE))
    assert made(read).items == []


def test_an_unknown_kind_is_refused_by_name() -> None:
    options = {"sentences": 10, "seed": 1, "premise": "sentence", "kinds": ["speling"]}
    with pytest.raises(BadInput, match=r"is not known; choose from negation, laterality"):
        type_of("minimal_pairs", options, where="params.yaml")


def test_aci_bench(mirror: Path) -> None:
    """Counts of 200 sentences; every item's premise is there, and only truth-changing ones fail."""
    options = {"sentences": 200, "seed": 1, "premise": "sentence", "kinds": []}
    test = type_of("minimal_pairs", options, where="params.yaml")
    made = ingest_items(
        test, "aci_bench", mirror / "aci_bench_test1", dataset="aci_bench", judges=["lexical"]
    )
    assert made.warnings == ()
    gold = made.gold
    of_sentence = gold["item"].str.rsplit(":", n=1).str[0]
    assert of_sentence.nunique() == 200
    changed = gold[gold["label"] == "not_entailed"]
    assert set(changed["kind"]) == set(FLIPS)
    assert of_sentence[changed.index].nunique() == 200
    assert (gold["kind"] == "identity").sum() == 200
    pairs = made.pairs.set_index("doc_id")
    same = pairs["premise"] == pairs["hypothesis"]
    assert set(gold.loc[gold["item"].isin(same.index[same]), "kind"]) <= {"identity", "form"}
    assert gold["cluster"].nunique() <= 40
