"""What a judge is: it reads pairs and gives one verdict each, and knows no metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Status = Literal["ok", "unparsed", "refused", "truncated", "error"]
Label = Literal["entailed", "not_entailed"]


@dataclass(frozen=True)
class Pair:
    """One question: does the premise entail (instrument) the hypothesis?"""

    pair_id: str
    instrument: str
    premise: str
    hypothesis: str


@dataclass(frozen=True)
class Verdict:
    """One answer; the fields are the columns of table `judgments`.

    `label` is None exactly where `status` is not ok. A judge that has no probability, grade,
    explanation or token count leaves it None.
    """

    status: Status
    label: Label | None
    probability: float | None = None
    grade: float | None = None
    explanation: str | None = None
    tokens: int | None = None
    attempts: int = 1


class Judge(Protocol):
    """Anything that can judge: rules, a model on this machine, a model behind an endpoint."""

    @property
    def signature(self) -> str:
        """Model, prompt and settings: whatever can change a verdict."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict per pair, in the order of the pairs.

        What goes wrong with one pair is that pair's status, never an exception or a gap.
        """
