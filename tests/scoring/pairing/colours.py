"""A judge that can be followed by hand, and the way from texts to its scores.

It knows colours: a premise entails a statement if it names every colour that the
statement names.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.judges.lazy_citations import judge_as_needed
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.run import judge_pairs
from metassay.scoring.aggregation.judged import Setup, judged_scores
from metassay.scoring.pairing.instruments import INSTRUMENTS
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions
from metassay.units.statements import units_of

_COLOUR = re.compile("red|blue|green|grey")
# doc_id -> author -> text, None: it failed
Texts = Mapping[str, Mapping[str, str | None]]


class Colours:
    """The judge, as all pairwise judges are; `says` can be another one."""

    signature = "colours"
    notes: Sequence[str] = ()

    def __init__(self, says: Callable[[Pair], Judgment] | None = None) -> None:
        self.says = says or entails
        self.pairs: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        return judge_as_needed(pairs, self._decide)

    def _decide(self, pairs: Sequence[Pair]) -> list[Judgment]:
        self.pairs += pairs
        return [self.says(pair) for pair in pairs]


def entails(pair: Pair) -> Judgment:
    there = set(_COLOUR.findall(pair.premise)) >= set(_COLOUR.findall(pair.hypothesis))
    return Judgment("ok", "entailed" if there else "not_entailed")


class Judged(NamedTuple):
    """The tables on the way, and the scores."""

    pairs: pd.DataFrame
    judgments: pd.DataFrame
    scores: pd.DataFrame


def judged(
    texts: Texts,
    passages: Sequence[str],
    options: Questions,
    judge: Colours,
    task: str = "note",
) -> Judged:
    """From texts to scores; every statement is aligned with no passage."""
    sources = pd.DataFrame(
        [
            {"doc_id": d, "passages": list(passages), "task": task, "dataset": "hues"}
            for d in texts
        ]
    )
    rows = [
        (
            doc_id,
            author,
            "full",
            text,
            "yes",
            "ok" if text is not None else "error",
            ["hues"],
        )
        for doc_id, by_author in texts.items()
        for author, text in by_author.items()
    ]
    names = ["doc_id", "author", "part", "text", "leaf", "status", "repeats"]
    parts = pd.DataFrame(rows, columns=names)
    units = units_of(parts, sources, lambda statement: [statement])
    statements = units[units["kind"] == "statement"]
    alignments = statements.assign(
        method="none", passages=[[] for _ in statements.index]
    )
    pairs = build_pairs(sources, parts, units, {"top": alignments}, options)
    judgments = judge_pairs(pairs, "colours", judge, list(INSTRUMENTS))
    setup = Setup("whole", "sentences", {"top": "none"}, {"all": options}, "1")
    return Judged(
        pairs, judgments, judged_scores(parts, units, pairs, judgments, setup)
    )
