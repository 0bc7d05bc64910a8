"""Turn spreadsheets with known columns into rows of own data that keep their places."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from metassay.core.errors import shown
from metassay.datasets.own_data import (
    Rating,
    Score,
    Source,
    Text,
    rating_row,
    validate,
)
from metassay.tables.names import FULL, is_reference
from metassay.tables.names import REFERENCE as REFERENCE_AUTHOR
from metassay.tabular.column_synonyms import Role
from metassay.tabular.columns import Columns
from metassay.tabular.numbers import NumberFormat, find_format, is_blank
from metassay.tabular.odd_cells import OddCells
from metassay.tabular.rows import (
    Findings,
    MetricRow,
    Place,
    Rows,
    ScoreRow,
    TextRow,
    canonical_json,
    source_row,
)
from metassay.tabular.sheet import Sheet
from metassay.text.sentences import sentences

STUDY = "people"
ONE_RATER, ONE_CRITERION, ONE_SYSTEM, ONE_METRIC = "rater", "rating", "system", "score"
_SPEAKER = re.compile(r"([^\W\d_][\w .'-]{0,24}):\s+(?=\S)")
_SPEAKERS = 6  # different ones in a dialogue, at most
_SPOKEN = 0.8  # of the lines begin with a speaker in a dialogue

# of documents or systems, each with its first place
_Values = dict[str, tuple[Place, str]]


class Table(NamedTuple):
    """A file and the roles of its columns."""

    sheet: Sheet
    columns: Columns

    def melt(self, role: str) -> Iterator[tuple[Place, Mapping[str, str], str]]:
        """Yield each row's place, its cells by role, and the column of this `role`.

        Columns side by side give a row each; what their names say is by role, too.
        """
        files = self.sheet.files
        for at, row in self.sheet.rows:
            cells = {name: row[column] for name, column in self.columns.roles.items()}
            if not self.columns.spread:
                yield at, cells, self.columns.roles.get(role, "")
            lacking = files.get(at.file, ())
            for column, labels in self.columns.spread.items():
                if column not in lacking:
                    yield at, {**cells, **labels, role: row[column]}, column

    def numbers(self, problems: Findings) -> dict[str, NumberFormat]:
        """Return how the numbers of each column are written; a problem where that is unclear."""
        columns = self.columns.spread or [self.columns.roles[Role.VALUE]]
        return {
            column: self.sheet.clear_numbers(column, problems) for column in columns
        }

    def names(self, role: str) -> list[str]:
        """Return the systems, metrics or other keys of a role, in their order."""
        if role in self.columns.name_roles:
            return list(
                dict.fromkeys(labels[role] for labels in self.columns.spread.values())
            )
        column = self.columns.roles.get(role)
        return self.sheet.cells(column) if column else []

    def verdicts(self, role: str, default: str) -> list[str]:
        """Return the criteria or metrics whose cells are pass and fail, or words like these.

        `default` is the name of one that no column or name tells.
        """
        numbers = self.numbers(Findings())
        columns = [column for column, form in numbers.items() if form.has_verdicts]
        if columns and role in self.columns.roles:
            return self.names(role)
        labels = (self.columns.spread.get(column, {}) for column in columns)
        return [names.get(role, default) for names in labels]

    @property
    def roles(self) -> frozenset[str]:
        """The roles that columns have, or that their names tell."""
        return self.columns.name_roles | self.columns.roles.keys()

    @property
    def default_metric(self) -> str:
        """The metric's name where no column or name tells it: the column of its values."""
        return self.columns.roles.get(Role.VALUE, ONE_METRIC)


class Texts(NamedTuple):
    """What is worth knowing of texts beside their rows."""

    n_empty: int  # which count as failed
    families: dict[str, str]  # systems -> what they are versions of


def add_texts(
    table: Table, references_by: Mapping[str, str], rows: Rows, *, again: bool
) -> Texts:
    """Add texts, and sources with the strata and clusters of documents as attributes.

    `references_by`: who wrote references, and their author names here. A column of
    references gives texts, too. The source or the reference of a document may be in
    each of its rows, or in only some; two that differ are a problem. `again`: so may a
    text, as where each row is a rating.
    """
    sources, references, families = _Values(), _Values(), _Values()
    labels = {Role.STRATA: _Values(), Role.CLUSTER: _Values()}
    of_documents = {Role.SOURCE: sources, Role.REFERENCE: references, **labels}
    n_empty = 0
    for at, row in table.sheet.rows:
        cells = {role: row[column] for role, column in table.columns.roles.items()}
        doc = cells[Role.DOC]
        sources.setdefault(doc, (at, ""))
        for role, values in of_documents.items():
            _add_equal(at, doc, cells.get(role, ""), role, values, rows)
        system = cells.get(Role.SYSTEM, ONE_SYSTEM)
        _add_equal(at, system, cells.get(Role.FAMILY, ""), Role.FAMILY, families, rows)
    seen: set[tuple[str, str, str]] = set()
    for at, text, _ in table.melt(Role.TEXT):
        author = text.get(Role.SYSTEM, ONE_SYSTEM)
        author = references_by.get(author, author)
        key = (text[Role.DOC], author, text[Role.TEXT])
        if again and key in seen:
            continue
        seen.add(key)
        n_empty += is_blank(text[Role.TEXT]) and author not in references_by.values()
        _add_text(at, *key, rows)
    for doc, (at, cell) in references.items():
        _add_text(at, doc, REFERENCE_AUTHOR, cell, rows)
    for doc, (at, cell) in sources.items():
        value = {"doc_id": doc, "task": "other", "passages": _passages(cell)}
        source = validate(Source, value, at, rows.problems)
        if source is not None:
            texts = [passage.text for passage in source.passages]
            speakers = [passage.speaker for passage in source.passages]
            attributes = {
                role: of_doc[doc][1] for role, of_doc in labels.items() if doc in of_doc
            }
            more = canonical_json(attributes) if attributes else None
            rows.sources.append(
                source_row(at, doc, source.task, texts, speakers, attributes=more)
            )
    return Texts(n_empty, {name: family for name, (_, family) in families.items()})


def add_ratings(
    table: Table, systems: Iterable[str], references_by: Mapping[str, str], rows: Rows
) -> int:
    """Add ratings of the study `people`; return the number of empty cells (the rater abstained)."""
    words = {
        c: find_format((), semicolons=False, words=w, missing=table.sheet.missing)
        for c, w in table.sheet.words.items()
    }
    anonymous = Role.RATER not in table.roles
    rated: set[tuple[str, ...]] = set()
    n_empty = 0
    odd = OddCells()
    for cell in _value_rows(table, systems, references_by, rows):
        at, cells = cell.at, cell.roles
        # Of several files each is a rater's.
        rater = table.sheet.raters.get(at.file, ONE_RATER)
        value = {
            "study": STUDY,
            "doc_id": cells[Role.DOC],
            "author": cells[Role.SYSTEM],
        }
        value |= {"rater": cells.get(Role.RATER, rater), "value": cells[Role.VALUE]}
        value |= {"criterion": cells.get(Role.CRITERION, ONE_CRITERION)}
        rating = validate(Rating, value, at, rows.problems)
        if rating is None:
            continue
        key = (rating.doc_id, rating.author, rating.rater, rating.criterion)
        if anonymous and key in rated:
            fix = "name its column by --columns ratings.rater=COLUMN, or keep one of the rows"
            rows.wrong(
                at, "rates a text again, and no column says who rated", remedy=fix
            )
            continue
        rated.add(key)
        numbers = words.get(rating.criterion, cell.numbers)
        number = cell.number(numbers, table.sheet, odd)
        n_empty += numbers.is_missing(cells[Role.VALUE])
        rows.ratings.append(rating_row(at, rating, number))
    odd.report(rows.problems)
    return n_empty


def add_scores(
    table: Table,
    systems: Iterable[str],
    references_by: Mapping[str, str],
    renamed: Mapping[str, str],
    better: Mapping[str, str],
    rows: Rows,
    *,
    again: bool = False,
) -> int:
    """Add scores; return the number of empty cells (the metric is undefined there).

    `renamed`: names of metrics here, by those in the file; `better`: directions by
    names here. `again`: a text's scores may be in several equal rows, one per rater.
    """
    first: dict[str, MetricRow] = {}
    n_empty = 0
    odd = OddCells()
    seen: set[tuple[str, ...]] = set()
    for cell in _value_rows(table, systems, references_by, rows):
        at, cells = cell.at, cell.roles
        name = cells.get(Role.METRIC, table.default_metric)
        metric = renamed.get(name, name)
        value = {
            "doc_id": cells[Role.DOC],
            "author": cells[Role.SYSTEM],
            "metric": metric,
        }
        score = validate(
            Score, {**value, "value": cells[Role.VALUE]}, at, rows.problems
        )
        again_here = (*value.values(), cells[Role.VALUE])
        if again and again_here in seen:
            continue
        seen.add(again_here)
        if score is not None:
            number = cell.number(cell.numbers, table.sheet, odd)
            n_empty += cell.numbers.is_missing(cells[Role.VALUE])
            rows.scores.append(
                ScoreRow(at, score.doc_id, score.author, FULL, metric, number)
            )
            first.setdefault(
                metric, MetricRow(at, metric, better.get(metric, "higher"))
            )
    rows.metrics += first.values()
    odd.report(rows.problems)
    return n_empty


class _Cell(NamedTuple):
    """A value: its place, the row's cells by role, its column and how that writes numbers."""

    at: Place
    roles: Mapping[str, str]
    column: str
    numbers: NumberFormat

    def number(
        self, numbers: NumberFormat, sheet: Sheet, odd: OddCells
    ) -> float | None:
        """Return the number; None if it is missing or no number, which `odd` then has."""
        cell = self.roles[Role.VALUE]
        if numbers.is_missing(cell) or numbers.fault:
            return None
        number = numbers.number(cell)
        if number is None:
            odd.keep(self.column, sheet.cell_of(self.at, self.column), cell)
        return number


def _value_rows(
    table: Table, systems: Iterable[str], references_by: Mapping[str, str], rows: Rows
) -> Iterator[_Cell]:
    """Yield each value."""
    writers = {*systems} - {*references_by, REFERENCE_AUTHOR}
    if Role.SYSTEM not in table.roles and len(writers) != 1:
        what = "no column says which system's text each row is about"
        fix = "add one, or name it by --columns system=COLUMN"
        rows.wrong(Place(table.sheet.name), what, remedy=fix)
        return
    numbers = table.numbers(rows.problems)
    for at, cells, column in table.melt(Role.VALUE):
        author = cells[Role.SYSTEM] if Role.SYSTEM in cells else next(iter(writers))
        roles = {**cells, Role.SYSTEM: references_by.get(author, author)}
        yield _Cell(at=at, roles=roles, column=column, numbers=numbers[column])


def _add_equal(
    at: Place, key: str, cell: str, role: str, values: _Values, rows: Rows
) -> None:
    """Add a value of a document or system; report a later one that differs."""
    if is_blank(cell):
        return
    place, before = values.get(key, (at, ""))
    if not before:
        values[key] = (at, cell)
    elif before != cell:
        kind = "system" if role == Role.FAMILY else "doc"
        file = "" if place.file == at.file else f"{place.file} "
        where = f"{kind} {shown(key)}, {file}{place.kind} {place.row}"
        rows.problems.add(
            at, f"the {role} differs from an earlier row's", "make them equal", where
        )


def _add_text(at: Place, doc: str, author: str, cell: str, rows: Rows) -> None:
    if is_blank(cell) and is_reference(author):
        return  # nobody wrote one
    value = {"doc_id": doc, "author": author}
    value |= {"status": "error"} if is_blank(cell) else {"text": cell}
    text = validate(Text, value, at, rows.problems)
    if text is not None:
        rows.texts.append(TextRow(at, doc, author, FULL, text.text, text.status))


def _passages(source: str) -> list[dict[str, str]]:
    """Divide a source into lines, with speakers if it is a dialogue; a single line by sentences."""
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
