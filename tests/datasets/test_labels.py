"""labels.py: files whose access class is in doubt, by where they lie and by their content."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from metassay.datasets import labels
from metassay.datasets.labels import label_problems
from metassay.datasets.registry import Dataset

SECRET = b'{"doc_id": "e1", "text": "The ankle hurts."}\n'
COMMIT = "c0ffee"


def dataset(access: str, **changed: Any) -> Dataset:
    plain = {"reader": "files", "title": "t", "licence": "l", "access": access}
    return Dataset.model_validate(plain | changed)


def listed(access: str, name: str, content: bytes, kind: str = "sha256") -> Dataset:
    """A dataset that is fetched; nothing of it is on this machine."""
    hashed = {"sha256": hashlib.sha256(content).hexdigest()}
    if kind == "git_blob":
        blob = b"blob " + str(len(content)).encode() + bytes(1) + content
        hashed = {"git_blob": hashlib.sha1(blob, usedforsecurity=False).hexdigest()}
    url = f"https://example.org/{COMMIT}/{name}"
    file = {"name": name, "url": url, "bytes": len(content), **hashed}
    more = {"upstream": "https://example.org", "commit": COMMIT, "mirror": "m", "files": [file]}
    return dataset(access, **more)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `mine` with two files, beside a folder `ward` with one."""
    monkeypatch.chdir(tmp_path)
    for name, content in (("mine/a.jsonl", b"ours"), ("mine/b.csv", b"too"), ("ward/s", SECRET)):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(content)
    return tmp_path


def problems(access: str = "public", **others: Dataset) -> list[str]:
    registry: Mapping[str, Dataset] = {"mine": dataset(access, folder="mine"), **others}
    return label_problems(registry, ["mine"], [])


@pytest.mark.parametrize("strict", ["private", "credentialed"])
@pytest.mark.parametrize("known", ["sha256", "git_blob", "folder"])
def test_a_copy_under_any_name_is_known(strict: str, known: str) -> None:
    Path("mine/deep/er").mkdir(parents=True)
    Path("mine/deep/er/copy.txt").write_bytes(SECRET)
    there = dataset(strict, folder="ward")
    other = there if known == "folder" else listed(strict, "s", SECRET, known)
    what = "ward/s" if known == "folder" else "s"
    assert problems(ward=other) == [
        "mine/deep/er/copy.txt: lies in the folder of 'mine', which is public, but it is"
        f" {what} of 'ward', which is {strict}; take it out, or write access: {strict} at 'mine'"
        " in data/registry.yaml"
    ]
    assert not problems(ward=other, access=strict)


def test_private_and_credentialed_do_not_stand_for_each_other() -> None:
    Path("mine/copy").write_bytes(SECRET)
    ward = listed("credentialed", "s", SECRET)
    assert len(problems("private", ward=ward)) == 1
    assert not problems("private", ward=listed("public", "s", SECRET))


def test_a_copy_that_was_changed_is_not_known() -> None:
    """docs/own-data.md says so: whoever labels a folder public vouches for it."""
    for content in (SECRET + b"\n", SECRET.replace(b"ankle", b"elbow")):
        Path("mine/copy").write_bytes(content)
        assert not problems(ward=listed("private", "s", SECRET))


def test_what_holds_nothing_or_is_pinned_as_public_is_no_copy() -> None:
    for name in ("mine/.gitignore", "ward/LICENSE", "data/raw/open/LICENSE"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"MIT")
    Path("mine/empty").touch()
    Path("ward/empty").touch()
    ward, open_ = dataset("private", folder="ward"), listed("public", "LICENSE", b"MIT")
    assert not problems(ward=ward)
    assert not label_problems({"open": open_, "ward": ward}, ["open"], [])


def test_links_are_followed_and_loops_end() -> None:
    Path("mine/loop").symlink_to("../mine")
    Path("mine/ward").symlink_to("../ward")
    Path("mine/gone").symlink_to("nowhere")
    (problem,) = problems(ward=dataset("private", folder="ward"))
    assert problem.startswith("mine/ward/s: ")


def test_only_files_of_equal_length_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    digests = labels._digests
    monkeypatch.setattr(labels, "_digests", lambda *of: read.append(of[0]) or digests(*of))
    assert not problems(ward=dataset("private", folder="ward"))
    assert not read
    Path("mine/other").write_bytes(bytes(len(SECRET)))
    assert not problems(ward=dataset("private", folder="ward"))
    assert sorted(map(str, read)) == ["mine/other", "ward/s"]


def test_a_file_that_nobody_can_read_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine/other").write_bytes(bytes(len(SECRET)))
    monkeypatch.setattr(labels, "_digests", lambda *_: set())
    (problem,) = problems(ward=dataset("private", folder="ward"))
    assert problem == "mine/other: cannot be read; allow it, or take it out of the folder"


def test_what_is_not_there_or_not_registered_has_no_files() -> None:
    registry = {"mine": dataset("public", folder="nowhere")}
    assert not label_problems(registry, ["mine", "stranger"], [("stranger", Path("ward"))])
    assert not label_problems(registry, [], [("mine", Path("nowhere"))])


def test_a_dataset_is_read_from_its_own_folder() -> None:
    registry = {"mine": dataset("public", folder="mine"), "open": listed("public", "a", b"a")}
    Path("link").symlink_to("mine")
    for folder in ("mine", "./mine", "link", str(Path("mine").absolute())):
        assert not label_problems(registry, [], [("mine", Path(folder))])
    assert label_problems(registry, [], [("mine", Path("ward")), ("open", Path("ward"))]) == [
        "ward is not the folder of dataset 'mine', which is public and lies in mine"
        " (data/registry.yaml > datasets > mine > folder); make them one folder, or name the"
        " dataset that lies in ward",
        "ward is not the folder of dataset 'open', which is public and lies in data/raw/open"
        " (fetched files lie there); make them one folder, or name the dataset that lies in ward",
    ]
