"""Coverage, density and compression against the paper's procedure, by hand, and on real notes."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.metrics import copying
from metassay.metrics.copying import fragment_lengths
from metassay.metrics.describe import Measured

OPTIONS = copying.Options()
CODED = st.text("abc", max_size=25)


def one(candidate: str, source: str) -> dict[str, Measured]:
    measured = copying.measure([candidate], [source], OPTIONS)
    return {name: values[0] for name, values in measured.items()}


def fragments(source: Sequence[str], summary: Sequence[str], *, skip: bool) -> list[int]:
    """The loops of the figure in Grusky et al. 2018, written out.

    With `skip`, as in the figure, no comparison starts inside a run that was just compared.
    """
    found = []
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
            found.append(longest)
        i += max(longest, 1)
    return found


def test_by_hand() -> None:
    # Fragments: "mild chest pain since" (4), then "last" is new, then "monday" (1); of 6 words.
    scores = one("Mild chest pain since last Monday.", "Patient has mild chest pain, since Monday.")
    assert scores["coverage"] == Measured(5 / 6, (5, 6))
    assert scores["density"] == Measured(17 / 6, (17, 6))
    assert scores["compression"] == Measured(7 / 6, (7, 6))


def test_a_copy_is_one_fragment() -> None:
    scores = one("one two three", "zero one two three four")
    assert scores["coverage"].value == 1
    assert scores["density"].value == 3


def test_missing_data() -> None:
    assert set(one("", "a b").values()) == {Measured(None, None)}
    assert set(one("--", "").values()) == {Measured(None, None)}
    assert {score.value for score in one("a b", "").values()} == {0}


def test_speaker_tags_are_no_words() -> None:
    assert one("doctor", "[doctor] hello\n[patient] hello")["coverage"].value == 0


@settings(max_examples=300, deadline=None)
@given(CODED, CODED)
def test_equal_to_the_papers_loops(source: str, summary: str) -> None:
    assert fragment_lengths(source, summary) == fragments(source, summary, skip=False)


def test_the_figures_skip_overlooks_an_overlapping_run() -> None:
    # "aab" is in "aaab", but the figure compares from the first a, then goes on after the second.
    assert fragments("aaab", "aab", skip=True) == [2, 1]
    assert fragment_lengths("aaab", "aab") == [3]


def test_long_repetitive_texts_do_not_take_long() -> None:
    assert sum(fragment_lengths("ab" * 20_000, "a" * 1_000)) == 1_000
    assert fragment_lengths("a" * 100_000, "a" * 5_000) == [5_000]


@settings(deadline=None)
@given(
    st.lists(st.tuples(CODED.map(" ".join), st.sampled_from(["a b c", "c b a", ""])), max_size=6)
)
def test_a_text_scores_the_same_in_any_company(pairs: list[tuple[str, str]]) -> None:
    together = copying.measure([c for c, _ in pairs], [s for _, s in pairs], OPTIONS)
    for index, (candidate, source) in enumerate(pairs):
        assert {n: v[index] for n, v in together.items()} == one(candidate, source)


@pytest.mark.parametrize(
    ("file", "coverage", "density"),
    [
        ("clinicalnlp_taskB_test1.csv", 0.698, 2.17),
        ("bart-large-xsum-samsum_clinicalnlp_taskB_test1_full.csv", 0.791, 3.21),
        ("bart-large-xsum-samsum_clinicalnlp_taskB_test1_division_combined.csv", 0.688, 2.29),
        ("BioBART_clinicalnlp_taskB_test1_full.csv", 0.790, 4.76),
        ("test1ChatGPT_.csv", 0.812, 2.95),
        ("test1GPT-4_.csv", 0.727, 2.71),
    ],
)
def test_means_of_aci_bench(mirror: Path, file: str, coverage: float, density: float) -> None:
    # Recomputed by the project from the released notes and dialogues, 40 documents.
    folder = mirror / "aci_bench_test1"
    dialogues = pd.read_csv(folder / "clinicalnlp_taskB_test1.csv")[["encounter_id", "dialogue"]]
    notes = pd.read_csv(folder / file)[["encounter_id", "note"]]
    both = dialogues.merge(notes, on="encounter_id", validate="1:1")
    assert len(both) == 40
    scores = copying.measure(list(both["note"]), list(both["dialogue"]), OPTIONS)
    means = {name: sum(s.value or 0 for s in values) / 40 for name, values in scores.items()}
    assert means["coverage"] == pytest.approx(coverage, abs=0.005)
    assert means["density"] == pytest.approx(density, abs=0.005)
