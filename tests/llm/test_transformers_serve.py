"""A real server with a real (tiny, untrained) model: its nonsense has to end as statuses.

`transformers serve` answers over HTTP with usage and finish_reason, so this goes all the way from
the prompt files through client and ledger to rows.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd
import pytest

from metassay.core.options import parse
from metassay.generation.chat import ChatOptions, write_chat
from metassay.judges.llm import LlmJudge
from metassay.llm.endpoints import ModelOptions
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from metassay.llm.messages import Ask, ChatRequest, Message, Reply
from metassay.llm.prompts import Decoding
from metassay.llm.structured import Again, Answer, Group, Item, ask_groups, number_items, schema_of
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

from tests.models.tiny import TEMPLATE, tokenizer  # noqa: E402 - it needs them

PROMPTS = Path(__file__).parents[2] / "prompts"
SECONDS_TO_START = 180


def tiny_llama(folder: Path) -> Path:
    """One layer, bytes for words, and an end mark often enough that some answers come to an end."""
    words = tokenizer(end=False, corpus=["the knee hurts on stairs"] * 5)
    words.chat_template = TEMPLATE
    torch.manual_seed(4)
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        initializer_range=0.5,
    )
    model = transformers.LlamaForCausalLM(config)
    model.generation_config.eos_token_id = list(range(2, len(words), 9))
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


class Served(NamedTuple):
    """A running server and the name of its model."""

    base_url: str
    model: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tiny_llama(tmp_path_factory.mktemp("model") / "tiny-llama")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("serve") / "log"
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(folder)]
    command += ["--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, stdout=out, stderr=out, env={**os.environ, "HF_HUB_OFFLINE": "1"}
        )
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
    """Passes questions on, and keeps every reply."""

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
        ask = batch_setup.asking(served.base_url, ledger, patience, of=model, **settings)
        yield Recorder(ask), Decoding.of(model)


PASSAGES = [["how is the knee?", "it hurts on stairs"], ["any fever?", "no"], ["hm"]]
STATUSES = {"ok", "unparsed", "refused", "truncated", "error"}


def sources() -> pd.DataFrame:
    rows = [
        {
            "doc_id": f"d{number}",
            "task": "note",
            "passages": passages,
            "speaker": ["doctor", "patient"][: len(passages)],
            "group": [""] * len(passages),
            "attributes": None,
        }
        for number, passages in enumerate(PASSAGES)
    ]
    return pd.DataFrame(rows)


def test_every_section_of_every_document_has_a_row(asking, tmp_path) -> None:
    ask, decoding = asking
    block: dict[str, Any] = {"model": "tiny", "unit": "section", "citations": True, "shots": 0}
    block |= {"examples": [], "example_citations": "none"}
    options = parse(ChatOptions, block, where="test")
    texts = write_chat(sources(), "tiny", options, ask, decoding, prompts=PROMPTS)
    assert len(texts) == len(PASSAGES) * len(SECTIONS)
    assert set(texts["status"]) <= STATUSES
    assert (texts["text"].notna() == (texts["status"] == "ok")).all()
    assert len(ask.replies) == len(texts)
    cut = sum(reply.finish_reason == "length" for reply in ask.replies)
    assert (texts["status"] == "truncated").sum() == cut
    write(TEXTS, texts, tmp_path / "texts.parquet")
    # What was asked once is in the ledger: the same again costs nothing and gives the same.
    again = write_chat(sources(), "tiny", options, ask, decoding, prompts=PROMPTS)
    pd.testing.assert_frame_equal(texts, again)
    assert all(
        reply.attempts == 0 for reply in ask.replies[len(texts) :] if reply.status != "error"
    )


class Verdict(Answer):
    """A yes or no about one claim."""

    label: Literal[0, 1]


def test_nonsense_about_claims_is_one_status_each(asking) -> None:
    ask, decoding = asking

    def build(items: list[Item]) -> ChatRequest:
        listed = json.dumps([{"number": item.number, "claim": item.content} for item in items])
        return decoding.request([Message("user", listed)], schema_of(Verdict))

    groups = [
        Group(number_items([f"claim {g} {n}" for n in range(g)]), build, Verdict) for g in range(5)
    ]
    results = ask_groups(ask, groups, rounds=2, again=Again(PROMPTS))
    assert [len(group) for group in results] == [0, 1, 2, 3, 4]
    flat = [result for group in results for result in group]
    # An untrained model writes no JSON, and no verdict comes of it; both ends were seen.
    assert {result.status for result in flat} == {"unparsed", "truncated"}
    assert all(result.value is None for result in flat)
    assert all(1 <= result.attempts <= 3 for result in flat)
    paid = [r.prompt_tokens + r.completion_tokens for r in ask.replies if r.prompt_tokens]
    assert sum(result.tokens or 0 for result in flat) == sum(paid)
    assert sum(paid) > 0


def test_parts_without_claims_are_unknown(asking) -> None:
    ask, decoding = asking
    parts = pd.DataFrame(
        {
            "doc_id": ["d0", "d1", "d2"],
            "author": "reference",
            "part": "full",
            "text": ["The knee hurts.", "No fever.", "Cough for a week. No blood."],
            "leaf": "yes",
            "status": "ok",
        }
    )
    block = {"model": "tiny", "least": 1, "most": 30, "rounds": 2}
    options = parse(LlmClaimOptions, block, where="test")
    units = llm_claims(parts, sources(), options, ask, decoding).units
    assert units["doc_id"].tolist() == ["d0", "d1", "d2"]
    assert units["text"].isna().all()
    assert set(units["status"]) <= STATUSES - {"ok"}


def test_nonsense_is_no_judgment(asking) -> None:
    ask, decoding = asking
    pairs = [pair("The knee hurts.", premise="it hurts on stairs"), pair("s", "attribution")]
    for style in ("plain", "json"):
        judge = LlmJudge(options(style=style), ask, decoding, prompts=PROMPTS)
        before = len(ask.replies)
        found = [one for one in judge.judge(pairs) if one is not None]
        assert {one.status for one in found} <= STATUSES - {"ok"}
        assert len(found) == len(pairs)
        assert sum(one.attempts for one in found) == len(ask.replies) - before
