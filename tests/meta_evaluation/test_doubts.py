"""Studies that are not as verdicts suppose, from frames to warnings and verdicts."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import metassay

FEW = {"resamples": 20, "permutations": 400}
# No system is a version of another one, and no two documents are of one topic.
ALONE = {"family": "system", "cluster": "doc_id"}


def effects(rng, systems, documents):
    return (
        0.7 * rng.normal(size=(systems, 1))
        + 0.5 * rng.normal(size=(1, documents))
        + rng.normal(size=(systems, documents))
    )


def frames(metrics, raters):
    """Scores and ratings of (systems, documents) matrices by name."""
    shape = next(iter(metrics.values())).shape
    names = [f"s{i:02}" for i in range(shape[0])], [f"d{i:03}" for i in range(shape[1])]
    keys = pd.DataFrame(product(*names), columns=["system", "doc_id"])
    scores = keys.assign(**{name: side.ravel() for name, side in metrics.items()})
    ratings = [
        keys.assign(rater=name, quality=side.ravel()).dropna(subset="quality")
        for name, side in raters.items()
    ]
    return scores, pd.concat(ratings, ignore_index=True)


def seen(rng, quality, names="ABC", bias=()):
    return {
        name: quality + 0.7 * rng.normal(size=quality.shape) + dict(bias).get(name, 0.0)
        for name in names
    }


def verdicts(results):
    rows = results.certificates[results.certificates["metric"] == "m"]
    return rows.set_index("level")


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(1)
    worse = np.where(np.arange(16) < 6, -4.0, 0.0)[:, None]
    metric = effects(rng, 16, 40) + worse
    people = seen(rng, effects(rng, 16, 40) + worse)
    return metassay.meta_eval(*frames({"m": metric}, people), **ALONE, **FEW)


def test_a_metric_that_knows_classes_of_systems_alone_is_explained_by_them(classes):
    rows = verdicts(classes)
    assert set(rows["verdict"]) == {"explained by classes of systems"}
    assert (rows["value"] > 0.4).all()
    assert (rows["without_apart"].abs() < 0.4).all()
    assert (rows["n_without_apart"] == 9).all()
    for sentence in rows["sentence"]:
        assert "is left within classes of systems" in sentence
        assert "Without the 7 systems that raters like least it is" in sentence
    (line,) = classes.warnings
    assert line.startswith(
        "Ratings set 7 of 16 systems apart (s00, s01, s02 and 4 more)."
    )


def test_a_metric_that_knows_classes_of_documents_alone_is_explained_by_them():
    rng = np.random.default_rng(2)
    worse = np.where(np.arange(40) * 7 % 40 < 15, -3.0, 0.0)[None, :]
    metric = effects(rng, 10, 40) + worse
    people = seen(rng, effects(rng, 10, 40) + worse)
    data = frames({"m": metric}, people)
    rows = verdicts(metassay.meta_eval(*data, **ALONE, **FEW))
    assert rows.loc["global", "verdict"] == "explained by classes of documents"
    assert "Without the 15 documents" in rows.loc["global", "sentence"]
    assert pd.isna(rows.loc["document", "classes"])


def test_a_good_metric_of_systems_that_differ_continuously_keeps_its_verdict():
    rng = np.random.default_rng(3)
    quality = effects(rng, 16, 40)
    metric = quality + 0.7 * effects(rng, 16, 40)
    results = metassay.meta_eval(*frames({"m": metric}, seen(rng, quality)), **FEW)
    assert results.warnings == ()
    assert set(verdicts(results)["verdict"]) == {"use"}


def test_a_reversed_rater_is_named_everywhere_and_nobody_is_compared(tmp_path, capsys):
    from metassay.cli.main import main

    rng = np.random.default_rng(4)
    quality = effects(rng, 8, 20)
    people = seen(rng, quality)
    people["C"] = -people["C"]
    metric = quality + effects(rng, 8, 20)
    scores, ratings = frames({"m": metric}, people)
    results = metassay.meta_eval(scores, ratings, **FEW)
    (line,) = results.warnings
    assert line.startswith("Rater C disagrees with everyone (mean Spearman −.")
    assert "reversed scale?" in line
    assert results.table("warnings")["kind"].tolist() == ["raters"]
    rows = verdicts(results)
    assert rows["rater"].isna().all()
    assert not rows["as_good_as_rater"].any()
    scores.to_csv(tmp_path / "scores.csv", index=False)
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    files = [str(tmp_path / name) for name in ("scores.csv", "ratings.csv")]
    out = tmp_path / "out"
    assert main(["meta-eval", *files, "--resamples", "20", "--out", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"WARNING: {line}" in printed
    assert line in (out / "page/data/head.js").read_text(encoding="utf-8")
    assert f"warning: {line}" in (out / "notes.txt").read_text(encoding="utf-8")
    # The remedy, followed.
    turned = ratings["rater"] == "C"
    mended = ratings.assign(
        quality=ratings["quality"].where(~turned, -ratings["quality"])
    )
    results = metassay.meta_eval(scores, mended, **FEW)
    assert results.warnings == ()
    assert verdicts(results)["rater"].notna().all()
    # Without scores it is said as well.
    assert metassay.meta_eval(ratings=ratings, resamples=20).warnings == (line,)


def test_one_who_rates_at_random_is_left_out_of_the_comparison():
    rng = np.random.default_rng(5)
    quality = effects(rng, 8, 40)
    people = seen(rng, quality)
    people["B"] = rng.normal(size=(8, 40))
    metric = {"m": quality + effects(rng, 8, 40)}
    results = metassay.meta_eval(*frames(metric, people), **FEW)
    (line,) = results.warnings
    assert line.startswith("Rater B agrees less with the other raters")
    alone = {name: people[name] for name in "AC"}
    without = metassay.meta_eval(*frames(metric, alone), **FEW)
    for level in ("global", "document"):
        of = verdicts(results).loc[level, "rater"]
        assert of == pytest.approx(verdicts(without).loc[level, "rater"])


def test_copies_are_told():
    rng = np.random.default_rng(6)
    people = {
        name: np.rint(side) for name, side in seen(rng, effects(rng, 6, 20)).items()
    }
    people["D"] = people["A"]
    scores, ratings = frames({"m": 2 * people["B"] - 3}, people)
    table = metassay.meta_eval(scores, ratings, **FEW).table("warnings")
    copied, metric = table[table["kind"] == "copies"]["finding"]
    assert copied.startswith("Raters A and D gave the same rating in all 120 texts")
    assert metric.startswith("Metric m equals the ratings of B in all 120 texts")


def test_raters_who_own_documents_are_strata():
    """Both sides give more in the second half, whose raters are others."""
    rng = np.random.default_rng(7)
    half = np.where(np.arange(40) < 20, 0.0, 1.5)[None, :]
    metric = effects(rng, 8, 40) + half
    quality = effects(rng, 8, 40)
    people = {
        name: np.where(half == (1.5 if name in "CD" else 0.0), side + half, np.nan)
        for name, side in seen(rng, quality, "ABCD").items()
    }
    results = metassay.meta_eval(*frames({"m": metric}, people), **FEW)
    assert results.warnings[0].startswith(
        "The documents fall into 2 sets that share no rater (A, B on 20 documents; C, D on"
    )
    assert results.designs["n_strata"].item() == 2
    assert abs(verdicts(results).loc["global", "value"]) < 0.25


def test_raters_who_own_systems_cannot_rank_them():
    rng = np.random.default_rng(8)
    batch = np.where(np.arange(12) < 6, 0.0, 3.0)[:, None]
    people = {
        name: np.where(batch == (3.0 if name in "CD" else 0.0), side + batch, np.nan)
        for name, side in seen(rng, effects(rng, 12, 40), "ABCD").items()
    }
    metric = {"m": effects(rng, 12, 40) + batch}
    results = metassay.meta_eval(*frames(metric, people), **ALONE, **FEW)
    assert (
        "The systems fall into 2 sets that share no rater (A, B rated"
        in results.warnings[0]
    )
    rows = verdicts(results)["verdict"]
    assert rows[["global", "document"]].tolist() == ["explained by raters"] * 2
    assert rows["system"] in ("explained by raters", "cannot tell")


def test_not_even_a_metric_that_is_right_ranks_systems_of_different_raters():
    rng = np.random.default_rng(8)
    batch = np.where(np.arange(12) < 6, 0.0, 3.0)[:, None]
    quality = effects(rng, 12, 40)
    people = {
        name: np.where(batch == (3.0 if name in "CD" else 0.0), side + batch, np.nan)
        for name, side in seen(rng, quality, "ABCD").items()
    }
    results = metassay.meta_eval(
        *frames({"m": quality + batch}, people), **ALONE, **FEW
    )
    assert "no metric gets more than `cannot tell`" in results.warnings[0]
    row = verdicts(results).loc["system"]
    assert row["verdict"] == "cannot tell"
    assert row["given_classes"] > 0.3
    assert row["advice"] == "let some raters rate all systems"
