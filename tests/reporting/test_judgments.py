"""What the page says of a judgment, whatever the instrument."""

import pandas as pd
import pytest

from metassay.reporting.views.judgments import Block, blocks, judgments
from metassay.tables import ALL_CITATIONS, REFERENCE

AUTHOR = "lead"
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
        }
        for measure in ("claim_recall", "claim_recall_grade")
        for position in range(3)
    ]
)


def judgment(pair_id: str, **answer: object) -> dict[str, object]:
    unsaid = {"label": None, "grade": None, "explanation": None}
    return {"pair_id": pair_id, "judge": "lexical", "status": "ok", **unsaid, **answer}


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
