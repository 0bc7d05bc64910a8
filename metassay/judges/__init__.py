"""Judges: each reads (premise, hypothesis) pairs and gives a verdict on every one.

To add one: a module with an options class and a class that fits `protocol.Judge`, and a line here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from metassay.judges.lexical import LexicalJudge, LexicalOptions
from metassay.judges.protocol import Judge
from metassay.params import Options


class JudgeKind(NamedTuple):
    """One kind of judge: its options, and what makes a judge of them."""

    options: type[Options]
    make: Callable[[Any], Judge]


JUDGES: dict[str, JudgeKind] = {
    "lexical": JudgeKind(LexicalOptions, LexicalJudge),
}
