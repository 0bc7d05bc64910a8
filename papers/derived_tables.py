"""Tables that records may name: tables of the contract, and some made of these for figures alone.

Intervals and draws are bootstraps over documents (`estimates.py`). Tables of single
statements are in `statement_tables.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.meta_evaluation.agreement import AGREEMENT, RATING_SUMMARIES
from metassay.meta_evaluation.confounds import CONFOUNDS
from metassay.meta_evaluation.correlations import CORRELATIONS, METRIC_CORRELATIONS
from metassay.meta_evaluation.ensembles import ENSEMBLES
from metassay.meta_evaluation.facet_weights import FACET_WEIGHTS
from metassay.meta_evaluation.summaries import POPULARITY, popularity, violins
from metassay.reporting.facets import facets_table
from metassay.reporting.published.scholarsum import PRINTED_PAPERS
from metassay.statistics.agreement import COUNT_COEFFICIENTS, count_agreement
from metassay.statistics.correlation import sorted_kendall
from metassay.statistics.document_means import Reals, means
from metassay.statistics.pairs import disagreements
from metassay.statistics.resampling import expanded_percentiles
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.documents import SOURCES
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL, NO_JUDGE, is_reference, metric_label
from metassay.tables.parquet import Table
from metassay.tables.parts import PARTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from metassay.tables.statement_scores import STATEMENT_SCORES
from metassay.tables.units import UNITS
from papers import estimates
from papers import statement_tables as statements
from papers.record import Record

Frames = Mapping[str, pd.DataFrame]

# Only the tables of the contract that figures show, so that no other makes figures
# stale.
DRAWN_FROM: dict[str, Table] = {
    t.name: t
    for t in (
        SOURCES,
        PARTS,
        ALIGNMENTS,
        SCORES,
        LEADERBOARD,
        RATINGS,
        CORRELATIONS,
        RATING_SUMMARIES,
        METRIC_CORRELATIONS,
        FACET_WEIGHTS,
        ENSEMBLES,
        CONFOUNDS,
        JUDGE_CARDS,
        AGREEMENT,
        UNITS,
        STATEMENT_SCORES,
    )
}
# BMRC, in the order of abstracts
FACETS = ("background", "method", "result", "conclusion")
SYSTEMS = "systems"  # all authors but the reference
WHOLE_SOURCE = "whole source"  # as if every passage were aligned
WITHIN, TOGETHER = "in ensembles", "together"
BEST, LARGEST = "best ensemble", "largest of all subsets"

_TEXT = ["doc_id", "author"]


def _whole(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of whole texts that need no judge."""
    return scores[(scores["part"] == FULL) & (scores["judge"] == NO_JUDGE)]


# ---- means, spreads and shares ---------------------------------------------------------------


def facet_shares(frames: Frames) -> pd.DataFrame:
    """Each author's mean share of words per facet: `reporting.facets.facets_table`, 0 to 1."""
    return facets_table(frames["parts"], FACETS, estimates.RESAMPLING)


def text_numbers(frames: Frames) -> pd.DataFrame:
    """The spread over whole texts of metrics without a judge, and of how common words are.

    One row per quantity (a metric, or `popularity`) and author: mean over texts with
    the interval, and in `draws` the value of every text that has one.
    """
    quantities = {
        str(metric): texts.set_index(_TEXT)["value"].astype("float64")
        for metric, texts in _whole(frames["scores"]).groupby("metric", sort=True)
    }
    common = popularity(frames["sources"], frames["parts"])
    quantities[POPULARITY] = pd.Series(common, dtype="float64")
    rows = []
    for quantity, values in quantities.items():
        matrix = values.rename_axis(_TEXT).unstack("author").sort_index()
        interval = means(
            matrix.to_numpy(dtype=float), list(matrix.index), estimates.RESAMPLING
        )
        for place, author in enumerate(matrix.columns):
            draws = matrix[author].dropna().tolist()
            if draws:
                ends = (interval.mean[place], interval.low[place], interval.high[place])
                rows.append((quantity, author, *ends, len(draws), draws))
    return pd.DataFrame(
        rows, columns=["quantity", "author", *estimates.ESTIMATE, "draws"]
    )


def means_of_first(frames: Frames) -> pd.DataFrame:
    """Means by metric or criterion and author: of all documents, and of the first PRINTED_PAPERS.

    `documents` says which: `all` or `first`. Documents are those with a rating, in the
    order of their keys.
    """
    ratings = frames["ratings"][frames["ratings"]["part"] == FULL]
    columns = ["metric", "author", "doc_id", "value"]
    rated = ratings.rename(columns={"criterion": "metric"})
    both = pd.concat([_whole(frames["scores"])[columns], rated[columns]])
    documents = sorted(set(ratings["doc_id"]))
    rows = []
    for which, chosen in (("first", documents[:PRINTED_PAPERS]), ("all", documents)):
        texts = both[both["doc_id"].isin(chosen)]
        for key, values in texts.groupby(["metric", "author"], sort=True):
            per_text = values.groupby("doc_id", sort=True)[["value"]].mean()
            interval = means(
                per_text.to_numpy(dtype=float),
                list(per_text.index),
                estimates.RESAMPLING,
            )
            n = int(per_text["value"].notna().sum())
            rows.append(
                (which, *key, interval.mean[0], interval.low[0], interval.high[0], n)
            )
    return pd.DataFrame(
        rows, columns=["documents", "metric", "author", *estimates.ESTIMATE]
    )


def rating_violins(frames: Frames) -> pd.DataFrame:
    """`summaries.violins` on the ratings' own scale: mean, interval and `all_ratings`."""
    ratings, scale = frames["ratings"], Criterion(low=0, high=1, better="higher")
    return violins(
        ratings, dict.fromkeys(set(ratings["criterion"]), scale), estimates.RESAMPLING
    )


def average_author_kinds(frames: Frames) -> pd.DataFrame:
    """Means of metrics without a judge over all texts of the reference, and of all systems.

    `author` is `reference` or SYSTEMS; every text counts once; resamples draw
    documents.
    """
    scores = _whole(frames["scores"]).dropna(subset=["value"])
    kind = scores["author"].where(
        scores["author"].map(is_reference).astype(bool), SYSTEMS
    )
    kinds = scores.assign(kind=kind).groupby(["metric", "kind"], sort=True)
    rows = [(*key, *estimates.mean_of(texts, "value")) for key, texts in kinds]
    return pd.DataFrame(rows, columns=["metric", "author", *estimates.ESTIMATE])


def aligned_passages(frames: Frames) -> pd.DataFrame:
    """Passages per statement of systems' texts: aligned ones by method, and WHOLE_SOURCE.

    A statement without an aligned passage counts as 0. Resamples draw documents.
    """
    aligned = statements.drop_references(frames["alignments"])
    n_passages = frames["sources"].set_index("doc_id")["passages"].map(len)
    counted = aligned[["doc_id", "method"]].assign(n=aligned["passages"].map(len))
    full = counted.assign(method=WHOLE_SOURCE, n=counted["doc_id"].map(n_passages))
    methods = pd.concat([counted, full]).groupby("method", sort=True)
    rows = [(method, *estimates.mean_of(group, "n")) for method, group in methods]
    return pd.DataFrame(rows, columns=["method", *estimates.ESTIMATE])


def facet_grades(frames: Frames) -> pd.DataFrame:
    """Grades of single facets of whole texts, as shares of their scales, by people and metrics.

    `by` is `people` (the mean over raters) or a metric's name without the facet's at
    its end.
    """
    ratings, scores = frames["ratings"], _whole(frames["scores"])
    graded = ratings[(ratings["part"] == FULL) & ratings["criterion"].isin(FACETS)]
    key = [*_TEXT, "facet", "by"]
    pieces = [graded.rename(columns={"criterion": "facet"}).assign(by="people")]
    for facet in FACETS:
        group = scores[scores["metric"].str.endswith(f"_{facet}")]
        pieces.append(
            group.assign(facet=facet, by=group["metric"].str.removesuffix(f"_{facet}"))
        )
    grades = pd.concat([piece[[*key, "value"]] for piece in pieces]).dropna(
        subset=["value"]
    )
    return grades.groupby(key, sort=True)["value"].mean().reset_index()


# ---- metrics among themselves ----------------------------------------------------------------


def _matrices(scores: pd.DataFrame, group: str, part: str) -> list[tuple[str, Reals]]:
    """Label and scores of the metrics whose name ends in the group's, as systems by documents.

    The same systems and documents in all; NaN where there is no score.
    """
    scores = statements.drop_references(scores[scores["part"] == part])
    scores = scores[scores["metric"].str.endswith(f"_{group}")]
    authors, documents = sorted(set(scores["author"])), sorted(set(scores["doc_id"]))
    matrices: list[tuple[str, Reals]] = []
    for (metric, judge), values in scores.groupby(["metric", "judge"], sort=True):
        matrix = values.pivot(index="author", columns="doc_id", values="value")
        matrix = matrix.reindex(index=authors, columns=documents)
        matrices.append(
            (metric_label(str(metric), str(judge)), matrix.to_numpy(dtype=np.float64))
        )
    return matrices


def recall_precision(frames: Frames) -> pd.DataFrame:
    """Kendall's tau-b of every two metrics of a group over all whole texts that both score.

    A group is the metrics whose name ends in `recall` or in `precision`; references are
    left out. tau is null if fewer than two texts are scored by both, or a metric's
    scores are all equal; n: texts. Each pair comes in both orders; no metric is paired
    with itself.
    """
    rows: list[tuple[object, ...]] = []
    for group in ("recall", "precision"):
        for (first, a), (second, b) in product(
            _matrices(frames["scores"], group, FULL), repeat=2
        ):
            if first == second:
                continue
            both = np.isfinite(a) & np.isfinite(b)
            x, y = a[both], b[both]
            varied = len(set(x)) > 1 and len(set(y)) > 1
            tau = sorted_kendall(x, y) if varied else np.nan
            rows.append((group, first, second, tau, len(x)))
    columns = ["group", "first", "second", "tau", "n"]
    return pd.DataFrame(rows, columns=columns).astype({"tau": "float64"})


def recall_conflicts(frames: Frames) -> pd.DataFrame:
    """Pairs of texts of one document that two metrics of recall put in opposite orders, by part.

    A tie on either side is no conflict. n_pairs: pairs that both metrics score.
    """
    scores = frames["scores"]
    rows: list[tuple[object, ...]] = []
    for part in sorted(set(scores["part"])):
        for (first, a), (second, b) in combinations(
            _matrices(scores, "recall", part), 2
        ):
            texts = np.count_nonzero(np.isfinite(a) & np.isfinite(b), axis=0)
            n_pairs = int((texts * (texts - 1) // 2).sum())
            n = int(disagreements(a, b).per_document.sum())
            rows += [
                (part, *names, n_pairs, n)
                for names in ((first, second), (second, first))
            ]
    return pd.DataFrame(
        rows, columns=["part", "first", "second", "n_pairs", "n_conflicts"]
    )


def pairs_of_scorers(frames: Frames) -> pd.DataFrame:
    """Table `metric_correlations`, its two scorers as `row` and `column`, and again swapped."""
    pairs = frames["metric_correlations"]
    names = ({"first": "row", "second": "column"}, {"second": "row", "first": "column"})
    columns = ["study", "part", "coefficient", "row", "column", "value", "n"]
    both = [pairs.rename(columns=renamed)[columns] for renamed in names]
    return pd.concat(both, ignore_index=True)


def average_ensembles(frames: Frames) -> pd.DataFrame:
    """Table `ensembles` by its single members: alone, and the mean of all ensembles with them.

    `what` is ALONE or WITHIN, or TOGETHER for the two further members: BEST, the best
    ensemble on texts that it was not chosen on, and LARGEST, the largest correlation of
    any subset: what papers print as the best, too high since it was chosen on its own
    texts.
    """
    ensembles = frames["ensembles"]
    kind, size = ensembles["kind"], ensembles["size"]
    subsets = ensembles[(kind == "subset") & ensembles["value"].notna()]
    largest = subsets.groupby(["study", "criterion", "part", "coefficient"])[
        "value"
    ].idxmax()
    winners = [
        ensembles[kind == "best"].assign(members=BEST),
        subsets.loc[largest].assign(members=LARGEST),
    ]
    pieces = [
        ensembles[(kind == "subset") & (size == 1)].assign(what=estimates.ALONE),
        ensembles[kind == "containing"].assign(what=WITHIN),
        pd.concat(winners).assign(what=TOGETHER, low=float("nan"), high=float("nan")),
    ]
    columns = [
        "criterion",
        "part",
        "coefficient",
        "members",
        "what",
        *estimates.ESTIMATE,
    ]
    return pd.concat([piece[columns] for piece in pieces], ignore_index=True)


# ---- copying ---------------------------------------------------------------------------------


def least_copied(frames: Frames) -> pd.DataFrame:
    """Pearson's r over systems' whole texts, with its true sign, by criterion and metric.

    `share`: only the per cent of texts with metric, rating and coverage that copy least
    (lowest coverage; ties with the last one are included). `what`: the metric alone, or
    the mean of metric and coverage, both standardised over those texts (for 100 per
    cent, and not for coverage itself). Ratings of a text are averaged over raters. low,
    high: bootstrap over documents, with the texts chosen once for all. Table
    `confounds` has the same numbers without intervals, on which no figure should rest.
    Source: Adams et al. 2023, section 7.4.
    """
    scores, ratings = (
        statements.drop_references(frame[frame["part"] == FULL]).dropna(
            subset=["value"]
        )
        for frame in (frames["scores"], frames["ratings"])
    )
    people = ratings.groupby(["criterion", *_TEXT])["value"].mean()
    covered = scores[(scores["metric"] == "coverage") & (scores["judge"] == NO_JUDGE)]
    coverage = covered.set_index(_TEXT)["value"].rename("coverage")
    rows: list[tuple[object, ...]] = []
    for (metric, judge), group in scores.groupby(["metric", "judge"], sort=True):
        values = group.set_index(_TEXT)["value"].rename("metric")
        for criterion in sorted(set(people.index.get_level_values(0))):
            rated = people.loc[criterion].rename("people")
            both = (
                pd.concat([values, rated, coverage], axis=1, join="inner")
                .dropna()
                .sort_index()
            )
            document = pd.factorize(both.index.get_level_values(0))[0].astype(np.intp)
            graded, by_people, copied = both.to_numpy(dtype=float).T
            texts = estimates.Texts(graded, by_people, copied, document)
            rows += [
                (criterion, metric, judge, *row)
                for row in estimates.correlate_shares(texts, str(metric))
            ]
    return pd.DataFrame(
        rows,
        columns=["criterion", "metric", "judge", "share", "what", *estimates.ESTIMATE],
    )


# ---- raters ----------------------------------------------------------------------------------


def agreement_of_counts(frames: Frames) -> pd.DataFrame:
    """Agreement of raters who counted in whole texts of systems, the mean over pairs of raters.

    One row per study, criterion and coefficient
    (`statistics.agreement.count_agreement`), 1 is perfect. n: texts that two raters
    rated, over the pairs. A pair whose coefficient is undefined makes the mean null.
    low, high: bootstrap over documents, with the raters fixed. Shares are treated as
    counts, too: choose the criteria that are counts.
    """
    ratings = statements.drop_references(frames["ratings"]).dropna(subset=["value"])
    text_ratings = ratings[(ratings["unit"] == "text") & (ratings["part"] == FULL)]
    rows: list[tuple[object, ...]] = []
    for (study, criterion), texts in text_ratings.groupby(
        ["study", "criterion"], sort=True
    ):
        wide = texts.set_index([*_TEXT, "rater"])["value"].unstack("rater").sort_index()
        documents = pd.factorize(wide.index.get_level_values(0))[0].astype(np.intp)
        size, table = int(documents.max()) + 1, wide.to_numpy(dtype=np.float64).T
        weights = np.concatenate((np.ones((1, size)), estimates.resample_counts(size)))
        coefficients, n = [], 0
        for pair in combinations(table, 2):
            both = np.isfinite(pair).all(axis=0)
            n += int(np.count_nonzero(both))
            if both.any():
                coefficients.append(
                    count_agreement(np.array(pair)[:, both], documents[both], weights)
                )
        if coefficients:
            averages = np.mean(coefficients, axis=0)
            low, high = expanded_percentiles(
                averages[:, 1:].T, size, estimates.RESAMPLING.confidence
            )
            rows += [
                (study, criterion, *row, n)
                for row in zip(
                    COUNT_COEFFICIENTS, averages[:, 0], low, high, strict=True
                )
            ]
    return pd.DataFrame(
        rows, columns=["study", "criterion", "coefficient", *estimates.ESTIMATE]
    )


# ---- which tables records need ---------------------------------------------------------------


class Derived(NamedTuple):
    """The tables of the contract that a table is made of, and how."""

    sources: tuple[str, ...]
    make: Callable[[Frames], pd.DataFrame]

    @property
    def summary(self) -> str:
        """What it contains: the first line of its maker's docstring."""
        return str(self.make.__doc__).split("\n", 1)[0]


DERIVED: dict[str, Derived] = {
    "recall_precision": Derived(("scores",), recall_precision),
    "recall_conflicts": Derived(("scores",), recall_conflicts),
    "facet_shares": Derived(("parts",), facet_shares),
    "text_numbers": Derived(("sources", "parts", "scores"), text_numbers),
    "means_of_first": Derived(("scores", "ratings"), means_of_first),
    "rating_violins": Derived(("ratings",), rating_violins),
    "by_kind_of_author": Derived(("scores",), average_author_kinds),
    "aligned_passages": Derived(("alignments", "sources"), aligned_passages),
    "facet_grades": Derived(("scores", "ratings"), facet_grades),
    "least_copied": Derived(("scores", "ratings"), least_copied),
    "least_copied_statements": Derived(
        ("statement_scores", "ratings"), statements.least_copied_statements
    ),
    "distilled": Derived(("statement_scores", "ratings"), statements.distilled),
    "errors_by_position": Derived(("ratings",), statements.errors_by_position),
    "statement_correlations": Derived(
        ("correlations",), statements.statement_correlations
    ),
    "correlation_spread": Derived(
        ("correlations", "statement_scores"), statements.correlation_spread
    ),
    "tuning_by_use": Derived(("correlations",), statements.tuning_by_use),
    "sizes": Derived(("sources", "parts", "units"), statements.sizes),
    "in_ensembles": Derived(("ensembles",), average_ensembles),
    "metrics_of_notes": Derived(
        ("scores", "leaderboard", "ratings"), statements.metrics_of_notes
    ),
    "error_weights": Derived((), statements.error_weights),
    "agreement_of_counts": Derived(("ratings",), agreement_of_counts),
    "pairs_of_scorers": Derived(("metric_correlations",), pairs_of_scorers),
}


def source_tables(name: str) -> Sequence[str]:
    """Return the tables of the contract behind the table that a record names."""
    return DERIVED[name].sources if name in DERIVED else (name,)


def needed_tables(record: Record) -> list[tuple[str, str]]:
    """Return benchmark and table of all that a record reads, sorted; empty for an open record."""
    if record.open:
        return []
    return sorted(
        {(n.benchmark, t) for n in record.all_numbers for t in source_tables(n.table)}
    )


def unknown_tables(record: Record) -> list[str]:
    """Return the tables that a record names and that do not exist."""
    return sorted(
        {n.table for n in record.all_numbers} - set(DRAWN_FROM) - set(DERIVED)
    )
