"""Statements: the sentences of a part, what each cites, and the claims that a rule finds."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.options import Options
from metassay.tables.checks import check_sources, rows_of, without_further_references
from metassay.tables.units import UNITS
from metassay.text.citations import GROUP, parse, strip_citations
from metassay.text.patterns import Patterns
from metassay.text.sentences import sentences
from metassay.text.tokens import content_tokens
from metassay.units.record import Decomposed, Decomposition

# DocLens's marks in the texts that its Table 24 scores (compat doclens-table24).
EMPTY_SECTION = "#####EMPTY#####"  # in the place of an absent section
LINE_BREAK = "__lf1__"  # in the place of a newline inside a section

Place = tuple[str, str, str]  # doc_id, author, part


class Statement(NamedTuple):
    """A sentence without its citations, the passages cited, and where both stand in the part."""

    text: str
    citations: tuple[int, ...]
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    """The statements of a part's text, in order.

    `start` and `end` are those of the sentence with its citations. What has no letter and no digit
    but in citations states nothing, nor does the mark of an absent section; a `__lf1__` of compat
    doclens-table24 is the line break it stands for.
    """
    found = []
    for start, end in sentences(plain_lines(text, same_length=True)):
        said, citations = parse(text[start:end])
        if any(map(str.isalnum, said)):
            found.append(Statement(said, citations, start, end))
    return found


def plain_lines(text: str, *, same_length: bool = False) -> str:
    """The text with white space for DocLens's marks, or none for an absent section."""
    empty, blank = (len(EMPTY_SECTION), len(LINE_BREAK) - 1) if same_length else (0, 0)
    return text.replace(EMPTY_SECTION, " " * empty).replace(LINE_BREAK, "\n" + " " * blank)


def units_of(
    parts: pd.DataFrame, sources: pd.DataFrame, rule: Callable[[str], Sequence[str]] | None
) -> pd.DataFrame:
    """Statements of the leaf parts, with the claims that `rule` makes of each: rows of UNITS.

    Every leaf part with status ok gives its statements, with citations and spans, and their claims,
    without either but with the position of their statement. Of a text of task `question`, the whole
    text is the one claim; its statement is null if it has several sentences. Other parts give no
    units: a failed part has unknown claims, not none, which its status in PARTS says.
    Without a rule there are statements only.

    Raises BadInput if a part's doc_id is not in sources.
    """
    tasks = tasks_of(parts, sources)
    rows: list[tuple[object, ...]] = []
    for *place, text in leaves(parts):
        said = statements(text)
        rows += [
            (*place, "statement", at, one.text, "ok", list(one.citations), None, one.start, one.end)
            for at, one in enumerate(said)
        ]
        claims: list[tuple[int | None, str]] = []
        if rule is not None and tasks[place[0]] == "question":
            whole = (0 if len(said) == 1 else None, strip_citations(text).strip())
            claims = [whole] if said else []
        elif rule is not None:
            claims = [(at, claim) for at, one in enumerate(said) for claim in rule(one.text)]
        rows += [
            (*place, "claim", position, claim, "ok", [], statement, None, None)
            for position, (statement, claim) in enumerate(claims)
        ]
    return unit_rows(rows)


def unit_rows(rows: Iterable[tuple[object, ...]]) -> pd.DataFrame:
    """Table UNITS of rows."""
    frame = pd.DataFrame(rows, columns=list(UNITS.columns))
    return frame.astype({"statement": "Int64", "start": "Int64", "end": "Int64"})


def tasks_of(parts: pd.DataFrame, sources: pd.DataFrame) -> dict[str, str]:
    """The task of each document; BadInput if a part's is not in sources."""
    check_sources("parts", parts["doc_id"], sources)
    return dict(zip(sources["doc_id"], sources["task"], strict=True))


def leaves(parts: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """The leaf parts with status ok: doc_id, author, part and text, in the order of `parts`."""
    found = without_further_references(parts)
    found = found[(found["leaf"] == "yes") & (found["status"] == "ok")]
    return list(rows_of(found, "doc_id", "author", "part", "text"))


# Claims by rule: the clauses of a statement.
# A cut that is wrong makes a claim that nobody stated; one that is missing, a claim that says two
# things: so a rule that is not sure does nothing. Every content word of the statement is in some
# clause, with what negates it. The rules, in order, each on what the one before left:
# 1. Semicolons, but where a list goes on: "Denies cough; fever; chills." 2. Coordinated clauses:
# "The film was normal, but the monitor showed a pause." and/but, after a clause with a verb, before
# a pronoun, `the patient` or `there` with a verb of its own; after a comma, if it is the first,
# also before a short noun phrase with a verb. Not under if, unless, whether, because, either,
# denies that. 3. Shared subject: "She takes methotrexate and denies pain." -> "She takes
# methotrexate." + "She denies pain." Before denies, endorses, admits, reports that ... 4. Lists:
# "Skin: He denies itching, rash, or hives." -> "Skin: He denies itching." + ... After denies,
# negative for, no ... or: two items are enough. After endorses, reports, positive for: three or
# more, so that "nausea and vomiting" stays one. An item is short and has no verb, no digit, no
# relative clause. Left alone: modifiers that share a noun ("chest or back pain"), nouns that may
# share an adjective or a preposition.
# Nothing is cut within brackets or quotation marks, in a question, nor in what runs on for more
# than 2,000 characters.


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


CLAUSES = Decomposition(
    options=Options,
    take_apart=lambda parts, sources, *_: Decomposed(units_of(parts, sources, clauses)),
)
