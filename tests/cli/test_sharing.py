"""Which tables may be pushed where."""

from pathlib import Path

import pytest
import yaml

from metassay.cli import sharing
from metassay.cli.main import main
from metassay.cli.sharing import datasets_in
from metassay.params import load
from tests.stage_setup import CHAT, tiny_project

ACCESS = {"one": "credentialed", "ward": "private", "letters": "private"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its system is shown an example of another dataset."""
    shown = {"shots": 1, "examples": ["ward/dev/d000"]}
    root = tiny_project(
        *(tmp_path, "http://127.0.0.1:9/v1", ["Nothing."]),
        **{"access": ACCESS, "system": CHAT | shown, "examples": "data/raw/ward"},
    )
    monkeypatch.chdir(root)
    return root


def change(file: Path, **changes: object) -> None:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump(content | changes), encoding="utf-8")


def test_tables_hold_texts_of_the_dataset_and_of_what_systems_were_shown(project: Path) -> None:
    params = load(project)
    assert datasets_in(params.benchmarks["one"], params) == ["one", "ward"]


def test_what_a_remote_may_not_have_is_refused_whole(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr(sharing.subprocess, "run", started.append)
    change(project / "params.yaml", remotes={"team": ["credentialed"], "other": ["private"]})
    assert main(["push", "one", "--to", "nobody"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert said[0].startswith("one: its tables hold text of dataset 'one', which is credentialed")
    assert said[0].endswith("add 'credentialed' to params.yaml > remotes > nobody")
    assert main(["push", "one", "--to", "team"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "dataset 'ward', which is private: they do not go to DVC's remote 'team'" in line
    change(project / "params.yaml", remotes={"team": ["public"]})
    assert main(["push", "one", "--to", "team"]) == 2
    assert "> remotes > team > 0: Input should be 'credentialed'" in capsys.readouterr().err
    assert not started


def test_what_it_may_have_is_pushed_by_the_name_of_the_benchmark(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def run(command: list[str], *, check: bool) -> object:
        started.append((command[1:], check))
        return type("Done", (), {"returncode": 5})

    monkeypatch.setattr(sharing.subprocess, "run", run)
    change(project / "params.yaml", remotes={"team": ["credentialed", "private"]})
    assert main(["push", "one", "one", "--to", "team"]) == 5
    assert started == [(["-m", "flows.push", "team", "one"], False)]
