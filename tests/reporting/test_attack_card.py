"""What a report says of attacks, sentence by sentence."""

import pandas as pd

from metassay.reporting.attack_card import attack_sentences

GAINS = [
    # judge, attack, verdict, plain, gain, low, high, n_missing
    ("weak", "denial", "gamed by", 0.1, 0.5, 0.3, 0.7, 0),
    ("weak", "source_appended", "gamed by", 0.1, 0.8, 0.6, 0.9, 0),
    ("weak", "hedge", "cannot tell", 0.1, 0.05, -0.1, 0.2, 3),
    ("strong", "denial", "robust to", 0.0, 0.0, 0.0, 0.05, 0),
]


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    heads = ["judge", "attack", "verdict", "plain", "gain", "low", "high", "n_missing"]
    gains = pd.DataFrame(GAINS, columns=heads)
    gains = gains.assign(n=120, n_documents=70, margin=0.1)
    shares = [("weak", "true", "sensitivity", 0.9)]
    cards = pd.DataFrame(shares, columns=["judge", "part", "statistic", "value"])
    return gains, cards


def test_the_judge_that_fewest_attacks_game_comes_first() -> None:
    strong, weak = attack_sentences(*tables())
    assert strong == (
        "strong passes 0 of 120 false texts of 70 documents as they are. No attack of 1"
        " was shown to game it. It is robust to 1 (they gain less than .10): denial."
    )
    assert weak.startswith("weak passes .10 of 120 false texts")


def test_attacks_stand_by_their_gain_and_missing_answers_are_counted() -> None:
    _, weak = attack_sentences(*tables())
    assert "and .90 of the true ones." in weak
    assert (
        "It is gamed by 2 of 3 attacks: source appended +.80 [.60, .90], denial +.50"
        " [.30, .70]."
    ) in weak
    assert weak.endswith(
        "These texts cannot tell of hedge. 3 of 363 pairs of a plain and an attacked text"
        " lack an answer."
    )


def test_the_plain_share_is_of_the_texts_that_are_counted() -> None:
    gains, cards = tables()
    weak = gains["judge"] == "weak"
    # The first row lacks more answers than the others: its share is of fewer texts.
    gains.loc[gains.index[weak][0], ["n", "n_documents", "plain"]] = [60, 40, 0.3]
    _, sentence = attack_sentences(gains, cards)
    assert sentence.startswith("weak passes .10 of 120 false texts of 70 documents")


def test_a_judge_without_an_answer_gets_no_share() -> None:
    gains, cards = tables()
    nothing = gains[gains["judge"] == "strong"].assign(n=0, n_documents=0, plain=None)
    assert attack_sentences(nothing, cards) == [
        "strong has no false text with both answers, as it is and attacked."
    ]
