"""What a kind of judge is: one frozen record per module of this folder, exported as `KIND`."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from metassay.core.options import Options, without
from metassay.judges.protocol import Judge, Judgment, Pair
from metassay.llm.needs import Needs, Requests, Resources
from metassay.scoring.pairing.instruments import (
    ATTRIBUTION,
    ATTRIBUTION_ALONE,
    ATTRIBUTION_REST,
    ENTAILMENT,
    INSTRUMENTS,
)

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
