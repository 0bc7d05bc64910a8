"""What models answer: sound claims of that text, and sound verdicts, or a status."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.tables.parquet import write
from metassay.tables.units import UNITS
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import fuzz, handled
from tests.judges.llm_setup import STYLES, QuestionSet, judged, pair, reply_of
from tests.judges.llm_setup import FakeAsk as FakeJudge
from tests.units.test_llm_claims import FakeAsk, decomposed, parts

ANSWER = {"items": [{"number": 1, "claims": ["No mass.", "No fever."]}]}
SOUND = "Here they are:\n" + json.dumps(ANSWER)
ROWS = parts("First.", "Second.")


def check(answer: str, folder: Path) -> None:
    """One text gets this answer, also when asked again; the other a valid answer."""
    ask = FakeAsk(lambda text, _: answer if text == "First." else SOUND)
    ended = handled(lambda: decomposed(ROWS, ask))
    assert not ended.problems
    units: pd.DataFrame = ended.value
    write(UNITS, units, folder / "units.parquet")
    first, second = (units[units["doc_id"] == doc_id] for doc_id in ROWS["doc_id"])
    assert list(second["text"]) == ["No mass.", "No fever."]
    claims = list(first["text"].dropna())
    if not claims:
        assert list(first["status"]) == ["unparsed"]
        return
    assert len(claims) <= 3
    assert set(first["status"]) == {"ok"}
    assert all(claim.strip() for claim in claims)


def answered(sound: str, accidents: Any) -> str:
    return damaged(sound.encode(), accidents).decode("utf-8", "replace")


def test_claims(tmp_path: Path) -> None:
    fuzz(lambda accidents: check(answered(SOUND, accidents), tmp_path), ACCIDENTS)
    fuzz(lambda changes: check(json.dumps(changed(ANSWER, changes)), tmp_path), CHANGES)


VERDICTS = [
    {"number": 1, "reason": "It is said.", "label": "entailed", "passages": [1]},
    {"number": 1, "reason": "So it is.", "grade": 2},
]
QUESTIONS = [pair("s", "attribution"), pair("h", "support_grade")]


@pytest.mark.parametrize("style", STYLES)
def test_verdicts(style: str) -> None:
    replies = {
        "statement": reply_of(style, VERDICTS[:1]),
        "hypothesis": reply_of(style, VERDICTS[1:]),
    }

    def run(accidents: Any) -> None:
        def answer(question: QuestionSet, _: int) -> str:
            (kind,) = replies.keys() & question.items[0].keys()
            return answered(replies[kind], accidents)

        ended = handled(lambda: judged(QUESTIONS, FakeJudge(answer), style=style))
        assert not ended.problems
        cited, graded = ended.value
        for verdict in (cited, graded):
            assert verdict.status in ("ok", "unparsed", "refused", "truncated", "error")
            (verdict.explanation or "").encode("utf-8")
        labels = ("entailed", "not_entailed") if cited.status == "ok" else (None,)
        assert cited.label in labels
        assert graded.grade in ((0, 1, 2, 3) if graded.status == "ok" else (None,))
        assert (cited.grade, graded.label) == (None, None)

    fuzz(run, ACCIDENTS)
