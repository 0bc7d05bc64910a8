"""A jury: several judges read the same pairs and vote on the answers."""

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from metassay.core.naming import name_problems
from metassay.core.options import Block, Options
from metassay.judges.lazy_citations import judge_as_needed
from metassay.judges.make import Member, choose_members, prefix_notes, total_tokens
from metassay.judges.protocol import Judge, JudgeKind, Judgment, Pair, Status
from metassay.scoring.pairing.instruments import INSTRUMENTS, Labels

VERSION = 1  # raised by whoever changes results of this module's kinds

_GRAVITY: tuple[Status, ...] = get_args(Status)  # from ok to error
_ROUNDING = 1e-9
_LABELS = {
    n: i.answer.names for n, i in INSTRUMENTS.items() if isinstance(i.answer, Labels)
}
_MULTICLASS = [name for name, labels in _LABELS.items() if len(labels) > 2]


class JuryOptions(Options):
    """members: the judges by name, each a block with a kind.

    by: each answer is a vote for its label (`majority`), or is spread over both labels
    by its probability where it has one (`mean`). margin: a label needs a share above
    0.5 + margin.
    """

    by: Literal["majority", "mean"]
    margin: Annotated[float, Field(ge=0, lt=0.5)] = 0.0
    members: dict[str, Member]

    @field_validator("members")
    @classmethod
    def _check_names(cls, members: dict[str, Block]) -> dict[str, Block]:
        problems = [*name_problems(members)]
        if len(members) < 2:
            problems.append(
                "a jury needs two judges or more; add one, or use that judge by itself"
            )
        if problems:
            raise PydanticCustomError(
                "names", "{lines}", {"lines": "; ".join(problems)}
            )
        return members


class Jury:
    """Answer with the label that gets more than half of the members' votes.

    A member has one vote per pair. By `majority`, it goes to the member's label. By
    `mean`, it is spread over the two labels by the member's probability, if the
    instrument has two labels and the member gives a probability; otherwise it goes to
    the label as well. Members that failed or abstained have no vote. The answer is the
    label whose share of the votes exceeds one half plus `margin`; without such a label,
    as in a tie, the jury abstains. If no member has a vote, the status is the gravest
    of the members'. The order of members makes no difference.

    `probability` is the positive label's share of the votes: by `mean` the mean of the
    probabilities, by `majority` an uncalibrated share of members. A grade is the median
    of the members' grades (`majority`) or their mean, whatever the `margin`; its quotes
    are those of the members with the nearest grades. The explanation lists the votes.
    `tokens` sums over members, `attempts` is the maximum, and `repaired` is true if any
    vote was repaired.

    A member that skipped a citation because its own answers did not need it is asked
    about that citation by itself if the jury's answers need it.
    """

    def __init__(self, options: JuryOptions, members: Sequence[Judge]) -> None:
        self._options = options
        self._members = dict(sorted(zip(options.members, members, strict=True)))

    @property
    def signature(self) -> str:
        """The voting rule and the members' signatures."""
        members = ";".join(
            f"{name}={judge.signature}" for name, judge in self._members.items()
        )
        return (
            f"jury,by={self._options.by},margin={self._options.margin:.15g}[{members}]"
        )

    @property
    def notes(self) -> list[str]:
        """The members' notes."""
        return prefix_notes(
            {name: judge.notes for name, judge in self._members.items()}
        )

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """Return one judgment per pair; None for a citation that makes no difference."""
        answers: dict[str, dict[str, Judgment | None]] = {
            pair.pair_id: {} for pair in pairs
        }

        def poll(some: Sequence[Pair]) -> None:
            for name, member in self._members.items():
                open_ = [
                    pair for pair in some if answers[pair.pair_id].get(name) is None
                ]
                judgments = member.judge(open_) if open_ else ()
                for pair, judgment in zip(open_, judgments, strict=True):
                    answers[pair.pair_id][name] = judgment

        def decide(needed: Sequence[Pair]) -> list[Judgment]:
            poll(needed)
            return [self._count(pair, answers[pair.pair_id]) for pair in needed]

        poll(pairs)  # all at once: some judges read them in groups
        return judge_as_needed(pairs, decide)

    def _count(self, pair: Pair, answers: Mapping[str, Judgment | None]) -> Judgment:
        ballot = {name: vote for name, vote in answers.items() if vote is not None}
        votes = {name: vote for name, vote in ballot.items() if vote.status == "ok"}
        failures = {
            name: vote.status for name, vote in ballot.items() if vote.status != "ok"
        }
        answer = INSTRUMENTS[pair.instrument].answer
        reasons: list[str] = []
        if not votes:
            verdict = Judgment(
                max(failures.values(), key=_GRAVITY.index, default="error")
            )
        elif isinstance(answer, Labels):
            verdict, reasons = self._label(answer.names, votes)
        else:
            verdict, reasons = self._grade(votes)
        reasons += [f"{name}: {status}" for name, status in failures.items()]
        return dataclasses.replace(
            verdict,
            explanation="; ".join(reasons),
            tokens=total_tokens(ballot.values()),
            attempts=max((vote.attempts for vote in ballot.values()), default=1),
            repaired=any(vote.repaired for vote in votes.values()),
        )

    def _label(
        self, names: Sequence[str], votes: Mapping[str, Judgment]
    ) -> tuple[Judgment, list[str]]:
        spread = self._options.by == "mean" and len(names) == 2
        weights = {
            name: _weights(vote, names, spread=spread) for name, vote in votes.items()
        }
        shares = {}
        for label in names:
            total = math.fsum(by_label[label] for by_label in weights.values())
            shares[label] = total / len(votes)
        best = max(names, key=shares.__getitem__)
        clear = shares[best] > 0.5 + self._options.margin + _ROUNDING
        # Rounding errors can put a share outside [0, 1].
        probability = min(max(shares[names[0]], 0.0), 1.0)
        status: Status = "ok" if clear else "abstained"
        verdict = Judgment(status, best if clear else None, probability)
        if spread:
            listed = ", ".join(
                f"{name} {w[names[0]]:.2f}" for name, w in weights.items()
            )
            return verdict, [f"{names[0]} {shares[names[0]]:.2f} on average ({listed})"]
        reasons = []
        for label in names:
            voters = [name for name, vote in votes.items() if vote.label == label]
            if voters:
                reasons.append(
                    f"{label} {len(voters)} of {len(votes)} ({', '.join(voters)})"
                )
        return verdict, reasons

    def _grade(self, votes: Mapping[str, Judgment]) -> tuple[Judgment, list[str]]:
        grades = {name: float(vote.grade or 0.0) for name, vote in votes.items()}
        average = (
            statistics.median if self._options.by == "majority" else statistics.fmean
        )
        grade = float(average(list(grades.values())))
        nearest = min(abs(g - grade) for g in grades.values())
        places: dict[tuple[str, int], None] = {}  # a set that keeps the order
        for name, vote in votes.items():
            if abs(grades[name] - grade) == nearest:
                quoted = zip(vote.quotes, vote.quote_starts, strict=True)
                places |= dict.fromkeys(quoted)
        verdict = Judgment(
            "ok",
            grade=grade,
            quotes=tuple(quote for quote, _ in places),
            quote_starts=tuple(start for _, start in places),
        )
        listed = ", ".join(f"{name} {value:g}" for name, value in grades.items())
        return verdict, [f"grades: {listed}"]


def _weights(
    judgment: Judgment, names: Sequence[str], *, spread: bool
) -> dict[str, float]:
    p = judgment.probability
    if spread and p is not None:
        return {names[0]: p, names[1]: 1 - p}
    return {label: float(label == judgment.label) for label in names}


def _may_abstain(options: JuryOptions) -> list[str]:
    """List the instruments with possible ties or missing votes; of grades, if all may abstain."""
    members = choose_members(options.members).values()
    abstaining = [
        frozenset(member.record.abstains(member.options)) for member in members
    ]
    ties = _LABELS if options.margin > 0 or len(abstaining) % 2 == 0 else _MULTICLASS
    labels = frozenset(ties).union(*abstaining).intersection(_LABELS)
    by_all = frozenset.intersection(*abstaining)
    return [name for name in INSTRUMENTS if name in labels or name in by_all]


KIND = JudgeKind(
    options=JuryOptions,
    make=lambda options, _resources, members: Jury(options, members),
    instruments=tuple(INSTRUMENTS),
    members=lambda options: choose_members(options.members),
    likely=lambda _: tuple(_LABELS),
    abstains=_may_abstain,
    batch=8192,  # members that ask an endpoint have enough to ask at once
)
