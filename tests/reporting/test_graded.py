"""What the page says of grades, and of what they rest on."""

from typing import Any

import pandas as pd

from metassay.reporting.answers import Block, answers_table, blocks, judgments
from metassay.tables.names import ALL_CITATIONS
from tests.judges.rubric_setup import ADDED, BACKGROUND, FREE, SYMPTOMS, asks

UNITS = pd.DataFrame(columns=["doc_id", "author", "kind", "part", "position", "text", "citations"])


def pairs(*asked: tuple[dict[str, Any], str | None]) -> pd.DataFrame:
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
    unsaid = {"label": None, "grade": None, "probability": None, "explanation": None}
    quotes: dict[str, Any] = {"quotes": [], "quote_starts": []}
    pair_id = asks(criterion).pair_id
    return {
        "pair_id": pair_id,
        "judge": judge,
        "status": "ok",
        "repaired": False,
        **unsaid,
        **quotes,
        **said,
    }


def shown(asked: pd.DataFrame, answers: list[dict[str, Any]]) -> Block:
    (block,) = blocks(judgments(UNITS, asked, pd.DataFrame(answers), None), "d", "sys", 0)
    return block


def test_grades_stand_with_their_scale_reason_and_quotes() -> None:
    block = shown(
        pairs((BACKGROUND, None), (SYMPTOMS, None), (FREE, None), (ADDED, None)),
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
    asked = pairs(*zip(criteria, why, strict=True), (BACKGROUND, None))
    answers = [answer(BACKGROUND, grade=3.0)]
    ((_, lines),) = shown(asked, answers).groups
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
