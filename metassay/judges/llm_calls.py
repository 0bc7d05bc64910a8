"""What an LLM judge puts into one call, by instrument, and whose question each answer answers.

A call shows what its questions rest on once (`material`) and its questions by number. Which pairs
share a call does not depend on the order in which they come, and equal pairs are asked once.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from metassay.judges.pairwise import leaves_out
from metassay.judges.protocol import Pair

PerCall = Literal["part", "claim"]

TOGETHER, ALONE, REST = "attribution", "attribution_alone", "attribution_rest"
ENTAILED, NOT_ENTAILED = "entailed", "not_entailed"


class Call(NamedTuple):
    """One call: the form's variables but `items`, and for each number its question and pairs."""

    form: "Form"
    material: Mapping[str, object]
    questions: Sequence[Mapping[str, object]]
    pairs: Sequence[Sequence[Pair]]
    passages: tuple[str, ...] = ()  # by number, from 1, where an answer names some


@dataclass(frozen=True)
class Form:
    """How an instrument (or a family of them) is asked, and what may be answered.

    `prompt` is its file in prompts/, with a variable `material` for what all questions of a call
    share, and `items` for the questions, which have the texts `asks`. `field` is the answer's,
    `values` what it may be. `calls(form, pairs, most)` puts pairs into calls, of at most `most`
    questions if it is a number. `passages`: an answer also names the passages that it rests on.
    """

    instruments: tuple[str, ...]
    prompt: str
    material: str
    asks: tuple[str, ...]
    field: Literal["label", "grade"]
    values: tuple[str | int, ...]
    calls: "Callable[[Form, Sequence[Pair], int | None], Iterator[Call]]"
    passages: bool = False


def calls_of(pairs: Iterable[Pair], most: int | None) -> list[Call]:
    """The calls that ask every pair, in order of instrument and of what they rest on."""
    distinct = sorted({pair.pair_id: pair for pair in pairs}.values(), key=_order)
    return [
        call
        for form in FORMS
        for call in form.calls(
            form, [p for p in distinct if p.instrument in form.instruments], most
        )
    ]


def numbered_passages(passages: Sequence[str]) -> list[dict[str, object]]:
    """Passages as a prompt shows them."""
    return [{"number": n, "text": text} for n, text in enumerate(passages, start=1)]


def attributed(call: Call, pair: Pair, label: str, named: Collection[int]) -> str:
    """What an answer about passages that a statement cites says of one question about it.

    A passage alone counts as entailing if the passages together do and it is named; the others
    without it, if those together do and it is not named.
    """
    if is_whole(call, pair):
        return label
    # Where passages hold line breaks, one text can lack this passage or that one.
    is_named = all(place in named for place in _about(pair, call.passages))
    holds = label == ENTAILED and is_named == (pair.instrument == ALONE)
    return ENTAILED if holds else NOT_ENTAILED


def is_whole(call: Call, pair: Pair) -> bool:
    """Whether a pair asks about all passages that its statement cites."""
    return pair.instrument == TOGETHER or call.passages == (pair.premise,)


def _order(pair: Pair) -> tuple[str, ...]:
    return (pair.context or "", pair.premise, pair.author, pair.part, pair.hypothesis, pair.pair_id)


def _grouped(pairs: Sequence[Pair], key: Callable[[Pair], Hashable]) -> Iterator[list[Pair]]:
    groups: dict[Hashable, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(key(pair), []).append(pair)
    yield from groups.values()


def _against_a_premise(form: Form, pairs: Sequence[Pair], most: int | None) -> Iterator[Call]:
    """All hypotheses of one author's part against one premise, or `most` of them, in one call."""
    for group in _grouped(pairs, lambda p: (p.instrument, p.premise, p.author, p.part)):
        size = most or len(group)
        for start in range(0, len(group), size):
            own = group[start : start + size]
            material = {form.material: own[0].premise}
            questions = [{"hypothesis": pair.hypothesis} for pair in own]
            yield Call(form, material, questions, [[pair] for pair in own])


def _of_statements(form: Form, pairs: Sequence[Pair], _: int | None) -> Iterator[Call]:
    """One call per cited statement, which answers all that is asked about its citations.

    If not all of its passages are there, as where a jury asks for one that a member left out, each
    question is asked by itself.
    """
    for group in _grouped(pairs, lambda p: (p.context or p.premise, p.hypothesis)):
        whole = group[0].context or group[0].premise
        passages = _cited(whole, {pair.premise for pair in group if pair.instrument == ALONE})
        shared = [p for p in group if p.instrument == TOGETHER or _about(p, passages)]
        if shared:
            yield _of_statement(form, passages or (whole,), shared)
        for pair in group:
            if pair not in shared:
                yield _of_statement(form, (pair.premise,), [pair])


def _of_statement(form: Form, passages: tuple[str, ...], pairs: Sequence[Pair]) -> Call:
    material = {form.material: numbered_passages(passages)}
    return Call(form, material, [{"statement": pairs[0].hypothesis}], [pairs], passages)


def _of_two_texts(form: Form, pairs: Sequence[Pair], _: int | None) -> Iterator[Call]:
    """One call per pair of texts in one order."""
    for pair in pairs:
        question = {"first": pair.premise, "second": pair.hypothesis}
        yield Call(form, {form.material: pair.context}, [question], [[pair]])


def _cited(whole: str, alone: Collection[str]) -> tuple[str, ...]:
    """The passages that newlines join, in their order; none if not all of them are known."""
    found, left = [], f"{whole}\n"
    longest_first = sorted(alone, key=len, reverse=True)
    while left:
        passage = next((p for p in longest_first if left.startswith(f"{p}\n")), None)
        if passage is None:
            return ()
        found.append(passage)
        left = left[len(passage) + 1 :]
    return tuple(dict.fromkeys([*found, *sorted(alone)]))


def _about(pair: Pair, passages: Sequence[str]) -> list[int]:
    """The passages, by number, that a question about one citation asks about or leaves out."""
    alone = pair.instrument == ALONE
    return [
        number
        for number, passage in enumerate(passages, start=1)
        if (pair.premise == passage if alone else leaves_out(pair, passage))
    ]


_YES_OR_NO = (ENTAILED, NOT_ENTAILED)


def _listed(instrument: str, field: Literal["label", "grade"], *values: str | int) -> Form:
    prompt = f"judge-{instrument.replace('_', '-')}"
    return Form(
        (instrument,), prompt, "premise", ("hypothesis",), field, values, _against_a_premise
    )


FORMS = (
    Form(
        instruments=(TOGETHER, ALONE, REST),
        prompt="judge-attribution",
        material="passages",
        asks=("statement",),
        field="label",
        values=_YES_OR_NO,
        calls=_of_statements,
        passages=True,
    ),
    Form(
        instruments=("preference",),
        prompt="judge-preference",
        material="context",
        asks=("first", "second"),
        field="label",
        values=("first", "second", "neither"),
        calls=_of_two_texts,
    ),
    _listed("entailment", "label", *_YES_OR_NO),
    _listed("same_question", "label", "same", "different"),
    _listed("support_grade", "grade", 0, 1, 2, 3),
    _listed("three_way", "label", "entailed", "neutral", "contradicted"),
)
