"""Copying against the paper's procedure, counts of words and numbers; by hand and on real notes."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.core.options import Options
from metassay.metrics import copying
from metassay.metrics.copying import fragment_lengths
from metassay.metrics.describe import Measured

CODED = st.text("abc", max_size=25)


def copied(candidate: str, source: str) -> list[Measured]:
    """Coverage, density and compression."""
    measured = copying.measure([candidate], [source], Options())
    return [values[0] for values in measured.values()]


def fragments(
    source: Sequence[str], summary: Sequence[str], *, skip: bool
) -> list[int]:
    """The loops of the figure in Grusky et al. 2018, written out.

    With `skip`, as in the figure, no comparison starts inside a run that was just
    compared.
    """
    lengths = []
    i = 0
    while i < len(summary):
        longest, j = 0, 0
        while j < len(source):
            length = 0
            while (
                i + length < len(summary)
                and j + length < len(source)
                and summary[i + length] == source[j + length]
            ):
                length += 1
            longest = max(longest, length)
            j += max(length, 1) if skip else 1
        if longest:
            lengths.append(longest)
        i += max(longest, 1)
    return lengths


def test_by_hand() -> None:
    # Fragments: "mild chest pain since" (4), then "last" is new, then "monday" (1); of
    # 6 words.
    scores = copied(
        "Mild chest pain since last Monday.",
        "Patient has mild chest pain, since Monday.",
    )
    assert scores == [
        Measured(5 / 6, (5, 6)),
        Measured(17 / 6, (17, 6)),
        Measured(7 / 6, (7, 6)),
    ]
    # A copy is one fragment; speaker tags are no words.
    assert [score.value for score in copied("a b c", "x a b c y")] == [1, 3, 5 / 3]
    assert copied("doctor", "[doctor] hello\n[patient] hello")[0].value == 0
    assert copied("", "a b") == copied("--", "") == [Measured(None, None)] * 3
    assert [score.value for score in copied("a b", "")] == [0] * 3


@settings(max_examples=300, deadline=None)
@given(CODED, CODED)
def test_equal_to_the_papers_loops(source: str, summary: str) -> None:
    assert fragment_lengths(source, summary) == fragments(source, summary, skip=False)


def test_the_figures_skip_overlooks_an_overlapping_run() -> None:
    # "aab" is in "aaab", but the figure compares from the first a, then goes on after
    # the second.
    assert fragments("aaab", "aab", skip=True) == [2, 1]
    assert fragment_lengths("aaab", "aab") == [3]


def test_long_repetitive_texts_do_not_take_long() -> None:
    assert sum(fragment_lengths("ab" * 20_000, "a" * 1_000)) == 1_000
    assert fragment_lengths("a" * 100_000, "a" * 5_000) == [5_000]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(CODED.map(" ".join), st.sampled_from(["a b c", "c b a", ""])),
        max_size=6,
    )
)
def test_a_text_scores_the_same_in_any_company(pairs: list[tuple[str, str]]) -> None:
    together = copying.measure([c for c, _ in pairs], [s for _, s in pairs], Options())
    for index, pair in enumerate(pairs):
        assert [values[index] for values in together.values()] == copied(*pair)


@pytest.mark.parametrize(
    ("file", "words", "coverage", "density"),
    [
        ("clinicalnlp_taskB_test1", 415.3, 0.698, 2.17),
        ("bart-large-xsum-samsum_clinicalnlp_taskB_test1_full", 192.2, 0.791, 3.21),
        (
            "bart-large-xsum-samsum_clinicalnlp_taskB_test1_division_combined",
            415.1,
            0.688,
            2.29,
        ),
        ("BioBART_clinicalnlp_taskB_test1_full", 179.4, 0.790, 4.76),
        ("BioBART_clinicalnlp_taskB_test1_division_combined", 402.1, None, None),
        ("test1ChatGPT_", 233.2, 0.812, 2.95),
        ("test1GPT-4_", 276.5, 0.727, 2.71),
    ],
)
def test_means_of_aci_bench(
    mirror: Path, file: str, words: float, coverage: float | None, density: float | None
) -> None:
    # Recomputed by the project from the released notes and dialogues, 40 documents.
    folder = mirror / "aci_bench_test1"
    dialogues = pd.read_csv(folder / "clinicalnlp_taskB_test1.csv")[
        ["encounter_id", "dialogue"]
    ]
    notes = pd.read_csv(folder / f"{file}.csv")[["encounter_id", "note"]]
    both = dialogues.merge(notes, on="encounter_id", validate="1:1")
    texts, sources = list(both["note"]), list(both["dialogue"])
    scores = copying.measure(texts, sources, Options())
    scores |= copying.measure_lengths(texts, sources, Options())
    means = {
        name: sum(s.value or 0 for s in values) / 40 for name, values in scores.items()
    }
    assert means["words"] == pytest.approx(words, abs=0.051)  # printed to one digit
    if coverage is not None:
        assert means["coverage"] == pytest.approx(coverage, abs=0.005)
        assert means["density"] == pytest.approx(density, abs=0.005)


def test_lengths_by_hand() -> None:
    assert copying.measure_lengths(["two  words\n", ""], ["", ""], Options()) == {
        "words": [Measured(2, None), Measured(0, None)],
        "characters": [Measured(11, None), Measured(0, None)],
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rose by 3.5% (p < .001)", ["3.5", ".001"]),
        ("1,000 of 12,345.67 patients", ["1,000", "12,345.67"]),
        ("10-20 cases, 10\u201320 days", ["10", "20", "10", "20"]),
        ("a 3D scan, H2O, x_1, x1 and COVID-19 or IL\u20116", []),
        ("on 3/4/2021 at 10:30am, BP 120/80", ["3/4/2021", "10:30am", "120/80"]),
        ("from 2021-03-04 to May 3, 2022.", ["2021-03-04", "3", "2022"]),
        (
            "20mg, 5 mm, 100MHz, 2x and \u22121.5e-3 m",
            ["20mg", "5", "100MHz", "2x", "1.5e-3"],
        ),
        ("a 59-year-old, 2-fold; the 1st, the 1990s, twenty", ["59", "2"]),
        ("see [3] and [1,2]; version 3.10.2.", ["3", "1", "2", "3.10.2"]),
        ("Temp 37.5C, 98.6F, 37.5 \u00b0C", ["37.5C", "98.6F", "37.5"]),
        ("3.5D is not a number, nor is 3.5.2b", []),
        ("", []),
    ],
)
def test_numbers_by_hand(text: str, expected: list[str]) -> None:
    assert copying.numbers(text) == expected
    measured = copying.measure_numbers([text], [""], Options())
    assert measured == {"numbers": [Measured(float(len(expected)), None)]}
