"""Lengths: worked examples and DocLens's mean words per note."""

from pathlib import Path

import pandas as pd
import pytest

from metassay.metrics import copying
from metassay.metrics.describe import Measured

OPTIONS = copying.Options()


def test_by_hand() -> None:
    assert copying.measure_lengths(["two  words\n", ""], ["", ""], OPTIONS) == {
        "words": [Measured(2, None), Measured(0, None)],
        "characters": [Measured(11, None), Measured(0, None)],
    }


@pytest.mark.parametrize(
    ("file", "mean"),
    [
        ("clinicalnlp_taskB_test1.csv", 415.3),
        ("bart-large-xsum-samsum_clinicalnlp_taskB_test1_full.csv", 192.2),
        ("bart-large-xsum-samsum_clinicalnlp_taskB_test1_division_combined.csv", 415.1),
        ("BioBART_clinicalnlp_taskB_test1_full.csv", 179.4),
        ("BioBART_clinicalnlp_taskB_test1_division_combined.csv", 402.1),
        ("test1ChatGPT_.csv", 233.2),
        ("test1GPT-4_.csv", 276.5),
    ],
)
def test_mean_words_of_aci_bench(mirror: Path, file: str, mean: float) -> None:
    # Recomputed by the project from the released notes; printed to one digit.
    notes = list(pd.read_csv(mirror / "aci_bench_test1" / file)["note"])
    words = [score.value or 0 for score in copying.measure_lengths(notes, notes, OPTIONS)["words"]]
    assert sum(words) / 40 == pytest.approx(mean, abs=0.051)
