"""The estimate of both stages that ask, against what the server counts when they do ask."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.kinds import Chosen, choose
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.generation import SYSTEMS
from metassay.generation.record import write_texts
from metassay.llm.budget import Estimate
from metassay.llm.endpoints import Models
from metassay.llm.session import Session
from metassay.tables.names import REFERENCE
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from tests.llm.scripted_server import Answer, Call, ScriptedServer, said
from tests.support.cost_plans import CHAT, LISTING, PRICES, ROOT, models_at, planned
from tests.units.dividing import parts_of

BLOCK = {"kind": "soap", "compat": "none"}
SOAP = choose(SEGMENTATIONS, BLOCK, where="segmentations > soap")
READ, WRITTEN = PRICES["input_per_million"], PRICES["output_per_million"]


@dataclass(frozen=True)
class Setting:
    """The sample, for which a model writes and takes every text apart."""

    known: Tables
    models: Models
    ledger: Path
    writer: Chosen
    apart: Chosen

    def connection(self) -> Session:
        return Session(self.models, None, {"sample": "public"}, ["sample"], ledger=self.ledger)

    def generate(self) -> pd.DataFrame:
        with self.connection() as connected:
            resources = connected.provide(self.writer)
            return write_texts(self.known.sources, "writer", self.writer, resources).texts

    def decompose(self, texts: pd.DataFrame) -> pd.DataFrame:
        parts = parts_of(texts, self.known.sources, SOAP)
        with self.connection() as connected:
            resources = connected.provide(self.apart)
            return self.apart.record.take_apart(
                parts, self.known.sources, self.apart.options, resources
            ).units

    def estimates(self) -> dict[str, Estimate]:
        stages = {"systems": {"writer": CHAT}, "segmentation": BLOCK, "decomposition": LISTING}
        found = planned(self.known, self.models, self.ledger, **stages).planned
        return {one.stage: one.estimate for one in found}


def setting(known: Tables, base_url: str, ledger: Path, *, structured: bool) -> Setting:
    return Setting(
        known,
        models_at(base_url, structured=structured, prices=PRICES),
        ledger,
        choose(SYSTEMS, CHAT, where="systems > writer"),
        choose(DECOMPOSITIONS, LISTING, where="decompositions > apart"),
    )


class Model:
    """Writes each document's reference, with other full stops; claims: longer sentences."""

    def __init__(self, known: Tables) -> None:
        texts = known.texts[known.texts["author"] == REFERENCE].set_index("doc_id")["text"]
        sources = known.sources
        self._notes = {
            json.dumps(passages[0], ensure_ascii=False): re.sub(r"\.(?=\s|$)", "!", texts[doc_id])
            for doc_id, passages in zip(sources["doc_id"], sources["passages"], strict=True)
        }

    def __call__(self, call: Call) -> Answer:
        question = str(call.body["messages"][-1]["content"])
        if call.is_claims:
            text = re.search(r'"text":"((?:[^"\\]|\\.)*)"', question)
            assert text is not None
            sentences = re.split(r"(?<=[.!?])\s+", json.loads(f'"{text[1]}"'))
            claims = [f"It is stated of the patient that {sentence}" for sentence in sentences]
            return said(json.dumps({"items": [{"number": 1, "claims": claims[:30]}]}))
        return said(next(note for first, note in self._notes.items() if first in question))


@pytest.fixture(scope="module")
def known() -> Tables:
    criteria = load(ROOT).benchmarks["sample"].criteria
    return ingest("files", ROOT / "data/sample", criteria)


@pytest.fixture
def server(known: Tables) -> Iterator[ScriptedServer]:
    with ScriptedServer(Model(known)) as running:
        yield running


def counted(server: ScriptedServer) -> tuple[int, int, float]:
    """Tokens read, written, and the bill, since it was last asked."""
    read, written = server.tokens["prompt"], server.tokens["completion"]
    server.tokens.clear()
    return read, written, (read * READ + written * WRITTEN) / 1e6


def check(estimate: Estimate, read: int, written: int, paid: float, *, length: bool) -> None:
    assert estimate.prompt_tokens == pytest.approx(read, rel=0.1)
    assert estimate.cost is not None
    assert estimate.cost_at_most is not None
    if length:
        assert estimate.completion_tokens == pytest.approx(written, rel=0.1)
        assert estimate.cost == pytest.approx(paid, rel=0.1)
    assert written <= estimate.completion_tokens_at_most
    assert max(paid, estimate.cost) <= estimate.cost_at_most
    assert estimate.currency == "EUR"


@pytest.mark.parametrize("structured", [False, True])
def test_both_stages_cost_what_was_estimated(tmp_path, server, known, structured: bool) -> None:
    here = setting(known, server.base_url, tmp_path / "ledger.sqlite", structured=structured)
    before = here.estimates()
    assert not server.calls

    written = here.generate()
    assert before["generate-writer"].calls == len(server.calls) == len(known.sources)
    check(before["generate-writer"], *counted(server), length=True)

    # What is written now is taken apart, not the references that stood for it.
    again = here.estimates()
    assert again["generate-writer"].calls_in_ledger == len(known.sources)
    assert again["generate-writer"].cost == again["generate-writer"].cost_at_most == 0

    theirs = known.texts[known.texts["author"] == REFERENCE]
    here.decompose(theirs)
    half = counted(server)
    rest = here.estimates()
    here.decompose(pd.concat([known.texts, written], ignore_index=True))
    other = counted(server)
    total = tuple(a + b for a, b in zip(half, other, strict=True))
    calls = [call for call in server.calls if call.is_claims]
    assert before["decompose"].calls == again["decompose"].calls == len(calls)
    assert all(("response_format" in call.body) is structured for call in calls)
    # How long lists of claims are is not known until there are some: then it is.
    check(before["decompose"], *total, length=False)
    check(again["decompose"], *total, length=False)
    check(rest["decompose"], *other, length=True)
    assert "past ones were" in rest["decompose"].counted


def test_no_bill_is_above_the_bound_even_if_every_list_is_asked_for_again(
    tmp_path, server, known
) -> None:
    wordy = "no list, but many words " * 330  # just below max_tokens
    server.script = lambda call: said(wordy)
    here = setting(known, server.base_url, tmp_path / "ledger.sqlite", structured=True)
    bound = here.estimates()["decompose"]
    theirs = known.texts[known.texts["author"] != REFERENCE]
    units = here.decompose(theirs)
    claims = units[(units["kind"] == "claim") & (units["doc_id"].str.startswith("note"))]
    assert set(claims["status"]) == {"unparsed"}
    _, written, paid = counted(server)
    assert len(server.calls) > bound.calls  # each was asked twice, though fewer texts were
    assert bound.cost_at_most is not None
    assert bound.completion_tokens < written <= bound.completion_tokens_at_most
    assert paid <= bound.cost_at_most
