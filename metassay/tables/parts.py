"""Texts divided into sections or facets."""

from metassay.tables.columns import contracts

PARTS, SEGMENTS = contracts(__file__)
