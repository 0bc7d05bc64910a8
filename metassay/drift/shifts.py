"""By how much each system's metrics move when another judge answers the anchors.

The scores are made by the code of the aggregate stage, of the drawn items alone, stratum by
stratum; an item counts as often as its author has items in that stratum, so that a system's mean is
one of all its items, and not of the draw. The old judge's answer is the mean over its stored
verdict and its repetitions.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import pandas as pd

from metassay import __version__
from metassay.aggregation.judged import Setup, judged_scores
from metassay.aggregation.rubrics import rubric_scores
from metassay.drift.agreement import anchored
from metassay.drift.anchors import items_of
from metassay.drift.fixing import folder_of, pairs_of, table
from metassay.options import GIVEN, PARAMS, parse
from metassay.pairing.instruments import INSTRUMENTS, Labels
from metassay.pairing.measures import MEASURES
from metassay.pairing.questions import Questions
from metassay.params import Benchmark, Params
from metassay.statistics.ratio_shift import shift
from metassay.tables.criteria import CRITERIA
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.names import FULL
from metassay.tables.pairs import PAIRS
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS

CONFIDENCE = 0.95
_NEW = "new"
_CELL = ["author", "metric", "doc_id"]
# An item of these rests on a question about the whole text, too, which is no part of the item.
_OF_TEXTS = frozenset(
    name
    for name, measure in MEASURES.items()
    if not measure.counted.whole and any(also.question.whole for also in measure.also)
)
_NUMBERS = ["items", "documents", "before", "after", "difference", "low", "high", "covered"]


def shifts(
    params: Params, benchmark: str, anchors: pd.DataFrame, now: pd.DataFrame
) -> tuple[pd.DataFrame, int]:
    """Table `bridges` without `old` and `new`, and how many drawn items it had to leave out.

    `now` is table `judgments` of the new judge. An item is left out where the tables do not ask it
    any more, since its text was edited, or where either judge has no answer. A test of judges has
    no metrics of systems: no rows.
    """
    folder = folder_of(params, benchmark)
    nothing = pd.DataFrame(columns=["author", "metric", *_NUMBERS])
    if not isinstance(folder, Benchmark):
        return nothing, 0
    draws = _draws(anchors, now)
    items = _usable(pairs_of(folder), anchors, draws)
    left_out = anchors["item"].nunique() - items["anchor_item"].nunique()
    if items.empty:
        return nothing, left_out
    tables = _Tables.of(params, folder)
    cells = []
    for _, stratum in items.groupby("stratum", sort=True):
        own = stratum.groupby("author")[["weight", "covered"]].first()
        cells.append(tables.worth(stratum, draws).join(own, on="author"))
    found = [
        {"author": author, "metric": metric, **_shift(rows)}
        for (author, metric), rows in pd.concat(cells).groupby(["author", "metric"], sort=True)
        if rows["n"].sum() > 0
    ]
    return pd.DataFrame(found, columns=["author", "metric", *_NUMBERS]), left_out


def _draws(anchors: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    """Table `judgments` with a judge for each draw of the old one, and `new`."""
    counted = anchored(anchors)
    said = pd.concat(
        [
            counted[["pair_id", "instrument"]].assign(judge=f"old {n}", verdict=verdicts)
            for n, verdicts in enumerate(_columns(counted))
        ]
    )
    labelled = said["instrument"].map(lambda one: isinstance(INSTRUMENTS[one].answer, Labels))
    old = said.assign(
        status="ok",
        label=said["verdict"].where(labelled, None),
        grade=pd.to_numeric(said["verdict"].where(~labelled, None)),
    )
    both = pd.concat([old, now.assign(judge=_NEW)], ignore_index=True)
    return both.reindex(columns=list(JUDGMENTS.columns)).assign(recipe="bridge")


def _columns(counted: pd.DataFrame) -> Iterator[list[str]]:
    yield counted["verdict"].tolist()
    yield from (list(one) for one in zip(*counted["repeats"], strict=True))


def _usable(pairs: pd.DataFrame, anchors: pd.DataFrame, draws: pd.DataFrame) -> pd.DataFrame:
    """Rows of `pairs` of the drawn items that both judges answered as far as it takes.

    Adds the items' `anchor_item`, `stratum`, `weight` and `covered`.
    """
    stored = draws[draws["judge"] == "old 0"]
    items = items_of(pairs, stored)
    places = ["pair_id", "measure", "doc_id", "author", "part"]
    own = anchors[[*places, "item", "stratum", "weight", "covered"]]
    own = own.rename(columns={"item": "anchor_item"})
    known = items.drop(columns="stratum").merge(own, on=places, how="left")
    answered = known["pair_id"].isin(
        draws.loc[draws["judge"].eq(_NEW) & draws["status"].eq("ok"), "pair_id"]
    )
    counted = known["pair_id"].isin(stored["pair_id"])
    fits = (answered | ~counted).groupby(known["item"]).transform("all")
    for name in ("anchor_item", "stratum", "weight", "covered"):
        known[name] = known.groupby("item")[name].transform("first")
    return known[fits & known["anchor_item"].notna()]


class _Tables(NamedTuple):
    """What scores are made of beside pairs and judgments, and how recipes print it."""

    parts: pd.DataFrame
    units: pd.DataFrame
    criteria: pd.DataFrame
    setup: Setup

    @classmethod
    def of(cls, params: Params, folder: Benchmark) -> Self:
        """As the last run left them; no recipe is kept here."""
        where = f"{PARAMS} > questions"
        questions = {
            name: parse(Questions, params.questions[name], where=f"{where} > {name}")
            for name in folder.questions
        }
        criteria = [table(folder.name, CRITERIA, name) for name in (GIVEN, *folder.rubrics)]
        return cls(
            table(folder.name, PARTS),
            table(folder.name, UNITS),
            pd.concat(criteria, ignore_index=True),
            Setup("", "", "", questions, __version__),
        )

    def worth(self, items: pd.DataFrame, draws: pd.DataFrame) -> pd.DataFrame:
        """By author, metric and document: `n` items, and their worth to either judge in sum."""
        pairs = items[list(PAIRS.columns)]
        graded = pairs["measure"].isin(self.criteria["metric"])
        judged = judged_scores(self.parts, self.units, pairs[~graded], draws, self.setup)
        by_rubric = rubric_scores(self.criteria, pairs[graded], draws, "", self.setup.version)
        scores = pd.concat([judged, by_rubric.assign(n_judged=1)], ignore_index=True)
        scores = scores[(scores["part"] == FULL) & ~scores["metric"].isin(_OF_TEXTS)]
        new = scores["judge"] == _NEW
        old = scores[~new].groupby(_CELL)["value"].mean()
        rows = scores[new].set_index(_CELL)[["value", "n_judged"]].join(old.rename("old"))
        rows = rows.dropna().reset_index()
        return pd.DataFrame(
            {
                **{name: rows[name] for name in _CELL},
                "n": rows["n_judged"],
                "before": rows["old"] * rows["n_judged"],
                "after": rows["value"] * rows["n_judged"],
            }
        )


def _shift(rows: pd.DataFrame) -> dict[str, object]:
    """One author and metric: its numbers in table `bridges`; `rows` are of strata and documents."""
    sums = ["n", "before", "after"]
    weighted = rows[sums].mul(rows["weight"], axis=0).groupby(rows["doc_id"]).sum()
    n, before, after = (weighted[name].to_numpy(dtype=float) for name in sums)
    found = shift(before, after, n, CONFIDENCE)
    return {
        "items": int(rows["n"].sum()),
        "documents": len(weighted),
        **found._asdict(),
        "covered": float(rows["covered"].iloc[0]),
    }
