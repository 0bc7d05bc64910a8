"""What an alignment is: one frozen record per module of this folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from metassay.needs import Needs
from metassay.options import Options

Align = Callable[[Sequence[str], Sequence[str], Any], list[list[tuple[int, float]]]]


@dataclass(frozen=True, kw_only=True)
class Alignment(Needs):
    """One way to find the passages that a statement is read against.

    It is what a kind in params.yaml > alignments stands for. `align(passages, statements, options)`
    gives, for each statement, pairs of a passage's index and its value, best first. `oracle` is the
    same by the package that defines the values: each run compares a sample (metassay/oracle.py).
    """

    options: type[Options]
    align: Align
    oracle: Align | None = None
