"""How many rows a label stands for, and whether labels were chosen."""

import numpy as np
import pytest
import scipy.stats

from metassay.statistics.label_weights import LEAST, find_chosen, label_weights


def crossed(*counts):
    """Rows of cells (verdict, system, rows, labelled), as arrays."""
    verdict, system, labelled = [], [], []
    for side, name, rows, labels in counts:
        verdict += [float(side)] * rows
        system += [name] * rows
        labelled += [True] * labels + [False] * (rows - labels)
    return np.array(verdict), np.array(system), np.array(labelled)


def test_labels_of_a_cell_stand_for_its_rows():
    cells = [(1, "a", 40, 10), (1, "b", 60, 6), (0, "a", 8, 8), (0, "b", 12, 4)]
    verdict, system, labelled = crossed(*cells)
    by_verdict = label_weights(labelled, verdict)
    assert set(by_verdict[(verdict == 1) & labelled]) == {100 / 16}
    assert set(by_verdict[(verdict == 0) & labelled]) == {20 / 12}
    assert not by_verdict[~labelled].any()
    weight = label_weights(labelled, verdict, [system])
    for side, name, rows, labels in cells:
        of_cell = weight[(verdict == side) & (system == name) & labelled]
        assert of_cell.tolist() == pytest.approx([rows / labels] * labels)


def test_weights_of_several_factors_sum_to_the_rows_of_each():
    rng = np.random.default_rng(3)
    verdict = (rng.random(600) < 0.8).astype(float)
    topic, system = rng.integers(0, 3, 600), rng.integers(0, 4, 600)
    labelled = rng.random(600) < 0.2 + 0.2 * topic * (1 - 0.5 * verdict)
    weight = label_weights(labelled, verdict, [topic, system])
    for factor in (topic, system):
        for side in (0, 1):
            for value in np.unique(factor):
                rows = (verdict == side) & (factor == value)
                assert weight[rows].sum() == pytest.approx(rows.sum(), rel=1e-6)


def test_small_cells_are_joined_within_their_verdict():
    # One label of `b` passes, and none of `c` passes: they are joined with each other
    # and the smallest other, `d`, until there are enough labels.
    cells = [
        (1, "a", 30, 10),
        (1, "b", 10, 1),
        (1, "c", 5, 0),
        (1, "d", 20, LEAST),
        (0, "a", 6, 3),
    ]
    verdict, system, labelled = crossed(*cells)
    weight = label_weights(labelled, verdict, [system])
    joined = np.isin(system, ("b", "c", "d")) & labelled & (verdict == 1)
    assert set(weight[joined]) == {35 / (1 + LEAST)}
    assert set(weight[(system == "a") & (verdict == 1) & labelled]) == {3.0}
    assert set(weight[(verdict == 0) & labelled]) == {2.0}
    # A verdict without a label has nobody to speak for it.
    labelled &= verdict == 1
    assert not label_weights(labelled, verdict, [system])[verdict == 0].any()


def test_what_labels_were_chosen_by_is_found_with_both_shares():
    verdict, system, labelled = crossed(
        (1, "a", 60, 6), (1, "b", 60, 9), (0, "a", 15, 15), (0, "b", 15, 15)
    )
    words = np.where(verdict == 1, "passes", "fails")
    factors = {"judge": words, "system": system}
    (test,) = find_chosen(labelled, factors, np.arange(150))
    assert (test.factor, test.value) == ("judge", "fails")
    assert (test.labelled, test.rows) == (30, 30)
    assert (test.other_labelled, test.other_rows) == (15, 120)
    assert (test.share, test.other_share) == (1.0, 1 / 8)


def test_the_chance_of_a_choice_is_by_t_over_documents_with_holm_s_adjustment():
    rng = np.random.default_rng(1)
    document, value = np.repeat(np.arange(30), 4), rng.integers(0, 3, 120)
    labelled = rng.random(120) < 0.3 + 0.3 * (value == 0)
    p = []
    for number in range(3):
        has_value = value == number
        products = (labelled - labelled.mean()) * (has_value - has_value.mean())
        sums = products.reshape(30, 4).sum(axis=1)
        rows = labelled.var() * has_value.var() * 120**2 / 119
        t = sums.sum() / np.sqrt(max(np.sum(sums**2) * 30 / 29, rows))
        p.append(2 * scipy.stats.t.sf(abs(t), 29))
    first, *_ = find_chosen(labelled, {"value": value}, document, level=1.0)
    assert first.value == str(np.argmin(p))
    assert first.p == pytest.approx(3 * min(p))


def test_nothing_is_found_where_nothing_can_be():
    verdict, _, labelled = crossed((1, "a", 20, 5), (0, "a", 10, 3))
    # All of one document; all rows labelled; a factor with one value.
    for chosen, factor, document in (
        (labelled, verdict, np.zeros(30, int)),
        (np.ones(30, bool), verdict, np.arange(30)),
        (labelled, np.ones(30), np.arange(30)),
    ):
        assert find_chosen(chosen, {"f": factor}, document) == []


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_labels_at_random_are_seldom_taken_for_chosen(share):
    rng, alarms = np.random.default_rng(2), 0
    for _ in range(200):
        document, system = np.repeat(np.arange(30), 3), rng.integers(0, 6, 90)
        verdict = (rng.random(90) < 0.9).astype(int)
        labelled = rng.random(90) < share
        factors = {"verdict": verdict, "system": system}
        alarms += bool(find_chosen(labelled, factors, document))
    assert alarms <= 14
