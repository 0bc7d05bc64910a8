"""Rubrics filled in: for some texts every grade, its anchor, the reason, and the quotes marked."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.judges.criteria import Scale, read_criterion
from metassay.reporting.names import part_rank, sorted_authors
from metassay.reporting.numbers import counted
from metassay.reporting.tables import records, rows
from metassay.reporting.views.marked import STYLES, Mark, Marked, runs
from metassay.reporting.views.section import Row
from metassay.rubrics.metrics import NO_REFERENCE_PART
from metassay.tables.names import ALL_CITATIONS, FULL, is_reference
from metassay.text.spans import Span

TEXTS = 12  # at most, each by each judge

_WHY = {
    "not_applicable": "no penalty, not asked: not applicable",
    "no_text": "not asked: there is no text",
    "no_claims": "not asked: nobody knows the text’s parts",
    "no_reference": "not asked: nobody knows whether the reference has the part",
}


class Line(NamedTuple):
    """One criterion: the grade (or why there is none), its level's anchor, reason, lost quotes."""

    criterion: str
    said: str
    failed: bool
    anchor: str
    reason: str
    not_in_text: list[str]


class Filled(NamedTuple):
    """One rubric about one text by one judge, and what the judge read with its quotes marked."""

    rubric: str
    doc_id: str
    author: str
    judge: str
    read: list[tuple[str, Marked]]
    lines: list[Line]


class FilledIn(NamedTuple):
    """Some filled-in rubrics, and how they were chosen."""

    rule: str
    rubrics: list[Filled]


class _Question(NamedTuple):
    pair_id: str
    doc_id: str
    author: str
    part: str
    about: Row  # its row of table criteria
    number: int
    hypothesis: str
    context: str | None
    settled: str | None

    @property
    def criterion(self) -> str:
        return str(self.about["criterion"])


class _Unasked(NamedTuple):
    """Each rubric's criteria with the part that each reads, and which parts references have."""

    criteria: dict[str, list[tuple[Row, str]]]
    in_references: set[tuple[str, str]]  # doc_id, part


def filled_in(
    criteria: pd.DataFrame, pairs: pd.DataFrame, judgments: pd.DataFrame, parts: pd.DataFrame
) -> FilledIn | None:
    """At most TEXTS texts, spread evenly over documents and authors; None without a question.

    Criteria that are not scored of a text have a line too, which says why: by table `parts`, the
    reference lacks what they are about, or they do not apply to the document. Quotes are marked in
    what the judge read by where they start there; one that starts nowhere (-1) is named as not in
    the text.
    """
    rubrics: dict[str, dict[tuple[str, str], list[_Question]]] = {}
    of_metric = {row["metric"]: row for row in records(criteria)}
    mine = pairs[pairs["measure"].isin(of_metric)]
    columns = ("measure", "position", "pair_id", "doc_id", "author", "part", "citation")
    texts = ("hypothesis", "context", "settled")
    for measure, _, pair_id, doc_id, author, part, number, *rest in sorted(
        rows(mine, *columns, *texts), key=lambda row: row[1:2] + row[6:7]
    ):
        one = of_metric[measure]
        question = _Question(pair_id, doc_id, author, part, one, number, *rest)
        of_texts = rubrics.setdefault(one["rubric"], {})
        of_texts.setdefault((doc_id, author), []).append(question)
    if not rubrics:
        return None
    chosen = {rubric: _chosen(found, TEXTS // len(rubrics)) for rubric, found in rubrics.items()}
    wanted = {
        q.pair_id for rubric, keys in chosen.items() for k in keys for q in rubrics[rubric][k]
    }
    answers: dict[str, dict[str, Row]] = {}
    for answer in records(judgments[judgments["pair_id"].isin(wanted)]):
        answers.setdefault(answer["judge"], {})[answer["pair_id"]] = answer
    unasked = _unasked(criteria, mine, parts)
    made = [
        _filled(judge, rubrics[rubric][key], answers[judge], unasked)
        for rubric in sorted(rubrics)
        for key in chosen[rubric]
        for judge in sorted(answers)
        if any(question.pair_id in answers[judge] for question in rubrics[rubric][key])
    ]
    return FilledIn(_rule(rubrics, sum(map(len, chosen.values()))), made) if made else None


def _unasked(criteria: pd.DataFrame, mine: pd.DataFrame, parts: pd.DataFrame) -> _Unasked:
    read = dict(rows(mine.drop_duplicates("measure"), "measure", "part"))
    of_rubrics: dict[str, list[tuple[Row, str]]] = {}
    for one in sorted(records(criteria), key=lambda row: row["position"]):
        if one["kind"] in ("scale", "penalties"):
            own = (one, read.get(one["metric"], ""))  # of what is asked of no text, nobody knows
            of_rubrics.setdefault(one["rubric"], []).append(own)
    known = parts[parts["author"].map(is_reference).astype(bool) & parts["text"].notna()]
    in_references = {
        (doc_id, part)
        for doc_id, part, text in rows(known, "doc_id", "part", "text")
        if text.strip()
    }
    return _Unasked(of_rubrics, in_references)


def _rule(rubrics: Mapping[str, Collection[tuple[str, str]]], n_chosen: int) -> str:
    n_forms = sum(map(len, rubrics.values()))
    n_texts = len({key for keys in rubrics.values() for key in keys})
    forms = (
        f"{counted(n_forms, 'filled-in form')} ({counted(len(rubrics), 'rubric')},"
        f" {counted(n_texts, 'text')})"
    )
    if n_chosen == n_forms:
        return f"All {forms}."
    return (
        f"{n_chosen} of {forms}: documents spread evenly over all in the order of their names, one"
        " author of each in turn."
    )


def _chosen(found: dict[tuple[str, str], list[_Question]], most: int) -> list[tuple[str, str]]:
    by_document: dict[str, list[str]] = {}
    for doc_id, author in found:
        by_document.setdefault(doc_id, []).append(author)
    doc_ids, at_most = sorted(by_document), max(1, most)
    if len(found) <= at_most:
        return [(doc_id, a) for doc_id in doc_ids for a in sorted_authors(by_document[doc_id])]
    places = [place * len(doc_ids) // at_most for place in range(at_most)]
    keys = []
    for turn, place in enumerate(dict.fromkeys(places)):
        authors = sorted_authors(by_document[doc_ids[place]])
        keys.append((doc_ids[place], authors[turn % len(authors)]))
    return keys


def _filled(
    judge: str, questions: Sequence[_Question], answers: dict[str, Row], unasked: _Unasked
) -> Filled:
    first = questions[0]
    read = {(q.part, q.hypothesis): None for q in questions if q.hypothesis}
    several = len({hypothesis for _, hypothesis in read}) > 1
    marks = {
        name: Mark(name, place % STYLES)
        for place, name in enumerate(dict.fromkeys(q.criterion for q in questions))
    }
    texts = []
    for part, hypothesis in sorted(read, key=lambda key: part_rank(key[0])):
        pieces: dict[Mark, list[Span]] = {}
        for question in questions:
            if (question.part, question.hypothesis) == (part, hypothesis):
                spans = list(_quoted(answers.get(question.pair_id), len(hypothesis)))
                pieces.setdefault(marks[question.criterion], []).extend(spans)
        marked = Marked(runs(hypothesis, pieces), [], [], [])
        texts.append((part if several else "", marked))
    rubric = str(first.about["rubric"])
    lines = []
    for one, part in unasked.criteria[rubric]:
        own = [question for question in questions if question.criterion == one["criterion"]]
        lines += [_line(question, answers.get(question.pair_id)) for question in own]
        if not own:
            lines.append(_not_scored(one, part, (first.doc_id, part) in unasked.in_references))
    return Filled(rubric, first.doc_id, first.author, judge, texts, lines)


def _quoted(answer: Row | None, end: int) -> Iterator[Span]:
    for quote, start in zip(*_quotes(answer), strict=True):
        if start >= 0:
            yield Span(start, min(start + len(quote), end))


def _quotes(answer: Row | None) -> tuple[list[str], list[int]]:
    return (list(answer["quotes"]), list(answer["quote_starts"])) if answer else ([], [])


def _not_scored(one: Row, part: str, in_reference: bool) -> Line:
    why = "not applicable"
    if not part:
        why = "asked of no text"
    elif one["missing"].startswith(NO_REFERENCE_PART) and not in_reference:
        why = f"the reference has no {'text' if part == FULL else part}"
    return Line(one["criterion"], f"not scored: {why}", False, "", "", [])


def _without_asking(question: _Question) -> str:
    if question.settled != "no_evidence":
        return _WHY[str(question.settled)]
    one, part = question.about, question.part
    worst = one["low"] if one["better"] == "higher" else one["high"]
    grade = f"level {worst:g}" if one["kind"] == "scale" else "the highest penalty"
    return f"{grade} without asking: the text has no {'words' if part == FULL else part}"


def _line(question: _Question, answer: Row | None) -> Line:
    name = question.criterion
    if question.number != ALL_CITATIONS:
        name += f", reference {question.number + 1}"
    if question.settled is not None:
        settled = _without_asking(question)
        unknown = question.settled in ("no_text", "no_claims", "no_reference")
        return Line(name, settled, unknown, "", "", [])
    if answer is None:
        return Line(name, "not judged", True, "", "", [])
    lost = [quote for quote, start in zip(*_quotes(answer), strict=True) if start < 0]
    reason = answer["explanation"] or ""
    if answer["status"] != "ok" or answer["grade"] is None:
        return Line(name, f"no grade: {answer['status']}", True, "", reason, lost)
    asked, grade = read_criterion(question.context or ""), answer["grade"]
    low, high = asked.bounds
    if not isinstance(asked, Scale):
        most = "" if high is None else f", {high} at most"
        return Line(name, f"penalties: {grade:g}{most}", False, "", reason, lost)
    anchor = asked.levels.get(f"{grade:g}", "between two levels")
    return Line(name, f"{grade:g} on {low} to {high}", False, anchor, reason, lost)
