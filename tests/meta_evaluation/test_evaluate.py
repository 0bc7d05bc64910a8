"""All tables together: what must not change them, and that they can be written."""

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
from metassay.tables.parquet import empty, read, write
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.meta_evaluation.invented_study import CRITERIA, OPTIONS, rate, ratings_of, scores_of

QUICK = OPTIONS.model_copy(
    update={"resamples": 20, "permutations": 20, "compared": ["a", "b"], "annotate": 3}
)
BETTER = {"a": "higher", "b": "higher", "words": "neither"}
OTHER_END = {
    f"{one}{of}": f"{other}{of}"
    for one, other in (("low", "high"), ("high", "low"))
    for of in ("", "_these_systems")
}
VALUE = st.integers(0, 3) | st.none()  # ties and gaps, constants and nothing at all


@st.composite
def tables(draw):
    """Scores of two metrics and lengths, and two raters, of up to three systems and documents."""
    systems, documents = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    texts = [(f"d{d}", f"s{s}") for d in range(documents) for s in range(systems)]
    values = {
        name: {text: draw(VALUE) for text in texts} for name in ("a", "b", "words", "amy", "bob")
    }
    scores = pd.concat(
        [
            scores_of({text: _number(v) for text, v in values[name].items()}, metric=name)
            for name in BETTER
        ]
    )
    rated = [
        rate("grade", author, doc, rater, _number(values[rater][doc, author], 1))
        for rater in ("amy", "bob")
        for doc, author in texts
    ]
    return scores.astype({"value": "float64"}), ratings_of(*rated)


def _number(value, more=0):
    return None if value is None else float(value + more)


def made(scores, ratings, better=BETTER):
    return evaluate(Evaluation(scores, ratings, CRITERIA, better, QUICK))


def same(found, expected, negated=()):
    """Equal tables; the columns in `negated` have the other sign."""
    for name, table in expected.items():
        assert list(found[name].columns) == list(table.columns)
        for column in table.columns:
            one, other = found[name][column], table[column]
            if pd.api.types.is_numeric_dtype(other):
                sign = -1.0 if column in negated else 1.0
                left, right = (x.to_numpy(dtype=float) for x in (one, other))
                assert left == pytest.approx(sign * right, abs=1e-9, nan_ok=True), (name, column)
            else:
                assert list(one.fillna("")) == list(other.fillna("")), (name, column)


def _powered(made_tables):
    """Without what there is of verdicts alone: 4 times 0 or 1, or its negative, is none."""
    return made_tables["corrected"].query("method == 'prediction_powered'").reset_index(drop=True)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(given_tables=tables(), seed=st.integers(0, 99))
def test_what_must_not_change_the_tables_does_not(tmp_path_factory, given_tables, seed):
    """All on the same draws, whose tables take a tenth of a second each."""
    expected = made(*given_tables)
    the_order_of_rows_changes_nothing(expected, *given_tables, seed)
    a_metric_times_a_positive_number_is_the_same_metric(expected, *given_tables)
    the_negated_metric_is_the_same_if_less_is_better(expected, *given_tables)
    the_negated_metric_has_the_negated_correlation(expected, *given_tables)
    every_table_can_be_written(expected, tmp_path_factory.mktemp("tables"))


def the_order_of_rows_changes_nothing(expected, scores, ratings, seed):
    shuffled = made(
        scores.sample(frac=1, random_state=seed), ratings.sample(frac=1, random_state=seed)
    )
    same(shuffled, expected)


def times(scores, factor):
    """The scores, those of metric a times a factor."""
    return scores.assign(
        value=scores["value"].where(scores["metric"] != "a", factor * scores["value"])
    )


def a_metric_times_a_positive_number_is_the_same_metric(expected, scores, ratings):
    found, expected = made(times(scores, 4), ratings), dict(expected)
    for tables_ in (found, expected):
        tables_["evidence"] = tables_["evidence"].drop(columns="epsilon")
        tables_["corrected"] = _powered(tables_).drop(columns=["metric_mean", "weight"])
    same(found, expected)


def the_negated_metric_is_the_same_if_less_is_better(expected, scores, ratings):
    found = made(times(scores, -1), ratings, {**BETTER, "a": "lower"})
    expected = dict(expected)
    for tables_ in (found, expected):
        tables_["corrected"] = _powered(tables_).drop(columns="metric_mean")
        # The true sign is in this table alone.
        tables_["correlations"] = tables_["correlations"].query("metric != 'a'")
    same(found, expected)


def the_negated_metric_has_the_negated_correlation(expected, scores, ratings):
    mine = [
        tables_["correlations"].query("metric == 'a'").reset_index(drop=True)
        for tables_ in (made(times(scores, -1), ratings), expected)
    ]
    ends = mine[0].rename(columns=OTHER_END)[list(mine[1].columns)]
    same({"c": ends}, {"c": mine[1]}, negated=("value", *OTHER_END))


def every_table_can_be_written(tables_, folder):
    for name, frame in tables_.items():
        write(TABLES[name], frame, folder / f"{name}.parquet")
        assert len(read(TABLES[name], folder / f"{name}.parquet")) == len(frame)
    # The verdicts are the same whether their numbers came from a file or not.
    for name, numbers in (
        ("fresh", tables_["evidence"]),
        ("read", read(TABLES["evidence"], folder / "evidence.parquet")),
    ):
        write(CERTIFICATES, make_certificates(numbers, CertificationOptions()), folder / name)
    assert (folder / "fresh").read_bytes() == (folder / "read").read_bytes()


def test_without_ratings_or_scores_every_table_is_empty_but_conflicts(tmp_path):
    ratings = ratings_of(rate("grade", "s0", "d0", "amy", 1), rate("grade", "s1", "d0", "amy", 2))
    scores = scores_of({("d0", "s0"): 1.0, ("d0", "s1"): 2.0}, metric="a")
    without_ratings, without_scores = made(scores, empty(RATINGS)), made(empty(SCORES), ratings)
    # Who was rated on what is known without any score.
    assert len(without_scores.pop("designs")) == 1
    for found in (without_ratings, without_scores):
        for name, frame in found.items():
            write(TABLES[name], frame, tmp_path / f"{name}.parquet")
            assert len(frame) == 0, name


def test_progress_is_told_by_table():
    ratings = ratings_of(rate("grade", "s0", "d0", "amy", 1), rate("grade", "s1", "d0", "amy", 2))
    scores = scores_of({("d0", "s0"): 1.0, ("d0", "s1"): 2.0}, metric="a")
    told = []
    watch = lambda table: lambda done, total: told.append((table, done, total))  # noqa: E731
    evaluate(Evaluation(scores, ratings, CRITERIA, BETTER, QUICK, progress=watch))
    tests = [("tests", level, 3) for level in (1, 2, 3)]
    evidence = [("evidence", level, 3) for level in (1, 2, 3)]
    assert told == [*tests, ("correlations", 1, 1), *evidence]


def test_metrics_that_the_leaderboard_does_not_have_are_named():
    texts = {("d0", "s0"): 1.0}
    scores = pd.concat([scores_of(texts, metric=name) for name in ("a", "new", "other")])
    with pytest.raises(BadInput) as caught:
        made(scores, ratings_of(rate("grade", "s0", "d0", "amy", 1.0)))
    assert [line.split(" is not in")[0] for line in caught.value.problems] == [
        "scores: metric 'new'",
        "scores: metric 'other'",
    ]


def test_many_pairs_are_told_before_anything_is_made_where_somebody_watches(capsys, monkeypatch):
    ratings = ratings_of(rate("grade", "s0", "d0", "amy", 1), rate("grade", "s1", "d0", "amy", 2))
    texts = {("d0", f"s{number}"): float(number) for number in range(3)}
    scores = pd.concat([scores_of(texts, metric=name) for name in ("a", "b")])
    monkeypatch.setattr("metassay.meta_evaluation.evaluate.MANY_PAIRS", 2)

    def watch(table):
        assert "3 pairs of systems and 1 pairs of metrics are compared" in capsys.readouterr().err
        raise InterruptedError

    with pytest.raises(InterruptedError):
        evaluate(Evaluation(scores, ratings, CRITERIA, BETTER, QUICK, progress=watch))
    evaluate(Evaluation(scores, ratings, CRITERIA, BETTER, QUICK))
    assert not capsys.readouterr().err


def test_a_primary_metric_that_is_none_is_refused_and_one_that_is_there_is_tested_first():
    texts = [(f"d{d}", f"s{s}") for d in range(3) for s in range(3)]
    scores = scores_of({text: float(n) for n, text in enumerate(texts)}, metric="a")
    ratings = ratings_of(
        *(rate("grade", s, d, "amy", 1.0 + n % 5) for n, (d, s) in enumerate(texts))
    )
    for primary in ("a", "b"):
        given_ = Evaluation(
            scores, ratings, CRITERIA, BETTER, QUICK.model_copy(update={"primary": primary})
        )
        if primary == "a":
            assert evaluate(given_)
            continue
        with pytest.raises(
            BadInput, match=r"primary metric 'b': no metric is called that; .*: 'a'"
        ):
            evaluate(given_)
