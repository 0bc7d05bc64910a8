"""What was guessed and counted, in lines to confirm: names and numbers, no texts."""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from metassay.datasets.rows import MetricRow
from metassay.errors import one_line, shown
from metassay.options import Criterion
from metassay.reporting.numbers import counted
from metassay.spreadsheets.columns import REFERENCE as REFERENCE_COLUMN
from metassay.spreadsheets.columns import SOURCE
from metassay.spreadsheets.convert import Read
from metassay.spreadsheets.read import Asked, Found, reference_there
from metassay.spreadsheets.settings import Settings
from metassay.tables import REFERENCE

_EACH = {"system": "the texts of one system", "rater": "the ratings of one rater"}
_EACH |= {"criterion": "the ratings by one criterion", "metric": "the scores of one metric"}
_SHOWN = 12  # names in a line; the rest is counted


def lines(found: Found, settings: Settings) -> Iterator[str]:
    """The guess, file by file, and the settings that follow from it."""
    yield from _texts(found)
    if "ratings" in found.reads:
        yield from _ratings(found)
    if "scores" in found.reads:
        yield from _scores(found)
    yield "Settings that suit these:"
    divided = settings.segmentation == "soap"
    yield f"  texts {'by the sections of a note' if divided else 'as a whole'}"
    yield f"  metrics: {_listed(settings.metrics)}"
    asked = f"{settings.questions[0]}, by judge lexical" if settings.questions else "none"
    yield f"  questions to judges: {asked}{_why(found)}"
    yield "  private: git ignores the data, and no text leaves this machine"
    for line in found.rows.warnings.lines():
        yield f"warning: {line}"


def command(folder: Path, asked: Asked, found: Found, more: Iterable[str]) -> str:
    """The command that says all that was guessed of columns, and confirms it."""
    words = ["metassay", "init", str(folder)]
    for kind, path in asked.files.items():
        words += [f"--{kind}", str(path)]
    words += ["--columns", *(w for k, read in found.reads.items() for w in read.columns.named(k))]
    words += ["--reference", found.reference] if found.reference else []
    lower = [name for name, one in found.criteria.items() if one.better == "lower"]
    called = {name: metric for metric, name in found.renamed.items()}
    lower += [called[one.metric] for one in found.rows.metrics if one.better == "lower"]
    neither = [called[one.metric] for one in found.rows.metrics if one.better == "neither"]
    for option, names in (("--lower", lower), ("--neither", neither)):
        words += _words(option, dict.fromkeys(names))
    scales = [f"{name}={one.low:g}..{one.high:g}" for name, one in found.criteria.items()]
    words += _words("--scale", scales)
    return shlex.join([*words, *more, "--yes"])


def _words(option: str, values: Iterable[str]) -> list[str]:
    """An option with its values; one that begins as options do is tied to it."""
    tied = [value for value in values if value.startswith("-")]
    free = [value for value in values if value not in tied]
    return [*([option, *free] if free else []), *(f"{option}={value}" for value in tied)]


def _head(read: Read) -> Iterator[str]:
    sheet, columns = read.sheet, read.columns
    told = [f"{role} = {shown(column)}" for role, column in columns.roles.items()]
    if columns.each:
        told.append(f"{_EACH[columns.each]} each = {_listed(columns.spread)}")
    yield f"{one_line(sheet.name)}, {counted(len(sheet.rows), 'row')}: {'; '.join(told)}"
    unread = columns.unread(sheet)
    if unread:
        yield f"  not read: {_listed(unread)}"


def _texts(found: Found) -> Iterator[str]:
    read, rows = found.reads["texts"], found.rows
    yield from _head(read)
    systems = sorted({one.author for one in rows.texts} - {REFERENCE})
    documents = len(rows.sources)
    yield (
        f"  {counted(documents, 'document')}; {counted(len(systems), 'system')}: {_listed(systems)}"
    )
    n_source = sum(bool(one.passages) for one in rows.sources)
    n_reference = sum(one.author == REFERENCE for one in rows.texts)
    by = f" by {shown(found.reference)}" if found.reference else ""
    yield f"  with a source: {n_source} of {documents}; with a reference{by}: {n_reference}"
    if found.empty["texts"]:
        empty = counted(found.empty["texts"], "text")
        yield f"  {empty} empty: counted as failed (status error)"


def _ratings(found: Found) -> Iterator[str]:
    yield from _head(found.reads["ratings"])
    raters = sorted({one.rater for one in found.rows.ratings})
    n, empty = len(found.rows.ratings), found.empty["ratings"]
    yield f"  {counted(n, 'rating')} by {counted(len(raters), 'rater')}: {_listed(raters)}"
    if empty:
        yield f"  {counted(empty, 'rating')} empty: the rater abstained"
    for name, scale in found.criteria.items():
        yield f"  {shown(name)}: {_scale(scale)}"


def _scale(one: Criterion) -> str:
    better = "more" if one.better == "higher" else "less"
    return f"from {one.low:g} to {one.high:g} ({one.scale}), {better} is better"


def _scores(found: Found) -> Iterator[str]:
    yield from _head(found.reads["scores"])
    metrics = found.rows.metrics
    for which, said in (
        ("higher", "more is better"),
        ("lower", "less is better"),
        ("neither", "neither more nor less is better"),
    ):
        names = [_called(one, found) for one in metrics if one.better == which]
        if names:
            yield f"  {said}: {', '.join(names)}"
    if found.empty["scores"]:
        yield f"  {counted(found.empty['scores'], 'score')} empty: the metric is undefined there"


def _called(metric: MetricRow, found: Found) -> str:
    theirs = next(old for old, new in found.renamed.items() if new == metric.metric)
    return metric.metric if theirs == metric.metric else f"{metric.metric} (for {shown(theirs)})"


def _why(found: Found) -> str:
    lacks = [] if any(one.passages for one in found.rows.sources) else [SOURCE]
    lacks += [] if reference_there(found.rows) else [REFERENCE_COLUMN]
    return f" (no {' and no '.join(lacks)})" if lacks else ""


def _listed(names: Iterable[str]) -> str:
    every = [shown(name) for name in names]
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more
