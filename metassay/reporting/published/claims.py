"""Claim scores by our judges beside those by a paper's evaluators.

Another judge means another level, so the two stand side by side and are not subtracted.
What can be compared is the order of systems: of each of our judges with each printed
evaluator, over the systems whose texts are the same here and there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.format.numbers import counted, probability
from metassay.format.prose import join_lines
from metassay.reporting.contract import CellInfo
from metassay.reporting.page import ExtraTables, sort_rows
from metassay.reporting.published.cells import Ours
from metassay.reporting.published.printed import read_all
from metassay.reporting.table_words import TableWords
from metassay.statistics.independence import rank_order
from metassay.tables.names import NO_JUDGE

PRINTED = " (printed)"  # after the name of an evaluator
SCORES = (
    "metric",
    "section",
    "system",
    "author",
    "judge",
    "macro",
    "low",
    "high",
    "micro",
    "n_documents",
    "n_undefined",
    "n_expected",
    "n_failed",
)
RANKS = (
    "metric",
    "section",
    "judge",
    "mean",
    "evaluator",
    "n",
    "spearman",
    "spearman_p",
    "kendall",
    "kendall_p",
    "smallest_p",
)


@dataclass(frozen=True, kw_only=True)
class ClaimComparison:
    """Printed claim scores of systems by several evaluators, in per cent.

    Parameters
    ----------
    title
        The paper and the tables.
    files
        Files of `reports/published/`.
    says
        What is compared with what. Line breaks count as blanks.
    metrics, sections
        Our metrics by printed quantity, our parts by printed section.
    systems
        Our authors by printed system and setting.
    """

    title: str
    files: Sequence[str]
    says: str
    metrics: Mapping[str, str]
    sections: Mapping[str, str]
    systems: Mapping[tuple[str, str], str]

    def add_to(
        self, compared: ExtraTables, name: str, folder: Path, ours: Ours
    ) -> None:
        """Add a table of scores, SCORES and a column per evaluator, and one of RANKS.

        All values are 0 to 1. Scores have a row per metric, section, system and judge;
        printed values are repeated for each judge. In ranks, `judge` is one of ours, by
        its `macro` or `micro` values, or a printed evaluator, for the yardstick.
        """
        printed = read_all(folder, self.files)
        scores, evaluators, n_not_run = self._scores(printed, ours.leaderboard)
        ranks = _compare_ranks(scores, evaluators)
        left_out = (
            f"{counted(n_not_run, 'printed value')} of other texts or measures are left"
            " out."
        )
        says = [f"{self.title}. {join_lines(self.says)}", left_out]
        table = f"published_{name}"
        compared.tables[table] = scores
        compared.words[table] = _put_first(says, _SCORES_WORDS)
        compared.tables[f"{table}_ranks"] = ranks
        warnings = _warn_of_few(ranks)
        compared.words[f"{table}_ranks"] = _put_first(warnings, _RANKS_WORDS)

    def _scores(self, printed: pd.DataFrame, leaderboard: pd.DataFrame) -> "_Scores":
        printed = printed[printed["value"] != ""]
        systems = pd.MultiIndex.from_frame(printed[["system_or_metric", "setting"]])
        claims = pd.DataFrame(
            {
                "metric": printed["quantity"].map(self.metrics),
                "section": printed["split_or_section"].map(self.sections),
                "author": systems.map(self.systems),
                "evaluator": printed["evaluator"] + PRINTED,
                "value": (printed["value"].astype("float64") / 100).round(6),
            }
        ).dropna()
        evaluators = [*claims["evaluator"].unique()]
        keys = ["metric", "section", "author"]
        theirs = claims.pivot(index=keys, columns="evaluator", values="value")
        ours = leaderboard[leaderboard["judge"] != NO_JUDGE]
        ours = ours.rename(columns={"part": "section"})
        scores = ours.merge(theirs.reset_index(), on=keys)
        titles = {
            author: f"{system}, {setting}"
            for (system, setting), author in self.systems.items()
        }
        scores["system"] = scores["author"].map(titles)
        order = {  # as the paper has them, then judges by name
            "metric": [*self.metrics.values()],
            "section": [*self.sections.values()],
            "author": [*titles],
            "judge": sorted(scores["judge"]),
        }
        scores = sort_rows(scores[[*SCORES, *evaluators]], order)
        shown = scores.drop_duplicates(keys)[evaluators]
        n_not_run = len(printed) - int(shown.notna().sum().sum())
        return _Scores(scores.reset_index(drop=True), evaluators, n_not_run)


class _Scores(NamedTuple):
    frame: pd.DataFrame
    evaluators: list[str]
    n_not_run: int


def _compare_ranks(scores: pd.DataFrame, evaluators: Sequence[str]) -> pd.DataFrame:
    ranks = []
    for (metric, section), frame in scores.groupby(["metric", "section"], sort=False):
        theirs = frame.drop_duplicates("author").set_index("author")[evaluators]
        rankings = {
            (str(judge), mean): of_judge.set_index("author")[mean]
            for judge, of_judge in frame.groupby("judge")
            for mean in ("macro", "micro")
        }
        rankings |= {
            (evaluator, "printed"): theirs[evaluator] for evaluator in evaluators
        }
        for ((judge, mean), values), evaluator in product(rankings.items(), evaluators):
            if judge != evaluator:
                agreement = _agreement(values.reindex(theirs.index), theirs[evaluator])
                name = evaluator.removesuffix(PRINTED)
                ranks.append([metric, section, judge, mean, name, *agreement])
    return pd.DataFrame(ranks, columns=list(RANKS))


def _agreement(ours: "pd.Series[float]", theirs: "pd.Series[float]") -> list[float]:
    # The same orders, if there are too many to try all, in each comparison.
    rng = np.random.default_rng(0)
    rho, tau = (
        rank_order(
            ours.to_numpy(), theirs.to_numpy(), coefficient, n_orders=9_999, rng=rng
        )
        for coefficient in ("spearman", "kendall")
    )
    return [
        rho.n,
        round(rho.value, 12),
        rho.p,
        round(tau.value, 12),
        tau.p,
        rho.smallest_p,
    ]


def _warn_of_few(ranks: pd.DataFrame) -> list[str]:
    """Say first where no p could be small, whatever the rankings."""
    defined = ranks.dropna(subset=["smallest_p"])
    if defined.empty:
        return [
            "Too few systems have texts here and values in print to compare any ranking."
        ]
    smallest = defined["smallest_p"].min()
    if smallest < 0.05:
        return []
    n = counted(int(defined["n"].max()), "system")
    return [
        f"Only {n} can be compared, so that no p can be below {probability(smallest)}: a rank"
        " correlation of 1 with so few is weak evidence that a judge ranks systems as another."
    ]


def _put_first(paragraphs: Iterable[str], words: TableWords) -> TableWords:
    """Return what a page says of a table, with these paragraphs first."""
    return replace(words, says="\n\n".join([*paragraphs, words.says or ""]))


# How the page shows these tables; reporting/table_words.py explains the fields.
_SCORES_WORDS = TableWords(
    title="Published claim scores",
    group="Published numbers",
    pick=("metric",),
    lead=("section", "system", "judge"),
    cell=CellInfo(
        value="macro", low="low", high="high", n="n_documents", missing="n_failed"
    ),
    says="""
        Ours are means over the notes (macro), with their intervals, and all claims
        pooled (micro). The paper defines the mean over notes. Its numbers suggest that
        the scores of full notes are pooled over claims and those of sections are means
        over the notes that have a claim there, so both are here. The printed shares are
        divided by 100.
        """,
    columns={
        "section": "full notes, or a section",
        "system": "as the paper calls the author",
        "macro": "our mean over the notes",
        "micro": "our value over all claims",
        "n_undefined": "how many of the documents have no score",
        "n_expected": "answers that there should be",
        "n_failed": "answers that are missing",
    },
)
_RANKS_WORDS = TableWords(
    title="Does a judge rank systems as a printed evaluator?",
    group="Published numbers",
    pick=("metric", "section"),
    lead=("judge", "mean", "evaluator"),
    cell=CellInfo(value="spearman", n="n"),
    says="""
        Rank correlations of the systems, of our macro and micro values. The p of each is
        exact, from every order of so few systems. Rows of printed evaluators say how far
        the paper’s own rankings agree. All correlations rest on the same systems, so
        they are not independent of each other.
        """,
    columns={
        "section": "full notes, or a section",
        "mean": "by which of our values systems are ranked",
        "evaluator": "who ranks them in print",
        "n": "systems",
        "spearman": "Spearman’s correlation of both rankings",
        "spearman_p": "its exact p",
        "kendall": "Kendall’s tau-b",
        "kendall_p": "its exact p",
        "smallest_p": "no p can be smaller with so few systems",
    },
)
