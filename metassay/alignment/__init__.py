"""Alignments: the source passages that a statement is read against.

To add one: a module with an options class and an `align` like `rouge_topk.align`, and a line here.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from metassay.alignment import rouge_topk
from metassay.params import Options


class Alignment(NamedTuple):
    """One kind: its options and its function of passages, statements and options."""

    options: type[Options]
    align: Callable[[Sequence[str], Sequence[str], Any], list[list[tuple[int, float]]]]


ALIGNMENTS: dict[str, Alignment] = {
    "rouge_topk": Alignment(rouge_topk.RougeTopKOptions, rouge_topk.align),
}
