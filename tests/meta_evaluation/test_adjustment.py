"""What is adjusted together: metrics, criteria, and metrics that were tried elsewhere."""

import numpy as np
import pytest

from metassay.core.errors import BadInput
from metassay.meta_evaluation.adjustment import adjust, count_tried, families, together
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.evaluate import evaluate
from metassay.meta_evaluation.exact_tests import run_tests
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics.independence import Independence, step_down
from metassay.statistics.jackknife import deviations, joint_confidence, leave_out
from tests.calibration.worlds import study_of
from tests.meta_evaluation.invented_study import CRITERIA, study, table_of

SHAPE = (5, 8)
NAN = np.nan


def options(**more):
    settings = {"resamples": 1, "permutations": 100, "confidence": 0.95, "seed": 0}
    return MetaOptions(**{**settings, **more})


def group(criteria=2, metrics=3):
    """A study by several criteria; the last metric says nothing of better."""
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=SHAPE) for _ in range(metrics)]
    studies = []
    for number in range(criteria):
        one_criterion = study_of(scores, rng.normal(size=(1, *SHAPE)))
        *directed, last = one_criterion.metrics
        named = (*directed, last._replace(better="neither"))
        criterion = f"c{number}"
        studies.append(one_criterion._replace(criterion=criterion, metrics=named))
    return studies


def listed(*family):
    return [np.array(mask, dtype=bool).tolist() for mask in family]


def of_options(**more):
    return [listed(*family) for family in families(group(), options(**more))]


def test_families_by_hand():
    both, none = [1, 1, 0], [0, 0, 0]
    assert of_options() == [listed(both, both)]
    first = [1, 0, 0]
    assert of_options(primary="m00") == [listed(both, both), listed(first, first)]
    assert of_options(primary_criterion="c1") == [
        listed(both, both),
        listed(none, both),
    ]
    assert of_options(primary="m00", primary_criterion="c1") == [
        listed(both, both),
        listed(first, first),
        listed(none, both),
        listed(none, first),
    ]
    # What was fitted on the ratings, and what has no better end, is tried by nobody.
    assert of_options(fitted=["m00"]) == [listed([0, 1, 0], [0, 1, 0])]
    assert of_options(fitted=["m00", "m01"]) == []


def tried(**more):
    return [counts.tolist() for counts in count_tried(group(), options(**more))]


def test_how_many_were_tried_by_hand():
    four = [4, 4, pytest.approx(NAN, nan_ok=True)]
    assert tried() == [four, four]
    assert [counts[:2] for counts in tried(primary="m00")] == [[2, 4], [2, 4]]
    by_criterion = tried(primary_criterion="c1")
    assert [counts[:2] for counts in by_criterion] == [[4, 4], [2, 2]]
    both = tried(primary="m00", primary_criterion="c1")
    assert [counts[:2] for counts in both] == [[2, 4], [1, 2]]
    assert [counts[:2] for counts in tried(tried=30)] == [[120, 120]] * 2


def statistics(seed, orders=50):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(3, 2, orders))
    values[:, :, 0] += 2
    return values


def test_p_of_criteria_are_adjusted_as_those_of_metrics():
    values = [statistics(0), statistics(1)]
    tests = [Independence(of_study, False) for of_study in values]
    rows = np.concatenate([of_study[:2].reshape(4, -1) for of_study in values])
    expected = step_down(rows).reshape(2, 2, 2)
    p = adjust(group(), tests, options())
    for place, of_study in enumerate(p):
        np.testing.assert_array_equal(of_study[:2], expected[place])
        assert np.isnan(of_study[2]).all()
    # Each alone has a smaller p, and the primary criterion has that.
    alone = step_down(values[1][:2].reshape(4, -1)).reshape(2, 2)
    _, named = adjust(group(), tests, options(primary_criterion="c1"))
    np.testing.assert_array_equal(named[:2], alone)
    assert (p[1][:2] >= alone).all()
    # Best of 30 that were tried: as if 30 had been tested.
    _, of_thirty = adjust(group(), tests, options(tried=30))
    np.testing.assert_allclose(of_thirty[:2], 1 - (1 - expected[1]) ** 30)


def test_orders_that_are_not_the_same_are_adjusted_apart():
    values = [statistics(0), statistics(1, orders=24)]
    tests = [Independence(of_study, False) for of_study in values]
    p = adjust(group(), tests, options())
    for of_study, expected in zip(p, values, strict=True):
        alone = step_down(expected[:2].reshape(4, -1)).reshape(2, 2)
        np.testing.assert_array_equal(of_study[:2], np.minimum(1, 2 * alone))
    # A criterion without such a test takes part in nothing.
    p, nothing = adjust(group(), [tests[0], None], options())
    alone = step_down(values[0][:2].reshape(4, -1)).reshape(2, 2)
    np.testing.assert_array_equal(p[:2], alone)
    assert np.isnan(nothing).all()


def lefts(studies):
    return [
        leave_out(s.values(s.metrics), s.oriented, "global", "pearson", s.layout)
        for s in studies
    ]


def rng():
    return np.random.default_rng(0)


def test_intervals_hold_for_all_criteria_at_once():
    studies = group()
    each = lefts(studies)
    moves = np.concatenate([deviations(left.take([0, 1])) for left in each])
    expected = joint_confidence(moves, confidence=0.95, rng=rng())
    for of_study in together(studies, each, options(), rng):
        assert of_study[:2].tolist() == [expected, expected]
        assert np.isnan(of_study[2])
    one_criterion = joint_confidence(moves[2:], confidence=0.95, rng=rng())
    assert 0.95 < one_criterion < expected
    _, named = together(studies, each, options(primary_criterion="c1"), rng)
    assert named[:2].tolist() == [one_criterion] * 2
    both = options(primary="m00", primary_criterion="c1")
    assert together(studies, each, both, rng)[1][0] == 0.95
    of_thirty = together(studies, each, options(tried=30), rng)
    assert of_thirty[0][0] == pytest.approx(expected ** (1 / 30))
    # Criteria of other texts count as independent, which asks for more.
    other = studies[1]._replace(documents=studies[1].documents + "x")
    apart = together([studies[0], other], each, options(), rng)
    assert apart[0][0] > expected - 0.001


def test_criteria_of_a_study_are_adjusted_together_and_studies_are_not():
    first, second = group()
    alone = run_tests([first], options())[0].levels["global"]
    both = run_tests([first, second], options())[0].levels["global"]
    other = second._replace(study="another")
    apart = run_tests([first, other], options())[0].levels["global"]
    p, more = alone.p_adjusted[:2], both.p_adjusted[:2]
    assert (more >= p)[~np.isnan(p)].all()
    assert (more > p)[~np.isnan(p)].any()
    np.testing.assert_array_equal(apart.p_adjusted, alone.p_adjusted)
    np.testing.assert_array_equal(both.p, alone.p)
    assert (alone.n_tried[0], both.n_tried[0]) == (2, 4)
    assert (alone.n_criteria, both.n_criteria) == (1, 2)


def evaluated(**more):
    ratings, scores, _ = study()
    run = Evaluation(
        table_of({"m": scores}), ratings, CRITERIA, {"m": "higher"}, options(**more)
    )
    return evaluate(run)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"primary_criterion": "fluency"},
            "primary criterion 'fluency': no criterion is called that; there are:"
            " 'errors'."
            " Correct the name where the primary criterion is set",
        ),
        (
            {"fitted": ["x"]},
            "fitted metric 'x': no metric is called that; there are: 'm'",
        ),
        (
            {"primary": "m", "tried": 20},
            "primary: 'm' was named before anybody saw results, and tried 20 says that it"
            " is the best of 20; remove one of the two",
        ),
        ({"primary": "m", "fitted": ["m"]}, "primary: 'm' is named by fitted, too"),
    ],
)
def test_choices_that_cannot_be_are_refused(choices, message):
    with pytest.raises(BadInput) as refused:
        evaluated(**choices)
    assert message in str(refused.value)


def test_what_was_fitted_is_in_the_tables_without_a_verdict():
    row = evaluated(fitted=["m"])["evidence"].set_index("level").loc["global"]
    assert row["fitted"]
    assert (row["n_tried"], row["value"] > 0) == (0, True)
    assert np.isnan([row["p"], row["joint_confidence"], row["corrected_low"]]).all()
