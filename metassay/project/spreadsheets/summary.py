"""Own data from spreadsheets as a project: their files, and the settings that suit them."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core.errors import one_line, shown
from metassay.core.options import PARAMS, Criterion
from metassay.datasets.own_data import RATINGS_FILE, SCORES_FILE, SOURCES_FILE, TEXTS_FILE
from metassay.format.numbers import counted
from metassay.project import kit
from metassay.project.make import Content, registry
from metassay.project.spreadsheets.convert import Read
from metassay.project.spreadsheets.read import Asked, Found, reference_there
from metassay.tables.names import REFERENCE, is_reference
from metassay.tabular.column_synonyms import Role
from metassay.tabular.columns import SPREADS
from metassay.tabular.decoding import csv_bytes
from metassay.tabular.infer_columns import listed, numeric_columns
from metassay.tabular.rows import Findings, Rows
from metassay.text.citations import parse
from metassay.text.headings import divide

_DIVIDED = 0.5  # the share of texts with two sections of a note from which they are divided
_CITING = 0.5  # the share of texts with a citation from which they are asked about
_KEY = r"(?m)^{}:.*\n(?:[ \t]+.*\n)*"


class Settings(NamedTuple):
    """What suits the data: names of blocks of params.yaml."""

    segmentation: str
    questions: list[str]
    judges: list[str]
    metrics: list[str]


def settings_of(rows: Rows) -> Settings:
    """Nothing reads a source or a reference that no document has."""
    source, reference = any(one.passages for one in rows.sources), reference_there(rows)
    texts = [one.text for one in rows.texts if one.text is not None]
    cited = sum(bool(parse(text).citations) for text in texts) >= _CITING * len(texts)
    asked = {
        (True, True): "all" if cited else "uncited",
        (True, False): "by_source" if cited else "faithful",
        (False, True): "claims",
    }.get((source, reference))
    sections = sum(len(divide(text, compat="none")) >= 2 for text in texts)
    of_reference = ["rouge", "bleu", "edit_distance"] if reference else []
    return Settings(
        segmentation="soap" if sections >= _DIVIDED * len(texts) else "whole",
        questions=[asked] if asked else [],
        judges=["lexical"] if asked else [],
        metrics=[*of_reference, *(["extractiveness"] if source else []), "lengths", "numbers"],
    )


def project_of(name: str, found: Found, files: Iterable[str]) -> Content:
    """The project's settings and data; its texts are private, and git ignores them."""
    folder = f"data/{name}"
    entry = {"reader": "files", "title": one_line(f"{name}: own data from {', '.join(files)}")}
    entry |= {"licence": "internal", "access": "private", "folder": folder}
    # YAML has no pairs of surrogates, as which JSON would escape an emoji.
    said = {key: json.dumps(value, ensure_ascii=False) for key, value in entry.items()}
    written = "".join(f"    {key}: {value}\n" for key, value in said.items())
    return Content(
        name=name,
        params=_shared(sorted(found.renamed.values())),
        benchmark=_benchmark(name, folder, found, settings_of(found.rows)),
        registry=registry(f"  {name}:\n{written}"),
        data={f"{folder}/{file}": held for file, held in _files(found.rows).items()},
        ignored=(f"/{folder}/",),
        about_data=f"Yours, in `data/{name}/`, are private: git ignores them.",
    )


def _shared(metrics: list[str]) -> str:
    """The root's params.yaml, in which the data's own metrics are compared before all others."""
    text = kit.file(str(PARAMS)).decode("utf-8")
    if not metrics:
        return text
    own = "".join(f"    {json.dumps(metric)},\n" for metric in metrics)
    made, n = re.subn(r"(?m)^(  compared: \[)\n", rf"\1\n{own}", text)
    assert n == 1
    return made


def _benchmark(name: str, folder: str, found: Found, settings: Settings) -> str:
    """The example's params.yaml with what is this benchmark's."""
    text = kit.example_params()
    values: dict[str, Any] = {"name": name, "dataset": name, "raw": folder, "systems": []}
    for key, value in {**values, **settings._asdict()}.items():
        text = _set(text, key, f"{key}: {json.dumps(value)}\n")
    scales = "".join(
        f"  {json.dumps(one, ensure_ascii=False)}: {_scale(scale)}\n"
        for one, scale in found.criteria.items()
    )
    text = _set(text, "criteria", f"criteria:\n{scales}" if scales else "criteria: {}\n")
    said = found.design.model_dump(exclude_defaults=True)
    if said:
        text = _set(text, "design", f"design: {json.dumps(said, ensure_ascii=False)}\n")
    _, _, body = text.partition("\n")
    return f"# Own data: docs/own-data.md says what each line does.\n{body}"


def _set(text: str, key: str, line: str) -> str:
    made, n = re.subn(_KEY.format(key), lambda _: line, text)
    assert n == 1, key
    return made


def _scale(one: Criterion) -> str:
    return f"{{low: {one.low:g}, high: {one.high:g}, better: {one.better}, scale: {one.scale}}}"


def _files(rows: Rows) -> dict[str, bytes]:
    """The files of own data, as docs/own-data.md has them."""
    made = {
        SOURCES_FILE: _json_lines(
            {
                "doc_id": one.doc_id,
                "task": one.task,
                "passages": [
                    {"text": text, "speaker": speaker} if speaker else {"text": text}
                    for text, speaker in zip(one.passages, one.speaker, strict=True)
                ],
            }
            | ({"attributes": json.loads(one.attributes)} if one.attributes else {})
            for one in rows.sources
        ),
        TEXTS_FILE: _json_lines(
            {"doc_id": one.doc_id, "author": one.author}
            | ({"text": one.text} if one.text is not None else {"status": one.status})
            for one in rows.texts
        ),
    }
    if rows.ratings:
        head = ("study", "doc_id", "author", "rater", "criterion", "value")
        cells = [
            (*(getattr(one, name) for name in head[:-1]), _number(one.value))
            for one in rows.ratings
        ]
        made[RATINGS_FILE] = csv_bytes(head, cells)
    if rows.scores:
        better = {one.metric: one.better for one in rows.metrics}
        made[SCORES_FILE] = csv_bytes(
            ("doc_id", "author", "metric", "value", "better"),
            [
                (one.doc_id, one.author, one.metric, _number(one.value), better[one.metric])
                for one in rows.scores
            ],
        )
    return made


def _json_lines(values: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in values).encode("utf-8")


def _number(value: float | None) -> str:
    """What reads back to the same number."""
    return "" if value is None else str(int(value)) if value.is_integer() else repr(value)


# What was guessed and counted, in lines to confirm: names and numbers, no texts.


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
            yield f"  {_named([name])}: {_scale_words(scale)}{words}"
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
    numbers = [] if kind == "texts" else numeric_columns(sheet, unread)
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


def _scale_words(one: Criterion) -> str:
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
