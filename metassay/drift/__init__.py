"""The drift sentinel: a fixed set of questions that an LLM judge is asked again and again.

    check(root, benchmark) -> list[DriftResult]

asks the judges that have anchors again, and adds a row for each to table `drift`.
"""

from metassay.drift.checking import check
from metassay.drift.record import DriftResult

__all__ = ["DriftResult", "check"]
