"""What was guessed and counted, in lines to confirm: names and numbers, no texts."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from metassay.core.errors import one_line, shown
from metassay.core.options import Criterion
from metassay.format.numbers import counted
from metassay.project.spreadsheets.convert import Read
from metassay.project.spreadsheets.read import Asked, Found, reference_there
from metassay.project.spreadsheets.settings import Settings
from metassay.tables.names import REFERENCE, is_reference
from metassay.tabular.column_synonyms import Role
from metassay.tabular.columns import SPREADS
from metassay.tabular.infer_columns import listed, numeric
from metassay.tabular.rows import Findings

_EACH = {Role.SYSTEM: "the texts of one system", Role.RATER: "the ratings of one rater"}
_EACH |= {Role.CRITERION: "the ratings by one criterion", Role.METRIC: "the scores of one metric"}
_SHOWN = 12  # names in a line; the rest is counted
_LONGEST = 120  # characters of a name


def lines(found: Found, settings: Settings) -> Iterator[str]:
    """The guess, file by file, and the settings that follow from it."""
    yield from _texts(found)
    if "ratings" in found.reads:
        yield from _head("ratings", found.reads["ratings"])
        raters = sorted({one.rater for one in found.rows.ratings})
        n, empty = len(found.rows.ratings), found.empty["ratings"]
        yield f"  {counted(n, 'rating')} by {counted(len(raters), 'rater')}: {listed(raters)}"
        if empty:
            yield f"  {counted(empty, 'rating')} empty: the rater abstained"
        pairs = _pairs(found)
        for name, scale in found.criteria.items():
            grades = _grades(found, name)
            words = f", {' < '.join(grades)}" if grades else pairs.get(name, "")
            yield f"  {_named([name])}: {_scale(scale)}{words}"
    if "scores" in found.reads:
        yield from _scores(found)
    yield from (f"  {line}" for line in found.directions)
    yield "Settings that suit these:"
    divided = settings.segmentation == "soap"
    yield f"  texts {'by the sections of a note' if divided else 'as a whole'}"
    yield f"  metrics: {listed(settings.metrics)}"
    asked = f"{settings.questions[0]}, by judge lexical" if settings.questions else "none"
    yield f"  questions to judges: {asked}{_why(found)}"
    yield from _design(found)
    yield "  private: git ignores the data, and no text leaves this machine"
    for line in found.rows.warnings.lines():
        yield f"warning: {line}"


def command(folder: Path, asked: Asked, found: Found, more: Iterable[str]) -> str:
    """The command that says all that was guessed of columns, and confirms it."""
    words = ["metassay", "init", str(folder)]
    for kind, paths in asked.files.items():
        words += [word for path in paths for word in (f"--{kind}", str(path))]
    words += ["--columns", *(w for k, read in found.reads.items() for w in read.columns.named(k))]
    if asked.reference is not None or len(found.references) == 1:
        words += ["--reference", next(iter(found.references), "")]
    called = {name: metric for metric, name in found.renamed.items()}
    better: list[tuple[str, str]] = [(name, one.better) for name, one in found.criteria.items()]
    better += [(called[one.metric], one.better) for one in found.rows.metrics]
    for which in ("lower", "higher", "neither"):
        words += _words(f"--{which}", dict.fromkeys(name for name, b in better if b == which))
    if asked.primary is not None:
        words += _words("--primary", [asked.primary])
    ends = {
        name: "<".join(_grades(found, name)) or f"{one.low:g}..{one.high:g}"
        for name, one in found.criteria.items()
    }
    words += _words("--scale", [f"{name}={scale}" for name, scale in ends.items()])
    return shlex.join([*words, *more, "--yes"])


def _grades(found: Found, criterion: str) -> Sequence[str]:
    """The words of which the scale was said to be."""
    return found.reads["ratings"].sheet.words.get(criterion, ())


def _pairs(found: Found) -> dict[str, str]:
    """Criteria of yes and no, which are 1 and 0."""
    read = found.reads["ratings"]
    words = {column: list(one.words) for column, one in read.numbers(Findings()).items()}
    named = {said.get(Role.CRITERION, ""): words[c] for c, said in read.columns.spread.items()}
    return {
        name: f", {pair[1]} is 1, {pair[0]} is 0"
        for name, pair in named.items()
        if pair and name not in read.sheet.words
    }


def _words(option: str, values: Iterable[str]) -> list[str]:
    """An option with its values; one that begins as options do is tied to it."""
    tied = [value for value in values if value.startswith("-")]
    free = [value for value in values if value not in tied]
    return [*([option, *free] if free else []), *(f"{option}={value}" for value in tied)]


def _head(kind: str, read: Read) -> Iterator[str]:
    sheet, columns = read.sheet, read.columns
    told = [f"{role} = {shown(column)}" for role, column in columns.roles.items()]
    if columns.pattern:
        told.append(f"columns called {columns.pattern} = {_named(columns.spread)}")
    elif columns.spread:
        (each,) = columns.each
        names = listed(columns.spread) if each == Role.SYSTEM else _named(columns.spread)
        told.append(f"{_EACH[each]} each = {names}")
    if kind == "ratings" and Role.RATER not in read.told and sheet.parts:
        told.append(f"{Role.RATER} = the file's name")
    yield f"{one_line(sheet.name)}, {counted(len(sheet.lines), 'row')}: {'; '.join(told)}"
    unread = columns.unread(sheet)
    numbers = [] if kind == "texts" else numeric(sheet, unread)
    others = [column for column in unread if column not in numbers]
    if others:
        yield f"  not read: {listed(others)}"
    if numbers:
        option = f"--columns {kind}.{SPREADS[kind][0]}=..."
        yield f"  numbers that are not read: {_named(numbers)} (to read them: {option})"
    for note in sheet.notes:
        yield f"  not read: {note}"


def _texts(found: Found) -> Iterator[str]:
    read, rows = found.reads["texts"], found.rows
    yield from _head("texts", read)
    systems = sorted({one.author for one in rows.texts if not is_reference(one.author)})
    documents = len(rows.sources)
    yield (
        f"  {counted(documents, 'document')}; {counted(len(systems), 'system')}: {listed(systems)}"
    )
    n_source = sum(bool(one.passages) for one in rows.sources)
    n_reference = sum(one.author == REFERENCE for one in rows.texts)
    first = [name for name, here in found.references.items() if here == REFERENCE]
    by = f" by {listed(first)}" if first else ""
    yield f"  with a source: {n_source} of {documents}; with a reference{by}: {n_reference}"
    further = [name for name in found.references if name not in first]
    if further:
        yield f"  further references, which rubrics alone read: {listed(further)}"
    if found.empty["texts"]:
        empty = counted(found.empty["texts"], "text")
        yield f"  {empty} empty: counted as failed (status error)"


def _scale(one: Criterion) -> str:
    better = "more" if one.better == "higher" else "less"
    return f"from {one.low:g} to {one.high:g} ({one.scale}), {better} is better"


def _scores(found: Found) -> Iterator[str]:
    yield from _head("scores", found.reads["scores"])
    renamed = [f"{new} (for {_named([old])})" for old, new in found.renamed.items() if old != new]
    if renamed:
        yield f"  renamed here: {', '.join(renamed)}"
    if found.empty["scores"]:
        yield f"  {counted(found.empty['scores'], 'score')} empty: the metric is undefined there"


def _design(found: Found) -> Iterator[str]:
    """What belongs together, and what was named before anybody looked."""
    roles, design = found.reads["texts"].columns.roles, found.design
    if design.strata:
        yield f"  documents of one {shown(roles['strata'])} are compared only with each other"
    if design.cluster:
        yield f"  documents of one {shown(roles['cluster'])} count as one"
    if design.families:
        n = len(set(design.families.values()))
        yield f"  {counted(len(design.families), 'system')} of {n} families, which count as one"
    if design.primary:
        yield f"  primary metric: {shown(design.primary)}"


def _why(found: Found) -> str:
    lacks = [] if any(one.passages for one in found.rows.sources) else [Role.SOURCE]
    lacks += [] if reference_there(found.rows) else [Role.REFERENCE]
    return f" (no {' and no '.join(lacks)})" if lacks else ""


def _named(names: Iterable[str]) -> str:
    """Names of columns of numbers: whole, since they are questions and no texts."""
    every = [repr(one_line(name[:_LONGEST])) for name in names]
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more
