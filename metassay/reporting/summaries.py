"""Tables that the report makes for its reader; `tables.summaries` has their columns."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.options import Criterion
from metassay.format.frames import records, rows
from metassay.meta_evaluation.study import VERSUS
from metassay.reporting.names import Metric, sorted_authors, sorted_metrics
from metassay.reporting.section import metric_name
from metassay.statistics.best import apart, compact_letters, places
from metassay.statistics.document_means import Reals, Resampling, mean_draws, means, worth
from metassay.tables.names import FULL, NO_JUDGE, REFERENCE, SIGNS, is_reference
from metassay.tables.summaries import framed, types
from metassay.text.citations import strip_citations
from metassay.text.tokens import content_tokens

MEASURED = ("words", "numbers")  # metrics of table scores
POPULARITY = "popularity"
QUANTILES = {"p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75, "p90": 0.9}

_PER = 1e6  # words

Text = tuple[str, str]  # doc_id, author


# What each author's texts are like beside the reference: words, numbers, how common words are.


def profile_table(
    sources: pd.DataFrame, parts: pd.DataFrame, scores: pd.DataFrame, how: Resampling
) -> pd.DataFrame:
    """One row per quantity and author: its distribution over whole texts, and beside the reference.

    Quantities: the metrics words and numbers, where they were measured, and `popularity`. Intervals
    are of a bootstrap over documents, or clusters of them. The difference to the reference is of
    documents that have both; null without such a document, and for the reference. Columns:
    `tables.summaries`.
    """
    found = {
        **{name: _measured(scores, name) for name in MEASURED},
        POPULARITY: popularity(sources, parts),
    }
    made: list[tuple[object, ...]] = []
    for quantity, values in found.items():
        if any(value is not None for value in values.values()):
            made += [(quantity, *row) for row in _of_authors(values, how)]
    return framed("profile", made)


def popularity(sources: pd.DataFrame, parts: pd.DataFrame) -> dict[Text, float | None]:
    """How common each whole text's words are in the benchmark: needs no list from elsewhere.

    Mean over the text's content words (text/tokens.py) of log10 of how often the word occurs per
    million content words in the sources and references of the other documents, one occurrence
    added, so that a word that is in none has a value too. The text's own document is left out:
    what is copied from it is not common for that. Null for a text that failed or has no content
    word, and where no other document has any.
    """
    known: dict[str, Counter[str]] = {}
    for doc_id, passages in rows(sources, "doc_id", "passages"):
        known.setdefault(doc_id, Counter()).update(content_tokens("\n".join(passages)))
    whole = parts[parts["part"] == FULL]
    texts = {
        (doc_id, author): None if text is None else content_tokens(strip_citations(text))
        for doc_id, author, text in rows(whole, "doc_id", "author", "text")
    }
    for (doc_id, author), tokens in texts.items():
        if is_reference(author) and tokens:
            known.setdefault(doc_id, Counter()).update(tokens)
    every: Counter[str] = Counter()
    for counts in known.values():
        every.update(counts)
    return {key: _common(tokens, every, known[key[0]]) for key, tokens in texts.items()}


def _common(
    tokens: Sequence[str] | None, every: Mapping[str, int], own: Mapping[str, int]
) -> float | None:
    others = sum(every.values()) - sum(own.values())
    if not tokens or not others:
        return None
    times = (every[token] - own[token] + 1 for token in tokens)
    return math.fsum(math.log10(_PER * n / others) for n in times) / len(tokens)


def _measured(scores: pd.DataFrame, metric: str) -> dict[Text, float | None]:
    chosen = scores[
        (scores["metric"] == metric) & (scores["part"] == FULL) & (scores["judge"] == NO_JUDGE)
    ]
    return {(doc_id, a): value for doc_id, a, value in rows(chosen, "doc_id", "author", "value")}


def _of_authors(values: Mapping[Text, float | None], how: Resampling) -> list[tuple[object, ...]]:
    authors = sorted_authors(author for _, author in values)
    places = {doc_id: row for row, doc_id in enumerate(sorted({d for d, _ in values}))}
    table = np.full((len(places), len(authors)), np.nan)
    for (doc_id, author), value in values.items():
        if value is not None:
            table[places[doc_id], authors.index(author)] = value
    beside = np.full_like(table, np.nan)
    if authors[0] == REFERENCE:
        beside[:, 1:] = table[:, 1:] - table[:, :1]
    mean, less = (means(one, list(places), how) for one in (table, beside))
    made: list[tuple[object, ...]] = []
    for place, author in enumerate(authors):
        own = table[np.isfinite(table[:, place]), place]
        both = int(np.isfinite(beside[:, place]).sum())
        missing = sum(one == author and value is None for (_, one), value in values.items())
        ends = (mean.mean[place], mean.low[place], mean.high[place])
        apart = (less.mean[place], less.low[place], less.high[place])
        made.append((author, len(own), missing, *ends, *_quantiles(own), *apart, both))
    return made


def _quantiles(values: Reals) -> list[float]:
    if not len(values):
        return [math.nan] * len(QUANTILES)
    return [float(value) for value in np.quantile(values, list(QUANTILES.values()))]


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


# Which systems a metric cannot tell apart, and how often two metrics disagree.


def system_groups(
    scores: pd.DataFrame, better: Mapping[Metric, str], how: Resampling, designs: pd.DataFrame
) -> pd.DataFrame:
    """One row per metric and system: its mean over whole texts, its place, and `group`, letters.

    Systems that share a letter cannot be told apart at 1 - `how.confidence`. All pairs of systems
    of a metric are tested at once, on the documents that both have: `best.behind_best`, each system
    taken for the best in turn, over a bootstrap of clusters of documents, two-sided. Letters are a
    compact letter display (Piepho 2004, An algorithm for a letter-based representation of
    all-pairwise comparisons), `a` for the best. Metrics without a direction, references and systems
    without any score are left out; one system has no row. n_missing: documents of the metric
    without a score of the system.

    No rows where ratings and scores of a study in `designs` show that documents belong together
    and nobody gave the clusters: systems would be told apart that are equal.
    """
    if clusters_found(designs, how):
        return framed("system_groups", [])
    whole = scores[(scores["part"] == FULL) & ~scores["author"].map(is_reference).astype(bool)]
    made: list[tuple[object, ...]] = []
    for metric in sorted_metrics(m for m, which in better.items() if which in SIGNS):
        mine = whole[(whole["metric"] == metric[0]) & (whole["judge"] == metric[1])]
        values = mine.pivot(index="doc_id", columns="author", values="value").sort_index()
        values = values[sorted_authors(values.columns[values.notna().any()])]
        if values.shape[1] < 2:
            continue
        table = SIGNS[better[metric]] * values.to_numpy(dtype=np.float64)
        means = np.array([np.mean(column[np.isfinite(column)]) for column in table.T])
        letters = compact_letters(
            _apart(table, list(values.index), how), np.argsort(-means, kind="stable")
        )
        n = np.isfinite(table).sum(axis=0)
        counts = zip(n.tolist(), (len(table) - n).tolist(), strict=True)
        for author, mean, place, letter, (there, lacking) in zip(
            values.columns,
            SIGNS[better[metric]] * means,
            places(means),
            letters,
            counts,
            strict=True,
        ):
            made.append((*metric, author, float(mean), int(place), letter, there, lacking))
    return framed("system_groups", made)


def clusters_found(designs: pd.DataFrame, how: Resampling) -> bool:
    """Whether the data of any study show clusters that `how`, by the user or by copies, has not."""
    known = len(set(how.clusters.values())) if how.clusters else np.inf
    fewer = designs["n_clusters"] < np.minimum(known, designs["n_documents"])
    return bool((fewer & ~designs["given"].str.contains("cluster")).any())


def _apart(values: Reals, documents: Sequence[str], how: Resampling) -> NDArray[np.bool_]:
    """Which two columns of (documents, systems) differ: (systems, systems)."""
    size = values.shape[1]
    first, second = np.triu_indices(size, 1)
    cluster = how.number(documents)
    drawn = mean_draws(values[:, second] - values[:, first], how, cluster)
    draws = np.full((len(drawn), size, size), np.nan)
    draws[:, first, second], draws[:, second, first] = drawn, -drawn
    there = np.isfinite(values).any(axis=1, keepdims=True)
    (n,) = worth(np.asarray(there), cluster)
    return apart(draws, float(n), 1 - how.confidence)


def conflict_shares(conflicts: pd.DataFrame) -> pd.DataFrame:
    """Table `conflicts` over all documents: a row per part and two metrics; share null of none."""
    totals = (
        conflicts.assign(n_documents=(conflicts["n_pairs"] > 0).astype("int64"))
        .groupby(["part", "metric_a", "metric_b"], as_index=False)[
            ["n_pairs", "n_disagreements", "n_documents"]
        ]
        .sum()
    )
    some = totals["n_pairs"].where(totals["n_pairs"] > 0)
    return totals.assign(share=(totals["n_disagreements"] / some).astype("float64"))


# Rubrics: grades and their spread.


_ROUNDED = 9  # decimals: value x high is the level again


class RubricTables(NamedTuple):
    """`grades`: means and SD; `levels`: how often each grade was given."""

    grades: pd.DataFrame
    levels: pd.DataFrame


def rubric_tables(criteria: pd.DataFrame, scores: pd.DataFrame) -> RubricTables:
    """Per criterion, judge and author: mean and SD of the grades, and each grade's count.

    Of table scores, on whole texts; a score that is a share of the highest level is turned back
    into the level. sd is divided by n (ddof 0). n: texts with a grade; n_missing: texts whose
    answer failed; n_unscored: texts that the criterion does not score. Sums of penalties and
    overall scores have means, and no levels.
    """
    grades: list[tuple[Any, ...]] = []
    levels: list[tuple[Any, ...]] = []
    whole = scores[scores["part"] == FULL].sort_values("doc_id")
    for one in sorted(records(criteria), key=lambda row: (row["rubric"], row["position"])):
        times = one["high"] if one["value"] == "share" and one["kind"] == "scale" else 1.0
        mine = whole[whole["metric"] == one["metric"]]
        texts = dict(list(mine.groupby(["judge", "author"])))
        for judge in sorted(set(mine["judge"])):
            for author in sorted_authors(author for of, author in texts if of == judge):
                of = texts[judge, author]
                key = (one["rubric"], one["criterion"], judge, author)
                given = [round(v * times, _ROUNDED) for v in of["value"].dropna().tolist()]
                missing = int((of["value"].isna() & (of["n_failed"] > 0)).sum())
                counts = (len(given), missing, len(of) - len(given) - missing)
                grades.append((*key, *_mean_and_sd(given), *counts))
                ends = (one["low"], one["high"], one["better"])
                if one["kind"] in ("scale", "penalties"):
                    found = sorted(Counter(given).items())
                    levels += [(*key, grade, *ends, n, n / len(given)) for grade, n in found]
    return RubricTables(framed("rubric_grades", grades), framed("rubric_levels", levels))


def _mean_and_sd(given: list[float]) -> tuple[float | None, float | None]:
    if not given:
        return None, None
    mean = math.fsum(given) / len(given)
    return mean, math.sqrt(math.fsum((one - mean) ** 2 for one in given) / len(given))
