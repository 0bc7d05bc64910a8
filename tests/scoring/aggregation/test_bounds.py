"""Whatever fails, the bounds of every measure hold what would have come out, and counts add up."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest

from metassay.judges.protocol import Judgment, Pair, Status
from metassay.scoring.aggregation.leaderboard import LeaderboardOptions, leaderboard
from metassay.scoring.pairing.instruments import INSTRUMENTS, Labels
from metassay.scoring.pairing.measures import DESCRIPTIONS, MEASURES
from metassay.scoring.pairing.questions import Questions
from tests.scoring.pairing.colours import Colours, Judged, judged

ALL = Questions(measures=tuple(MEASURES), against="full", borrow=False)
KEY = ["doc_id", "author", "part", "metric"]
FAILED = [status for status in get_args(Status) if status != "ok"]


def texts(rng: np.random.Generator) -> dict[str, dict[str, str | None]]:
    """30 documents by a reference and three systems, of up to 3 cited statements each."""

    def text(author: str) -> str | None:
        said = [
            f"Statement {rng.integers(9)} by {author}"
            + "".join(f" [{c}]" for c in rng.permutation(4)[: rng.integers(4)])
            for _ in range(rng.integers(1, 4))
        ]
        return ". ".join(said) + "." if rng.random() < 0.95 else None

    authors = ("reference", "one", "two", "three")
    return {f"d{doc:02}": {author: text(author) for author in authors} for doc in range(30)}


def answer(pair: Pair, rng: np.random.Generator) -> Judgment:
    scale = INSTRUMENTS[pair.instrument].answer
    if isinstance(scale, Labels):
        return Judgment("ok", str(rng.choice(scale.names)))
    return Judgment("ok", grade=float(rng.integers(scale.low, scale.high + 1)))


@pytest.fixture(scope="module", params=["note", "question"])
def true_and_found(request: pytest.FixtureRequest) -> tuple[Judged, Judged]:
    """All answers, and the same answers where a third of them failed in one way or another."""
    rng = np.random.default_rng(7)
    written, answers = texts(rng), dict[str, Judgment]()

    def says(pair: Pair) -> Judgment:
        return answers.setdefault(pair.pair_id, answer(pair, rng))

    def fails(pair: Pair) -> Judgment:
        return Judgment(rng.choice(FAILED)) if rng.random() < 1 / 3 else says(pair)

    passages = ["a", "b", "c"]
    everything = judged(written, passages, ALL, Colours(says), request.param)
    return everything, judged(written, passages, ALL, Colours(fails), request.param)


def test_bounds_hold_the_truth_and_counts_add_up(true_and_found: tuple[Judged, Judged]) -> None:
    true, found = (judged.scores.set_index(KEY) for judged in true_and_found)
    assert (true.index == found.index).all()
    assert set(found.index.get_level_values("metric")) == set(MEASURES)
    assert (found["n_expected"] == true["n_expected"]).all()
    assert (found["n_expected"] == found["n_judged"] + found["n_failed"]).all()
    known = true[true["n_failed"] == 0].dropna(subset=["value"])
    bounds = found.loc[known.index]
    assert len(known) > 300
    assert (bounds["n_failed"] > 0).any()
    assert (bounds["low"] <= known["value"] + 1e-9).all()
    assert (known["value"] <= bounds["high"] + 1e-9).all()
    sure = bounds["n_failed"] == 0
    for column in ("value", "low", "high"):
        pd.testing.assert_series_equal(
            bounds.loc[sure, column], known.loc[sure, "value"], check_names=False
        )
    # Half of a comparison may be known: it narrows the bounds, and is not in the value.
    rest = found[~found.index.get_level_values("metric").str.startswith("preference")]
    answered = rest[rest["n_judged"] > 0]
    assert answered["value"].between(answered["low"] - 1e-9, answered["high"] + 1e-9).all()
    assert (found["value"].isna() == (found["n_judged"] == 0)).all()


def test_so_do_those_of_the_leaderboard(true_and_found: tuple[Judged, Judged]) -> None:
    options = LeaderboardOptions(resamples=1, confidence=0.9, seed=1)
    key = ["part", "metric", "judge", "author"]
    true, found = (
        leaderboard(judged.scores, DESCRIPTIONS, options).set_index(key)
        for judged in true_and_found
    )
    some = true[true["n_failed"] == 0].dropna(subset=["macro"]).index
    assert len(some) >= 3
    assert (found.loc[some, "least"] <= true.loc[some, "macro"] + 1e-9).all()
    assert (true.loc[some, "macro"] <= found.loc[some, "most"] + 1e-9).all()
    assert (found.loc[some, "least"] < found.loc[some, "most"]).any()


def test_an_abstention_is_no_answer() -> None:
    asked = Questions(measures=("claim_recall",), against="full", borrow=False)
    said = iter([Judgment("ok", "entailed"), Judgment("abstained", probability=0.6)])
    written: dict[str, dict[str, str | None]] = {"d": {"reference": "Red. Blue.", "one": "x"}}
    found = judged(written, ["p"], asked, Colours(lambda _: next(said)))
    (score,) = found.scores.to_dict("records")
    assert (score["value"], score["n_expected"], score["n_failed"]) == (1, 2, 1)
    assert (score["low"], score["high"]) == (0.5, 1)
    assert found.judgments["probability"].tolist()[1] == 0.6
