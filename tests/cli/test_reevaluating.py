"""What `metassay watch check` refuses before any stage is run."""

from pathlib import Path

import pytest
import yaml

from metassay.cli.main import main
from tests.stage_setup import CHAT, tiny_project

ACCEPTED = "benchmarks/one/accepted.lock"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schema: '2.0'\n<<<<<<< HEAD\nstages: {}\n", "the marks of a merge in line 2; take one"),
        (
            yaml.safe_dump({"stages": {"a": {"outs": [{"path": "data/tables/old", "md5": "0"}]}}}),
            "has no scores of one",
        ),
    ],
)
def test_accepted_numbers_that_cannot_be_compared_are_told_before_the_run(
    text: str, said: str, tmp_path, monkeypatch, capsys
) -> None:
    root = tiny_project(tmp_path, "http://127.0.0.1:9/v1", ["Nothing."], system=CHAT)
    monkeypatch.chdir(root)
    (root / ACCEPTED).write_text(text, encoding="utf-8")
    assert main(["watch", "check", "one", "--no-prefect"]) == 2
    assert f"{ACCEPTED}: " in (err := capsys.readouterr().err)
    assert said in err


@pytest.mark.parametrize("name", ["history", "history_means"])
def test_a_damaged_history_is_told_before_the_run(name: str, tmp_path, monkeypatch, capsys) -> None:
    root = tiny_project(tmp_path, "http://127.0.0.1:9/v1", ["Nothing."], system=CHAT)
    monkeypatch.chdir(root)
    file = Path(f"history/one/{name}.parquet")
    file.parent.mkdir(parents=True)
    file.write_bytes(b"PAR1")
    assert main(["watch", "check", "one", "--no-prefect"]) == 2
    assert f"`git checkout {file}` if it was committed" in capsys.readouterr().err
