"""Metrics held against people: one module per table, all of them over the matrices of `study`."""
