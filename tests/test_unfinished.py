"""Which stages are run again because answers of language models are missing."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import yaml

from flows.reasons import can_ask_again, lacks_answers, response_files
from metassay.tables.parquet import read, write
from metassay.tables.responses import RESPONSES

KEY = "METASSAY_TEST_KEY"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two endpoints, of which one has a key."""
    block = {"kind": "openai", "base_url": "https://llm.example/v1"}
    content = {
        "endpoints": {
            "with": block | {"key_env": KEY},
            "without": block | {"key_env": "NO_KEY"},
        },
        "models": {
            place: {"endpoint": place, "model": f"at-{place}", "max_tokens": 9}
            for place in ("with", "without")
        },
    }
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(KEY, "k")
    return tmp_path / "data/tables/one"


def stage(folder: Path, *rows: tuple[str, str]) -> Any:
    """A stage of DVC's whose answers, each of a model, came to these: `ok`, or a code."""
    frame = pd.DataFrame(
        [
            {
                "key": str(number),
                "request": json.dumps({"model": model}),
                "status": "ok" if why == "ok" else "error",
                "finish_reason": "stop" if why == "ok" else why,
                "prompt_tokens": None,
                "completion_tokens": None,
                "text": None,
            }
            for number, (model, why) in enumerate(rows)
        ],
        columns=list(RESPONSES.columns),
    )
    outs = [folder / "texts/a.parquet", folder / "responses/generate-a.parquet"]
    write(RESPONSES, frame, outs[1])
    return SimpleNamespace(outs=[SimpleNamespace(fs_path=str(out)) for out in outs])


@pytest.mark.parametrize(
    ("rows", "again"),
    [
        ([], False),
        ([("at-with", "ok")], False),
        ([("at-with", "ok"), ("at-with", "http_400")], False),
        *(([("at-with", f"http_{status}")], True) for status in (401, 402, 404, 425)),
        ([("at-with", "ok"), ("at-with", "timeout")], True),
        ([("at-without", "timeout")], False),
        ([("at-without", "timeout"), ("at-with", "http_500")], True),
        ([("gone", "timeout")], False),
    ],
)
def test_whoever_has_a_key_asks_again_for_what_may_come(
    folder: Path, rows: list[tuple[str, str]], again: bool
) -> None:
    run = stage(folder, *rows)
    assert response_files(run) == [folder / "responses/generate-a.parquet"]
    assert can_ask_again(run) is again
    assert lacks_answers(run) is any(
        why != "ok" for _, why in rows
    )  # for good, or nobody can be asked


@pytest.mark.parametrize("content", [None, b"", b"PAR1 and no more"])
def test_what_is_not_there_or_damaged_is_left_to_dvc(
    folder: Path, content: bytes | None
) -> None:
    run = stage(folder, ("at-with", "timeout"))
    (file,) = response_files(run)
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    assert not can_ask_again(run)


@pytest.mark.parametrize("request_", ["{", "{}", "[]"])
def test_answers_to_what_is_no_question_are_left_to_dvc(
    folder: Path, request_: str
) -> None:
    run = stage(folder, ("at-with", "timeout"))
    (file,) = response_files(run)
    write(RESPONSES, read(RESPONSES, file).assign(request=request_), file)
    assert not can_ask_again(run)


def test_a_stage_that_asks_nobody_is_not_looked_at(folder: Path) -> None:
    assert (
        response_files(
            SimpleNamespace(
                outs=[SimpleNamespace(fs_path=str(folder / "parts.parquet"))]
            )
        )
        == []
    )
