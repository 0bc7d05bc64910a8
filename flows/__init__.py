"""Prefect flows: they decide when a stage runs, retry it and show it; DVC decides what is stale."""

import stages  # noqa: F401 - says how numpy computes, before a worker imports it
