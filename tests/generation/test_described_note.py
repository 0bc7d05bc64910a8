"""Notes of described patients: two questions, four parts, and rubrics that read them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from metassay.cli.main import main
from metassay.core.options import parse
from metassay.generation.described_note import (
    KIND,
    PARTS,
    DescribedNoteOptions,
    divide_note,
    write_notes,
)
from metassay.llm.messages import ChatRequest, Reply
from metassay.llm.needs import Model, Resources, Use
from metassay.llm.prompts import Decoding
from metassay.project.make import set_key
from metassay.project.own_model import add_blocks
from metassay.reporting.contract_page import TABLES
from metassay.tables.documents import TEXTS
from metassay.tables.parquet import read, round_trip
from tests.conftest import ROOT
from tests.judges.llm_setup import values_in
from tests.llm.scripted_server import Answer, Call, ScriptedServer, answer_with

PROMPTS = ROOT / "prompts"
DECODING = Decoding("invented-1", 0.0, 7, 500)
DESCRIPTION = "Cough: yes, dry. Fever: no. Do not mention chest pain."
NOTE = "History\nA dry cough, no fever.\n\nPhysical Examination\nThe lungs are clear."
COMPACT = "Hx: dry cough, ∅ fever. PE: lungs clear."


class ScriptedModel:
    """Answers each wave of questions; keeps the material of each question."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.answer = answer
        self.waves: list[list[str]] = []

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        materials = [request.messages[-1].content for request in requests]
        self.waves.append(materials)
        return [
            self._reply(request, self.answer(material))
            for request, material in zip(requests, materials, strict=True)
        ]

    def _reply(self, request: ChatRequest, answer: str) -> Reply:
        if answer in ("refused", "truncated", "error"):
            return Reply(request.key, answer, None, None, None, None, 1, "code")  # type: ignore[arg-type]
        return Reply(request.key, "ok", answer, "stop", 9, 9, 1)


def options(**changes: Any) -> DescribedNoteOptions:
    return parse(DescribedNoteOptions, {"model": "m", **changes}, where="test")


def sources(*passages: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "doc_id": [f"d{n}" for n in range(len(passages))],
            "passages": [[text] for text in passages],
        }
    )


def written(answer: Callable[[str], str], *passages: str) -> dict[str, list[Any]]:
    """Text and status of each part of each document, which fit the table."""
    texts = write_notes(
        sources(*passages),
        "s",
        options(),
        ScriptedModel(answer),
        DECODING,
        prompts=PROMPTS,
    )
    round_trip(TEXTS, texts)
    rows = texts.astype(object).where(texts.notna(), None).to_dict("records")
    assert [row["part"] for row in rows] == [*PARTS] * len(passages)
    return {
        f"{row['doc_id']} {row['part']}": [row["text"], row["status"]] for row in rows
    }


def both(material: str) -> str:
    return COMPACT if "compact version" in material else NOTE


def test_a_note_is_written_and_then_written_again_in_short() -> None:
    ask = ScriptedModel(both)
    texts = write_notes(
        sources(DESCRIPTION), "s", options(), ask, DECODING, prompts=PROMPTS
    )
    assert texts["text"].tolist() == [
        NOTE,
        "A dry cough, no fever.",
        "The lungs are clear.",
        COMPACT,
    ]
    (first,), (second,) = ask.waves
    assert json.dumps([DESCRIPTION]) in first
    assert json.dumps(NOTE) in second, "the whole note, and not its description"
    assert DESCRIPTION not in second
    (recipe,) = texts["recipe"].unique()
    assert "|prompt:write-described-note#" in recipe
    assert "|rewrite:rewrite-compact#" in recipe


def test_each_document_gets_its_own_notes_in_any_order_of_the_sources() -> None:
    names = ["c", "a", "d", "b"]
    frame = pd.DataFrame(
        {"doc_id": names, "passages": [[f"Patient {name}."] for name in names]}
    )
    frame.loc[1, "passages"][0] = " "  # of a there is no description

    def answer(material: str) -> str:
        name = next(name for name in names if f"atient {name}." in material)
        if name == "b":
            return "refused"
        return (
            f"Short, patient {name}."
            if "compact version" in material
            else (f"History\nOf patient {name}.\nPhysical Examination\nClear.")
        )

    texts = write_notes(
        frame, "s", options(), ScriptedModel(answer), DECODING, prompts=PROMPTS
    )
    rows = texts.set_index(["doc_id", "part"])
    assert rows.loc["a", "status"].tolist() == ["error"] * 4
    assert rows.loc["b", "status"].tolist() == ["refused"] * 4
    for name in ("c", "d"):
        assert rows.loc[(name, "history"), "text"] == f"Of patient {name}."
        assert rows.loc[(name, "compact"), "text"] == f"Short, patient {name}."


@pytest.mark.parametrize(
    "note",
    [
        "**History**\nCough.\n\n**Physical Examination**\nClear.",
        "## HISTORY:\n\nCough.\n## PHYSICAL EXAMINATION:\nClear.\n",
        "Here it is.\n\nHistory:\nCough.\nPhysical examination:\n\nClear.",
    ],
)
def test_headings_are_read_as_models_write_them(note: str) -> None:
    assert divide_note(note) == {"history": "Cough.", "physical_examination": "Clear."}


@pytest.mark.parametrize(
    "note",
    [
        "History\nCough.",
        "Physical Examination\nClear.\nHistory\nCough.",
        "History\n\nPhysical Examination\nClear.",
        "History: cough. Physical examination: clear.",
        "The history is long.\nPhysical Examination\nClear.",
        "",
    ],
)
def test_a_note_without_both_parts_cannot_be_read(note: str) -> None:
    assert divide_note(note) is None
    parts = written(lambda _: note, DESCRIPTION)
    assert set(map(tuple, parts.values())) == {(None, "unparsed")}


@pytest.mark.parametrize("status", ["refused", "truncated", "error"])
def test_what_failed_has_its_status_and_the_rest_goes_on(status: str) -> None:
    def answer(material: str) -> str:
        return status if "Nausea" in material else both(material)

    parts = written(answer, DESCRIPTION, "Nausea: yes.", " ")
    assert parts["d0 compact"] == [COMPACT, "ok"]
    assert {parts[f"d1 {part}"][1] for part in PARTS} == {status}
    assert {parts[f"d2 {part}"][1] for part in PARTS} == {"error"}  # no description

    def without_compact(material: str) -> str:
        return status if "compact version" in material else NOTE

    parts = written(without_compact, DESCRIPTION)
    assert parts["d0 full"] == [NOTE, "ok"]
    assert parts["d0 compact"] == [None, status]


def test_an_estimate_knows_both_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ask = ScriptedModel(both)
    resources = Resources(Path(), Model(ask, DECODING))
    texts = KIND.write(sources(DESCRIPTION), "s", options(), resources).texts
    assert KIND.requests is not None
    assert KIND.follow_up is not None
    first = KIND.requests(sources(DESCRIPTION), options(), DECODING, Path()).requests
    second = KIND.follow_up(texts, options(), DECODING).requests
    materials = [
        [request.messages[-1].content for request in wave] for wave in (first, second)
    ]
    assert materials == ask.waves
    assert KIND.model(options(max_tokens=9)) == Use("m", 9)
    assert [file.path.name for file in KIND.files(options())] == [
        "write-described-note.yaml",
        "rewrite-compact.yaml",
    ]


# ---- the whole way: notes by a model, graded by a model ------------------------------------------

RESPIRATORY = {
    "note_type": "respiratory",
    "symptoms": {"cough": "yes, dry", "fever": "no"},
    "unmentioned": ["chest pain"],
    "conditions": ["asthma"],
}
BLOCKS = """\
endpoints:
  here: {{kind: openai, base_url: "{address}"}}
models:
  local:
    {{endpoint: here, model: m, max_tokens: 800,
     prices: {{date: "2026-11-01", input_per_million: 1, output_per_million: 2, currency: USD}}}}
systems:
  writer: {{kind: described_note, model: local}}
judges:
  grader: {{kind: llm, model: local, style: json, per_call: part, shots: 0, rounds: 0}}
"""


def reply(call: Call) -> Answer:
    """A model that writes, and that gives each scale its second best level."""
    question = str(call.body["messages"][-1]["content"])
    if not call.is_judging:
        return answer_with(both(question))
    entries = [
        {"number": item["number"], "quotes": [], "grade": int([*item["levels"]][-2])}
        if "levels" in item
        else {"number": item["number"], "violations": []}
        for item in values_in(question)[-1]
    ]
    return answer_with(json.dumps({"items": entries}))


@pytest.mark.slow
def test_notes_and_their_compact_versions_are_written_and_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "simulated"]) == 0
    monkeypatch.chdir("simulated")
    source = {
        "doc_id": "p1",
        "task": "other",
        "passages": [DESCRIPTION],
        "attributes": RESPIRATORY,
    }
    by_doctor = [
        {"doc_id": "p1", "author": "doctor", "part": part, "text": text}
        for part, text in (divide_note(NOTE) or {}).items()
    ]
    for name, text in (
        ("sources.jsonl", json.dumps(source) + "\n"),
        ("texts.jsonl", "".join(json.dumps(row) + "\n" for row in by_doctor)),
        ("ratings.csv", "study,doc_id,author,rater,criterion,value\n"),
    ):
        Path("data/sample", name).write_text(text, encoding="utf-8")
    benchmark = Path("benchmarks/simulated/params.yaml")
    text = benchmark.read_text(encoding="utf-8")
    for key, value in (
        ("systems", "[writer]"),
        ("segmentation", "soap"),
        ("questions", "[]"),
        ("rubrics", "[note_respiratory]"),
        ("judges", "[grader]"),
        ("metrics", "[lengths]"),
        ("design", "{}"),
    ):
        text = set_key(text, key, f"{key}: {value}\n")
    benchmark.write_text(text, encoding="utf-8")
    with ScriptedServer(reply) as server:
        blocks = yaml.safe_load(BLOCKS.format(address=server.base_url))
        params = add_blocks(Path("params.yaml").read_text("utf-8"), blocks)
        Path("params.yaml").write_text(params, encoding="utf-8")
        assert main(["update"]) == 0
        capsys.readouterr()
        assert main(["ledger", "cost", "simulated"]) == 0
        estimated = capsys.readouterr().out
        assert "generate-writer (follow-up)" in " ".join(estimated.split())
        assert not server.calls
        assert main(["run", "simulated", "--no-prefect"]) == 0
        n_calls = len(server.calls)
        capsys.readouterr()
        assert main(["ledger", "cost", "simulated"]) == 0
        after = capsys.readouterr().out
        assert "in total about 0.0000 USD, at most 0.0000" in after
        assert len(server.calls) == n_calls
    scores = read(TABLES["scores"], Path("data/tables/simulated/scores.parquet"))
    by_author = scores[scores["part"] == "full"].set_index(["author", "metric"])[
        "value"
    ]
    assert by_author["doctor", "note_respiratory_realism_hist"] == 4
    values = by_author["writer"]
    assert values["note_respiratory_1A"] == 0
    assert values["note_respiratory_compact_content"] == 4
    assert values["note_respiratory_compact_readability"] == 4
    assert values["note_respiratory_realism_phys"] == 4
    # one question for the note, one for its compact version
    assert sum(not call.is_judging for call in server.calls) == 2
