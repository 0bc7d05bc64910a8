"""Scores of rubrics: worked by hand, against a brute force, and with every cap enforced."""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.scoring.aggregation.rubrics import rubric_scores
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.ask import criteria_table, expand_facets, rubric_descriptions
from metassay.scoring.rubrics.record import RUBRICS, Rubric, load_rubric
from metassay.tables.criteria import CRITERIA
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import round_trip
from metassay.tables.scores import SCORES

BMRC = load_rubric(RUBRICS / "bmrc.yaml")
PRINTED = replace(BMRC, overall="printed")
NOTE = load_rubric(RUBRICS / "note_respiratory.yaml")
FACETS = ("background", "method", "result", "conclusion")

Texts = Mapping[str, Mapping[str, str | None]]  # author -> part -> text; None: failed
Says = Callable[[dict[str, Any], str, str], float | None]  # criterion, premise, hypothesis


def tables_of(
    texts: Texts, passages: list[str], attributes: dict[str, Any] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Sources and parts of one document d; `full` is what the parts say, unless it is given."""
    written = None if attributes is None else json.dumps(attributes)
    source = {"doc_id": "d", "passages": passages, "attributes": written, "dataset": "set"}
    rows = []
    for author, parts in texts.items():
        whole = None if None in parts.values() and "full" not in parts else "whole"
        for part, text in {"full": whole, **parts}.items():
            rows.append(("d", author, part, text, "ok" if text is not None else "error", ["set"]))
    columns = ["doc_id", "author", "part", "text", "status", "repeats"]
    return pd.DataFrame([source]), pd.DataFrame(rows, columns=columns)


def judged(pairs: pd.DataFrame, says: Says) -> pd.DataFrame:
    """Judgments of one judge; None: it failed."""
    open_ = pairs[pairs["settled"].isna()].drop_duplicates("pair_id")
    grades = [
        says(json.loads(str(row.context)), str(row.premise), str(row.hypothesis))
        for row in open_.itertuples()
    ]
    return pd.DataFrame(
        {
            "judge": "j",
            "pair_id": open_["pair_id"],
            "status": ["error" if grade is None else "ok" for grade in grades],
            "grade": np.array(grades, dtype=float),
            "recipe": "r",
        }
    )


def scored(rubric: Rubric, says: Says, texts: Texts, **about: Any) -> pd.DataFrame:
    """Scores by author and metric, as they are written."""
    pairs = rubric_pairs(*tables_of(texts, **{"passages": ["p"], **about}), rubric, FACETS)
    pairs = round_trip(PAIRS, pairs)
    criteria = round_trip(CRITERIA, criteria_table(rubric))
    scores = rubric_scores(criteria, pairs, judged(pairs, says), "cues", "0")
    return round_trip(SCORES, scores).set_index(["author", "metric"])


def by_name(**grades: float | None) -> Says:
    return lambda criterion, *_: grades[criterion["criterion"]]


def shown(scores: pd.DataFrame, author: str, metric: str) -> tuple[float | None, ...]:
    """value, low, high, n_expected, n_failed."""
    row = scores.loc[(author, metric)]
    found = row[["value", "low", "high", "n_expected", "n_failed"]].tolist()
    return tuple(None if pd.isna(one) else round(float(one), 9) for one in found)


ALL = {"background": "b", "method": "m", "result": "r", "conclusion": "c"}
NO_METHOD = {name: text for name, text in ALL.items() if name != "method"}


def test_overall_by_hand() -> None:
    """2/3, 3/4, 4/4 and 1/3 with weights .1 .3 .3 .3: (.2/3 + .225 + .3 + .1) / 1 = .691667."""
    says = by_name(background=2, method=3, result=4, conclusion=1)
    found = scored(BMRC, says, {"reference": ALL, "s": ALL})
    assert shown(found, "s", "bmrc_background") == (0.666666667, 0.666666667, 0.666666667, 1, 0)
    assert shown(found, "s", "bmrc_overall") == (0.691666667, 0.691666667, 0.691666667, 4, 0)
    printed = scored(PRINTED, says, {"reference": ALL, "s": ALL})
    assert shown(printed, "s", "bmrc_overall")[0] == round((0.2 / 3 + 0.225 + 0.3 + 0.1) / 4, 9)
    assert set(found.index.get_level_values("author")) == {"s"}  # the reference is not graded
    assert set(found["part"]) == {"full"}


def test_a_facet_that_the_reference_lacks_is_not_scored() -> None:
    """Weights .1 .3 .3 over .7: (.2/3 + .3 + .1) / .7 = .666667; printed keeps the 4."""
    says = by_name(background=2, result=4, conclusion=1)
    found = scored(BMRC, says, {"reference": NO_METHOD, "s": ALL})
    assert shown(found, "s", "bmrc_method") == (None, None, None, 0, 0)
    assert shown(found, "s", "bmrc_overall")[0] == round((0.2 / 3 + 0.3 + 0.1) / 0.7, 9)
    printed = scored(PRINTED, says, {"reference": NO_METHOD, "s": ALL})
    assert shown(printed, "s", "bmrc_overall")[0] == round((0.2 / 3 + 0.3 + 0.1) / 4, 9)


@pytest.mark.parametrize("absent", [NO_METHOD, {**ALL, "method": ""}])
def test_a_facet_that_the_text_lacks_has_the_lowest_grade(absent: dict[str, str]) -> None:
    says = by_name(background=3, result=4, conclusion=3)
    found = scored(BMRC, says, {"reference": ALL, "s": absent})
    assert shown(found, "s", "bmrc_method") == (0.25, 0.25, 0.25, 1, 0)
    assert shown(found, "s", "bmrc_overall")[0] == round(0.1 + 0.3 * 0.25 + 0.3 + 0.3, 9)


def test_what_failed_is_null_and_bounded() -> None:
    """The method may be 1/4 to 4/4, so the overall .1 + .3 x (.25 to 1) + .3 + .3."""
    says = by_name(background=3, method=None, result=4, conclusion=3)
    found = scored(BMRC, says, {"reference": ALL, "s": ALL})
    assert shown(found, "s", "bmrc_method") == (None, 0.25, 1, 1, 1)
    assert shown(found, "s", "bmrc_overall") == (None, 0.775, 1, 4, 1)
    unknown = {**ALL, "method": None, "full": "whole"}  # the segmentation failed
    assert shown(scored(BMRC, says, {"reference": ALL, "s": unknown}), "s", "bmrc_method") == (
        *(None, 0.25, 1),
        *(1, 1),
    )
    nothing = scored(BMRC, says, {"reference": ALL, "s": {"full": None}, "t": ALL})
    assert shown(nothing, "s", "bmrc_overall") == (
        *(None, round(0.1 / 3 + 0.3 * (0.25 + 0.25 + 1 / 3), 9), 1),
        *(4, 4),
    )


def test_a_facet_of_the_reference_that_is_unknown_may_count_or_not() -> None:
    """Without the method 1; with it at worst .775, at best still 1."""
    says = by_name(background=3, result=4, conclusion=3)
    unknown = {**ALL, "method": None, "full": "whole"}
    found = scored(BMRC, says, {"reference": unknown, "s": ALL})
    assert shown(found, "s", "bmrc_overall") == (None, 0.775, 1, 4, 1)
    low = by_name(background=1, result=1, conclusion=1)
    found = scored(BMRC, low, {"reference": unknown, "s": ALL})
    without = (0.1 / 3 + 0.3 * 0.25 + 0.1) / 0.7
    least = (0.1 / 3 + 0.3 * 0.25 + 0.1 + 0.3 * 0.25) / 1.0
    most = (0.1 / 3 + 0.3 * 0.25 + 0.1 + 0.3) / 1.0
    assert shown(found, "s", "bmrc_overall")[1:3] == (round(min(without, least), 9), round(most, 9))


# ---- penalties -------------------------------------------------------------------------------

PROMPT = {
    "note_type": "respiratory",
    "symptoms": {"cough": "yes, dry", "fever": "no"},
    "unmentioned": ["chest pain"],
    "conditions": ["asthma"],
}
PARTS = {"history": "h", "physical_examination": "p", "compact": "c"}
SCALES = dict.fromkeys(
    (
        *("realism_hist", "realism_phys", "clinical_accuracy"),
        *("compact_content", "compact_readability"),
    ),
    5.0,
)


def note(says: dict[str, float | None], prompt: dict[str, Any] | None = None) -> pd.DataFrame:
    texts = {"s": PARTS, "t": {"full": "x", "physical_examination": "p"}}
    return scored(NOTE, by_name(**{**SCALES, **says}), texts, attributes=prompt or PROMPT)


def test_penalties_by_hand() -> None:
    found = note({"1A": 2, "1B": 0, "1C": 1, "1D": 3})
    assert shown(found, "s", "note_respiratory_1A") == (2, 2, 2, 1, 0)
    assert shown(found, "s", "note_respiratory_penalties") == (6, 6, 6, 4, 0)
    assert shown(found, "s", "note_respiratory_realism_hist") == (5, 5, 5, 1, 0)
    assert ("s", "note_respiratory_overall") not in found.index
    # A text without a history gets none of its symptoms right, and says nothing that is forbidden.
    assert shown(found, "t", "note_respiratory_penalties") == (2, 2, 2, 4, 0)
    assert shown(found, "t", "note_respiratory_realism_hist")[0] == 1


def test_a_part_that_the_prompt_lacks_has_no_penalties() -> None:
    found = note({"1D": 1}, {"note_type": "respiratory"})
    for criterion in ("1A", "1B", "1C"):
        assert shown(found, "s", f"note_respiratory_{criterion}") == (0, 0, 0, 1, 0)
    assert shown(found, "s", "note_respiratory_penalties") == (1, 1, 1, 4, 0)


def test_bounds_of_penalties_are_the_caps_of_the_document() -> None:
    found = note({"1A": None, "1B": None, "1C": 0, "1D": None})
    assert shown(found, "s", "note_respiratory_1A") == (None, 0, 2, 1, 1)
    assert shown(found, "s", "note_respiratory_1B") == (None, 0, 1, 1, 1)
    assert shown(found, "s", "note_respiratory_1D") == (None, 0, 3, 1, 1)
    assert shown(found, "s", "note_respiratory_penalties") == (None, 0, 6, 4, 3)
    endless = note({"1A": 1, "1B": 0, "1C": None, "1D": 0})
    assert shown(endless, "s", "note_respiratory_1C") == (None, 0, None, 1, 1)
    assert shown(endless, "s", "note_respiratory_penalties") == (None, 1, None, 4, 1)


CAPS = {
    "note_respiratory": {"1A": 2, "1B": 1, "1D": 3, **SCALES},
    "note_unrelated": {"2A": 5, "2B": 4, "2C": 2, **SCALES},
}


@pytest.mark.parametrize("name", CAPS)
def test_every_cap_holds(name: str) -> None:
    rubric, caps = load_rubric(RUBRICS / f"{name}.yaml"), CAPS[name]
    prompt = {**PROMPT, "note_type": name.removeprefix("note_")}
    pairs = rubric_pairs(*tables_of({"s": {**PARTS, "full": "x"}}, ["p"], prompt), rubric, FACETS)

    def give(grades: Mapping[str, float]) -> pd.DataFrame:
        judgments = judged(pairs, by_name(**{"1C": 0, **grades}))
        return rubric_scores(criteria_table(rubric), pairs, judgments, "cues", "0")

    at_caps = give(caps).set_index("metric")["value"]
    assert {one: at_caps[f"{name}_{one}"] for one in caps} == caps
    for change in (lambda cap: cap + 1, lambda cap: cap + 0.5, lambda _: -1):
        with pytest.raises(BadInput) as error:
            give({one: change(cap) for one, cap in caps.items()})
        assert list(error.value.problems) == [
            f"judgments: judge 'j' has 1 grade(s) of {name}_{one} that are off its scale or over"
            " its cap; judge again"
            for one in sorted(caps)
        ]
    with pytest.raises(BadInput, match="realism_hist"):
        give({**caps, "realism_hist": 0})


def test_conditions_have_no_cap() -> None:
    found = note({"1A": 0, "1B": 0, "1C": 17, "1D": 0})
    assert shown(found, "s", "note_respiratory_1C")[0] == 17


def test_a_text_that_failed_has_no_penalties_known() -> None:
    texts = {"s": {"full": None}, "t": PARTS}
    says = by_name(**{**SCALES, "1D": 0})
    prompt = {"note_type": "respiratory"}
    found = scored(NOTE, says, texts, attributes=prompt)
    assert shown(found, "s", "note_respiratory_1A") == (None, None, None, 0, 0)
    assert shown(found, "s", "note_respiratory_1D") == (None, 0, 3, 1, 1)
    assert shown(found, "s", "note_respiratory_penalties") == (None, 0, 3, 1, 1)


# ---- several references ----------------------------------------------------------------------

TWO = {
    "reference": {"background": "b1", "method": "m1", "result": "r1"},
    "reference:2": {"background": "b2", "result": "r2", "conclusion": "c2"},
    "s": ALL,
}
GRADES: dict[str, float | None] = {"b1": 1, "b2": 3, "m1": 4, "r1": 4, "r2": 1, "c2": 2}


def test_several_references_by_hand() -> None:
    def says(criterion: dict[str, Any], premise: str, hypothesis: str) -> float | None:
        return GRADES[premise]

    best = scored(BMRC, says, TWO)
    assert [shown(best, "s", f"bmrc_{facet}")[0] for facet in FACETS] == [1, 1, 1, 0.666666667]
    assert shown(best, "s", "bmrc_overall")[0] == round(0.1 + 0.3 + 0.3 + 0.3 * 2 / 3, 9)
    mean = scored(replace(BMRC, references="mean"), says, TWO)
    assert [shown(mean, "s", f"bmrc_{facet}")[0] for facet in FACETS] == [
        *(round(2 / 3, 9), 1, 0.625, round(2 / 3, 9)),
    ]
    assert shown(mean, "s", "bmrc_method")[3:] == (1, 0)
    assert set(mean.index.get_level_values("author")) == {"s"}


def test_an_answer_that_could_change_nothing_is_not_missed() -> None:
    def says(criterion: dict[str, Any], premise: str, hypothesis: str) -> float | None:
        return {**GRADES, "r2": None, "b2": None}[premise]

    best = scored(BMRC, says, TWO)
    assert shown(best, "s", "bmrc_result") == (1, 1, 1, 1, 0)  # the first has the highest level
    assert shown(best, "s", "bmrc_background") == (None, 0.333333333, 1, 1, 1)


# ---- bounds against a brute force ------------------------------------------------------------


def by_definition(
    rubric: Rubric, grades: Mapping[tuple[str, int], int], weights: Mapping[str, float]
) -> float | None:
    """The overall of one text from the grades of what is there: (facet, reference) -> level."""
    values = {}
    for one in rubric.criteria:
        mine = [grade for (facet, _), grade in grades.items() if facet == one.name]
        if mine:
            grade = max(mine) if rubric.references == "best" else sum(mine) / len(mine)
            values[one.name] = grade / max(one.levels)
    if not values:
        return None
    total = sum(weights[name] * value for name, value in values.items())
    if rubric.overall == "printed":
        return total / len(rubric.criteria)
    return total / sum(weights[name] for name in values)


STATES = ("grade", "failed", "absent", "unknown")  # of each facet and reference
Place = tuple[str, int]


def referring(state: Mapping[Place, str]) -> dict[str, dict[str, str | None]]:
    """Texts of a system and of references whose facets are there, absent or unknown."""
    names = {name for name, _ in state}
    texts: dict[str, dict[str, str | None]] = {"s": dict.fromkeys(names, "t")}
    for (name, number), is_ in state.items():
        author = "reference" if number == 0 else f"reference:{number + 1}"
        said = texts.setdefault(author, {"full": "whole"})
        if is_ != "absent":
            said[name] = None if is_ == "unknown" else f"{name} {number}"
    return texts


def possible(
    rubric: Rubric, state: Mapping[Place, str], truth: Mapping[Place, int]
) -> dict[str, list[float]]:
    """By metric, every value that answers which failed, and facets that are unknown, could give."""
    levels = {one.name: list(one.levels) for one in rubric.criteria}
    choices: list[list[int | None]] = [
        {
            "grade": [truth[place]],
            "failed": [*levels[place[0]]],
            "absent": [None],
            "unknown": [None, *levels[place[0]]],
        }[is_]
        for place, is_ in state.items()
    ]
    weights = {one.name: float(one.weight or 0) for one in rubric.criteria}
    alone = {
        one.name: replace(rubric, criteria=(one,), overall="renormalised")
        for one in rubric.criteria
    }
    found: dict[str, set[float | None]] = {name: set() for name in ("overall", *alone)}
    for grades in itertools.product(*choices):
        there = {place: grade for place, grade in zip(state, grades, strict=True) if grade}
        found["overall"].add(by_definition(rubric, there, weights))
        for name, one in alone.items():
            own = {place: grade for place, grade in there.items() if place[0] == name}
            found[name].add(by_definition(one, own, {name: 1.0}))
    return {
        name: [value for value in values if value is not None] for name, values in found.items()
    }


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("overall", ["renormalised", "printed"])
@pytest.mark.parametrize("references", ["best", "mean"])
def test_bounds_are_exact(
    seed: int, overall: Literal["renormalised", "printed"], references: Literal["best", "mean"]
) -> None:
    """All grades that failed answers could have, and all facets that references could have."""
    rng = np.random.default_rng(seed)
    criteria = BMRC.criteria[:3]  # scales of 3, 4 and 4
    rubric = replace(BMRC, criteria=criteria, overall=overall, references=references)
    places = [(one.name, number) for one in criteria for number in range(rng.integers(1, 3))]
    state = {place: str(rng.choice(STATES, p=[0.4, 0.3, 0.15, 0.15])) for place in places}
    truth = {place: int(rng.integers(1, 4)) for place in places}

    def says(criterion: dict[str, Any], premise: str, hypothesis: str) -> float | None:
        name, number = premise.split()
        return truth[name, int(number)] if state[name, int(number)] == "grade" else None

    found = scored(rubric, says, referring(state))
    for name, values in possible(rubric, state, truth).items():
        value, low, high, expected, failed = shown(found, "s", f"bmrc_{name}")
        if not values:
            assert (value, low, high, expected, failed) == (None, None, None, 0, 0)
            continue
        assert low == pytest.approx(min(values), abs=1e-8), name
        assert high == pytest.approx(max(values), abs=1e-8), name
        assert value in (None, low)
        assert (value is None) == (failed > 0)


# ---- what comes with the scores --------------------------------------------------------------


def test_recipes_name_what_can_change_a_score() -> None:
    says = by_name(background=2, method=3, result=4, conclusion=1)
    texts = {"reference": ALL, "s": ALL}
    found = scored(BMRC, says, texts)["recipe"]
    shape = r"bmrc_method\|judge:r\|rubric:[0-9a-f]{12}\|segmentation:cues\|metassay:0"
    assert found.str.fullmatch(shape).sum() == 1
    first, *others = BMRC.criteria
    lighter = replace(BMRC, criteria=(replace(first, weight=0.2), *others))
    changed = scored(lighter, says, texts)["recipe"]
    assert sorted(found.index[found != changed]) == [
        ("s", "bmrc_background"),
        ("s", "bmrc_overall"),
    ]
    worded = replace(BMRC, criteria=(replace(first, asks="Else?"), *others))
    assert (scored(worded, says, texts)["recipe"] != found).sum() == 2


def test_judges_that_were_not_asked_have_no_scores() -> None:
    pairs = rubric_pairs(*tables_of({"reference": ALL, "s": ALL}, ["p"]), BMRC, FACETS)
    given = judged(pairs, by_name(background=2, method=3, result=4, conclusion=1))
    other = given.assign(judge="other", pair_id="of another question")
    both = pd.concat([given, other])
    scores = rubric_scores(criteria_table(BMRC), pairs, both, "cues", "0")
    assert set(scores["judge"]) == {"j"}
    two = pd.concat([given, given.assign(recipe="another", pair_id="x")])
    with pytest.raises(BadInput, match="judge 'j' has 2 recipes"):
        rubric_scores(criteria_table(BMRC), pairs, two, "cues", "0")
    assert rubric_scores(criteria_table(BMRC), pairs, given[:0], "cues", "0").empty


def test_metrics_are_described() -> None:
    found = rubric_descriptions(criteria_table(BMRC))
    background, overall = found["bmrc_background"], found["bmrc_overall"]
    assert background.range == (pytest.approx(1 / 3), 1.0)
    assert overall.range == (pytest.approx(0.25), 1.0)
    assert (background.better, background.headline, overall.headline) == ("higher", False, True)
    assert background.missing.startswith("null where the reference lacks the part; level 1 where")
    notes = rubric_descriptions(criteria_table(NOTE))
    assert notes["note_respiratory_1D"].range == (0.0, 3.0)
    assert notes["note_respiratory_1C"].range == (0.0, None)
    assert notes["note_respiratory_penalties"].better == "lower"
    assert notes["note_respiratory_realism_hist"].range == (1.0, 5.0)
    assert all(one.source and one.meaning for one in {**found, **notes}.values())
    pico = expand_facets(load_rubric(RUBRICS / "facets.yaml"), ("population", "outcome"))
    assert list(rubric_descriptions(criteria_table(pico))) == [
        *("facets_agreement_population", "facets_agreement_outcome", "facets_overall"),
    ]
    printed = rubric_descriptions(criteria_table(PRINTED))["bmrc_overall"]
    assert printed.range == (pytest.approx(0.1 / 3 / 4), pytest.approx(0.25))


# ---- the released grades -----------------------------------------------------------------------


def test_overall_of_the_released_human_grades_is_the_released_one(mirror: Path) -> None:
    """All 200 of ScholarSum's arXiv part; none of them follows the formula as it is printed."""
    systems = ("gpt35", "llama2_70b", "bartlarge", "factsum")
    lines = (mirror / "scholarsum_arxiv/arxiv.json").read_text(encoding="utf-8").splitlines()
    grades, released, rows = {}, {}, []
    for number, paper in enumerate(map(json.loads, lines)):
        for system in systems:
            doc = f"{number} {system}"
            released[doc] = paper[f"{system}_human"]
            for one, share in zip(BMRC.criteria, paper[f"{system}_human_list"], strict=True):
                if share:  # 0: the reference lacks the facet
                    grades[f"{one.name} {doc}"] = round(share * max(one.levels))
                    rows += [
                        (doc, who, one.name, f"{one.name} {doc}") for who in ("reference", "s")
                    ]
            rows += [(doc, who, "full", "whole") for who in ("reference", "s")]
    parts = pd.DataFrame(rows, columns=["doc_id", "author", "part", "text"])
    parts = parts.assign(status="ok", repeats=[["set"]] * len(parts))
    sources = pd.DataFrame({"doc_id": list(released)}).assign(
        passages=[["p"]] * len(released), attributes=None, dataset="set"
    )
    pairs = rubric_pairs(sources, parts, BMRC, FACETS)
    judgments = judged(pairs, lambda _, premise, __: grades[premise])
    for rubric, equal in ((BMRC, 200), (PRINTED, 0)):
        scores = rubric_scores(criteria_table(rubric), pairs, judgments, "released", "0")
        overall = scores[scores["metric"] == "bmrc_overall"].set_index("doc_id")["value"]
        same = np.isclose(overall, pd.Series(released).reindex(overall.index), atol=1e-9)
        assert (len(same), int(same.sum())) == (200, equal)
