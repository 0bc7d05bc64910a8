"""What judges said of a text by the criteria of rubrics: grade, reason and evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from metassay.judges.criteria import RUBRIC, Criterion, Scale, read_criterion
from metassay.reporting.tables import rows
from metassay.reporting.views.answers import (
    ABSTAINED,
    FAILED,
    GRADED,
    NO_EVIDENCE,
    NOT_APPLICABLE,
    NOT_JUDGED,
    Judgment,
)
from metassay.reporting.views.lines import Block, Line, tally
from metassay.tables.names import ALL_CITATIONS

_SETTLED = {
    "no_evidence": Judgment(NO_EVIDENCE, "", "the text lacks the part"),
    "not_applicable": Judgment(NOT_APPLICABLE, "", ""),
    "no_text": Judgment(FAILED, "no text", ""),
    "no_claims": Judgment(FAILED, "parts unknown", ""),
    "no_reference": Judgment(FAILED, "no reference", ""),
}


class _Asked(NamedTuple):
    """One row of `pairs`; the order of fields is that of a rubric's criteria."""

    measure: str
    position: int
    citation: int
    part: str
    pair_id: str
    context: str
    settled: str | None

    @property
    def criterion(self) -> Criterion:
        return read_criterion(self.context)

    @property
    def rubric(self) -> str:
        return self.measure.removesuffix(f"_{self.criterion.criterion}")


class _Answer(NamedTuple):
    status: str
    grade: float | None
    explanation: str | None
    quotes: Sequence[str]
    quote_starts: Sequence[int]


@dataclass(frozen=True)
class Grades:
    """Questions by text, answers by question and judge."""

    asked: dict[tuple[str, str], list[_Asked]]
    answers: dict[tuple[str, str], _Answer]


def grades(pairs: pd.DataFrame, judgments: pd.DataFrame) -> Grades:
    """Index what rubrics asked; without rubrics there is nothing."""
    asked: dict[tuple[str, str], list[_Asked]] = {}
    if "instrument" not in pairs or not pairs["instrument"].isin(RUBRIC).any():
        return Grades({}, {})
    mine = pairs[pairs["instrument"].isin(RUBRIC)]
    for doc_id, author, *rest in rows(mine, "doc_id", "author", *_Asked._fields):
        asked.setdefault((doc_id, author), []).append(_Asked(*rest))
    known = judgments[judgments["pair_id"].isin(mine["pair_id"])]
    answers = {
        (pair_id, judge): _Answer(*rest)
        for pair_id, judge, *rest in rows(known, "pair_id", "judge", *_Answer._fields)
    }
    return Grades(asked, answers)


def graded_blocks(known: Grades, doc_id: str, author: str) -> list[Block]:
    """A table per rubric that asks about a text: its criteria, and what each judge said."""
    by_rubric: dict[str, list[_Asked]] = {}
    for asked in known.asked.get((doc_id, author), []):
        by_rubric.setdefault(asked.rubric, []).append(asked)
    judges = sorted({judge for _, judge in known.answers})
    return [_block(known, rubric, asked, judges) for rubric, asked in sorted(by_rubric.items())]


def _block(known: Grades, rubric: str, asked: Sequence[_Asked], judges: Sequence[str]) -> Block:
    ordered = sorted(asked, key=lambda one: (one.position, one.citation, one.measure))
    lines = [
        Line(one.position, _asks(one), [], "", [_said(known, one, j) for j in judges], [])
        for one in ordered
    ]
    parts: dict[str, list[Line]] = {}
    for one, line in zip(ordered, lines, strict=True):
        parts.setdefault(one.part, []).append(line)
    counts = [
        f"{rubric} by {judge}: {tally([line.judgments[place] for line in lines])}"
        for place, judge in enumerate(judges)
    ]
    heads = [("which grade?", f"{rubric}, {judge}") for judge in judges]
    title = f"Rubric {rubric}: what grade does each criterion give?"
    return Block(title, "criterion", heads, [], list(parts.items()), counts, "")


def _asks(one: _Asked) -> str:
    beside = "" if one.citation == ALL_CITATIONS else f" (reference {one.citation + 1})"
    return f"{one.criterion.criterion}: {one.criterion.asks}{beside}"


def _said(known: Grades, one: _Asked, judge: str) -> Judgment:
    if one.settled is not None:
        return _SETTLED[one.settled]
    answer = known.answers.get((one.pair_id, judge))
    if answer is None:
        return Judgment(NOT_JUDGED, "", "")
    why = "; ".join(filter(None, [answer.explanation, *_quoted(answer)]))
    if answer.status != "ok":
        is_sure = answer.status != ABSTAINED
        return Judgment(FAILED if is_sure else ABSTAINED, answer.status if is_sure else "", why)
    return Judgment(GRADED, f"{answer.grade:g}{_scale(one.criterion)}", why)


def _scale(criterion: Criterion) -> str:
    low, high = criterion.bounds
    if isinstance(criterion, Scale):
        return f" on {low} to {high}"
    return "" if high is None else f" of at most {high}"


def _quoted(answer: _Answer) -> list[str]:
    return [
        f"“{quote}”" + ("" if start >= 0 else " (not in the text)")
        for quote, start in zip(answer.quotes, answer.quote_starts, strict=True)
    ]
