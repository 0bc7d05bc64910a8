"""What a judge is: it reads pairs and gives one judgment each, and knows no metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from metassay.tables.names import FULL

Status = Literal["ok", "abstained", "unparsed", "refused", "truncated", "error"]


@dataclass(frozen=True)
class Pair:
    """One question: what `instrument` asks of the premise and the hypothesis.

    `part` and `author` say what text it is about. `context` is what else the question rests on: for
    one citation all passages that its statement cites; for a preference what both texts are about;
    for a rubric the criterion, as canonical JSON.
    """

    pair_id: str
    instrument: str
    premise: str
    hypothesis: str
    part: str = FULL
    context: str | None = None
    author: str = ""


@dataclass(frozen=True)
class Judgment:
    """One answer; the fields are the columns of table `judgments`.

    Where `status` is ok there is a `label` or a `grade`, as the pair's instrument wants; else there
    is neither. A judge that is not sure enough has `abstained`. `probability` is that of the
    positive label, 0 to 1, also where it abstained. A judge that has no probability, explanation or
    token count leaves it None. `quotes` are its evidence, word by word, and `quote_starts` where
    each starts in the hypothesis, -1 where it is not there. `repaired`: the answer was not in just
    the form that was asked for, and could be read all the same.
    """

    status: Status
    label: str | None = None
    probability: float | None = None
    grade: float | None = None
    explanation: str | None = None
    tokens: int | None = None
    attempts: int = 1
    quotes: tuple[str, ...] = ()
    quote_starts: tuple[int, ...] = ()
    repaired: bool = False


class Judge(Protocol):
    """Anything that can judge: rules, a model on this machine, a model behind an endpoint."""

    @property
    def signature(self) -> str:
        """Model, prompt and settings: whatever can change a judgment."""

    @property
    def notes(self) -> Sequence[str]:
        """What its owner must know of what it judged so far, a line each, without any text."""

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """One judgment per pair, in the order of the pairs; None: nobody needs this answer.

        What goes wrong with one pair is that pair's status, never an exception or a gap.
        """
