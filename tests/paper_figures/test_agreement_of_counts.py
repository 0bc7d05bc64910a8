"""Agreement of counts over pairs of raters, and that of the sample's annotators."""

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.core.params import load
from metassay.datasets.ingest import ingest
from metassay.paper_figures.derived_tables import agreement_of_counts
from metassay.statistics.agreement import COUNT_COEFFICIENTS

ROOT = Path(__file__).parents[2]
COUNTS = {
    "ann": [3, 0, 1, 2, 5, 4, 0, 2],
    "ben": [3, 1, 1, 4, 5, 2, 0, 3],
    "cem": [2, 1, 1, None, 4, 4, 1, 2],
}


def ratings(raters: tuple[str, ...]) -> pd.DataFrame:
    rows = [
        (f"d{number // 2}", "xy"[number % 2], rater, value)
        for rater in raters
        for number, value in enumerate(COUNTS[rater])
    ]
    made = pd.DataFrame(rows, columns=["doc_id", "author", "rater", "value"])
    return made.assign(study="s", criterion="omitted_facts", part="full", unit="text")


def of(frame: pd.DataFrame) -> pd.DataFrame:
    return agreement_of_counts({"ratings": frame}).set_index("coefficient")


def test_two_raters_are_the_worked_example() -> None:
    found = of(ratings(("ann", "ben")))
    assert tuple(found.index) == COUNT_COEFFICIENTS
    values = [0.407407, 0.5, 0.75, 1, 0.7797]
    assert found["value"].tolist() == pytest.approx(values, abs=5e-7)
    assert set(found["n"]) == {8}
    assert (found["low"] <= found["value"]).all()
    assert (found["value"] <= found["high"]).all()


def test_three_raters_are_the_mean_of_their_pairs_over_what_both_counted() -> None:
    found = of(ratings(("ann", "ben", "cem")))
    pairs = [of(ratings(pair))["value"] for pair in combinations(COUNTS, 2)]
    np.testing.assert_allclose(found["value"], np.mean(pairs, axis=0))
    assert set(found["n"]) == {8 + 7 + 7}


def test_parts_units_and_references_are_left_out_and_a_lone_rater_has_no_row() -> None:
    two = ratings(("ann", "ben"))
    more = [
        two.assign(part="plan", value=0.0),
        two.assign(unit="statement:0", value=0.0),
        two[two["author"] == "x"].assign(author="reference", value=0.0),
    ]
    pd.testing.assert_frame_equal(of(pd.concat([two, *more])), of(two))
    assert of(ratings(("ann",))).empty


def test_the_samples_annotators_agree_as_their_readings_were_planted() -> None:
    """Counts of planted/facts.csv, which the reader has no part in, give the same table."""
    folder = ROOT / "data/sample_facts"
    criteria = load(ROOT).benchmarks["sample_facts"].criteria
    found = agreement_of_counts({"ratings": ingest("fact_annotations", folder, criteria).ratings})
    found = found.set_index(["study", "criterion", "coefficient"])["value"]
    planted = pd.read_csv(folder / "planted/facts.csv")
    for study, status in product(
        ("facts", "radiology"), ("correct", "incorrect", "hallucinated", "omitted")
    ):
        its = planted[planted["study"] == study]
        a, b = (
            its.assign(n=its[rater].str.contains(rf"\b{status}\b"))
            .groupby(["doc_id", "author"])["n"]
            .sum()
            for rater in ("status", "annotator_2")
        )
        of_status = found[study, f"{status}_facts"]
        assert of_status["pearson"] == pytest.approx(np.corrcoef(a, b)[0, 1])
        for name, tolerance in (("equal", 0), ("within_1", 1), ("within_2", 2)):
            assert of_status[name] == pytest.approx(((a - b).abs() <= tolerance).mean())
