"""tokens.py: published counts and coverage as oracles, content words by example."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.text.tokens import STOPWORDS, alphanumeric, content_tokens, words

LINES = st.text(st.characters(codec="utf-8"), max_size=40).filter(
    lambda x: "\n" not in x
)


def test_words_are_what_white_space_parts() -> None:
    assert words(" BP 120/80,\n\tstable \n") == ["BP", "120/80,", "stable"]
    assert words(" \n") == []


def test_alphanumeric_runs_without_speakers() -> None:
    text = (
        "[doctor] It's a 59-year-old .\n [patient_guest] Yes, at [clinic] 7.2\n[3] kept"
    )
    assert " ".join(alphanumeric(text)) == "it s a 59 year old yes at clinic 7 2 3 kept"


@pytest.mark.parametrize(
    ("file", "coverage", "density", "count"),
    [
        ("clinicalnlp_taskB_test1.csv", 0.698, 2.17, 415.3),
        ("test1ChatGPT_.csv", 0.812, 2.95, 233.2),
    ],
)
def test_published_coverage_density_and_length(
    mirror: Path, file: str, coverage: float, density: float, count: float
) -> None:
    """Means over the 40 documents of ACI-BENCH test1, from DocLens's tables."""
    folder = mirror / "aci_bench_test1"
    dialogues = pd.read_csv(folder / "clinicalnlp_taskB_test1.csv").set_index(
        "encounter_id"
    )
    notes = pd.read_csv(folder / file).set_index("encounter_id")["note"]
    rows = []
    for key, note in notes.items():
        tokens = alphanumeric(note)
        lengths = np.array(
            _fragments(alphanumeric(dialogues.loc[key, "dialogue"]), tokens)
        )
        n = len(tokens)
        rows.append((lengths.sum() / n, (lengths**2).sum() / n, len(words(note))))
    means = np.mean(rows, axis=0)
    assert len(rows) == 40
    assert means[0] == pytest.approx(coverage, abs=0.0006)
    assert means[1] == pytest.approx(density, abs=0.006)
    assert means[2] == pytest.approx(count, abs=0.06)


def _fragments(source: list[str], summary: list[str]) -> list[int]:
    """Greedy longest matches, Grusky et al. 2018, figure 3."""
    places: dict[str, list[int]] = {}
    for at, token in enumerate(source):
        places.setdefault(token, []).append(at)
    lengths, start = [], 0
    while start < len(summary):
        longest = 0
        for at in places.get(summary[start], ()):
            length = 0
            while (
                start + length < len(summary)
                and at + length < len(source)
                and summary[start + length] == source[at + length]
            ):
                length += 1
            longest = max(longest, length)
        lengths += [longest] if longest else []
        start += longest or 1
    return lengths


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("BP is 120/80 at 10:30 on 3/4/2021", "bp 120/80 10:30 3/4/2021"),
        ("A1c 7.2%, T4 .5", "a1c 7.2 percent t4 0.5"),
        ("1,000 units, 20mg, 5-cm, 2x/day", "1000 unit 20 mg 5 cm 2 x day"),
        ("1,2,3 and 12,34", "1 2 3 12 34"),
        ("a 59-year-old's x-rays", "59 year old xray"),
        ("lisinopril p.o. b.i.d. at 5 a.m. today", "lisinopril po bid 5 today"),
        ("She doesn\u2019t, can't, cannot, won't", "not not not not"),
        (
            "No fever, never without pain nor left ear",
            "no fever never without pain nor left ear",
        ),
        ("I'm sure they've seen the patient's O'Brien", "sure seen patient obrien"),
        ("studies, wheezes, rashes, boxes, masses", "study wheeze rash box mass"),
        ("gas status illness his", "gas status illness"),
        ("He is 5'4\"", "5 4"),
        ("", ""),
    ],
)
def test_content_tokens(text: str, tokens: str) -> None:
    assert content_tokens(text) == tokens.split()


def test_negations_and_laterality_are_no_stopwords() -> None:
    negations = {
        "no",
        "not",
        "nor",
        "never",
        "none",
        "without",
        "left",
        "right",
        "both",
        "neither",
    }
    assert not negations & STOPWORDS


@settings(deadline=None)
@given(LINES, LINES)
def test_lines_are_read_independently_and_case_does_not_matter(
    first: str, second: str
) -> None:
    both = content_tokens(first) + content_tokens(second)
    assert content_tokens(first + "\n" + second) == both
    assert content_tokens(first.upper().lower()) == content_tokens(first.upper())
    assert not STOPWORDS & {token for token in both if len(token) < 3}
