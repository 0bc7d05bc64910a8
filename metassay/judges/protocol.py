"""The interface of judges: they read pairs and return one judgment each, and know no metric."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import Field

from metassay.core.options import Options, refuse
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
    """One question: what `instrument` asks about the premise and the hypothesis.

    `part` and `author` name the text. `context` is what else the question depends on:
    for a single citation all passages that its statement cites, for a preference the
    subject of both texts, for a rubric the criterion as canonical JSON.
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

    With status `ok` there is a `label` or a `grade`, as the pair's instrument requires;
    with any other status there is neither. `abstained` means that the judge is not sure
    enough. `probability` is that of the positive label, 0 to 1, also if the judge
    abstained. An unknown probability, explanation or token count is None. `quotes` are
    verbatim evidence; `quote_starts` are their offsets in the hypothesis, -1 if a quote
    is not in it. `repaired`: the answer was not in the requested form, but could be
    read.
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
    """A judge of any kind: rules, a model on this machine, or a model behind an endpoint."""

    @property
    def signature(self) -> str:
        """The model, prompt and settings: all that can change a judgment."""

    @property
    def notes(self) -> Sequence[str]:
        """Lines for the user about the pairs judged so far, without any of their text."""

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """Return one judgment per pair, in order; None if the answer is not needed.

        A pair that cannot be judged gets a status; it never raises and is never left
        out.
        """


if TYPE_CHECKING:
    from metassay.llm.prompts import Decoding

# Instruments that ask with two labels whether the premise entails the hypothesis.
TWO_WAY = tuple(
    i.name for i in (ENTAILMENT, ATTRIBUTION, ATTRIBUTION_ALONE, ATTRIBUTION_REST)
)
BATCH = 1024  # pairs per call: enough to work on many at once, few enough for memory


Probability = Annotated[float, Field(ge=0, le=1)]
# Probabilities between which a judge is not sure enough.
Band = Annotated[
    list[Probability],
    Field(min_length=2, max_length=2),
    refuse(
        lambda band: "must be [low, high]; exchange them" if band[0] > band[1] else None
    ),
]


def apply_threshold(
    probability: float,
    threshold: float,
    abstain: Sequence[float] | None,
    explanation: str,
) -> Judgment:
    """Return entailed from the threshold on; abstained strictly inside the band `abstain`.

    >>> apply_threshold(0.55, 0.5, [0.4, 0.6], "a close call").status
    'abstained'
    """
    if abstain is not None and abstain[0] < probability < abstain[1]:
        return Judgment("abstained", probability=probability, explanation=explanation)
    label = "entailed" if probability >= threshold else "not_entailed"
    return Judgment("ok", label, probability, explanation=explanation)


@dataclass(frozen=True, kw_only=True)
class JudgeKind(Needs):
    """A kind of judge: the meaning of a kind in params.yaml > judges.

    `make(options, resources, members)` returns the judge; `members` are the judges
    inside it, in the order of `Needs`. `instruments`: the names it can answer (keys of
    `metassay.scoring.pairing.instruments.INSTRUMENTS`) if its members can too. `batch`:
    the number of pairs per call, more if a group is longer. `requests(pairs, options,
    decoding)` returns its first questions to a language model; None: it asks none.
    `likely(options)`: the instruments whose answers have a probability,
    `abstains(options)`: where it may abstain; by default all.
    """

    options: type[Options]
    make: Callable[[Any, Resources, Sequence[Judge]], Judge]
    instruments: tuple[str, ...]
    batch: int = BATCH
    likely: Callable[[Any], Collection[str]] = lambda _: INSTRUMENTS
    abstains: Callable[[Any], Collection[str]] = lambda _: INSTRUMENTS
    requests: "Callable[[Sequence[Pair], Any, Decoding], Requests] | None" = None
