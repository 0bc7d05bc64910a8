"""Logs of Inspect: `.eval`, which is a zip archive, and `.json`.

A person's correction replaces a score's value; what the scorer said is the first entry of its
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

from metassay.imports.record import Item, Judgment, Task, field, first, judged, objects, text
from metassay.imports.records import FIX, Record, listed, parts, records
from metassay.tabular.rows import Findings, Place

_ZSTD = 93  # of a member's compression, which Python's zipfile reads from 3.14 on
_UNCHANGED = "UNCHANGED"  # what an edit says of a value that it leaves alone
_HEADS = ("header.json", "_journal/start.json")  # the second in a log that was broken off
_SAMPLE = re.compile(r"samples/[^/]*(\.json|/sample\.json)")  # the second in a log in chunks
_DAMAGE = (
    *(zipfile.BadZipFile, NotImplementedError, pa.ArrowException, OSError, EOFError),
    *(ValueError, LookupError, zlib.error, struct.error),
)


def inspect(task: Task) -> Iterator[Item]:
    """The samples of a log."""
    zipped = task.path.suffix == ".eval" or zipfile.is_zipfile(task.path)
    model, found = _archive(task) if zipped else _json(task)
    for at, sample in found:
        scores = sample.get("scores") or {"score": sample.get("score")}
        judgments = [one for name, score in scores.items() for one in _score(name, score)]
        said = first(sample, "output.completion", "output.choices.0.message.content")
        yield Item(
            *(at, sample, judgments, sample.get("id"), model, said, [text(sample.get("input"))]),
            sample.get("target"),
            failed=bool(sample.get("error")),
            corrected=any(one.person for one in judgments),
            epoch=sample.get("epoch") or 1,
        )


def _score(name: str, score: object) -> Iterator[Judgment]:
    history = objects(field(score, "history"))
    originals = [one.get("value") for one in history if not one.get("provenance")]
    said = judged(name, (originals or [field(score, "value")])[0])
    each = [said] if originals or (score is not None and not history) else []
    last = {
        field(one, "provenance.author"): one["value"]
        for one in history
        if one.get("provenance") and one.get("value", _UNCHANGED) != _UNCHANGED
    }
    each += [judged(name, value, author, person=True) for author, value in last.items()]
    return chain.from_iterable(each)


def _json(task: Task) -> tuple[object, Iterator[Record]]:
    """The model, which stands above the samples, and these."""
    head = parts(task.path, listed, Findings())
    model = next((one.value for one in head if one.steps == ("eval", "model")), None)
    return model, records(task.path, task.problems)


def _archive(task: Task) -> tuple[object, Iterator[Record]]:
    try:
        with zipfile.ZipFile(task.path) as archive:
            names = archive.namelist()
            head = next(name for name in _HEADS if name in names)
            model = field(_member(task.path, archive, head), "eval.model")
    except (*_DAMAGE, StopIteration):
        task.problems.add(Place(task.path.name), "is damaged, or no log of Inspect", FIX)
        return None, iter(())
    return model, _samples(task, [name for name in names if _SAMPLE.fullmatch(name)])


def _samples(task: Task, names: list[str]) -> Iterator[Record]:
    with zipfile.ZipFile(task.path) as archive:
        for number, name in enumerate(names, start=1):
            at = Place(task.path.name, number, "sample")
            try:
                yield at, dict(_member(task.path, archive, name))
            except _DAMAGE:
                task.problems.add(at, "is damaged", FIX)


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    """A member's content; one of zstd stands behind 30 bytes, its name and its extra field."""
    info = archive.getinfo(name)
    if info.compress_type != _ZSTD:
        return json.loads(archive.read(name))
    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
        packed = pa.BufferReader(file.read(info.compress_size))
    data = pa.CompressedInputStream(packed, "zstd").read()
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(name)
    return json.loads(data)
