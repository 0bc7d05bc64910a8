"""Texts that are drawn for a card: how many, which, and what comes back of their labels."""

import numpy as np
import pytest

from metassay.core.errors import BadInput
from metassay.statistics.card_transfer import expected_card, labels_by_verdict, transfer
from metassay.statistics.label_weights import label_weights
from metassay.statistics.shares import Estimate
from metassay.statistics.weighted_cards import weighted_card
from metassay.studies.card_items import card_items, label_rows
from metassay.studies.next_items import Frame
from tests.studies.test_next_items import SCALE, make, rated, reads

WORDS = "card sure (mini) vanilla_rating"
CARD = {
    name: Estimate(value, low, high, 400, 400.0)
    for name, value, low, high in (
        ("sensitivity", 0.9, 0.87, 0.93),
        ("specificity", 0.8, 0.76, 0.84),
    )
}


def test_texts_that_the_judge_passes_and_fails_are_drawn_and_none_that_is_rated():
    read = reads(ratings=rated(("d1", "alpha", 4.0)))
    drafts, frame, (note,) = card_items(make(read), WORDS, CARD, 0.1, read, 1)
    verdicts = [score >= 0.5 for *_, score, _ in frame.texts]
    assert any(verdicts)
    assert not all(verdicts)
    assert ("d1", "alpha") not in {text[:2] for text in frame.texts}
    assert len(drafts) == len(frame.texts)  # so few texts are all taken
    assert note.startswith(f"label {len(drafts)} texts: ")
    with pytest.raises(BadInput, match="name one of these"):
        card_items(make(read), "card sure other", CARD, 0.1, read, 1)


def test_labels_come_back_beside_the_verdicts_on_all_texts():
    texts = (("d1", "a", 0.9, 0.5), ("d2", "a", 0.8, 0.5), ("d3", "a", 0.1, 1.0))
    frame = Frame("card sure good", texts)
    ratings = [("d1", "a", 4.0), ("d3", "a", 1.0)]
    table = label_rows(frame, ratings, SCALE, "sure")
    assert table["sure"].tolist() == ["pass", "pass", "fail"]
    assert table["human"].tolist() == ["pass", "", "fail"]
    assert table["id"].is_unique


def rows(rng, n):
    """Verdicts and people's labels (n,) each, with the card's rates; 70 % pass."""
    people = (rng.random(n) < 0.7).astype(float)
    right = rng.random(n) < np.where(people == 1, 0.9, 0.8)
    return np.where(right, people, 1 - people), people


def drawn(rng, verdict, people, n):
    """The card of n labels of each verdict, drawn by lot."""
    labels = np.full(len(verdict), np.nan)
    for side in (0, 1):
        of_side = rng.permutation(np.flatnonzero(verdict == side))[:n]
        labels[of_side] = people[of_side]
    weight = label_weights(np.isfinite(labels), verdict)
    return weighted_card(
        verdict, labels, weight, np.arange(len(verdict)), confidence=0.95
    )


def test_so_many_labels_show_that_nothing_changed_in_four_of_five_samples():
    rng = np.random.default_rng(1)
    verdict, _ = rows(rng, 2000)
    n = labels_by_verdict(verdict, CARD, margin=0.1)
    assert 30 < n < 500
    assert labels_by_verdict(verdict, CARD, margin=0.15) < n
    hits = {"sensitivity": 0, "specificity": 0}
    for _ in range(120):
        verdict, people = rows(rng, 2000)
        here = drawn(rng, verdict, people, n)
        for name, rate in CARD.items():
            hits[name] += transfer(rate, here[name], margin=0.1).outcome == "holds"
    assert min(hits.values()) >= 0.7 * 120
    expected = expected_card(n, verdict, CARD)
    assert expected["sensitivity"].value == pytest.approx(0.9, abs=0.05)
