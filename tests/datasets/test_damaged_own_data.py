"""Own data that is damaged, of another format, or has keys that differ a little."""

import csv
import gzip
import io
import json
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.datasets.ingest import Tables, ingest
from tests.fuzz.mutations import spoilt

CRITERIA = {"usefulness": Criterion(low=1, high=5, better="higher")}
SECRET = "Zanzibar has had a cough since the week before last, and no fever"
FILES = ("sources.jsonl", "texts.jsonl", "ratings.csv")
AUTHORS = ("reference", "alpha", "beta")
HEADER = "study,doc_id,author,rater,criterion,value"


def lines() -> dict[str, list[str]]:
    """Four documents, three authors, two raters; `SECRET` is in every text."""
    documents = [f"d{number}" for number in range(4)]
    sources = [
        {"doc_id": d, "task": "note", "passages": [SECRET, f"{n} days."], "attributes": {"n": n}}
        for n, d in enumerate(documents)
    ]
    texts = [
        {"doc_id": d, "author": a, "text": f"{SECRET} [{n}]."}
        for d in documents
        for n, a in enumerate(AUTHORS[:2])
    ]
    texts += [{"doc_id": d, "author": "beta", "status": "refused"} for d in documents]
    ratings = [
        f"s,{d},alpha,{r},usefulness,{n + 1}"
        for n, d in enumerate(documents)
        for r in ("ann", "bo")
    ]
    as_json = [[json.dumps(row) for row in rows] for rows in (sources, texts)]
    return dict(zip(FILES, [*as_json, [HEADER, *ratings]], strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    for name, rows in lines().items():
        (folder / name).write_text("\n".join([*rows, ""]), encoding="utf-8")
    return folder


def read(folder: Path) -> Tables:
    return ingest("files", folder, CRITERIA)


def problems(folder: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(folder)
    for problem in caught.value.problems:
        assert SECRET[:12] not in problem
        assert "; " in problem, f"no remedy in: {problem}"
    return list(caught.value.problems)


def excel() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr("xl/workbook.xml", "<x/>")
    return held.getvalue()


def told(folder: Path) -> list[str]:
    """The problems or, where there are none, the warnings."""
    try:
        return list(read(folder).warnings)
    except BadInput as error:
        return list(error.problems)


CONTENTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "gzip": (gzip.compress, "is compressed by gzip; unpack it"),
    "excel": (lambda _: excel(), "is an Excel or zip file; save its content as text in UTF-8"),
    "parquet": (lambda _: b"PAR1\x15\x04", "is a Parquet file; save its content as text"),
    "utf-16": (
        lambda b: b.decode().encode("utf-16"),
        "is UTF-16 or UTF-32; save the file as UTF-8",
    ),
    "no mark": (lambda b: b.decode().encode("utf-16-le"), "is UTF-16, or no text; save the file"),
    "zeros": (lambda b: bytes(len(b)), "is UTF-16, or no text; save the file as UTF-8"),
    "empty": (lambda _: b"", "is empty; docs/own-data.md shows how it is written"),
    "mark": (lambda _: b"\xef\xbb\xbf", "is empty; docs/own-data.md shows how it is written"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", CONTENTS)
def test_what_is_no_text_file_is_named_once(folder: Path, name: str, kind: str) -> None:
    made, said = CONTENTS[kind]
    (folder / name).write_bytes(made((folder / name).read_bytes()))
    assert [p for p in problems(folder) if p.startswith(f"{name}: ")] == [
        p for p in problems(folder) if f"{name}: {said}" in p
    ]


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_is_named_and_never_waited_for(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert f"{name}: is a pipe or device, not a file; save its content in a file" in problems(
        folder
    )
    (folder / name).unlink()
    (folder / name).symlink_to(name)
    assert any(p.startswith(f"{name}: cannot be read: too many levels") for p in problems(folder))
    (folder / name).unlink()
    (folder / name).symlink_to("nowhere")
    assert any(p.startswith(f"{name}: is not in {folder}; ") for p in problems(folder))


def test_a_hundred_thousand_columns(folder: Path) -> None:
    names = ",".join(f"c{number}" for number in range(100_000))
    (folder / "ratings.csv").write_text(f"{HEADER},{names}\n", encoding="utf-8")
    assert any("has 100,006 columns, more than 2,000" in problem for problem in problems(folder))


@pytest.mark.parametrize("number", ["1e309", "-1e999", "1" + "0" * 400 + ".5"])
def test_a_number_beyond_all_doubles_is_not_made_infinite(folder: Path, number: str) -> None:
    path = folder / "sources.jsonl"
    path.write_text(path.read_text("utf-8").replace('"n": 0', f'"n": {number}'), encoding="utf-8")
    assert problems(folder)[0] == (
        "sources.jsonl: line 1: is not strict JSON (a number is too large); correct it"
    )


@pytest.mark.parametrize("ending", [".tsv", ".xlsx", ".csv.gz", ".jsonl.zip", ".parquet", ".CSV"])
def test_data_that_nobody_reads_is_a_warning(folder: Path, ending: str) -> None:
    (folder / f"ratings{ending}").write_bytes(b"")
    assert [w for w in read(folder).warnings if w.startswith(f"ratings{ending}: is not read; ")]


@pytest.mark.parametrize("name", FILES)
def test_a_hundred_damages_of_a_file(folder: Path, name: str) -> None:
    """Each is told, or every line is in the tables; never anything between."""
    whole, draw = (folder / name).read_bytes(), random.Random(name)
    refused = 0
    for _ in range(110):
        (folder / name).write_bytes(spoilt(whole, draw))
        try:
            found = read(folder)
        except BadInput:
            refused += 1
            problems(folder)
            continue
        for file, table in zip(FILES[:2], (found.sources, found.texts), strict=True):
            written = (folder / file).read_bytes().split(b"\n")
            assert len(table) == sum(bool(line.strip()) for line in written)
        with (folder / "ratings.csv").open(encoding="utf-8-sig", newline="") as opened:
            rated = list(csv.DictReader(opened))
        assert len(found.ratings) == len(rated)
        kept = [float(cells["value"]) for cells in rated if cells["value"].strip()]
        assert sorted(found.ratings["value"].dropna()) == sorted(kept)
    assert refused > 60


def changed(folder: Path, name: str, old: str, new: str, count: int = -1) -> None:
    path = folder / name
    path.write_text(path.read_text("utf-8").replace(old, new, count), encoding="utf-8")


def test_a_key_of_one_file_that_the_other_spells_differently(folder: Path) -> None:
    changed(folder, "texts.jsonl", '"d3"', '"D3"', 1)
    changed(folder, "ratings.csv", "d0,alpha,ann", "d0,ALPHA,ann")
    changed(folder, "ratings.csv", "d1,alpha,ann", "D1,alpha,ann")
    said = problems(folder)
    assert any("(doc_id 'D3')" in problem for problem in said)
    assert any("system 'ALPHA' is not in texts.jsonl" in problem for problem in said)
    assert any("doc_id 'D1', author 'alpha'" in problem for problem in said)


KEYS = {
    "sources.jsonl": ("doc_id", "task"),
    "texts.jsonl": ("doc_id", "author", "part", "status"),
    "ratings.csv": tuple(HEADER.split(",")),
}


@pytest.mark.parametrize(("name", "key"), [(n, k) for n, keys in KEYS.items() for k in keys])
def test_a_text_in_the_place_of_a_key_is_in_no_message(folder: Path, name: str, key: str) -> None:
    """In a row, in all, and as the name of the key itself."""
    first, *others = lines()[name]
    if name == "ratings.csv":
        cells = dict(zip(HEADER.split(","), others[0].split(","), strict=True)) | {key: SECRET}
        quoted = ",".join(f'"{value}"' for value in cells.values())
        variants = [[first, quoted, *others[1:]], [first.replace(key, f'"{SECRET}"'), *others]]
    else:
        row = json.loads(first)
        row.pop(key, None)
        variants = [[json.dumps(row | {k: v}), *others] for k, v in ((key, SECRET), (SECRET, "v"))]
    for variant in variants:
        (folder / name).write_text("\n".join([*variant, ""]), encoding="utf-8")
        assert not [line for line in told(folder) if "Zanzibar" in line]
