"""What a judge is: it reads pairs and gives one judgment each, and knows no metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Status = Literal["ok", "unparsed", "refused", "truncated", "error"]


@dataclass(frozen=True)
class Pair:
    """One question: what `instrument` asks of the premise and the hypothesis."""

    pair_id: str
    instrument: str
    premise: str
    hypothesis: str


@dataclass(frozen=True)
class Judgment:
    """One answer; the fields are the columns of table `judgments`.

    Where `status` is ok there is a `label` or a `grade`, as the pair's instrument wants; else there
    is neither. A judge that has no probability, explanation or token count leaves it None.
    """

    status: Status
    label: str | None = None
    probability: float | None = None
    grade: float | None = None
    explanation: str | None = None
    tokens: int | None = None
    attempts: int = 1


class Judge(Protocol):
    """Anything that can judge: rules, a model on this machine, a model behind an endpoint."""

    @property
    def signature(self) -> str:
        """Model, prompt and settings: whatever can change a judgment."""

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """One judgment per pair, in the order of the pairs.

        What goes wrong with one pair is that pair's status, never an exception or a gap.
        """
