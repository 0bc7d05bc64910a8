"""Which tests a relation must show in, by what the user says of systems and documents."""

import numpy as np
import pytest

from metassay.meta_evaluation.exact_tests import (
    Plan,
    Result,
    plans,
    reorder,
    require_all,
    run_level,
)
from metassay.meta_evaluation.layouts import Groups
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics.correlation import LEVELS
from metassay.statistics.independence import Independence
from tests.calibration.worlds import study_of

OPTIONS = MetaOptions(resamples=1, permutations=200, confidence=0.95, seed=0)
NAN = np.nan


def noise(rng, shape):
    return (
        rng.normal(size=shape)
        + rng.normal(size=(shape[0], 1))
        + rng.normal(size=(1, shape[1]))
    )


def apart(study_shape, *, documents=False, systems=False):
    """Labels by which each document, or system, stands for itself."""
    rows, columns = study_shape
    clusters = {f"d{i:05d}": str(i) for i in range(columns)} if documents else {}
    families = {f"s{i:02d}": str(i) for i in range(rows)} if systems else {}
    return Groups({}, clusters, families)


def studied(shape, metrics=1, seed=0, **named):
    rng = np.random.default_rng(seed)
    each = [noise(rng, shape) for _ in range(metrics)]
    return study_of(each, noise(rng, shape)[None], groups=apart(shape, **named))


def run_one(study, level):
    (tests,) = run_level([study], level, OPTIONS)
    return tests


def planned(study, level):
    return {plan.exchange: plan.role for plan in plans(study, level, OPTIONS)}


def test_what_the_user_does_not_say_must_not_matter():
    both = {"systems": "required", "documents": "required"}
    shape = (8, 12)
    for level in ("global", "document"):
        assert planned(studied(shape), level) == both
        by_documents = {"systems": "hint", "documents": "required"}
        assert planned(studied(shape, documents=True), level) == by_documents
        by_systems = {"systems": "required", "documents": "hint"}
        assert planned(studied(shape, systems=True), level) == by_systems
        named = studied(shape, systems=True, documents=True)
        assert planned(named, level) == {"both": "required"}
    # Between systems, texts have to agree as well, unless no system is a version.
    assert planned(studied(shape), "system") == both
    by_systems = {"systems": "required", "documents": "hint"}
    assert planned(studied(shape, systems=True), "system") == by_systems


def test_too_few_of_one_kind_leave_it_to_the_other_and_of_both_to_both():
    assert planned(studied((4, 12), systems=True), "global") == {
        "systems": "required",
        "documents": "required",
    }
    tests = reorder(studied((4, 12)), sides(studied((4, 12))), "global", OPTIONS)
    decisive = {test.plan.exchange: test.decisive for test in tests}
    assert decisive == {"systems": False, "documents": True}
    assert planned(studied((4, 4)), "global") == {"both": "required"}


def sides(study):
    return study.values(study.metrics), study.oriented


def test_each_document_by_one_system_is_reordered_within_it():
    rng = np.random.default_rng(0)
    nowhere = np.arange(40) % 4 != np.arange(4)[:, None]
    metric, people = (np.where(nowhere, NAN, noise(rng, (4, 40))) for _ in range(2))
    study = study_of([metric], people[None])
    assert planned(study, "global") == {"systems": "hint", "documents": "required"}


def result(exchange, statistics, role="required", *, decisive=True):
    test = Independence(np.array(statistics, dtype=float)[None], False)
    plan = Plan(exchange, ("global",), role)
    return Result(plan, decisive, NAN, test.p, test.p, test.signs, test.unbeaten)


def test_all_required_tests_have_to_agree_by_hand():
    """p of the first is 2/5, of the second 4/5; the third is of the opposite sign."""
    first = result("systems", [[4, 1, 1, 1, 1]])
    second = result("documents", [[4, 5, 1, 1, 1]])
    opposite = result("documents", [[1, 5, 5, 5, 5]])
    still = result("documents", [[2, 2, 2, 2, 2]])

    def largest(*results):
        p, signs = require_all(results, [each.p for each in results])
        return p.tolist(), signs.tolist()

    assert largest(first) == ([[pytest.approx(0.4)]], [[1]])
    assert largest(first, second) == ([[pytest.approx(0.8)]], [[1]])
    assert largest(first, opposite) == ([[1]], [[1]])
    assert np.isnan(largest(first, still)[0]).all()
    # A test with too few orders only asks that none fits better.
    undecided = [each._replace(decisive=False) for each in (first, second)]
    assert largest(first, undecided[0]) == ([[pytest.approx(0.4)]], [[1]])
    assert largest(first, undecided[1]) == ([[1]], [[1]])
    # What is enough stands for what is required; a hint changes nothing.
    enough = result("systems", [[4, 1, 1, 1, 1]], "enough")
    assert largest(second, enough) == ([[pytest.approx(0.4)]], [[1]])
    assert largest(still, enough) == ([[pytest.approx(0.4)]], [[1]])
    hint = result("systems", [[1, 5, 1, 1, 1]], "hint")
    assert largest(second, hint) == ([[pytest.approx(0.8)]], [[1]])


def topics(rng, shape):
    """A scorer of five topics that finds each of them better or worse, and nothing else."""
    topic = rng.integers(0, 5, shape[1])
    return lambda: noise(rng, shape) + 3 * rng.normal(size=5)[topic]


def versions(rng, shape):
    """A scorer of pairs of versions that are equally good, with texts of their own."""
    family = np.arange(shape[0]) // 2
    return lambda: noise(rng, shape) + 3 * rng.normal(size=shape[0])[family][:, None]


def falsely(draw, shape, level, runs=60, **named):
    """Share of studies of one metric with p below .05."""
    hits = 0
    for run in range(runs):
        scorer = draw(np.random.default_rng(run), shape)
        study = study_of([scorer()], scorer()[None], groups=apart(shape, **named))
        hits += bool(np.nanmin(run_one(study, level).p_adjusted) < 0.05)
    return hits / runs


@pytest.mark.parametrize("draw", [topics, versions])
@pytest.mark.parametrize("level", LEVELS)
def test_unnamed_topics_and_versions_are_no_knowledge(draw, level):
    assert falsely(draw, (8, 24), level) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)


def test_who_says_that_each_stands_for_itself_is_believed():
    """Then topics, and versions, deceive: the statement changes the tests."""
    named = {"documents": True, "systems": True}
    assert falsely(topics, (8, 24), "global", **named) > 0.1
    assert falsely(versions, (8, 24), "system", **named) > 0.1


def test_what_systems_show_alone_counts_if_it_would_with_half_of_them():
    """16 systems that metric and people rank alike; texts have nothing in common."""
    rng = np.random.default_rng(3)
    level = np.linspace(-2, 2, 16)[:, None]
    metric, people = (level + 0.5 * rng.normal(size=(16, 30)) for _ in range(2))
    tests = run_one(study_of([metric], people[None]), "system")
    assert tests.p_adjusted[0, 0] < 0.05
    # Of six systems no order is rare enough; the texts would have to agree, too.
    few = study_of([metric[::3]], people[None, ::3])
    tests = run_one(few, "system")
    assert tests.p_adjusted[0, 0] > 0.05 > tests.p_alone["systems"][0, 0]
    named = study_of(
        [metric[::3]], people[None, ::3], groups=apart((6, 30), systems=True)
    )
    assert run_one(named, "system").p_adjusted[0, 0] < 0.05
