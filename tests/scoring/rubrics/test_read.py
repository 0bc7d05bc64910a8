"""Rubrics are read strictly; those of the project are what their papers say."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.judges.criteria import criterion_of
from metassay.judges.protocol import Pair
from metassay.scoring.rubrics.ask import (
    applies,
    attributes_of,
    cap_of,
    expand_facets,
    items_of,
    question,
)
from metassay.scoring.rubrics.record import (
    EVERY_FACET,
    RUBRICS,
    Example,
    PenaltiesBlock,
    RubricFile,
    ScaleBlock,
    Violation,
    load_rubric,
)

PAGE = (Path(__file__).parents[3] / "docs/studies.md").read_text(encoding="utf-8")
PROJECT = {file.stem: load_rubric(file) for file in sorted(RUBRICS.glob("*.yaml"))}
GOOD = """\
title: Tone
source: Invented
overall: renormalised
applies: {kind: [letter, 3], topic: any}
criteria:
  warmth:
    kind: scale
    asks: How warm is it?
    reads: full
    against: [source, closing]
    weight: 1
    value: share
    levels: {"1": Cold., "2": Warm.}
    examples: [{text: Dear all, grade: 2, reason: It greets.}]
  slips:
    kind: penalties
    asks: Which of these are missing?
    reads: closing
    against: nothing
    items_from: wanted
    cap: 2
    absent: worst
"""


def written(tmp_path: Path, text: str, name: str = "tone") -> Path:
    path = tmp_path / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(BadInput) as error:
        load_rubric(path)
    return strict_yaml.add_lines(error.value.problems)


def test_a_rubric_is_read_as_it_is_written(tmp_path: Path) -> None:
    rubric = load_rubric(written(tmp_path, GOOD))
    warmth, slips = rubric.criteria
    assert (rubric.name, rubric.overall, rubric.references) == (
        "tone",
        "renormalised",
        "best",
    )
    assert (warmth.against, warmth.lowest, warmth.highest) == (
        ("source", "closing"),
        1,
        2,
    )
    assert warmth.examples[0].reason == "It greets."
    assert (slips.against, slips.cap, slips.better, slips.weight) == (
        (),
        2,
        "lower",
        None,
    )
    assert not rubric.compares
    # To a condition no truth is a number.
    assert applies(rubric.applies, {"kind": 3, "topic": "x"})
    number = load_rubric(written(tmp_path, GOOD.replace("[letter, 3]", "[1]")))
    for each in (rubric, number):
        assert not applies(each.applies, {"kind": True, "topic": "x"})
    assert cap_of(slips, {"wanted": ["a", "b", "c"]}) == 2  # more items than the cap
    assert cap_of(slips, {"wanted": ["a", "a"]}) == 1
    # Questions are canonical JSON.
    assert question(warmth, {}) == (
        '{"asks":"How warm is it?","criterion":"warmth","examples":[{"against":"","grade":2,'
        '"reason":"It greets.","text":"Dear all"}],"kind":"scale",'
        '"levels":{"1":"Cold.","2":"Warm."}}'
    )
    assert question(slips, {"wanted": ["é"]}) == (
        '{"asks":"Which of these are missing?","cap":1,"criterion":"slips","examples":[],'
        '"items":["é"],"kind":"penalties"}'
    )


ITEMS = "    items_from: wanted\n    cap: 2"


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("title: Tone", "titel: Tone", 1, "titel: unknown key"),
        ("overall: renormalised\n", "", None, "overall: missing"),
        (
            "overall: renormalised",
            "overall: none",
            11,
            "warmth > weight: overall is none",
        ),
        ("    weight: 1\n", "", 3, "overall: no criterion has a weight"),
        ("weight: 1", "weight: 0", 11, "weight: must be greater than 0"),
        ("kind: scale", "kind: stars", 7, "kind: must be scale or penalties"),
        ("asks: How warm is it?", 'asks: " "', 8, "asks: is blank"),
        ('"2": Warm.', '"3": Warm.', 13, "levels: are not consecutive from 1 to 3"),
        ('"2": Warm.', '"b": Warm.', 13, "levels: must be whole numbers from 0"),
        (
            '{"1"',
            f'{{? "{"1" * 5000}"\n      ',
            13,
            "levels: must be whole numbers from 0",
        ),
        (', "2": Warm.', "", 13, "levels: 1 of them; write 2 to 101"),
        ('"2": Warm.', '"2": " "', 13, "levels > 2: is blank"),
        ("grade: 2", "grade: 3", 14, "examples > 0 > grade: is 3; write 1 to 2"),
        (
            "reason: It greets.",
            "violations: [{what: x}]",
            14,
            "violations: a scale has none",
        ),
        (
            "cap: 2",
            "examples: [{text: a, grade: 0}]\n    cap: 2",
            21,
            "examples: the items",
        ),
        (
            "reason: It greets.",
            "quotes: [dear]",
            14,
            "examples > 0: a quote is not in its text",
        ),
        ("cap: 2", "cap: 0", 21, "cap: must be a whole number from 1, `items`"),
        ("cap: 2", "cap: none", 21, "cap: each item has one penalty at most"),
        (ITEMS, "    cap: items", 20, "cap: there are no items"),
        (ITEMS, "    cap: none", 21, "absent: without a cap"),
        (
            "items_from: wanted",
            "items: [a]",
            21,
            "cap: is 2, but 1 items have one penalty each",
        ),
        (
            "    cap: 2",
            "    items: [a, b]\n    cap: 2",
            20,
            "items_from: items are listed as well",
        ),
        (
            "items_from: wanted",
            "items: [a, a]",
            20,
            "items: must have one or more, each once",
        ),
        (
            "absent: worst",
            "absent: best",
            22,
            "absent: must be 'worst' or 'no penalty'",
        ),
        ("reads: closing", "reads: source", 18, "reads: is not a part of a text"),
        ("reads: closing", 'reads: "a b"', 18, "reads: is not a name of a part"),
        ("[source, closing]", "[source, nothing]", 10, "against: nothing stands alone"),
        ("[source, closing]", "[source, full]", 10, "against: 'full' is what is read"),
        ("topic: any", "topic: some", 4, "applies > topic: must be `any`"),
        ("topic: any", "topic: []", 4, "applies > topic: must be `any`"),
        ("  slips:", "  overall:", 15, "overall: the name is taken"),
        ("  slips:", "  Warmth:", 15, "Warmth: differs from warmth in case"),
        ("  warmth:", "  warm th:", 6, "warm th: use letters"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, line: int | None, problem: str
) -> None:
    assert old in GOOD
    lines = problems(written(tmp_path, GOOD.replace(old, new)))
    at = f", line {line} > " if line else " > "
    assert any(at in each and problem in each for each in lines), lines


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    bad = GOOD.replace("kind: scale", "kind: stars").replace("cap: 2", "cap: 0")
    assert len(problems(written(tmp_path, bad, "two words"))) == 3
    assert problems(
        written(tmp_path, "title: T\nsource: S\noverall: none\ncriteria: {}\n")
    ) == [f"{tmp_path}/tone.yaml, line 4 > criteria: is empty; write one or more"]


def test_examples_of_penalties_count_their_violations(tmp_path: Path) -> None:
    both = "violations: [{item: 1, quote: Dear}, {item: 2}]"
    listed = "    items: [date, place]\n    cap: items"
    good = GOOD.replace(
        ITEMS, f"{listed}\n    examples: [{{text: Dear all, grade: 2, {both}}}]"
    )
    slips = load_rubric(written(tmp_path, good)).criteria[1]
    assert json.loads(question(slips, {}))["examples"] == [
        {
            "against": "",
            "grade": 2,
            "reason": "",
            "text": "Dear all",
            "violations": [{"item": 1, "quote": "Dear"}, {"item": 2, "quote": ""}],
        }
    ]
    for old, new in (
        (f"all, grade: 2, {both}", f"all, grade: 1, {both}"),
        ("item: 2", "item: 1"),
        ("item: 2", "item: 3"),
    ):
        (problem,) = problems(written(tmp_path, good.replace(old, new)))
        assert (
            "examples > 0 > violations: must be as many as the grade, each" in problem
        )
    free = good.replace(listed, "    cap: 5")
    assert "with a different what" in problems(written(tmp_path, free))[0]
    load_rubric(
        written(
            tmp_path, free.replace("item: 1", "what: a").replace("item: 2", "what: b")
        )
    )


def test_conditions_and_items_come_from_the_source() -> None:
    rubric = PROJECT["note_respiratory"]
    prompt = attributes_of(
        '{"note_type":"respiratory","symptoms":{"cough":"no","fever":"yes, mild"}}'
    )
    assert applies(rubric.applies, prompt)
    assert not applies(rubric.applies, {"note_type": "unrelated"})
    assert not applies(rubric.applies, attributes_of(None))
    a, b, c, d = rubric.criteria[:4]
    assert items_of(a, prompt) == ("cough: no", "fever: yes, mild")
    assert [cap_of(each, prompt) for each in (a, b, c, d)] == [2, 0, None, 3]
    assert [applies(c.applies, {"conditions": its}) for its in ([], ["asthma"])] == [
        False,
        True,
    ]
    assert not applies(c.applies, prompt)
    with pytest.raises(
        BadInput, match="'symptoms' must be a list of texts or an object"
    ):
        items_of(a, {"symptoms": "cough"})


def test_every_facet_is_a_criterion() -> None:
    pico = expand_facets(PROJECT["facets"], ("population", "outcome")).criteria
    assert [(each.name, each.reads) for each in pico] == [
        ("agreement_population", "population"),
        ("agreement_outcome", "outcome"),
    ]
    assert "`outcome`" in pico[1].asks
    with pytest.raises(BadInput, match="the benchmark's segmentation has no facets"):
        expand_facets(PROJECT["facets"], ())
    assert expand_facets(PROJECT["bmrc"], ()) == PROJECT["bmrc"]


def test_rubrics_of_the_project_are_those_of_their_papers() -> None:
    """Caps per listed item, 3, 5, 4 and 2; no cap for conditions; five scales from 1 to 5."""
    bmrc = PROJECT["bmrc"]
    assert bmrc.overall == "renormalised"
    assert {each.name: (each.highest, each.weight) for each in bmrc.criteria} == {
        "background": (3, 0.1),
        "method": (4, 0.3),
        "result": (4, 0.3),
        "conclusion": (3, 0.3),
    }
    assert all(each.value == "share" and each.compares for each in bmrc.criteria)
    (rating,) = PROJECT["vanilla"].criteria
    assert (rating.lowest, rating.highest, rating.reads) == (1, 4, "full")
    assert PROJECT["facets"].criteria[0].reads == EVERY_FACET
    prompt = {"symptoms": {"cough": "no", "fever": "no"}, "unmentioned": ["pain"]}
    caps, scales = {}, []
    for name in ("note_respiratory", "note_unrelated"):
        for each in PROJECT[name].criteria:
            if each.kind == "penalties":
                caps[each.name] = cap_of(each, prompt)
            else:
                scales.append((each.name, each.lowest, each.highest))
    assert caps == {"1A": 2, "1B": 1, "1C": None, "1D": 3, "2A": 5, "2B": 4, "2C": 2}
    names = ["realism_hist", "realism_phys", "clinical_accuracy", "compact_content"]
    assert scales == [(name, 1, 5) for name in [*names, "compact_readability"]] * 2


def test_judges_read_every_question_of_the_project() -> None:
    prompt = {"symptoms": ["cough"], "unmentioned": ["pain"]}
    for rubric in PROJECT.values():
        for each in expand_facets(rubric, ("population",)).criteria:
            for better in ("higher", "lower"):
                context = question(replace(each, better=better), prompt)  # type: ignore[arg-type]
                pair = Pair("p", each.kind, "premise", "text", context=context)
                bounds = (each.lowest, cap_of(each, prompt) or each.highest)
                assert criterion_of(pair).bounds == bounds


def test_the_page_says_every_key_and_its_example_is_sound(tmp_path: Path) -> None:
    models = (RubricFile, ScaleBlock, PenaltiesBlock, Example, Violation)
    keys = {name for model in models for name in model.model_fields}
    assert {"items_from", "weight", "what"} <= keys
    assert [
        key for key in sorted(keys) if f"`{key}`" not in PAGE and f"{key}: " not in PAGE
    ] == []
    blocks = [block.partition("```")[0] for block in PAGE.split("```yaml\n")[1:]]
    (example,) = (block for block in blocks if block.startswith("title:"))
    rubric = load_rubric(written(tmp_path, example, "letters"))
    assert [each.name for each in rubric.criteria] == ["plan", "slips"]
