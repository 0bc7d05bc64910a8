"""What a check of a judge against its anchors comes to, and the settings of the sentinel."""

import datetime
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from metassay.options import PARAMS, Options, parse
from metassay.params import Params

State = Literal["no alarm", "alarm", "cannot tell", "retired", "another judge"]


class SentinelOptions(Options):
    """The block `sentinel` of params.yaml; all of it may be left out.

    `max_cost`: what one fix, check or bridge of one judge may cost at most, in the currency of the
    prices of its models (a model without prices has no cap); it is no part of the run's max_cost.
    `false_alarm`: how often a check of a judge that did not change may raise the alarm.
    `max_failed`: of the anchors, the share without an answer from which on nothing can be said.
    """

    max_cost: Annotated[float, Field(ge=0, le=4_000_000)] = 1.0  # as of a run
    false_alarm: Annotated[float, Field(ge=0.0001, le=0.2)] = 0.02
    max_failed: Annotated[float, Field(ge=0, le=0.5)] = 0.1


def settings(params: Params) -> SentinelOptions:
    """The block as params.yaml has it, checked."""
    return parse(SentinelOptions, params.sentinel, where=f"{PARAMS} > sentinel")


@dataclass(frozen=True)
class DriftResult:
    """One check of one judge; a row of table `drift`.

    `anchors` were asked, `answered` of them have a verdict today, `failed` have none: these are
    unknown and in no other number. `changed` have another verdict than the stored one; `expected`
    is how many would, and `high` the most that may be chance, from repeated judging. `shift` is
    the answers that went up (towards the first label, such as `entailed`, or a higher grade) less
    those that went down, which may be chance from `shift_low` to `shift_high`. All of these are
    None where the state is neither `alarm` nor `no alarm`. `false_alarm` is the stated rate per
    check of one judge. `why` says in a plain sentence what was found and what to do: keys and
    numbers alone.
    """

    benchmark: str
    judge: str
    when: datetime.datetime  # UTC, to the second
    state: State
    why: str
    anchor_set: str  # hash of the anchors and their stored verdicts: rows of one set go together
    anchors: int
    answered: int
    failed: int
    false_alarm: float
    changed: int | None = None
    expected: float | None = None
    high: int | None = None
    p_changed: float | None = None
    shift: int | None = None
    shift_low: int | None = None
    shift_high: int | None = None
    p_shift: float | None = None
    spent: float | None = None
    currency: str | None = None

    @property
    def alarm(self) -> bool:
        """Whether the judge answers otherwise than it did, or is gone."""
        return self.state in ("alarm", "retired")

    @property
    def sentence(self) -> str:
        """The whole in one line."""
        return f"{self.benchmark}, judge {self.judge}: {self.state}: {self.why}"

    def row(self) -> dict[str, Any]:
        """As a row of table `drift`."""
        return {**asdict(self), "when": f"{self.when:%Y-%m-%dT%H:%M:%SZ}", "alarm": self.alarm}
