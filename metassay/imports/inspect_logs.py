"""Inspect: `.eval`, a zip archive, and `.json`.

A person's correction replaces a score's value. The scorer's value is the first entry of the score's
`history`, the one without provenance. A score that only has entries of people has no judge's value.
"""

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from metassay.imports.items import (
    Item,
    Judgment,
    Task,
    Tool,
    field_of,
    first,
    objects,
    parse_value,
    text,
)
from metassay.imports.records import FIX, Record, is_list, parts, records
from metassay.tabular.decoding import is_readable
from metassay.tabular.limits import SPLIT, unpacked_problem
from metassay.tabular.rows import Findings, Place

_ZSTD = 93  # compression of a member, which Python's zipfile reads since 3.14
_HEADS = ("header.json", "_journal/start.json")  # the second in an unfinished log
_SAMPLE = re.compile(
    r"samples/[^/]*(\.json|/sample\.json)"
)  # the second in a log in chunks


def read(task: Task) -> Iterator[Item]:
    """Yield the samples of a log."""
    if not is_readable(task.path, task.problems, remedy=FIX):
        return
    zipped = task.path.suffix == ".eval" or zipfile.is_zipfile(task.path)
    model, samples = _archive(task) if zipped else _json_log(task)
    for place, sample in samples:
        scores = sample.get("scores") or {"score": sample.get("score")}
        judgments = [
            *chain.from_iterable(_score(name, score) for name, score in scores.items())
        ]
        yield Item(
            place=place,
            record=sample,
            judgments=judgments,
            doc=sample.get("id"),
            system=model,
            text=first(sample, "output.completion", "output.choices.0.message.content"),
            source=[text(sample.get("input"))],
            reference=sample.get("target"),
            failed=bool(sample.get("error")),
            corrected=any(judgment.person for judgment in judgments),
            epoch=sample.get("epoch") or 1,
        )


def _score(name: str, score: object) -> Iterator[Judgment]:
    history = objects(field_of(score, "history"))
    originals = [edit.get("value") for edit in history if not edit.get("provenance")]
    if originals:
        yield from parse_value(name, originals[0])
    elif score is not None and not history:
        yield from parse_value(name, field_of(score, "value"))
    last = {
        field_of(edit, "provenance.author"): edit["value"]
        for edit in history
        if edit.get("provenance") and edit.get("value", "UNCHANGED") != "UNCHANGED"
    }
    for author, value in last.items():
        yield from parse_value(name, value, author, person=True)


def _json_log(task: Task) -> tuple[object, Iterator[Record]]:
    """Return the model, which stands above the samples, and the samples."""
    head = parts(task.path, is_list, Findings())
    model = next((part.value for part in head if part.steps == ("eval", "model")), None)
    return model, records(task.path, task.problems)


def _archive(task: Task) -> tuple[object, Iterator[Record]]:
    try:
        with zipfile.ZipFile(task.path) as archive:
            if too_large := unpacked_problem(archive):
                task.problems.add(Place(task.path.name), too_large, SPLIT)
                return None, iter(())
            names = archive.namelist()
            head = next(name for name in _HEADS if name in names)
            model = field_of(_member(task.path, archive, head), "eval.model")
    except Exception:  # noqa: BLE001 - damaged archives make readers raise errors of many types
        task.problems.add(
            Place(task.path.name), "is damaged, or is not a log of Inspect", FIX
        )
        return None, iter(())
    return model, _samples(task, [name for name in names if _SAMPLE.fullmatch(name)])


def _samples(task: Task, names: list[str]) -> Iterator[Record]:
    with zipfile.ZipFile(task.path) as archive:
        for number, name in enumerate(names, start=1):
            place = Place(task.path.name, number, "sample")
            try:
                yield place, dict(_member(task.path, archive, name))
            except Exception:  # noqa: BLE001 - as above
                task.problems.add(place, "is damaged", FIX)


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    """Read a member; one of zstd stands behind 30 bytes, its name and its extra field."""
    info = archive.getinfo(name)
    if info.compress_type != _ZSTD:
        return json.loads(archive.read(name))
    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
        packed = pa.BufferReader(file.read(info.compress_size))
    data = pa.CompressedInputStream(packed, "zstd").read(info.file_size)
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(name)
    return json.loads(data)


TOOL = Tool(
    name="inspect",
    what="a log of Inspect",
    read=read,
    patterns=("*.eval", "*.json"),
    marks=(
        ("eval", "task", "model"),
        ("eval", "status", "plan"),
        ("header.json",),
        ("_journal/start.json",),
    ),
    # Correct, partly correct, incorrect, no answer.
    letters={"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0},
)
