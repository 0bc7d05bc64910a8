"""Claims by rule: the clauses of a statement.

A cut that is wrong makes a claim that nobody stated; one that is missing, a claim that says two
things: so a rule that is not sure does nothing. Every content word of the statement is in some
clause, with what negates it. The rules, in order, each on what the one before left:

1. Semicolons, but where a list goes on: "Denies cough; fever; chills."
2. Coordinated clauses: "The film was normal, but the monitor showed a pause." and/but, after a
   clause with a verb, before a pronoun, `the patient` or `there` with a verb of its own; after a
   comma, if it is the first, also before a short noun phrase with a verb. Not under if, unless,
   whether, because, either, denies that.
3. Shared subject: "She takes methotrexate and denies pain." -> "She takes methotrexate." + "She
   denies pain." Before denies, endorses, admits, reports that ...
4. Lists: "Skin: He denies itching, rash, or hives." -> "Skin: He denies itching." + ... After
   denies, negative for, no ... or: two items are enough. After endorses, reports, positive for:
   three or more, so that "nausea and vomiting" stays one. An item is short and has no verb, no
   digit, no relative clause. Left alone: modifiers that share a noun ("chest or back pain"), nouns
   that may share an adjective or a preposition.

Nothing is cut within brackets or quotation marks, in a question, nor in what runs on for more than
2,000 characters.
"""

import re
from collections import Counter
from pathlib import Path

from metassay.core.options import Options
from metassay.text.citations import GROUP, parse
from metassay.text.patterns import Patterns
from metassay.text.tokens import content_tokens
from metassay.units.record import Decomposed, Decomposition
from metassay.units.statements import units_of

_P = Patterns(Path(__file__).with_suffix(".txt"), "clauses")
_MOST_WORDS = 6  # of an item
_LONGEST = 2000  # characters of a statement; longer ones are no sentences but noise


def clauses(statement: str) -> list[str]:
    """The claims that a statement makes, in its order; the statement itself if it makes one.

    Clauses end as the statement ends, begin with a capital if it does, and have no citations.
    """
    statement = statement.strip()
    if not statement:
        return []
    if statement.endswith("?") or len(statement) > _LONGEST:
        return [statement]
    end = _P.final.search(statement)
    final = end.group() if end else ""
    found = [statement[: len(statement) - len(final)]]
    for rule in (_at_semicolons, _at_clauses, _at_shared_subject, _in_list):
        found = [clause for one in found for clause in rule(one)]
    if len(found) == 1:
        return [statement]
    written = [_written(clause, final, capital=statement[0].isupper()) for clause in found]
    need = Counter(content_tokens(GROUP.sub(" ", statement)))
    have = Counter(token for clause in written for token in content_tokens(clause))
    return written if (need <= have) else [statement]


def _masked(text: str) -> str:
    """The text with what stands in brackets or quotation marks out of every rule's sight."""
    return _P.enclosed.sub(lambda match: "\u00d7" * len(match.group()), text)


def _at_semicolons(text: str) -> list[str]:
    shown = _masked(text)
    found, start = [], 0
    for match in _P.semicolon.finditer(shown):
        left, right = shown[start : match.start()], shown[match.end() :].split(";")[0]
        goes_on = _P.listing.search(left) and not (
            _P.has_verb.search(right) or _P.listing.search(right)
        )
        if not goes_on and any(map(str.isalpha, left)) and any(map(str.isalpha, right)):
            found.append(text[start : match.start()])
            start = match.end()
    return [*found, text[start:]]


def _at_clauses(text: str) -> list[str]:
    shown = _masked(text)
    cuts = {match.span() for match in _P.coordinated.finditer(shown)}
    after_comma = _P.after_comma.search(shown)
    if after_comma and "," not in shown[: after_comma.start()]:
        cuts.add(after_comma.span())
    found, start = [], 0
    for left, right in sorted(cuts):
        if _P.has_verb.search(shown, start, left) and not _P.scope.search(shown, 0, left):
            found.append(text[start:left])
            start = right
    return [*found, text[start:]]


def _at_shared_subject(text: str) -> list[str]:
    shown = _masked(text)
    opens = _P.opens.match(shown)
    cut = _P.shared.search(shown)
    if not opens or not cut or cut.start() < opens.end():
        return [text]
    if _P.scope.search(shown, 0, cut.start()) or _P.relative.search(shown, 0, cut.start()):
        return [text]
    return [text[: cut.start()], f"{opens['subject']} {text[cut.end() :]}"]


def _in_list(text: str) -> list[str]:
    head = _P.head.match(text)
    if not head or text != _masked(text):
        return [text]
    rest = text[head.end() :]
    tail = _P.tail.search(rest)
    when = tail.group() if tail else ""
    rest = rest[: len(rest) - len(when)]
    joints = [match.group().strip(", ") for match in _P.between.finditer(rest)]
    items = _P.between.split(rest)
    if not _enough(head, joints) or not all(map(_is_item, items)) or _share(items):
        return [text]
    return [f"{head['head']}{item}{when}" for item in items]


def _enough(head: re.Match[str], joints: list[str]) -> bool:
    if head["denied"]:
        return len(joints) >= 1
    if head["no"]:  # "No distress, alert": only `or` says that the negation goes on
        return len(joints) >= 1 and joints[-1] == "or" and "and" not in joints
    return len(joints) >= 2 and joints[-1] in ("and", "or") and not any(joints[:-1])


def _is_item(item: str) -> bool:
    return (
        any(map(str.isalpha, item))
        and len(item.split()) <= _MOST_WORDS
        and not _P.no_item.search(item)
    )


def _share(items: list[str]) -> bool:
    """Whether some item may lean on an adjective, a noun or a preposition of another."""
    return bool(_P.qualifier.match(items[0])) or any(
        _P.modifier.fullmatch(item.strip()) or _P.preposition.search(_P.fixed.sub("", item))
        for item in items[:-1]
    )


def _written(clause: str, final: str, *, capital: bool) -> str:
    clause = parse(clause.strip(" ,;")).text
    if capital and clause.split(maxsplit=1)[0].islower():
        clause = clause[0].upper() + clause[1:]
    return clause + final


KIND = Decomposition(
    options=Options,
    take_apart=lambda parts, sources, *_: Decomposed(units_of(parts, sources, clauses)),
)
