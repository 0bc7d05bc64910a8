"""Bridge two judges: the new one is asked the anchors that the old one has answered.

The old judge's stored verdicts and repetitions stand for it, so it works when its model is retired.
"""

import datetime
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from metassay.drift import files
from metassay.drift.agreement import Found, anchored, compare
from metassay.drift.anchors import failed, verdicts
from metassay.drift.asking import desk
from metassay.drift.fixing import folder_of
from metassay.drift.record import settings
from metassay.drift.shifts import shifts
from metassay.errors import BadInput
from metassay.llm.budget import Spending
from metassay.llm.connection import SENTINEL
from metassay.params import load
from metassay.statistics.agreement import cohen_kappa, percent
from metassay.tables.sentinel import BRIDGES


class Agreeing(NamedTuple):
    """Share of equal verdicts, and Cohen's kappa (NaN where it is undefined)."""

    share: float
    kappa: float


@dataclass(frozen=True)
class Bridge:
    """What another judge changes.

    `found` holds the new judge's verdicts against the old one's as a check would. `agreeing` is
    how they agree with the stored ones; `own`, how each of the old judge's repetitions did.
    `shifts` is table `bridges`; `left_out` counts items that it could not use, since their texts
    were edited or an answer is missing.
    """

    benchmark: str
    old: str
    new: str
    found: Found
    agreeing: Agreeing
    own: list[Agreeing]
    shifts: pd.DataFrame
    left_out: int
    spent: Spending

    @property
    def labels(self) -> dict[str, tuple[int, int]]:
        """By verdict: how often the old judge gave it, and by how much the new one differs."""
        moved: Counter[str] = Counter()
        for (before, after), number in self.found.flips.items():
            moved[before] -= number
            moved[after] += number
        names = sorted({*self.found.stored, *moved})
        return {name: (self.found.stored[name], moved[name]) for name in names}


def bridge(benchmark: str, old: str, new: str, *, now: datetime.datetime | None = None) -> Bridge:
    """Ask judge `new` what the anchors of `old` ask, and say what changes.

    The project is the working folder. `new` is asked as in a run: what the ledger has of it is not
    asked again, and what it answers now is there for runs. Raises BadInput where `old` has no
    anchors, both ask the same, the questions may not be sent, or too few are answered.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    params = load()
    folder, options = folder_of(params, benchmark), settings(params)
    anchors = files.read_anchors(benchmark, old)
    texts = files.read_texts(benchmark, old, anchors["pair_id"])
    begun = files.salt(benchmark, f"{old}-{new}", "bridge", now)
    with desk(params, folder, new, texts, f"{SENTINEL} {begun}") as asked:
        if asked.judge.signature == anchors["recipe"].iloc[0]:
            raise BadInput(
                f"judge {new!r} asks as {old!r} did when its anchors were fixed: there is nothing"
                " to bridge; name the judge that is to follow it"
            )
        judgments = asked.ask(texts, 0)
        spent = asked.spent
    files.finished(benchmark, f"{old}-{new}")
    answers = verdicts(judgments)
    found = compare(anchors, answers, options.false_alarm)
    without = len(anchored(anchors)) - (0 if found is None else found.answered)
    if found is None or without > options.max_failed * len(anchored(anchors)):
        lacking = failed([answers])
        raise BadInput(
            f"judge {new!r}: {without} of {len(anchored(anchors))} anchors have no answer"
            f" ({lacking.counts}), more than params.yaml > sentinel > max_failed allows; "
            + (
                "the others are in the ledger: run again"
                if lacking.missing
                else "the ledger keeps these answers, and a run would, too: `metassay probe"
                f" {new}` shows one; change the judge's block, or raise max_failed"
            )
        )
    rows, left_out = shifts(params, benchmark, anchors, judgments)
    said = answers.set_index("pair_id")["verdict"]
    counted = anchored(anchors)
    counted = counted[counted["pair_id"].isin(said.dropna().index)]
    stored = counted["verdict"].tolist()
    drawn = list(zip(*counted["repeats"], strict=True))
    return Bridge(
        benchmark,
        old,
        new,
        found,
        _with(stored, counted["pair_id"].map(said).tolist()),
        [_with(stored, list(one)) for one in drawn],
        rows.assign(old=old, new=new)[list(BRIDGES.columns)],
        left_out,
        spent,
    )


def _with(stored: list[str], others: list[str]) -> Agreeing:
    """How two lists of verdicts agree."""
    places = {name: place for place, name in enumerate(sorted({*stored, *others}))}
    a, b = ([float(places[one]) for one in verdicts] for verdicts in (stored, others))
    return Agreeing(percent(a, b).value, cohen_kappa(a, b).value)
