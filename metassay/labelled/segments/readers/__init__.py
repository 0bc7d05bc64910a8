"""Readers of texts whose sentences are labelled, each in a format of its own."""
