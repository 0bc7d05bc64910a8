"""Edits of sentences by rule, some of which change what is true: for tests, and for training."""
