"""`metassay improve`: from labels to a better judge, at an endpoint on this machine."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from metassay.api.labels import Choices
from metassay.cli.main import main
from metassay.core.exit_codes import INCOMPLETE, REFUSED
from metassay.core.params import load
from metassay.datasets.clearance import open_labels_session
from metassay.judges.candidates import Candidate
from metassay.project.claim_labels import read_claim_labels
from metassay.project.improvement import search
from metassay.statistics.judge_choice import split_documents
from metassay.tabular.files import read_sheet
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings
from tests.cli.judge_project import make_judge_project
from tests.judges.llm_setup import asked_in, reply_of
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    answer_with,
    failed,
)

OUT = Path("improved/mini")
CAREFUL = "Compare each number with the premise."
REWRITTEN = "INSTRUCTIONS\nAnswer as people do. Weigh all units.\nEND"


def draw(*parts: object) -> float:
    """A number from 0 to 1 that depends on the parts alone."""
    text = "|".join(map(str, parts))
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def judge_by_prompt(call: Call) -> Answer:
    """Answer rightly in 70 %, after a careful prompt in 97; write careful prompts."""
    system = str(call.body["messages"][0]["content"])
    if "You improve the instructions" in system:
        return answer_with(REWRITTEN)
    questions = asked_in(str(call.body["messages"][-1]["content"]))
    careful = CAREFUL in system or "Weigh all units" in system
    style = "plain"
    if "ANSWERS" in system:
        style = "cot"
    if '"label"' in system:
        style = "json_cot" if "reasons first" in call.prompt else "json"
    entries = []
    for item in questions.items:
        claim = item["hypothesis"]
        is_true = claim in questions.material
        is_right = draw(claim, len(system)) < (0.97 if careful else 0.7)
        label = "entailed" if is_true == is_right else "not_entailed"
        entry = {"number": item["number"], "reason": "so", "label": label}
        entries.append(entry)
    return answer_with(reply_of(style, entries))


def write_labels(file: Path, documents: int) -> None:
    """Two claims a document, of which about half hold; people are right."""
    rows = []
    for number in range(documents):
        for drug in ("aspirin", "insulin"):
            dose = 10 + number
            claim = f"Patient {number} takes {dose} units of {drug}."
            holds = draw(number, drug) < 0.5
            dose_there = dose if holds else dose + 1
            premise = f"Patient {number} takes {dose_there} units of {drug}."
            rows.append(
                {
                    "id": f"r{number}-{drug}",
                    "doc_id": f"d{number}",
                    "premise": premise,
                    "claim": claim,
                    "human": "supported" if holds else "unsupported",
                }
            )
    pd.DataFrame(rows).to_csv(file, index=False)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(judge_by_prompt) as running:
        yield running


@pytest.fixture
def project(
    tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The example's project with a language model as judge `mini`; the working folder."""
    root = tmp_path / "project"
    return make_judge_project(
        root, server, monkeypatch, judge="mini", sends=("private",)
    )


def add_careful_prompt() -> None:
    """Add a variant of the question's prompt, as a user would: a copy with a sentence more."""
    text = Path("prompts/judge-entailment.yaml").read_text(encoding="utf-8")
    head, middle, tail = text.partition("user: |\n")
    careful = f"{head}\n  {CAREFUL}\n{middle}{tail}"
    Path("prompts/judge-entailment-careful.yaml").write_text(careful, encoding="utf-8")


def planned_in(output: str) -> dict[str, int]:
    """Return the number of questions by stage, of the table of prices."""
    rows = re.findall(r"^ *(\S.*?)  +(\d+) +\d+ +about", output, re.MULTILINE)
    return {stage: int(questions) for stage, questions in rows}


IMPROVE = ["improve", "mini", "labels.csv", "--pass", "supported"]


def test_a_better_prompt_is_found_told_and_costs_nothing_again(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 120)
    add_careful_prompt()
    # Without a terminal, the price is printed and nothing is asked.
    assert main([*IMPROVE, "--try", "prompts", "styles"]) == REFUSED
    output = capsys.readouterr()
    assert "in total about" in output.out
    typed = output.err.splitlines()[-1].split()
    assert not server.requests
    # The remedy is followed.
    assert main(typed[1:]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "is prompt judge-entailment-careful" in printed
    assert "take prompt judge-entailment-careful" in printed
    assert "prompts/judge-entailment-careful.yaml" in printed
    assert "1,000 rows cost with mini:" in printed
    n_asked = sum(server.requests.values())
    # The same command asks nothing, so that nothing is to be confirmed.
    before = (OUT / "candidates.csv").read_bytes()
    assert main([*IMPROVE, "--try", "prompts", "styles"]) == 0
    assert sum(server.requests.values()) == n_asked
    assert (OUT / "candidates.csv").read_bytes() == before
    # The block works: the judge is one of params.yaml.
    block = yaml.safe_load((OUT / "judge.yaml").read_text(encoding="utf-8"))
    file = project / "params.yaml"
    params = yaml.safe_load(file.read_text(encoding="utf-8"))
    params["judges"] |= block["judges"]
    file.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    again = ["improve", "mini_improved", *IMPROVE[2:], "--try", "thresholds"]
    assert main(again) == 0
    assert sum(server.requests.values()) == n_asked
    capsys.readouterr()
    # The card is one that travels.
    assert (OUT / "card/card.csv").exists()
    wrong = pd.read_csv(OUT / "wrong.csv")
    assert {"key", "mini", "hypothesis"} <= {*wrong.columns}
    assert (wrong["mini"] != wrong["label"]).mean() > 0.8


def test_only_the_present_and_the_chosen_judge_read_rows_that_tell(
    project: Path, server: ScriptedServer
) -> None:
    write_labels(project / "labels.csv", 40)
    add_careful_prompt()
    assert main([*IMPROVE, "--try", "prompts", "--yes"]) == 0
    # 80 rows: 40 choose, of two judges; 40 tell, of two judges.
    assert sum(server.requests.values()) == 160
    server.requests.clear()
    assert main([*IMPROVE, "--try", "prompts", "styles", "--yes"]) == 0
    assert sum(server.requests.values()) == 3 * 40


def test_a_model_rewrites_from_rows_that_do_not_choose(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 120)
    seen: list[str] = []

    def script(call: Call) -> Answer:
        if "You improve the instructions" in str(call.body["messages"][0]["content"]):
            seen.append(str(call.body["messages"][1]["content"]))
        return judge_by_prompt(call)

    server.script = script
    rewrite = [*IMPROVE, "--with", "m", "--try", "thresholds"]
    assert main([*rewrite, "--yes"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "take rewrite 1" in printed
    assert "3 answers of m held no new instructions" in printed
    written = yaml.safe_load((OUT / "mini_improved.yaml").read_text(encoding="utf-8"))
    assert "Weigh all units." in written["system"]
    n_asked = sum(server.requests.values())
    assert main(rewrite) == 0
    assert sum(server.requests.values()) == n_asked
    # What the model saw neither chose nor told.
    wrong = pd.read_csv(OUT / "wrong.csv")
    assert seen
    assert not any(text in " ".join(seen) for text in wrong["hypothesis"])


def test_sets_of_labelled_examples_are_shown_to_the_judge(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 60)
    assert main([*IMPROVE, "--try", "shots", "--yes"]) == 0
    table = pd.read_csv(OUT / "candidates.csv")
    assert [*table["judge"]][:3] == ["mini", "3 shots", "labelled shots 1"]
    file = Path(".work/improve/mini/mini_shots_1.yaml")
    prompt = yaml.safe_load(file.read_text(encoding="utf-8"))
    labels = [item["label"] for each in prompt["examples"] for item in each["items"]]
    assert {"entailed", "not_entailed"} == {*labels}
    assert "keep" in capsys.readouterr().out.casefold()


def test_thresholds_and_named_judges_need_no_model(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 40)
    words = ["improve", "lexical", "labels.csv", "--pass", "supported"]
    assert main([*words, "--beside", "lexical_strict"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "note: no prompts: a judge of kind lexical has none" in output
    assert "improve lexical asks no language model and costs nothing" in output
    table = pd.read_csv("improved/lexical/candidates.csv")
    assert {"present", "thresholds", "judges"} == {*table["change"]}
    assert not server.requests


def test_rows_that_a_cascade_decides_early_cost_no_second_judge(
    project: Path, server: ScriptedServer
) -> None:
    write_labels(project / "labels.csv", 60)
    add_careful_prompt()
    params = load()
    mini = params.judges["mini"]
    # Two equal answers to each question, so that it is sure of everything.
    sure = {
        **mini,
        "probability": "samples",
        "samples": {"k": 2},
        "prompts": {"entailment": "prompts/judge-entailment-careful.yaml"},
    }
    cascade = {
        "kind": "cascade",
        "unsure": [0.1, 0.9],
        "members": {"first": sure, "then": mini},
    }
    sheet = read_sheet(Path("labels.csv"), Findings())
    assert sheet is not None
    choices = Choices(passes=("supported",), caller=Caller.TERMINAL)
    claims = read_claim_labels(sheet, "entailment", {}, choices)
    rng = np.random.default_rng(0)
    parts = split_documents(claims.cluster, rng, shows=False)
    prices = []
    with open_labels_session(params, "labels.csv", None, None) as session:
        for block in (sure, cascade):
            candidates = [
                Candidate("mini", "present", mini),
                Candidate("other", "judges", block),
            ]
            result = search(candidates, claims, parts, session, by="agreement", seed=0)
            assert result.is_better
            prices.append(result.per_1000["other"])
    assert prices[0] == prices[1]
    assert prices[0] != result.per_1000["mini"]


def test_few_labels_keep_the_judge_and_ask_nothing(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 8)
    assert main([*IMPROVE, "--yes"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "Keep mini: about 1,256 labelled rows would show a gain of .05" in output
    assert not server.requests


def test_private_texts_stay_until_the_endpoint_may_have_them(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 40)
    file = project / "params.yaml"
    text = file.read_text(encoding="utf-8")
    closed = text.replace("    sends:\n    - private\n", "")
    assert closed != text
    file.write_text(closed, encoding="utf-8")
    assert main([*IMPROVE, "--try", "styles", "--yes"]) == REFUSED
    error = capsys.readouterr().err
    assert "'labels.csv' is private" in error
    assert not server.requests
    file.write_text(text, encoding="utf-8")
    assert main([*IMPROVE, "--try", "styles", "--yes"]) == 0


def test_a_cap_stops_before_anything_is_asked(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 40)
    words = [*IMPROVE, "--try", "styles", "--yes"]
    assert main([*words, "--max-cost", "0.001"]) == REFUSED
    assert "the expected price is" in capsys.readouterr().err
    assert not server.requests


def test_a_cap_needs_prices(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 40)
    file = project / "params.yaml"
    params = yaml.safe_load(file.read_text(encoding="utf-8"))
    prices = params["models"]["m"].pop("prices")
    file.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    words = [*IMPROVE, "--try", "styles", "--yes", "--max-cost", "5"]
    assert main(words) == REFUSED
    assert "models > m has no prices" in capsys.readouterr().err
    assert not server.requests
    # The remedy.
    zero = {**prices, "input_per_million": 0.0, "output_per_million": 0.0}
    params["models"]["m"]["prices"] = zero
    file.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    assert main(words) == 0


def test_the_price_has_the_rows_that_tell_of_a_rewrite_and_of_another_judge(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 120)
    add_careful_prompt()
    prompts = [*IMPROVE, "--try", "prompts"]
    assert main(prompts) == REFUSED
    first = planned_in(capsys.readouterr().out)
    assert first["mini, to tell"] == 120
    assert first["prompt judge-entailment-careful, to tell"] == 120
    # What the ledger has of the present judge answers nothing for its rewrites.
    assert main([*prompts, "--yes"]) == 0
    capsys.readouterr()
    assert main([*prompts, "--with", "m"]) == REFUSED
    output = capsys.readouterr().out
    then = planned_in(output)
    assert then["rewrite 4, about"] == 80
    assert then["a rewrite to tell, about"] == 120
    total = re.search(r"in total about ([\d.]+) USD", output)
    assert total is not None
    # 440 questions of more than 300 tokens, at 1 USD per million.
    assert float(total[1]) > 440 * 300 / 1e6


def test_missing_answers_end_incomplete_and_the_same_command_goes_on(
    project: Path, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 40)
    server.script = lambda call: (
        failed(400) if "Patient 7 " in call.prompt else judge_by_prompt(call)
    )
    words = [*IMPROVE, "--try", "styles", "--yes"]
    assert main(words) == INCOMPLETE
    assert "the same command asks for them again" in capsys.readouterr().out
    server.script = judge_by_prompt
    assert main(words) == 0


def test_words_that_are_not_known_are_named_with_the_nearest(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(project / "labels.csv", 40)
    words = ["improve", "minni", "labels.csv", "--try", "promts", "--with", "n"]
    assert main(words) == REFUSED
    error = capsys.readouterr().err
    assert "did you mean 'mini'?" in error
    assert "did you mean 'prompts'?" in error
    assert "models has no 'n'" in error
    # Labels whose words say nothing are asked about.
    assert main(IMPROVE[:3]) == REFUSED
    assert "--pass" in capsys.readouterr().err
