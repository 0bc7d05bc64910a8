"""Invented studies from end to end: whom the certificates trust, and whom not."""

import numpy as np
import pytest

from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.evaluate import evaluate
from metassay.meta_evaluation.layouts import NO_GROUPS, Groups
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import NAMELESS
from metassay.meta_evaluation.verdicts import TRUSTED
from metassay.reporting.sentences import make_certificates
from tests.meta_evaluation import invented_study
from tests.meta_evaluation.invented_study import (
    CERTIFICATION,
    CRITERIA,
    only,
    tables_of,
)

OPTIONS = MetaOptions(resamples=20, permutations=400, confidence=0.95, seed=0)


def certified(raters, metrics, systems=None, groups=NO_GROUPS, **more):
    scores, ratings = tables_of(raters, metrics, systems)
    options = OPTIONS.model_copy(update=more)
    better = dict.fromkeys(scores["metric"], "higher")
    run = Evaluation(scores, ratings, CRITERIA, better, options, groups=groups)
    numbers = evaluate(run)["evidence"]
    table = make_certificates(numbers, CERTIFICATION)
    assert (table["trusted"] == table["verdict"].isin(TRUSTED)).all()
    return table


def world(rng, systems, documents, raters=1, of_system=1.0):
    """Quality by system, document and text, and what raters see of it."""
    quality = of_system * rng.normal(size=(systems, 1)) + 0.5 * rng.normal(
        size=documents
    )
    quality = quality + rng.normal(size=(systems, documents))
    return quality, quality + 0.7 * rng.normal(size=(raters, systems, documents))


def noise(rng, shape):
    """A metric with favourites of its own, and easy documents of its own, that knows nothing."""
    return (
        rng.normal(size=shape)
        + rng.normal(size=(shape[0], 1))
        + rng.normal(size=shape[1])
    )


def test_a_metric_that_only_knows_systems():
    rng = np.random.default_rng(0)
    quality, seen = world(rng, 16, 30)
    level = quality.mean(axis=1, keepdims=True)
    table = certified(seen, {"m": level + 0.3 * rng.normal(size=quality.shape)})
    # Whoever compares systems is helped; whoever compares texts of one system is told.
    for level in ("document", "global"):
        row = only(table, level=level)
        assert row["value"] > 0.3
        assert row["verdict"] in ("use", "promising")
        assert row["only_between_systems"]
        assert "It tells systems apart, not two texts of one system." in row["sentence"]
    row = only(table, level="system")
    assert (row["verdict"], row["shown_by"]) == ("use", "system")
    assert not row["only_between_systems"]


def test_what_rests_on_systems_or_documents_alone_is_said_and_the_remedy_settles_it():
    """Eight systems that may be versions; documents that may be of a few topics."""
    rng = np.random.default_rng(0)
    quality, seen = world(rng, 8, 30)
    metrics = {
        "systems": quality.mean(axis=1, keepdims=True) + 0.3 * noise(rng, (1, 30)),
        "documents": quality.mean(axis=0) + 0.3 * rng.normal(size=(8, 30)),
    }
    metrics["systems"] = metrics["systems"] + 0.3 * rng.normal(size=(8, 30))
    table = certified(seen, metrics)
    for metric, level in (("systems", "system"), ("documents", "global")):
        row = only(table, metric=metric, level=level)
        assert (row["verdict"], row["rests_on"]) == ("cannot tell", metric)
        assert np.isnan(row["needed_systems"])
        option = {"systems": "family", "documents": "cluster"}[metric]
        assert row["advice"].endswith(f"by {option}")
    apart = Groups({}, {f"d{i:03}": str(i) for i in range(30)}, {"s00": "s00"})
    table = certified(seen, metrics, groups=apart)
    for metric, level in (("systems", "system"), ("documents", "global")):
        row = only(table, metric=metric, level=level)
        assert row["p"] < 0.05
        assert row["rests_on"] is None


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "kendall_c"])
def test_a_good_metric_is_used_where_texts_are_compared(coefficient):
    rng = np.random.default_rng(1)
    quality, seen = world(rng, 10, 40, of_system=0.3)
    metrics = {"m": quality + 0.3 * rng.normal(size=quality.shape)}
    metrics |= {f"noise {i}": noise(rng, quality.shape) for i in range(4)}
    table = certified(seen, metrics, coefficient=coefficient)
    for level in ("global", "document"):
        row = only(table, metric="m", level=level)
        assert row["verdict"] == "use"
        assert row["corrected_low"] >= 0.3
    others = table[table["metric"] != "m"]
    assert not others["verdict"].isin([*TRUSTED, "promising"]).any()


def test_noise_is_not_trusted():
    """Ten metrics that know nothing: at each level at most 5 % of studies trust any of them."""
    rng = np.random.default_rng(3)
    options = OPTIONS.model_copy(update={"permutations": 200})
    trusted = 0
    for systems, documents in ((3, 10), (4, 20), (8, 12), (16, 10)) * 2:
        _, seen = world(rng, systems, documents)
        metrics = {f"noise {i}": noise(rng, (systems, documents)) for i in range(10)}
        table = invented_study.certified(*tables_of(seen, metrics), options=options)
        trusted += table["verdict"].isin([*TRUSTED, "promising"]).any()
    # Of 8 studies with three levels fewer than 1.2 are expected, 4 or more 2 % of the
    # time.
    assert trusted <= 3


def test_a_single_system_speaks_for_itself_alone():
    rng = np.random.default_rng(5)
    quality, seen = world(rng, 1, 60)
    metric = {"m": quality + 0.3 * rng.normal(size=quality.shape)}
    # Where there are no systems, only texts, documents are all that may be others.
    named, nameless = (
        only(certified(seen, metric, systems=[name]), level="global")
        for name in ("gpt", NAMELESS)
    )
    assert named["verdict"] == nameless["verdict"] == "these systems only"
    assert named["p"] < 0.05
    assert nameless["low"] == nameless["low_these_systems"] == named["low"] > 0.3


def test_texts_of_other_documents_each():
    """No document has two texts: what is shown is shown within systems or between many."""
    rng = np.random.default_rng(6)
    quality, seen = world(rng, 3, 90, of_system=2.0)
    nowhere = np.arange(90) % 3 != np.arange(3)[:, None]
    level = np.broadcast_to(quality.mean(axis=1, keepdims=True), quality.shape)
    metrics = {"m": quality, "systems": level + 0.1 * rng.normal(size=quality.shape)}
    # Scores of texts that nobody rated take no part.
    alone = {
        name: np.where(nowhere, np.nan, values) for name, values in metrics.items()
    }
    seen = np.where(nowhere, np.nan, seen)
    table, everywhere = certified(seen, alone), certified(seen, metrics)
    columns = ["value", "low", "high", "p", "verdict", "design"]
    assert table[columns].equals(everywhere[columns])
    assert set(table["design"]) == {"nested"}
    assert only(table, metric="m", level="global")["verdict"] == "promising"
    row = only(table, metric="systems", level="global")
    assert row["value"] > 0.5
    assert row["verdict"] == "cannot tell"
