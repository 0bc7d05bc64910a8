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


def score(doc_id: str, author: str, value: float | None, **others: Any) -> dict[str, Any]:
    row = {
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
    }
    return {**row, **others}


def board(rows: list[dict[str, Any]], options: LeaderboardOptions = OPTIONS) -> Any:
    """Rows of the leaderboard by author."""
    return (
        leaderboard(pd.DataFrame(rows), DESCRIPTIONS, options).set_index("author").to_dict("index")
    )


def test_by_hand() -> None:
    rows = [
        score("d1", "a", 1.0, statistics=[1, 1]),
        score("d2", "a", 0.5, statistics=[4, 8]),
        score("d3", "a", None, n_judged=0, n_failed=1),
        score("d4", "a", None, n_expected=0, n_judged=0, statistics=[0, 0]),
    ]
    found = board(rows)["a"]
    assert found["macro"] == 0.75  # (1 + .5) / 2: what failed is not 0
    assert found["micro"] == pytest.approx(5 / 9)  # (1 + 4) / (1 + 8)
    assert (found["n_documents"], found["n_undefined"]) == (4, 2)
    assert (found["n_expected"], found["n_failed"]) == (3, 1)
    assert found["better"] == "higher"
    assert found["recipe"] == "r"


def test_bounds_by_hand() -> None:
    # d1 is known. Of d2 half failed, all of d3, and of d4 nothing was expected.
    rows = [
        score("d1", "a", 1.0),
        score("d2", "a", 0.5, n_expected=2, n_failed=1, low=0.25, high=0.75),
        score("d3", "a", None, n_judged=0, n_failed=1, low=0.0, high=1.0),
        score("d4", "a", None, n_expected=0, n_judged=0),
    ]
    found = board(rows)["a"]
    assert (found["least"], found["most"]) == pytest.approx((1.25 / 3, 2.75 / 3))
    rows[2]["high"] = None  # a metric without an upper end
    found = board(rows)["a"]
    assert found["least"] == pytest.approx(1.25 / 3)
    assert np.isnan(found["most"])
    known = board(rows[:1])["a"]
    assert known["least"] == known["macro"] == known["most"] == 1


def tails(n: float, confidence: float = 0.95) -> tuple[float, float]:
    """The quantiles of a bootstrap of n things that are as far out as Student's t is."""
    reach = scipy.stats.t(n - 1).ppf((1 + confidence) / 2) * np.sqrt(n / (n - 1))
    return scipy.stats.norm.sf(reach), scipy.stats.norm.cdf(reach)


def test_interval_by_hand() -> None:
    # Two documents, drawn twice: the mean is 0, .5 or 1 with chances 1/4, 1/2 and 1/4. At 95 % the
    # interval reaches from 0 to 1; at 20 % it holds nothing but .5.
    rows = [score("d1", "a", 0.0), score("d2", "a", 1.0)]
    wide = board(rows)["a"]
    narrow = board(rows, LeaderboardOptions(resamples=1000, confidence=0.2, seed=7))["a"]
    assert (wide["low"], wide["high"]) == (0, 1)
    assert (narrow["low"], narrow["high"]) == (0.5, 0.5)


def test_interval_equals_scipys_percentile_bootstrap() -> None:
    values = np.random.default_rng(1).random(40)
    rows = [score(f"d{n:02}", "a", value) for n, value in enumerate(values.tolist())]
    found = board(rows)["a"]
    drawn = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=1000, method="percentile", rng=np.random.default_rng(7)
    ).bootstrap_distribution
    assert [found["low"], found["high"]] == pytest.approx(list(np.quantile(drawn, tails(40))))
    assert found["low"] < found["macro"] < found["high"]


def test_interval_equals_a_slow_loop_where_scores_are_missing() -> None:
    rng = np.random.default_rng(2)
    values = {"a": rng.random(9), "b": rng.random(9)}
    values["a"][[1, 4, 5]] = np.nan
    values["b"][:7] = np.nan
    rows = [
        score(f"d{n}", author, None if np.isnan(value) else float(value))
        for author, column in values.items()
        for n, value in enumerate(column)
    ]
    found = board(rows)
    draws = np.random.default_rng(7).integers(0, 9, (1000, 9))
    for author, column in values.items():
        means = []
        for draw in draws.tolist():
            drawn = [column[n] for n in draw if not np.isnan(column[n])]
            if drawn:
                means.append(sum(drawn) / len(drawn))
        ends = np.quantile(means, tails(np.isfinite(column).sum()))
        assert [found[author]["low"], found[author]["high"]] == pytest.approx(list(ends))
    assert len(means) < 1000  # some resamples had no score of b


def test_authors_share_their_resamples() -> None:
    # b is a and a constant: so is its interval, which two sets of draws would not give.
    values = np.random.default_rng(3).random(12).tolist()
    rows = [score(f"d{n}", "a", value) for n, value in enumerate(values)]
    rows += [score(f"d{n}", "b", value + 1) for n, value in enumerate(values)]
    found = board(rows)
    assert found["b"]["low"] == pytest.approx(found["a"]["low"] + 1)
    assert found["b"]["high"] == pytest.approx(found["a"]["high"] + 1)


@pytest.mark.parametrize("sizes", [[1] * 8, [4] * 8, [3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]])
def test_intervals_hold_the_mean_whatever_documents_share(sizes: list[int]) -> None:
    """Means of 400 authors, each of documents drawn anew, whose topic is half of a score."""
    rng, topic = np.random.default_rng(5), np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(size=(400, len(sizes)))[:, topic] + rng.normal(size=(400, topic.size))
    rows = [
        score(f"d{at:02}", f"a{author}", value)
        for author, each in enumerate(values.tolist())
        for at, value in enumerate(each)
    ]
    clusters = {f"d{at:02}": f"t{of}" for at, of in enumerate(topic)}
    found = leaderboard(pd.DataFrame(rows), DESCRIPTIONS, OPTIONS, clusters)
    holds = ((found["low"] <= 0) & (found["high"] >= 0)).mean()
    assert holds > 0.92
    if topic.size > len(sizes):
        alone = leaderboard(pd.DataFrame(rows), DESCRIPTIONS, OPTIONS)
        assert ((alone["low"] <= 0) & (alone["high"] >= 0)).mean() < holds - 0.05


def test_clusters_are_those_given_and_copies() -> None:
    values = {"d1": [0.11, 0.52, 0.73], "d2": [0.24, 0.35, 0.91], "d3": [0.11, 0.52, 0.73]}
    values |= {f"e{n}": list(np.random.default_rng(n).random(3)) for n in range(12)}
    rows = [
        score(doc, author, value)
        for doc, each in values.items()
        for author, value in zip("abc", each, strict=True)
    ]
    given = {"e0": "x", "e1": "x", "d2": "y", "e2": "", "e3": "e4"}
    found = document_clusters(pd.DataFrame(rows), given).set_index("doc_id")["cluster"]
    assert found["d1"] == found["d3"] == "d1"  # a copy
    assert (found["e0"], found["e1"], found["d2"]) == ("x", "x", "y")
    assert found["e2"] == "e2"
    assert found["e3"] != found["e4"]  # a label that is another document's id
    assert found.nunique() == 13


def test_micro_of_bleu_is_corpus_bleu() -> None:
    candidates = ["the knee hurts a lot today", "no fever was found", "he is well"]
    references = ["the knee hurts a lot", "no fever at all was found", "he feels well now"]
    options = bleu.BleuOptions(tokenize="13a", lowercase=False)
    measured = bleu.measure(candidates, references, options)["bleu"]
    rows = [
        score(f"d{n}", "a", one.value, metric="bleu", statistics=list(one.statistics or ()))
        for n, one in enumerate(measured)
    ]
    corpus = sacrebleu.corpus_bleu(candidates, [references]).score
    assert board(rows)["a"]["micro"] == pytest.approx(corpus)
    assert board(rows)["a"]["macro"] != pytest.approx(corpus)


def test_what_is_undefined_stays_undefined() -> None:
    rows = [score("d1", "a", None, statistics=[0, 0]), score("d2", "a", None)]
    rows += [score("d1", "b", 0.5), score("d2", "b", None)]
    found = board(rows)
    assert all(np.isnan(found["a"][name]) for name in ("macro", "low", "high", "micro"))
    assert found["b"]["macro"] == 0.5
    assert np.isnan(found["b"]["low"])  # one document has no interval
    assert np.isnan(found["b"]["high"])


def test_columns_are_kept_apart() -> None:
    rows = [
        score("d1", "a", 0.1),
        score("d1", "a", 0.2, part="subjective"),
        score("d1", "a", 0.3, metric="edit_distance", recipe="e"),
        score("d1", "a", 0.4, metric="claim_recall", judge="one", recipe="one"),
        score("d1", "a", 0.5, metric="claim_recall", judge="two", recipe="two"),
    ]
    found = leaderboard(pd.DataFrame(rows), DESCRIPTIONS, OPTIONS)
    keys = found[["part", "metric", "judge", "author"]].itertuples(index=False, name=None)
    assert dict(zip(keys, zip(found["macro"], found["better"], strict=True), strict=True)) == {
        ("full", "claim_recall", "one", "a"): (0.4, "higher"),
        ("full", "claim_recall", "two", "a"): (0.5, "higher"),
        ("full", "edit_distance", "none", "a"): (0.3, "lower"),
        ("full", "rouge1_recall", "none", "a"): (0.1, "higher"),
        ("subjective", "rouge1_recall", "none", "a"): (0.2, "higher"),
    }


def test_order_of_rows_changes_no_byte(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [
        score(f"d{n}", author, float(rng.random()), statistics=[float(rng.random()), 3.0])
        for n in range(11)
        for author in ("a", "b", "reference")
        if rng.random() < 0.8
    ]
    frame = pd.DataFrame(rows)
    for name, order in (("once", np.arange(len(frame))), ("again", rng.permutation(len(frame)))):
        found = leaderboard(frame.iloc[order], DESCRIPTIONS, OPTIONS)
        parquet.write(LEADERBOARD, found, tmp_path / f"{name}.parquet")
    assert (tmp_path / "once.parquet").read_bytes() == (tmp_path / "again.parquet").read_bytes()


def test_tables_as_read_go_in_and_tables_come_out(tmp_path: Path) -> None:
    rows = [score("d1", "a", 0.5, statistics=[1, 2]), score("d2", "a", None)]
    parquet.write(SCORES, pd.DataFrame(rows), tmp_path / "scores.parquet")
    found = leaderboard(parquet.read(SCORES, tmp_path / "scores.parquet"), DESCRIPTIONS, OPTIONS)
    parquet.write(LEADERBOARD, found, tmp_path / "leaderboard.parquet")
    assert parquet.read(LEADERBOARD, tmp_path / "leaderboard.parquet")["micro"].tolist() == [0.5]
    assert leaderboard(parquet.empty(SCORES), DESCRIPTIONS, OPTIONS).empty


def test_recipes_never_mix_in_one_column() -> None:
    rows = [
        score("d1", "a", 0.1, recipe="stemmer:no"),
        score("d1", "b", 0.1, recipe="stemmer:porter"),
        score("d1", "b", 0.1, metric="unheard_of"),
    ]
    with pytest.raises(BadInput) as error:
        leaderboard(pd.DataFrame(rows), DESCRIPTIONS, OPTIONS)
    unknown, mixed = error.value.problems
    assert "'unheard_of'" in unknown
    assert "metric='rouge1_recall'" in mixed
    assert "2 recipes (stemmer:no; stemmer:porter)" in mixed
