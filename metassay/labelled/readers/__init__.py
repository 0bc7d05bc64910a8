"""Readers of test sets: items for judges, or texts whose sentences are labelled."""
