from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from metassay.meta_evaluation import orderings
from metassay.meta_evaluation.orderings import CONFLICTS, DISAGREEMENTS
from metassay.tables.parquet import empty, read, write
from metassay.tables.scores import SCORES
from tests.meta_evaluation.invented_study import OPTIONS, only, scores_of

COMPARED = OPTIONS.model_copy(update={"compared": ["a", "b", "less", "length"], "annotate": 1000})
BETTER = {"a": "higher", "b": "higher", "less": "lower", "length": "neither"}


def by_hand():
    # In d1 a orders w < x < y < z and b has z lowest: z against each of the others, of which w and
    # z differ by 3 ranks of a and 1 of b. In d2 b ties x and y, w has no b, and nobody compares z.
    a = {("d1", "w"): 1, ("d1", "x"): 2, ("d1", "y"): 3, ("d1", "z"): 4}
    a |= {("d2", "w"): 1, ("d2", "x"): 2, ("d2", "y"): 3, ("d2", "reference"): 9}
    b = {("d1", "w"): 6, ("d1", "x"): 7, ("d1", "y"): 8, ("d1", "z"): 5}
    b |= {("d2", "w"): None, ("d2", "x"): 1, ("d2", "y"): 1, ("d2", "reference"): 0}
    return pd.concat([scores_of(a, metric="a"), scores_of(b, metric="b")])


def invented(seed=0, systems=5, documents=7):
    rng = np.random.default_rng(seed)
    frames = []
    for part in ("full", "plan"):
        for metric, judge in (("a", "none"), ("a", "nli"), ("less", "none"), ("length", "none")):
            values = {
                (f"d{d}", f"s{s}"): float(rng.integers(0, 6)) if rng.random() > 0.1 else None
                for d in range(documents)
                for s in range(systems)
            }
            frames.append(scores_of(values, metric=metric, judge=judge, part=part))
    return pd.concat(frames)


def looked_up(scores, part, label):
    metric, _, judge = label.partition(" (")
    rows = scores[
        (scores["part"] == part)
        & (scores["metric"] == metric)
        & (scores["judge"] == (judge.removesuffix(")") or "none"))
    ]
    sign = -1 if metric == "less" else 1
    values = zip(rows["doc_id"], rows["author"], rows["value"], strict=True)
    return {(d, s): sign * v for d, s, v in values if np.isfinite(v)}


def conflicts(*data):
    return orderings.conflicts(*data)[0]


def disagreements(*data):
    return orderings.conflicts(*data)[1]


def test_conflicts_by_hand():
    found = conflicts(by_hand(), BETTER, COMPARED)
    assert found.to_dict("records") == [
        {"part": "full", "metric_a": "a", "metric_b": "b", "doc_id": doc} | counts
        for doc, counts in (
            ("d1", {"n_pairs": 6, "n_disagreements": 3}),
            ("d2", {"n_pairs": 1, "n_disagreements": 0}),
        )
    ]


def test_disagreements_by_hand():
    found = disagreements(by_hand(), BETTER, COMPARED)
    assert (found["author_a"] == "z").all()  # a prefers z, b the other one
    assert dict(zip(found["author_b"], found["conflict"], strict=True)) == {"w": 4, "x": 4, "y": 4}
    assert set(found["doc_id"]) == {"d1"}
    assert set(found["metric_a"]) == {"a"}


def test_less_is_better_turns_the_metric():
    turned = by_hand().replace({"metric": {"b": "less"}})
    turned.loc[turned["metric"] == "less", "value"] *= -1
    expected = conflicts(by_hand(), BETTER, COMPARED)
    found = conflicts(turned, BETTER, COMPARED)
    assert set(found["metric_b"]) == {"less"}
    for column in ("n_pairs", "n_disagreements"):
        assert found[column].tolist() == expected[column].tolist()


def test_every_pair_against_a_loop():
    scores = invented()
    counted, drawn = conflicts(scores, BETTER, COMPARED), disagreements(scores, BETTER, COMPARED)
    labels = ["a", "a (nli)", "less"]
    assert len(counted) == 2 * 3 * 7
    pairs = {}
    for part in ("full", "plan"):
        for a, b in combinations(labels, 2):
            by_a, by_b = looked_up(scores, part, a), looked_up(scores, part, b)
            for doc in (f"d{d}" for d in range(7)):
                there = [s for d, s in sorted(by_a) if d == doc and (d, s) in by_b]
                rank_a, rank_b = (
                    dict(zip(there, scipy.stats.rankdata([of[doc, s] for s in there]), strict=True))
                    for of in (by_a, by_b)
                )
                against = [
                    (s, t)
                    for s in there
                    for t in there
                    if rank_a[s] > rank_a[t] and rank_b[s] < rank_b[t]
                ]
                row = only(counted, part=part, metric_a=a, metric_b=b, doc_id=doc)
                assert row["n_pairs"] == len(there) * (len(there) - 1) // 2
                assert row["n_disagreements"] == len(against)
                for s, t in against:
                    size = rank_a[s] - rank_a[t] + rank_b[t] - rank_b[s]
                    pairs[part, a, b, doc, s, t] = size
    found = drawn.set_index(list(DISAGREEMENTS.key))["conflict"].to_dict()
    assert found == pairs


@pytest.mark.parametrize("draw", ["largest", "uniform"])
def test_a_sample_is_drawn_per_part_and_pair_of_metrics(draw):
    scores = invented()
    options = COMPARED.model_copy(update={"annotate": 4, "draw": draw})
    every = disagreements(scores, BETTER, COMPARED)
    found = disagreements(scores, BETTER, options)
    columns = ["part", "metric_a", "metric_b"]
    assert (found.groupby(columns).size() == 4).all()
    assert found.merge(every, how="left", indicator=True)["_merge"].eq("both").all()
    largest = every.groupby(columns)["conflict"].nlargest(4).groupby(columns).sum()
    drawn = found.groupby(columns)["conflict"].sum()
    assert (drawn == largest).all() == (draw == "largest")
    reseeded = options.model_copy(update={"seed": 1})
    assert not disagreements(scores, BETTER, reseeded).equals(found)
    nobody = options.model_copy(update={"annotate": 0})
    assert len(disagreements(scores, BETTER, nobody)) == 0


def test_nothing_hangs_on_order_or_company(tmp_path):
    scores = invented()
    options = COMPARED.model_copy(update={"annotate": 4})
    two = scores[(scores["judge"] == "none") & (scores["part"] == "full")]
    for make, table in ((conflicts, CONFLICTS), (disagreements, DISAGREEMENTS)):
        alone = make(two, BETTER, options)
        beside = make(scores.sample(frac=1, random_state=1), BETTER, options)
        mine = beside[(beside["part"] == "full") & ~beside["metric_a"].str.contains("nli")]
        mine = mine[~mine["metric_b"].str.contains("nli")]
        write(table, alone, tmp_path / "alone.parquet")
        write(table, mine, tmp_path / "mine.parquet")
        assert (tmp_path / "alone.parquet").read_bytes() == (tmp_path / "mine.parquet").read_bytes()
        assert len(read(table, tmp_path / "mine.parquet")) == len(alone) > 0


def test_without_two_metrics_or_two_systems(tmp_path):
    scores = invented()
    none_compared = OPTIONS
    for make, table in ((conflicts, CONFLICTS), (disagreements, DISAGREEMENTS)):
        for found in (
            make(scores, BETTER, none_compared),
            make(empty(SCORES), BETTER, COMPARED),
            make(scores[scores["metric"].isin(["less", "length"])], BETTER, COMPARED),
        ):
            assert len(found) == 0
            write(table, found, tmp_path / "t.parquet")
    alone = scores[scores["author"] == "s0"]
    assert (
        (conflicts(alone, BETTER, COMPARED)[["n_pairs", "n_disagreements"]] == 0).to_numpy().all()
    )
    found = disagreements(alone, BETTER, COMPARED)
    assert len(found) == 0
    write(DISAGREEMENTS, found, tmp_path / "t.parquet")


def test_constants_disagree_with_nobody():
    scores = invented().assign(value=1.0)
    found = conflicts(scores, BETTER, COMPARED)
    assert (found["n_disagreements"] == 0).all()
    assert (found["n_pairs"] == 10).all()
    assert len(disagreements(scores, BETTER, COMPARED)) == 0
