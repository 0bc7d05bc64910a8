"""A cascade: a cheap judge answers where it is sure, and an expensive one answers the rest."""

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.judges.lazy_citations import question_of
from metassay.judges.make import (
    Member,
    choose_members,
    instruments_of,
    prefix_notes,
    total_tokens,
)
from metassay.judges.protocol import Band, Judge, JudgeKind, Judgment, Pair
from metassay.llm.needs import list_members
from metassay.scoring.pairing.instruments import INSTRUMENTS, Labels, Level

VERSION = 1  # raised by whoever changes results of this module's kinds

FIRST = "first"
THEN = "then"


class Members(Options):
    """The judge that reads all pairs, and the judge for what the first is not sure of."""

    first: Member
    then: Member


class CascadeOptions(Options):
    """members: two blocks with a kind; a cascade of three has a cascade in `then`.

    unsure: [low, high]; between these probabilities the first judge is not sure enough
    of a label (of three labels, of any but the positive one). null: it is unsure only
    where it abstains.
    """

    unsure: Band | None = None
    members: Members


class Cascade:
    """Answer with the first judge where it is sure, otherwise with the second.

    With `unsure: [low, high]` the first judge is sure of the positive label at a
    probability of `high` or more, and of the other of two labels at `low` or less. It
    is not sure of an answer without a probability, nor, of three labels, of any but the
    positive one: a low probability does not tell which of the others applies. Without
    `unsure` it is sure of every answer. It is never sure where it fails or abstains.
    The second judge's answer is final, even if it fails.

    The questions about one statement's citations go to the second judge together if the
    first is unsure of any of them, since their answers depend on each other. The
    explanation names the judge that answered; `tokens` are those of both.
    """

    def __init__(self, options: CascadeOptions, members: Sequence[Judge]) -> None:
        self._options = options
        self._first, self._then = members
        # A cascade inside the second judge does not ask about every pair, and counts
        # for itself.
        inside = list_members(_members(options)[THEN])
        nested = any(judge.record is KIND for judge in inside)
        self._llms = [judge for judge in inside if judge.record.requests and not nested]
        self._questions = self._avoided = 0
        self._decided = Counter[str]()

    @property
    def signature(self) -> str:
        """The band in which the first judge is unsure, and both judges' signatures."""
        band = self._options.unsure
        unsure = "abstained" if band is None else f"{band[0]:.15g}-{band[1]:.15g}"
        inside = f"{FIRST}={self._first.signature};{THEN}={self._then.signature}"
        return f"cascade,unsure={unsure}[{inside}]"

    @property
    def notes(self) -> list[str]:
        """The pairs that each judge answered, the questions saved, and both judges' notes."""
        kinds = self._options.members
        early = self._decided[FIRST]
        total = self._decided.total()
        share = f" ({early / total:.1%})" if total else ""
        counts = [
            f"{FIRST} ({kinds.first['kind']}) decided {early:,} of {total:,} pairs{share};"
            f" {THEN} ({kinds.then['kind']}) the other {self._decided[THEN]:,}",
        ]
        if self._llms:
            counts.append(
                f"{THEN} asks language models {self._questions:,} questions;"
                f" {self._avoided:,} more would be about the pairs that {FIRST} decided"
            )
        inside = prefix_notes({FIRST: self._first.notes, THEN: self._then.notes})
        return [*counts, *inside]

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """Return one judgment per pair; None for a citation that makes no difference."""
        early = self._first.judge(pairs)
        unsure = {
            question_of(pair)
            for pair, answer in zip(pairs, early, strict=True)
            if not self._is_sure(pair, answer)
        }
        rest = [pair for pair in pairs if question_of(pair) in unsure]
        late_answers = self._then.judge(rest) if rest else []
        late = dict(zip((pair.pair_id for pair in rest), late_answers, strict=True))
        judgments: list[Judgment | None] = []
        for pair, answer in zip(pairs, early, strict=True):
            is_late = pair.pair_id in late
            name, last = (THEN, late[pair.pair_id]) if is_late else (FIRST, answer)
            if last is not None:
                self._decided[name] += 1
                reason = f"{name}: {last.explanation or last.label or last.status}"
                tokens = total_tokens(
                    filter(None, [answer, last] if is_late else [last])
                )
                last = dataclasses.replace(last, explanation=reason, tokens=tokens)
            judgments.append(last)
        questions = _count_questions(self._llms, rest)
        self._questions += questions
        self._avoided += _count_questions(self._llms, pairs) - questions
        return judgments

    def _is_sure(self, pair: Pair, judgment: Judgment | None) -> bool:
        if judgment is None:  # the answer is not needed
            return True
        band = self._options.unsure
        p = judgment.probability
        answer = INSTRUMENTS[pair.instrument].answer
        if judgment.status != "ok" or band is None or isinstance(answer, Level):
            return judgment.status == "ok"
        if p is None or not isinstance(answer, Labels):
            return False
        if judgment.label == answer.names[0]:
            return p >= band[1]
        return len(answer.names) == 2 and p <= band[0]


def _count_questions(llms: Sequence[Chosen], pairs: Sequence[Pair]) -> int:
    """Count the distinct questions to language models about the pairs."""
    keys: set[str] = set()
    for judge in llms if pairs else ():
        # Imported only if a judge asks a language model, since it loads what asking
        # needs.
        from metassay.llm.prompts import Decoding

        # The count does not depend on the decoding.
        decoding = Decoding(
            model=judge.record.model(judge.options).model,
            temperature=0.0,
            seed=None,
            max_tokens=1,
        )
        needs = judge.record.requests(pairs, judge.options, decoding)
        keys.update(request.key for request in needs.requests)
    return len(keys)


def _members(options: CascadeOptions) -> dict[str, Chosen]:
    """Return both judges; BadInput also if the first is never unsure, or never sure of a label."""
    members = choose_members({FIRST: options.members.first, THEN: options.members.then})
    first = members[FIRST]
    both = set(instruments_of(first)) & set(instruments_of(members[THEN]))
    name = f"members > {FIRST}: kind {first.kind!r}"
    if options.unsure is None and not both.intersection(
        first.record.abstains(first.options)
    ):
        raise BadInput(
            f"{name} never abstains with its settings, so the judge {THEN!r} would be asked"
            " nothing; set abstain of that judge or unsure of the cascade, or choose another judge"
        )
    if options.unsure is not None and not both.intersection(
        first.record.likely(first.options)
    ):
        raise BadInput(
            f"{name} gives no probability with its settings, so with unsure the judge"
            f" {THEN!r} would be asked every question; set unsure to null, or choose a"
            " judge with probabilities"
        )
    return members


def _likely_labels(options: CascadeOptions) -> set[str]:
    """Return the instruments for which one of the judges gives probabilities."""
    first, then = _members(options).values()
    return {*first.record.likely(first.options), *then.record.likely(then.options)}


def _abstaining_labels(options: CascadeOptions) -> Collection[str]:
    """Return the instruments for which the second judge may abstain."""
    then = _members(options)[THEN]
    instruments: Collection[str] = then.record.abstains(then.options)
    return instruments


KIND = JudgeKind(
    options=CascadeOptions,
    make=lambda options, _resources, members: Cascade(options, members),
    instruments=tuple(INSTRUMENTS),
    members=_members,
    likely=_likely_labels,
    abstains=_abstaining_labels,
    batch=8192,  # a second judge that asks an endpoint has enough to ask at once
)
