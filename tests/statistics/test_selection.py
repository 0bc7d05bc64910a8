"""Whether rated texts differ from others in a metric's scores, within systems."""

import numpy as np
import pytest

from metassay.statistics.selection import compare_rated, is_chosen

SYSTEMS, DOCUMENTS = 4, 40


def texts(rng, share=0.3):
    """Scores (texts,) of systems of unequal quality, and where they stand."""
    system, document = np.indices((SYSTEMS, DOCUMENTS)).reshape(2, -1)
    scores = (
        system
        + rng.normal(size=DOCUMENTS)[document]
        + rng.normal(size=SYSTEMS * DOCUMENTS)
    )
    return scores, rng.random(scores.size) < share, system, document


def test_the_difference_is_that_of_a_regression_on_systems_and_being_rated() -> None:
    scores, rated, system, document = texts(np.random.default_rng(1))
    rank = (np.argsort(np.argsort(scores)) + 0.5) / scores.size
    columns = np.column_stack([rated, *(system == s for s in range(SYSTEMS))])
    selection = compare_rated(scores, rated, system, document)
    assert selection is not None
    for value, of in (
        (selection.higher, rank),
        (selection.wider, np.abs(rank - 0.5)),
    ):
        slope = np.linalg.lstsq(columns.astype(float), of, rcond=None)[0][0]
        assert value == pytest.approx(slope)


def test_texts_drawn_at_random_are_seldom_called_chosen() -> None:
    rng = np.random.default_rng(2)
    selections = [compare_rated(*texts(rng)) for _ in range(300)]
    assert np.mean([s.p_higher < 0.05 for s in selections if s is not None]) < 0.09
    assert np.mean([s.p_wider < 0.05 for s in selections if s is not None]) < 0.09


def test_whole_documents_at_random_are_no_choice() -> None:
    rng = np.random.default_rng(3)
    selections = []
    for _ in range(300):
        scores, _, system, document = texts(rng)
        rated = np.isin(document, rng.permutation(DOCUMENTS)[:12])
        selections.append(compare_rated(scores, rated, system, document))
    assert np.mean([s.p_higher < 0.05 for s in selections if s is not None]) < 0.09


def test_more_texts_of_a_better_system_are_no_choice_by_score() -> None:
    rng = np.random.default_rng(4)
    scores, _, system, document = texts(rng)
    rated = rng.random(scores.size) < np.array([0.1, 0.2, 0.4, 0.8])[system]
    selection = compare_rated(scores, rated, system, document)
    assert selection is not None
    assert is_chosen(selection, 0.01)[0] is False


@pytest.mark.parametrize(
    ("choose", "moved", "spread"),
    [
        (lambda z: z > 0.8, True, None),
        (lambda z: z < -0.8, True, None),
        (lambda z: np.abs(z) > 1.2, False, True),
        (lambda z: np.abs(z) < 0.4, False, True),
    ],
)
def test_texts_chosen_by_score_are_found(choose, moved, spread) -> None:
    scores, _, system, document = texts(np.random.default_rng(5))
    z = (scores - scores.mean()) / scores.std()
    selection = compare_rated(scores, choose(z), system, document)
    assert selection is not None
    is_moved, is_spread = is_chosen(selection, 0.001)
    assert is_moved is moved
    assert spread is None or is_spread is spread
    assert (selection.higher > 0) == bool(np.mean(z[choose(z)]) > 0) or not moved


def test_too_few_texts_say_nothing() -> None:
    scores, _, system, document = texts(np.random.default_rng(6))
    few = np.arange(scores.size) < 9
    assert compare_rated(scores, few, system, document) is None
    assert compare_rated(scores, ~few, system, document) is None
    assert compare_rated(scores, document < 4, system, document) is None
    assert compare_rated(scores, np.ones(scores.size, bool), system, document) is None
