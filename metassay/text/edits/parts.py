"""The same with a part left out: what remains still follows.

Parts are not left out under a negation or a condition, where less may say more.
"""

import re
from collections.abc import Iterator

from metassay.text.edits.exchange import find
from metassay.text.edits.negations import CUE
from metassay.text.edits.orders import first, lists
from metassay.text.edits.wording import FILE, each, listed, tidy, without
from metassay.text.patterns import Patterns

_P, _O = Patterns(FILE, "parts"), Patterns(FILE, "orders")

_NO_NOUN = listed("and but for the with who that cell intestine bowel distress amount amounts")


def dropped_detail(sentence: str) -> Iterator[str]:
    """The sentence without a part that it also says: a clause, a listed item, a detail."""
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
    yield from _less_exact(sentence)


def _less_exact(sentence: str) -> Iterator[str]:
    """Without the severity of something, or the dose of a drug."""
    yield from each(
        sentence, _P.severity, lambda m: None if m["next"] in _NO_NOUN else m["next"], "both"
    )
    for drug in find("drug", sentence):
        dose = _P.dosed.match(sentence, drug.end)
        if dose and _P.takes.search(sentence[: drug.start]):
            yield without(sentence, dose)


def list_part(sentence: str) -> Iterator[str]:
    """The sentence with one of the items that it lists, alone."""
    for match in lists(sentence):
        stop = "." if sentence.endswith(".") else ""
        if _is_noun(match["one"]) and _is_noun(match["two"]):
            yield sentence[: match.end("one")] + stop
            yield sentence[: match.start("one")] + match["two"] + stop
    yield from _clauses(sentence)
    pair = _P.two.search(sentence)
    if pair is None or _P.together.search(sentence) or _P.condition.search(sentence):
        return
    one, two = pair["one"], pair["two"]
    drugs = all(_is_dose(item) for item in (one, two))
    if not drugs and not _are_items(sentence, pair):
        return
    if drugs or len(two.split()) == 1:
        yield sentence[: pair.end("one")] + pair["stop"]
    if drugs or not pair["half"]:
        yield sentence[: pair.start("one")] + two + pair["stop"]


def _clauses(sentence: str) -> Iterator[str]:
    """Each of two clauses alone, if it owes nothing to the other one."""
    both = _O.two_clauses.match(sentence)
    if both is None or _O.reported.search(sentence) or len(_O.states.findall(sentence)) != 2:
        return
    yield both["one"] + both["stop"]
    if not (_P.ellipsis.search(both["two"]) or _O.owing.search(both["two"])):
        yield first(both["two"]) + both["stop"]


def _is_noun(item: str) -> bool:
    """Whether an item can be no adjective of a noun that follows later: by its ending."""
    return bool(_P.noun.search(item)) and not _P.doing.match(item)


def _is_dose(item: str) -> bool:
    """Whether an item is a drug, perhaps with its dose."""
    there = find("drug", item)
    return len(there) == 1 and there[0].start == 0


def _are_items(sentence: str, match: re.Match[str]) -> bool:
    """Whether both are few words that say something by themselves.

    Under a negation an adjective of the first may belong to both, and "and" says another thing.
    """
    one, two = match["one"], match["two"]
    if (
        _P.no_item.search(one)
        or _P.no_item.search(two)
        or max(len(one.split()), len(two.split())) > 3
    ):
        return False
    negated = bool(CUE.search(sentence))
    if negated and (_O.shared.search(one) or match["half"]):
        return False
    return negated == (match["and"].lower() == "or")
