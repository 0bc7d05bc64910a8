"""What a rubric asks, of whom, against what, and what is settled without a judge."""

import json
from dataclasses import replace
from pathlib import Path
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
from metassay.tables.parquet import empty, read, write
from metassay.tables.parts import SEGMENTS
from metassay.units import SEGMENTATIONS
from metassay.units.segment import segment

BMRC = load_rubric(RUBRICS / "bmrc.yaml")
VANILLA = load_rubric(RUBRICS / "vanilla.yaml")
NOTE = load_rubric(RUBRICS / "note_respiratory.yaml")
FACETS = tuple(one.name for one in BMRC.criteria)
ALL = {name: f"{name} of it" for name in FACETS}
MADE = ("history", "physical_examination", "compact")


def only(rubric: Rubric, name: str, **changes: Any) -> Rubric:
    """A rubric of one criterion, changed."""
    (one,) = (one for one in rubric.criteria if one.name == name)
    return replace(rubric, criteria=(replace(one, **changes),))


def parts(texts: dict[str, dict[str, str | None]], doc_id: str = "d") -> pd.DataFrame:
    """author -> part -> text; None: failed. `full` is `whole` unless it is given."""
    rows = [
        (doc_id, author, part, text, "ok" if text is not None else "error")
        for author, given in texts.items()
        for part, text in {"full": "whole", **given}.items()
    ]
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "part", "text", "status"])
    return frame.assign(repeats=[["set", f"shown_to_{author}"] for author in frame["author"]])


def source(doc_id: str = "d", **attributes: Any) -> pd.DataFrame:
    written = json.dumps(attributes) if attributes else None
    row = {"doc_id": doc_id, "passages": ["p0", "p1"], "attributes": written, "dataset": "set"}
    return pd.DataFrame([row])


def asked(
    rubric: Rubric, texts: dict[str, dict[str, str | None]], **attributes: Any
) -> dict[tuple[str, str, int], tuple[Any, ...]]:
    """(author, measure, citation) -> premise, hypothesis, settled."""
    found = rubric_pairs(source(**attributes), parts(texts), rubric, FACETS)
    assert not found.duplicated(list(PAIRS.key)).any()
    return {
        (row.author, row.measure, row.citation): tuple(
            None if pd.isna(one) else one for one in (row.premise, row.hypothesis, row.settled)
        )
        for row in found.itertuples()
    }


def test_facets_are_held_against_the_same_facet_of_the_reference() -> None:
    mine = {name: f"my {name}" for name in FACETS}
    found = asked(BMRC, {"reference": ALL, "s": mine})
    assert found == {
        ("s", f"bmrc_{name}", -1): (f"{name} of it", f"my {name}", None) for name in FACETS
    }


def test_a_row_is_a_pair_of_the_contract(tmp_path: Path) -> None:
    frame = rubric_pairs(source(), parts({"reference": ALL, "s": ALL}), BMRC, FACETS)
    write(PAIRS, frame, tmp_path / "pairs.parquet")
    row = read(PAIRS, tmp_path / "pairs.parquet").set_index("measure").loc["bmrc_result"]
    assert (row["instrument"], row["part"], row["position"]) == ("scale", "result", 2)
    assert row["repeats"] == "set shown_to_reference shown_to_s"
    said = json.loads(row["context"])
    assert (said["kind"], said["criterion"], sorted(said["levels"])) == (
        *("scale", "result"),
        ["1", "2", "3", "4"],
    )
    assert row["pair_id"] == pair_id("scale", row["premise"], row["hypothesis"], row["context"])
    assert all(
        isinstance(frame[name].dtype, pd.CategoricalDtype) for name in ("premise", "context")
    )
    assert len(frame["context"].cat.categories) == 4


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
        # A note of which one section failed was never whole, but its other sections are there.
        ({"method": "m"}, {"full": None, "method": "n", "result": None}, ("m", "n", None)),
    ],
)
def test_what_is_absent_or_unknown_is_settled(
    reference: dict[str, str | None], system: dict[str, str | None], expected: Any
) -> None:
    found = asked(only(BMRC, "method"), {"reference": reference, "s": system})
    assert found == ({} if expected == "nothing" else {("s", "bmrc_method", -1): expected})


def test_without_a_reference_nothing_is_held_against_one() -> None:
    assert asked(BMRC, {"s": ALL}) == {}


def test_the_reference_is_graded_where_nothing_is_held_against_it() -> None:
    tone = only(VANILLA, "rating", against=("source",))
    found = asked(tone, {"reference": {}, "s": {}})
    assert found == {
        (who, "vanilla_rating", -1): ("p0\np1", "whole", None) for who in ("reference", "s")
    }
    alone = only(VANILLA, "rating", against=())
    assert asked(alone, {"s": {}}) == {("s", "vanilla_rating", -1): ("", "whole", None)}


def test_own_parts_and_the_source_are_named_where_they_are_several() -> None:
    texts: dict[str, dict[str, str | None]] = {"s": {name: name.upper() for name in MADE}}
    found = asked(NOTE, texts, note_type="respiratory", symptoms=["cough: no"])
    said = {measure: row for (_, measure, _), row in found.items()}
    assert said["note_respiratory_realism_phys"] == (
        "source:\np0\np1\n\nhistory:\nHISTORY",
        "PHYSICAL_EXAMINATION",
        None,
    )
    assert said["note_respiratory_compact_content"][0] == (
        "history:\nHISTORY\n\nphysical_examination:\nPHYSICAL_EXAMINATION"
    )
    assert said["note_respiratory_compact_readability"] == ("", "COMPACT", None)
    assert said["note_respiratory_1A"] == ("p0\np1", "HISTORY", None)
    for name in ("1B", "1C"):  # the prompt has no such part
        assert said[f"note_respiratory_{name}"] == (None, "HISTORY", "not_applicable")


def test_own_parts_that_are_absent_are_left_out() -> None:
    both = only(NOTE, "compact_content")
    kind = {"note_type": "respiratory"}
    found = asked(
        both,
        {"s": {"compact": "c", "physical_examination": "p"}, "t": dict.fromkeys(MADE, "x")},
        **kind,
    )
    assert found["s", "note_respiratory_compact_content", -1][0] == "physical_examination:\np"
    # Nothing is left that the compact version could be held against.
    assert ("u", "note_respiratory_compact_content", -1) not in asked(
        both, {"u": {"compact": "c"}, "t": dict.fromkeys(MADE, "x")}, **kind
    )
    failed = asked(both, {"s": {**dict.fromkeys(MADE, "x"), "history": None}}, **kind)
    assert failed["s", "note_respiratory_compact_content", -1][2] == "no_claims"


def test_a_text_without_the_part_is_worst_or_has_no_penalty() -> None:
    prompt = {"note_type": "respiratory", "symptoms": ["a"], "unmentioned": ["b"]}
    texts: dict[str, dict[str, str | None]] = {"s": {}, "t": dict.fromkeys(MADE, "x")}
    found = asked(NOTE, texts, **prompt)
    settled = {name: found["s", f"note_respiratory_{name}", -1][2] for name in ("1A", "1B", "1D")}
    assert settled == {"1A": "no_evidence", "1B": "not_applicable", "1D": "not_applicable"}


def test_a_scale_that_does_not_apply_is_not_asked() -> None:
    tone = only(VANILLA, "rating", against=(), applies={"formal": None})
    assert asked(tone, {"s": {}}) == {}
    assert asked(tone, {"s": {}}, formal="yes") != {}


def test_a_rubric_is_for_the_documents_that_it_names() -> None:
    both = pd.concat([source(note_type="respiratory"), source("e", note_type="unrelated")])
    texts = {"s": dict.fromkeys(MADE, "x")}
    every = pd.concat([parts(texts), parts(texts, "e")])
    assert set(rubric_pairs(both, every, NOTE, ())["doc_id"]) == {"d"}
    with pytest.raises(BadInput, match=r"rubrics/note_respiratory\.yaml > applies: no document"):
        rubric_pairs(source(note_type="x"), parts(texts), NOTE, ())


def test_a_part_that_no_text_has_is_refused() -> None:
    with pytest.raises(BadInput) as error:
        rubric_pairs(source(), parts({"reference": {}, "s": {}}), BMRC, ())
    assert len(error.value.problems) == 4
    assert (
        "background: no text has the part 'background'; there are full" in error.value.problems[0]
    )
    assert rubric_pairs(source(), parts({"reference": {}, "s": {}}), BMRC, FACETS).empty


def test_odd_items_are_counted() -> None:
    texts = parts({"s": dict.fromkeys(MADE, "x")})
    with pytest.raises(
        BadInput, match=r"1A > items_from: attribute 'symptoms' .* \(in 1 documents\)"
    ):
        rubric_pairs(source(note_type="respiratory", symptoms=3), texts, NOTE, ())


def test_several_references_are_asked_about_one_by_one() -> None:
    texts: dict[str, dict[str, str | None]] = {
        "reference:10": {"method": "ten"},
        "reference:2": {"result": "r"},
        "reference": {"method": "one"},
        "s": {"method": "m"},
    }
    found = asked(only(BMRC, "method"), texts)
    assert found == {
        ("s", "bmrc_method", 0): ("one", "m", None),
        ("s", "bmrc_method", 2): ("ten", "m", None),
    }
    tone = only(VANILLA, "rating", against=())
    assert {author for author, *_ in asked(tone, texts)} == {"reference", "s"}


def test_notes_of_two_types_that_are_given_section_by_section() -> None:
    """From texts as own data give them, through the segmentation, to both rubrics."""
    sources = pd.concat(
        [
            source("a", note_type="respiratory", symptoms={"cough": "yes, dry"}),
            source("b", note_type="unrelated"),
        ]
    ).assign(task="note")
    rows = [
        (doc, "model", part, None if (doc, part) == ("b", "compact") else part.upper())
        for doc in ("a", "b")
        for part in MADE
    ]
    rows += [("b", "model", "full", "HISTORY and PHYSICAL_EXAMINATION")]
    texts = pd.DataFrame(rows, columns=["doc_id", "author", "part", "text"])
    texts["status"] = texts["text"].notna().map({True: "ok", False: "refused"})
    soap = choose(SEGMENTATIONS, {"kind": "soap", "compat": "none"}, where="soap")
    given = empty(SEGMENTS)
    cut = segment(texts.assign(recipe="r"), sources, given, soap, Resources(Path("raw")))[0]
    type_1 = rubric_pairs(sources, cut, NOTE, ())
    unrelated = load_rubric(RUBRICS / "note_unrelated.yaml")
    type_2 = rubric_pairs(sources, cut, unrelated, ()).set_index("measure")
    assert set(type_1["doc_id"]) == {"a"}
    assert set(type_2["doc_id"]) == {"b"}
    (items,) = (json.loads(c)["items"] for c in type_1["context"] if '"1A"' in c)
    assert items == ["cough: yes, dry"]
    assert type_2.loc["note_unrelated_2A", "hypothesis"] == "HISTORY and PHYSICAL_EXAMINATION"
    assert type_2.loc["note_unrelated_realism_hist", "hypothesis"] == "HISTORY"
    assert type_2.loc["note_unrelated_compact_content", "settled"] == "no_claims"
