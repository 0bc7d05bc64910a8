"""Tests of segmentations: labels of sentences, right ones and given ones."""

from metassay.tables.columns import contracts

SENTENCES, SEGMENTED = contracts(__file__)
