import numpy as np
import pytest
import scipy.stats

from metassay.statistics.jackknife import smallest_study

NONE = np.nan, np.nan


def asked(variances, shape=(4, 10), useful=0.3, level="document"):
    return smallest_study(variances, shape, np.arctanh(useful), confidence=0.95, level=level)


def test_more_variance_needs_more():
    texts = [np.prod(asked((v, v))) for v in (0.005, 0.02, 0.08)]
    assert texts == sorted(texts)
    assert texts[0] < texts[-1]
    assert np.prod(asked((0.02, 0.02), useful=0.6)) < texts[1]


@pytest.mark.parametrize("variances", [(0.05, 0.001), (0.001, 0.05), (0.02, 0.02)])
def test_what_is_needed_is_just_enough(variances):
    systems, documents = asked(variances)

    def settles(s, d):
        parts = variances[0] * 4 / s, variances[1] * 10 / d
        freedom = sum(parts) ** 2 / (parts[0] ** 2 / (s - 1) + parts[1] ** 2 / (d - 1))
        reach = scipy.stats.t.ppf(0.975, freedom) + scipy.stats.norm.ppf(0.8)
        return reach * np.sqrt(sum(parts)) <= np.arctanh(0.3)

    assert settles(systems, documents)
    assert not settles(max(2, systems * 0.85), max(2, documents * 0.85))
    # More of what makes the doubt.
    if variances[0] != variances[1]:
        more = systems / 4, documents / 10
        assert (more[0] > more[1]) == (variances[0] > variances[1])


def test_needed_by_fisher_and_not_at_all():
    # ((1.96 + .8416) / artanh .3)**2 + 3 = 84.9 systems, whatever is known of this study.
    assert asked(NONE, level="system") == (85, 10)
    assert asked((0.5, 0.5), level="system") == (85, 10)
    assert asked(NONE) == (85, 10)
    assert asked(NONE, shape=(120, 10), level="system") == (120, 10)
    # Not within a hundred times the study.
    assert np.isnan(asked((50.0, 50.0))).all()
    assert np.isnan(asked(NONE, useful=0.01, level="system")).all()
    assert np.isnan(asked((0.02, 0.02), useful=0.0)).all()  # nothing to tell apart
    # Enough already.
    assert asked((1e-4, 1e-4)) == (4, 10)


@pytest.mark.parametrize(
    ("variances", "shape"), [((-1.0, 0.1), (5, 9)), ((0.1, -1e9), (5, 9)), ((0.1, 0.1), (0, 9))]
)
def test_of_what_no_study_has_nothing_is_known(variances, shape):
    found = smallest_study(variances, shape, 0.2, confidence=0.95, level="global")
    assert np.isnan(found).all()
