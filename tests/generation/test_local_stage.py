"""Models on this machine through the doorway of generate: no server, no key, no request."""

from pathlib import Path
from typing import Any

import pytest

from metassay.tables.documents import TEXTS
from metassay.tables.parquet import read
from metassay.tables.responses import RESPONSES
from stages.doorway import BAD_INPUT
from tests.stage_setup import run_stage, tiny_project

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.generation.test_local import COMMON, STYLE
from tests.models.tiny import bart, llama

NOWHERE = "http://127.0.0.1:9/v1"
LONG = "the stairs hurt " * 2000  # more tokens than either model reads
PASSAGES = ["how is the knee?", "", LONG, "it hurts", "when i climb"]


def written(
    monkeypatch: pytest.MonkeyPatch, root: Path, model: Path, system: dict[str, Any]
) -> dict[str, str]:
    """Let the stage write, and give the status of each document after what holds of every run."""
    tiny_project(root, NOWHERE, PASSAGES, system=COMMON | {"model": str(model)} | system)
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    texts = read(TEXTS, root / "data/tables/one/texts/writer.parquet")
    assert texts["doc_id"].tolist() == [f"d{number:03}" for number in range(len(PASSAGES))]
    assert set(texts["author"]) == {"writer"}
    assert (texts["text"].notna() == (texts["status"] == "ok")).all()
    assert texts["recipe"].str.startswith(f"{system['kind']}|").all()
    # Nobody was asked, and the ledger was not even opened.
    assert read(RESPONSES, root / "data/tables/one/responses/generate-writer.parquet").empty
    assert not list((root / ".work").glob("ledger*"))
    return dict(zip(texts["doc_id"], texts["status"], strict=True))


def test_an_encoder_decoder_writes_and_failed_documents_are_rows(
    tmp_path, monkeypatch, capfd
) -> None:
    model = bart(tmp_path / "bart", ends=list(range(8, 300, 6)))
    root = tmp_path / "project"
    system = {"kind": "seq2seq", "prefix": "summarize: ", "too_long": "fail"}
    found = written(monkeypatch, root, model, system)
    assert (found["d001"], found["d002"]) == ("error", "truncated")
    rest = [found[name] for name in ("d000", "d003", "d004")]
    assert "ok" in rest
    assert set(rest) <= {"ok", "unparsed", "truncated"}
    said = capfd.readouterr().err
    assert "note: writer: doc_id 'd002', part 'full': the input has" in said
    assert "nothing was written" in said
    assert "stairs" not in said

    first = (root / "data/tables/one/texts/writer.parquet").read_bytes()
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    assert (root / "data/tables/one/texts/writer.parquet").read_bytes() == first

    cut = written(monkeypatch, root, model, system | {"too_long": "cut"})
    assert {name: cut[name] for name in found if name != "d002"} == {
        name: status for name, status in found.items() if name != "d002"
    }
    assert "only its beginning was read" in capfd.readouterr().err


def test_a_prompted_model_writes_and_failed_documents_are_rows(
    tmp_path, monkeypatch, capfd
) -> None:
    found = written(
        monkeypatch, tmp_path / "project", llama(tmp_path / "llama"), STYLE | {"kind": "causal"}
    )
    assert (found["d001"], found["d002"]) == ("error", "truncated")
    rest = [found[name] for name in ("d000", "d003", "d004")]
    assert "ok" in rest
    assert set(rest) <= {"ok", "unparsed", "truncated"}
    said = capfd.readouterr().err
    assert "doc_id 'd002'" in said
    assert "stairs" not in said


def test_a_model_that_is_not_there_stops_the_stage_with_a_remedy(
    tmp_path, monkeypatch, capfd
) -> None:
    system = COMMON | {"kind": "seq2seq", "model": str(tmp_path / "nowhere")}
    root = tiny_project(tmp_path / "project", NOWHERE, PASSAGES, system=system)
    assert run_stage(monkeypatch, root, "generate", "writer") == BAD_INPUT
    assert "nowhere" in capfd.readouterr().err
    assert not (root / "data/tables/one/texts/writer.parquet").exists()
