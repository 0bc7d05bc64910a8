"""A jury: several judges read the same pairs, and the answer is theirs together."""

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from metassay.core.naming import name_problems
from metassay.core.options import Block, Options
from metassay.judges.lazy_citations import as_needed
from metassay.judges.make import Member, chosen_members, own_notes, paid
from metassay.judges.protocol import Judge, JudgeKind, Judgment, Pair, Status
from metassay.scoring.pairing.instruments import INSTRUMENTS, Labels

_GRAVITY: tuple[Status, ...] = get_args(Status)  # from ok to error
_ROUNDING = 1e-9
_NAMES = {n: one.answer.names for n, one in INSTRUMENTS.items() if isinstance(one.answer, Labels)}
_LABELS = tuple(_NAMES)
_OF_MORE = [name for name, labels in _NAMES.items() if len(labels) > 2]

Said = Mapping[str, Judgment | None]  # by member; None: it was not needed


class JuryOptions(Options):
    """members: the judges, each a block with a kind, by name.

    by: each answer is a vote for its label (`majority`), or is spread over both labels by its
    probability where it has one (`mean`). margin: how far above one half a label's share of the
    votes has to be.
    """

    by: Literal["majority", "mean"]
    margin: Annotated[float, Field(ge=0, lt=0.5)] = 0.0
    members: dict[str, Member]

    @field_validator("members")
    @classmethod
    def _named(cls, members: dict[str, Block]) -> dict[str, Block]:
        few = "a jury needs two judges or more; add one, or use that judge by itself"
        if problems := [*name_problems(members), *([few] if len(members) < 2 else [])]:
            raise PydanticCustomError("names", "{lines}", {"lines": "; ".join(problems)})
        return members


class Jury:
    """The label that more than half of the members' votes are for.

    A member has one vote on each pair. By `majority` it is for the member's label. By `mean` it is
    spread over the two labels by the member's probability, if the instrument has two and the member
    gives one; else it is for the label, too. Members that failed or abstained have no vote. The
    answer is the label whose share of the votes is above one half plus `margin`; where there is
    none, as in a tie, the jury has abstained. Where nobody has a vote, its status is the gravest of
    the members'. The order of members makes no difference.

    `probability` is the positive label's share of the votes: by `mean` the mean of the
    probabilities, by `majority` a count, which nothing calibrates. A grade is the median of the
    members' grades (`majority`) or their mean; `margin` has no part in it. Its quotes are those of
    the members whose grades are nearest to it. The explanation has who voted for what. `tokens` are
    those of all members, `attempts` the most of any; it is `repaired` if a vote is.

    Of single citations the jury asks what its own answers need: a member whose own answers need
    less, and that left a citation out, is asked about that one by itself.
    """

    def __init__(self, options: JuryOptions, members: Sequence[Judge]) -> None:
        self._options = options
        self._members = dict(sorted(zip(options.members, members, strict=True)))

    @property
    def signature(self) -> str:
        """How they vote, and all that makes their votes."""
        inside = ";".join(f"{name}={one.signature}" for name, one in self._members.items())
        return f"jury,by={self._options.by},margin={self._options.margin:.15g}[{inside}]"

    @property
    def notes(self) -> list[str]:
        """What the members have to say."""
        return own_notes({name: one.notes for name, one in self._members.items()})

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """One judgment per pair; None for a citation that makes no difference."""
        said: dict[str, dict[str, Judgment | None]] = {pair.pair_id: {} for pair in pairs}
        for name, member in self._members.items():  # all pairs at once: some read them in groups
            for pair, judgment in zip(pairs, member.judge(pairs), strict=True):
                said[pair.pair_id][name] = judgment

        def decide(asked: Sequence[Pair]) -> list[Judgment]:
            for name, member in self._members.items():
                open_ = [pair for pair in asked if said[pair.pair_id][name] is None]
                for pair, judgment in zip(open_, member.judge(open_) if open_ else (), strict=True):
                    said[pair.pair_id][name] = judgment
            return [self._together(pair, said[pair.pair_id]) for pair in asked]

        return as_needed(pairs, decide)

    def _together(self, pair: Pair, said: Said) -> Judgment:
        given = {name: one for name, one in said.items() if one is not None}
        votes = {name: one for name, one in given.items() if one.status == "ok"}
        silent = {name: one.status for name, one in given.items() if one.status != "ok"}
        answer = INSTRUMENTS[pair.instrument].answer
        if not votes:
            found = Judgment(max(silent.values(), key=_GRAVITY.index, default="error"))
            counted: list[str] = []
        elif isinstance(answer, Labels):
            found, counted = self._label(answer.names, votes)
        else:
            found, counted = self._grade(votes)
        explanation = "; ".join([*counted, *(f"{name}: {why}" for name, why in silent.items())])
        return dataclasses.replace(
            found,
            explanation=explanation,
            tokens=paid(given.values()),
            attempts=max((one.attempts for one in given.values()), default=1),
            repaired=any(one.repaired for one in votes.values()),
        )

    def _label(
        self, names: Sequence[str], votes: Mapping[str, Judgment]
    ) -> tuple[Judgment, list[str]]:
        spread = self._options.by == "mean" and len(names) == 2
        each = {name: _vote(one, names, spread=spread) for name, one in votes.items()}
        shares = {label: math.fsum(v[label] for v in each.values()) / len(votes) for label in names}
        best = max(names, key=shares.__getitem__)
        clear = shares[best] > 0.5 + self._options.margin + _ROUNDING
        # Rounding may leave a share that is not within 0 and 1.
        probability = min(max(shares[names[0]], 0.0), 1.0)
        status: Status = "ok" if clear else "abstained"
        found = Judgment(status, best if clear else None, probability)
        if spread:
            listed = ", ".join(f"{name} {vote[names[0]]:.2f}" for name, vote in each.items())
            return found, [f"{names[0]} {shares[names[0]]:.2f} on average ({listed})"]
        whose = {label: [who for who, v in votes.items() if v.label == label] for label in names}
        return found, [
            f"{label} {len(who)} of {len(votes)} ({', '.join(who)})"
            for label, who in whose.items()
            if who
        ]

    def _grade(self, votes: Mapping[str, Judgment]) -> tuple[Judgment, list[str]]:
        grades = {name: float(one.grade or 0.0) for name, one in votes.items()}
        middle = statistics.median if self._options.by == "majority" else statistics.fmean
        grade = float(middle(list(grades.values())))
        nearest = min(abs(one - grade) for one in grades.values())
        agree = [votes[name] for name, one in grades.items() if abs(one - grade) == nearest]
        quoted = [
            place for one in agree for place in zip(one.quotes, one.quote_starts, strict=True)
        ]
        places = dict.fromkeys(quoted)
        quotes, starts = tuple(quote for quote, _ in places), tuple(start for _, start in places)
        found = Judgment("ok", grade=grade, quotes=quotes, quote_starts=starts)
        return found, [f"grades: {', '.join(f'{name} {g:g}' for name, g in grades.items())}"]


def _vote(judgment: Judgment, names: Sequence[str], *, spread: bool) -> dict[str, float]:
    p = judgment.probability
    if spread and p is not None:
        return {names[0]: p, names[1]: 1 - p}
    return {label: float(label == judgment.label) for label in names}


def _may_abstain(options: JuryOptions) -> list[str]:
    """Where there can be a tie, or too few votes; of grades where no member gives one."""
    members = chosen_members(options.members).values()
    each = [frozenset(member.record.abstains(member.options)) for member in members]
    tied = options.margin > 0 or len(each) % 2 == 0
    open_ = frozenset(_LABELS if tied else _OF_MORE).union(*each).intersection(_LABELS)
    return [name for name in INSTRUMENTS if name in open_ or all(name in one for one in each)]


KIND = JudgeKind(
    options=JuryOptions,
    make=lambda options, _resources, members: Jury(options, members),
    instruments=tuple(INSTRUMENTS),
    members=lambda options: chosen_members(options.members),
    likely=lambda _: _LABELS,
    abstains=_may_abstain,
    batch=8192,  # members that ask an endpoint have enough to ask at once
)
