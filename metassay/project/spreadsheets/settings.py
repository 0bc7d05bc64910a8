"""Own data from spreadsheets as a project: their files, and the settings that suit them."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from metassay.core.errors import one_line
from metassay.core.options import PARAMS, Criterion
from metassay.datasets.own_data import RATINGS_FILE, SCORES_FILE, SOURCES_FILE, TEXTS_FILE
from metassay.project import kit
from metassay.project.make import Content, registry
from metassay.project.spreadsheets.read import Found, reference_there
from metassay.tabular.decoding import csv_bytes
from metassay.tabular.rows import Rows
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
