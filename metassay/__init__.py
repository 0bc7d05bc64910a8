"""Metassay: an assay for metrics. Scores texts finely, then tests the scores against people."""

import importlib
from typing import Any

__version__ = "0.1.0"
__all__ = ["MetaEvaluation", "__version__", "meta_eval"]


def __getattr__(name: str) -> Any:
    """`meta_eval` and what it returns, imported when first asked for: pandas and SciPy are slow."""
    if name not in ("meta_eval", "MetaEvaluation"):
        raise AttributeError(f"module 'metassay' has no attribute {name!r}")
    return getattr(importlib.import_module("metassay.cli.meta_eval.frames"), name)
