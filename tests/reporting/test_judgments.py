"""What the page says of a judgment, whatever the instrument."""

from typing import Any

import pandas as pd
import pytest

from metassay.reporting.answers import (
    COLUMNS,
    Answer,
    Judgments,
    answers_table,
    blocks,
    index_judgments,
    judgment_of,
    unanswered,
)
from metassay.reporting.contract import Block, Judgment
from metassay.scoring.pairing.measures import MEASURES
from metassay.tables.names import ALL_CITATIONS, REFERENCE
from tests.judges.rubric_setup import ADDED, BACKGROUND, FREE, SYMPTOMS, asks

AUTHOR = "lead"
PLACE = {"start": None, "end": None}
ENTAILMENT = {"instrument": "entailment", "context": None}
UNITS = pd.DataFrame(
    [
        {
            **{"doc_id": "d", "author": REFERENCE, "kind": "claim", "part": "full"},
            **{"position": position, "text": f"claim {position}", "citations": [], **PLACE},
        }
        for position in range(3)
    ]
)
PAIRS = pd.DataFrame(
    [
        {
            **{"doc_id": "d", "author": AUTHOR, "measure": measure, "part": "full"},
            **{"position": position, "citation": ALL_CITATIONS},
            **{"pair_id": f"{measure} {position}", "settled": None},
            **ENTAILMENT,
        }
        for measure in ("claim_recall", "claim_recall_grade")
        for position in range(3)
    ]
)


def judgment(pair_id: str, **answer: object) -> dict[str, object]:
    unsaid = {"label": None, "grade": None, "probability": None, "explanation": None}
    unsaid |= {"quotes": (), "quote_starts": ()}
    asked = {"pair_id": pair_id, "judge": "lexical", "status": "ok", "repaired": False}
    return {**asked, **unsaid, **answer}


def of_text(known: Judgments, author: str = AUTHOR) -> Block:
    (block,) = blocks(known, "d", author, {}, lambda part, start, end: (-1, -1))
    return block


def said(block: Block, head: int = 0) -> list[tuple[str, str]]:
    """Word and side of each line by one judge."""
    return [(line.judgments[head].word, line.judgments[head].side) for line in block.lines]


def shown(answers: list[dict[str, object]]) -> Block:
    known = index_judgments(UNITS, PAIRS, pd.DataFrame(answers), None)
    return of_text(known)


@pytest.fixture
def block() -> Block:
    return shown(
        [
            judgment("claim_recall 0", label="entailed"),
            judgment("claim_recall 1", label="not_entailed"),
            judgment("claim_recall 2", label="contradicted"),  # of an instrument with three labels
            judgment("claim_recall_grade 0", grade=2.0, explanation="2 of 3 words"),
            judgment("claim_recall_grade 1", grade=0.0),
            judgment("claim_recall_grade 2", status="refused"),
        ]
    )


def test_a_grade_stands_on_its_scale_and_is_for_the_text_in_its_better_half(block: Block) -> None:
    assert said(block, 1) == [
        ("graded 2 of 3", "for"),
        ("graded 0 of 3", "against"),
        ("failed: refused", "unknown"),
    ]
    assert block.lines[0].judgments[1].why == "2 of 3 words"


def test_a_label_is_said_as_it_is(block: Block) -> None:
    assert said(block) == [
        ("entailed", "for"),
        ("not entailed", "against"),
        ("labelled contradicted", "against"),
    ]


def test_each_measure_of_the_units_has_a_head(block: Block) -> None:
    assert [(head.question, head.measure, head.judge) for head in block.heads] == [
        ("in this text?", "claim_recall", "lexical"),
        ("how far in this text?", "claim_recall_grade", "lexical"),
    ]


def test_a_probability_stands_also_with_who_abstained() -> None:
    block = shown(
        [
            judgment("claim_recall 0", label="entailed", probability=0.834, explanation="all said"),
            judgment("claim_recall 1", status="abstained", probability=0.5),
        ]
    )
    assert said(block) == [
        *(("entailed", "for"), ("abstained", "unknown"), ("not judged", "unknown")),
    ]
    answers = [line.judgments[0] for line in block.lines]
    assert [(one.probability, one.why) for one in answers] == [
        *((0.834, "all said"), (0.5, ""), (None, "")),
    ]


@pytest.mark.parametrize(
    ("label", "side"),
    [("entailed", "for"), ("neutral", "neutral"), ("contradicted", "against")],
)
def test_what_contradicts_is_against_the_text_and_what_says_nothing_is_neither(
    label: str, side: str
) -> None:
    question = MEASURES["claim_contradiction"].counted
    row = Answer("ok", label, None, None, None, [], [])
    assert judgment_of(row, question).side == side


STATEMENTS = pd.DataFrame(
    [
        {
            **{"doc_id": "d", "author": AUTHOR, "kind": "statement", "part": "full"},
            **{"position": 0, "text": "a statement", "citations": [4, 2], **PLACE},
        }
    ]
)
ASKED = [("citation_recall", ALL_CITATIONS)]
ASKED += [(measure, n) for measure in ("citation_alone", "citation_rest") for n in (4, 2)]
CITED = pd.DataFrame(
    [
        {
            **{"doc_id": "d", "author": AUTHOR, "measure": measure, "part": "full"},
            **{"position": 0, "citation": citation, "settled": None},
            "pair_id": f"{measure} {citation}",
            **ENTAILMENT,
        }
        for measure, citation in ASKED
    ]
)


def test_what_no_judge_needed_to_say_is_not_called_missing() -> None:
    answers = pd.DataFrame(
        [
            judgment(f"citation_recall {ALL_CITATIONS}", label="entailed"),
            judgment("citation_alone 4", label="entailed"),
            judgment("citation_alone 2", status="truncated"),
        ]
    )
    known = index_judgments(STATEMENTS, CITED, answers, None)
    (line,) = of_text(known).lines
    four, two = line.each
    assert (four.head, four.passage, two.passage) == (0, 4, 2)
    assert four.alone == Judgment("entailed", "for", quotes=[])
    assert two.alone == Judgment("failed: truncated", "unknown", quotes=[])
    assert four.rest == two.rest == Judgment("not needed", "neutral")


def test_what_the_other_citations_entail_speaks_against_this_one() -> None:
    answers = pd.DataFrame(
        [
            judgment("citation_rest 4", label="entailed"),
            judgment("citation_rest 2", label="not_entailed"),
        ]
    )
    (line,) = of_text(index_judgments(STATEMENTS, CITED, answers, None)).lines
    assert [one.rest and one.rest.side for one in line.each] == ["against", "for"]


def test_every_place_is_counted_by_what_came_of_it() -> None:
    twice = PAIRS.assign(position=PAIRS["position"] + 3, author="other")  # the same questions
    settled = PAIRS.head(1).assign(position=9, pair_id="settled", settled="no_evidence")
    answers = [
        judgment("claim_recall 0", label="entailed", repaired=True),
        judgment("claim_recall 1", status="abstained"),
        judgment("claim_recall 2", status="refused"),
        judgment("citation_alone 4", label="entailed"),
        *(judgment(f"claim_recall {n}", label="entailed") | {"judge": "words"} for n in (0, 1)),
    ]
    table = answers_table(pd.concat([PAIRS, twice, settled, CITED]), pd.DataFrame(answers))
    by = table.set_index(["judge", "measure"])
    recall = by.loc["lexical", "claim_recall"]
    assert dict(recall[recall > 0]) == {
        **{"places": 7, "questions": 3, "answered": 2, "repaired": 2, "abstained": 2},
        **{"refused": 2, "no_evidence": 1},
    }
    alone = by.loc["lexical", "citation_alone"]
    assert (alone["answered"], alone["not_needed"], alone["not_judged"]) == (1, 1, 0)
    assert by.loc["words", "claim_recall"]["not_judged"] == 2
    outcomes = [name for name in COLUMNS[4:] if name != "repaired"]
    assert (by[outcomes].sum(axis=1) == by["places"]).all()
    assert unanswered(table[table["measure"] == "claim_recall"]) == [
        "lexical has no answer in 2 of 7 places: 2 refused.",
        "words has no answer in 2 of 7 places: 2 not judged.",
    ]
    assert unanswered(table.head(0)) == []


def rivals(*authors: str) -> pd.DataFrame:
    """As table `pairs` has them: a place is that of the other author among all, sorted."""
    made = [
        {
            **{"doc_id": "d", "author": author, "measure": measure, "part": "full"},
            **{"position": sorted(authors).index(other), "citation": ALL_CITATIONS},
            **{"pair_id": f"{author} {other} {measure}", "settled": None},
            **ENTAILMENT,
        }
        for author in authors
        for other in authors
        for measure in ("preference_first", "preference_second")
        if author != other
    ]
    return pd.DataFrame(made)


def test_a_preference_names_the_other_text_and_what_is_better() -> None:
    answers = pd.DataFrame(
        [
            judgment("lead zero preference_first", label="second"),
            judgment("lead zero preference_second", label="second"),
            judgment("lead alpha preference_first", label="neither"),
        ]
    )
    known = index_judgments(UNITS.head(0), rivals("alpha", "lead", "zero"), answers, None)
    block = of_text(known, "lead")
    assert "the reference, or the source where there is none" in block.title
    assert [line.text for line in block.lines] == ["beside alpha", "beside zero"]
    other, this = "labelled the other text", "labelled this text"
    assert said(block) == [("labelled neither", "neutral"), (other, "against")]
    assert said(block, 1) == [("not judged", "unknown"), (this, "for")]


def test_rivals_are_found_by_the_names_that_the_pairs_were_made_with() -> None:
    renamed = rivals("alpha", "lead", "zero").replace({"author": {"alpha": "Ω", "zero": "A"}})
    answers = pd.DataFrame([judgment("lead zero preference_first", label="first")])
    known = index_judgments(UNITS.head(0), renamed, answers, None, {"Ω": "alpha", "A": "zero"})
    assert [(line.text, line.judgments[0].word) for line in of_text(known, "lead").lines] == [
        ("beside Ω", "not judged"),
        ("beside A", "labelled this text"),
    ]


def test_the_whole_text_has_a_line_where_a_question_is_about_it() -> None:
    pairs = PAIRS.head(1).assign(measure="same_question", pair_id="same")
    answers = pd.DataFrame([judgment("same", label="different")])
    known = index_judgments(UNITS.head(0), pairs, answers, None)
    block = of_text(known)
    assert (block.noun, block.lines[0].text) == ("text", "this text")
    assert said(block) == [("labelled different", "against")]


# ---- grades by rubrics ---------------------------------------------------------------------


def criteria_asked(*asked: tuple[dict[str, Any], str | None]) -> pd.DataFrame:
    """Criteria of the rubric `note` in their order, and why each is settled."""
    rows = []
    for position, (criterion, settled) in enumerate(asked):
        pair = asks(criterion)
        rows.append(
            {
                **{"doc_id": "d", "author": "sys", "measure": f"note_{criterion['criterion']}"},
                **{"part": "history", "position": position, "citation": ALL_CITATIONS},
                **{"pair_id": pair.pair_id, "instrument": pair.instrument},
                **{"context": pair.context, "settled": settled},
            }
        )
    return pd.DataFrame(rows)


def answer(criterion: dict[str, Any], judge: str = "j", **said: Any) -> dict[str, Any]:
    return judgment(asks(criterion).pair_id, judge=judge, **said)


def shown_grades(asked: pd.DataFrame, answers: list[dict[str, Any]]) -> Block:
    return of_text(index_judgments(UNITS.head(0), asked, pd.DataFrame(answers), None), "sys")


def test_grades_stand_with_their_scale_reason_and_quotes() -> None:
    block = shown_grades(
        criteria_asked((BACKGROUND, None), (SYMPTOMS, None), (FREE, None), (ADDED, None)),
        [
            answer(
                BACKGROUND,
                grade=2.0,
                explanation="Half of it.",
                quotes=["no fever", "made up"],
                quote_starts=[3, -1],
            ),
            answer(BACKGROUND, "words", status="abstained"),
            answer(SYMPTOMS, grade=1.0),
            answer(FREE, grade=7.0),
            answer(ADDED, status="refused"),
        ],
    )
    assert block.title == "Rubric note: what grade does each criterion give?"
    assert [(head.measure, head.judge) for head in block.heads] == [
        ("note", "j"),
        ("note", "words"),
    ]
    assert {line.part for line in block.lines} == {"history"}
    assert [line.text for line in block.lines][:2] == [
        "background: Does it say why?",
        "1A: Which of these does it get wrong?",
    ]
    assert said(block) == [
        ("graded 2 on 1 to 3", "neutral"),
        ("graded 1 of at most 2", "against"),
        ("graded 7", "against"),
        ("failed: refused", "unknown"),
    ]
    first = block.lines[0].judgments[0]
    assert first.why.endswith("; Half of it.")  # after what the level says
    assert first.quotes == ["no fever", "made up (not in the text)"]
    assert said(block, 1) == [("abstained", "unknown"), *[("not judged", "unknown")] * 3]


def test_what_was_settled_says_how_and_is_counted() -> None:
    why = ["no_evidence", "not_applicable", "no_text", "no_claims", "no_reference"]
    criteria = [BACKGROUND | {"criterion": reason} for reason in why]
    asked = criteria_asked(*zip(criteria, why, strict=True), (BACKGROUND, None))
    answers = [answer(BACKGROUND, grade=3.0)]
    assert said(shown_grades(asked, answers)) == [
        ("no evidence", "against"),
        ("not applicable", "neutral"),
        ("failed: no text", "unknown"),
        ("failed: parts unknown", "unknown"),
        ("failed: no reference", "unknown"),
        ("graded 3 on 1 to 3", "for"),
    ]
    table = answers_table(asked, pd.DataFrame(answers)).drop(columns=["judge", "measure"])
    counts = table.drop(columns=["places", "questions", "repaired"]).sum(axis=1)
    assert counts.tolist() == table["places"].tolist() == [1] * 6
