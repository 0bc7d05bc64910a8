"""Scores of rubrics: worked by hand, against a brute force, and with every cap enforced."""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.scoring.aggregation.rubrics import rubric_scores
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.ask import (
    criteria_table,
    expand_facets,
    rubric_descriptions,
)
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
# criterion, premise, hypothesis
Says = Callable[[dict[str, Any], str, str], float | None]


def tables_of(
    texts: Texts, passages: list[str], attributes: Any = None
) -> list[pd.DataFrame]:
    """Sources and parts of one document d; `full` is what the parts say, unless it is there."""
    written = None if attributes is None else json.dumps(attributes)
    source = {
        "doc_id": "d",
        "passages": passages,
        "attributes": written,
        "dataset": "set",
    }
    rows = []
    for author, parts in texts.items():
        whole = None if None in parts.values() and "full" not in parts else "whole"
        for part, text in {"full": whole, **parts}.items():
            rows.append(
                (
                    "d",
                    author,
                    part,
                    text,
                    "ok" if text is not None else "error",
                    ["set"],
                )
            )
    columns = ["doc_id", "author", "part", "text", "status", "repeats"]
    return [pd.DataFrame([source]), pd.DataFrame(rows, columns=columns)]


def judged(pairs: pd.DataFrame, says: Says) -> pd.DataFrame:
    """Judgments of one judge; None: it failed."""
    open_ = pairs[pairs["settled"].isna()].drop_duplicates("pair_id")
    grades = [
        says(json.loads(str(row.context)), str(row.premise), str(row.hypothesis))
        for row in open_.itertuples()
    ]
    return open_[["pair_id"]].assign(
        judge="j",
        status=["error" if grade is None else "ok" for grade in grades],
        grade=np.array(grades, dtype=float),
        recipe="r",
    )


def scored(rubric: Rubric, says: Says, texts: Texts, **about: Any) -> pd.DataFrame:
    """Scores by author and metric, as they are written."""
    pairs = rubric_pairs(
        *tables_of(texts, **{"passages": ["p"], **about}), rubric, FACETS
    )
    pairs = round_trip(PAIRS, pairs)
    criteria = round_trip(CRITERIA, criteria_table(rubric))
    scores = rubric_scores(criteria, pairs, judged(pairs, says), "cues", "0")
    return round_trip(SCORES, scores).set_index(["author", "metric"])


def by_name(**grades: float | None) -> Says:
    return lambda criterion, *_: grades[criterion["criterion"]]


def shown(
    scores: pd.DataFrame, metric: str, author: str = "s"
) -> tuple[float | None, ...]:
    """value, low, high, n_expected, n_failed."""
    row = scores.loc[(author, metric)]
    values = row[["value", "low", "high", "n_expected", "n_failed"]].tolist()
    return tuple(None if pd.isna(value) else round(float(value), 9) for value in values)


def known(value: float, expected: int = 1) -> tuple[float | None, ...]:
    return (*[round(value, 9)] * 3, expected, 0)


ALL = {"background": "b", "method": "m", "result": "r", "conclusion": "c"}
NO_METHOD = {name: text for name, text in ALL.items() if name != "method"}
LEVELS = by_name(background=2, method=3, result=4, conclusion=1)


def test_overall_by_hand() -> None:
    """2/3, 3/4, 4/4 and 1/3 with weights .1 .3 .3 .3: (.2/3 + .225 + .3 + .1) / 1 = .691667."""
    both = {"reference": ALL, "s": ALL}
    scores = scored(BMRC, LEVELS, both)
    assert shown(scores, "bmrc_background") == known(2 / 3)
    assert shown(scores, "bmrc_overall") == known(0.2 / 3 + 0.225 + 0.3 + 0.1, 4)
    printed = scored(PRINTED, LEVELS, both)
    assert shown(printed, "bmrc_overall") == known((0.2 / 3 + 0.225 + 0.3 + 0.1) / 4, 4)
    # the reference is not graded
    assert set(scores.index.get_level_values("author")) == {"s"}
    assert set(scores["part"]) == {"full"}
    # A facet that the reference lacks is not scored: weights .1 .3 .3 over .7; printed
    # keeps the 4.
    lacks = {"reference": NO_METHOD, "s": ALL}
    scores = scored(BMRC, LEVELS, lacks)
    assert shown(scores, "bmrc_method") == (None, None, None, 0, 0)
    assert shown(scores, "bmrc_overall") == known((0.2 / 3 + 0.3 + 0.1) / 0.7, 3)
    printed = scored(PRINTED, LEVELS, lacks)
    assert shown(printed, "bmrc_overall") == known((0.2 / 3 + 0.3 + 0.1) / 4, 3)
    # One that the text lacks has the lowest grade.
    for absent in (NO_METHOD, {**ALL, "method": ""}):
        scores = scored(BMRC, LEVELS, {"reference": ALL, "s": absent})
        assert shown(scores, "bmrc_method") == known(0.25)
        assert shown(scores, "bmrc_overall") == known(
            0.2 / 3 + 0.3 * 0.25 + 0.3 + 0.1, 4
        )


def test_what_failed_is_null_and_bounded() -> None:
    """The method may be 1/4 to 4/4, so the overall .1 + .3 x (.25 to 1) + .3 + .3."""
    says = by_name(background=3, method=None, result=4, conclusion=3)
    scores = scored(BMRC, says, {"reference": ALL, "s": ALL})
    assert shown(scores, "bmrc_method") == (None, 0.25, 1, 1, 1)
    assert shown(scores, "bmrc_overall") == (None, 0.775, 1, 4, 1)
    unknown = {**ALL, "method": None, "full": "whole"}  # the segmentation failed
    scores = scored(BMRC, says, {"reference": ALL, "s": unknown})
    assert shown(scores, "bmrc_method") == (None, 0.25, 1, 1, 1)
    nothing = scored(BMRC, says, {"reference": ALL, "s": {"full": None}, "t": ALL})
    least = round(0.1 / 3 + 0.3 * (0.25 + 0.25 + 1 / 3), 9)
    assert shown(nothing, "bmrc_overall") == (None, least, 1, 4, 4)


# ---- penalties -------------------------------------------------------------------------------

PROMPT = {
    "note_type": "respiratory",
    "symptoms": {"cough": "yes, dry", "fever": "no"},
    "unmentioned": ["chest pain"],
    "conditions": ["asthma"],
}
PARTS = {"history": "h", "physical_examination": "p", "compact": "c"}
SCALES = dict.fromkeys(
    [
        "realism_hist",
        "realism_phys",
        "clinical_accuracy",
        "compact_content",
        "compact_readability",
    ],
    5.0,
)


@pytest.mark.parametrize(
    ("grades", "prompt", "expected"),
    [
        (
            {"1A": 2, "1B": 0, "1C": 17, "1D": 3},  # conditions have no cap
            PROMPT,
            {
                "1A": known(2),
                "1C": known(17),
                "penalties": known(22, 4),
                "realism_hist": known(5),
            },
        ),
        # A part that the prompt lacks has no penalties.
        (
            {"1D": 1},
            {"note_type": "respiratory"},
            {**dict.fromkeys(("1A", "1B", "1C"), known(0)), "penalties": known(1, 4)},
        ),
        # Bounds are the caps of the document.
        (
            {"1A": None, "1B": None, "1C": 0, "1D": None},
            PROMPT,
            {
                "1A": (None, 0, 2, 1, 1),
                "1B": (None, 0, 1, 1, 1),
                "1D": (None, 0, 3, 1, 1),
                "penalties": (None, 0, 6, 4, 3),
            },
        ),
        (
            {"1A": 1, "1B": 0, "1C": None, "1D": 0},
            PROMPT,
            {"1C": (None, 0, None, 1, 1), "penalties": (None, 1, None, 4, 1)},
        ),
    ],
)
def test_penalties_by_hand(grades: Any, prompt: Any, expected: Any) -> None:
    texts = {
        "s": PARTS,
        "t": {"full": "x", "physical_examination": "p"},
        "lost": {"full": None},
    }
    scores = scored(NOTE, by_name(**{**SCALES, **grades}), texts, attributes=prompt)
    assert ("s", "note_respiratory_overall") not in scores.index
    assert {
        name: shown(scores, f"note_respiratory_{name}") for name in expected
    } == expected
    # A text without a history gets none of its symptoms right, and says nothing that is
    # forbidden.
    lacks = known(2 * (prompt is PROMPT), 4)
    assert shown(scores, "note_respiratory_penalties", "t") == lacks
    assert shown(scores, "note_respiratory_realism_hist", "t") == known(1)
    # Of a text that failed none are known.
    assert shown(scores, "note_respiratory_1D", "lost") == (None, 0, 3, 1, 1)
    if prompt is not PROMPT:
        assert shown(scores, "note_respiratory_1A", "lost") == (None, None, None, 0, 0)
        assert shown(scores, "note_respiratory_penalties", "lost") == (None, 0, 3, 1, 1)


CAPS = {
    "note_respiratory": {"1A": 2, "1B": 1, "1D": 3, **SCALES},
    "note_unrelated": {"2A": 5, "2B": 4, "2C": 2, **SCALES},
}


@pytest.mark.parametrize("name", CAPS)
def test_every_cap_holds(name: str) -> None:
    rubric, caps = load_rubric(RUBRICS / f"{name}.yaml"), CAPS[name]
    prompt = {**PROMPT, "note_type": name.removeprefix("note_")}
    pairs = rubric_pairs(
        *tables_of({"s": {**PARTS, "full": "x"}}, ["p"], prompt), rubric, FACETS
    )

    def give(grades: Mapping[str, float]) -> pd.DataFrame:
        judgments = judged(pairs, by_name(**{"1C": 0, **grades}))
        return rubric_scores(criteria_table(rubric), pairs, judgments, "cues", "0")

    at_caps = give(caps).set_index("metric")["value"]
    assert {criterion: at_caps[f"{name}_{criterion}"] for criterion in caps} == caps
    for change in (lambda cap: cap + 1, lambda cap: cap + 0.5, lambda _: -1):
        with pytest.raises(BadInput) as error:
            give({criterion: change(cap) for criterion, cap in caps.items()})
        assert list(error.value.problems) == [
            f"judgments: judge 'j' has 1 grade(s) of {name}_{criterion} that are off its scale or"
            " over its cap; judge again"
            for criterion in sorted(caps)
        ]
    with pytest.raises(BadInput, match="realism_hist"):
        give({**caps, "realism_hist": 0})


# ---- several references ----------------------------------------------------------------------


def test_several_references_by_hand() -> None:
    texts = {
        "reference": {"background": "b1", "method": "m1", "result": "r1"},
        "reference:2": {"background": "b2", "result": "r2", "conclusion": "c2"},
        "s": ALL,
    }
    grades: dict[str, float | None] = {
        "b1": 1,
        "b2": 3,
        "m1": 4,
        "r1": 4,
        "r2": 1,
        "c2": 2,
    }
    values = {}
    for how in ("best", "mean"):
        rubric = replace(BMRC, references=how)  # type: ignore[arg-type]
        scores = scored(rubric, lambda _, premise, __: grades[premise], texts)
        values[how] = [shown(scores, f"bmrc_{name}") for name in (*FACETS, "overall")]
        assert set(scores.index.get_level_values("author")) == {"s"}
    best, mean = [1, 1, 1, 2 / 3], [2 / 3, 1, 0.625, 2 / 3]
    overall = known(0.1 + 0.3 + 0.3 + 0.3 * 2 / 3, 4)
    assert values["best"] == [*map(known, best), overall]
    assert values["mean"][:4] == list(map(known, mean))
    # An answer that could change nothing is not missed: the first has the highest
    # level.
    grades |= {"r2": None, "b2": None}
    scores = scored(BMRC, lambda _, premise, __: grades[premise], texts)
    assert shown(scores, "bmrc_result") == known(1)
    assert shown(scores, "bmrc_background") == (None, round(1 / 3, 9), 1, 1, 1)


# ---- bounds against a brute force ------------------------------------------------------------

STATES = ("grade", "failed", "absent", "unknown")  # of each facet and reference
Place = tuple[str, int]


def by_definition(
    rubric: Rubric, grades: Mapping[Place, int], weights: Mapping[str, float]
) -> float | None:
    """The overall of one text from the grades of what is there: (facet, reference) -> level."""
    values = {}
    for criterion in rubric.criteria:
        its = [grade for (facet, _), grade in grades.items() if facet == criterion.name]
        if its:
            grade = max(its) if rubric.references == "best" else sum(its) / len(its)
            values[criterion.name] = grade / max(criterion.levels)
    if not values:
        return None
    total = sum(weights[name] * value for name, value in values.items())
    if rubric.overall == "printed":
        return total / len(rubric.criteria)
    return total / sum(weights[name] for name in values)


def referring(state: Mapping[Place, str]) -> dict[str, dict[str, str | None]]:
    """Texts of a system and of references whose facets are there, absent or unknown."""
    texts: dict[str, dict[str, str | None]] = {
        "s": dict.fromkeys((name for name, _ in state), "t")
    }
    for (name, number), is_ in state.items():
        author = "reference" if number == 0 else f"reference:{number + 1}"
        parts = texts.setdefault(author, {"full": "whole"})
        if is_ != "absent":
            parts[name] = None if is_ == "unknown" else f"{name} {number}"
    return texts


def possible(
    rubric: Rubric, state: Mapping[Place, str], truth: Mapping[Place, int]
) -> dict[str, list[float]]:
    """By metric, every value that answers which failed, and facets that are unknown, could give."""
    levels = {criterion.name: list(criterion.levels) for criterion in rubric.criteria}
    choices: list[list[int | None]] = [
        {
            "grade": [truth[place]],
            "failed": [*levels[place[0]]],
            "absent": [None],
            "unknown": [None, *levels[place[0]]],
        }[is_]
        for place, is_ in state.items()
    ]
    weights = {
        criterion.name: float(criterion.weight or 0) for criterion in rubric.criteria
    }
    alone = {
        criterion.name: replace(rubric, criteria=(criterion,), overall="renormalised")
        for criterion in rubric.criteria
    }
    results: dict[str, set[float | None]] = {
        name: set() for name in ("overall", *alone)
    }
    for grades in itertools.product(*choices):
        there = {
            place: grade for place, grade in zip(state, grades, strict=True) if grade
        }
        results["overall"].add(by_definition(rubric, there, weights))
        for name, single in alone.items():
            its = {place: grade for place, grade in there.items() if place[0] == name}
            results[name].add(by_definition(single, its, {name: 1.0}))
    return {
        name: [v for v in values if v is not None] for name, values in results.items()
    }


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("overall", ["renormalised", "printed"])
@pytest.mark.parametrize("references", ["best", "mean"])
def test_bounds_are_exact(seed: int, overall: Any, references: Any) -> None:
    """All grades that failed answers could have, and all facets that references could have."""
    rng = np.random.default_rng(seed)
    criteria = BMRC.criteria[:3]  # scales of 3, 4 and 4
    rubric = replace(BMRC, criteria=criteria, overall=overall, references=references)
    places = [
        (each.name, number) for each in criteria for number in range(rng.integers(1, 3))
    ]
    state = {
        place: str(rng.choice(STATES, p=[0.4, 0.3, 0.15, 0.15])) for place in places
    }
    truth = {place: int(rng.integers(1, 4)) for place in places}

    def says(criterion: dict[str, Any], premise: str, hypothesis: str) -> float | None:
        name, number = premise.split()
        return truth[name, int(number)] if state[name, int(number)] == "grade" else None

    scores = scored(rubric, says, referring(state))
    for name, values in possible(rubric, state, truth).items():
        value, low, high, expected, failed = shown(scores, f"bmrc_{name}")
        if not values:
            assert (value, low, high, expected, failed) == (None, None, None, 0, 0)
            continue
        assert (low, high) == pytest.approx((min(values), max(values)), abs=1e-8), name
        assert value == (None if failed else low)


# ---- what comes with the scores --------------------------------------------------------------


def test_recipes_name_what_can_change_a_score() -> None:
    texts = {"reference": ALL, "s": ALL}
    recipes = scored(BMRC, LEVELS, texts)["recipe"]
    shape = r"bmrc_method\|judge:r\|rubric:[0-9a-f]{12}\|segmentation:cues\|metassay:0"
    assert recipes.str.fullmatch(shape).sum() == 1
    first, *others = BMRC.criteria
    for change in ({"weight": 0.2}, {"asks": "Else?"}):
        changed = replace(BMRC, criteria=(replace(first, **change), *others))
        moved = recipes.index[recipes != scored(changed, LEVELS, texts)["recipe"]]
        assert sorted(moved) == [("s", "bmrc_background"), ("s", "bmrc_overall")]


def test_judges_that_were_not_asked_have_no_scores() -> None:
    pairs = rubric_pairs(*tables_of({"reference": ALL, "s": ALL}, ["p"]), BMRC, FACETS)
    its = judged(pairs, LEVELS)
    both = pd.concat([its, its.assign(judge="other", pair_id="of another question")])
    criteria = criteria_table(BMRC)
    assert set(rubric_scores(criteria, pairs, both, "cues", "0")["judge"]) == {"j"}
    assert rubric_scores(criteria, pairs, its[:0], "cues", "0").empty
    two = pd.concat([its, its.assign(recipe="another", pair_id="x")])
    with pytest.raises(BadInput, match="judge 'j' has 2 recipes"):
        rubric_scores(criteria, pairs, two, "cues", "0")


def test_metrics_are_described() -> None:
    bmrc, notes, printed = (
        rubric_descriptions(criteria_table(rubric)) for rubric in (BMRC, NOTE, PRINTED)
    )
    background, overall = bmrc["bmrc_background"], bmrc["bmrc_overall"]
    assert (background.better, background.headline, overall.headline) == (
        "higher",
        False,
        True,
    )
    assert background.missing.startswith(
        "null where the reference lacks the part; level 1 where"
    )
    assert notes["note_respiratory_penalties"].better == "lower"
    assert all(each.source and each.meaning for each in {**bmrc, **notes}.values())
    for description, ends in (
        (background, (pytest.approx(1 / 3), 1.0)),
        (overall, (pytest.approx(0.25), 1.0)),
        (printed["bmrc_overall"], (pytest.approx(0.1 / 3 / 4), pytest.approx(0.25))),
        (notes["note_respiratory_1D"], (0.0, 3.0)),
        (notes["note_respiratory_1C"], (0.0, None)),
        (notes["note_respiratory_realism_hist"], (1.0, 5.0)),
    ):
        assert description.range == ends
    pico = expand_facets(
        load_rubric(RUBRICS / "facets.yaml"), ("population", "outcome")
    )
    names = [
        "facets_agreement_population",
        "facets_agreement_outcome",
        "facets_overall",
    ]
    assert list(rubric_descriptions(criteria_table(pico))) == names


# ---- the released grades -----------------------------------------------------------------------


def test_overall_of_the_released_human_grades_is_the_released_one(mirror: Path) -> None:
    """All 200 of ScholarSum's arXiv part; none of them follows the formula as it is printed."""
    lines = (
        (mirror / "scholarsum_arxiv/arxiv.json")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    grades, released, rows = {}, {}, []
    for number, paper in enumerate(map(json.loads, lines)):
        for system in ("gpt35", "llama2_70b", "bartlarge", "factsum"):
            doc = f"{number} {system}"
            released[doc] = paper[f"{system}_human"]
            texts = [("full", "whole")]
            for criterion, share in zip(
                BMRC.criteria, paper[f"{system}_human_list"], strict=True
            ):
                if share:  # 0: the reference lacks the facet
                    text = f"{criterion.name} {doc}"
                    grades[text] = round(share * max(criterion.levels))
                    texts.append((criterion.name, text))
            rows += [(doc, who, *text) for who in ("reference", "s") for text in texts]
    parts = pd.DataFrame(rows, columns=["doc_id", "author", "part", "text"])
    parts = parts.assign(status="ok", repeats=[["set"]] * len(parts))
    sources = pd.DataFrame(
        {"doc_id": list(released), "passages": [["p"]] * len(released)}
    )
    pairs = rubric_pairs(
        sources.assign(attributes=None, dataset="set"), parts, BMRC, FACETS
    )
    judgments = judged(pairs, lambda _, premise, __: grades[premise])
    for rubric, equal in ((BMRC, 200), (PRINTED, 0)):
        scores = rubric_scores(
            criteria_table(rubric), pairs, judgments, "released", "0"
        )
        overall = scores[scores["metric"] == "bmrc_overall"].set_index("doc_id")[
            "value"
        ]
        same = np.isclose(
            overall, pd.Series(released).reindex(overall.index), atol=1e-9
        )
        assert (len(same), int(same.sum())) == (200, equal)
