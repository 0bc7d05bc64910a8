"""Spreadsheets whose columns are known, as rows of own data that know where they stood."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import shown
from metassay.datasets.own_data import Rating, Score, Source, Text, checked
from metassay.tables.names import FULL, is_reference
from metassay.tables.names import REFERENCE as REFERENCE_AUTHOR
from metassay.tabular.column_synonyms import (
    CLUSTER,
    CRITERION,
    DOC,
    FAMILY,
    METRIC,
    RATER,
    REFERENCE,
    SOURCE,
    STRATA,
    SYSTEM,
    TEXT,
    VALUE,
)
from metassay.tabular.columns import Columns
from metassay.tabular.numbers import Numbers, absent, numbers_of
from metassay.tabular.rows import (
    Findings,
    MetricRow,
    Place,
    RatingRow,
    Rows,
    ScoreRow,
    SourceRow,
    TextRow,
    canonical,
)
from metassay.tabular.sheet import Sheet
from metassay.text.sentences import sentences

STUDY = "people"
ONE_RATER, ONE_CRITERION, ONE_SYSTEM, ONE_METRIC = "rater", "rating", "system", "score"
_SPEAKER = re.compile(r"([^\W\d_][\w .'-]{0,24}):\s+(?=\S)")
_SPEAKERS = 6  # different ones in a dialogue, at most
_SPOKEN = 0.8  # of the lines begin with a speaker in a dialogue


class Read(NamedTuple):
    """A file and what its columns hold."""

    sheet: Sheet
    columns: Columns

    def cells(self) -> Iterator[tuple[Place, Mapping[str, str]]]:
        """Each row's place and what is written, by role."""
        roles = self.columns.roles.items()
        for at, cells in self.sheet.rows:
            yield at, {role: cells[column] for role, column in roles}

    def spread(self, held: str) -> Iterator[tuple[Place, Mapping[str, str], str]]:
        """As `cells`, of columns side by side one row each, and the column that has what is `held`.

        What the name of such a column says stands by what it is.
        """
        own, files = self.columns.roles.get(held, ""), self.sheet.files
        roles = self.columns.roles.items()
        for at, cells in self.sheet.rows:
            found = {role: cells[column] for role, column in roles}
            if not self.columns.spread:
                yield at, found, own
            lacking = files.get(at.file, ())
            for column, said in self.columns.spread.items():
                if column not in lacking:
                    yield at, {**found, **said, held: cells[column]}, column

    def numbers(self) -> dict[str, Numbers]:
        """How the numbers of each column with values are written."""
        return self.clear_numbers(Findings())

    def clear_numbers(self, problems: Findings) -> dict[str, Numbers]:
        """As `numbers`; a problem for each column whose numbers may mean two things."""
        columns = self.columns.spread or [self.columns.roles[VALUE]]
        return {column: self.sheet.clear_numbers(column, problems) for column in columns}

    @property
    def nobody(self) -> bool:
        """Whether no column says who rated."""
        return RATER not in {*self.columns.roles, *self.columns.each}

    def rater_of(self, at: Place) -> str:
        """Who rated where no column says it: of several files each is a rater's."""
        return Path(at.file).stem if self.sheet.parts else ONE_RATER

    @property
    def one_metric(self) -> str:
        """What the metric is called where nothing says which it is: as the column of its values."""
        return self.columns.roles.get(VALUE, ONE_METRIC)


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
    labels: dict[str, dict[str, tuple[Place, str]]] = {STRATA: {}, CLUSTER: {}}
    n_empty = 0
    for at, found in read.cells():
        doc = found[DOC]
        sources.setdefault(doc, (at, ""))
        _once(at, doc, found.get(SOURCE, ""), SOURCE, sources, rows.problems)
        _once(at, doc, found.get(REFERENCE, ""), REFERENCE, references, rows.problems)
        for name, known in labels.items():
            _once(at, doc, found.get(name, ""), name, known, rows.problems)
        system = found.get(SYSTEM, ONE_SYSTEM)
        _once(at, system, found.get(FAMILY, ""), FAMILY, families, rows.problems)
    seen: set[tuple[str, str, str]] = set()
    for at, found, _ in read.spread(TEXT):
        author = found.get(SYSTEM, ONE_SYSTEM)
        author = references_by.get(author, author)
        key = (found[DOC], author, found[TEXT])
        if again and key in seen:
            continue
        seen.add(key)
        n_empty += absent(found[TEXT]) and author not in references_by.values()
        _add_text(at, found[DOC], author, found[TEXT], rows)
    for doc, (at, written) in references.items():
        _add_text(at, doc, REFERENCE_AUTHOR, written, rows)
    for doc, (at, written) in sources.items():
        value = {"doc_id": doc, "task": "other", "passages": _passages(written)}
        source = checked(Source, value, at, rows.problems)
        if source is not None:
            texts = [one.text for one in source.passages]
            speakers = [one.speaker for one in source.passages]
            groups = [one.group for one in source.passages]
            said = {name: known[doc][1] for name, known in labels.items() if doc in known}
            more = canonical(said) if said else None
            rows.sources.append(SourceRow(at, doc, source.task, texts, speakers, groups, more))
    return Texts(n_empty, {name: family for name, (_, family) in families.items()})


def add_ratings(
    read: Read, systems: Iterable[str], references_by: Mapping[str, str], rows: Rows
) -> int:
    """Add ratings of the study `people`; returns how many cells are empty: the rater abstained."""
    only, n_empty = _only(systems, references_by), 0
    if not _system_told(read, only, rows.problems):
        return 0
    numbers = read.clear_numbers(rows.problems)
    words = {one: numbers_of((), semicolons=False, words=w) for one, w in read.sheet.words.items()}
    rated: set[tuple[str, ...]] = set()
    for at, found, column in read.spread(VALUE):
        said = {
            "study": STUDY,
            "doc_id": found[DOC],
            "author": _author(found, only, references_by),
            "rater": found.get(RATER, read.rater_of(at)),
            "criterion": found.get(CRITERION, ONE_CRITERION),
            "value": found[VALUE],
        }
        rating = checked(Rating, said, at, rows.problems)
        if rating is not None:
            what = (rating.doc_id, rating.author, rating.rater, rating.criterion)
            if read.nobody and what in rated:
                fix = "name its column by --columns ratings.rater=COLUMN, or keep one of the rows"
                rows.problems.add(at, "rates a text again, and no column says who rated", fix)
                continue
            rated.add(what)
            read_as = words.get(rating.criterion, numbers[column])
            value = _number(read_as, found[VALUE], at, rows.problems)
            n_empty += read_as.none(found[VALUE])
            key = (rating.study, rating.doc_id, rating.author, FULL, "text")
            rows.ratings.append(RatingRow(at, *key, rating.rater, rating.criterion, value))
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
    only, n_empty = _only(systems, references_by), 0
    if not _system_told(read, only, rows.problems):
        return 0
    numbers = read.clear_numbers(rows.problems)
    first: dict[str, MetricRow] = {}
    for at, found, column in read.spread(VALUE):
        theirs = found.get(METRIC, read.one_metric)
        metric = called.get(theirs, theirs)
        author = _author(found, only, references_by)
        said = {"doc_id": found[DOC], "author": author, "metric": metric}
        score = checked(Score, {**said, "value": found[VALUE]}, at, rows.problems)
        if score is not None:
            value = _number(numbers[column], found[VALUE], at, rows.problems)
            n_empty += numbers[column].none(found[VALUE])
            rows.scores.append(ScoreRow(at, score.doc_id, score.author, FULL, metric, value))
            first.setdefault(metric, MetricRow(at, metric, better.get(metric, "higher")))
    rows.metrics += first.values()
    return n_empty


def _author(found: Mapping[str, str], only: str, references_by: Mapping[str, str]) -> str:
    """Whose text a row is about, as it is called here."""
    author = found.get(SYSTEM, only)
    return references_by.get(author, author)


def _only(systems: Iterable[str], references_by: Mapping[str, str]) -> str:
    """The one system that there is; "" if there are several."""
    found = {*systems} - {*references_by, REFERENCE_AUTHOR}
    return found.pop() if len(found) == 1 else ""


def _system_told(read: Read, only: str, problems: Findings) -> bool:
    told = SYSTEM in {*read.columns.roles, *read.columns.each} or bool(only)
    if not told:
        what = "no column says which system's text each row is about"
        problems.add(Place(read.sheet.name), what, "add one, or name it by --columns system=COLUMN")
    return told


def _once(
    at: Place,
    key: str,
    written: str,
    what: str,
    found: dict[str, tuple[Place, str]],
    problems: Findings,
) -> None:
    """Keep what is written once of a document or system, wherever it stands first."""
    if absent(written):
        return
    place, before = found.get(key, (at, ""))
    if not before:
        found[key] = (at, written)
    elif before != written:
        whose = "system" if what == FAMILY else "doc"
        file = "" if place.file == at.file else f"{place.file} "
        where = f"{whose} {shown(key)}, {file}{place.kind} {place.row}"
        problems.add(at, f"the {what} differs from an earlier row's", "make them equal", where)


def _add_text(at: Place, doc: str, author: str, written: str, rows: Rows) -> None:
    if absent(written) and is_reference(author):
        return  # nobody wrote one
    said = {"doc_id": doc, "author": author}
    said |= {"status": "error"} if absent(written) else {"text": written}
    text = checked(Text, said, at, rows.problems)
    if text is not None:
        rows.texts.append(TextRow(at, doc, author, FULL, text.text, text.status))


def _number(numbers: Numbers, cell: str, at: Place, problems: Findings) -> float | None:
    if numbers.none(cell) or numbers.fault:
        return None
    number = numbers.number(cell)
    if number is None:
        # Not quoted: what is no number may be a remark about the text.
        problems.add(at, "a cell is no number", "write a number, or leave it empty")
    return number


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
