"""data/registry.yaml as it is, wrong ones, and files whose access class is in doubt (labels.py)."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.datasets import labels
from metassay.datasets.labels import label_problems
from metassay.datasets.readers import READERS, reader_problems
from metassay.datasets.registry import Dataset, find, is_inside, load_registry
from tests.datasets.reading import ROOT

COMMIT = "c0ffee"
# nothing is fetched
PLAIN = {"reader": "files", "title": "t", "licence": "l", "access": "public"}
FILE: dict[str, Any] = {"name": "a.csv", "url": f"https://example.org/r/{COMMIT}/a.csv"}
FILE |= {"sha256": "0" * 64, "bytes": 3}
FETCHED = {"upstream": "https://example.org/r", "commit": COMMIT, "mirror": "m"}
GOOD = {**PLAIN, **FETCHED, "files": [FILE]}
PRIVATE = {"access": "private"}


def load(
    folder: Path, fetched: list[str] | None = None, **datasets: Any
) -> dict[str, Dataset]:
    path = folder / "registry.yaml"
    if fetched is None:
        fetched = [name for name, entry in datasets.items() if entry.get("files")]
    path.write_text(
        yaml.safe_dump({"fetched": fetched, "datasets": datasets}), encoding="utf-8"
    )
    return load_registry(path)


def problems(
    folder: Path, fetched: list[str] | None = None, **datasets: Any
) -> list[str]:
    """The problems without the file; of a single dataset without its name."""
    try:
        load(folder, fetched, **datasets)
    except BadInput as error:
        lead = f"{folder / 'registry.yaml'} > datasets > "
        lead += next(iter(datasets)) if len(datasets) == 1 else ""
        return [problem.removeprefix(lead) for problem in error.problems]
    return []


def test_the_registry_of_this_project() -> None:
    datasets = load_registry(ROOT / "data/registry.yaml")
    assert not reader_problems(datasets)
    assert list(READERS) == sorted(READERS)
    sizes = {"sample": 0, "mts_dialog": 3, "aci_bench": 14}
    assert {name: len(datasets[name].files) for name in sizes} == sizes
    assert "invented" in datasets["sample"].title
    private = {name for name, d in datasets.items() if d.files and d.access != "public"}
    assert private == {"scholarsum_arxiv"}  # its licence is not stated upstream


def test_its_facts_are_those_of_the_mirror(mirror: Path) -> None:
    manifest = mirror / "MANIFEST.tsv"
    if not manifest.is_file():
        pytest.skip("this mirror has no MANIFEST.tsv")
    rows = [
        line.split("\t") for line in manifest.read_text(encoding="utf-8").splitlines()
    ]
    by_name = {(row[0], row[1]): row[2:] for row in rows}
    datasets = load_registry(ROOT / "data/registry.yaml")
    del datasets["simsum"]  # which the mirror does not have
    for dataset in datasets.values():
        for file in dataset.files:
            size, sha256, licence, url, commit = by_name[dataset.mirror, file.name]
            assert (int(size), sha256, url) == (file.bytes, file.sha256, file.url)
            assert (licence, commit) == (dataset.licence, dataset.commit)


_HASHED = (
    " > files > 0: must have sha256, or git_blob where that is not known; give one"
)
_ODD = [" > folder: has blanks at an end, or what does not print; clean it"]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            GOOD | {"acces": "public"},
            [" > acces: unknown key; remove it or correct its spelling"],
        ),
        (
            dict(list(PLAIN.items())[:3]) | {"folder": "f"},
            [" > access: missing; add it"],
        ),
        (GOOD | {"commit": ""}, [" > commit: missing; a dataset with files needs it"]),
        (
            {"sha256": "ABC"},
            [" > files > 0 > sha256: String should match pattern '^[0-9a-f]{64}$'"],
        ),
        ({"git_blob": "0" * 40}, [_HASHED]),
        ({"sha256": None}, [_HASHED]),
        (
            {"sha256": None, "git_blob": "0" * 8},
            [" > files > 0 > git_blob: String should match pattern '^[0-9a-f]{40}$'"],
        ),
        (
            GOOD | {"folder": "x"},
            [" > folder: fetched files lie in data/raw/mine; take it out"],
        ),
        *((PLAIN | {"folder": odd}, _ODD) for odd in ("a\0b", " a", "a\nb")),
        (
            GOOD
            | {
                "mirror": "a/b",
                "files": [FILE | {"name": "../a", "url": "ftp://x/a"}] * 2,
            },
            [
                " > mirror: must be the name of one folder, without a path",
                " > files: '../a' occurs 2 times; keep one",
                *[
                    " > files > '../a' > must be a file name, without a path",
                    " > files > '../a' > url: must begin with https://",
                    f" > files > '../a' > url: must name the commit {COMMIT}",
                ]
                * 2,
            ],
        ),
    ],
)
def test_bad_entries(
    tmp_path: Path, entry: dict[str, Any], expected: list[str]
) -> None:
    if "title" not in entry:
        entry = GOOD | {"files": [FILE | entry]}
    assert problems(tmp_path, mine=entry) == expected


def test_good_entries_and_lists(tmp_path: Path) -> None:
    datasets = load(tmp_path, mine=GOOD, own=PLAIN | {"folder": "data/mine"})
    assert datasets["mine"].files[0].bytes == 3
    assert datasets["own"].files == []
    assert find(datasets, "mine") is datasets["mine"]
    with pytest.raises(
        BadInput, match=r"'mien' is not in data/registry\.yaml; known: mine, own; "
    ):
        find(datasets, "mien")
    with pytest.raises(BadInput) as caught:
        load(tmp_path, ["own", "gone"], mine=GOOD, own=PLAIN | {"folder": "data/own"})
    assert [line.partition("fetched: ")[2] for line in caught.value.problems] == [
        "'mine' has files; add it",
        "'own' is listed but has no files; take it out",
        "'gone' is not in datasets; remove it",
    ]
    (problem,) = problems(tmp_path, mine=PLAIN)
    assert problem.startswith(" > folder: missing; write where the dataset lies")
    with pytest.raises(
        BadInput, match=r"\.\./x: use letters, digits, _ and - of ASCII alone, fir"
    ):
        load(tmp_path, **{"../x": GOOD})
    with pytest.raises(BadInput, match="does not exist; run in the project's folder"):
        load_registry(tmp_path / "none.yaml")
    (problem,) = reader_problems(load(tmp_path, mine=GOOD | {"reader": "file"}))
    assert (
        f"mine > reader: 'file' is not known; choose from {', '.join(READERS)}"
        in problem
    )


# ---- one access class per folder and file


@pytest.mark.parametrize(
    ("folder", "ward"),
    [
        *((name, "data/ward") for name in ("data/ward", "data/ward/deep", "data", ".")),
        *(
            (name, "data/ward")
            for name in ("../project/data/ward", "link", "link/deep")
        ),
        ("not/there", "not/there/either"),
    ],
)
def test_folders_that_share_files_have_one_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, ward: str
) -> None:
    root = tmp_path / "project"
    (root / "data/ward/deep").mkdir(parents=True)
    (root / "link").symlink_to("data/ward")
    monkeypatch.chdir(root)
    entry, other = PLAIN | {"folder": folder}, PLAIN | {"folder": ward}
    for first, second in ((entry, other | PRIVATE), (other | PRIVATE, entry)):
        (problem,) = problems(tmp_path, mine=first, ward=second)
        assert "is private" in problem
        assert problem.endswith(
            "share files; give both the same access, or separate the folders"
        )
    assert problems(tmp_path, mine=entry, ward=other) == []


def test_files_have_one_class_and_links_in_a_circle_are_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = GOOD | PRIVATE
    assert problems(tmp_path, mine=GOOD, ward=private) == [
        "mine: is public, and 'ward' is private, but 'a.csv' and 'a.csv' have the same sha256; give"
        " both the same access"
    ]
    assert problems(tmp_path, mine=GOOD, ward=GOOD) == []
    assert problems(tmp_path, mine=private, ward=private) == []
    (problem,) = problems(
        tmp_path, mine=PLAIN | {"folder": "data/raw/ward"}, ward=private
    )
    assert "data/raw/ward and data/raw/ward share files" in problem
    monkeypatch.chdir(tmp_path)
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    circle, other = PLAIN | {"folder": "a"}, PLAIN | PRIVATE | {"folder": "data"}
    assert problems(tmp_path, mine=circle, ward=other) == []
    assert not is_inside(Path("a\0"), Path("data"))
    assert not is_inside(Path("data"), Path("a\0"))


SECRET = b'{"doc_id": "e1", "text": "The ankle hurts."}\n'


def dataset(access: str, **changes: Any) -> Dataset:
    return Dataset.model_validate(PLAIN | {"access": access} | changes)


def listed(access: str, name: str, content: bytes, kind: str = "sha256") -> Dataset:
    """A dataset that is fetched; nothing of it is on this machine."""
    hashed = {"sha256": hashlib.sha256(content).hexdigest()}
    if kind == "git_blob":
        blob = b"blob " + str(len(content)).encode() + bytes(1) + content
        hashed = {"git_blob": hashlib.sha1(blob, usedforsecurity=False).hexdigest()}
    file = {"name": name, "url": FILE["url"], "bytes": len(content), **hashed}
    return dataset(access, **FETCHED, files=[file])


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder `mine` with two files, beside a folder `ward` with one."""
    monkeypatch.chdir(tmp_path)
    for name, content in (
        ("mine/a.jsonl", b"ours"),
        ("mine/b.csv", b"too"),
        ("ward/s", SECRET),
    ):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(content)


def doubts(access: str = "public", **others: Dataset) -> list[str]:
    registry: Mapping[str, Dataset] = {"mine": dataset(access, folder="mine"), **others}
    return label_problems(registry, ["mine"], [])


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("strict", ["private", "credentialed"])
@pytest.mark.parametrize("known", ["sha256", "git_blob", "folder"])
def test_a_copy_under_any_name_is_known(strict: str, known: str) -> None:
    Path("mine/deep/er").mkdir(parents=True)
    Path("mine/deep/er/copy.txt").write_bytes(SECRET)
    there = dataset(strict, folder="ward")
    other = there if known == "folder" else listed(strict, "s", SECRET, known)
    what = "ward/s" if known == "folder" else "s"
    assert doubts(ward=other) == [
        "mine/deep/er/copy.txt: lies in the folder of 'mine', which is public, but it is"
        f" {what} of 'ward', which is {strict}; take it out, or write access: {strict} at 'mine'"
        " in data/registry.yaml"
    ]
    assert not doubts(ward=other, access=strict)
    # Private and credentialed do not stand for each other.
    assert len(doubts("private", ward=other)) == (strict != "private")
    assert not doubts("private", ward=listed("public", "s", SECRET))


@pytest.mark.usefixtures("_here")
def test_what_is_no_copy() -> None:
    """What holds nothing, is pinned as public, or was changed: docs/data-files.md says so."""
    for name in ("mine/.gitignore", "ward/LICENSE", "data/raw/open/LICENSE"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"MIT")
    Path("mine/empty").touch()
    Path("ward/empty").touch()
    ward, open_ = dataset("private", folder="ward"), listed("public", "LICENSE", b"MIT")
    assert not doubts(ward=ward)
    assert not label_problems({"open": open_, "ward": ward}, ["open"], [])
    for content in (SECRET + b"\n", SECRET.replace(b"ankle", b"elbow")):
        Path("mine/copy").write_bytes(content)
        assert not doubts(ward=listed("private", "s", SECRET))
    registry = {"mine": dataset("public", folder="nowhere")}
    assert not label_problems(
        registry, ["mine", "stranger"], [("stranger", Path("ward"))]
    )
    assert not label_problems(registry, [], [("mine", Path("nowhere"))])


@pytest.mark.usefixtures("_here")
def test_only_files_of_equal_length_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    digests, ward = labels._digests, dataset("private", folder="ward")
    monkeypatch.setattr(
        labels, "_digests", lambda *of: read.append(of[0]) or digests(*of)
    )
    assert not doubts(ward=ward)
    assert not read
    Path("mine/other").write_bytes(bytes(len(SECRET)))
    assert not doubts(ward=ward)
    assert sorted(map(str, read)) == ["mine/other", "ward/s"]
    monkeypatch.setattr(labels, "_digests", lambda *_: set())
    assert doubts(ward=ward) == [
        "mine/other: cannot be read; allow it, or take it out of the folder"
    ]
    monkeypatch.undo()


@pytest.mark.usefixtures("_here")
def test_a_dataset_is_read_from_its_own_folder_and_links_are_followed() -> None:
    registry = {
        "mine": dataset("public", folder="mine"),
        "open": listed("public", "a", b"a"),
    }
    Path("link").symlink_to("mine")
    for folder in ("mine", "./mine", "link", str(Path("mine").absolute())):
        assert not label_problems(registry, [], [("mine", Path(folder))])
    assert label_problems(
        registry, [], [("mine", Path("ward")), ("open", Path("ward"))]
    ) == [
        "ward is not the folder of dataset 'mine', which is public and lies in mine"
        " (data/registry.yaml > datasets > mine > folder); make them one folder, or name the"
        " dataset that lies in ward",
        "ward is not the folder of dataset 'open', which is public and lies in data/raw/open"
        " (fetched files lie there); make them one folder, or name the dataset that lies in ward",
    ]
    for name, to in (("loop", "../mine"), ("ward", "../ward"), ("gone", "nowhere")):
        Path("mine", name).symlink_to(to)
    (problem,) = doubts(ward=dataset("private", folder="ward"))
    assert problem.startswith("mine/ward/s: ")
