"""All that was read, on the disk until it is whole, and then as tables of one's own.

A database in the new folder holds it, so that memory is not what limits how much there is.
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
from metassay.imports.record import Item, Task, text
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
Column = tuple[str, int, str]  # of verdicts.csv: a scorer, whether a person says it, and who does


class Collected:
    """What readers handed over: a row per document, per text of a system, and per judgment."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.executescript(_TABLES)
        self.run = self.connection.execute
        self.records = self.judgments = 0

    def add(self, item: Item, task: Task) -> None:
        """Add an item; a problem where nothing names it, or what was read before says otherwise."""
        self.records += 1
        doc, system = task.names(item)
        for column, what, named in (("doc", "document", doc), ("system", "system", system)):
            if not named:
                fix = f"say --columns {column}=FIELD, which every record has"
                task.problems.add(item.at, f"has nothing that names its {what}", fix)
        if doc and system:
            each = [e for some in item.source for e in (some if isinstance(some, list) else [some])]
            passages = [one for one in map(text, each) if one and one.strip()]
            source = json.dumps(passages, ensure_ascii=False) if passages else None
            about = {"source": source, "reference": text(item.reference)}
            self._put("documents", {"doc": doc}, about, item.at, task.problems)
            flags = {"failed": item.failed or None, "corrected": item.corrected or None}
            said, keys = {"text": text(item.text), **flags}, {"doc": doc, "system": system}
            number = self._put("items", keys, said, item.at, task.problems)
            for one in item.judgments:
                self.judgments += 1
                row = [*map(_storable, (number, *one))]
                self.run("REPLACE INTO judgments VALUES (?, ?, ?, ?, ?, ?)", row)

    def _put(self, table: str, keys: _Row, said: _Row, at: Place, problems: Findings) -> int:
        """Add a row, or what the one with these keys lacks; its number."""
        row = {name: _storable(value) for name, value in {**keys, **said}.items()}
        where = " AND ".join(f"{name} = :{name}" for name in keys)
        values = ", ".join(f":{name}" for name in row)
        fills = ", ".join(f"{name} = COALESCE({name}, :{name})" for name in said)
        add = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values})"
        self.run(f"{add} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {fills}", row)
        query = f"SELECT number, {', '.join(said)} FROM {table} WHERE {where}"
        number, *held = self.run(query, row).fetchone()
        for name, before in zip(said, held, strict=True):
            if row[name] not in (None, before):
                example = ", ".join(f"{key} {shown(row[key])}" for key in keys)
                problems.add(at, f"has another {name} than before", _OTHER, example)
        return int(number)

    def summary(self) -> Iterator[str]:
        """How much there is, how much of it people corrected, and what is missing."""
        texts, scorers, corrected, failed, rated, missing, held = self.run(_COUNTS).fetchone()
        replaced = self.judgments - held
        more = f"; {replaced:,} replaced by later ones of the same" if replaced else ""
        each = f"{counted(self.records, 'record')}, {counted(scorers, 'scorer')}"
        yield f"{each}, {corrected:,} corrected by people, {failed:,} failed"
        of_texts = f"{counted(texts, 'text')}, of which people rated {rated:,}"
        yield f"{of_texts}; judges' values that are missing: {missing:,}{more}"

    def columns(self) -> dict[Column, str]:
        """What each scorer, and what each person says of it, is called in verdicts.csv."""
        found: list[Column] = self.run(_COLUMNS).fetchall()
        judges = [name for name, person, _ in found if not person]
        named: dict[Column, str] = {}
        for name, person, rater in found:
            more = f"_human_{rater}".removesuffix("_person") if person else f"_judge_{rater}"
            wanted = name if not person and judges.count(name) == 1 else name + more
            taken = {"item", "document", "system", *named.values()}
            named[name, person, rater] = next(n for n in _numbered(wanted) if n not in taken)
        return named

    def read_words(self, letters: Mapping[str, float]) -> list[str]:
        """Give verdicts in words the numbers that these are read as everywhere here, or those of
        `letters` if all are; the scorers one of whose words is read as no number: they have none.
        """
        unread = []
        for name, rows in groupby(self.run(_WORDS).fetchall(), lambda row: str(row[0])):
            labels = [label for _, label in rows]
            read_as = find_format(labels, semicolons=False)
            known = letters.get if letters.keys() >= {*labels} else read_as.number
            numbers = [known(label) for label in labels]
            if read_as.fault or None in numbers:
                unread.append(name)
            else:
                self.connection.executemany(_READ, zip(numbers, repeat(name), labels))
        return unread


def write(of: Collected, folder: Path, study: str, letters: Mapping[str, float]) -> list[str]:
    """Write all tables to a folder; what is to be known of them, a line each.

    texts.csv, sources.jsonl and texts.jsonl are there where any text is known, scores.csv where a
    judge gave a number, ratings.csv where a person did, verdicts.csv where anybody said anything.
    """
    data, columns, unread = folder / "data", of.columns(), of.read_words(letters)
    data.mkdir()
    metrics = _metrics([name for (_, person, _), name in columns.items() if not person])
    better = {name: guess_direction(name) or "higher" for name in metrics.values()}
    header = ["item", "document", "system", *columns.values()]
    _csv(folder / "verdicts.csv", header, _verdicts(of, columns))
    scores = (
        (doc, system, metric, _written(value), better[metric])
        for _, doc, system, *column, value, _ in of.run(_NUMBERS, (0,))
        for metric in [metrics[columns[tuple(column)]]]
    )
    _csv(data / "scores.csv", ("doc_id", "author", "metric", "value", "better"), scores)
    ratings = (
        (study, doc, system, rater, name, _written(value), "text")
        for _, doc, system, name, _, rater, value, _ in of.run(_NUMBERS, (1,))
    )
    header = ["study", "doc_id", "author", "rater", "criterion", "value", "unit"]
    _csv(data / "ratings.csv", header, ratings)
    told = {
        "words that are no numbers, in verdicts.csv alone": unread,
        "called otherwise in scores.csv": [f"{n} for {o}" for o, n in metrics.items() if o != n],
        "less is better, by the name": [n for n in better if better[n] == "lower"],
    }
    lines = [f"{what}: {', '.join(map(shown, names))}" for what, names in told.items() if names]
    if of.run("SELECT COUNT(text) FROM items").fetchone()[0]:
        _write_texts(of, folder / "texts.csv", data)
        return lines
    return [*lines, "no texts: these files have none, so there is nothing for a benchmark"]


def _verdicts(of: Collected, columns: Mapping[Column, str]) -> Iterator[list[object]]:
    for named, rows in groupby(of.run(_JUDGMENTS.format("")), key=lambda row: row[:3]):
        cells = {tuple(row[3:6]): row[7] or _written(row[6]) for row in rows}
        yield [*named, *(cells.get(column, "") for column in columns)]


def _metrics(names: Iterable[str]) -> dict[str, str]:
    """A name for each scorer that own data may have, and that none of Metassay's metrics has."""
    ours = {name.casefold() for name, one in descriptions().items() if one.family != RELEASED}
    found: dict[str, str] = {}
    for name in names:
        plain = _LETTERS.sub("_", name).strip("_-")[: LONGEST - 10]
        if plain.casefold() in ours or name_problem(plain):
            plain = f"own_{plain}".rstrip("_")
        found[name] = next(n for n in _numbered(plain) if not name_problem(n, found.values()))
    return found


def _numbered(name: str) -> Iterator[str]:
    return chain([name], (f"{name}_{number}" for number in count(2)))


def _write_texts(of: Collected, sheet: Path, data: Path) -> None:
    rows = (
        (*text, "\n".join(json.loads(source or "[]")), reference)
        for *text, source, reference in of.run(_TEXTS)
    )
    _csv(sheet, ("doc_id", "author", "text", "source", "reference"), rows)
    sources = (
        {"doc_id": doc, "task": "other", "passages": json.loads(source or "[]")}
        for doc, source in of.run("SELECT doc, source FROM documents ORDER BY number")
    )
    texts = chain(
        of.run(f"SELECT doc, '{REFERENCE}', reference FROM documents WHERE reference != ''"),
        of.run("SELECT doc, system, text FROM items ORDER BY number"),
    )
    for name, lines in (("sources", sources), ("texts", map(_text, texts))):
        with (data / f"{name}.jsonl").open("w", encoding="utf-8", newline="") as file:
            file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)


def _text(row: tuple[str, str, str | None]) -> dict[str, object]:
    known = {"text": row[2]} if row[2] and row[2].strip() else {"status": "error"}
    return {"doc_id": row[0], "author": row[1], **known}


def _csv(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table, if it has any row."""
    found = iter(rows)
    for row in found:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(chain([header, row], found))


def _written(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if value.is_integer() else repr(value)


def _storable(value: object) -> object:
    """A value with what no file can hold, half of a surrogate pair, as a question mark."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
