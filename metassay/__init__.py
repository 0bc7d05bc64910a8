"""Metassay: an assay for metrics. Scores texts finely, then tests the scores against people.

The names in `__all__`, `metassay.kinds` and `metassay.statistics` are public: see
docs/api.md.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metassay.api.benchmark import Benchmark
    from metassay.api.judge_check import JudgeCheck, judge_check
    from metassay.api.meta_eval import MetaEvaluation, meta_eval
    from metassay.api.scoring import score
    from metassay.api.statistics import agreement, correlate, permutation_test

__version__ = "0.1.0"
__all__ = [
    "Benchmark",
    "JudgeCheck",
    "MetaEvaluation",
    "__version__",
    "agreement",
    "correlate",
    "judge_check",
    "meta_eval",
    "permutation_test",
    "score",
]

_MODULES = {
    "Benchmark": "metassay.api.benchmark",
    "JudgeCheck": "metassay.api.judge_check",
    "MetaEvaluation": "metassay.api.meta_eval",
    "agreement": "metassay.api.statistics",
    "correlate": "metassay.api.statistics",
    "judge_check": "metassay.api.judge_check",
    "meta_eval": "metassay.api.meta_eval",
    "permutation_test": "metassay.api.statistics",
    "score": "metassay.api.scoring",
}


def __getattr__(name: str) -> Any:
    """Import an exported name when it is first used: pandas and SciPy are slow."""
    if name not in _MODULES:
        raise AttributeError(f"module 'metassay' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """Return the public names alone: not what importing them left here."""
    return sorted(__all__)
