"""Statements: the sentences of a part, their citations, and claims by rule."""

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
from metassay.text.sentences import lead_ins, sentences
from metassay.text.tokens import content_tokens
from metassay.units.record import Decomposed, Decomposition

VERSION = 1  # raised by whoever changes results of this module's kinds

# DocLens's marks in the texts that its Table 24 scores (compat doclens-table24).
EMPTY_SECTION = "#####EMPTY#####"  # in place of an absent section
LINE_BREAK = "__lf1__"  # in place of a newline inside a section

Place = tuple[str, str, str]  # doc_id, author, part


class Statement(NamedTuple):
    """A sentence without its citations, the cited passages, and the span of both in the part."""

    text: str
    citations: tuple[int, ...]
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    """Return the statements of a part's text, in order.

    `start` and `end` are those of the sentence with its citations. Sentences without
    letters or digits outside citations are left out, and so is the mark of an absent
    section; `__lf1__` of compat doclens-table24 counts as a line break.
    """
    spans = sentences(plain_lines(text, same_length=True))
    read = [Statement(*parse(text[start:end]), start, end) for start, end in spans]
    return [statement for statement in read if any(map(str.isalnum, statement.text))]


def lead_in_notes(parts: pd.DataFrame) -> list[str]:
    """Return a note on the lines of leaf parts that introduce others and so are not judged."""
    counts: Counter[str] = Counter()
    for _, author, _, text in leaves(parts):
        if lines := len(lead_ins(plain_lines(text, same_length=True))):
            counts[author] += lines
    if not counts:
        return []
    listed = ", ".join(f"{author} {n:,}" for author, n in sorted(counts.items()))
    return [
        f'{counts.total():,} lines only introduce others, as "Blood pressure:" does, and are'
        f" not judged: {listed}"
    ]


def plain_lines(text: str, *, same_length: bool = False) -> str:
    """Replace DocLens's marks by white space, that of an absent section by none."""
    empty, blank = (len(EMPTY_SECTION), len(LINE_BREAK) - 1) if same_length else (0, 0)
    return text.replace(EMPTY_SECTION, " " * empty).replace(
        LINE_BREAK, "\n" + " " * blank
    )


def units_of(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    rule: Callable[[str], Sequence[str]] | None,
) -> pd.DataFrame:
    """Return the statements of the leaf parts, and their claims by `rule`: rows of UNITS.

    Every leaf part with status ok has its statements, with citations and spans, and
    their claims, without either but with the position of their statement. A text of
    task `question` is a single claim; its statement is null if it has several
    sentences. Other parts have no units: the claims of a failed part are unknown, as
    its status in PARTS says. Without a rule there are statements only.

    Raises BadInput if a part's doc_id is not in sources.
    """
    tasks = tasks_of(parts, sources)
    rows: list[tuple[object, ...]] = []
    for *place, text in leaves(parts):
        read = statements(text)
        rows += [
            (
                *place,
                "statement",
                at,
                s.text,
                "ok",
                list(s.citations),
                None,
                s.start,
                s.end,
            )
            for at, s in enumerate(read)
        ]
        claims: list[tuple[int | None, str]] = []
        if rule is not None and tasks[place[0]] == "question":
            whole = (0 if len(read) == 1 else None, strip_citations(text).strip())
            claims = [whole] if read else []
        elif rule is not None:
            claims = [
                (at, claim) for at, s in enumerate(read) for claim in rule(s.text)
            ]
        rows += [
            (*place, "claim", position, claim, "ok", [], statement, None, None)
            for position, (statement, claim) in enumerate(claims)
        ]
    return unit_rows(rows)


def unit_rows(rows: Iterable[tuple[object, ...]]) -> pd.DataFrame:
    """Return table UNITS of rows."""
    frame = pd.DataFrame(rows, columns=list(UNITS.columns))
    return frame.astype({"statement": "Int64", "start": "Int64", "end": "Int64"})


def tasks_of(parts: pd.DataFrame, sources: pd.DataFrame) -> dict[str, str]:
    """Return the task of each document; BadInput if a part's document is not in sources."""
    check_sources("parts", parts["doc_id"], sources)
    return dict(zip(sources["doc_id"], sources["task"], strict=True))


def leaves(parts: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """Return doc_id, author, part and text of the leaf parts with status ok, in their order."""
    rows = without_further_references(parts)
    rows = rows[(rows["leaf"] == "yes") & (rows["status"] == "ok")]
    return list(rows_of(rows, "doc_id", "author", "part", "text"))


# Claims by rule: the clauses of a statement.
# A wrong cut makes a claim that nobody stated; a missing cut, a claim that says two things: so a
# rule that is not sure does nothing. Every content word of the statement is in a clause, with its
# negation. The rules, in order, each on the clauses of the one before:
# 1. Semicolons, but where a list goes on: "Denies cough; fever; chills." 2. Coordinated clauses:
# "The film was normal, but the monitor showed a pause." and/but, after a clause with a verb, before
# a pronoun, `the patient` or `there` with another verb; after a comma, if it is the first,
# also before a short noun phrase with a verb. Not under if, unless, whether, because, either,
# denies that. 3. Shared subject: "She takes methotrexate and denies pain." -> "She takes
# methotrexate." + "She denies pain." Before denies, endorses, admits, reports that ... 4. Lists:
# "Skin: He denies itching, rash, or hives." -> "Skin: He denies itching." + ... After denies,
# negative for, no ... or: two items are enough. After endorses, reports, positive for: three or
# more, so that "nausea and vomiting" stays one. An item is short and has no verb, no digit, no
# relative clause. Not cut: modifiers that share a noun ("chest or back pain"), nouns that may share
# an adjective or a preposition, brackets, quotation marks, questions, and statements of more than
# 2,000 characters.


_P = Patterns(Path(__file__).with_suffix(".txt"), "clauses")
_MOST_WORDS = 6  # of an item
_LONGEST = 2000  # characters of a statement; longer ones are noise


def clauses(statement: str) -> list[str]:
    """Split a statement into claims, in its order; the statement itself if it is a single claim.

    Clauses end as the statement ends, begin with a capital if it does, and have no
    citations.
    """
    statement = statement.strip()
    if not statement:
        return []
    if statement.endswith("?") or len(statement) > _LONGEST:
        return [statement]
    end = _P.final.search(statement)
    final = end.group() if end else ""
    pieces = [statement[: len(statement) - len(final)]]
    for rule in (_at_semicolons, _at_clauses, _at_shared_subject, _in_list):
        pieces = [part for piece in pieces for part in rule(piece)]
    if len(pieces) == 1:
        return [statement]
    claims = [
        _finish_claim(piece, final, capital=statement[0].isupper()) for piece in pieces
    ]
    need = Counter(content_tokens(GROUP.sub(" ", statement)))
    have = Counter(token for clause in claims for token in content_tokens(clause))
    return claims if (need <= have) else [statement]


def _mask(text: str) -> str:
    """Mask brackets and quotations, which no rule cuts."""
    return _P.enclosed.sub(lambda match: "\u00d7" * len(match.group()), text)


def _at_semicolons(text: str) -> list[str]:
    masked = _mask(text)
    pieces, start = [], 0
    for match in _P.semicolon.finditer(masked):
        left, right = masked[start : match.start()], masked[match.end() :].split(";")[0]
        goes_on = _P.listing.search(left) and not (
            _P.has_verb.search(right) or _P.listing.search(right)
        )
        if not goes_on and any(map(str.isalpha, left)) and any(map(str.isalpha, right)):
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


def _at_clauses(text: str) -> list[str]:
    masked = _mask(text)
    cuts = {match.span() for match in _P.coordinated.finditer(masked)}
    after_comma = _P.after_comma.search(masked)
    if after_comma and "," not in masked[: after_comma.start()]:
        cuts.add(after_comma.span())
    pieces, start = [], 0
    for left, right in sorted(cuts):
        if _P.has_verb.search(masked, start, left) and not _P.scope.search(
            masked, 0, left
        ):
            pieces.append(text[start:left])
            start = right
    return [*pieces, text[start:]]


def _at_shared_subject(text: str) -> list[str]:
    masked = _mask(text)
    opens = _P.opens.match(masked)
    cut = _P.shared.search(masked)
    if not opens or not cut or cut.start() < opens.end():
        return [text]
    if _P.scope.search(masked, 0, cut.start()) or _P.relative.search(
        masked, 0, cut.start()
    ):
        return [text]
    return [text[: cut.start()], f"{opens['subject']} {text[cut.end() :]}"]


def _in_list(text: str) -> list[str]:
    head = _P.head.match(text)
    if not head or text != _mask(text):
        return [text]
    rest = text[head.end() :]
    tail = _P.tail.search(rest)
    when = tail.group() if tail else ""
    rest = rest[: len(rest) - len(when)]
    joints = [match.group().strip(", ") for match in _P.between.finditer(rest)]
    items = _P.between.split(rest)
    if (
        not _has_enough(head, joints)
        or not all(map(_is_item, items))
        or _shares_words(items)
    ):
        return [text]
    return [f"{head['head']}{item}{when}" for item in items]


def _has_enough(head: re.Match[str], joints: list[str]) -> bool:
    if head["denied"]:
        return len(joints) >= 1
    if head["no"]:  # "No distress, alert": the negation continues only after `or`
        return len(joints) >= 1 and joints[-1] == "or" and "and" not in joints
    return len(joints) >= 2 and joints[-1] in ("and", "or") and not any(joints[:-1])


def _is_item(item: str) -> bool:
    return (
        any(map(str.isalpha, item))
        and len(item.split()) <= _MOST_WORDS
        and not _P.no_item.search(item)
    )


def _shares_words(items: list[str]) -> bool:
    """Return whether an item may share an adjective, a noun or a preposition of another."""
    return bool(_P.qualifier.match(items[0])) or any(
        _P.modifier.fullmatch(item.strip())
        or _P.preposition.search(_P.fixed.sub("", item))
        for item in items[:-1]
    )


def _finish_claim(clause: str, final: str, *, capital: bool) -> str:
    clause = parse(clause.strip(" ,;")).text
    if capital and clause.split(maxsplit=1)[0].islower():
        clause = clause[0].upper() + clause[1:]
    return clause + final


CLAUSES = Decomposition(
    options=Options,
    take_apart=lambda parts, sources, *_: Decomposed(units_of(parts, sources, clauses)),
)
