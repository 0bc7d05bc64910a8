"""Claim scores by our judges beside those that DocLens printed for its evaluators.

Another judge means another level, so values stand side by side and are not subtracted. What can be
compared is the order of the systems: of each of our judges with each printed evaluator, over the
systems whose texts are the same here and there.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from metassay.reporting.doclens import AUTHORS, SECTIONS
from metassay.reporting.tables import rows
from metassay.statistics.rank_order import rank_order
from metassay.tables.names import NO_JUDGE

QUANTITIES = {"Claim Recall": "claim_recall", "Claim Precision": "claim_precision"}
PRINTED = " (printed)"
SCORES = (
    *("metric", "section", "system", "author", "judge"),
    *("macro", "low", "high", "micro"),
    *("n_documents", "n_undefined", "n_expected", "n_failed"),
)
RANKS = (
    *("metric", "section", "judge", "mean", "evaluator", "n"),
    *("spearman", "spearman_p", "kendall", "kendall_p", "smallest_p"),
)

_ORDERS = 9_999  # of the systems, where there are too many of them to try all


@dataclass(frozen=True)
class ClaimScores:
    """The comparison: `scores` by judge and as printed, and how far `ranks` agree.

    `scores` (SCORES and a column `EVALUATOR (printed)` per evaluator; all 0 to 1) has a row per
    metric, section, system and judge; printed values are repeated for each judge. `ranks` (RANKS):
    `judge` is one of ours, by its `macro` or `micro` values, or a printed evaluator, for the
    yardstick. `n_not_run`: printed values of other texts or measures.
    """

    name: str
    title: str
    says: str
    scores: pd.DataFrame
    ranks: pd.DataFrame
    n_not_run: int

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """What lies beside the page, by file name."""
        name = f"published_{self.name}"
        return {name: self.scores, f"{name}_ranks": self.ranks}


def compare_claims(
    printed: pd.DataFrame, leaderboard: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """The frames `scores` and `ranks` of ClaimScores, and how many printed values have no row."""
    known, n_not_run = _printed(printed)
    evaluators = list(dict.fromkeys(evaluator for *_, evaluator in known))
    columns = ("metric", "part", "author", "judge", *SCORES[5:])
    made = []
    for metric, part, author, judge, *values in rows(leaderboard, *columns):
        of = [known.get((metric, part, author, e)) for e in evaluators]
        if judge != NO_JUDGE and any(value is not None for value in of):
            made.append([metric, part, _SYSTEMS[author], author, judge, *values, *of])
    names = [*SCORES, *(evaluator + PRINTED for evaluator in evaluators)]
    scores = _ordered(pd.DataFrame(made, columns=names))
    if scores.empty:
        return scores, pd.DataFrame(columns=list(RANKS)), n_not_run + len(known)
    numbers = [name for name in names[5:] if not name.startswith("n_")]
    scores = scores.astype({name: "float64" for name in numbers})
    shown = scores.drop_duplicates(["metric", "section", "author"])[names[-len(evaluators) :]]
    unused = len(known) - int(shown.notna().sum().sum())
    return scores, _ranks(scores, evaluators), n_not_run + unused


_SYSTEMS = {author: f"{system}, {setting}" for (system, setting), author in AUTHORS.items()}
_PARTS = list(SECTIONS.values())


def _printed(printed: pd.DataFrame) -> tuple[dict[tuple[str, str, str, str], float], int]:
    """Printed claim scores, 0 to 1, of texts that we have; and how many others there are."""
    known, others = {}, 0
    columns = ("quantity", "split_or_section", "system_or_metric", "setting", "evaluator", "value")
    for quantity, section, system, setting, evaluator, value in rows(printed, *columns):
        author, metric = AUTHORS.get((system, setting)), QUANTITIES.get(quantity)
        if not value:
            continue
        if author is None or metric is None:
            others += 1
        else:
            known[metric, SECTIONS[section], author, evaluator] = round(float(value) / 100, 6)
    return known, others


def _ordered(scores: pd.DataFrame) -> pd.DataFrame:
    """Metrics, sections and systems as the paper has them, then judges by name."""
    orders = {"metric": list(QUANTITIES.values()), "section": _PARTS, "author": list(_SYSTEMS)}
    keys = scores[["metric", "section", "author", "judge"]].copy()
    for name, order in orders.items():
        keys[name] = keys[name].map(order.index)
    return scores.loc[keys.sort_values(list(keys.columns)).index].reset_index(drop=True)


def _ranks(scores: pd.DataFrame, evaluators: list[str]) -> pd.DataFrame:
    made = []
    for (metric, section), mine in scores.groupby(["metric", "section"], sort=False):
        by_author = mine.drop_duplicates("author").set_index("author")
        theirs = {e: by_author[e + PRINTED] for e in evaluators}
        ours = {
            (str(judge), mean): one.set_index("author")[mean]
            for judge, one in mine.groupby("judge")
            for mean in ("macro", "micro")
        }
        ours |= {(evaluator + PRINTED, "printed"): theirs[evaluator] for evaluator in evaluators}
        for ((judge, mean), values), evaluator in product(ours.items(), evaluators):
            if judge != evaluator + PRINTED:
                agreement = _agreement(values.reindex(by_author.index), theirs[evaluator])
                made.append([metric, section, judge, mean, evaluator, *agreement])
    return pd.DataFrame(made, columns=list(RANKS))


def _agreement(ours: "pd.Series[float]", theirs: "pd.Series[float]") -> list[float]:
    rng = np.random.default_rng(0)  # the same orders whatever else is compared
    rho, tau = (
        rank_order(ours.to_numpy(), theirs.to_numpy(), coefficient, n_orders=_ORDERS, rng=rng)
        for coefficient in ("spearman", "kendall")
    )
    return [rho.n, round(rho.value, 12), rho.p, round(tau.value, 12), tau.p, rho.smallest_p]
