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


def test_tables_hold_texts_of_the_dataset_and_of_what_systems_were_shown(project) -> None:
    params = load(project)
    assert datasets_in(params.benchmarks["one"], params) == ["one", "ward"]


def test_what_a_remote_may_not_have_is_refused_whole(project, capsys, monkeypatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(weekly, "run_flows", started.append)
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


def test_what_it_may_have_is_pushed_by_the_name_of_the_benchmark(project, monkeypatch) -> None:
    started = []

    def run(words: list[str], _: dict[str, str], *, module: str, passed_on: tuple[int, ...]) -> int:
        started.append((module, words, passed_on))
        return 5

    monkeypatch.setattr(weekly, "run_flows", run)
    change(project / "params.yaml", remotes={"team": ["credentialed", "private"]})
    assert main(["push", "one", "one", "--to", "team"]) == 5
    assert started == [("flows.push", ["team", "one"], (1,))]


def test_accepted_tables_go_only_where_their_class_of_then_and_of_today_may(
    project, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(weekly, "run_flows", lambda *_, **__: 0)
    change(project / "params.yaml", remotes={"team": ["credentialed", "private"], "none": []})

    def accepted(systems: dict[str, object], **access: str) -> None:
        entries = {f"datasets.{name}": {"access": one} for name, one in access.items()}
        stage = {"params": {"data/registry.yaml": entries, "params.yaml": systems}}
        lock = yaml.safe_dump({"stages": {"generate@mini": stage}})
        (project / "benchmarks/one/accepted.lock").write_text(lock, encoding="utf-8")

    accepted({}, letters="public", gone="public")
    assert main(["push", "one", "--to", "team"]) == 0  # private today, which the team may have
    change(project / "params.yaml", remotes={"team": ["credentialed"]})
    change(project / "data/registry.yaml", datasets=_public(project, "one", "ward"))
    assert main(["push", "one", "--to", "team"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("one: its accepted tables hold text of dataset 'letters', which is priv")
    assert line.endswith("else accept what is there now: `metassay watch accept one`")

    shown = {"systems.mini": CHAT | {"shots": 1, "examples": ["lost/dev/d000"]}}
    accepted(shown, one="private")  # of a time when it was; of `lost` nobody knows
    assert main(["push", "one", "--to", "team"]) == 2
    said = capsys.readouterr().err
    assert "text of dataset 'lost', which is private" in said
    assert "text of dataset 'one', which is private" in said

    accepted({"systems.mini": {"kind": "of another version"}})
    assert main(["push", "one", "--to", "team"]) == 2
    assert "it is not known whose texts" in capsys.readouterr().err


def test_an_accepted_lock_that_was_edited_is_not_taken_at_its_kindest_word(
    project, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(weekly, "run_flows", lambda *_, **__: 0)
    change(project / "params.yaml", remotes={"team": ["credentialed"]})
    change(project / "data/registry.yaml", datasets=_public(project, "one", "letters", "ward"))

    def said(*entries: object) -> str:
        stages = {str(n): {"params": {"data/registry.yaml": one}} for n, one in enumerate(entries)}
        lock = yaml.safe_dump({"stages": stages})
        (project / "benchmarks/one/accepted.lock").write_text(lock, encoding="utf-8")
        main(["push", "one", "--to", "team"])
        return capsys.readouterr().err

    private, public = ({"datasets.one": {"access": one}} for one in ("private", "public"))
    assert said(public, public) == ""
    assert "text of dataset 'one', which is private" in said(private, public)
    assert "names no dataset; so it is not known whose texts" in said({}, {})
    assert "text of dataset 'lost', which is private" in said({"datasets.lost": None})


def _public(project: Path, *names: str) -> dict[str, object]:
    datasets = yaml.safe_load((project / "data/registry.yaml").read_text(encoding="utf-8"))
    whole: dict[str, dict[str, object]] = datasets["datasets"]
    return whole | {name: whole[name] | {"access": "public"} for name in names}
