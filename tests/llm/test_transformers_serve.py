"""A real server with a real (tiny, untrained) model: its nonsense has to end as statuses.

`transformers serve` answers over HTTP with usage and finish_reason, so this goes all
the way from the prompt files through client and ledger to rows.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from metassay.core.options import parse
from metassay.generation.chat import ChatOptions, write_chat
from metassay.judges.llm import LlmJudge
from metassay.llm.endpoints import ModelOptions
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from metassay.llm.messages import Ask, ChatRequest, Reply
from metassay.llm.prompts import Decoding
from metassay.tables.documents import TEXTS
from metassay.tables.parquet import write
from metassay.text.headings import SECTIONS
from metassay.units.llm import LlmClaimOptions, llm_claims
from tests.judges.llm_setup import options, pair
from tests.llm import batch_setup

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")
pytest.importorskip("tokenizers", reason="needs metassay[models]")
pytest.importorskip("accelerate", reason="transformers serve needs it")
pytest.importorskip("uvicorn", reason="transformers serve needs it")

from tests.models.tiny import llama  # noqa: E402 - it needs them

PROMPTS = Path(__file__).parents[2] / "prompts"
SECONDS_TO_START = 180


class Served(NamedTuple):
    """A running server and the name of its model."""

    base_url: str
    model: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = llama(tmp_path_factory.mktemp("model") / "tiny-llama", places=8192)
    ends = list(range(2, 300, 9))  # so many that some answers come to an end
    transformers.GenerationConfig(eos_token_id=ends, pad_token_id=0).save_pretrained(
        folder
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("serve") / "log"
    command = [
        str(Path(sys.executable).with_name("transformers")),
        "serve",
        str(folder),
    ]
    command += ["--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    env = {**os.environ, "HF_HUB_OFFLINE": "1"}
    with log.open("wb") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, env=env)
        try:
            _wait(f"http://127.0.0.1:{port}/health", server, log)
            yield Served(f"http://127.0.0.1:{port}/v1", str(folder))
        finally:
            server.terminate()
            server.wait(30)


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        assert server.poll() is None, log.read_text(errors="replace")[-2000:]
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(log.read_text(errors="replace")[-2000:])


class Recorder:
    """Passes questions on, and collects every reply."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.replies: list[Reply] = []

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        replies = self.ask(requests)
        self.replies += replies
        return replies


@pytest.fixture
def asking(served: Served, tmp_path: Path) -> Iterator[tuple[Recorder, Decoding]]:
    """The real client on a fresh ledger, and a decoding of at most 24 tokens."""
    model = ModelOptions(endpoint="here", model=served.model, seed=1, max_tokens=24)
    patience = Policy(attempts=2, first_wait=0.1)
    settings = {"concurrency": 2, "timeout": 120.0, "structured": True}
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ask = batch_setup.asking(
            served.base_url, ledger, patience, of=model, **settings
        )
        yield Recorder(ask), Decoding.choose(model)


PASSAGES = [["how is the knee?", "it hurts on stairs"], ["any fever?", "no"], ["hm"]]
STATUSES = {"ok", "unparsed", "refused", "truncated", "error"}


def sources() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "doc_id": ["d0", "d1", "d2"],
            "task": "note",
            "passages": PASSAGES,
            "speaker": [
                ["doctor", "patient"][: len(passages)] for passages in PASSAGES
            ],
            "group": [[""] * len(passages) for passages in PASSAGES],
            "attributes": None,
        }
    )


def test_every_section_of_every_document_has_a_row(asking, tmp_path) -> None:
    ask, decoding = asking
    block: dict[str, Any] = {
        "model": "tiny",
        "unit": "section",
        "citations": True,
        "shots": 0,
    }
    block |= {"examples": [], "example_citations": "none"}
    writing = parse(ChatOptions, block, where="test")
    texts = write_chat(sources(), "tiny", writing, ask, decoding, prompts=PROMPTS)
    assert len(texts) == len(ask.replies) == len(PASSAGES) * len(SECTIONS)
    assert set(texts["status"]) <= STATUSES
    assert (texts["text"].notna() == (texts["status"] == "ok")).all()
    cut = sum(reply.finish_reason == "length" for reply in ask.replies)
    assert (texts["status"] == "truncated").sum() == cut
    write(TEXTS, texts, tmp_path / "texts.parquet")
    # What was asked before is in the ledger: the same again costs nothing and gives the
    # same.
    again = write_chat(sources(), "tiny", writing, ask, decoding, prompts=PROMPTS)
    pd.testing.assert_frame_equal(texts, again)
    later = [reply for reply in ask.replies[len(texts) :] if reply.status != "error"]
    assert {reply.attempts for reply in later} == {0}


def test_nonsense_is_neither_a_claim_nor_a_judgment(asking) -> None:
    ask, decoding = asking
    parts = {"doc_id": ["d0", "d1", "d2"], "author": "reference", "part": "full"}
    parts |= {
        "text": ["The knee hurts.", "No fever.", "Cough."],
        "leaf": "yes",
        "status": "ok",
    }
    block = {"model": "tiny", "least": 1, "most": 30, "rounds": 2}
    listing = parse(LlmClaimOptions, block, where="test")
    units = llm_claims(pd.DataFrame(parts), sources(), listing, ask, decoding).units
    assert units["doc_id"].tolist() == ["d0", "d1", "d2"]
    assert units["text"].isna().all()
    assert set(units["status"]) <= STATUSES - {"ok"}
    pairs = [
        pair("The knee hurts.", premise="it hurts on stairs"),
        pair("s", "attribution"),
    ]
    for style in ("plain", "json"):
        judge = LlmJudge(options(style=style), ask, decoding, prompts=PROMPTS)
        before = len(ask.replies)
        judgments = [
            judgment for judgment in judge.judge(pairs) if judgment is not None
        ]
        assert {judgment.status for judgment in judgments} <= STATUSES - {"ok"}
        assert len(judgments) == len(pairs)
        assert (
            sum(judgment.attempts for judgment in judgments)
            == len(ask.replies) - before
        )
    paid = [
        r.prompt_tokens + r.completion_tokens for r in ask.replies if r.prompt_tokens
    ]
    assert sum(paid) > 0
