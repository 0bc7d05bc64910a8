"""sections.py: headings by example, partition of any note, and the real reference notes."""

from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.text.headings import (
    SECTIONS,
    divide,
    original,
    section_heading,
    stands_alone,
)

S, E, R, A = SECTIONS


@pytest.mark.parametrize(
    ("line", "section"),
    [
        ("CC: cough", S),
        ("  Chief Complaint", S),
        ("chiefcomplaint:", S),  # blanks inside a heading match none as well
        ("Chief complaint is cough", None),
        ("HPI cough since May", S),  # a prefix needs no colon
        ("History of present illness cough", S),
        ("History cough", None),
        ("review  of\tsystems:", S),
        ("PE: clear", E),
        ("People are well", None),
        ("physical findings", E),
        ("FINDINGS:", R),
        ("Results were fine", None),
        ("A:", A),
        ("a", A),
        ("A rash", None),
        ("Assessment & Plan", A),
        ("Disposition/Plan: home", A),
        ("Medical decision-making plan: wait", A),
        ("Summary plan wait", A),
        ("IMPRESSIONS of it", A),  # capitals only, and whatever follows
        ("Impression: gout", None),
        ("results :", None),  # the colon is attached
        ("**Subjective:**", None),
        ("## Results", None),
        ("OBJECTIVE RESULTS", None),
        ("VITALS REVIEWED", None),
    ],
)
def test_original_rules(line: str, section: str | None) -> None:
    assert original(line) == section


@pytest.mark.parametrize(
    ("line", "section", "rest"),
    [
        ("**Subjective:** Cough.", S, "Cough."),
        ("**Subjective**: Cough.", S, "Cough."),
        ("## Results", R, ""),
        ("### Objective Exam ###", E, ""),
        ("**2. Plan**", A, ""),
        ("2. **Plan:** rest", A, "rest"),
        ("2. Plan: rest", None, None),  # an item of a list
        ("* Plan: rest", None, None),
        ("_Assessment / Plan:_ rest", A, "rest"),
        ("ASSESSMENT/PLAN", A, ""),
        ("Assessment  and Plan :", A, ""),
        ("A&P: rest", A, "rest"),
        ("A/P:", A, ""),
        ("S: cough", S, "cough"),
        ("O: clear", E, "clear"),
        ("O", None, None),
        ("OBJECTIVE", E, ""),
        ("OBJECTIVE EXAM", E, ""),
        ("objective_results: none", R, "none"),
        ("Vitals: stable", E, "stable"),
        ("VITALS REVIEWED", E, ""),
        ("Vitals are stable", None, None),
        ("results :", R, ""),
        ("Laboratory results:", R, ""),
        ("IMPRESSION Gout", A, "Gout"),
        ("Impression: gout", None, None),
        ("HISTORY OF PRESENT ILLNESS cough", S, "cough"),
        (
            "History of present illness is long.",
            S,
            "History of present illness is long.",
        ),
        ("HPI notes: cough", S, "cough"),
        ("Labs: normal", None, None),
        ("Examination of the knee: normal", None, None),
    ],
)
def test_own_rules(line: str, section: str | None, rest: str | None) -> None:
    heading = section_heading(line)
    assert (heading and heading[0]) == section
    if heading:
        assert line[heading[1] :].strip() == rest


def test_lines_that_are_only_a_heading() -> None:
    headings = ["PLAN", "Results:", "# Results #", "Social History", "**Skin**:"]
    assert all(map(stands_alone, headings))
    assert not any(map(stands_alone, ["Plan: rest", "Gout", "Skin: dry", "Diabetes:"]))


def pieces_of(note: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """By our rules, and by those of Table 24."""
    first, second = (
        {name: [note[a:b] for a, b in pieces] for name, pieces in divisions.items()}
        for divisions in _both(note)
    )
    return first, second


def test_notes_by_hand() -> None:
    note = (
        "Seen today.\nEXAM\nLungs clear.\n**Results:** film clear.\nPlan: rest.\nRESULTS\n"
        "MRI clear.\n"
    )
    ours, table24 = pieces_of(note)
    assert ours == {
        S: ["Seen today."],
        E: ["EXAM\nLungs clear."],
        R: ["**Results:** film clear.", "RESULTS\nMRI clear."],
        A: ["Plan: rest."],
    }
    # **Results:** is no heading there, so the exam goes on, and the last section runs to the end.
    assert table24 == {
        S: ["Seen today.\n"],
        E: ["EXAM\nLungs clear.\n**Results:** film clear.\n"],
        R: ["RESULTS\nMRI clear.\n"],
        A: ["Plan: rest.\n"],
    }
    # Text before the first heading is subjective.
    ours, table24 = pieces_of("\nEXAM\nClear.\nHPI: cough")
    assert ours[S] == ["HPI: cough"]  # nothing is said before
    assert table24[S] == ["\n"]  # that was the first occurrence
    assert table24[E] == ["EXAM\nClear.\nHPI: cough"]
    assert _both("All is well.") == ({}, {S: [(0, 12)]})


LINES = [
    "EXAM",
    "Exam: ok",
    "Results:",
    "A/P: rest",
    "HPI: cough",
    "text",
    "",
    " ",
    "## Plan",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=8).map("\n".join))
def test_pieces_hold_every_visible_character_once(note: str) -> None:
    for sections in _both(note):
        pieces = sorted(piece for pieces in sections.values() for piece in pieces)
        assert list(sections) == [name for name in SECTIONS if name in sections]
        assert all(first.end <= second.start for first, second in pairwise(pieces))
        if sections:
            text = "".join(note[start:end] for start, end in pieces)
            assert "".join(text.split()) == "".join(note.split())


def test_the_reference_notes_divide_and_eight_have_no_results(mirror: Path) -> None:
    notes = pd.read_csv(mirror / "aci_bench_test1" / "clinicalnlp_taskB_test1.csv")[
        "note"
    ]
    assert len(notes) == 40
    for compat in (0, 1):
        divisions = [_both(note)[compat] for note in notes]
        assert all(set(sections) >= {S, E, A} for sections in divisions)
        assert sum(R not in sections for sections in divisions) == 8


def _both(note: str) -> tuple[dict, dict]:  # type: ignore[type-arg]
    return divide(note, compat="none"), divide(note, compat="doclens-table24")
