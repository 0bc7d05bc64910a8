"""Judges that read one premise and one hypothesis at a time are asked only what can matter.

A citation is of use if all passages together entail the statement, and its own does so alone or the
others without it do not. So a single passage matters only where all together may entail, and the
others only where it may not entail alone (DocLens, Xie et al. 2024, section 3.3; its code asks an
NLI model in this order). An answer that failed may be either, so what depends on it is asked.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

from metassay.judges.protocol import Judgment, Pair
from metassay.scoring.pairing.instruments import ATTRIBUTION, ATTRIBUTION_ALONE, ATTRIBUTION_REST

_Statement = tuple[str | None, str]  # all passages that it cites, and what it states


def as_needed(
    pairs: Sequence[Pair], decide: Callable[[Sequence[Pair]], Sequence[Judgment]]
) -> list[Judgment | None]:
    """Judgments of the pairs, None where an answer could change nothing.

    `decide` gives one judgment per pair, and is called at most three times: with all that is asked
    whatever the answers, with single passages, with the others. A question about a citation whose
    statement is not asked about as a whole is always asked.
    """
    answers: list[Judgment | None] = [None] * len(pairs)

    def ask(places: Sequence[int]) -> None:
        asked = [pairs[place] for place in places]
        for place, judgment in zip(places, decide(asked) if asked else (), strict=True):
            answers[place] = judgment

    singles, others = (_places(pairs, one.name) for one in (ATTRIBUTION_ALONE, ATTRIBUTION_REST))
    ask(sorted({*range(len(pairs))} - {*singles, *others}))
    unsupported = {
        (pairs[place].premise, pairs[place].hypothesis)
        for place in _places(pairs, ATTRIBUTION.name)
        if _said(answers[place], "not_entailed")
    }
    ask([place for place in singles if _statement(pairs[place]) not in unsupported])
    entailing: dict[_Statement, dict[str, bool]] = defaultdict(dict)  # by passage
    for place in singles:
        entails = _said(answers[place], "entailed")
        entailing[_statement(pairs[place])][pairs[place].premise] = entails

    def may_count(rest: Pair) -> bool:
        known = entailing[_statement(rest)].items()
        alone = [entails for passage, entails in known if leaves_out(rest, passage)]
        return _statement(rest) not in unsupported and not (alone and all(alone))

    ask([place for place in others if may_count(pairs[place])])
    return answers


def question_of(pair: Pair) -> tuple[str, ...]:
    """What is decided together: a statement with all its citations, or else a pair by itself."""
    if pair.instrument.startswith(ATTRIBUTION.name):
        return pair.premise if pair.context is None else pair.context, pair.hypothesis
    return (pair.pair_id,)


def leaves_out(rest: Pair, passage: str) -> bool:
    """Whether a question of instrument attribution_rest is about all passages but this one."""
    whole, cut = f"\n{rest.context}\n", f"\n{passage}"
    left, found = f"\n{rest.premise}\n", re.finditer(rf"(?={re.escape(cut)}\n)", whole)
    return any(whole[: one.start()] + whole[one.start() + len(cut) :] == left for one in found)


def _places(pairs: Sequence[Pair], instrument: str) -> list[int]:
    return [place for place, pair in enumerate(pairs) if pair.instrument == instrument]


def _statement(citation: Pair) -> _Statement:
    return citation.context, citation.hypothesis


def _said(judgment: Judgment | None, label: str) -> bool:
    return judgment is not None and judgment.status == "ok" and judgment.label == label
