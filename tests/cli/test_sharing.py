"""Which tables may be pushed where."""

from pathlib import Path

import pytest
import yaml

from metassay.cli import weekly
from metassay.cli.main import main
from metassay.cli.weekly import datasets_in
from metassay.core.params import load
from tests.stage_setup import CHAT, tiny_project

ACCESS = {"one": "credentialed", "ward": "private", "letters": "private"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Its system is shown an example of another dataset."""
    shown = {"shots": 1, "examples": ["ward/dev/d000"]}
    root = tiny_project(
        tmp_path,
        "http://127.0.0.1:9/v1",
        ["Nothing."],
        access=ACCESS,
        system=CHAT | shown,
        examples="data/raw/ward",
    )
    monkeypatch.chdir(root)
    return root


def change(file: Path, **changes: object) -> None:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump(content | changes), encoding="utf-8")


def test_what_a_remote_may_not_have_is_refused_whole(project, capsys, monkeypatch):
    params = load(project)
    assert datasets_in(params.benchmarks["one"], params) == ["one", "ward"]
    started: list[object] = []
    monkeypatch.setattr(weekly, "run_flows", started.append)
    change(
        project / "params.yaml",
        remotes={"team": ["credentialed"], "other": ["private"]},
    )
    assert main(["push", "one", "--to", "nobody"]) == 2
    first, _ = capsys.readouterr().err.splitlines()
    assert first.startswith(
        "one: its tables hold text of dataset 'one', which is credentialed"
    )
    assert first.endswith("add 'credentialed' to params.yaml > remotes > nobody")
    assert main(["push", "one", "--to", "team"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert (
        "dataset 'ward', which is private: they do not go to DVC's remote 'team'"
        in line
    )
    change(project / "params.yaml", remotes={"team": ["public"]})
    assert main(["push", "one", "--to", "team"]) == 2
    assert "> remotes > team > 0: must be 'credentialed'" in capsys.readouterr().err
    assert not started

    def run(
        words: list[str], _: dict[str, str], *, module: str, passed_on: tuple[int, ...]
    ) -> int:
        started.append((module, words, passed_on))
        return 5

    monkeypatch.setattr(weekly, "run_flows", run)
    change(project / "params.yaml", remotes={"team": ["credentialed", "private"]})
    assert main(["push", "one", "one", "--to", "team"]) == 5
    assert started == [("flows.push", ["team", "one"], (1,))]


def test_accepted_tables_go_only_where_their_class_of_then_and_of_today_may(
    project, capsys, monkeypatch
):
    monkeypatch.setattr(weekly, "run_flows", lambda *_, **__: 0)
    change(
        project / "params.yaml",
        remotes={"team": ["credentialed", "private"], "none": []},
    )

    def push(*entries: dict[str, str | None], **systems: object) -> str:
        """The problems, where stages of the accepted lock read these classes and systems."""
        stages = {}
        for n, access in enumerate(entries):
            read = {
                f"datasets.{d}": {"access": a} if a else None for d, a in access.items()
            }
            named = {f"systems.{name}": block for name, block in systems.items()}
            stages[str(n)] = {
                "params": {"data/registry.yaml": read, "params.yaml": named}
            }
        lock = yaml.safe_dump({"stages": stages})
        (project / "benchmarks/one/accepted.lock").write_text(lock, encoding="utf-8")
        code, error = main(["push", "one", "--to", "team"]), capsys.readouterr().err
        assert code == (2 if error else 0)
        return str(error)

    # Private today, which the team may have; then it may not.
    assert push({"letters": "public", "gone": "public"}) == ""
    change(project / "params.yaml", remotes={"team": ["credentialed"]})
    change(project / "data/registry.yaml", datasets=_public(project, "one", "ward"))
    (line,) = push({"letters": "public", "gone": "public"}).splitlines()
    assert line.startswith(
        "one: its accepted tables hold text of dataset 'letters', which is priv"
    )
    assert line.endswith("else accept what is there now: `metassay watch accept one`")
    private = "text of dataset '{}', which is private"
    # Of a time when it was; of `lost` nobody knows.
    error = push(
        {"one": "private"}, mini=CHAT | {"shots": 1, "examples": ["lost/dev/d000"]}
    )
    assert private.format("lost") in error
    assert private.format("one") in error
    unknown = "it is not known whose texts"
    assert unknown in push({}, mini={"kind": "of another version"})
    # A lock that was edited is not taken at its kindest word.
    assert push({"one": "public"}, {"one": "public"}) == ""
    assert private.format("one") in push({"one": "private"}, {"one": "public"})
    assert f"names no dataset; so {unknown}" in push({}, {})
    assert private.format("lost") in push({"lost": None})


def _public(project: Path, *names: str) -> dict[str, object]:
    datasets = yaml.safe_load(
        (project / "data/registry.yaml").read_text(encoding="utf-8")
    )
    whole: dict[str, dict[str, object]] = datasets["datasets"]
    return whole | {name: whole[name] | {"access": "public"} for name in names}
