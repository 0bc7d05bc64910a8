"""`metassay show NAME --html FILE`: texts are sent only if their access class is public."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

from metassay.cli.main import main
from tests.conftest import ROOT
from tests.page.invented import Invented
from tests.page.test_single_file import read_blocks


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the sample's params, and a report of invented texts."""
    for name in ("params.yaml", "benchmarks"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "data").mkdir()
    shutil.copy(ROOT / "data/registry.yaml", tmp_path / "data/registry.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("access", ["public", "credentialed", "private"])
def test_the_access_class_says_whether_the_file_has_texts(
    project: Path, capsys: pytest.CaptureFixture[str], access: str
) -> None:
    Invented(2, 2).write(project / "reports/sample")
    registry = project / "data/registry.yaml"
    entries = yaml.safe_load(registry.read_text("utf-8"))
    benchmark = yaml.safe_load((ROOT / "benchmarks/sample/params.yaml").read_text())
    datasets = entries.get("datasets", entries)
    datasets[benchmark["dataset"]]["access"] = access
    registry.write_text(yaml.safe_dump(entries), "utf-8")
    assert main(["show", "sample", "--html", "sent.html"]) == 0
    blocks = read_blocks((project / "sent.html").read_bytes())
    assert ("documents/0" in blocks) == (access == "public")
    has = "with" if access == "public" else "without"
    assert f"the report {has} its texts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["scores"], "table scores is"),
        (["--csv", "-"], "--csv is"),
        (["scores", "--csv", "-", "--all"], "table scores and --csv and --all are"),
    ],
)
def test_what_a_report_in_one_file_cannot_read_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    Invented(2, 2).write(project / "reports/sample")
    assert main(["show", "sample", *words, "--html", "sent.html"]) == 2
    error = capsys.readouterr().err
    assert f"so {named} no use here" in " ".join(error.split())
    assert not (project / "sent.html").exists()
    # What the line says to type does it.
    (command,) = re.findall(r"`metassay (show[^`]+)`", error)
    assert main(shlex.split(command)) == 0
    assert (project / "sent.html").exists()


def test_without_a_report_the_command_that_makes_it_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "sample", "--html", "sent.html"]) == 2
    assert "metassay run sample makes it" in capsys.readouterr().err
    assert not (project / "sent.html").exists()
