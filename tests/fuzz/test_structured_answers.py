"""What models answer: sound claims of that text, and sound verdicts, or a status."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given

from metassay.tables.parquet import write
from metassay.tables.units import UNITS
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import handled
from tests.judges.llm_setup import STYLES, Asked, judged, pair, reply_of
from tests.judges.llm_setup import FakeAsk as FakeJudge
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


VERDICTS = [
    {"number": 1, "reason": "It is said.", "label": "entailed", "passages": [1]},
    {"number": 1, "reason": "So it is.", "grade": 2},
]
ASKED = [pair("s", "attribution"), pair("h", "support_grade")]


@pytest.mark.parametrize("style", STYLES)
def test_verdicts(style: str) -> None:
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        replies = {
            "statement": reply_of(style, VERDICTS[:1]),
            "hypothesis": reply_of(style, VERDICTS[1:]),
        }

        def answer(asked: Asked, _: int) -> str:
            (kind,) = replies.keys() & asked.items[0].keys()
            return damaged(replies[kind].encode(), accidents).decode("utf-8", "replace")

        ended = handled(lambda: judged(ASKED, FakeJudge(answer), style=style))
        assert not ended.problems
        cited, graded = ended.value
        for one in (cited, graded):
            assert one.status in ("ok", "unparsed", "refused", "truncated", "error")
            (one.explanation or "").encode("utf-8")
        known = ("entailed", "not_entailed") if cited.status == "ok" else (None,)
        assert cited.label in known
        assert graded.grade in ((0, 1, 2, 3) if graded.status == "ok" else (None,))
        assert (cited.grade, graded.label) == (None, None)

    run()
