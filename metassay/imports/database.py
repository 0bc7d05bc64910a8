"""Collect what readers return in a database on the disk, so that memory does not limit its size."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import quoted, shown
from metassay.format.numbers import counted
from metassay.imports.items import (
    PERSON,
    Comparison,
    Item,
    Judgment,
    SpanCounts,
    Task,
    key,
    text,
)
from metassay.tabular.column_synonyms import is_called
from metassay.tabular.name_patterns import HUMAN_VERDICTS
from metassay.tabular.numbers import find_format
from metassay.tabular.rows import Findings, Place

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE documents (number INTEGER PRIMARY KEY, doc TEXT UNIQUE, source TEXT, reference TEXT);
CREATE TABLE items (number INTEGER PRIMARY KEY, doc TEXT, system TEXT, text TEXT, failed INTEGER,
                    corrected INTEGER, UNIQUE (doc, system));
CREATE TABLE judgments (item INTEGER, name TEXT, question TEXT, value REAL, label TEXT, rater TEXT,
                        person INTEGER, better TEXT, missing INTEGER,
                        PRIMARY KEY (item, name, question, person, rater));
CREATE TABLE span_labels (label TEXT PRIMARY KEY);
CREATE TABLE span_raters (item INTEGER, rater TEXT, person INTEGER,
                          PRIMARY KEY (item, rater, person));
CREATE TABLE comparisons (doc TEXT, first TEXT, second TEXT, swapped INTEGER, name TEXT, rater TEXT,
                          person INTEGER, share REAL,
                          PRIMARY KEY (doc, first, second, name, person, rater, swapped));
BEGIN;
"""
_JUDGMENT = "REPLACE INTO judgments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_COMPARISON = "REPLACE INTO comparisons VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ZERO_SPANS = """
INSERT OR IGNORE INTO judgments
SELECT item, label || '_count', '', 0, '', rater, person, '', 0 FROM span_raters, span_labels
"""
_COUNTS = """SELECT (SELECT COUNT(*) FROM items),
    (SELECT COUNT(*) FROM (SELECT DISTINCT name, question FROM judgments WHERE NOT person)),
    (SELECT COUNT(corrected) FROM items), (SELECT COUNT(failed) FROM items),
    (SELECT COUNT(DISTINCT item) FROM judgments WHERE person),
    (SELECT COUNT(*) FROM judgments WHERE NOT person AND missing)"""
_N_STORED = (
    "SELECT (SELECT COUNT(*) FROM judgments) + (SELECT COUNT(*) FROM comparisons)"
)
_COLUMNS = """SELECT name, question, person, rater FROM judgments
    GROUP BY name, question, person, rater ORDER BY person, MIN(item), MIN(rowid)"""
_WORDS = """SELECT name, label, COUNT(*) FROM judgments WHERE value IS NULL AND label != ''
    GROUP BY name, label ORDER BY name, MIN(rowid)"""
_READ = "UPDATE judgments SET value = ? WHERE name = ? AND label = ? AND value IS NULL"
_ODD = "UPDATE judgments SET missing = 1 WHERE name = ? AND label = ? AND value IS NULL"
_OTHER = "import these files one by one, or tell them apart by --columns doc=FIELD or system=FIELD"
_LONGEST = 60  # characters of a question in the name of a column

_Row = Mapping[str, object]  # values by column


class Column(NamedTuple):
    """A column of verdicts.csv: the scorer and what it was asked, whether a person, and who."""

    name: str
    question: str
    person: int
    rater: str


class Database:
    """What readers returned: a row per document, per text of a system, and per judgment."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.executescript(_TABLES)
        self.run = self.connection.execute
        self.records = 0
        self.judgments = 0
        self.replaced = 0
        self._last_place: Place | None = None

    def add(self, item: Item | Comparison, task: Task) -> None:
        """Add an item; a problem where it has no name, or contradicts an earlier item."""
        # A comparison and its two texts are one record.
        self.records += item.place != self._last_place
        self._last_place = item.place
        doc, system = task.names(item)
        names = {"document": ("doc", doc)}
        if isinstance(item, Item):
            names["system"] = ("system", system)
        for what, (column, name) in names.items():
            if not name:
                fix = f"say --columns {column}=FIELD, a field of every record"
                task.problems.add(item.place, f"has no name for its {what}", fix)
        if isinstance(item, Comparison):
            if doc:
                self._add_comparison(doc, item)
        elif doc and system:
            self._add_item(doc, system, item, task)

    def _add_item(self, doc: str, system: str, item: Item, task: Task) -> None:
        parts = chain.from_iterable(
            part if isinstance(part, list) else [part] for part in item.source
        )
        passages = [
            passage for passage in map(text, parts) if passage and passage.strip()
        ]
        about = {
            "source": json.dumps(passages, ensure_ascii=False) if passages else None,
            "reference": text(item.reference),
        }
        self._put("documents", {"doc": doc}, about, item.place, task.problems)
        values = {
            "text": text(item.text),
            "failed": item.failed or None,
            "corrected": item.corrected or None,
        }
        keys = {"doc": doc, "system": system}
        number = self._put("items", keys, values, item.place, task.problems)
        for judgment in chain(item.judgments, task.named_judgments(item)):
            self._add_judgment(number, judgment)

    def _add_judgment(self, item: int, judgment: Judgment | SpanCounts) -> None:
        if isinstance(judgment, SpanCounts):
            rater = (item, judgment.by, judgment.person)
            self.run("INSERT OR IGNORE INTO span_raters VALUES (?, ?, ?)", rater)
            for label, count in judgment.counts.items():
                self.run(
                    "INSERT OR IGNORE INTO span_labels VALUES (?)", (_encodable(label),)
                )
                name = f"{label}_count"
                counted_spans = Judgment(
                    name, float(count), "", judgment.by, judgment.person
                )
                self._add_judgment(item, counted_spans)
            return
        self.judgments += 1
        row = (
            item,
            judgment.name,
            judgment.question,
            judgment.value,
            judgment.label,
            judgment.by,
            judgment.person,
            judgment.better,
            judgment.value is None and not judgment.label,
        )
        self.run(_JUDGMENT, [_encodable(value) for value in row])

    def _add_comparison(self, doc: str, comparison: Comparison) -> None:
        """Add a preference, with the two systems in the order of their names."""
        self.judgments += 1
        systems = (key(comparison.first), key(comparison.second))
        swapped = systems[0] > systems[1]
        share = comparison.share
        if swapped:
            systems = systems[::-1]
            share = None if share is None else 1.0 - share
        name, by, person = comparison.name, comparison.by, comparison.person
        row = (doc, *systems, swapped, name, by, person, share)
        self.run(_COMPARISON, [_encodable(value) for value in row])

    def _put(
        self, table: str, keys: _Row, values: _Row, place: Place, problems: Findings
    ) -> int:
        """Add a row, or fill in what the row with these keys lacks; return its number."""
        row = {name: _encodable(value) for name, value in {**keys, **values}.items()}
        where = " AND ".join(f"{name} = :{name}" for name in keys)
        named = ", ".join(f":{name}" for name in row)
        fills = ", ".join(f"{name} = COALESCE({name}, :{name})" for name in values)
        add = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({named})"
        self.run(f"{add} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {fills}", row)
        query = f"SELECT number, {', '.join(values)} FROM {table} WHERE {where}"
        number, *stored = self.run(query, row).fetchone()
        for name, value in zip(values, stored, strict=True):
            if row[name] not in (None, value):
                example = ", ".join(f"{key} {shown(row[key])}" for key in keys)
                problems.add(place, f"has another {name} than before", _OTHER, example)
        return int(number)

    def finish(self) -> None:
        """Add what follows from all items together: 0 spans of a label where nobody marked one."""
        n_stored = self.run(_N_STORED).fetchone()[0]
        self.replaced = self.judgments - n_stored
        self.run(_ZERO_SPANS)

    def summary(self) -> Iterator[str]:
        """Yield the counts of records, scorers, texts, corrections by people and missing values."""
        texts, scorers, corrected, failed, rated, missing = self.run(_COUNTS).fetchone()
        records = f"{counted(self.records, 'record')}, {counted(scorers, 'scorer')}"
        if self.judgments and not texts:  # preferences alone
            yield counted(self.records, "record")
            return
        yield f"{records}, {corrected:,} corrected by people, {failed:,} failed"
        of_texts = f"{counted(texts, 'text')}, of which people rated {rated:,}"
        more = (
            f"; {self.replaced:,} replaced by later ones of the same"
            if self.replaced
            else ""
        )
        yield f"{of_texts}; judges' values that are missing: {missing:,}{more}"

    def columns(self) -> dict[Column, str]:
        """Return the names in verdicts.csv of each scorer, and of each person's judgments of it."""
        columns = [Column(*row) for row in self.run(_COLUMNS)]
        judges = [
            (column.name, column.question) for column in columns if not column.person
        ]
        questions = {name: {q for n, q in judges if n == name} for name, _ in judges}
        used = {"item", "document", "system"}
        names: dict[Column, str] = {}
        for column in columns:
            scorer = column.name
            if column.question and len(questions[scorer]) > 1:
                scorer = f"{scorer}: {_shorten(column.question)}"
            if column.person:
                name = _name_of_person(scorer, column.rater)
            elif judges.count((column.name, column.question)) > 1:
                name = f"{scorer}_judge_{column.rater}"
            else:
                name = scorer
            names[column] = add_number(name, used)
            used.add(names[column])
        return names

    def read_words(self, letters: Mapping[str, float]) -> tuple[list[str], list[str]]:
        """Store numbers for verdicts in words.

        Return the scorers whose words are no numbers, none of which gets one, and a line for each
        scorer of a tool's grades with a cell that holds none of them: that cell alone is missing.
        """
        unread: list[str] = []
        odd: list[str] = []
        for name, rows in groupby(self.run(_WORDS).fetchall(), lambda row: str(row[0])):
            counts = {str(label): int(count) for _, label, count in rows}
            numbers = _numbers_of(counts, letters)
            if not numbers:
                unread.append(name)
                continue
            for label in counts:
                if label in numbers:
                    self.run(_READ, (numbers[label], name, label))
                else:
                    self.run(_ODD, (name, label))
            strange = [label for label in counts if label not in numbers]
            if strange:
                many = counted(sum(counts[label] for label in strange), "cell")
                words = ", ".join(map(shown, strange))
                grades = ", ".join(letters)
                odd.append(
                    f"{quoted(name)}: {many} with {words}, and no grade ({grades}): missing"
                )
        return unread, odd

    def directions(self) -> dict[tuple[str, str], str]:
        """Return which end is better, by scorer and question, where the tool says it."""
        query = (
            "SELECT DISTINCT name, question, better FROM judgments WHERE better != ''"
        )
        ends_by_scorer: dict[tuple[str, str], set[str]] = {}
        for name, question, better in self.run(query):
            ends_by_scorer.setdefault((name, question), set()).add(better)
        return {
            scorer: ends.pop()
            for scorer, ends in ends_by_scorer.items()
            if len(ends) == 1
        }


def _numbers_of(
    labels: Mapping[str, int], letters: Mapping[str, float]
) -> dict[str, float]:
    """Return the number of each word; {} if the words of a scorer are no numbers.

    `labels` counts the cells with each word. A tool's letters are grades, and other
    words odd ones among them, if both right and wrong answers occur, or if most cells
    are grades and no other word is a single letter: of answers A to D, C is no grade.
    """
    grades = {
        label: letters[label.upper()] for label in labels if label.upper() in letters
    }
    others = [label for label in labels if label not in grades]
    if grades:
        n_others = sum(labels[label] for label in others)
        words = all(len(label) > 1 for label in others)
        mostly = words and 2 * n_others < sum(labels.values())
        if not others or {"C", "I"} <= labels.keys() or mostly:
            return grades
    read_as = find_format(labels, semicolons=False)
    numbers = {label: read_as.number(label) for label in labels}
    known = {label: value for label, value in numbers.items() if value is not None}
    return known if not read_as.fault and len(known) == len(labels) else {}


def _name_of_person(scorer: str, rater: str) -> str:
    if rater != PERSON:
        return f"{scorer}_human_{rater}"
    return scorer if is_called(scorer, HUMAN_VERDICTS) else f"{scorer}_human"


def _shorten(question: str) -> str:
    if len(question) <= _LONGEST:
        return question
    return f"{question[: _LONGEST - 1].rstrip()}…"


def add_number(name: str, used: set[str]) -> str:
    """Return the name, with a number where it is used already."""
    number = 1
    free = name
    while free in used:
        number += 1
        free = f"{name}_{number}"
    return free


def _encodable(value: object) -> object:
    """Replace what UTF-8 cannot hold, half of a surrogate pair, by a question mark."""
    return (
        value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    )
