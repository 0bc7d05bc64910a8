"""Tests of segmentations: how often the labels given are right."""

from metassay.tables.columns import contracts

SEGMENT_SCORES, CONFUSIONS = contracts(__file__)
