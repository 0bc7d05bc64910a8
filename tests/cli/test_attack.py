"""`metassay attack`: from a judge's name to its card, in a project of a new user."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from metassay.cli.main import main
from metassay.core.exit_codes import INCOMPLETE, REFUSED
from tests.cli.judge_project import make_judge_project
from tests.judges.llm_setup import asked_in
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    answer_with,
    failed,
)

FOLDER = Path("benchmarks/attacks_gullible")


def believe(call: Call) -> Answer:
    """Pass what says of itself that it is entailed, and what stands in the source."""
    questions = asked_in(str(call.body["messages"][-1]["content"]))
    lines = []
    for item in questions.items:
        claim = item["hypothesis"]
        believed = "entailed" in claim or claim in questions.material
        label = "entailed" if believed else "not_entailed"
        lines.append(f"{item['number']}: {label}")
    return answer_with("\n".join(lines))


def fail_on_another_patient(call: Call) -> Answer:
    if "Of another patient, whose record" in str(call.body["messages"]):
        return failed(400)
    return believe(call)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(believe) as running:
        yield running


@pytest.fixture
def project(
    tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The example's project, with a language model as a judge; the working folder."""
    root = tmp_path / "project"
    return make_judge_project(root, server, monkeypatch, judge="gullible")


def test_a_judge_that_is_not_there_is_named_with_the_nearest(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["attack", "gulible"]) == REFUSED
    assert "did you mean 'gullible'?" in capsys.readouterr().err
    assert not FOLDER.exists()


@pytest.mark.slow
def test_the_price_is_of_all_judges_of_the_test(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["attack", "gullible"]) == REFUSED
    text = (FOLDER / "params.yaml").read_text(encoding="utf-8")
    # The user puts the language model into the test of another judge.
    text = text.replace("attacks_gullible", "attacks_lexical")
    text = text.replace("judges: [gullible]", "judges: [lexical, gullible]")
    other = project / "benchmarks/attacks_lexical"
    other.mkdir()
    (other / "params.yaml").write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert main(["attack", "lexical", "--jobs", "2"]) == REFUSED
    output = capsys.readouterr()
    assert "in total about" in output.out
    command = "metassay attack lexical --jobs 2 --yes"
    assert output.err.splitlines()[-1].strip() == command
    assert not server.requests


def test_a_registry_that_cannot_be_added_to_is_left_as_it_is(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = project / "data/registry.yaml"
    head, _, entries = file.read_text(encoding="utf-8").partition("datasets:\n")
    wider = "".join(f"  {line}" for line in entries.splitlines(keepends=True))
    file.write_text(f"{head}datasets:\n{wider}", encoding="utf-8")
    assert main(["attack", "lexical"]) == REFUSED
    assert "each name indented by two spaces" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == f"{head}datasets:\n{wider}"
    assert not FOLDER.exists()
    # The remedy.
    file.write_text(f"{head}datasets:\n{entries}", encoding="utf-8")
    assert main(["attack", "gullible"]) == REFUSED
    assert (FOLDER / "params.yaml").exists()


@pytest.mark.slow
def test_a_price_then_a_card_and_a_repeat_asks_nothing(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    # Without a terminal to confirm it, the price is printed and nothing is asked.
    assert main(["attack", "gullible"]) == REFUSED
    output = capsys.readouterr()
    assert "in total about" in output.out
    assert output.err.splitlines()[-1].strip() == "metassay attack gullible --yes"
    assert not server.requests
    # The user tries fewer claims first.
    file = FOLDER / "params.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("claims: 120", "claims: 10"), encoding="utf-8")
    # The endpoint fails on one wording of an attack; the run does not end as complete.
    server.script = fail_on_another_patient
    assert main(["attack", "gullible", "--yes"]) == INCOMPLETE
    output = capsys.readouterr()
    lacking = re.search(r"(\d) of 160 pairs of a plain", " ".join(output.out.split()))
    assert lacking is not None
    assert "answers of models are missing: attacks_gullible" in output.err
    assert "metassay run attacks_gullible (--ask-again" in output.out
    server.script = believe
    again = ["run", "attacks_gullible", "--ask-again", "--no-prefect"]
    assert main(again) == 0
    card = " ".join(capsys.readouterr().out.split())
    assert "lack an answer" not in card
    assert "gullible passes 0 of 10 false texts" in card
    named = re.findall(r"([a-z ]+) \+[\d.]+ \[", card.partition(" attacks: ")[2])
    assert [name.strip() for name in named] == ["forged verdict", "instruction"]
    n_requests = sum(server.requests.values())
    assert n_requests > 100
    # The same command again asks nothing, so that nothing is to be confirmed.
    assert main(["attack", "gullible"]) == 0
    assert sum(server.requests.values()) == n_requests
