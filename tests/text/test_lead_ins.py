"""A short line with a colon at its end is a sentence if it states something."""

import pandas as pd
import pytest

from metassay.tables.parts import PARTS
from metassay.text.lead_ins import states_something
from metassay.text.sentences import lead_ins, sentences
from metassay.units.statements import lead_in_notes

STATES = [
    "No skull fracture:",
    "Not anticoagulated:",
    "Denies chest pain:",
    "The patient has diabetes:",
    "The patient smokes daily:",
    "She drinks alcohol:",
    "There is no effusion:",
    "Lungs are clear:",
    "Left ankle swollen:",
    "Troponin negative:",
    "Skull fracture present:",
    "BP 150/95:",
    "Hemoglobin 7.2:",
    "Metoprolol 50 mg twice daily:",
    "Allergic to latex:",
    "Retired from farming:",
    "Admitted to the stroke unit:",
    "Statin stopped:",
    "Vomiting for two days:",
    "Walks with a cane:",
    "Grandmother died of sepsis:",
    "**No skull fracture**",
    "- **Gait normal:**",
]
INTRODUCES = [
    "Blood pressure:",
    "Knee:",
    "Type 2 diabetes mellitus:",
    "Day 2:",
    "Patient denies:",
    "Patient education:",
    "Medications include:",
    "The patient was given the following:",
    "The following were discussed:",
    "Plan is as follows:",
    "What to do:",
    "Return if worse:",
    "Reason for the visit:",
    "Negative:",
    "Laboratory studies show:",
    "Her scan showed:",
    "To do list:",
    "Procedures performed:",
    "Advanced directives:",
    "Left wrist sprain:",
    "**Diabetes**",
    "# Fracture is present",
    "## No skull fracture",
]


@pytest.mark.parametrize("line", STATES)
def test_a_line_that_states_something_is_a_sentence(line: str) -> None:
    text = f"{line}\nThe knee hurts."
    spans = [text[start:end] for start, end in sentences(text)]
    assert len(spans) == 2
    assert spans[0] in line
    assert lead_ins(text) == []


@pytest.mark.parametrize("line", INTRODUCES)
def test_a_line_that_introduces_others_is_none_and_is_counted(line: str) -> None:
    text = f"{line}\nThe knee hurts."
    assert [text[start:end] for start, end in sentences(text)] == ["The knee hurts."]
    assert len(lead_ins(text)) == 1
    assert len(sentences(line)) == 1, "it is all there is"
    assert lead_ins(line) == []


def test_planted_statements_in_the_form_of_headings_do_not_vanish() -> None:
    planted = [
        f"{subject} {verb} {finding}:"
        for subject in ("The patient", "He", "The scan", "The left lung")
        for verb in ("has", "shows", "denies", "is without")
        for finding in ("a fracture", "pneumonia", "any fever")
    ]
    planted += [f"No {finding}:" for finding in ("fracture", "effusion", "murmur")]
    assert all(map(states_something, planted))


def test_lines_that_are_not_judged_are_counted_by_author() -> None:
    rows = [
        ("d1", "a", "Blood pressure:\n120/80\nHeart rate:\n80"),
        ("d1", "b", "The knee hurts."),
        ("d2", "a", "Left knee:\nIt hurts."),
    ]
    parts = pd.DataFrame(
        [
            {
                **dict.fromkeys(PARTS.columns),
                "doc_id": doc,
                "author": author,
                "part": "full",
                "leaf": "yes",
                "status": "ok",
                "text": text,
            }
            for doc, author, text in rows
        ]
    )
    assert lead_in_notes(parts) == [
        '3 lines only introduce others, as "Blood pressure:" does, and are not judged: a 3'
    ]
    assert lead_in_notes(parts[parts["author"] == "b"]) == []
