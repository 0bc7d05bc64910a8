"""Tests of segmentations: gold and predicted labels of sentences."""

from metassay.tables.columns import contracts

SENTENCES, SEGMENTED = contracts(__file__)
