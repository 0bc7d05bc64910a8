"""The drift sentinel: a fixed set of questions that an LLM judge is asked again and again."""

from metassay.tracking.sentinel.checking import DriftResult, check

__all__ = ["DriftResult", "check"]
