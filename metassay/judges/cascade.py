"""A cascade: a cheap judge answers where it is sure, and a dear one answers the rest."""

import dataclasses
from collections.abc import Sequence

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.judges.lazy_citations import question_of
from metassay.judges.make import Member, chosen_members, instruments_of, own_notes, paid
from metassay.judges.protocol import Band, Judge, JudgeKind, Judgment, Pair
from metassay.llm.needs import everyone
from metassay.scoring.pairing.instruments import INSTRUMENTS, Labels, Level

FIRST, THEN = "first", "then"


class Members(Options):
    """The judge that reads all pairs, and the one that reads what the first is not sure of."""

    first: Member
    then: Member


class CascadeOptions(Options):
    """members: two blocks with a kind; a cascade of three has a cascade in `then`.

    unsure: [low, high], probabilities between which the first judge is not sure enough of a label
    (of three labels, of any but the positive one); null: it is unsure only where it abstains.
    """

    unsure: Band | None = None
    members: Members


class Cascade:
    """The first judge's answer where it is sure, and else that of the second.

    With `unsure` it is sure of the positive label where its probability is high or higher, and of
    the other one of two where it is low or lower; else of every answer. So it is not sure of an
    answer without a probability, nor, of three labels, of any but the positive one: a low
    probability does not tell which of the others it is. It is never sure of what it fails or
    abstains from. The second judge has the last word, also where it fails.

    The questions about one statement's citations go to the second judge together, if the first is
    unsure of any, since their answers rest on each other. The explanation says who answered;
    `tokens` are those of both.
    """

    def __init__(self, options: CascadeOptions, members: Sequence[Judge]) -> None:
        self._options = options
        self._first, self._then = members
        # Who asks a model about every pair: in a cascade nobody does, and it counts for itself.
        inside = everyone(_members(options)[THEN])
        nested = any(one.record is KIND for one in inside)
        self._dear = [one for one in inside if one.record.requests and not nested]
        self._early = self._late = self._asked = self._unasked = 0

    @property
    def signature(self) -> str:
        """When the first judge is sure, and all that makes both's answers."""
        band = self._options.unsure
        unsure = "abstained" if band is None else f"{band[0]:.15g}-{band[1]:.15g}"
        inside = f"{FIRST}={self._first.signature};{THEN}={self._then.signature}"
        return f"cascade,unsure={unsure}[{inside}]"

    @property
    def notes(self) -> list[str]:
        """How many pairs each judge answered, what that saved, and what both have to say."""
        kinds = self._options.members
        all_ = self._early + self._late
        share = f" ({self._early / all_:.1%})" if all_ else ""
        told = [
            f"{FIRST} ({kinds.first['kind']}) decided {self._early:,} of {all_:,} pairs{share};"
            f" {THEN} ({kinds.then['kind']}) the other {self._late:,}",
            f"{THEN} asks language models {self._asked:,} questions;"
            f" {self._unasked:,} more would be about the pairs that {FIRST} decided",
        ]
        inside = own_notes({FIRST: self._first.notes, THEN: self._then.notes})
        return [*(told if self._dear else told[:1]), *inside]

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """One judgment per pair; None for a citation that makes no difference."""
        early = self._first.judge(pairs)
        each = list(zip(pairs, early, strict=True))
        unsure = {question_of(pair) for pair, one in each if not self._sure(pair, one)}
        rest = [pair for pair in pairs if question_of(pair) in unsure]
        judged = self._then.judge(rest) if rest else []
        late = dict(zip((pair.pair_id for pair in rest), judged, strict=True))
        found = [
            _said(THEN, late[pair.pair_id], one) if pair.pair_id in late else _said(FIRST, one)
            for pair, one in each
        ]
        needed = [pair.pair_id in late for pair, one in zip(pairs, found, strict=True) if one]
        self._late += sum(needed)
        self._early += len(needed) - sum(needed)
        asked = _questions(self._dear, rest)
        self._asked += asked
        self._unasked += _questions(self._dear, pairs) - asked
        return found

    def _sure(self, pair: Pair, judgment: Judgment | None) -> bool:
        if judgment is None:  # it is not needed
            return True
        band, p = self._options.unsure, judgment.probability
        answer = INSTRUMENTS[pair.instrument].answer
        if judgment.status != "ok" or band is None or isinstance(answer, Level):
            return judgment.status == "ok"
        if p is None or not isinstance(answer, Labels):
            return False
        if judgment.label == answer.names[0]:
            return p >= band[1]
        return len(answer.names) == 2 and p <= band[0]


def _said(who: str, judgment: Judgment | None, before: Judgment | None = None) -> Judgment | None:
    """What is answered in the end, by whom, and what it took with what was answered before."""
    if judgment is None:
        return None
    reason = f"{who}: {judgment.explanation or judgment.label or judgment.status}"
    both = [judgment] if before is None else [before, judgment]
    return dataclasses.replace(judgment, explanation=reason, tokens=paid(both))


def _questions(asking: Sequence[Chosen], pairs: Sequence[Pair]) -> int:
    """How many questions to language models there are about these pairs."""
    keys: set[str] = set()
    for one in asking if pairs else ():
        # Only for who asks: reading prompts takes what asking takes.
        from metassay.llm.prompts import Decoding

        # What is counted is the same however a model's answers are drawn.
        decoding = Decoding(one.record.model(one.options).model, 0.0, None, 1)
        asked = one.record.requests(pairs, one.options, decoding)
        keys.update(request.key for request in asked.requests)
    return len(keys)


def _members(options: CascadeOptions) -> dict[str, Chosen]:
    """Both judges; BadInput also where the first is never unsure, or of no label ever sure."""
    members = chosen_members({FIRST: options.members.first, THEN: options.members.then})
    first = members[FIRST]
    both = set(instruments_of(first)) & set(instruments_of(members[THEN]))
    name = f"members > {FIRST}: kind {first.kind!r}"
    if options.unsure is None and not both.intersection(first.record.abstains(first.options)):
        raise BadInput(
            f"{name} never abstains as it is set, so the judge {THEN!r} would be asked nothing;"
            " give it a band (abstain) or the cascade one (unsure), or choose another judge"
        )
    if options.unsure is not None and not both.intersection(first.record.likely(first.options)):
        raise BadInput(
            f"{name} gives no probability as it is set, so with unsure the judge {THEN!r} would be"
            " asked for every label; set unsure to null, or choose a judge that gives one"
        )
    return members


KIND = JudgeKind(
    options=CascadeOptions,
    make=lambda options, _resources, members: Cascade(options, members),
    instruments=tuple(INSTRUMENTS),
    members=_members,
    likely=lambda options: {
        name for one in _members(options).values() for name in one.record.likely(one.options)
    },
    abstains=lambda options: (then := _members(options)[THEN]).record.abstains(then.options),
    batch=8192,  # a second judge that asks an endpoint has enough to ask at once
)
