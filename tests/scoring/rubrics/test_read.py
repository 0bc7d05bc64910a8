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
    assert (rubric.name, rubric.overall, rubric.references) == ("tone", "renormalised", "best")
    assert (warmth.against, warmth.lowest, warmth.highest) == (("source", "closing"), 1, 2)
    assert warmth.examples[0].reason == "It greets."
    assert (slips.against, slips.cap, slips.better, slips.weight) == ((), 2, "lower", None)
    assert not rubric.compares


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("title: Tone", "titel: Tone", 1, "titel: unknown key"),
        ("overall: renormalised\n", "", None, "overall: missing"),
        ("overall: renormalised", "overall: none", 11, "warmth > weight: overall is none"),
        ("    weight: 1\n", "", 3, "overall: no criterion has a weight"),
        ("weight: 1", "weight: 0", 11, "weight: Input should be greater than 0"),
        ("kind: scale", "kind: stars", 7, "kind: must be scale or penalties"),
        ("asks: How warm is it?", 'asks: " "', 8, "asks: is blank"),
        ('"2": Warm.', '"3": Warm.', 13, "levels: are not consecutive from 1 to 3"),
        ('"2": Warm.', '"b": Warm.', 13, "levels: must be whole numbers from 0"),
        ('{"1"', f'{{? "{"1" * 5000}"\n      ', 13, "levels: must be whole numbers from 0"),
        (', "2": Warm.', "", 13, "levels: 1 of them; write 2 to 101"),
        ('"2": Warm.', '"2": " "', 13, "levels > 2: is blank"),
        ("grade: 2", "grade: 3", 14, "examples > 0 > grade: is 3; write 1 to 2"),
        ("reason: It greets.", "violations: [{what: x}]", 14, "violations: a scale has none"),
        (
            "    cap: 2",
            "    examples: [{text: a, grade: 0}]\n    cap: 2",
            21,
            "examples: the items",
        ),
        ("reason: It greets.", "quotes: [dear]", 14, "examples > 0: a quote is not in its text"),
        ("cap: 2", "cap: 0", 21, "cap: must be a whole number from 1, `items`"),
        ("cap: 2", "cap: none", 21, "cap: each item has one penalty at most"),
        ("    items_from: wanted\n    cap: 2", "    cap: items", 20, "cap: there are no items"),
        ("    items_from: wanted\n    cap: 2", "    cap: none", 21, "absent: without a cap"),
        ("items_from: wanted", "items: [a]", 21, "cap: is 2, but 1 items have one penalty each"),
        ("    cap: 2", "    items: [a, b]\n    cap: 2", 20, "items_from: items are listed as well"),
        ("items_from: wanted", "items: [a, a]", 20, "items: must have one or more, each once"),
        ("absent: worst", "absent: best", 22, "absent: Input should be 'worst' or 'no penalty'"),
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
    tmp_path: Path, old: str, new: str, line: int | None, said: str
) -> None:
    assert old in GOOD
    found = problems(written(tmp_path, GOOD.replace(old, new)))
    at = f", line {line} > " if line else " > "
    assert any(at in one and said in one for one in found), found


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    bad = GOOD.replace("kind: scale", "kind: stars").replace("cap: 2", "cap: 0")
    assert len(problems(written(tmp_path, bad, "two words"))) == 3
    assert problems(written(tmp_path, "title: T\nsource: S\noverall: none\ncriteria: {}\n")) == [
        f"{tmp_path}/tone.yaml, line 4 > criteria: is empty; write one or more"
    ]


def test_conditions_and_items_come_from_the_source() -> None:
    rubric = load_rubric(RUBRICS / "note_respiratory.yaml")
    mine = attributes_of(
        '{"note_type":"respiratory","symptoms":{"cough":"no","fever":"yes, mild"}}'
    )
    assert applies(rubric.applies, mine)
    assert not applies(rubric.applies, {"note_type": "unrelated"})
    assert not applies(rubric.applies, attributes_of(None))
    a, b, c, d = rubric.criteria[:4]
    assert items_of(a, mine) == ("cough: no", "fever: yes, mild")
    assert [cap_of(one, mine) for one in (a, b, c, d)] == [2, 0, None, 3]
    assert not applies(c.applies, mine)
    assert not applies(c.applies, {"conditions": []})
    assert applies(c.applies, {"conditions": ["asthma"]})
    with pytest.raises(BadInput, match="'symptoms' must be a list of texts or an object"):
        items_of(a, {"symptoms": "cough"})


def test_a_condition_takes_no_truth_for_a_number(tmp_path: Path) -> None:
    rubric = load_rubric(written(tmp_path, GOOD))
    assert applies(rubric.applies, {"kind": 3, "topic": "x"})
    assert not applies(rubric.applies, {"kind": True, "topic": "x"})
    number = load_rubric(written(tmp_path, GOOD.replace("[letter, 3]", "[1]")))
    assert not applies(number.applies, {"kind": True, "topic": "x"})


def test_an_attribute_with_more_items_than_the_cap_keeps_the_cap(tmp_path: Path) -> None:
    slips = load_rubric(written(tmp_path, GOOD)).criteria[1]
    assert cap_of(slips, {"wanted": ["a", "b", "c"]}) == 2
    assert cap_of(slips, {"wanted": ["a", "a"]}) == 1


def test_the_question_is_canonical_json(tmp_path: Path) -> None:
    warmth, slips = load_rubric(written(tmp_path, GOOD)).criteria
    assert question(warmth, {}) == (
        '{"asks":"How warm is it?","criterion":"warmth","examples":[{"against":"","grade":2,'
        '"reason":"It greets.","text":"Dear all"}],"kind":"scale",'
        '"levels":{"1":"Cold.","2":"Warm."}}'
    )
    assert question(slips, {"wanted": ["é"]}) == (
        '{"asks":"Which of these are missing?","cap":1,"criterion":"slips","examples":[],'
        '"items":["é"],"kind":"penalties"}'
    )


def test_every_facet_is_a_criterion() -> None:
    rubric = load_rubric(RUBRICS / "facets.yaml")
    pico = expand_facets(rubric, ("population", "outcome"))
    assert [one.name for one in pico.criteria] == ["agreement_population", "agreement_outcome"]
    assert [one.reads for one in pico.criteria] == ["population", "outcome"]
    assert "`outcome`" in pico.criteria[1].asks
    with pytest.raises(BadInput, match="the benchmark's segmentation has no facets"):
        expand_facets(rubric, ())
    bmrc = load_rubric(RUBRICS / "bmrc.yaml")
    assert expand_facets(bmrc, ()) == bmrc


def test_the_page_says_every_key() -> None:
    page = (Path(__file__).parents[3] / "docs/studies.md").read_text(encoding="utf-8")
    models = (RubricFile, ScaleBlock, PenaltiesBlock, Example, Violation)
    keys = {name for model in models for name in model.model_fields}
    assert {"items_from", "weight", "what"} <= keys
    assert [key for key in sorted(keys) if f"`{key}`" not in page and f"{key}: " not in page] == []


def test_every_rubric_of_the_project_is_sound() -> None:
    names = [load_rubric(file).name for file in sorted(RUBRICS.glob("*.yaml"))]
    assert {"bmrc", "vanilla", "facets"} <= set(names)
    assert {"note_respiratory", "note_unrelated"} <= set(names)


def test_facets_have_the_scales_and_weights_of_the_paper() -> None:
    bmrc = load_rubric(RUBRICS / "bmrc.yaml")
    assert bmrc.overall == "renormalised"
    assert {one.name: (one.highest, one.weight) for one in bmrc.criteria} == {
        **{"background": (3, 0.1), "method": (4, 0.3)},
        **{"result": (4, 0.3), "conclusion": (3, 0.3)},
    }
    assert all(one.value == "share" and one.compares for one in bmrc.criteria)
    (rating,) = load_rubric(RUBRICS / "vanilla.yaml").criteria
    assert (rating.lowest, rating.highest, rating.reads) == (1, 4, "full")
    assert load_rubric(RUBRICS / "facets.yaml").criteria[0].reads == EVERY_FACET


def test_notes_have_the_caps_and_scales_of_the_study() -> None:
    """Caps per listed item, 3, 5, 4 and 2; no cap for conditions; five scales from 1 to 5."""
    prompt = {"symptoms": {"cough": "no", "fever": "no"}, "unmentioned": ["pain"]}
    caps = {
        one.name: cap_of(one, prompt)
        for name in ("note_respiratory", "note_unrelated")
        for one in load_rubric(RUBRICS / f"{name}.yaml").criteria
        if one.kind == "penalties"
    }
    assert caps == {"1A": 2, "1B": 1, "1C": None, "1D": 3, "2A": 5, "2B": 4, "2C": 2}
    for name in ("note_respiratory", "note_unrelated"):
        scales = [one for one in load_rubric(RUBRICS / f"{name}.yaml").criteria if one.levels]
        assert [(one.name, one.lowest, one.highest) for one in scales] == [
            (name, 1, 5)
            for name in (
                *("realism_hist", "realism_phys", "clinical_accuracy"),
                *("compact_content", "compact_readability"),
            )
        ]


EXAMPLES = """\
    items: [date, place]
    cap: items
    examples:
      - {text: Dear all, grade: 2, violations: [{item: 1, quote: Dear}, {item: 2}]}
"""


def test_examples_of_penalties_count_their_violations(tmp_path: Path) -> None:
    good = GOOD.replace("    items_from: wanted\n    cap: 2\n", EXAMPLES)
    slips = load_rubric(written(tmp_path, good)).criteria[1]
    assert json.loads(question(slips, {}))["examples"] == [
        {
            **{"against": "", "grade": 2, "reason": "", "text": "Dear all"},
            "violations": [{"item": 1, "quote": "Dear"}, {"item": 2, "quote": ""}],
        }
    ]
    for old, new in (("grade: 2", "grade: 1"), ("item: 2", "item: 1"), ("item: 2", "item: 3")):
        (problem,) = problems(written(tmp_path, good.replace(old, new)))
        assert "examples > 0 > violations: must be as many as the grade, each" in problem
    free = good.replace("    items: [date, place]\n    cap: items", "    cap: 5")
    assert "with a different what" in problems(written(tmp_path, free))[0]
    load_rubric(written(tmp_path, free.replace("item: 1", "what: a").replace("item: 2", "what: b")))


def test_judges_read_every_question_of_the_project() -> None:
    prompt = {"symptoms": ["cough"], "unmentioned": ["pain"]}
    for file in sorted(RUBRICS.glob("*.yaml")):
        for one in expand_facets(load_rubric(file), ("population",)).criteria:
            for better in ("higher", "lower"):
                asked = question(replace(one, better=better), prompt)
                pair = Pair("p", one.kind, "premise", "text", context=asked)
                assert criterion_of(pair).bounds == (one.lowest, cap_of(one, prompt) or one.highest)


def test_the_example_of_the_page_is_sound(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/studies.md").read_text(encoding="utf-8")
    blocks = [block.partition("```")[0] for block in page.split("```yaml\n")[1:]]
    (example,) = (block for block in blocks if block.startswith("title:"))
    rubric = load_rubric(written(tmp_path, example, "letters"))
    assert [one.name for one in rubric.criteria] == ["plan", "slips"]
