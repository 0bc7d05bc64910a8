"""Facets of reports of studies by rules. Texts are invented: trials, cohorts, reviews, cases, and
experiments, written before the rules for them. The rules were then made on those of `design`.
"""

import json
from pathlib import Path

import pytest

from metassay.text.spans import Span
from metassay.units.roles import ROLES, Read, cue_points, cue_roles, is_study, read
from tests.units.role_setup import text_of

HERE = Path(__file__).parent / "biomedical"


def labelled(name: str) -> list[tuple[Read, list[str]]]:
    """The texts of a file as classifiers read them, and the right roles of their sentences."""
    found = []
    for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        spans, at = [], 0
        for sentence in one["sentences"]:
            spans.append(Span(at, at + len(sentence)))
            at += len(sentence) + 1
        found.append((read(text_of(" ".join(one["sentences"]), spans)), one["labels"]))
    return found


@pytest.mark.parametrize(("name", "right"), [("design", 57), ("held_out", 55)])
def test_invented_abstracts(name: str, right: int) -> None:
    """docs/scores.md has these numbers; of 58 sentences each, and a conclusion is no result."""
    texts = labelled(name)
    same = [
        one == other
        for reads, roles in texts
        for one, other in zip(cue_roles(reads), roles, strict=True)
    ]
    assert (sum(same), len(same)) == (right, 58)
    assert all(is_study(reads.texts) for reads, _ in texts)


TRIAL = (
    "Low back pain is common among bakers. We randomly assigned 96 bakers to stretch for eight"
    " minutes per shift or to work as usual, and measured pain weekly for twelve weeks. Mean pain"
    " fell from 5.1 to 3.2 with stretching and from 5.0 to 4.6 without (p = .004). Sick leave did"
    " not differ. Stretching may ease back pain."
)


def test_numbers_make_no_result_and_a_change_makes_one() -> None:
    assert cue_roles(read(text_of(TRIAL))) == [
        *("background", "method", "result", "result", "conclusion"),
    ]


def test_another_order_is_allowed() -> None:
    said = (
        "Tea is common. Forty adults were randomly assigned to tea or water. Sleep fell by 12"
        " minutes with tea (p = 0.02). Sleep was then measured again with a questionnaire by two"
        " blinded assessors. No difference was found after a year."
    )
    assert cue_roles(read(text_of(said))) == [
        *("background", "method", "result", "method", "result"),
    ]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (["Adults were asked.", "Half of them agreed."], True),
        (["We report a case.", "A patient was pale."], True),
        (["Tea helps patients.", "We propose an algorithm.", "It was tested."], False),
        (["Falls happen.", "More light is needed."], False),
        (["All of it is open.", "It was tested.", "It is fast."], False),  # one of three
    ],
)
def test_what_is_a_report_of_a_study(said: list[str], found: bool) -> None:
    assert is_study(said) is found


def test_cues_of_studies_count_in_their_reports_alone() -> None:
    """To be blinded is a method's, 1.8; and so are participants that were something, 1.6."""
    said = "Participants were blinded."
    alone = cue_points([said])[0]
    among = cue_points([said, "It is so.", "We propose it."])[0]
    method = ROLES.index("method")
    assert among[method] == pytest.approx(1.6)
    assert alone[method] > among[method] + 1.8
