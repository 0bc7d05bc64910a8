"""Tests of segmentations: accuracy of labels."""

from metassay.tables.columns import contracts

SEGMENT_SCORES, CONFUSIONS = contracts(__file__)
