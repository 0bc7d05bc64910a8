"""All tables together: what must not change them, and that they can be written."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.evaluate import evaluate
from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.contract_page import TABLES
from metassay.reporting.sentences import make_certificates
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.parquet import empty, round_trip
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    OPTIONS,
    rate,
    ratings_of,
    scores_of,
    table_of,
    tables_of,
)

QUICK = OPTIONS.model_copy(
    update={
        "resamples": 20,
        "permutations": 20,
        "compared": ["a", "b", "z"],
        "annotate": 3,
    }
)
BETTER = {"a": "higher", "b": "higher", "words": "neither", "z": "higher"}
OTHER_END = {"low": "high", "high": "low"}
OTHER_END |= {
    f"{end}_these_systems": f"{other}_these_systems" for end, other in OTHER_END.items()
}
VALUE = st.integers(0, 3) | st.none()  # ties and gaps, constants and nothing at all
ONE_RATING = ratings_of(
    rate("grade", "s0", "d0", "amy", 1), rate("grade", "s1", "d0", "amy", 2)
)
ONE_DOCUMENT = scores_of({("d0", "s0"): 1.0, ("d0", "s1"): 2.0}, metric="a")


@st.composite
def studies(draw):
    """Scores of two metrics and lengths, and two raters, of up to three systems and documents."""
    systems, documents = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    texts = [(f"d{d}", f"s{s}") for d in range(documents) for s in range(systems)]

    def values(more=0):
        drawn = {text: draw(VALUE) for text in texts}
        return {
            text: None if v is None else float(v + more) for text, v in drawn.items()
        }

    scores = table_of({name: values() for name in ("a", "b", "words")})
    rated = [
        rate("grade", author, doc, rater, value)
        for rater in ("amy", "bob")
        for (doc, author), value in values(1).items()
    ]
    return scores.astype({"value": "float64"}), ratings_of(*rated)


def tables_for(scores, ratings, better=BETTER, options=QUICK, **more):
    return evaluate(Evaluation(scores, ratings, CRITERIA, better, options, **more))


def assert_same(tables, expected, negated=()):
    """Equal tables; the columns in `negated` have the other sign."""
    for name, table in expected.items():
        assert list(tables[name].columns) == list(table.columns)
        for column in table.columns:
            ours, theirs = tables[name][column], table[column]
            if pd.api.types.is_numeric_dtype(theirs):
                sign = -1.0 if column in negated else 1.0
                ours, theirs = (x.to_numpy(dtype=float) for x in (ours, theirs))
                assert ours == pytest.approx(sign * theirs, abs=1e-9, nan_ok=True), (
                    name,
                    column,
                )
            else:
                assert list(ours.fillna("")) == list(theirs.fillna("")), (name, column)


def without(tables, **columns):
    """The tables without columns that may change, and without corrections of verdicts alone.

    4 times 0 or 1, or its negative, is no verdict.
    """
    tables = {
        **tables,
        "corrected": tables["corrected"].query("method == 'prediction_powered'"),
    }
    tables |= {
        name: tables[name].drop(columns=of_table) for name, of_table in columns.items()
    }
    return {name: table.reset_index(drop=True) for name, table in tables.items()}


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(study=studies(), seed=st.integers(0, 99))
def test_what_must_not_change_the_tables_does_not(study, seed):
    """All on the same draws, whose tables take a tenth of a second each."""
    scores, ratings = study
    expected = tables_for(*study)
    in_other_order = (frame.sample(frac=1, random_state=seed) for frame in study)
    assert_same(tables_for(*in_other_order), expected)

    def times(factor):
        value = scores["value"]
        return scores.assign(value=value.where(scores["metric"] != "a", factor * value))

    larger = tables_for(times(4), ratings)
    changing = {"evidence": ["epsilon"], "corrected": ["metric_mean", "weight"]}
    assert_same(without(larger, **changing), without(expected, **changing))
    turned = tables_for(times(-1), ratings, {**BETTER, "a": "lower"})
    both = [without(tables, corrected=["metric_mean"]) for tables in (turned, expected)]
    for tables in both:  # the true sign is in this table alone
        tables["correlations"] = tables["correlations"].query("metric != 'a'")
    assert_same(*both)
    ours, theirs = (
        tables["correlations"].query("metric == 'a'").reset_index(drop=True)
        for tables in (tables_for(times(-1), ratings), expected)
    )
    ends = ours.rename(columns=OTHER_END)[list(theirs.columns)]
    assert_same({"c": ends}, {"c": theirs}, negated=("value", *OTHER_END))
    # All can be written, and the verdicts are the same whether their numbers came from
    # a file.
    stored = {name: round_trip(TABLES[name], table) for name, table in expected.items()}
    assert {name: len(table) for name, table in stored.items()} == {
        name: len(table) for name, table in expected.items()
    }
    certificates = (
        round_trip(
            CERTIFICATES, make_certificates(tables["evidence"], CertificationOptions())
        )
        for tables in (expected, stored)
    )
    pd.testing.assert_frame_equal(*certificates)


# What is adjusted for all metrics hangs on them, by design; nothing else does.
ADJUSTED = {
    "confounds": {"p"},
    "significance": {"p_holm", "p_benjamini_hochberg"},
    "evidence": {
        "corrected",
        "corrected_low",
        "corrected_high",
        "joint_confidence",
        "p",
    }
    | {
        "against_rater_low",
        "against_rater_high",
        "given_confound_p",
        "within_systems_p",
    }
    | {"shown_by", "rests_on", "n_tried"},
}


def test_nothing_else_hangs_on_company():
    """Another metric and another study leave every row as it was."""
    rng = np.random.default_rng(2)
    quality = rng.normal(size=(4, 9))
    metrics = {name: quality + rng.normal(size=quality.shape) for name in BETTER}
    scores, ratings = tables_of(np.rint(quality + rng.normal(size=(2, 4, 9))), metrics)
    alone = tables_for(scores[scores["metric"] != "z"], ratings)
    others = pd.concat([ratings, ratings.assign(study="s0")]).sample(
        frac=1, random_state=2
    )
    beside = tables_for(scores, others)
    alone["ensembles"] = alone["ensembles"].query("kind == 'subset'")
    beside["ensembles"] = beside["ensembles"].query("kind == 'subset'")
    for name, table in alone.items():
        of_tables = [round_trip(TABLES[name], frame) for frame in (table, beside[name])]
        ours, theirs = (
            frame.drop(columns=ADJUSTED.get(name, set())) for frame in of_tables
        )
        if "study" in theirs:
            theirs = theirs[theirs["study"] == "s1"]
        named = theirs.columns.intersection(
            ["metric", "metric_a", "metric_b", "second", "members"]
        )
        of_z = theirs[named].astype(str).apply(lambda column: column.str.contains("z"))
        theirs = theirs[~of_z.any(axis=1)].reset_index(drop=True)
        pd.testing.assert_frame_equal(ours.reset_index(drop=True), theirs)
    p = [
        tables["evidence"].query("metric == 'a' and study == 's1'")["p"]
        for tables in (beside, alone)
    ]
    assert (p[0].to_numpy() >= p[1].to_numpy()).all()


@pytest.mark.parametrize("empty_metric", ["b", "words"])
def test_a_metric_that_scored_no_rated_text_of_several_strata_is_unknown(empty_metric):
    rng = np.random.default_rng(3)
    human, *values = rng.normal(size=(4, 4, 8))
    human[:2, 4:] = human[2:, :4] = np.nan  # two sets of systems and documents
    metrics = dict(zip(("a", "b", "words"), values, strict=True))
    metrics[empty_metric] = np.where(np.isfinite(human), np.nan, metrics[empty_metric])
    tables = tables_for(*tables_of([human], metrics))
    of_empty = tables["correlations"].query("metric == @empty_metric")
    assert len(of_empty) == 3 * 4
    assert of_empty[["value", "low", "high", "p"]].isna().all(axis=None)
    assert (of_empty["n"] == 0).all()
    assert set(tables["designs"]["n_strata"]) == {2}


def test_the_seed_changes_what_is_drawn_alone():
    rng = np.random.default_rng(1)
    human = rng.normal(size=(3, 6))
    study = tables_of(
        [human], {"a": human + rng.normal(size=(3, 6)), "b": rng.normal(size=(3, 6))}
    )
    plain, again = (
        tables_for(*study, options=QUICK.model_copy(update={"seed": seed}))
        for seed in (0, 1)
    )
    # Intervals of correlations leave out and draw nothing; only the orders tried hang
    # on the seed.
    ours, theirs = plain["correlations"], again["correlations"]
    pd.testing.assert_frame_equal(ours.drop(columns="p"), theirs.drop(columns="p"))
    assert (ours["p"].dropna() != theirs["p"].dropna()).any()
    drawn = plain["significance"]["test"] == "bootstrap_documents"
    assert (plain["significance"]["low"] != again["significance"]["low"])[drawn].any()


def test_without_ratings_or_scores_every_table_is_empty_but_conflicts():
    without_scores = tables_for(empty(SCORES), ONE_RATING)
    # Who was rated on what is known without any score.
    assert len(without_scores.pop("designs")) == 1
    for tables in (tables_for(ONE_DOCUMENT, empty(RATINGS)), without_scores):
        for name, frame in tables.items():
            assert len(round_trip(TABLES[name], frame)) == 0, name


def test_progress_is_told_by_table():
    lines = []
    watch = lambda table: lambda done, total: lines.append((table, done, total))  # noqa: E731
    tables_for(ONE_DOCUMENT, ONE_RATING, progress=watch)
    tests = [("tests", level, 3) for level in (1, 2, 3)]
    evidence = [("evidence", level, 3) for level in (1, 2, 3)]
    assert lines == [*tests, ("correlations", 1, 1), *evidence]


def test_metrics_that_the_leaderboard_does_not_have_are_named():
    scores = table_of({name: {("d0", "s0"): 1.0} for name in ("a", "new", "other")})
    with pytest.raises(BadInput) as caught:
        tables_for(scores, ONE_RATING)
    lines = [line.partition(" is not in")[0] for line in caught.value.problems]
    assert lines == ["scores: metric 'new'", "scores: metric 'other'"]


def test_many_pairs_are_told_before_anything_is_computed_where_somebody_watches(
    capsys, monkeypatch
):
    texts = {("d0", f"s{number}"): float(number) for number in range(3)}
    scores = table_of({"a": texts, "b": texts})
    monkeypatch.setattr("metassay.meta_evaluation.evaluate.MANY_PAIRS", 2)

    def watch(table):
        assert (
            "3 pairs of systems and 1 pairs of metrics are compared"
            in capsys.readouterr().err
        )
        raise InterruptedError

    with pytest.raises(InterruptedError):
        tables_for(scores, ONE_RATING, progress=watch)
    tables_for(scores, ONE_RATING)
    assert not capsys.readouterr().err


def test_a_primary_metric_that_is_none_is_refused_and_one_that_is_there_is_tested_first():
    human = np.arange(9.0).reshape(3, 3) % 5 + 1
    study = tables_of([human], {"a": np.arange(9.0).reshape(3, 3)})
    assert tables_for(*study, options=QUICK.model_copy(update={"primary": "a"}))
    with pytest.raises(
        BadInput, match=r"primary metric 'b': no metric is called that; .*: 'a'"
    ):
        tables_for(*study, options=QUICK.model_copy(update={"primary": "b"}))
