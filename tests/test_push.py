"""What goes to a DVC remote beside the tables of the last run: those that were accepted."""

import hashlib
import json
from pathlib import Path

import pytest
import yaml
from dvc.repo import Repo

from flows import dag
from flows.push import _push_accepted, push
from metassay.core.errors import BadInput

SCORES, PAGE = "data/tables/one/scores.parquet", "reports/one"


class Project:
    """A project with a remote in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        (self.root / "benchmarks/one").mkdir(parents=True)
        self.remote = root / "remote"
        self.repo = Repo.init(str(self.root), no_scm=True)
        with self.repo.config.edit() as config:
            config["remote"]["team"] = {"url": str(self.remote)}
        self.repo.close()
        self.repo = Repo(str(self.root))

    def cached(self, content: str, end: str = "") -> str:
        """Put a file into DVC's cache; its hash."""
        md5 = hashlib.md5(content.encode(), usedforsecurity=False).hexdigest() + end
        file = self.root / ".dvc/cache/files/md5" / md5[:2] / md5[2:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        return md5

    def accept(self, **md5: str) -> None:
        """Name these as what the accepted run made."""
        outs = [{"path": path, "md5": digest} for path, digest in md5.items()]
        lock = {"schema": "2.0", "stages": {"aggregate": {"cmd": "a", "outs": outs}}}
        text = yaml.safe_dump(lock)
        (self.root / "benchmarks/one/accepted.lock").write_text(text, encoding="utf-8")

    def has(self, md5: str) -> bool:
        """Whether the remote has a file."""
        return (self.remote / "files/md5" / md5[:2] / md5[2:]).is_file()

    def push(self) -> int:
        return _push_accepted(self.repo, "team", self.root, "one")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_files_of_an_accepted_run_are_pushed_once_folders_with_what_is_in_them(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.push() == 0  # nothing accepted
    scores, index = project.cached("scores"), project.cached("page")
    listed = json.dumps([{"md5": index, "relpath": "index.html"}])
    page = project.cached(listed, ".dir")
    project.accept(
        **{SCORES: scores, PAGE: page, "benchmarks/one/headline.json": "0" * 32}
    )
    assert project.push() == 3
    assert all(map(project.has, (scores, index, page)))
    assert project.push() == 0
    assert capsys.readouterr().err == ""


def test_an_accepted_table_that_is_nowhere_is_told(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.accept(**{SCORES: "1" * 32})
    assert project.push() == 0
    err = capsys.readouterr().err
    assert f"one: of the accepted numbers {SCORES} are neither here nor in team" in err


def test_a_remote_that_is_not_there_is_named_with_those_that_are(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(dag, "plan", lambda *_, **__: dag.Plan({}, frozenset()))
    with pytest.raises(BadInput, match=r"no remote 'taem' here; .* there are: team"):
        push(project.root, "taem", ["one"])
