"""Make a project of spreadsheets: its files, its settings, and the lines that a user confirms."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core.errors import one_line, quoted
from metassay.core.options import PARAMS
from metassay.datasets.own_data import (
    RATINGS_FILE,
    SCORES_FILE,
    SOURCES_FILE,
    TEXTS_FILE,
)
from metassay.format.numbers import counted
from metassay.project import kit
from metassay.project.make import Content, registry, set_key, substitute
from metassay.project.own_model import OwnModel
from metassay.project.spreadsheets.convert import Table
from metassay.project.spreadsheets.read import Inputs, OwnData, has_reference
from metassay.tables.names import REFERENCE, is_reference
from metassay.tabular.column_synonyms import Role
from metassay.tabular.columns import SPREADS
from metassay.tabular.decoding import csv_bytes
from metassay.tabular.far_ratings import list_levels
from metassay.tabular.guess import listed, numeric_columns
from metassay.tabular.rows import Findings, Rows
from metassay.text.citations import parse
from metassay.text.headings import divide

# from this share of texts with two sections of a note on, all are divided
_DIVIDED = 0.5
_CITING = 0.5  # from this share of texts with a citation on, citations are asked about
_EACH = {Role.SYSTEM: "the texts of one system", Role.RATER: "the ratings of one rater"}
_EACH |= {
    Role.CRITERION: "the ratings by one criterion",
    Role.METRIC: "the scores of one metric",
}
_SHOWN = 12  # names in a line; the rest is counted
_FEW = 3  # names of one form
_LONGEST = 120  # characters of a name


class Settings(NamedTuple):
    """Names of blocks of params.yaml that suit the data."""

    segmentation: str
    questions: list[str]
    judges: list[str]
    metrics: list[str]


def settings_of(rows: Rows) -> Settings:
    """Choose settings; none of them reads a source or a reference that no document has."""
    source, reference = any(row.passages for row in rows.sources), has_reference(rows)
    texts = [row.text for row in rows.texts if row.text is not None]
    cited = sum(bool(parse(text).citations) for text in texts) >= _CITING * len(texts)
    questions = {
        (True, True): ["all" if cited else "uncited"],
        (True, False): ["by_source" if cited else "faithful"],
        (False, True): ["claims"],
    }.get((source, reference), [])
    sections = sum(len(divide(text, compat="none")) >= 2 for text in texts)
    metrics = ["rouge", "bleu", "edit_distance"] if reference else []
    if source:
        metrics.append("extractiveness")
    return Settings(
        segmentation="soap" if sections >= _DIVIDED * len(texts) else "whole",
        questions=questions,
        judges=["lexical"] if questions else [],
        metrics=[*metrics, "lengths", "numbers"],
    )


def project_of(name: str, data: OwnData, files: Iterable[str]) -> Content:
    """Return the project's settings and data; the texts are private, and git ignores them."""
    folder = f"data/{name}"
    entry = {
        "reader": "files",
        "title": one_line(f"{name}: own data from {', '.join(files)}"),
    }
    entry |= {"licence": "internal", "access": "private", "folder": folder}
    # JSON would escape an emoji as a pair of surrogates, which YAML does not read.
    lines = [f"    {key}: {_json(value)}\n" for key, value in entry.items()]
    return Content(
        name=name,
        params=_params(sorted(data.renamed.values())),
        benchmark=_benchmark(name, folder, data, settings_of(data.rows)),
        registry=registry(f"  {name}:\n{''.join(lines)}"),
        data={
            f"{folder}/{file}": content for file, content in _files(data.rows).items()
        },
        ignored=(f"/{folder}/",),
        about_data=f"Yours, in `data/{name}/`, are private: git ignores them.",
    )


def _params(metrics: list[str]) -> str:
    text = kit.file(str(PARAMS)).decode("utf-8")
    lines = "".join(f"    {json.dumps(metric)},\n" for metric in metrics)
    return substitute(r"(?m)^  compared: \[\n", f"  compared: [\n{lines}", text)


def _benchmark(name: str, folder: str, data: OwnData, settings: Settings) -> str:
    text = kit.example_params()
    values: dict[str, Any] = {
        "name": name,
        "dataset": name,
        "raw": folder,
        "systems": [],
    }
    for key, value in {**values, **settings._asdict()}.items():
        text = set_key(text, key, f"{key}: {json.dumps(value)}\n")
    scales = "".join(
        f"  {_json(name)}: {{low: {scale.low:g}, high: {scale.high:g}, better: {scale.better},"
        f" scale: {scale.scale}}}\n"
        for name, scale in data.criteria.items()
    )
    text = set_key(
        text, "criteria", f"criteria:\n{scales}" if scales else "criteria: {}\n"
    )
    design = data.design.model_dump(exclude_defaults=True)
    if design:
        text = set_key(text, "design", f"design: {_json(design)}\n")
    _, _, body = text.partition("\n")
    return f"# Own data: docs/data-files.md says what each line does.\n{body}"


def _files(rows: Rows) -> dict[str, bytes]:
    files = {
        SOURCES_FILE: _json_lines(
            {
                "doc_id": source.doc_id,
                "task": source.task,
                "passages": [
                    {"text": text, "speaker": speaker} if speaker else {"text": text}
                    for text, speaker in zip(
                        source.passages, source.speaker, strict=True
                    )
                ],
            }
            | (
                {"attributes": json.loads(source.attributes)}
                if source.attributes
                else {}
            )
            for source in rows.sources
        ),
        TEXTS_FILE: _json_lines(
            {"doc_id": row.doc_id, "author": row.author}
            | ({"text": row.text} if row.text is not None else {"status": row.status})
            for row in rows.texts
        ),
    }
    if rows.ratings:
        head = ("study", "doc_id", "author", "rater", "criterion", "value")
        cells = [
            (*(getattr(r, key) for key in head[:-1]), _number(r.value))
            for r in rows.ratings
        ]
        files[RATINGS_FILE] = csv_bytes(head, cells)
    if rows.scores:
        ends = {row.metric: row.better for row in rows.metrics}
        files[SCORES_FILE] = csv_bytes(
            ("doc_id", "author", "metric", "value", "better"),
            [
                (r.doc_id, r.author, r.metric, _number(r.value), ends[r.metric])
                for r in rows.scores
            ],
        )
    return files


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json_lines(values: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(_json(value) + "\n" for value in values).encode("utf-8")


def _number(value: float | None) -> str:
    """Write a number so that it reads back as the same number; "" for None."""
    if value is None:
        return ""
    return str(int(value)) if value.is_integer() else repr(value)


# ---- what was guessed and counted, in lines to confirm: names and numbers, no texts -------------


def lines(
    data: OwnData, settings: Settings, own_model: OwnModel | None = None
) -> Iterator[str]:
    """Yield what was guessed, file by file, and the settings that follow from it.

    `own_model`: the language model that takes the place of the defaults, if any.
    """
    yield from _text_lines(data)
    if "ratings" in data.tables:
        yield from _head("ratings", data.tables["ratings"])
        raters = sorted({rating.rater for rating in data.rows.ratings})
        n, empty = len(data.rows.ratings), data.empty["ratings"]
        yield f"  {counted(n, 'rating')} by {counted(len(raters), 'rater')}: {listed(raters)}"
        if empty:
            yield f"  {counted(empty, 'rating')} empty: the rater abstained"
        labels = _binary_labels(data)
        for name, scale in data.criteria.items():
            grades = _grades(data, name)
            words = f", {' < '.join(grades)}" if grades else labels.get(name, "")
            better = "more" if scale.better == "higher" else "less"
            ends = f"from {scale.low:g} to {scale.high:g} ({scale.scale})"
            yield f"  {_quoted([name])}: {ends}, {better} is better{words}"
            values = [r.value for r in data.rows.ratings if r.criterion == name]
            if levels := [value for value in values if value is not None]:
                yield f"    {list_levels(levels)}"
    if "scores" in data.tables:
        yield from _head("scores", data.tables["scores"])
        pairs = [(old, new) for old, new in data.renamed.items() if old != new]
        if pairs:
            names = ", ".join(f"{new} (for {_quoted([old])})" for old, new in pairs)
            yield f"  renamed here: {names}"
        if empty := data.empty["scores"]:
            yield f"  {counted(empty, 'score')} empty: the metric is undefined there"
    yield from (f"  {line}" for line in data.directions)
    yield "Settings that suit these:"
    yield from _setting_lines(data, settings, own_model)
    for line in data.rows.warnings.lines():
        yield f"warning: {line}"


def _setting_lines(
    data: OwnData, settings: Settings, own_model: OwnModel | None
) -> Iterator[str]:
    divided = "as a whole"
    if own_model is not None:
        divided = f"by the facets that {own_model.name} finds"
    elif settings.segmentation == "soap":
        divided = "by the sections of a note"
    yield f"  texts {divided}"
    yield f"  metrics: {listed(settings.metrics)}"
    questions = "none"
    if settings.questions:
        judge = "lexical" if own_model is None else own_model.name
        questions = f"{settings.questions[0]}, by judge {judge}"
    missing = (
        [] if any(source.passages for source in data.rows.sources) else [Role.SOURCE]
    )
    missing += [] if has_reference(data.rows) else [Role.REFERENCE]
    why = f" (no {' and no '.join(missing)})" if missing else ""
    yield f"  questions to judges: {questions}{why}"
    yield from _design(data)
    goes = "no text leaves this machine"
    if own_model is not None:
        goes = f"texts go to {own_model.base_url} alone"
    yield f"  private: git ignores the data, and {goes}"


def command(folder: Path, inputs: Inputs, data: OwnData, more: Iterable[str]) -> str:
    """Return the command that names all columns that were guessed, and confirms them."""
    words = ["metassay", "init", str(folder)]
    for kind, paths in inputs.files.items():
        words += [word for path in paths for word in (f"--{kind}", str(path))]
    words += [
        "--columns",
        *(w for k, table in data.tables.items() for w in table.columns.words(k)),
    ]
    if inputs.reference is not None or len(data.references) == 1:
        words += ["--reference", next(iter(data.references), "")]
    in_file = {name: metric for metric, name in data.renamed.items()}
    better: list[tuple[str, str]] = [
        (name, scale.better) for name, scale in data.criteria.items()
    ]
    better += [(in_file[metric.metric], metric.better) for metric in data.rows.metrics]
    for end in ("lower", "higher", "neither"):
        words += _option(
            f"--{end}", dict.fromkeys(name for name, b in better if b == end)
        )
    if inputs.primary is not None:
        words += _option("--primary", [inputs.primary])
    if inputs.primary_criterion is not None:
        words += _option("--primary-criterion", [inputs.primary_criterion])
    if inputs.tried > 1:
        words += ["--tried", str(inputs.tried)]
    words += _option("--fitted", inputs.fitted)
    words += _option("--rows", inputs.rows)
    words += _option("--missing", inputs.missing)
    ends = [
        f"{name}={'<'.join(_grades(data, name)) or f'{scale.low:g}..{scale.high:g}'}"
        for name, scale in data.criteria.items()
    ]
    return shlex.join([*words, *_option("--scale", ends), *more, "--yes"])


def _grades(data: OwnData, criterion: str) -> Sequence[str]:
    """The words of a criterion's scale, if `--scale` gave any."""
    return data.tables["ratings"].sheet.words.get(criterion, ())


def _binary_labels(data: OwnData) -> dict[str, str]:
    """How labels such as yes and no count, by criterion."""
    table = data.tables["ratings"]
    words = {
        column: list(numbers.words)
        for column, numbers in table.numbers(Findings()).items()
    }
    spread = table.columns.spread.items()
    of_criteria = {
        labels.get(Role.CRITERION, ""): words[column] for column, labels in spread
    }
    return {
        name: f", {pair[1]} is 1, {pair[0]} is 0"
        for name, pair in of_criteria.items()
        if pair and name not in table.sheet.words
    }


def _option(option: str, values: Iterable[str]) -> list[str]:
    """An option with its values; `=` joins a value that begins with a hyphen to it."""
    hyphened = [value for value in values if value.startswith("-")]
    others = [value for value in values if value not in hyphened]
    words = [option, *others] if others else []
    return [*words, *(f"{option}={value}" for value in hyphened)]


def _head(kind: str, table: Table) -> Iterator[str]:
    sheet, columns = table.sheet, table.columns
    roles = [f"{role} = {quoted(column)}" for role, column in columns.roles.items()]
    if columns.pattern:
        names = listed(columns.spread, _FEW)
        roles.append(f"columns called {columns.pattern} = {names}")
    elif columns.spread:
        (each,) = columns.name_roles
        names = (
            listed(columns.spread) if each == Role.SYSTEM else _quoted(columns.spread)
        )
        roles.append(f"{_EACH[each]} each = {names}")
    if kind == "ratings" and Role.RATER not in table.roles and sheet.parts:
        roles.append(f"{Role.RATER} = the file's name")
    yield f"{one_line(sheet.name)}, {counted(len(sheet.lines), 'row')}: {'; '.join(roles)}"
    unread = columns.unread(sheet)
    numbers = [] if kind == "texts" else numeric_columns(sheet, unread)
    others = [column for column in unread if column not in numbers]
    if others:
        yield f"  not read: {listed(others)}"
    if numbers:
        option = f"--columns {kind}.{SPREADS[kind][0]}=..."
        yield f"  numbers that are not read: {_quoted(numbers)} (to read them: {option})"
    for note in sheet.notes:
        yield f"  {note}"


def _text_lines(data: OwnData) -> Iterator[str]:
    rows, n = data.rows, len(data.rows.sources)
    yield from _head("texts", data.tables["texts"])
    systems = sorted(
        {text.author for text in rows.texts if not is_reference(text.author)}
    )
    yield f"  {counted(n, 'document')}; {counted(len(systems), 'system')}: {listed(systems)}"
    n_source = sum(bool(source.passages) for source in rows.sources)
    n_reference = sum(text.author == REFERENCE for text in rows.texts)
    first = [name for name, author in data.references.items() if author == REFERENCE]
    by = f" by {listed(first)}" if first else ""
    yield f"  with a source: {n_source} of {n}; with a reference{by}: {n_reference}"
    further = [name for name in data.references if name not in first]
    if further:
        yield f"  further references, which rubrics alone read: {listed(further)}"
    if empty := data.empty["texts"]:
        yield f"  {counted(empty, 'text')} empty: counted as failed (status error)"


def _design(data: OwnData) -> Iterator[str]:
    """Yield what counts together, and the metric that was named before anybody looked."""
    roles, design = data.tables["texts"].columns.roles, data.design
    if design.strata:
        yield f"  documents of one {quoted(roles['strata'])} are compared only with each other"
    if design.cluster:
        yield f"  documents of one {quoted(roles['cluster'])} count as one"
    if design.families:
        n = len(set(design.families.values()))
        yield f"  {counted(len(design.families), 'system')} of {n} families, which count as one"
    if design.primary:
        yield f"  primary metric: {quoted(design.primary)}"
    if design.primary_criterion:
        yield f"  primary criterion: {quoted(design.primary_criterion)}"
    if design.tried > 1:
        yield f"  each metric is the best of {design.tried} that were tried elsewhere"
    if design.fitted:
        yield f"  fitted on these ratings, so without a verdict: {_quoted(design.fitted)}"


def _quoted(names: Iterable[str]) -> str:
    """Quote names of columns of numbers, whole: they are questions to raters and no texts."""
    quoted = [repr(one_line(name[:_LONGEST])) for name in names]
    more = f" and {len(quoted) - _SHOWN} more" if len(quoted) > _SHOWN else ""
    return ", ".join(quoted[:_SHOWN]) + more
