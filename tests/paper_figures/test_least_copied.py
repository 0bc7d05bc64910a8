"""Correlations on the texts that copy least, against numpy and scipy."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from metassay.paper_figures.derived_tables import least_copied
from metassay.paper_figures.estimates import ADDED, ALONE

TEXTS = list(product("abcdefghij", "xy"))
random = np.random.default_rng(5)
METRIC, PEOPLE = random.normal(size=20), random.normal(size=20)
COVERAGE = np.repeat(np.linspace(0, 1, 10), 2)  # every value twice: shares have ties


def frames() -> dict[str, pd.DataFrame]:
    rows = [
        (doc_id, author, metric, value)
        for metric, values in (("bleu", METRIC), ("coverage", COVERAGE))
        for (doc_id, author), value in zip(TEXTS, values, strict=True)
    ]
    names = ["doc_id", "author", "metric", "value"]
    scores = pd.DataFrame([*rows, ("a", "reference", "bleu", 9.0)], columns=names)
    people = [(*text, "errors", value) for text, value in zip(TEXTS, PEOPLE, strict=True)]
    ratings = pd.DataFrame(people, columns=["doc_id", "author", "criterion", "value"])
    return {
        "scores": scores.assign(part="full", judge="none"),
        "ratings": ratings.assign(part="full", unit="text", rater="r"),
    }


def test_shares_are_of_the_texts_that_copy_least_with_their_ties() -> None:
    found = least_copied(frames())
    alone = found[(found["metric"] == "bleu") & (found["what"] == ALONE)].set_index("share")
    rows = alone.to_dict("index")
    for share, n in {"25": 6, "50": 10, "75": 16, "100": 20}.items():  # 5 and 15 tie with one more
        kept = np.argsort(COVERAGE, kind="stable")[:n]
        assert rows[share]["n"] == n
        expected = stats.pearsonr(METRIC[kept], PEOPLE[kept]).statistic
        assert rows[share]["value"] == pytest.approx(expected)
        assert rows[share]["low"] < expected < rows[share]["high"]


def test_coverage_is_added_standardised() -> None:
    found = least_copied(frames())
    both = stats.zscore(METRIC) + stats.zscore(COVERAGE)
    added = found[found["what"] == ADDED]
    assert list(added["metric"]) == ["bleu"]  # and not coverage with itself
    assert added["value"].item() == pytest.approx(stats.pearsonr(both, PEOPLE).statistic)


def test_intervals_draw_documents_and_not_texts() -> None:
    """Every text twice in its document says no more than once: the interval is the same."""
    given = frames()
    once = {name: frame[frame["author"] == "x"] for name, frame in given.items()}
    twice = {name: pd.concat([of, of.assign(author="y")]) for name, of in once.items()}
    ends = [
        least_copied(one).set_index(["metric", "share", "what"])[["value", "low", "high"]]
        for one in (once, twice)
    ]
    key = ("bleu", "100", ALONE)
    assert ends[0].loc[key].to_list() == pytest.approx(ends[1].loc[key].to_list())
