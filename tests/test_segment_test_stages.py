"""A test of segmentations through its doorways, where a model divides: faults, cost, clearance."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.cli.main import main
from metassay.cli.run_summary import print_summary
from metassay.core.exit_codes import INCOMPLETE
from metassay.core.params import load
from metassay.llm import client
from metassay.reporting.headline import answers_of, artifacts
from metassay.tables.notes import NOTES
from metassay.tables.parquet import read
from metassay.tables.segment_scores import SEGMENT_SCORES
from metassay.tables.sentences import SEGMENTED
from stages.doorway import BAD_INPUT
from tests.llm.batch_setup import QUICK
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    answer_with,
    failed,
    refused,
)
from tests.stage_setup import KEY, ROOT, SETTINGS, refresh_code, run_stage, tiny_project

TABLES = Path("data/tables/one")
CANARY = "canary-5c1d"
FACETS = ["background", "method", "result"]
BLOCK = {"kind": "llm_facets", "model": "m", "shots": 0, "rounds": 0, "facets": FACETS}
ABSTRACTS = {  # by a text's key, its sentences
    "fine": [f"Salt harms {CANARY}.", "We gave spoons.", "Intake fell."],
    "wrong": ["Fog closes harbours.", "We placed buoys.", "They warn in time."],
    "chats": ["Pumps are loud.", "We built a valve.", "Sound fell."],
    "declines": ["Bees dance.", "We filmed them.", "They agree."],
    "down": ["Keys get lost.", "We sold tags.", "Couples like them."],
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "k")
    monkeypatch.setattr(client, "Policy", lambda: QUICK)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(answer) as running:
        yield running


def answer(call: Call) -> Answer:
    """What becomes of each text is its key."""
    prompt = str(call.body["messages"][-1]["content"])
    key, text = next(
        (key, text) for key, text in ABSTRACTS.items() if text[1] in prompt
    )
    if key in ("chats", "declines", "down"):
        return {
            "chats": answer_with("Of course!"),
            "declines": refused(),
            "down": failed(503),
        }[key]
    segments = (
        [[text[0]], [text[1]], [text[2]]] if key == "fine" else [[], text[:2], []]
    )
    facets = dict(zip(FACETS, segments, strict=True))
    return answer_with(json.dumps({"items": [{"number": 1, "facets": facets}]}))


def project(root: Path, base_url: str, access: str = "public") -> Path:
    tiny_project(root, base_url, ["nothing"], access={"one": access}, max_missing=0.5)
    raw = root / "data/raw/one"
    raw.mkdir(parents=True)
    lines = [
        json.dumps({"doc_id": key, "sentences": text, "labels": FACETS})
        for key, text in ABSTRACTS.items()
    ]
    (raw / "abstracts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    settings = {
        "name": "one",
        "test": "segmentation",
        "dataset": "one",
        "raw": "data/raw/one",
        "options": {"labels": {}, "sample": None},
        "segmentations": ["mini", "whole"],
        "seen": {"whole": "fitted: to nothing, and that is invented"},
    }
    change(root / SETTINGS, lambda _: settings)
    change(
        root / "params.yaml",
        lambda p: p | {"segmentations": p["segmentations"] | {"mini": BLOCK}},
    )
    registered = root / "data/registry.yaml"
    change(registered, lambda r: r["datasets"]["one"].update(reader="sentences") or r)
    shutil.copy(ROOT / "benchmarks/sample_facets/dvc.yaml", root / SETTINGS.parent)
    shutil.copy(ROOT / "dvc.yaml", root)
    refresh_code(root)
    return root


def change(file: Path, how: Any) -> None:
    content = how(yaml.safe_load(file.read_text(encoding="utf-8")))
    file.write_text(yaml.safe_dump(content), encoding="utf-8")


def test_from_raw_files_to_the_page_with_every_fault_counted(
    tmp_path: Path,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    root = project(tmp_path, server.base_url)
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["validate"]) == 0
    assert main(["ledger", "cost", "one"]) == 0
    planned = capfd.readouterr().out
    assert "segment-mini" in planned
    assert "5" in planned
    assert not server.calls
    assert main(["list"]) == 0
    assert "tests of segmentations" in capfd.readouterr().out

    assert run_stage(monkeypatch, root, "ingest_sentences") == 0
    for name in ("mini", "whole"):
        assert run_stage(monkeypatch, root, "segment_sentences", name) == 0
    assert len(server.requests) == len(ABSTRACTS)
    mini = read(SEGMENTED, root / TABLES / "segmented/mini.parquet")
    labels = {key: rows["label"].tolist() for key, rows in mini.groupby("doc_id")}
    assert (labels["fine"], labels["wrong"]) == (FACETS, ["method", "method", "none"])
    statuses = {key: set(rows["status"]) for key, rows in mini.groupby("doc_id")}
    assert statuses == {
        "fine": {"ok"},
        "wrong": {"ok"},
        "chats": {"unparsed"},
        "declines": {"refused"},
        "down": {"error"},
    }
    assert mini.loc[mini["status"] != "ok", "label"].isna().all()
    notes = list(read(NOTES, root / TABLES / "notes/segment-mini.parquet")["note"])
    assert any("answers are missing (http_503 1)" in note for note in notes)

    assert run_stage(monkeypatch, root, "examine_segmentations") == 0
    scores = read(SEGMENT_SCORES, root / TABLES / "segment_scores.parquet")
    whole = scores[(scores["of"] == "all") & (scores["segmentation"] == "mini")]
    values = dict(zip(whole["statistic"], whole["value"], strict=True))
    assert values["accuracy"] == pytest.approx(4 / 6)
    assert values["failed"] == pytest.approx(9 / 15)
    assert values["accuracy_at_least"] == pytest.approx(4 / 15)
    assert values["accuracy_at_most"] == pytest.approx(13 / 15)
    assert run_stage(monkeypatch, root, "report_segmentations") == 0
    page = (root / "reports/one/page/data/head.js").read_text(encoding="utf-8")
    assert "It failed on 9 more, with which its accuracy is between .27 and .87" in page
    assert print_summary(["one"], load()) == INCOMPLETE
    output = capfd.readouterr().out
    assert "one: segmentations beside right labels" in output
    assert "6 of 15" in output
    assert CANARY not in output
    headline = artifacts(
        root / TABLES, answers_of(root / TABLES, ["segment-mini"]), ["segment_scores"]
    )
    assert list(headline) == ["segment_scores", "answers"]
    assert {row["segmentation"] for row in headline["segment_scores"]} == {
        "mini",
        "whole",
    }


def test_private_text_is_not_sent(
    tmp_path: Path,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    root = project(tmp_path, server.base_url, access="private")
    assert run_stage(monkeypatch, root, "ingest_sentences") == 0
    assert run_stage(monkeypatch, root, "segment_sentences", "mini") == BAD_INPUT
    assert "dataset 'one' is private" in capfd.readouterr().err
    # asks nobody
    assert run_stage(monkeypatch, root, "segment_sentences", "whole") == 0
    assert main(["ledger", "cost", "one"]) == 0
    output = " ".join(capfd.readouterr().out.split())
    assert "segment-mini would stop before it asks: dataset 'one' is private" in output
    assert not server.calls


def test_a_folder_that_is_wrong_is_told(
    tmp_path: Path,
    server: ScriptedServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch,
) -> None:
    root = project(tmp_path, server.base_url)
    monkeypatch.chdir(root)
    settings = yaml.safe_load((root / SETTINGS).read_text(encoding="utf-8"))

    def said_of(**changes: object) -> str:
        change(root / SETTINGS, lambda _: settings | changes)
        assert main(["validate"]) != 0
        return " ".join(capsys.readouterr().err.split())

    assert "options > sample: missing; add it" in said_of(options={"labels": {}})
    assert "segmentations: List should have at least 1 item" in said_of(
        segmentations=[]
    )
    assert "'nope' is not in params.yaml > segmentations" in said_of(
        segmentations=["nope"]
    )
    assert "'mini' is named twice" in said_of(segmentations=["mini", "mini"])
    assert "seen: 'lexical' is not among what it tries" in said_of(
        seen={"lexical": "unseen"}
    )
    settings["seen"] = {}
    judging = {"test": "segmenting", "judges": [], "published": []}
    del settings["segmentations"]
    assert "test: 'segmenting' is not known; choose from" in said_of(**judging)
    change(root / SETTINGS, lambda _: settings | {"segmentations": ["whole"]})
    registered = root / "data/registry.yaml"
    change(registered, lambda r: r["datasets"]["one"].update(reader="wice") or r)
    assert main(["validate"]) != 0
    assert "reader 'wice' does not suit test 'segmentation'" in capsys.readouterr().err
