"""Collect what readers return in a database on the disk, and write it as tables of own data.

The database lies in the new folder, so that memory does not limit its size.
"""

import csv
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count, groupby, repeat
from pathlib import Path

from metassay.core.errors import shown
from metassay.core.naming import LONGEST, name_problem
from metassay.format.numbers import counted
from metassay.imports.records import Item, Task, text
from metassay.metrics.describe import RELEASED
from metassay.scoring.catalogue import descriptions
from metassay.tables.names import REFERENCE
from metassay.tabular.numbers import find_format
from metassay.tabular.rows import Findings, Place
from metassay.tabular.scales import guess_direction

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE documents (number INTEGER PRIMARY KEY, doc TEXT UNIQUE, source TEXT, reference TEXT);
CREATE TABLE items (number INTEGER PRIMARY KEY, doc TEXT, system TEXT, text TEXT, failed INTEGER,
                    corrected INTEGER, UNIQUE (doc, system));
CREATE TABLE judgments (item INTEGER, name TEXT, value REAL, label TEXT, rater TEXT, person INTEGER,
                        PRIMARY KEY (item, name, person, rater));
BEGIN;
"""
_COUNTS = """SELECT (SELECT COUNT(*) FROM items),
    (SELECT COUNT(DISTINCT name) FROM judgments WHERE NOT person),
    (SELECT COUNT(corrected) FROM items), (SELECT COUNT(failed) FROM items),
    (SELECT COUNT(DISTINCT item) FROM judgments WHERE person),
    (SELECT COUNT(*) FROM judgments WHERE NOT person AND value IS NULL AND label = ''),
    (SELECT COUNT(*) FROM judgments)"""
_COLUMNS = """SELECT name, person, rater FROM judgments GROUP BY name, person, rater
    ORDER BY person, MIN(item), MIN(rowid)"""
_WORDS = """SELECT DISTINCT name, label FROM judgments WHERE value IS NULL AND label != ''
    ORDER BY name"""
_READ = "UPDATE judgments SET value = ? WHERE name = ? AND label = ? AND value IS NULL"
_JUDGMENTS = """SELECT item, doc, system, name, person, rater, value, label FROM judgments
    JOIN items ON number = item {} ORDER BY item, person, name, rater"""
_NUMBERS = _JUDGMENTS.format("WHERE person = ? AND (value IS NOT NULL OR label = '')")
_TEXTS = """SELECT doc, system, text, source, reference FROM items JOIN documents USING (doc)
    ORDER BY items.number"""
_OTHER = "import these files one by one, or tell them apart by --columns doc=FIELD or system=FIELD"
_LETTERS = re.compile(r"[^A-Za-z0-9_-]+")

_Row = Mapping[str, object]  # values by column
# of verdicts.csv: the scorer, whether a person judged, the rater
Column = tuple[str, int, str]


class Database:
    """What readers returned: a row per document, per text of a system, and per judgment."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.executescript(_TABLES)
        self.run = self.connection.execute
        self.records = self.judgments = 0

    def add(self, item: Item, task: Task) -> None:
        """Add an item; a problem where it has no name, or contradicts an earlier item."""
        self.records += 1
        doc, system = task.names(item)
        for column, what, name in (
            ("doc", "document", doc),
            ("system", "system", system),
        ):
            if not name:
                fix = f"say --columns {column}=FIELD, a field of every record"
                task.problems.add(item.place, f"has no name for its {what}", fix)
        if doc and system:
            parts = chain.from_iterable(
                p if isinstance(p, list) else [p] for p in item.source
            )
            passages = [
                passage for passage in map(text, parts) if passage and passage.strip()
            ]
            source = json.dumps(passages, ensure_ascii=False) if passages else None
            about = {"source": source, "reference": text(item.reference)}
            self._put("documents", {"doc": doc}, about, item.place, task.problems)
            flags = {"failed": item.failed or None, "corrected": item.corrected or None}
            values, keys = (
                {"text": text(item.text), **flags},
                {"doc": doc, "system": system},
            )
            number = self._put("items", keys, values, item.place, task.problems)
            for judgment in item.judgments:
                self.judgments += 1
                row = [*map(_encodable, (number, *judgment))]
                self.run("REPLACE INTO judgments VALUES (?, ?, ?, ?, ?, ?)", row)

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

    def summary(self) -> Iterator[str]:
        """Yield the counts of records, scorers, texts, corrections by people and missing values."""
        texts, scorers, corrected, failed, rated, missing, n = self.run(
            _COUNTS
        ).fetchone()
        replaced = self.judgments - n
        more = f"; {replaced:,} replaced by later ones of the same" if replaced else ""
        records = f"{counted(self.records, 'record')}, {counted(scorers, 'scorer')}"
        yield f"{records}, {corrected:,} corrected by people, {failed:,} failed"
        of_texts = f"{counted(texts, 'text')}, of which people rated {rated:,}"
        yield f"{of_texts}; judges' values that are missing: {missing:,}{more}"

    def columns(self) -> dict[Column, str]:
        """Return the names in verdicts.csv of each scorer, and of each person's judgments of it."""
        columns: list[Column] = self.run(_COLUMNS).fetchall()
        judges = [name for name, person, _ in columns if not person]
        names: dict[Column, str] = {}
        for name, person, rater in columns:
            more = (
                f"_human_{rater}".removesuffix("_person")
                if person
                else f"_judge_{rater}"
            )
            column = name if not person and judges.count(name) == 1 else name + more
            used = {"item", "document", "system", *names.values()}
            names[name, person, rater] = next(
                n for n in _add_numbers(column) if n not in used
            )
        return names

    def read_words(self, letters: Mapping[str, float]) -> list[str]:
        """Store numbers for verdicts in words, by `letters` if it has all words of a scorer.

        Return the scorers with a word that has no number; none of their words gets one.
        """
        unread = []
        for name, rows in groupby(self.run(_WORDS).fetchall(), lambda row: str(row[0])):
            labels = [label for _, label in rows]
            read_as = find_format(labels, semicolons=False)
            number_of = letters.get if letters.keys() >= {*labels} else read_as.number
            numbers = [number_of(label) for label in labels]
            if read_as.fault or None in numbers:
                unread.append(name)
            else:
                self.connection.executemany(_READ, zip(numbers, repeat(name), labels))
        return unread


def write(
    database: Database, folder: Path, study: str, letters: Mapping[str, float]
) -> list[str]:
    """Write all tables to a folder, and return a line for each thing to know of them.

    texts.csv, sources.jsonl and texts.jsonl exist if a text is known, scores.csv if a
    judge gave a number, ratings.csv if a person did, verdicts.csv if there is any
    verdict.
    """
    columns, unread = database.columns(), database.read_words(letters)
    data = folder / "data"
    data.mkdir()
    metrics = _metrics([name for (_, person, _), name in columns.items() if not person])
    better = {name: guess_direction(name) or "higher" for name in metrics.values()}
    header = ["item", "document", "system", *columns.values()]
    items = groupby(database.run(_JUDGMENTS.format("")), key=lambda row: row[:3])
    cells = (
        (key, {tuple(r[3:6]): r[7] or _format(r[6]) for r in rows})
        for key, rows in items
    )
    verdicts = (
        (*key, *(row.get(column, "") for column in columns)) for key, row in cells
    )
    _csv(folder / "verdicts.csv", header, verdicts)
    scores = (
        (doc, system, metric, _format(value), better[metric])
        for _, doc, system, *column, value, _ in database.run(_NUMBERS, (0,))
        for metric in [metrics[columns[tuple(column)]]]
    )
    _csv(data / "scores.csv", ("doc_id", "author", "metric", "value", "better"), scores)
    ratings = (
        (study, doc, system, rater, name, _format(value), "text")
        for _, doc, system, name, _, rater, value, _ in database.run(_NUMBERS, (1,))
    )
    header = ["study", "doc_id", "author", "rater", "criterion", "value", "unit"]
    _csv(data / "ratings.csv", header, ratings)
    notes = {
        "words that are no numbers, in verdicts.csv alone": unread,
        "called otherwise in scores.csv": [
            f"{n} for {o}" for o, n in metrics.items() if o != n
        ],
        "less is better, by the name": [n for n in better if better[n] == "lower"],
    }
    lines = [
        f"{what}: {', '.join(map(shown, names))}"
        for what, names in notes.items()
        if names
    ]
    if database.run("SELECT COUNT(text) FROM items").fetchone()[0]:
        _write_texts(database, folder / "texts.csv", data)
        return lines
    return [
        *lines,
        "no texts: these files have none, so there is nothing for a benchmark",
    ]


def _metrics(names: Iterable[str]) -> dict[str, str]:
    """Return a valid name for each scorer that is not the name of a metric of Metassay."""
    metric_names = {
        name.casefold() for name, m in descriptions().items() if m.family != RELEASED
    }
    metrics: dict[str, str] = {}
    for name in names:
        plain = _LETTERS.sub("_", name).strip("_-")[: LONGEST - 10]
        if plain.casefold() in metric_names or name_problem(plain):
            plain = f"own_{plain}".rstrip("_")
        valid = (
            n for n in _add_numbers(plain) if not name_problem(n, metrics.values())
        )
        metrics[name] = next(valid)
    return metrics


def _add_numbers(name: str) -> Iterator[str]:
    return chain([name], (f"{name}_{number}" for number in count(2)))


def _write_texts(database: Database, sheet: Path, data: Path) -> None:
    rows = (
        (*text, "\n".join(json.loads(source or "[]")), reference)
        for *text, source, reference in database.run(_TEXTS)
    )
    _csv(sheet, ("doc_id", "author", "text", "source", "reference"), rows)
    sources = (
        {"doc_id": doc, "task": "other", "passages": json.loads(source or "[]")}
        for doc, source in database.run(
            "SELECT doc, source FROM documents ORDER BY number"
        )
    )
    texts = chain(
        database.run(
            f"SELECT doc, '{REFERENCE}', reference FROM documents WHERE reference != ''"
        ),
        database.run("SELECT doc, system, text FROM items ORDER BY number"),
    )
    records = (
        {"doc_id": doc, "author": system}
        | ({"text": text} if text and text.strip() else {"status": "error"})
        for doc, system, text in texts
    )
    for name, lines in (("sources", sources), ("texts", records)):
        with (data / f"{name}.jsonl").open("w", encoding="utf-8", newline="") as file:
            file.writelines(
                json.dumps(line, ensure_ascii=False) + "\n" for line in lines
            )


def _csv(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table, if it has any row."""
    rows = iter(rows)
    for first in rows:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                chain([header, first], rows)
            )


def _format(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if value.is_integer() else repr(value)


def _encodable(value: object) -> object:
    """Replace what UTF-8 cannot hold, half of a surrogate pair, by a question mark."""
    return (
        value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    )
