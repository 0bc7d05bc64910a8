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
AUTHORS = ("reference", "first", "second", "third")


def texts(rng: np.random.Generator) -> dict[str, dict[str, str | None]]:
    """30 documents by a reference and three systems, of up to 3 cited statements each."""

    def text(author: str) -> str | None:
        statements = [
            f"Statement {rng.integers(9)} by {author}"
            + "".join(f" [{c}]" for c in rng.permutation(4)[: rng.integers(4)])
            for _ in range(rng.integers(1, 4))
        ]
        return ". ".join(statements) + "." if rng.random() < 0.95 else None

    return {
        f"d{doc:02}": {author: text(author) for author in AUTHORS} for doc in range(30)
    }


def answer(pair: Pair, rng: np.random.Generator) -> Judgment:
    scale = INSTRUMENTS[pair.instrument].answer
    if isinstance(scale, Labels):
        return Judgment("ok", str(rng.choice(scale.names)))
    return Judgment("ok", grade=float(rng.integers(scale.low, scale.high + 1)))


@pytest.fixture(scope="module", params=["note", "question"])
def both(request: pytest.FixtureRequest) -> tuple[Judged, Judged]:
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


def test_bounds_hold_the_truth_and_counts_add_up(both: tuple[Judged, Judged]) -> None:
    true, seen = (judged.scores.set_index(KEY) for judged in both)
    assert (true.index == seen.index).all()
    assert set(seen.index.get_level_values("metric")) == set(MEASURES)
    assert (seen["n_expected"] == true["n_expected"]).all()
    assert (seen["n_expected"] == seen["n_judged"] + seen["n_failed"]).all()
    known = true[true["n_failed"] == 0].dropna(subset=["value"])
    bounds, value = seen.loc[known.index], known["value"]
    assert len(known) > 300
    assert (bounds["n_failed"] > 0).any()
    assert value.between(bounds["low"] - 1e-9, bounds["high"] + 1e-9).all()
    sure = bounds["n_failed"] == 0
    for column in ("value", "low", "high"):
        pd.testing.assert_series_equal(
            bounds.loc[sure, column], value[sure], check_names=False
        )
    # Half of a comparison may be known: it narrows the bounds, and is not in the value.
    rest = seen[~seen.index.get_level_values("metric").str.startswith("preference")]
    answered = rest[rest["n_judged"] > 0]
    assert (
        answered["value"].between(answered["low"] - 1e-9, answered["high"] + 1e-9).all()
    )
    assert (seen["value"].isna() == (seen["n_judged"] == 0)).all()


def test_so_do_those_of_the_leaderboard(both: tuple[Judged, Judged]) -> None:
    options = LeaderboardOptions(resamples=1, confidence=0.9, seed=1)
    true, seen = (
        leaderboard(judged.scores, DESCRIPTIONS, options).set_index(
            ["part", "metric", "judge", "author"]
        )
        for judged in both
    )
    some = true[true["n_failed"] == 0].dropna(subset=["macro"])
    bounds = seen.loc[some.index]
    assert len(some) >= 3
    assert some["macro"].between(bounds["least"] - 1e-9, bounds["most"] + 1e-9).all()
    assert (bounds["least"] < bounds["most"]).any()


def test_an_abstention_is_no_answer_and_contradictions_by_hand() -> None:
    recall = Questions(measures=("claim_recall",), against="full", borrow=False)
    answers = iter([Judgment("ok", "entailed"), Judgment("abstained", probability=0.6)])
    written: dict[str, dict[str, str | None]] = {
        "d": {"reference": "Red. Blue.", "s": "x"}
    }
    results = judged(written, ["p"], recall, Colours(lambda _: next(answers)))
    columns = ["value", "n_expected", "n_failed", "low", "high"]
    assert results.scores[columns].to_numpy().tolist() == [[1, 2, 1, 0.5, 1]]
    assert results.judgments["probability"].tolist()[1] == 0.6
    # Of four claims one is contradicted, one entailed, one neither; one was refused. 1
    # of 3; with the refused one 1 or 2 of 4.
    labels = {"Grey.": "neutral", "Blue.": "contradicted", "Red.": "entailed"}

    def says(pair: Pair) -> Judgment:
        label = labels.get(pair.hypothesis)
        return Judgment("ok", label) if label else Judgment("refused")

    only = Questions(measures=("claim_contradiction",), against="full", borrow=False)
    texts = {"d": {"reference": "Red.", "s": "Red. Blue. Grey. Green."}}
    results = judged(texts, ["p"], only, Colours(says))
    expected = [pytest.approx(1 / 3), 4, 1, 0.25, 0.5]
    assert results.scores[columns].to_numpy().tolist() == [expected]
