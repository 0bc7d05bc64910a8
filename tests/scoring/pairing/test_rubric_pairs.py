"""What a rubric asks, of whom, against what, and what is settled without a judge."""

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.llm.needs import Resources
from metassay.scoring.pairing.pairs import pair_id
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.record import RUBRICS, Rubric, load_rubric
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty, round_trip
from metassay.tables.parts import SEGMENTS
from metassay.units import SEGMENTATIONS
from metassay.units.segment import segment

BMRC, VANILLA, NOTE, UNRELATED = (
    load_rubric(RUBRICS / f"{name}.yaml")
    for name in ("bmrc", "vanilla", "note_respiratory", "note_unrelated")
)
FACETS = tuple(criterion.name for criterion in BMRC.criteria)
ALL = {name: f"{name} of it" for name in FACETS}
SECTIONS = ("history", "physical_examination", "compact")
EACH = dict.fromkeys(SECTIONS, "x")
Texts = dict[str, dict[str, Any]]


def only(rubric: Rubric, name: str, **changes: Any) -> Rubric:
    """A rubric of one criterion, changed."""
    (criterion,) = (each for each in rubric.criteria if each.name == name)
    return replace(rubric, criteria=(replace(criterion, **changes),))


def parts(texts: Texts, doc_id: str = "d") -> pd.DataFrame:
    """author -> part -> text; None: failed. `full` is `whole` unless it is there."""
    rows = [
        (doc_id, author, part, text, "ok" if text is not None else "error")
        for author, its in texts.items()
        for part, text in {"full": "whole", **its}.items()
    ]
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "part", "text", "status"])
    return frame.assign(
        repeats=[["set", f"shown_to_{author}"] for author in frame["author"]]
    )


def source(doc_id: str = "d", **attributes: Any) -> pd.DataFrame:
    written = json.dumps(attributes) if attributes else None
    row = {
        "doc_id": doc_id,
        "passages": ["p0", "p1"],
        "attributes": written,
        "dataset": "set",
    }
    return pd.DataFrame([row])


def asks(
    rubric: Rubric, texts: Texts, **attributes: Any
) -> dict[tuple[str, str, int], Any]:
    """(author, criterion, citation) -> premise, hypothesis, settled."""
    pairs = rubric_pairs(source(**attributes), parts(texts), rubric, FACETS)
    assert not pairs.duplicated(list(PAIRS.key)).any()
    return {
        (row.author, row.measure.removeprefix(f"{rubric.name}_"), row.citation): tuple(
            None if pd.isna(each) else each
            for each in (row.premise, row.hypothesis, row.settled)
        )
        for row in pairs.itertuples()
    }


def test_facets_are_compared_with_the_same_facet_of_the_reference() -> None:
    texts = {"reference": ALL, "s": {name: f"s {name}" for name in FACETS}}
    expected = {
        ("s", name, -1): (f"{name} of it", f"s {name}", None) for name in FACETS
    }
    assert asks(BMRC, texts) == expected
    assert asks(BMRC, {"s": ALL}) == {}  # without a reference, nothing is
    frame = rubric_pairs(source(), parts(texts), BMRC, FACETS)
    assert len(frame["context"].cat.categories) == 4
    assert isinstance(frame["premise"].dtype, pd.CategoricalDtype)
    row = round_trip(PAIRS, frame).set_index("measure").loc["bmrc_result"]
    assert (row["instrument"], row["part"], row["position"]) == ("scale", "result", 2)
    assert row["repeats"] == "set shown_to_reference shown_to_s"
    context = json.loads(row["context"])
    assert (context["kind"], context["criterion"], "".join(context["levels"])) == (
        "scale",
        "result",
        "1234",
    )
    assert row["pair_id"] == pair_id(
        "scale", row["premise"], row["hypothesis"], row["context"]
    )


@pytest.mark.parametrize(
    ("reference", "system", "expected"),
    [
        ({"method": None}, {"method": "m"}, (None, "m", "no_reference")),
        ({}, {"method": "m"}, "nothing"),
        ({"method": " "}, {"method": "m"}, "nothing"),
        ({"method": "m"}, {}, (None, "", "no_evidence")),
        ({"method": "m"}, {"method": ""}, (None, "", "no_evidence")),
        ({"method": "m"}, {"method": None}, (None, "", "no_claims")),
        ({"method": "m"}, {"full": None}, (None, "", "no_text")),
        ({"method": None}, {"full": None}, (None, "", "no_reference")),
        ({"full": None}, {"method": "m"}, (None, "m", "no_reference")),
        # A note of which one section failed was never whole, but its other sections are
        # there.
        (
            {"method": "m"},
            {"full": None, "method": "n", "result": None},
            ("m", "n", None),
        ),
    ],
)
def test_what_is_absent_or_unknown_is_settled(
    reference: Any, system: Any, expected: Any
) -> None:
    results = asks(only(BMRC, "method"), {"reference": reference, "s": system})
    assert results == ({} if expected == "nothing" else {("s", "method", -1): expected})


def test_the_reference_is_graded_where_nothing_is_compared_with_it() -> None:
    both: Texts = {"reference": {}, "s": {}}
    graded = asks(only(VANILLA, "rating", against=("source",)), both)
    assert graded == {(who, "rating", -1): ("p0\np1", "whole", None) for who in both}
    alone = asks(only(VANILLA, "rating", against=()), {"s": {}})
    assert alone == {("s", "rating", -1): ("", "whole", None)}
    # A scale that does not apply is not asked.
    formal = only(VANILLA, "rating", against=(), applies={"formal": None})
    assert asks(formal, {"s": {}}) == {}
    assert asks(formal, {"s": {}}, formal="yes") != {}


def test_parts_and_the_source_are_named_where_they_are_several() -> None:
    texts = {"s": {name: name.upper() for name in SECTIONS}, "t": {}}
    results = asks(NOTE, texts, note_type="respiratory", symptoms=["cough: no"])
    of = {name: row for (author, name, _), row in results.items() if author == "s"}
    parts_of = "history:\nHISTORY"
    assert of["realism_phys"][:2] == (
        f"source:\np0\np1\n\n{parts_of}",
        "PHYSICAL_EXAMINATION",
    )
    whole = f"{parts_of}\n\nphysical_examination:\nPHYSICAL_EXAMINATION"
    assert of["compact_content"][0] == whole
    assert of["compact_readability"] == ("", "COMPACT", None)
    assert of["1A"] == ("p0\np1", "HISTORY", None)
    for name in ("1B", "1C"):  # the prompt has no such part
        assert of[name] == (None, "HISTORY", "not_applicable")
    # A text without the part is worst or has no penalty.
    prompt = {"note_type": "respiratory", "symptoms": ["a"], "unmentioned": ["b"]}
    results = asks(NOTE, {"s": {}, "t": EACH}, **prompt)
    settled = {name: results["s", name, -1][2] for name in ("1A", "1B", "1D")}
    assert settled == {
        "1A": "no_evidence",
        "1B": "not_applicable",
        "1D": "not_applicable",
    }


def test_parts_that_are_absent_are_left_out() -> None:
    texts: Texts = {
        # nothing is left that the compact version could be compared with
        "s": {"compact": "c", "physical_examination": "p"},
        "u": {"compact": "c"},
        "t": EACH,
        "f": {**EACH, "history": None},
    }
    results = asks(only(NOTE, "compact_content"), texts, note_type="respiratory")
    assert results["s", "compact_content", -1][0] == "physical_examination:\np"
    assert ("u", "compact_content", -1) not in results
    assert results["f", "compact_content", -1][2] == "no_claims"


def test_what_does_not_fit_the_documents_is_refused() -> None:
    both = pd.concat(
        [source(note_type="respiratory"), source("e", note_type="unrelated")]
    )
    every = pd.concat([parts({"s": EACH}), parts({"s": EACH}, "e")])
    assert set(rubric_pairs(both, every, NOTE, ())["doc_id"]) == {"d"}
    for about, problem in (
        ({"note_type": "x"}, r"rubrics/note_respiratory\.yaml > applies: no document"),
        (
            {"note_type": "respiratory", "symptoms": 3},
            r"1A > items_from: attribute 'symptoms' .* \(in 1 documents\)",
        ),
    ):
        with pytest.raises(BadInput, match=problem):
            rubric_pairs(source(**about), parts({"s": EACH}), NOTE, ())
    texts = parts({"reference": {}, "s": {}})
    with pytest.raises(BadInput) as error:
        rubric_pairs(source(), texts, BMRC, ())
    assert len(error.value.problems) == 4
    first = error.value.problems[0]
    assert "background: no text has the part 'background'; there are full" in first
    assert rubric_pairs(source(), texts, BMRC, FACETS).empty


def test_several_references_are_asked_about_in_turn() -> None:
    texts: Texts = {
        "reference:10": {"method": "ten"},
        "reference:2": {"result": "r"},
        "reference": {"method": "first"},
        "s": {"method": "m"},
    }
    assert asks(only(BMRC, "method"), texts) == {
        ("s", "method", 0): ("first", "m", None),
        ("s", "method", 2): ("ten", "m", None),
    }
    tone = asks(only(VANILLA, "rating", against=()), texts)
    assert {author for author, *_ in tone} == {"reference", "s"}


def test_notes_of_two_types_that_come_section_by_section() -> None:
    """From texts as own data have them, through the segmentation, to both rubrics."""
    symptoms = {"cough": "yes, dry"}
    sources = pd.concat(
        [
            source("a", note_type="respiratory", symptoms=symptoms),
            source("b", note_type="unrelated"),
        ]
    ).assign(task="note")
    rows = [(doc, part, part.upper()) for doc in ("a", "b") for part in SECTIONS]
    rows += [("b", "full", "HISTORY and PHYSICAL_EXAMINATION")]
    texts = pd.DataFrame(rows, columns=["doc_id", "part", "text"]).assign(
        author="m", recipe="r"
    )
    failed = (texts["doc_id"] == "b") & (texts["part"] == "compact")
    texts["text"] = texts["text"].mask(failed, None)
    texts["status"] = failed.map({False: "ok", True: "refused"})
    soap = choose(SEGMENTATIONS, {"kind": "soap", "compat": "none"}, where="soap")
    resources = Resources(RUBRICS)
    cut, _ = segment(texts, sources, empty(SEGMENTS), soap, resources)
    first, second = (rubric_pairs(sources, cut, each, ()) for each in (NOTE, UNRELATED))
    assert [set(pairs["doc_id"]) for pairs in (first, second)] == [{"a"}, {"b"}]
    (items,) = (json.loads(c)["items"] for c in first["context"] if '"1A"' in c)
    assert items == ["cough: yes, dry"]
    second = second.set_index("measure")
    assert (
        second.loc["note_unrelated_2A", "hypothesis"]
        == "HISTORY and PHYSICAL_EXAMINATION"
    )
    assert second.loc["note_unrelated_realism_hist", "hypothesis"] == "HISTORY"
    assert second.loc["note_unrelated_compact_content", "settled"] == "no_claims"
