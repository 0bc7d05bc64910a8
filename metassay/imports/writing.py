"""Write what a database collected as tables that the other commands read."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, groupby
from pathlib import Path

from metassay.core.errors import quoted
from metassay.core.naming import LONGEST, name_problem
from metassay.imports.comparisons import (
    comparison_lines,
    comparison_table,
    judges,
    rating_rows,
    score_rows,
)
from metassay.imports.database import Column, Database, add_number
from metassay.imports.tables import format_number, write_csv
from metassay.tables import known_metrics
from metassay.tables.names import REFERENCE
from metassay.tabular.scales import guess_direction

_JUDGMENTS = """SELECT item, doc, system, name, question, person, rater, value, label, missing
    FROM judgments JOIN items ON number = item {} ORDER BY item, person, name, question, rater"""
_NUMBERS = _JUDGMENTS.format("WHERE person = ? AND (value IS NOT NULL OR missing)")
_TEXTS = """SELECT doc, system, text, source, reference FROM items JOIN documents USING (doc)
    ORDER BY items.number"""
_LETTERS = re.compile(r"[^A-Za-z0-9_-]+")


def write(
    database: Database, folder: Path, study: str, letters: Mapping[str, float]
) -> list[str]:
    """Write all tables to a folder, and return a line for each thing to know of them.

    texts.csv, sources.jsonl and texts.jsonl exist if a text is known, scores.csv if a judge gave a
    number, ratings.csv if a person did, verdicts.csv if there is any verdict, comparisons.csv if
    there is any preference.
    """
    columns = database.columns()
    unread, odd = database.read_words(letters)
    data = folder / "data"
    data.mkdir()
    _write_verdicts(database, folder / "verdicts.csv", columns)
    write_csv(folder / "comparisons.csv", *comparison_table(database))
    of_texts = [name for column, name in columns.items() if not column.person]
    of_pairs = judges(database)
    metrics = _metric_names([*of_texts, *of_pairs])
    by_column = {
        column: metrics[name] for column, name in columns.items() if not column.person
    }
    better = _directions(database, by_column)
    of_scores = _score_rows(database, by_column, better, unread)
    scores = chain(of_scores, score_rows(database, metrics))
    write_csv(
        data / "scores.csv", ("doc_id", "author", "metric", "value", "better"), scores
    )
    ratings = chain(_rating_rows(database, study, unread), rating_rows(database, study))
    header = ("study", "doc_id", "author", "rater", "criterion", "value", "unit")
    write_csv(data / "ratings.csv", header, ratings)
    by_tool = {
        by_column[column]
        for column in by_column
        if (column.name, column.question) in database.directions()
    }
    lower = [metric for metric, end in better.items() if end == "lower"]
    notes = {
        "words that are no numbers, in verdicts.csv alone": unread,
        "called otherwise in scores.csv": [
            f"{metric} for {name}" for name, metric in metrics.items() if metric != name
        ],
        "less is better, as the tool says": [name for name in lower if name in by_tool],
        "less is better, by the name": [name for name in lower if name not in by_tool],
    }
    lines = [
        f"{what}: {', '.join(map(quoted, names))}"
        for what, names in notes.items()
        if names
    ]
    lines = [*comparison_lines(database), *odd, *lines]
    if database.run("SELECT COUNT(text) FROM items").fetchone()[0]:
        _write_texts(database, folder / "texts.csv", data)
        return lines
    return [
        *lines,
        "no texts: these files have none, so there is nothing for a benchmark",
    ]


def _write_verdicts(
    database: Database, path: Path, columns: Mapping[Column, str]
) -> None:
    """Write a row per text, with the words or numbers of each judge and person."""
    rows = database.run(_JUDGMENTS.format(""))

    def verdicts() -> Iterator[list[object]]:
        for item, of_item in groupby(rows, key=lambda row: row[:3]):
            cells = {}
            for row in of_item:
                name, question, person, rater, value, label = row[3:9]
                cells[Column(name, question, person, rater)] = label or format_number(
                    value
                )
            yield [*item, *(cells.get(column, "") for column in columns)]

    write_csv(path, ["item", "document", "system", *columns.values()], verdicts())


def _score_rows(
    database: Database,
    metrics: Mapping[Column, str],
    better: Mapping[str, str],
    unread: Collection[str],
) -> Iterator[tuple[object, ...]]:
    for _, doc, system, name, question, person, rater, value, *_ in database.run(
        _NUMBERS, (0,)
    ):
        if name not in unread:
            metric = metrics[Column(name, question, person, rater)]
            yield doc, system, metric, format_number(value), better[metric]


def _rating_rows(
    database: Database, study: str, unread: Collection[str]
) -> Iterator[tuple[object, ...]]:
    for _, doc, system, name, _, _, rater, value, *_ in database.run(_NUMBERS, (1,)):
        if name not in unread:
            yield study, doc, system, rater, name, format_number(value), "text"


def _directions(database: Database, metrics: Mapping[Column, str]) -> dict[str, str]:
    """Return which end of each metric is better: as the tool says, else by the name."""
    by_tool = database.directions()
    return {
        metric: by_tool.get((column.name, column.question))
        or guess_direction(metric)
        or "higher"
        for column, metric in metrics.items()
    }


def _metric_names(names: Iterable[str]) -> dict[str, str]:
    """Return a valid name for each scorer that is not the name of a metric of Metassay."""
    ours = {name.casefold() for name in known_metrics.METRICS}
    metrics: dict[str, str] = {}
    for name in names:
        plain = _LETTERS.sub("_", name).strip("_-")[: LONGEST - 10]
        if plain.casefold() in ours or name_problem(plain):
            plain = f"own_{plain}".rstrip("_")
        used = {*metrics.values()}
        candidate = add_number(plain, used)
        while name_problem(candidate, used):  # alike but for case
            used.add(candidate)
            candidate = add_number(plain, used)
        metrics[name] = candidate
    return metrics


def _write_texts(database: Database, sheet: Path, data: Path) -> None:
    rows = (
        (*text, "\n".join(json.loads(source or "[]")), reference)
        for *text, source, reference in database.run(_TEXTS)
    )
    write_csv(sheet, ("doc_id", "author", "text", "source", "reference"), rows)
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
    records = (_text_record(doc, system, text) for doc, system, text in texts)
    _write_lines(data / "sources.jsonl", sources)
    _write_lines(data / "texts.jsonl", records)


def _text_record(doc: str, system: str, text: str | None) -> dict[str, object]:
    if text and text.strip():
        return {"doc_id": doc, "author": system, "text": text}
    return {"doc_id": doc, "author": system, "status": "error"}


def _write_lines(path: Path, records: Iterable[Mapping[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
