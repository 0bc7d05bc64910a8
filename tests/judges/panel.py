"""Judges that say what a test tells them, for juries and cascades."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from metassay.core.kinds import choose
from metassay.core.options import Options
from metassay.judges import JUDGES
from metassay.judges.make import make_judge
from metassay.judges.protocol import Judge, JudgeKind, Judgment, Pair
from metassay.llm.messages import ChatRequest, Message
from metassay.llm.needs import Requests, Resources, Use
from metassay.scoring.pairing.instruments import INSTRUMENTS

Script = Mapping[tuple[str, str], Judgment]  # by instrument and premise
ENTAILMENT, WHOLE = "entailment", ("attribution", "a\nb")


class ScriptedJudge:
    """Answers by (instrument, premise), and leaves out what is not in its script."""

    notes = ("told",)

    def __init__(self, script: Script, signature: str = "told") -> None:
        self.script = script
        self.signature = signature
        self.heard: list[list[tuple[str, str]]] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        self.heard.append([(pair.instrument, pair.premise) for pair in pairs])
        return [self.script.get((pair.instrument, pair.premise)) for pair in pairs]


class ScriptedOptions(Options):
    """Which of the judges of a test."""

    name: str


def yes(p: float | None = None, **more: Any) -> Judgment:
    return Judgment("ok", "entailed", probability=p, **more)


def no(p: float | None = None, **more: Any) -> Judgment:
    return Judgment("ok", "not_entailed", probability=p, **more)


def entailment(**script: Judgment) -> ScriptedJudge:
    """One that answers these premises."""
    return ScriptedJudge(
        {(ENTAILMENT, premise): judgment for premise, judgment in script.items()}
    )


def pairs_of(*premises: str, instrument: str = ENTAILMENT) -> list[Pair]:
    return [
        Pair(f"{instrument}-{premise}", instrument, premise, "h")
        for premise in premises
    ]


def cited() -> list[Pair]:
    """All questions about a statement that cites the passages a and b."""
    places = [
        WHOLE,
        *(("attribution_alone", p) for p in "ab"),
        *(("attribution_rest", p) for p in "ba"),
    ]
    return [
        Pair(
            f"{i}-{premise}",
            i,
            premise,
            "h",
            context=None if i == "attribution" else "a\nb",
        )
        for i, premise in places
    ]


def _requests(pairs: Sequence[Pair], _: ScriptedOptions, decoding: Any) -> Requests:
    """A question per premise."""
    premises = sorted({pair.premise for pair in pairs})
    requests = [
        ChatRequest(decoding.model, (Message("user", premise),), None, 0.0, None, 9)
        for premise in premises
    ]
    return Requests(requests, [1] * len(requests))


def scripted_kinds(
    monkeypatch: pytest.MonkeyPatch,
    judges: Mapping[str, Judge],
    instruments: Sequence[str] = tuple(INSTRUMENTS),
) -> None:
    """Add the kind `told`, and `asks`, which asks the model `m` a question per premise."""
    plain = {
        "options": ScriptedOptions,
        "make": lambda options, _resources, _members: judges[options.name],
        "instruments": tuple(instruments),
    }
    asks = JudgeKind(**plain, requests=_requests, model=lambda _: Use("m", None))
    for name, kind in (("told", JudgeKind(**plain)), ("asks", asks)):
        module = f"tests.judges.kind_{name}"
        monkeypatch.setitem(JUDGES, name, module)
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(KIND=kind))


def member(name: str, kind: str = "told") -> dict[str, Any]:
    """The block of one of the judges of a test."""
    return {"kind": kind, "name": name}


def cascade_of(
    first: Any, then: Any, unsure: list[float] | None = None
) -> dict[str, Any]:
    return {
        "kind": "cascade",
        "unsure": unsure,
        "members": {"first": first, "then": then},
    }


def jury_of(by: str, members: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "jury", "by": by, "members": members} | more


def judge_of(block: Mapping[str, Any]) -> Any:
    """The judge of a block."""
    chosen = choose(JUDGES, dict(block), where="judges > it")
    return make_judge(chosen, lambda _: Resources(Path("raw")))
