"""A dvc.yaml or dvc.lock that a merge or a full disk left broken is named, with its line."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from metassay.cli.main import main
from metassay.core.merges import dvc_problems

ROOT = Path(__file__).parent.parent
LOCK = "benchmarks/sample/dvc.lock"
CONFLICT = "<<<<<<< HEAD\n{0}=======\n{0}>>>>>>> other\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("dvc.yaml", "dvc.lock", "benchmarks/sample/dvc.yaml", LOCK):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def conflict(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[:3]) + CONFLICT.format("".join(lines[3:]))


def within_a_value(text: str) -> str:
    return text[: text.index("md5: ") + 3]


BROKEN: dict[str, tuple[str, Callable[[str], str], str]] = {
    "lock conflict": (LOCK, conflict, "line 4: a merge left both sides"),
    "lock cut": (LOCK, within_a_value, "line 9: "),
    "lock empty": (LOCK, lambda _: "", "is empty"),
    "lock of zeros": (LOCK, lambda text: "\0" * len(text), "not readable as YAML"),
    "lock is a list": (LOCK, lambda _: "- a\n", "lacks schema and stages"),
    "lock has one stage twice": (
        LOCK,
        lambda t: t + t[t.index("  ingest:") :],
        "occurs twice",
    ),
    "the datasets' lock": ("dvc.lock", conflict, "line 4: a merge left both sides"),
    "stages conflict": (
        "benchmarks/sample/dvc.yaml",
        conflict,
        "line 4: a merge left both sides",
    ),
    "datasets' stages conflict": (
        "dvc.yaml",
        conflict,
        "line 4: a merge left both sides",
    ),
    "stages cut": ("dvc.yaml", lambda t: t[: t.index("stages:")], "lacks stages"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_each_is_one_line_with_file_and_remedy(project: Path, fault: str) -> None:
    name, broken, says = BROKEN[fault]
    assert dvc_problems(project, ["sample"]) == []
    file = project / name
    file.write_text(broken(file.read_text(encoding="utf-8")), encoding="utf-8")
    problems = [
        problem for problem in dvc_problems(project, ["sample"]) if says in problem
    ]
    assert problems, dvc_problems(project, ["sample"])
    assert problems[0].startswith(name)
    assert "\n" not in problems[0]
    assert (
        "or delete it: the next run writes it again" in problems[0]
    ) == name.endswith(".lock")


def test_words_that_dvc_writes_without_quotes_are_no_fault(project: Path) -> None:
    with (project / LOCK).open("a", encoding="utf-8") as lock:
        lock.write(
            "  other:\n    cmd: run\n    params:\n      params.yaml:\n        a: yes\n"
        )
        lock.write("        b: =\n        c: 0o17\n")
    assert dvc_problems(project, ["sample"]) == []


def test_what_cannot_be_a_file_or_is_not_there(project: Path) -> None:
    (project / LOCK).unlink()
    assert dvc_problems(project, ["sample"]) == []  # nothing was run yet
    (project / LOCK).mkdir()
    (project / "benchmarks/sample/dvc.yaml").unlink()
    first, second = dvc_problems(project, ["sample"])
    assert first.startswith(
        "benchmarks/sample/dvc.yaml does not exist; `metassay update` writes"
    )
    assert "dvc.lock: cannot be read: Is a directory; put a file there" in second


def test_validate_names_all_of_them(
    clone: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = Path(shutil.copytree(clone, tmp_path / "project", symlinks=True))
    monkeypatch.chdir(root)
    for name in ("versions.yaml", LOCK):
        file = root / name
        file.write_text(conflict(file.read_text(encoding="utf-8")), encoding="utf-8")
    assert main(["validate"]) == 2
    err = capsys.readouterr().err
    assert f"{LOCK}: line 4: a merge left both sides in the file; keep one" in err
    assert "versions.yaml: line 4: a merge left both sides in the file; keep one" in err
    assert "`metassay update` writes it again" in err
