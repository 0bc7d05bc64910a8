"""What the page says of a judgment, whatever the instrument."""

from typing import Any

import pandas as pd
import pytest

from metassay.reporting.answers import (
    COLUMNS,
    Block,
    answers_section,
    answers_table,
    blocks,
    judgments,
)
from metassay.tables.names import ALL_CITATIONS, REFERENCE
from tests.judges.rubric_setup import ADDED, BACKGROUND, FREE, SYMPTOMS, asks

AUTHOR = "lead"
ENTAILMENT = {"instrument": "entailment", "context": None}
UNITS = pd.DataFrame(
    [
        {
            **{"doc_id": "d", "author": REFERENCE, "kind": "claim", "part": "full"},
            **{"position": position, "text": f"claim {position}", "citations": []},
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


def shown(answers: list[dict[str, object]]) -> Block:
    known = judgments(UNITS, PAIRS, pd.DataFrame(answers), None)
    (block,) = blocks(known, "d", AUTHOR, 0)
    return block


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


def test_a_grade_stands_on_its_scale(block: Block) -> None:
    ((_, lines),) = block.groups
    assert [line.judgments[1].said for line in lines] == [
        "graded 2 of 3",
        "graded 0 of 3",
        "failed: refused",
    ]
    assert lines[0].judgments[1].why == "2 of 3 words"


def test_a_label_is_said_as_it_is(block: Block) -> None:
    ((_, lines),) = block.groups
    assert [line.judgments[0].said for line in lines] == [
        "entailed",
        "not entailed",
        "labelled contradicted",
    ]


def test_each_measure_of_the_units_has_a_column_and_a_count(block: Block) -> None:
    assert block.heads == [
        ("in this text?", "claim_recall, lexical"),
        ("how far in this text?", "claim_recall_grade, lexical"),
    ]
    assert block.counts == [
        "claim_recall by lexical: 1 entailed, 1 not entailed, 1 labelled",
        "claim_recall_grade by lexical: 2 graded, 1 failed",
    ]


def test_a_probability_stands_with_the_reason_also_of_who_abstained() -> None:
    block = shown(
        [
            judgment("claim_recall 0", label="entailed", probability=0.834, explanation="all said"),
            judgment("claim_recall 1", status="abstained", probability=0.5),
        ]
    )
    ((_, lines),) = block.groups
    said = [(line.judgments[0].said, line.judgments[0].why) for line in lines]
    assert said == [
        ("entailed", "probability .83; all said"),
        ("abstained", "probability .50"),
        ("not judged", ""),
    ]
    assert block.counts[0] == "claim_recall by lexical: 1 entailed, 1 abstained, 1 not judged"


STATEMENTS = pd.DataFrame(
    [
        {
            **{"doc_id": "d", "author": AUTHOR, "kind": "statement", "part": "full"},
            **{"position": 0, "text": "a statement", "citations": [4, 2]},
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
    known = judgments(STATEMENTS, CITED, answers, None)
    (block,) = blocks(known, "d", AUTHOR, 5)
    (four, two) = block.groups[0][1][0].singles[0]
    assert (four.alone.said, four.rest.said) == ("entailed", "not needed")
    assert (two.alone.said, two.rest.said) == ("failed: truncated", "not needed")


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

    section = answers_section(table[table["measure"] == "claim_recall"])
    assert section.warnings == [
        "lexical has no answer in 2 of 7 places: 2 refused.",
        "words has no answer in 2 of 7 places: 2 not judged.",
    ]
    (grid,) = section.grids
    assert "truncated" not in grid.heads
    assert grid.rows[0][1][grid.heads.index("repaired") - 1].notes == ("33 %",)
    assert "counts as answered" in section.says[0]
    assert grid.rows[0][1][grid.heads.index("abstained") - 1] == ("2", ("33 %",), "2", "")
    every = answers_section(table).grids[0]
    cells = dict(zip([name for name, _ in every.rows], every.rows, strict=True))
    answered = cells["citation_alone (lexical)"][1][every.heads.index("answered") - 1]
    assert answered.notes == ("100 %",)  # of those that were needed
    assert answers_section(table.head(0)) is None


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
    known = judgments(UNITS.head(0), rivals("alpha", "lead", "zero"), answers, None)
    (block,) = blocks(known, "d", "lead", 0)
    assert "the reference, or the source where there is none" in block.title
    ((_, lines),) = block.groups
    said = [(line.text, *(v.said for v in line.judgments)) for line in lines]
    assert said == [
        ("beside alpha", "labelled neither", "not judged"),
        ("beside zero", "labelled the other text", "labelled this text"),
    ]


def test_rivals_are_found_by_the_names_that_the_pairs_were_made_with() -> None:
    renamed = rivals("alpha", "lead", "zero").replace({"author": {"alpha": "Ω", "zero": "A"}})
    answers = pd.DataFrame([judgment("lead zero preference_first", label="first")])
    known = judgments(UNITS.head(0), renamed, answers, None, {"Ω": "alpha", "A": "zero"})
    (block,) = blocks(known, "d", "lead", 0)
    ((_, lines),) = block.groups
    assert [(line.text, line.judgments[0].word) for line in lines] == [
        ("beside Ω", "not judged"),
        ("beside A", "labelled"),
    ]


def test_the_whole_text_has_a_line_where_a_question_is_about_it() -> None:
    pairs = PAIRS.head(1).assign(measure="same_question", pair_id="same")
    answers = pd.DataFrame([judgment("same", label="different")])
    known = judgments(UNITS.head(0), pairs, answers, None)
    (block,) = blocks(known, "d", AUTHOR, 0)
    ((_, (line,)),) = block.groups
    assert (block.noun, line.text, line.judgments[0].said) == (
        "text",
        "this text",
        "labelled different",
    )


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
    known = judgments(UNITS.head(0), asked, pd.DataFrame(answers), None)
    (block,) = blocks(known, "d", "sys", 0)
    return block


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
    assert block.heads == [("which grade?", "note, j"), ("which grade?", "note, words")]
    ((part, lines),) = block.groups
    assert part == "history"
    assert [line.text for line in lines][:2] == [
        "background: Does it say why?",
        "1A: Which of these does it get wrong?",
    ]
    assert [line.judgments[0].said for line in lines] == [
        "graded 2 on 1 to 3",
        "graded 1 of at most 2",
        "graded 7",
        "failed: refused",
    ]
    assert lines[0].judgments[0].why == "Half of it.; “no fever”; “made up” (not in the text)"
    assert [line.judgments[1].said for line in lines] == ["abstained", *["not judged"] * 3]
    assert block.counts == [
        "note by j: 3 graded, 1 failed",
        "note by words: 1 abstained, 3 not judged",
    ]


def test_what_was_settled_says_how_and_is_counted() -> None:
    why = ["no_evidence", "not_applicable", "no_text", "no_claims", "no_reference"]
    criteria = [BACKGROUND | {"criterion": reason} for reason in why]
    asked = criteria_asked(*zip(criteria, why, strict=True), (BACKGROUND, None))
    answers = [answer(BACKGROUND, grade=3.0)]
    ((_, lines),) = shown_grades(asked, answers).groups
    assert [line.judgments[0].said for line in lines] == [
        "no evidence",
        "not applicable",
        "failed: no text",
        "failed: parts unknown",
        "failed: no reference",
        "graded 3 on 1 to 3",
    ]
    table = answers_table(asked, pd.DataFrame(answers)).drop(columns=["judge", "measure"])
    counts = table.drop(columns=["places", "questions", "repaired"]).sum(axis=1)
    assert counts.tolist() == table["places"].tolist() == [1] * 6
