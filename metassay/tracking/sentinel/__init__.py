"""The drift sentinel: a fixed set of questions that an LLM judge is asked again and again.

    check(root, benchmark) -> list[DriftResult]

asks the judges that have anchors again, and adds a row for each to table `drift`.
"""

from metassay.tracking.sentinel.checking import DriftResult, check

__all__ = ["DriftResult", "check"]
