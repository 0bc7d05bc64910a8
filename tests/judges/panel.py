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

Script = Mapping[tuple[str, str], Judgment]  # by instrument and premise, or hypothesis


class Told:
    """Answers by (instrument, premise), and leaves out what is not in its script."""

    notes = ("told",)

    def __init__(self, script: Script, signature: str = "told") -> None:
        self.script = script
        self.signature = signature
        self.heard: list[list[tuple[str, str]]] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        self.heard.append([(pair.instrument, pair.premise) for pair in pairs])
        return [self.script.get((pair.instrument, pair.premise)) for pair in pairs]


class ToldOptions(Options):
    """Which of the judges that a test has made."""

    name: str


def yes(p: float | None = None, **more: Any) -> Judgment:
    return Judgment("ok", "entailed", probability=p, **more)


def no(p: float | None = None, **more: Any) -> Judgment:
    return Judgment("ok", "not_entailed", probability=p, **more)


def asked(*premises: str, instrument: str = "entailment") -> list[Pair]:
    return [Pair(f"{instrument}-{premise}", instrument, premise, "h") for premise in premises]


def cited() -> list[Pair]:
    """All questions about a statement that cites the passages a and b."""
    places = {
        "attribution": ["a\nb"],
        "attribution_alone": ["a", "b"],
        "attribution_rest": ["b", "a"],
    }
    return [
        Pair(
            f"{instrument}-{premise}",
            instrument,
            premise,
            "h",
            context=None if instrument == "attribution" else "a\nb",
        )
        for instrument, premises in places.items()
        for premise in premises
    ]


def _requests(pairs: Sequence[Pair], options: ToldOptions, decoding: Any) -> Requests:
    """A question per premise."""
    asked = [
        ChatRequest(decoding.model, (Message("user", premise),), None, 0.0, None, 9)
        for premise in sorted({pair.premise for pair in pairs})
    ]
    return Requests(asked, [1] * len(asked))


def told_kinds(
    monkeypatch: pytest.MonkeyPatch,
    judges: Mapping[str, Judge],
    instruments: Sequence[str] = tuple(INSTRUMENTS),
) -> None:
    """Add the kind `told`, and `asks`, which asks the model `m` a question per premise."""
    plain = {
        "options": ToldOptions,
        "make": lambda options, _resources, _members: judges[options.name],
        "instruments": tuple(instruments),
    }
    asks = JudgeKind(**plain, requests=_requests, model=lambda _: Use("m", None))
    for name, kind in (("told", JudgeKind(**plain)), ("asks", asks)):
        module = f"tests.judges.kind_{name}"
        monkeypatch.setitem(JUDGES, name, module)
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(KIND=kind))


def made(block: Mapping[str, Any]) -> Judge:
    """The judge of a block."""
    chosen = choose(JUDGES, dict(block), where="judges > it")
    return make_judge(chosen, lambda _: Resources(Path("raw")))
