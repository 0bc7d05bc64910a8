"""Requests to language models, and their responses."""

from metassay.tables.columns import contracts

(RESPONSES,) = contracts(__file__)
