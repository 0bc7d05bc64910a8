"""Claims and statements of one text with what each judge said of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from metassay.reporting.names import part_rank
from metassay.reporting.tables import rows
from metassay.reporting.views.answers import (
    FAILED,
    NO_EVIDENCE,
    NOT_JUDGED,
    QUESTIONS,
    Answer,
    Judgment,
    judged,
)
from metassay.reporting.views.graded import Grades, graded_blocks, grades
from metassay.reporting.views.lines import Block, Citation, Line, Single, tally
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE


class _Unit(NamedTuple):
    part: str
    position: int
    text: str | None
    citations: Sequence[int]


_Place = tuple[str, str, str, str, int, int]  # doc_id, author, measure, part, position, citation


@dataclass(frozen=True)
class Judgments:
    """Units, pairs and judgments, found by where they belong."""

    judges: list[str]
    units: dict[tuple[str, str, str], list[_Unit]]
    asked: dict[_Place, tuple[str, str | None]]
    measures: dict[tuple[str, str], set[str]]
    answers: dict[tuple[str, str], Answer]
    aligned: dict[tuple[str, str, str, int], str]
    rivals: dict[str, list[str]]
    grades: Grades


def judgments(
    units: pd.DataFrame,
    pairs: pd.DataFrame,
    judgments: pd.DataFrame,
    alignments: pd.DataFrame | None,
    names: Mapping[str, str] | None = None,
) -> Judgments:
    """Index the tables; premises are not touched, so memory stays small.

    `names` are of authors as table `pairs` was made, by how they are called now: rivals are counted
    in the order of those.
    """
    found: dict[tuple[str, str, str], list[_Unit]] = {}
    columns = ("doc_id", "author", "kind", "part", "position", "text", "citations")
    for doc_id, author, kind, *rest in rows(units, *columns):
        found.setdefault((doc_id, author, kind), []).append(_Unit(*rest))
    asked: dict[_Place, tuple[str, str | None]] = {}
    measures: dict[tuple[str, str], set[str]] = {}
    places = ("doc_id", "author", "measure", "part", "position", "citation")
    for *place, pair_id, settled in rows(pairs, *places, "pair_id", "settled"):
        doc_id, author, measure, part, position, citation = place
        asked[doc_id, author, measure, part, position, citation] = (pair_id, settled)
        measures.setdefault((doc_id, author), set()).add(measure)
    answers = {
        (pair_id, judge): Answer(*rest)
        for pair_id, judge, *rest in rows(judgments, "pair_id", "judge", *Answer._fields)
    }
    judges = sorted({judge for _, judge in answers})
    rivals = _rivals(pairs, names or {})
    graded = grades(pairs, judgments)
    return Judgments(judges, found, asked, measures, answers, _aligned(alignments), rivals, graded)


def _rivals(pairs: pd.DataFrame, names: Mapping[str, str]) -> dict[str, list[str]]:
    """Of each document the systems that are compared, by their place in `pairs.position`."""
    compared = [name for name, question in QUESTIONS.items() if question.units == "rival"]
    found: dict[str, set[str]] = {}
    mine = pairs[pairs["measure"].isin(compared)]
    for doc_id, author in rows(mine.drop_duplicates(["doc_id", "author"]), "doc_id", "author"):
        found.setdefault(doc_id, set()).add(author)
    return {
        doc_id: sorted(authors, key=lambda author: names.get(author, author))
        for doc_id, authors in found.items()
    }


def _aligned(alignments: pd.DataFrame | None) -> dict[tuple[str, str, str, int], str]:
    """Passages per statement, best first; several methods stand one after the other."""
    found: dict[tuple[str, str, str, int], str] = {}
    if alignments is None:
        return found
    columns = ("doc_id", "author", "part", "position", "passages")
    for doc_id, author, part, position, passages in rows(alignments, *columns):
        key = (doc_id, author, part, position)
        said = " ".join(f"[{number}]" for number in passages) or "none"
        found[key] = f"{found[key]}; {said}" if key in found else said
    return found


def blocks(known: Judgments, doc_id: str, author: str, n_passages: int) -> list[Block]:
    """The tables of one text: reference claims in it, its claims, statements, itself, rubrics."""
    made = []
    own = known.units.get((doc_id, author, "claim"), [])
    if author == REFERENCE:
        made.append(_block(known, doc_id, author, own, "Claims of the reference", ()))
    else:
        theirs = known.units.get((doc_id, REFERENCE, "claim"), [])
        title = "Claim recall: is each claim of the reference in this text?"
        made.append(_block(known, doc_id, author, theirs, title, _about("reference", "claim")))
        title = "Claim precision: is each claim of this text in the reference?"
        made.append(_block(known, doc_id, author, own, title, _about("text", "claim")))
    said = known.units.get((doc_id, author, "statement"), [])
    title = "Statements: does the source support each?"
    measures = _about("text", "statement")
    made.append(_block(known, doc_id, author, said, title, measures, n_passages))
    made += _of_whole_text(known, doc_id, author)
    made += graded_blocks(known.grades, doc_id, author)
    return [block for block in made if block.groups or block.settled]


_RIVALS = (
    "Preferences: is this text better than another’s? Judges also read the reference, or the source"
    " where there is none."
)


def _of_whole_text(known: Judgments, doc_id: str, author: str) -> Iterator[Block]:
    present = known.measures.get((doc_id, author), set())
    text = [_Unit(FULL, 0, "this text", [])]
    others = [
        _Unit(FULL, place, f"beside {rival}", [])
        for place, rival in enumerate(known.rivals.get(doc_id, []))
        if rival != author
    ]
    same = "The same question: does this text ask what the reference asks?"
    for kind, units, title in (("text", text, same), ("rival", others, _RIVALS)):
        measures = _about("text", kind)
        if present & set(measures):
            made = _block(known, doc_id, author, units, title, measures)
            yield made._replace(noun="text" if kind == "text" else "other text")


def _about(whose: str, units: str) -> tuple[str, ...]:
    """What is asked about such units, in the order of the table of measures."""
    found = QUESTIONS.values()
    return tuple(one.name for one in found if (one.whose, one.units) == (whose, units))


_HEADS = {
    "claim_recall": "in this text?",
    "claim_recall_grade": "how far in this text?",
    "claim_precision": "in the reference?",
    "citation_recall": "in its citations together?",
    "faithfulness": "in the passages aligned with it?",
    "claim_contradiction": "does the reference entail or contradict it?",
    "preference_first": "which is better, this one shown first?",
    "preference_second": "which is better, this one shown second?",
}


def _head(measure: str) -> str:
    return _HEADS.get(measure, QUESTIONS[measure].instrument.asks)


def _block(
    known: Judgments,
    doc_id: str,
    author: str,
    units: list[_Unit],
    title: str,
    measures: tuple[str, ...],
    n_passages: int | None = None,
) -> Block:
    """`n_passages` is given for statements, which cite; claims don't."""
    present = known.measures.get((doc_id, author), set())
    asked = [measure for measure in measures if measure in present]
    one_by_one = n_passages is not None and present & {"citation_alone", "citation_rest"}
    single_judges = known.judges if one_by_one else []
    groups: dict[str, list[Line]] = {}
    for unit in sorted(units, key=lambda u: (part_rank(u.part), u.position)):
        line = Line(
            unit.position,
            _UNKNOWN if unit.text is None else unit.text,
            [Citation(n, 0 <= n < (n_passages or 0)) for n in unit.citations],
            known.aligned.get((doc_id, author, unit.part, unit.position), "") if n_passages else "",
            _together(known, (doc_id, author), unit, asked),
            [_singles(known, (doc_id, author), unit, judge) for judge in single_judges],
        )
        groups.setdefault(unit.part, []).append(line)
    lines = [line for group in groups.values() for line in group]
    columns = [(measure, judge) for measure in asked for judge in known.judges]
    counts = [
        f"{measure} by {judge}: {tally([line.judgments[place] for line in lines])}"
        for place, (measure, judge) in enumerate(columns)
    ]
    settled = ""
    if lines and columns and all(v.detail == _NO_TEXT for line in lines for v in line.judgments):
        groups, settled = {}, f"all {len(lines)} questions failed, because there is no text to read"
    return Block(
        title,
        "claim" if n_passages is None else "statement",
        [(_head(measure), f"{measure}, {judge}") for measure, judge in columns],
        [("in each citation?", judge) for judge in single_judges],
        list(groups.items()),
        counts,
        settled,
    )


def _together(
    known: Judgments, text: tuple[str, str], unit: _Unit, measures: list[str]
) -> list[Judgment]:
    unasked = Judgment(NOT_JUDGED, "not asked", "")
    return [
        _judgment(known, (*text, measure, unit.part, unit.position, ALL_CITATIONS), judge)
        or unasked
        for measure in measures
        for judge in known.judges
    ]


def _singles(known: Judgments, text: tuple[str, str], unit: _Unit, judge: str) -> list[Single]:
    """Nothing for a statement with one citation: all of them together are that one."""
    if len(unit.citations) < 2:
        return []

    def find(measure: str, citation: int) -> Judgment | None:
        return _judgment(known, (*text, measure, unit.part, unit.position, citation), judge)

    return [Single(n, find("citation_alone", n), find("citation_rest", n)) for n in unit.citations]


_NO_TEXT = "no text"
_UNKNOWN = "(the part could not be taken apart)"
_SETTLED = {
    "no_evidence": Judgment(NO_EVIDENCE, "", ""),
    "no_text": Judgment(FAILED, _NO_TEXT, ""),
    "no_claims": Judgment(FAILED, "no claims", ""),
}


def _judgment(known: Judgments, place: _Place, judge: str) -> Judgment | None:
    """None where the question was not asked."""
    if place not in known.asked:
        return None
    pair_id, settled = known.asked[place]
    if settled is not None:
        return _SETTLED[settled]
    return judged(known.answers.get((pair_id, judge)), QUESTIONS[place[2]])
