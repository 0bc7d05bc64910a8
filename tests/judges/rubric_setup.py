"""Invented criteria, pairs that ask by them, and what a call about them shows."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from metassay.judges.protocol import Pair
from metassay.scoring.pairing.pairs import pair_id
from tests.judges.llm_setup import values_in

NOTE = "Cough for 3 days. No fever.\nShe smokes, and takes ibuprofen 400 mg."
PROMPT = "dry cough for three days; no fever; do not mention smoking"
BACKGROUND: dict[str, Any] = {
    "kind": "scale",
    "criterion": "background",
    "asks": "Does it say why?",
    "levels": {"1": "No.", "2": "In part.", "3": "Yes."},
    "examples": [
        {
            "against": "Why: A.",
            "text": "For A.",
            "grade": 3,
            "reason": "It is.",
            "quotes": ["A"],
        },
        {"against": "Why: B.", "text": "For C.", "grade": 1, "reason": "It is not."},
    ],
}
FLUENT: dict[str, Any] = {
    "kind": "scale",
    "criterion": "fluent",
    "asks": "Does it read well?",
    "levels": {"0": "No.", "1": "Yes."},
}
WET = {
    "against": "dry cough",
    "text": "Wet cough.",
    "grade": 1,
    "reason": "It is wet.",
    "violations": [{"item": 1, "quote": "Wet cough"}],
}
SYMPTOMS: dict[str, Any] = {
    "kind": "penalties",
    "criterion": "1A",
    "asks": "Which of these does it get wrong?",
    "items": ["cough: dry", "fever: no", "smoking: unmentioned"],
    "cap": 2,
    "examples": [WET, {"text": "Dry cough.", "grade": 0}],
}
ASTHMA = {
    "text": "Asthma.",
    "grade": 1,
    "reason": "Asthma is added.",
    "violations": [{"what": "asthma", "quote": "Asthma"}],
}
ADDED: dict[str, Any] = {
    "kind": "penalties",
    "criterion": "1C",
    "asks": "What does it add?",
    "items": None,
    "cap": 4,
    "examples": [ASTHMA],
}
FREE = ADDED | {"criterion": "1D", "cap": None}


class QuestionSet(NamedTuple):
    """What a call is about; `criteria` by number."""

    against: str | None
    text: str
    criteria: dict[int, dict[str, Any]]


def asked_in(user: str) -> QuestionSet:
    """What a message asks about."""
    against, text, items = values_in(user)
    return QuestionSet(against, text, {item["number"]: item for item in items})


def asks(
    criterion: dict[str, Any], text: str = NOTE, against: str = PROMPT, **more: Any
) -> Pair:
    """The pair of one criterion."""
    context = json.dumps(
        criterion, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    kind = criterion["kind"]
    return Pair(
        pair_id(kind, against, text, context),
        kind,
        against,
        text,
        context=context,
        **more,
    )


def json_reply(entries: Sequence[dict[str, Any]]) -> str:
    return json.dumps({"items": entries})
