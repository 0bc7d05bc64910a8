"""Prefect flows: they decide when a stage runs, retry it and show it; DVC decides what is stale."""
