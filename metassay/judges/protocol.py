"""What a judge is: it reads pairs and gives one judgment each, and knows no metric."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import Field

from metassay.core.options import Options, without
from metassay.llm.needs import Needs, Requests, Resources
from metassay.scoring.pairing.instruments import (
    ATTRIBUTION,
    ATTRIBUTION_ALONE,
    ATTRIBUTION_REST,
    ENTAILMENT,
    INSTRUMENTS,
)
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


if TYPE_CHECKING:
    from metassay.llm.prompts import Decoding

# Does the premise entail the hypothesis? What is asked in two labels, whatever the premise is.
TWO_WAY = tuple(one.name for one in (ENTAILMENT, ATTRIBUTION, ATTRIBUTION_ALONE, ATTRIBUTION_REST))
BATCH = 1024  # pairs per call: enough for a judge to work on many at once, little to hold


Probability = Annotated[float, Field(ge=0, le=1)]
# Probabilities between which a judge is not sure enough.
Band = Annotated[
    list[Probability],
    Field(min_length=2, max_length=2),
    without(lambda it: "must be [low, high]; exchange them" if it[0] > it[1] else None),
]


def by_threshold(
    probability: float, threshold: float, abstain: Sequence[float] | None, explanation: str
) -> Judgment:
    """Entailed from the threshold on; abstained where the probability lies inside of the band."""
    if abstain is not None and abstain[0] < probability < abstain[1]:
        return Judgment("abstained", probability=probability, explanation=explanation)
    label = "entailed" if probability >= threshold else "not_entailed"
    return Judgment("ok", label, probability, explanation=explanation)


@dataclass(frozen=True, kw_only=True)
class JudgeKind(Needs):
    """One kind of judge: what a kind in params.yaml > judges stands for.

    `make(options, resources, members)` gives the judge; `members` are the judges that `Needs` says
    are inside it, in that order. It can answer the `instruments` of these names (keys of
    `metassay.scoring.pairing.instruments.INSTRUMENTS`), as far as its members can. `batch`: how
    many pairs it is handed at once, more where a group is longer. `requests(pairs, options,
    decoding)` says what it would ask a language model at first; None: it asks none.
    `likely(options)` are the instruments whose answers have a probability, `abstains(options)`
    those where it may abstain: all that it may be asked, where a record doesn't say.
    """

    options: type[Options]
    make: Callable[[Any, Resources, Sequence[Judge]], Judge]
    instruments: tuple[str, ...]
    batch: int = BATCH
    likely: Callable[[Any], Collection[str]] = lambda _: INSTRUMENTS
    abstains: Callable[[Any], Collection[str]] = lambda _: INSTRUMENTS
    requests: "Callable[[Sequence[Pair], Any, Decoding], Requests] | None" = None
