"""What people gave each system, and every system's place by each metric and criterion."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.format.frames import records
from metassay.format.numbers import short, short_interval
from metassay.meta_evaluation.options import BELOW_OTHERS
from metassay.meta_evaluation.study import VERSUS
from metassay.reporting.names import sorted_authors
from metassay.reporting.section import metric_name
from metassay.statistics.document_means import Resampling, means
from metassay.tables.names import FULL, is_reference
from metassay.tables.summaries import types


def standing_out(agreement: pd.DataFrame) -> list[str]:
    """Who agrees less with the others than these do with each other, in plain words."""
    found = records(agreement[agreement["coefficient"] == BELOW_OTHERS])
    named = [row for row in found if row["low"] is not None and row["low"] > 0]
    return [
        f"{row['rater_a']} agrees less than the others by {row['criterion']} (study"
        f" {row['study']}): the mean Spearman correlation with another rater is"
        f" {short(row['value'])} {short_interval(row['low'], row['high'])} below that of the others"
        " with each other. Look at this rater’s ratings before you use the mean of all."
        for row in sorted(named, key=lambda r: (r["criterion"], r["study"], -r["value"]))
    ]


# What each system's texts were given, and the mean of it, on one scale for all.

_KEY = ["study", "criterion", "part"]


def violins(
    ratings: pd.DataFrame, criteria: Mapping[str, Criterion], how: Resampling
) -> pd.DataFrame:
    """One row per study, criterion, part and system, with every rating that it was given.

    Ratings are brought from the declared scale of their criterion to 0 (worst) to 1 (best). mean:
    of `all_ratings` of the system's texts (n, of n_documents), claim by claim where claims were
    rated; comparisons and the reference's own ratings are left out. low, high: its interval; each
    resample draws documents, the same for all systems of a criterion; null with fewer than two
    documents. p25, median, p75: quartiles of the ratings themselves.
    """
    used = ratings.dropna(subset=["value"])
    used = used[
        ~used["unit"].str.startswith(VERSUS) & ~used["author"].map(is_reference).astype(bool)
    ]
    made: list[tuple[object, ...]] = []
    for (study, criterion, part), mine in used.groupby(_KEY, sort=True):
        of = criteria[str(criterion)]
        share = (mine["value"] - of.low) / (of.high - of.low)
        scaled = mine.assign(value=share if of.better == "higher" else 1 - share)
        made += [(study, criterion, part, *row) for row in _of_systems(scaled, how)]
    every = {**types("rating_violins"), "all_ratings": "object"}
    return pd.DataFrame(made, columns=list(every)).astype(every)


def _of_systems(mine: pd.DataFrame, how: Resampling) -> list[tuple[object, ...]]:
    authors, documents = sorted_authors(mine["author"]), sorted(set(mine["doc_id"]))
    ordered = mine.sort_values(["doc_id", "author", "unit", "rater"])  # sums don't depend on it
    at = tuple(
        pd.Index(names).get_indexer(pd.Index(ordered[of]))
        for names, of in ((documents, "doc_id"), (authors, "author"))
    )
    sums, numbers = np.zeros((2, len(documents), len(authors)))
    np.add.at(sums, at, ordered["value"].to_numpy())
    np.add.at(numbers, at, 1.0)
    sums[numbers == 0] = np.nan
    found = means(sums, documents, how, numbers)
    made: list[tuple[object, ...]] = []
    for place, author in enumerate(authors):
        n_documents = int(np.isfinite(sums[:, place]).sum())
        given = ordered.loc[ordered["author"] == author, "value"].to_numpy(dtype=float)
        ends = (found.mean[place], found.low[place], found.high[place])
        quartiles = np.quantile(given, [0.25, 0.5, 0.75])
        made.append((author, *ends, *quartiles, len(given), n_documents, given.tolist()))
    return made


# Every system's mean on every metric and criterion, and its rank among the systems.

METRIC, PEOPLE = "metric", "people"

_DIGITS = 12  # what tables keep: what differs behind them is a tie


def ranks_table(
    leaderboard: pd.DataFrame, summaries: pd.DataFrame, criteria: Mapping[str, Criterion]
) -> pd.DataFrame:
    """One row per metric or human criterion and system; empty with fewer than two systems.

    Metrics: those that say which text is better, on whole texts (macro of table leaderboard).
    Criteria: means of table rating_summaries, of whole texts or of parts. rank: 1 is the best;
    equal values share a rank, and the next one is left out; null without a value. n_ranked: how
    many systems have one.
    """
    board = leaderboard[(leaderboard["part"] == FULL) & (leaderboard["better"] != "neither")]
    made = [
        row | {"scorer_is": METRIC, "scorer": metric_name(row), "study": "", "value": row["macro"]}
        for row in records(board)
    ]
    made += [
        row
        | {"scorer_is": PEOPLE, "scorer": row["criterion"], "metric": "", "judge": ""}
        | {"author": row["name"], "value": row["mean"]}
        | {"better": criteria[row["criterion"]].better}
        for row in records(summaries[summaries["of"] == "author"])
    ]
    ranks = pd.DataFrame(made, columns=list(types("ranks"))).astype({"value": "float64"})
    ranks = ranks[~ranks["author"].map(is_reference).astype(bool)].reset_index(drop=True)
    if ranks["author"].nunique() < 2:
        ranks = ranks[:0]
    rounded = ranks["value"].map(lambda value: float(f"{value:.{_DIGITS}g}")).astype("float64")
    scorer = [ranks[name] for name in ("scorer_is", "scorer", "study", "part")]
    ordered = rounded.where(ranks["better"] != "higher", -rounded).groupby(scorer, sort=False)
    ranks = ranks.assign(rank=ordered.rank(method="min"), n_ranked=ordered.transform("count"))
    return ranks.astype(types("ranks"))
