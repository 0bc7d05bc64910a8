"""Logs of Inspect: `.eval`, which is a zip archive, and `.json`.

A person's correction replaces a score's value; what the scorer said is the first entry of its
`history`, the one without provenance. A score that only has entries of people has no judge's value.
"""

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from metassay.imports.record import Item, Judgment, Kind, Task, judged, several
from metassay.imports.records import FIX, Record, listed, parts, records
from metassay.imports.values import field, first, objects, text, texts
from metassay.tabular.rows import Findings, Place

_ZSTD = 93  # of a member's compression, which Python's zipfile reads from 3.14 on
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partly, incorrect, no answer
_UNCHANGED = "UNCHANGED"  # what an edit says of a value that it leaves alone
_HEADS = ("header.json", "_journal/start.json")  # the second in a log that was broken off
_DAMAGE = (
    *(zipfile.BadZipFile, NotImplementedError, pa.ArrowException, OSError, EOFError),
    *(ValueError, LookupError, zlib.error, struct.error),
)


def _read(task: Task) -> Iterator[Item]:
    zipped = task.path.suffix == ".eval" or zipfile.is_zipfile(task.path)
    model, found = _archive(task) if zipped else _json(task)
    for at, sample in found:
        epoch = sample.get("epoch") or 1
        system = task.system(sample, model)
        scores = sample.get("scores") or {"score": sample.get("score")}
        judgments = several(_score(name, one) for name, one in scores.items())
        yield Item(
            *(at, task.doc(sample, sample.get("id"))),
            f"{system}#{epoch}" if system and epoch != 1 else system,
            judgments,
            text(_output(sample)),
            texts(text(sample.get("input"))),
            text(sample.get("target")),
            failed=bool(sample.get("error")),
            corrected=any(one.person for one in judgments),
        )


def _output(sample: object) -> object:
    """What the model wrote; logs have it as one text, or in the first choice's message."""
    choices = objects(field(sample, "output.choices"))
    said = field(choices[0], "message.content") if choices else None
    return first(sample, "output.completion") or said


def _score(name: str, score: object) -> Iterator[Judgment]:
    history = objects(field(score, "history"))
    originals = [one.get("value") for one in history if not one.get("provenance")]
    if originals or (score is not None and not history):
        yield from _values(name, (originals or [field(score, "value")])[0])
    last = {
        field(one, "provenance.author"): one["value"]
        for one in history
        if one.get("provenance") and one.get("value", _UNCHANGED) != _UNCHANGED
    }
    for author, value in last.items():
        yield from _values(name, value, author, person=True)


def _values(name: str, value: object, by: object = "", *, person: bool = False) -> Any:
    for one in judged(name, value, by, person=person):
        yield one._replace(value=_LETTERS.get(one.label, one.value))


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
    return model, _samples(task, list(filter(_is_sample, names)))


def _is_sample(name: str) -> bool:
    """`samples/ID_epoch_N.json`, or, of a log in chunks, `samples/ID_epoch_N/sample.json`."""
    steps = name.split("/")
    single = len(steps) == 2 and name.endswith(".json")
    return steps[0] == "samples" and (single or steps[2:] == ["sample.json"])


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


KIND = Kind(
    "a log of Inspect",
    ("*.eval", "*.json"),
    ("eval task model", "eval status plan", *_HEADS),
    _read,
)
