"""DocLens's tables 21 to 27 by a language model of one's own, on invented notes."""

import datetime
import json
from pathlib import Path

import pytest
import yaml

from metassay.cli.main import main as metassay
from metassay.core.errors import BadInput
from metassay.core.params import load
from metassay.project.own_model import OwnModel
from papers import with_model
from papers.draw import Outcome, draw_paper, inputs_in
from papers.index import find_records
from papers.with_model import BENCHMARK, NAME, PROMPTS, SHOTS, prepare, system_name
from tests.conftest import ROOT
from tests.dag_setup import lines_of
from tests.judges.llm_setup import asked_in, reply_of
from tests.llm.scripted_server import Answer, Call, ScriptedServer, answer_with
from tests.papers.test_own_copies import run_stages

DAY = datetime.date(2026, 11, 1)
NOTE = "CHIEF COMPLAINT\nKnee pain [1].\n\nPLAN\nIce [3][5]."


@pytest.fixture
def root(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


def model_at(address: str) -> OwnModel:
    return OwnModel(model="lab/tiny-1", base_url=address, prices=(0.15, 0.6, "USD"))


def answer(call: Call) -> Answer:
    """A model that does as it is told; the one that judges finds all but claims on ice."""
    last = str(call.body["messages"][-1]["content"])
    if call.is_claims:
        claims = ["The patient has knee pain.", "The patient will use ice."]
        return answer_with(json.dumps({"items": [{"number": 1, "claims": claims}]}))
    if call.is_judging:
        question = asked_in(last)
        named = {"passages": [1]} if "statement" in question.items[0] else {}
        entries = [
            {"number": item["number"], **verdict(item, named)}
            for item in question.items
        ]
        return reply_with(entries)
    return answer_with(NOTE)


def verdict(item: dict[str, object], named: dict[str, object]) -> dict[str, object]:
    if "ice" in str(item.get("hypothesis", "")):
        return (
            {"label": "not_entailed", "passages": []}
            if named
            else {"label": "not_entailed"}
        )
    return {"label": "entailed", **named}


def reply_with(entries: list[dict[str, object]]) -> Answer:
    return answer_with(reply_of("json", entries))


def shorten(root: Path) -> None:
    """Two invented notes in place of the 40, and no examples, which lie elsewhere."""
    for name in ("sources.jsonl", "texts.jsonl", "ratings.csv"):
        lines = lines_of(ROOT / "data/sample" / name, ("note_01", "note_02"))
        (root / "data/sample" / name).write_text(
            "\n".join(lines) + "\n", encoding="utf-8"
        )
    path = root / "benchmarks" / BENCHMARK / "params.yaml"
    params = yaml.safe_load(path.read_text("utf-8"))
    params |= {"dataset": "sample", "raw": "data/sample", "few_shot": {}}
    criteria = yaml.safe_load(
        (root / "benchmarks/sample/params.yaml").read_text("utf-8")
    )
    params["criteria"] = criteria["criteria"]
    path.write_text(yaml.safe_dump(params), encoding="utf-8")


def draw(root: Path, out: Path) -> Outcome:
    records = [
        record
        for record in find_records(root)["doclens"]
        if record.name.endswith("_model")
    ]
    return draw_paper(records, inputs_in(root), out, store=out / "store", version="1")


@pytest.mark.slow
def test_the_tables_are_filled_by_the_model(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(answer) as server:
        prepare(root, model_at(server.base_url), DAY)
        shorten(root)
        run_stages(monkeypatch, BENCHMARK)
    prompts = {str(call.body["messages"][0]["content"]) for call in server.calls}
    assert any("Cite every passage that" in prompt for prompt in prompts)
    claims = [call for call in server.calls if call.is_claims]
    assert {len(call.body["messages"]) for call in claims} == {6}, "two examples"
    outcome = draw(root, tmp_path / "drawn")
    assert not outcome.damaged
    assert sorted(outcome.drawn) == [
        f"table{number}_model" for number in (21, 22, 23, 25, 26, 27)
    ]
    table = (tmp_path / "drawn/table21_model.md").read_text("utf-8")
    (row,) = (line for line in table.splitlines() if "Your model, full, 0-shot" in line)
    assert "50.00" in row, "one of two claims holds"
    assert "100.00" in row, "all citations do"
    assert "48.31" in row, "GPT-4's claim recall in print"


def test_blocks_and_benchmark_are_valid_and_stand_in_the_records(root: Path) -> None:
    prepare(root, model_at("http://127.0.0.1:9/v1"), DAY)
    assert metassay(["validate"]) == 0
    benchmark = load().benchmarks[BENCHMARK]
    names = {system_name(unit, shots) for unit in PROMPTS for shots in SHOTS}
    assert set(benchmark.writers) == names
    assert benchmark.judges == benchmark.decompositions == [NAME]
    assert not [
        record.name
        for record in find_records(root)["doclens"]
        if record.name.endswith("_model") and record.open
    ]


def test_a_second_model_is_refused_with_what_to_change(root: Path) -> None:
    prepare(root, model_at("http://127.0.0.1:9/v1"), DAY)
    before = (root / "params.yaml").read_bytes()
    with pytest.raises(BadInput, match="models > doclens"):
        prepare(root, model_at("http://127.0.0.1:8/v1"), DAY)
    assert (root / "params.yaml").read_bytes() == before


def test_the_price_comes_before_anything_is_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []

    def run(words: list[str]) -> int:
        commands.append(words)
        return 0

    monkeypatch.setattr(with_model, "metassay", run)
    words = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    assert with_model.main(words) == 0
    assert commands == [
        ["run", "aci_bench", "aci_bench_train", "--only", "fetch"],
        ["ledger", "cost", BENCHMARK],
    ]
    assert f"metassay run {BENCHMARK}" in capsys.readouterr().out
