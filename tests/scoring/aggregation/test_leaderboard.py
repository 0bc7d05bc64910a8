"""The leaderboard by hand, against scipy's bootstrap, a slow loop, and sacreBLEU's corpus score."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sacrebleu
import scipy.stats

from metassay.core.errors import BadInput
from metassay.metrics import bleu
from metassay.scoring.aggregation.leaderboard import (
    LeaderboardOptions,
    document_clusters,
    leaderboard,
)
from metassay.scoring.catalogue import descriptions
from metassay.tables import parquet
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.scores import SCORES

DESCRIPTIONS = descriptions()
OPTIONS = LeaderboardOptions(resamples=1000, confidence=0.95, seed=7)
Rows = list[dict[str, Any]]


def score(
    doc_id: str, author: str, value: float | None, **others: Any
) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "author": author,
        "part": "full",
        "metric": "rouge1_recall",
        "judge": "none",
        "value": value,
        "n_expected": 1,
        "n_judged": 1,
        "n_failed": 0,
        "low": value,
        "high": value,
        "statistics": None,
        "recipe": "r",
        **others,
    }


def of(author: str, values: Any) -> Rows:
    """Scores of documents d00, d01, ...; null for NaN."""
    columns = enumerate(np.asarray(values, float).tolist())
    return [score(f"d{n:02}", author, None if np.isnan(v) else v) for n, v in columns]


def board(
    rows: Rows, options: LeaderboardOptions = OPTIONS, **more: Any
) -> pd.DataFrame:
    return leaderboard(pd.DataFrame(rows), DESCRIPTIONS, options, **more).set_index(
        "author"
    )


def test_by_hand() -> None:
    rows = [
        score("d1", "a", 1.0, statistics=[1, 1]),
        score(
            "d2",
            "a",
            0.5,
            statistics=[4, 8],
            n_expected=2,
            n_failed=1,
            low=0.25,
            high=0.75,
        ),
        score("d3", "a", None, n_judged=0, n_failed=1, low=0.0, high=1.0),
        score("d4", "a", None, n_expected=0, n_judged=0, statistics=[0, 0]),
    ]
    row = board(rows).loc["a"]
    assert row["macro"] == 0.75  # (1 + .5) / 2: what failed is not 0
    assert row["micro"] == pytest.approx(5 / 9)  # (1 + 4) / (1 + 8)
    counts = [
        "n_documents",
        "n_undefined",
        "n_expected",
        "n_failed",
        "better",
        "recipe",
    ]
    assert row[counts].tolist() == [4, 2, 4, 2, "higher", "r"]
    # d1 is known. Of d2 half failed, all of d3, and of d4 nothing was expected.
    assert row[["least", "most"]].tolist() == pytest.approx([1.25 / 3, 2.75 / 3])
    rows[2]["high"] = None  # a metric without an upper end
    row = board(rows).loc["a"]
    assert row["least"] == pytest.approx(1.25 / 3)
    assert np.isnan(row["most"])
    assert set(board(rows[:1]).loc["a", ["least", "macro", "most"]]) == {1}


def test_what_is_undefined_stays_undefined() -> None:
    rows = [score("d1", "a", None, statistics=[0, 0]), score("d2", "a", None)]
    results = board([*rows, score("d1", "b", 0.5), score("d2", "b", None)])
    assert results.loc["a", ["macro", "low", "high", "micro"]].isna().all()
    assert results.loc["b", "macro"] == 0.5
    # one document has no interval
    assert results.loc["b", ["low", "high"]].isna().all()


def tails(n: float, confidence: float = 0.95) -> tuple[float, float]:
    """The quantiles of a bootstrap of n things that are as far out as Student's t is."""
    reach = scipy.stats.t(n - 1).ppf((1 + confidence) / 2) * np.sqrt(n / (n - 1))
    return scipy.stats.norm.sf(reach), scipy.stats.norm.cdf(reach)


def test_interval_by_hand() -> None:
    # Two documents, drawn twice: the mean is 0, .5 or 1 with chances 1/4, 1/2 and 1/4.
    # At 95 % the interval reaches from 0 to 1; at 20 % it holds nothing but .5.
    for confidence, ends in ((0.95, [0, 1]), (0.2, [0.5, 0.5])):
        options = LeaderboardOptions(resamples=1000, confidence=confidence, seed=7)
        assert (
            board(of("a", [0, 1]), options).loc["a", ["low", "high"]].tolist() == ends
        )


def test_interval_equals_scipys_percentile_bootstrap() -> None:
    values = np.random.default_rng(1).random(40)
    drawn = scipy.stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=1000,
        method="percentile",
        rng=np.random.default_rng(7),
    ).bootstrap_distribution
    # b is a and a constant: so is its interval, which two sets of draws would not give.
    results = board(of("a", values) + of("b", values + 1))
    low, high, macro = results.loc["a", ["low", "high", "macro"]]
    assert [low, high] == pytest.approx(list(np.quantile(drawn, tails(40))))
    assert low < macro < high
    assert results.loc["b", ["low", "high"]].tolist() == pytest.approx(
        [low + 1, high + 1]
    )


def test_interval_equals_a_slow_loop_where_scores_are_missing() -> None:
    values = np.random.default_rng(2).random((2, 9))
    values[0, [1, 4, 5]] = values[1, :7] = np.nan
    results = board(of("a", values[0]) + of("b", values[1]))
    draws = np.random.default_rng(7).integers(0, 9, (1000, 9))
    for author, column in zip("ab", values, strict=True):
        drawn = [
            [column[n] for n in draw if not np.isnan(column[n])]
            for draw in draws.tolist()
        ]
        means = [sum(each) / len(each) for each in drawn if each]
        ends = np.quantile(means, tails(np.isfinite(column).sum()))
        assert results.loc[author, ["low", "high"]].tolist() == pytest.approx(
            list(ends)
        )
    assert len(means) < 1000  # some resamples had no score of b


@pytest.mark.parametrize(
    "sizes", [[1] * 8, [4] * 8, [3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]]
)
def test_intervals_hold_the_mean_whatever_documents_share(sizes: list[int]) -> None:
    """Means of 400 authors, each of documents drawn anew, whose topic is half of a score."""
    rng, topic = np.random.default_rng(5), np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(size=(400, len(sizes)))[:, topic] + rng.normal(
        size=(400, topic.size)
    )
    rows = [row for author, each in enumerate(values) for row in of(f"a{author}", each)]

    def holds(**more: Any) -> float:
        results = board(rows, **more)
        return float(((results["low"] <= 0) & (results["high"] >= 0)).mean())

    share = holds(clusters={f"d{at:02}": f"t{of}" for at, of in enumerate(topic)})
    assert share > 0.92
    if topic.size > len(sizes):
        assert holds() < share - 0.05


def test_clusters_are_those_of_the_user_and_copies() -> None:
    values = {
        "d1": [0.11, 0.52, 0.73],
        "d2": [0.24, 0.35, 0.91],
        "d3": [0.11, 0.52, 0.73],
    }
    values |= {f"e{n}": list(np.random.default_rng(n).random(3)) for n in range(12)}
    rows = [
        score(doc, author, value)
        for doc, each in values.items()
        for author, value in zip("abc", each, strict=True)
    ]
    labels = {"e0": "x", "e1": "x", "d2": "y", "e2": "", "e3": "e4"}
    clusters = document_clusters(pd.DataFrame(rows), labels).set_index("doc_id")[
        "cluster"
    ]
    assert clusters["d1"] == clusters["d3"] == "d1"  # a copy
    assert clusters[["e0", "e1", "d2", "e2"]].tolist() == ["x", "x", "y", "e2"]
    assert clusters["e3"] != clusters["e4"]  # a label that is another document's id
    assert clusters.nunique() == 13


def test_micro_of_bleu_is_corpus_bleu() -> None:
    candidates = ["the knee hurts a lot today", "no fever was found", "he is well"]
    references = [
        "the knee hurts a lot",
        "no fever at all was found",
        "he feels well now",
    ]
    options = bleu.BleuOptions(tokenize="13a", lowercase=False)
    measured = bleu.measure(candidates, references, options)["bleu"]
    rows = [
        score(
            f"d{n}",
            "a",
            each.value,
            metric="bleu",
            statistics=list(each.statistics or ()),
        )
        for n, each in enumerate(measured)
    ]
    corpus = sacrebleu.corpus_bleu(candidates, [references]).score
    assert board(rows).loc["a", "micro"] == pytest.approx(corpus)
    assert board(rows).loc["a", "macro"] != pytest.approx(corpus)


def test_columns_are_apart_and_recipes_never_mix_in_one() -> None:
    columns = {
        ("full", "claim_recall", "j"): (0.4, "higher"),
        ("full", "claim_recall", "k"): (0.5, "higher"),
        ("full", "edit_distance", "none"): (0.3, "lower"),
        ("full", "rouge1_recall", "none"): (0.1, "higher"),
        ("subjective", "rouge1_recall", "none"): (0.2, "higher"),
    }
    rows = [
        score("d1", "a", value, part=part, metric=metric, judge=judge, recipe=judge)
        for (part, metric, judge), (value, _) in columns.items()
    ]
    results = board(rows).set_index(["part", "metric", "judge"])[["macro", "better"]]
    assert (
        dict(zip(results.index, results.itertuples(index=False), strict=True))
        == columns
    )
    rows = [
        score("d1", "a", 0.1, recipe="stemmer:no"),
        score("d1", "b", 0.1, recipe="stemmer:porter"),
        score("d1", "b", 0.1, metric="unheard_of"),
    ]
    with pytest.raises(BadInput) as error:
        board(rows)
    unknown, mixed = error.value.problems
    assert "'unheard_of'" in unknown
    assert "metric='rouge1_recall'" in mixed
    assert "2 recipes (stemmer:no; stemmer:porter)" in mixed


def test_order_of_rows_changes_no_byte_of_tables_as_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [
        score(
            f"d{n}", author, float(rng.random()), statistics=[float(rng.random()), 3.0]
        )
        for n in range(11)
        for author in ("a", "b", "reference")
        if rng.random() < 0.8
    ]
    frame = parquet.round_trip(SCORES, pd.DataFrame(rows))
    for name, order in (
        ("first", np.arange(len(frame))),
        ("again", rng.permutation(len(frame))),
    ):
        results = leaderboard(frame.iloc[order], DESCRIPTIONS, OPTIONS)
        parquet.write(LEADERBOARD, results, tmp_path / f"{name}.parquet")
    assert (tmp_path / "first.parquet").read_bytes() == (
        tmp_path / "again.parquet"
    ).read_bytes()
    assert leaderboard(parquet.empty(SCORES), DESCRIPTIONS, OPTIONS).empty
