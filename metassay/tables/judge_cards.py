"""Accuracy of judges, and calibration of their probabilities."""

from metassay.tables.columns import contracts

JUDGE_CARDS, CALIBRATION = contracts(__file__)
CARD_STATISTICS = JUDGE_CARDS.columns["statistic"].choices
