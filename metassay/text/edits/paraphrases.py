"""Paraphrases: another order or voice, a part left out, or other words with the same meaning.

A sentence entails what remains when a part is left out. Nothing is left out under a
negation or a condition, where less can mean more.
"""

import re
from collections.abc import Iterator
from itertools import chain

from metassay.text.edits.flips import CUE, WordMatch, find, has, is_verb
from metassay.text.edits.wording import (
    FILE,
    NUMBER_WORD,
    VALUES,
    WORDS,
    alternatives,
    each,
    in_case_of,
    read_list,
    replace_text,
    table,
    tidy,
    without,
)
from metassay.text.patterns import Patterns
from metassay.text.vocabulary import CLOSED, Half, Term, as_key
from metassay.text.vocabulary.inflection import ING, PARTICIPLE, verb_forms

_O, _P, _N = (Patterns(FILE, section) for section in ("orders", "parts", "paraphrases"))

_LONGEST_ITEM = 3  # words


_PASSIVES = {base: verb_forms(base)[PARTICIPLE] for base in read_list("passives")}
_ACTIVE = re.compile(
    r"(?:\A|(?<=: ))(?:I|We)"
    rf"(?:(?: will|['\u2019]ll)(?: also)? (?P<will>{'|'.join(_PASSIVES)})"
    rf"|(?: have| also)? (?P<did>{'|'.join(_PASSIVES.values())})) "
    r"(?P<what>(?P<one>an? )?(?:the |his |her )?(?!(?:to|these|this|those|it|that)\b)"
    r"(?:[\w-]+ ){0,4}?[\w-]+)"
    r"(?P<rest>(?: (?:to|for|today|in|at|with)\b(?!.* and )[^,;:]*)?\.?)\Z"
)


def clause_order(sentence: str) -> Iterator[str]:
    """Swap two clauses, or an adverbial and its clause."""
    clauses = _O.two_clauses.match(sentence)
    free = not (
        _O.reported.search(sentence) or _O.owing.search(sentence) or " but " in sentence
    )
    if clauses and free and len(_O.states.findall(sentence)) == 2:
        yield f"{first(clauses['two'])} and {_later(clauses['one'])}{clauses['stop']}"
    for pattern in (_O.lead, _O.lead_clause):
        match = pattern.match(sentence)
        if match and _alone(match["main"]) and not CUE.search(sentence):
            yield f"{first(match['main'])} {_later(match['lead'])}{match['stop']}"
    last = _O.last_clause.match(sentence)
    if (
        last
        and _alone(last["main"])
        and not (CUE.search(sentence) or " and " in last["lead"])
    ):
        yield f"{first(last['lead'])}, {_later(last['main'])}{last['stop']}"


def _alone(main: str) -> bool:
    """Return whether this is a single clause, so that what follows can only belong to it."""
    return bool(_O.finite.search(main)) and not (
        _O.two_parts.search(main) or _O.this.match(main)
    )


def first(clause: str) -> str:
    """Capitalise the first letter of a clause."""
    return clause[0].upper() + clause[1:]


def _later(clause: str) -> str:
    return clause if _O.name.match(clause) else clause[0].lower() + clause[1:]


def list_order(sentence: str) -> Iterator[str]:
    """Swap the first two items of a list of three or more."""
    for match in lists(sentence):
        swapped = f"{match['two']}, {match['one']}"
        yield sentence[: match.start("one")] + swapped + sentence[match.start("rest") :]


def lists(sentence: str) -> Iterator[re.Match[str]]:
    """Find a list of three items or more at the end, if its first two are independent."""
    if (match := _O.list.search(sentence)) is None:
        return
    items = (match["one"], match["two"])
    if not any(
        _O.shared.search(item) or len(item.split()) > _LONGEST_ITEM for item in items
    ):
        yield match


def subject(sentence: str) -> Iterator[str]:
    """Remove "the patient" (he, she) before a finding, or add it."""
    for match in _O.subject.finditer(sentence):
        verb = match["verb"]
        yield without(sentence, match, first(verb))
    for match in _O.no_subject.finditer(sentence):
        yield without(sentence, match, f"The patient {match['verb'].lower()}")
    yield from each(sentence, _O.patient, "The patient")
    yield from each(sentence, _O.the_patient, "Patient")


def voice(sentence: str) -> Iterator[str]:
    """Turn "We will order a scan." into "A scan will be ordered."; also in the past."""
    match = _ACTIVE.search(sentence)
    if match is None or not (match["will"] or match["one"]):
        return
    predicate = (
        f"will be {_PASSIVES[match['will']]}"
        if match["will"]
        else f"was {match['did']}"
    )
    topic = in_case_of("A", match["what"])
    yield f"{sentence[: match.start()]}{topic} {predicate}{match['rest']}"


_NO_NOUN = read_list("no noun")


def dropped_detail(sentence: str) -> Iterator[str]:
    """Leave out a clause, a listed item or a detail."""
    if _P.condition.search(sentence):
        return
    clause = _P.last_clause.search(sentence)
    before = sentence[: clause.start()] if clause else ""
    if clause and not _P.when.search(before) and len(before.split()) > 2:
        yield without(sentence, clause)
    for match in lists(sentence):
        rest = re.sub(r"\A,(?= (?:and|or) )", "", match["rest"])
        yield sentence[: match.end("one")] + rest
    if CUE.search(sentence) or _P.later.search(sentence):
        return
    for pattern in (_P.adverbial, _P.lead, _P.brackets, _P.apposition):
        for match in pattern.finditer(sentence):
            yield tidy(without(sentence, match), like=sentence)
    yield from each(sentence, _P.degree, lambda match: match["next"])
    # Without the severity of something, or the dose of a drug.
    yield from each(
        sentence,
        _P.severity,
        lambda m: None if m["next"] in _NO_NOUN else m["next"],
        "both",
    )
    for drug in find("drug", sentence):
        dose = _P.dosed.match(sentence, drug.end)
        if dose and _P.takes.search(sentence[: drug.start]):
            yield without(sentence, dose)


def list_part(sentence: str) -> Iterator[str]:
    """Keep only one item of a list."""
    for match in lists(sentence):
        stop = "." if sentence.endswith(".") else ""
        if _is_noun(match["one"]) and _is_noun(match["two"]):
            yield sentence[: match.end("one")] + stop
            yield sentence[: match.start("one")] + match["two"] + stop
    yield from _clauses(sentence)
    pair = _P.two.search(sentence)
    if pair is None or _P.together.search(sentence) or _P.condition.search(sentence):
        return
    first_item, second_item = pair["one"], pair["two"]
    places = [
        [drug.start for drug in find("drug", item)]
        for item in (first_item, second_item)
    ]
    drugs = places == [[0], [0]]  # with or without doses
    if not drugs and not _are_items(sentence, pair):
        return
    if drugs or len(second_item.split()) == 1:
        yield sentence[: pair.end("one")] + pair["stop"]
    if drugs or not pair["half"]:
        yield sentence[: pair.start("one")] + second_item + pair["stop"]


def _clauses(sentence: str) -> Iterator[str]:
    """Yield each of two clauses alone, if it does not depend on the other."""
    clauses = _O.two_clauses.match(sentence)
    if (
        clauses is None
        or _O.reported.search(sentence)
        or len(_O.states.findall(sentence)) != 2
    ):
        return
    yield clauses["one"] + clauses["stop"]
    if not (_P.ellipsis.search(clauses["two"]) or _O.owing.search(clauses["two"])):
        yield first(clauses["two"]) + clauses["stop"]


def _is_noun(item: str) -> bool:
    """Return whether, by its ending, an item cannot be an adjective of a later noun."""
    return bool(_P.noun.search(item)) and not _P.doing.match(item)


def _are_items(sentence: str, match: re.Match[str]) -> bool:
    """Return whether both items are short and independent of each other.

    Under a negation an adjective of the first can belong to both, and "and" has another
    meaning.
    """
    first_item, second_item = match["one"], match["two"]
    if any(
        _P.no_item.search(item) or len(item.split()) > 3
        for item in (first_item, second_item)
    ):
        return False
    negated = bool(CUE.search(sentence))
    if negated and (_O.shared.search(first_item) or match["half"]):
        return False
    return negated == (match["and"].lower() == "or")


_UNITS = table("paraphrases units")
_UNIT = re.compile(
    rf"(?P<number>(?<![\w.])\d[\d.,/]*)(?P<gap> ?)(?P<unit>{alternatives(_UNITS)})(?![\w-])(?! Hg)"
)
_WORD = re.compile(rf"{NUMBER_WORD}(?! and )", re.IGNORECASE)


def abbreviation(sentence: str, split: Half) -> Iterator[str]:
    """Abbreviate a term, or write out an abbreviation."""
    for kind in ("diagnosis", "synonym", CLOSED):
        for word, form, before in _of_half(kind, sentence, split):
            if len(form.group.sides) > 1 and not before.endswith(" to "):
                rows = form.group.rows(1 - form.side)
                for row in rows if form.side == 0 else rows[:1]:
                    yield from _put(sentence, word, form, row)


def numeral(sentence: str) -> Iterator[str]:
    """Write a small number in words instead of digits, or the reverse."""
    yield from each(sentence, _N.digit, lambda match: WORDS[int(match[0])])
    yield from each(sentence, _WORD, lambda match: str(VALUES[match[0].lower()]))
    yield from each(sentence, _N.one, "1")


def unit_spelling(sentence: str) -> Iterator[str]:
    """Change the spelling of a unit, or remove the blank before it."""
    for match in _UNIT.finditer(sentence):
        new = _UNITS[match["unit"]]
        gap = "" if new.startswith("%") else " "
        yield replace_text(sentence, match.end("number"), match.end(), gap + new)
        if match["unit"] in ("mg", "mcg", "cm", "mm") and match["gap"]:
            yield replace_text(
                sentence, match.end("number"), match.end(), match["unit"]
            )


def synonym(sentence: str, split: Half) -> Iterator[str]:
    """Replace a term by a synonym, or a brand by its drug."""
    both = (_of_half(kind, sentence, split) for kind in ("synonym", CLOSED))
    for word, form, before in chain.from_iterable(both):
        verbs = form.group.section == "verbs"
        if not verbs or (
            is_verb(before, form) and (form.slot != ING or _N.doing.search(before))
        ):
            yield from _others(sentence, word, form)
    for word, form, _ in _of_half("diagnosis", sentence, split):
        yield from _others(sentence, word, form)
    for word, form, _ in _of_half("drug", sentence, split):
        if form.side == 1:
            yield from _put(sentence, word, form, form.group.rows(0)[0])


def _of_half(
    kind: str, sentence: str, split: Half
) -> Iterator[tuple[WordMatch, Term, str]]:
    for word in find(kind, sentence):
        before = sentence[: word.start]
        if kind == CLOSED or word.group.half == split:
            yield word, word.term(before), before


def _others(sentence: str, word: WordMatch, form: Term) -> Iterator[str]:
    """Put each other name of the same side, if the side has names."""
    for number, row in enumerate(form.group.rows(0)):
        if form.side == 0 and number != form.row:
            yield from _put(sentence, word, form, row)


def _put(
    sentence: str, word: WordMatch, form: Term, row: tuple[str, ...]
) -> Iterator[str]:
    new = row[min(form.slot, len(row) - 1)]
    if not has(sentence, word, new):
        # The capitals of an abbreviation do not depend on its place.
        abbreviated = form.side == 1 or as_key(new) != new.lower()
        yield replace_text(sentence, word.start, word.end, new, as_written=abbreviated)


def form(sentence: str) -> Iterator[str]:
    """Remove the full stop, or write in lower or upper case."""
    yield sentence.removesuffix(".")
    yield sentence.lower()
    yield sentence.upper()
