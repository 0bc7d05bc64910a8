"""data/registry.yaml as it is, and what a wrong one is told."""

from pathlib import Path

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.datasets.readers import READERS, reader_problems
from metassay.datasets.registry import Dataset, find, is_inside, load_registry

ROOT = Path(__file__).parents[2]
COMMIT = "c0ffee"
GOOD = {
    "reader": "files",
    "title": "t",
    "licence": "l",
    "access": "public",
    "upstream": "https://example.org/r",
    "commit": COMMIT,
    "mirror": "m",
    "files": [
        {
            "name": "a.csv",
            "url": f"https://example.org/r/{COMMIT}/a.csv",
            "sha256": "0" * 64,
            "bytes": 3,
        }
    ],
}

OWN = {key: GOOD[key] for key in ("reader", "title", "licence", "access")}  # nothing is fetched


def load(tmp_path: Path, dataset: object, name: str = "mine") -> dict[str, Dataset]:
    path = tmp_path / "registry.yaml"
    fetched = [name] if isinstance(dataset, dict) and dataset.get("files") else []
    content = {"fetched": fetched, "datasets": {name: dataset}}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return load_registry(path)


def problems(tmp_path: Path, dataset: object, name: str = "mine") -> list[str]:
    with pytest.raises(BadInput) as caught:
        load(tmp_path, dataset, name)
    where = f"{tmp_path / 'registry.yaml'} > datasets > {name}"
    assert all(problem.startswith(where) for problem in caught.value.problems)
    return [problem.removeprefix(where) for problem in caught.value.problems]


def test_the_registry_of_this_project() -> None:
    datasets = load_registry(ROOT / "data/registry.yaml")
    assert {"sample", "mts_dialog", "aci_bench"} <= set(datasets)
    assert not reader_problems(datasets)
    assert not datasets["sample"].files
    assert "invented" in datasets["sample"].title
    assert len(datasets["mts_dialog"].files) == 3
    assert len(datasets["aci_bench"].files) == 14
    private = {name for name, one in datasets.items() if one.files and one.access != "public"}
    assert private == {"scholarsum_arxiv"}  # its licence is not stated upstream


def test_its_facts_are_those_of_the_mirror(mirror: Path) -> None:
    manifest = mirror / "MANIFEST.tsv"
    if not manifest.is_file():
        pytest.skip("this mirror has no MANIFEST.tsv")
    rows = [line.split("\t") for line in manifest.read_text(encoding="utf-8").splitlines()]
    by_name = {(row[0], row[1]): row[2:] for row in rows}
    for dataset in load_registry(ROOT / "data/registry.yaml").values():
        for file in dataset.files:
            size, sha256, licence, url, commit = by_name[dataset.mirror, file.name]
            assert (int(size), sha256, url) == (file.bytes, file.sha256, file.url)
            assert (licence, commit) == (dataset.licence, dataset.commit)


def test_good(tmp_path: Path) -> None:
    dataset = load(tmp_path, GOOD)["mine"]
    assert dataset.files[0].bytes == 3
    own = load(tmp_path, OWN | {"folder": "data/mine"})["mine"]
    assert own.files == []


def test_every_problem_in_one_go(tmp_path: Path) -> None:
    file = {"name": "../a", "url": "ftp://example.org/a", "sha256": "0" * 64, "bytes": 3}
    bad = GOOD | {"mirror": "a/b", "files": [file, file]}
    assert problems(tmp_path, bad) == [
        " > mirror: must be the name of one folder, without a path",
        " > files: '../a' is there 2 times; keep one",
        *[
            " > files > '../a' > must be a file name, without a path",
            " > files > '../a' > url: must begin with https://",
            f" > files > '../a' > url: must name the commit {COMMIT}",
        ]
        * 2,
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"licence": None}, " > licence: Input should be a valid string"),
        ({"acces": "public"}, " > acces: unknown key; remove it or correct its spelling"),
        ({"access": "secret"}, " > access: Input should be 'public', 'credentialed' or 'private'"),
        ({"commit": ""}, " > commit: missing; a dataset with files needs it"),
        (
            {"files": [GOOD["files"][0] | {"sha256": "ABC"}]},  # type: ignore[index]
            " > files > 0 > sha256: String should match pattern '^[0-9a-f]{64}$'",
        ),
        (
            {"files": [GOOD["files"][0] | {"git_blob": "0" * 40}]},  # type: ignore[index]
            " > files > 0: must have sha256, or git_blob where that is not known; give one",
        ),
        (
            {"files": [GOOD["files"][0] | {"sha256": None}]},  # type: ignore[index]
            " > files > 0: must have sha256, or git_blob where that is not known; give one",
        ),
        (
            {"files": [GOOD["files"][0] | {"sha256": None, "git_blob": "0" * 8}]},  # type: ignore[index]
            " > files > 0 > git_blob: String should match pattern '^[0-9a-f]{40}$'",
        ),
        (
            {"files": [GOOD["files"][0] | {"bytes": 0}]},  # type: ignore[index]
            " > files > 0 > bytes: Input should be greater than 0",
        ),
    ],
)
def test_bad_entries(tmp_path: Path, change: dict[str, object], expected: str) -> None:
    assert problems(tmp_path, GOOD | change) == [expected]


def test_the_list_of_those_that_are_fetched_is_right(tmp_path: Path) -> None:
    path = tmp_path / "registry.yaml"
    own = OWN | {"folder": "data/own"}
    content = {"fetched": ["own", "gone"], "datasets": {"mine": GOOD, "own": own}}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load_registry(path)
    assert list(caught.value.problems) == [
        f"{path} > fetched: 'mine' has files; add it",
        f"{path} > fetched: 'own' is listed but has no files; take it out",
        f"{path} > fetched: 'gone' is not in datasets; remove it",
    ]


def two(tmp_path: Path, one: dict[str, object], other: dict[str, object]) -> list[str]:
    """What is said of the entries `mine` and `ward`, without where it is said."""
    path = tmp_path / "registry.yaml"
    datasets = {"mine": one, "ward": other}
    fetched = [name for name, entry in datasets.items() if entry.get("files")]
    path.write_text(yaml.safe_dump({"fetched": fetched, "datasets": datasets}), encoding="utf-8")
    try:
        load_registry(path)
    except BadInput as error:
        return [problem.removeprefix(f"{path} > datasets > ") for problem in error.problems]
    return []


PRIVATE = {"access": "private"}


@pytest.mark.parametrize(
    ("mine", "ward"),
    [
        ("data/ward", "data/ward"),
        ("data/ward/deep", "data/ward"),
        ("data", "data/ward"),
        (".", "data/ward"),
        ("../project/data/ward", "data/ward"),
        ("link", "data/ward"),
        ("link/deep", "data/ward"),
        ("not/there", "not/there/either"),
    ],
)
def test_folders_that_share_files_have_one_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: str, ward: str
) -> None:
    root = tmp_path / "project"
    (root / "data/ward/deep").mkdir(parents=True)
    (root / "link").symlink_to("data/ward")
    monkeypatch.chdir(root)
    one, other = OWN | {"folder": mine}, OWN | {"folder": ward}
    for first, second in ((one, other | PRIVATE), (other | PRIVATE, one)):
        (problem,) = two(tmp_path, first, second)
        assert "is private" in problem
        assert problem.endswith("share files; give both the same access, or separate the folders")
    assert two(tmp_path, one, other) == []


def test_links_in_a_circle_and_bytes_that_no_path_has_are_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert two(tmp_path, OWN | {"folder": "a"}, OWN | PRIVATE | {"folder": "data"}) == []
    assert not is_inside(Path("a\0"), Path("data"))
    assert not is_inside(Path("data"), Path("a\0"))


def test_a_copied_block_has_the_class_of_its_files(tmp_path: Path) -> None:
    private = GOOD | PRIVATE
    assert two(tmp_path, GOOD, private) == [
        "mine: is public, and 'ward' is private, but 'a.csv' and 'a.csv' have the same sha256; give"
        " both the same access"
    ]
    assert two(tmp_path, GOOD, GOOD) == two(tmp_path, private, private) == []
    lies_there = OWN | {"folder": "data/raw/ward"}
    (problem,) = two(tmp_path, lies_there, private)
    assert "data/raw/ward and data/raw/ward share files" in problem


def test_a_dataset_that_is_not_fetched_has_a_folder(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, OWN)
    assert problem.startswith(" > folder: missing; write where the dataset lies")
    for odd in ("a\0b", " a", "a\nb"):
        assert problems(tmp_path, OWN | {"folder": odd}) == [
            " > folder: has blanks at an end, or what does not print; clean it"
        ]
    assert problems(tmp_path, GOOD | {"folder": "data/mine"}) == [
        " > folder: fetched files lie in data/raw/mine; take it out"
    ]


def test_missing_key_and_bad_name(tmp_path: Path) -> None:
    entry = {key: value for key, value in GOOD.items() if key != "access"}
    assert problems(tmp_path, entry) == [" > access: missing; add it"]
    assert problems(tmp_path, GOOD, "../x") == [
        ": use letters, digits, _ and - of ASCII alone, first a letter or digit"
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"datasets: [", "not readable as YAML"),
        (b"datasets: {a: \xe9}", "not UTF-8 at byte 14; save it as UTF-8"),
        (b"", "must be a mapping"),
        (b"datasets:\n  a: {}\n  a: {}\n", "datasets > a: is there twice, in lines 2 and 3; keep"),
    ],
)
def test_a_file_that_is_no_registry(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "registry.yaml"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=expected):
        load_registry(path)
    with pytest.raises(BadInput, match="does not exist; run in the project's folder"):
        load_registry(tmp_path / "none.yaml")


def test_an_unknown_name_is_told_the_known_ones(tmp_path: Path) -> None:
    datasets = load(tmp_path, GOOD)
    assert find(datasets, "mine") is datasets["mine"]
    with pytest.raises(BadInput, match=r"'mien' is not in data/registry\.yaml; known: mine; add"):
        find(datasets, "mien")


def test_an_unknown_reader_is_told_the_known_ones(tmp_path: Path) -> None:
    (problem,) = reader_problems(load(tmp_path, GOOD | {"reader": "file"}))
    known = ", ".join(READERS)
    assert f"mine > reader: 'file' is not known; choose from {known}" in problem
    assert list(READERS) == sorted(READERS)
