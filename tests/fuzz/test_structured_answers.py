"""What models answer: sound claims of that text, or its status; never a claim by chance."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import given

from metassay.tables import UNITS, write
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import handled
from tests.units.test_llm_claims import FakeAsk, decomposed, part, parts

SAID = {"items": [{"number": 1, "claims": ["No mass.", "No fever."]}]}
SOUND = "Here they are:\n" + json.dumps(SAID)
TEXTS = {"a": "First.", "b": "Second."}
ROWS = parts(*(part("d1", name, text) for name, text in TEXTS.items()))


def check(said: str, folder: Path) -> None:
    """One part gets this answer, also when asked again; the other a sound one."""
    ask = FakeAsk(lambda text, _: said if text == "First." else SOUND)
    ended = handled(lambda: decomposed(ROWS, ask))
    assert not ended.problems
    units: pd.DataFrame = ended.value
    write(UNITS, units, folder / "units.parquet")
    of = {name: units[units["part"] == name] for name in TEXTS}
    assert list(of["b"]["text"]) == ["No mass.", "No fever."]
    known = list(of["a"]["text"].dropna())
    if not known:
        assert list(of["a"]["status"]) == ["unparsed"]
        return
    assert 1 <= len(known) <= 3
    assert set(of["a"]["status"]) == {"ok"}
    for claim in known:
        assert claim.strip()


def test_bytes(tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("units")

    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        check(damaged(SOUND.encode(), accidents).decode("utf-8", "replace"), folder)

    run()


def test_values(tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("units")

    @given(CHANGES)
    def run(changes: Any) -> None:
        check(json.dumps(changed(SAID, changes)), folder)

    run()
