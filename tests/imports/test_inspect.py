"""Logs of Inspect: both files, old and new shapes, and what a person corrected."""

import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.imports.importing import write_json

ORIGINAL = {"value": "I", "answer": "5", "provenance": None}
EDIT = {"value": "C", "provenance": {"author": "ann", "reason": "it is right"}}
UNCHANGED = {"value": "UNCHANGED", "explanation": "so", "provenance": {"author": "ben"}}


def sample(name: object, epoch: int = 1, **more: Any) -> dict[str, Any]:
    said = {"content": [{"type": "text", "text": "It is 5."}]}
    return {
        "id": name,
        "epoch": epoch,
        "input": [{"role": "user", "content": "2+2?"}],
        "target": "4",
        "output": {"model": "m", "choices": [{"message": said}]},
        "scores": {"exact": {"value": "C", "history": []}},
        **more,
    }


CORRECTED = sample(
    2,
    input="3+3?",
    target=["6", "six"],
    output={"completion": "Six."},
    scores={
        "exact": {"value": "C", "history": [ORIGINAL, UNCHANGED, EDIT]},
        "grades": {"value": {"tone": 0.5, "length": None}, "history": []},
        "panel": {"value": ["C", "P", "N"]},
    },
)
FAILED = sample(3, error={"message": "timeout"}, output={}, scores=None)
UNSCORED = sample("x", 2, scores={"exact": {"value": float("nan")}})


def log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "sums", "model": "openai/m", "config": {"epochs": 2}},
        "plan": {"steps": [{"solver": "generate"}]},
        "samples": list(samples),
    }


def test_a_correction_is_the_persons_and_the_original_the_judges(importer, tmp_path) -> None:
    path = write_json(tmp_path / "log.json", log(sample(1), CORRECTED, FAILED, UNSCORED))
    done = importer("inspect", path)
    assert done.said[0] == "4 records, 6 scorers, 1 corrected by people, 1 failed"
    assert done.said[1].endswith("which people rated 1; judges' values that are missing: 2")
    verdicts = done.column("verdicts.csv", "document", "system", "exact", "exact_human_ann")
    assert verdicts == [
        ("1", "openai/m", "C", ""),
        ("2", "openai/m", "I", "C"),
        ("x", "openai/m#2", "", ""),
    ]
    assert done.column("ratings.csv", "doc_id", "rater", "criterion", "value") == [
        ("2", "ann", "exact", "1")
    ]
    scores = done.column("scores.csv", "doc_id", "metric", "value")
    assert ("2", "exact", "0") in scores
    assert ("x", "exact", "") in scores
    by_name = {name: value for doc, name, value in scores if doc == "2"}
    assert by_name == {
        **{"exact": "0", "grades_tone": "0.5", "grades_length": ""},
        **{"panel_1": "1", "panel_2": "0.5", "panel_3": "0"},
    }
    assert done.column("texts.csv", "doc_id", "text", "source", "reference") == [
        ("1", "It is 5.", "2+2?", "4"),
        ("2", "Six.", "3+3?", '["6", "six"]'),
        ("3", "", "2+2?", "4"),
        ("x", "It is 5.", "2+2?", "4"),
    ]
    failed = [row for row in done.tables["texts.jsonl"] if row.get("status")]
    assert failed == [{"doc_id": "3", "author": "openai/m", "status": "error"}]


def test_letters_of_a_choice_are_no_grades(importer, tmp_path) -> None:
    # Of answers A to D, C is not "correct"; where all letters are Inspect's grades, it is.
    values = (("C", "C"), ("A", "C"), ("B", "P"))
    samples = [
        sample(n, scores={"answer": {"value": one}, "exact": {"value": other}})
        for n, (one, other) in enumerate(values)
    ]
    done = importer("inspect", write_json(tmp_path / "log.json", log(*samples)))
    scores = done.column("scores.csv", "doc_id", "metric", "value")
    assert scores == [("0", "exact", "1"), ("1", "exact", "1"), ("2", "exact", "0.5")]
    assert "words that are no numbers, in verdicts.csv alone: 'answer'" in done.said


def test_a_score_that_a_person_added_has_no_judge(importer, tmp_path) -> None:
    added = sample(1, scores={"exact": {"value": "C", "history": [EDIT]}})
    done = importer("inspect", write_json(tmp_path / "log.json", log(added)))
    assert done.said[0] == "1 record, 0 scorers, 1 corrected by people, 0 failed"
    assert "scores.csv" not in done.tables
    assert done.column("verdicts.csv", "exact_human_ann") == [("C",)]


def test_a_log_of_before_scores_had_names(importer, tmp_path) -> None:
    old = {**sample(1), "score": {"value": 0.25}}
    del old["scores"], old["epoch"]
    done = importer("inspect", write_json(tmp_path / "log.json", log(old)))
    assert done.column("scores.csv", "author", "metric", "value") == [("openai/m", "score", "0.25")]


def zstd_archive(path: Path, members: dict[str, object], damage: str = "") -> Path:
    """A zip archive whose members are compressed by zstd, which this Python's zipfile can't write:
    stored members, whose headers are then said to be of method 93."""
    lengths = {}
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in members.items():
            data = json.dumps(value).encode()
            packed = pa.compress(data, codec="zstd", asbytes=True)
            crc = zlib.crc32(data) ^ (name == damage)
            lengths[name] = (len(data), crc, len(packed))
            archive.writestr(name, packed)
    raw = bytearray(path.read_bytes())
    for name, (size, crc, packed_size) in lengths.items():
        for mark, method, sums in ((b"PK\3\4", 8, 14), (b"PK\1\2", 10, 16)):
            at = -1
            head = 30 if method == 8 else 46
            while True:
                at = raw.index(mark, at + 1)
                if raw[at + head : at + head + len(name)] == name.encode():
                    break
            raw[at + method : at + method + 2] = struct.pack("<H", 93)
            raw[at + sums : at + sums + 12] = struct.pack("<III", crc, packed_size, size)
    path.write_bytes(raw)
    return path


HEADER = {key: value for key, value in log().items() if key != "samples"}


@pytest.mark.parametrize("header", ["header.json", "_journal/start.json"])
@pytest.mark.parametrize("member", ["samples/{}_epoch_1.json", "samples/{}_epoch_1/sample.json"])
def test_an_archive_says_what_the_log_says(importer, tmp_path, header, member) -> None:
    samples = {member.format(one["id"]): one for one in (sample(1), CORRECTED)}
    chunk = {"samples/2_epoch_1/events.json": [], "summaries.json": [], header: HEADER}
    packed = zstd_archive(tmp_path / "log.eval", {**samples, **chunk})
    plain = write_json(tmp_path / "log.json", log(sample(1), CORRECTED))
    assert importer("inspect", packed).tables == importer("inspect", plain).tables
    with zipfile.ZipFile(tmp_path / "deflated.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in {**samples, header: HEADER}.items():
            archive.writestr(name, json.dumps(value))
    deflated = importer("inspect", tmp_path / "deflated.eval")
    assert deflated.column("verdicts.csv", "exact", "exact_human_ann") == [("C", ""), ("I", "C")]


def test_a_log_without_samples_is_left_out_and_told(importer, tmp_path) -> None:
    write_json(tmp_path / "logs/a.json", {**log(), "status": "error"})
    write_json(tmp_path / "logs/b.json", log(sample(1)))
    done = importer("inspect", tmp_path / "logs")
    assert done.said[0].startswith("1 record, ")
    assert "a.json: has no record; export it again if it should" in done.said
    # What Inspect writes beside its logs is no log; it is refused where somebody names it.
    write_json(tmp_path / "logs/logs.json", {"a.json": {"version": 2}})
    told = "logs.json: is JSON with 'a.json', 'version', and not a log of Inspect"
    assert any(line.startswith(told) for line in importer("inspect", tmp_path / "logs").said)
    assert importer.refused("inspect", tmp_path / "logs/logs.json")[0].startswith(told)
    (line,) = importer.refused("inspect", tmp_path / "logs/a.json")
    assert line == "a.json: has no record; export it again if it should"


def test_damage_is_told_by_sample_and_nothing_is_written(importer, tmp_path) -> None:
    names = [f"samples/{n}_epoch_1.json" for n in (1, 2)]
    members = {"header.json": HEADER, names[0]: sample(1), names[1]: sample(2)}
    path = zstd_archive(tmp_path / "log.eval", members, damage=names[1])
    assert importer.refused("inspect", path) == [
        "log.eval: sample 2: is damaged; write it again, or correct it"
    ]
    (tmp_path / "cut.json").write_text(json.dumps(log(sample(1)))[:-40], encoding="utf-8")
    (line,) = importer.refused("inspect", tmp_path / "cut.json")
    assert line.startswith("cut.json: is not valid JSON")
