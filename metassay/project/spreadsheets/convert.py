"""Spreadsheets whose columns are known, as rows of own data that know where they stood."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import shown
from metassay.datasets.own_data import Rating, Score, Source, Text, checked
from metassay.tables.names import FULL, is_reference
from metassay.tables.names import REFERENCE as REFERENCE_AUTHOR
from metassay.tabular.column_synonyms import Role
from metassay.tabular.columns import Columns
from metassay.tabular.numbers import NumberFormat, find_format, is_blank
from metassay.tabular.rows import (
    Findings,
    MetricRow,
    Place,
    RatingRow,
    Rows,
    ScoreRow,
    TextRow,
    source_row,
    to_json,
)
from metassay.tabular.sheet import Sheet
from metassay.text.sentences import sentences

STUDY = "people"
ONE_RATER, ONE_CRITERION, ONE_SYSTEM, ONE_METRIC = "rater", "rating", "system", "score"
_NO_NUMBER, _WRITE = "a cell is not a number", "write a number, or leave it empty"
_SPEAKER = re.compile(r"([^\W\d_][\w .'-]{0,24}):\s+(?=\S)")
_SPEAKERS = 6  # different ones in a dialogue, at most
_SPOKEN = 0.8  # of the lines begin with a speaker in a dialogue


class Read(NamedTuple):
    """A file and what its columns hold."""

    sheet: Sheet
    columns: Columns

    def spread(self, held: str) -> Iterator[tuple[Place, Mapping[str, str], str]]:
        """Each row's place and what is written, by role, and the column that has what is `held`.

        Of columns side by side, one row each; what the name of such a column says is by role, too.
        """
        files = self.sheet.files
        for at, cells in self.sheet.rows:
            found = {role: cells[column] for role, column in self.columns.roles.items()}
            if not self.columns.spread:
                yield at, found, self.columns.roles.get(held, "")
            lacking = files.get(at.file, ())
            for column, said in self.columns.spread.items():
                if column not in lacking:
                    yield at, {**found, **said, held: cells[column]}, column

    def numbers(self, problems: Findings) -> dict[str, NumberFormat]:
        """How the numbers of each column are written; a problem where that is unclear."""
        columns = self.columns.spread or [self.columns.roles[Role.VALUE]]
        return {column: self.sheet.clear_numbers(column, problems) for column in columns}

    @property
    def told(self) -> frozenset[str]:
        """The roles of which columns, or their names, say something."""
        return self.columns.each | self.columns.roles.keys()

    @property
    def one_metric(self) -> str:
        """What the metric is called where nothing says which it is: as the column of its values."""
        return self.columns.roles.get(Role.VALUE, ONE_METRIC)


class Texts(NamedTuple):
    """What is worth knowing of texts beside their rows."""

    n_empty: int  # which count as failed
    families: dict[str, str]  # systems -> what they are versions of


def add_texts(read: Read, references_by: Mapping[str, str], rows: Rows, *, again: bool) -> Texts:
    """Add sources, with the strata and clusters of documents as attributes, and texts.

    `references_by`: who wrote references, and what each is called here. What stands in a column of
    references is one, too. The source of a document, and its reference, may stand in each of its
    rows, or in one; two that differ are a problem. `again`: so may a text, as where each row is a
    rating.
    """
    sources: dict[str, tuple[Place, str]] = {}
    references: dict[str, tuple[Place, str]] = {}
    families: dict[str, tuple[Place, str]] = {}
    labels: dict[str, dict[str, tuple[Place, str]]] = {Role.STRATA: {}, Role.CLUSTER: {}}
    n_empty = 0
    for at, cells in read.sheet.rows:
        found = {role: cells[column] for role, column in read.columns.roles.items()}
        doc = found[Role.DOC]
        sources.setdefault(doc, (at, ""))
        _once(at, doc, found.get(Role.SOURCE, ""), Role.SOURCE, sources, rows.problems)
        _once(at, doc, found.get(Role.REFERENCE, ""), Role.REFERENCE, references, rows.problems)
        for name, known in labels.items():
            _once(at, doc, found.get(name, ""), name, known, rows.problems)
        system = found.get(Role.SYSTEM, ONE_SYSTEM)
        _once(at, system, found.get(Role.FAMILY, ""), Role.FAMILY, families, rows.problems)
    seen: set[tuple[str, str, str]] = set()
    for at, text, _ in read.spread(Role.TEXT):
        author = text.get(Role.SYSTEM, ONE_SYSTEM)
        author = references_by.get(author, author)
        key = (text[Role.DOC], author, text[Role.TEXT])
        if again and key in seen:
            continue
        seen.add(key)
        n_empty += is_blank(text[Role.TEXT]) and author not in references_by.values()
        _add_text(at, *key, rows)
    for doc, (at, written) in references.items():
        _add_text(at, doc, REFERENCE_AUTHOR, written, rows)
    for doc, (at, written) in sources.items():
        value = {"doc_id": doc, "task": "other", "passages": _passages(written)}
        source = checked(Source, value, at, rows.problems)
        if source is not None:
            texts = [one.text for one in source.passages]
            speakers = [one.speaker for one in source.passages]
            said = {name: known[doc][1] for name, known in labels.items() if doc in known}
            more = to_json(said) if said else None
            rows.sources.append(source_row(at, doc, source.task, texts, speakers, attributes=more))
    return Texts(n_empty, {name: family for name, (_, family) in families.items()})


def add_ratings(
    read: Read, systems: Iterable[str], references_by: Mapping[str, str], rows: Rows
) -> int:
    """Add ratings of the study `people`; returns how many cells are empty: the rater abstained."""
    words = {one: find_format((), semicolons=False, words=w) for one, w in read.sheet.words.items()}
    nobody = Role.RATER not in read.told
    rated: set[tuple[str, ...]] = set()
    n_empty = 0
    for at, found, numbers in _valued(read, systems, references_by, rows):
        # Of several files each is a rater's.
        rater = Path(at.file).stem if read.sheet.parts else ONE_RATER
        said = {"study": STUDY, "doc_id": found[Role.DOC], "author": found[Role.SYSTEM]}
        said |= {"rater": found.get(Role.RATER, rater), "value": found[Role.VALUE]}
        said |= {"criterion": found.get(Role.CRITERION, ONE_CRITERION)}
        rating = checked(Rating, said, at, rows.problems)
        if rating is None:
            continue
        what = (rating.doc_id, rating.author, rating.rater, rating.criterion)
        if nobody and what in rated:
            fix = "name its column by --columns ratings.rater=COLUMN, or keep one of the rows"
            rows.wrong(at, "rates a text again, and no column says who rated", remedy=fix)
            continue
        rated.add(what)
        read_as = words.get(rating.criterion, numbers)
        value = read_as.sound(found[Role.VALUE], at, _NO_NUMBER, _WRITE, rows.problems)
        n_empty += read_as.none(found[Role.VALUE])
        rows.ratings.append(RatingRow(at, **{**dict(rating), "value": value}))
    return n_empty


def add_scores(
    read: Read,
    systems: Iterable[str],
    references_by: Mapping[str, str],
    called: Mapping[str, str],
    better: Mapping[str, str],
    rows: Rows,
) -> int:
    """Add scores; returns how many cells are empty: the metric is undefined there.

    `called`: what each metric is called here; `better`: its direction, by that name.
    """
    first: dict[str, MetricRow] = {}
    n_empty = 0
    for at, found, numbers in _valued(read, systems, references_by, rows):
        theirs = found.get(Role.METRIC, read.one_metric)
        metric = called.get(theirs, theirs)
        said = {"doc_id": found[Role.DOC], "author": found[Role.SYSTEM], "metric": metric}
        score = checked(Score, {**said, "value": found[Role.VALUE]}, at, rows.problems)
        if score is not None:
            value = numbers.sound(found[Role.VALUE], at, _NO_NUMBER, _WRITE, rows.problems)
            n_empty += numbers.none(found[Role.VALUE])
            rows.scores.append(ScoreRow(at, score.doc_id, score.author, FULL, metric, value))
            first.setdefault(metric, MetricRow(at, metric, better.get(metric, "higher")))
    rows.metrics += first.values()
    return n_empty


def _valued(
    read: Read, systems: Iterable[str], references_by: Mapping[str, str], rows: Rows
) -> Iterator[tuple[Place, Mapping[str, str], NumberFormat]]:
    """Each value's place, what is said of it, by role, and how its column's numbers are written."""
    several = {*systems} - {*references_by, REFERENCE_AUTHOR}
    if Role.SYSTEM not in read.told and len(several) != 1:
        what = "no column says which system's text each row is about"
        fix = "add one, or name it by --columns system=COLUMN"
        rows.wrong(Place(read.sheet.name), what, remedy=fix)
        return
    numbers = read.numbers(rows.problems)
    for at, found, column in read.spread(Role.VALUE):
        author = found[Role.SYSTEM] if Role.SYSTEM in found else next(iter(several))
        yield at, {**found, Role.SYSTEM: references_by.get(author, author)}, numbers[column]


def _once(
    at: Place,
    key: str,
    written: str,
    what: str,
    found: dict[str, tuple[Place, str]],
    problems: Findings,
) -> None:
    """Keep what is written once of a document or system, wherever it stands first."""
    if is_blank(written):
        return
    place, before = found.get(key, (at, ""))
    if not before:
        found[key] = (at, written)
    elif before != written:
        whose = "system" if what == Role.FAMILY else "doc"
        file = "" if place.file == at.file else f"{place.file} "
        where = f"{whose} {shown(key)}, {file}{place.kind} {place.row}"
        problems.add(at, f"the {what} differs from an earlier row's", "make them equal", where)


def _add_text(at: Place, doc: str, author: str, written: str, rows: Rows) -> None:
    if is_blank(written) and is_reference(author):
        return  # nobody wrote one
    said = {"doc_id": doc, "author": author}
    said |= {"status": "error"} if is_blank(written) else {"text": written}
    text = checked(Text, said, at, rows.problems)
    if text is not None:
        rows.texts.append(TextRow(at, doc, author, FULL, text.text, text.status))


def _passages(source: str) -> list[dict[str, str]]:
    """The source in pieces: lines, with who speaks if it is a dialogue; of one line, sentences."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    if len(lines) == 1:
        return [{"text": source[start:end]} for start, end in sentences(source)]
    spoken = [_SPEAKER.match(line) for line in lines]
    names = {match[1] for match in spoken if match}
    if sum(map(bool, spoken)) < _SPOKEN * len(lines) or len(names) > _SPEAKERS:
        return [{"text": line} for line in lines]
    return [
        {"text": line[match.end() :], "speaker": match[1]} if match else {"text": line}
        for line, match in zip(lines, spoken, strict=True)
    ]
