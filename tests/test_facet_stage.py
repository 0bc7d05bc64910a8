"""segment through its doorway, where a model finds the facets: faults, repetition, clearance."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from metassay.cli.main import main
from metassay.llm import client
from metassay.llm.ledger import Ledger, import_
from metassay.llm.session import LEDGER
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.notes import NOTES
from metassay.tables.parquet import read, write
from metassay.tables.parts import PARTS
from metassay.tables.responses import RESPONSES
from stages.doorway import BAD_INPUT
from tests.llm.batch_setup import QUICK
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    answer_with,
    cut,
    failed,
    refused,
)
from tests.stage_setup import KEY, SETTINGS, refresh_code, run_stage, tiny_project

CANARY = "canary-83b2"
TABLES = "data/tables/one"
OUTPUTS = [
    f"{TABLES}/{name}.parquet"
    for name in ("parts", "responses/segment", "notes/segment")
]
BLOCK = {
    "kind": "llm_facets",
    "model": "m",
    "shots": 1,
    "rounds": 1,
    "facets": ["background", "method", "result", "conclusion"],
}
KINDS = ["fine", "invents", "declines", "long", "chats", "mends", "down"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "k")
    monkeypatch.setattr(client, "Policy", lambda: QUICK)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(faulty) as running:
        yield running


def answer(**named: list[str]) -> Answer:
    facets = {name: named.get(name, []) for name in BLOCK["facets"]}
    return answer_with(json.dumps({"items": [{"number": 1, "facets": facets}]}))


def faulty(call: Call) -> Answer:
    """What a text's last word says; texts that mend are read when they are asked about again."""
    prompt = str(call.body["messages"][-1]["content"])
    if "It mends." in prompt and call.key not in seen(call):
        return answer_with("Here are the facets:")
    kinds = {
        "declines": refused(),
        "long": cut('{"items": ['),
        "chats": answer_with("Of course!"),
        "down": failed(503),
        "invents": answer(
            result=["The knee hurts.", "The patient is well."], method=["Rest."]
        ),
    }
    kind = next(kind for kind in KINDS if f"It {kind}." in prompt)
    return kinds.get(kind) or answer(
        result=["the knee hurts"], conclusion=[f"It {kind}."]
    )


def seen(call: Call) -> set[str]:
    """The keys of what was asked again: the second round has another key than the first."""
    return {call.key} if call.number > len(KINDS) else set()


def project(root: Path, base_url: str, kinds: list[str], **changes: Any) -> Path:
    """The tiny project with a given text per kind, which a model divides."""
    texts = [f"The knee hurts. It {kind}." for kind in kinds]
    tiny_project(root, base_url, texts, **changes)
    name(root, systems=[], few_shot={})
    rows = [
        (f"d{n:03}", "given_system", "full", text, "ok", "given")
        for n, text in enumerate(texts)
    ]
    frame = pd.DataFrame(rows, columns=list(TEXTS.columns))
    write(TEXTS, frame, root / TABLES / "texts/given.parquet")
    return root


def name(root: Path, **lists: Any) -> None:
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    params["segmentations"]["facets"] = BLOCK
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    settings = yaml.safe_load((root / SETTINGS).read_text(encoding="utf-8"))
    changed = settings | {"segmentation": "facets"} | lists
    (root / SETTINGS).write_text(yaml.safe_dump(changed), encoding="utf-8")
    refresh_code(root)


def test_every_fault_is_a_status_of_all_facets_and_a_clone_repeats_it_to_the_byte(
    tmp_path: Path,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    first = project(tmp_path / "first", server.base_url, KINDS, max_missing=0.5)
    assert run_stage(monkeypatch, first, "segment") == 0
    parts = read(PARTS, first / OUTPUTS[0]).query("part != 'full'")
    segments = {
        (doc_id, part): (text if isinstance(text, str) else None, list(made_up), status)
        for doc_id, part, text, made_up, status in parts[
            ["doc_id", "part", "text", "made_up", "status"]
        ].itertuples(index=False)
    }
    assert {key: value for key, value in segments.items() if value[2] == "ok"} == {
        ("d000", "result"): ("The knee hurts", [], "ok"),
        ("d000", "conclusion"): ("It fine.", [], "ok"),
        ("d001", "method"): ("", ["Rest."], "ok"),
        ("d001", "result"): ("The knee hurts.", ["The patient is well."], "ok"),
        ("d005", "result"): ("The knee hurts", [], "ok"),
        ("d005", "conclusion"): ("It mends.", [], "ok"),
    }
    for number, status in (
        (2, "refused"),
        (3, "truncated"),
        (4, "unparsed"),
        (6, "error"),
    ):
        of_document = {
            key[1]: value
            for key, value in segments.items()
            if key[0] == f"d{number:03}"
        }
        assert sorted(of_document) == sorted(BLOCK["facets"])
        assert all(value == (None, [], status) for value in of_document.values())
    notes = list(read(NOTES, first / OUTPUTS[2])["note"])
    assert (
        notes[0] == "questions that were answered: at first 2 of 7, in round 1 1 of 2"
    )
    assert notes[1] == "1 answer could not be read: the reply is not JSON (1)"
    assert notes[2].startswith(
        "the model returned 7 segments for 3 text(s): 3 are in their text"
    )
    assert notes[3] == "segments that are made up, by author: given_system 2 of 7"
    assert "1 of 9 answers are missing (http_503 1)" in notes[4]
    assert "knee" not in "".join(capfd.readouterr())
    assert len(read(RESPONSES, first / OUTPUTS[1])) == 9  # two were asked about again

    outputs = [(first / name).read_bytes() for name in OUTPUTS]
    sent = server.requests.total()
    monkeypatch.delenv(KEY)
    clone = project(tmp_path / "clone", server.base_url, KINDS)
    with Ledger(clone / LEDGER) as ledger:
        import_(ledger, [first / OUTPUTS[1]])
    assert run_stage(monkeypatch, clone, "segment") == 0
    assert [(clone / name).read_bytes() for name in OUTPUTS] == outputs
    assert server.requests.total() == sent


def test_private_text_and_texts_that_repeat_private_examples_are_not_sent(
    tmp_path: Path,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    root = project(
        tmp_path / "project",
        server.base_url,
        [f"fine. {CANARY}"],
        access={"one": "private"},
    )
    assert run_stage(monkeypatch, root, "segment") == BAD_INPUT
    output = "".join(capfd.readouterr())
    assert "dataset 'one' is private" in output

    access = {"one": "public", "ward": "credentialed"}
    root = project(
        tmp_path / "other", server.base_url, [f"fine. {CANARY}"], access=access
    )
    frame = read(TEXTS, root / TABLES / "texts/given.parquet")
    frame["recipe"] = "chat(m|examples:ward/dev/e1|seed:1)"
    write(TEXTS, frame, root / TABLES / "texts/given.parquet")
    assert run_stage(monkeypatch, root, "segment") == BAD_INPUT
    output += "".join(capfd.readouterr())
    assert "dataset 'ward' is credentialed" in output

    put = root / "data/raw/one"
    put.mkdir(parents=True, exist_ok=True)
    sources = read(SOURCES, root / TABLES / "sources.parquet")
    (put / "sources.jsonl").write_text(
        json.dumps(
            {"doc_id": "d1", "task": "note", "passages": list(sources["passages"][0])}
        ),
        encoding="utf-8",
    )
    (put / "texts.jsonl").write_text(
        json.dumps(
            {
                "doc_id": "d1",
                "author": "reference",
                "text": f"The {CANARY} hurts. It is.",
            }
        ),
        encoding="utf-8",
    )
    (put / "ratings.csv").write_text(
        "study,doc_id,author,rater,criterion,value\n", encoding="utf-8"
    )
    assert main(["ledger", "cost", "one"]) == 0
    shown_text = "".join(capfd.readouterr())
    assert "segment" in shown_text
    assert "the facets of 1 text(s) are not known yet" in " ".join(shown_text.split())
    assert CANARY not in output + shown_text
    assert not server.calls
