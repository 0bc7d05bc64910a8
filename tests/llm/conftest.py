"""A scripted chat endpoint and an empty ledger for every test that asks for one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metassay.llm.ledger import Ledger
from tests.llm.scripted_server import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A running endpoint; give it a `script`, read its counts."""
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger of its own."""
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened
