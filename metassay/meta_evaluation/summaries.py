"""Tables of a benchmark that sum up others for readers; `tables.summaries` has their columns."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.options import Criterion
from metassay.format.frames import records, rows
from metassay.meta_evaluation.study import VERSUS
from metassay.statistics.agreement import cohen_kappa, krippendorff_alpha, share_within
from metassay.statistics.best import apart, compact_letters, places
from metassay.statistics.document_means import (
    Reals,
    Resampling,
    mean_draws,
    means,
    worth,
)
from metassay.statistics.exact_sums import mean_without_gaps
from metassay.statistics.resampling import percentiles
from metassay.tables.names import (
    FULL,
    NO_JUDGE,
    REFERENCE,
    SIGNS,
    is_reference,
    metric_label,
    sorted_authors,
)
from metassay.tables.summaries import make_frame, types
from metassay.text.citations import strip_citations
from metassay.text.tokens import content_tokens

MEASURED = ("words", "numbers")  # metrics of table scores
POPULARITY = "popularity"
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)

_PER = 1e6  # words

Text = tuple[str, str]  # doc_id, author


def _drop_references(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[~rows["author"].map(is_reference).astype(bool)]


def _whole_of_systems(rows: pd.DataFrame) -> pd.DataFrame:
    return _drop_references(rows[rows["part"] == FULL])


# What each author's texts are like beside the reference: words, numbers, how common
# words are.


def profile_table(
    sources: pd.DataFrame, parts: pd.DataFrame, scores: pd.DataFrame, how: Resampling
) -> pd.DataFrame:
    """Return a row per quantity and author: its distribution, and beside the reference.

    Quantities of whole texts: the metrics words and numbers, where they were measured,
    and `popularity`. Intervals are of a bootstrap over documents, or clusters of them.
    The difference to the reference is of documents that have both; null without such a
    document, and for the reference. Columns: `tables.summaries`.
    """
    whole = scores[(scores["part"] == FULL) & (scores["judge"] == NO_JUDGE)]
    quantities: dict[str, Mapping[Text, float | None]] = {
        metric: {
            (doc_id, author): value
            for name, doc_id, author, value in rows(
                whole, "metric", "doc_id", "author", "value"
            )
            if name == metric
        }
        for metric in MEASURED
    }
    quantities[POPULARITY] = popularity(sources, parts)
    lines: list[tuple[object, ...]] = []
    for quantity, values in quantities.items():
        if any(value is not None for value in values.values()):
            lines += [(quantity, *row) for row in _average_authors(values, how)]
    return make_frame("profile", lines)


def popularity(sources: pd.DataFrame, parts: pd.DataFrame) -> dict[Text, float | None]:
    """Measure how common each whole text's words are in the benchmark, without any other list.

    Mean over the text's content words (text/tokens.py) of log10 of how often the word
    occurs per million content words in the sources and references of the other
    documents, one occurrence added, so that a word that is in none has a value too. The
    text's own document is left out: what is copied from it is not common for that. Null
    for a text that failed or has no content word, and where no other document has any.
    """
    by_document: dict[str, Counter[str]] = {}
    for doc_id, passages in rows(sources, "doc_id", "passages"):
        by_document.setdefault(doc_id, Counter()).update(
            content_tokens("\n".join(passages))
        )
    whole = parts[parts["part"] == FULL]
    texts = {
        (doc_id, author): None
        if text is None
        else content_tokens(strip_citations(text))
        for doc_id, author, text in rows(whole, "doc_id", "author", "text")
    }
    for (doc_id, author), tokens in texts.items():
        if is_reference(author) and tokens:
            by_document.setdefault(doc_id, Counter()).update(tokens)
    every: Counter[str] = Counter()
    for counts in by_document.values():
        every.update(counts)
    return {
        key: _common(tokens, every, by_document[key[0]])
        for key, tokens in texts.items()
    }


def _common(
    tokens: Sequence[str] | None, every: Mapping[str, int], document: Mapping[str, int]
) -> float | None:
    others = sum(every.values()) - sum(document.values())
    if not tokens or not others:
        return None
    times = (every[token] - document[token] + 1 for token in tokens)
    return math.fsum(math.log10(_PER * n / others) for n in times) / len(tokens)


def _average_authors(
    values: Mapping[Text, float | None], how: Resampling
) -> Iterator[tuple[object, ...]]:
    series = pd.Series(values, dtype="float64")
    table = series.unstack()  # documents x authors
    table = table[sorted_authors(table.columns)]
    beside = table.sub(table.get(REFERENCE, np.nan), axis=0)
    beside[beside.columns[:1]] = np.nan
    mean, less = (
        means(np.ascontiguousarray(frame), list(table.index), how)
        for frame in (table, beside)
    )
    for place, author in enumerate(table.columns):
        of_author = table[author].dropna().to_numpy()
        n_missing = int(series.xs(author, level=1).isna().sum())
        ends = (mean.mean[place], mean.low[place], mean.high[place])
        apart = (less.mean[place], less.low[place], less.high[place])
        quantiles = [math.nan] * len(QUANTILES)
        if len(of_author):
            quantiles = np.quantile(of_author, QUANTILES).tolist()
        n_both = int(beside[author].notna().sum())
        yield author, len(of_author), n_missing, *ends, *quantiles, *apart, n_both


# What each system's texts were given, and the mean of it, on one scale for all.


def violins(
    ratings: pd.DataFrame, criteria: Mapping[str, Criterion], how: Resampling
) -> pd.DataFrame:
    """Return a row per study, criterion, part and system, with every rating that it was given.

    Ratings are brought from the declared scale of their criterion to 0 (worst) to 1
    (best). mean: of `all_ratings` of the system's texts (n, of n_documents), claim by
    claim where claims were rated; comparisons and the reference's own ratings are left
    out. low, high: its interval; each resample draws documents, the same for all
    systems of a criterion; null with fewer than two documents. p25, median, p75:
    quartiles of the ratings themselves.
    """
    used = _drop_references(ratings[~ratings["unit"].str.startswith(VERSUS)]).dropna(
        subset="value"
    )
    lines: list[tuple[object, ...]] = []
    for key, group in used.groupby(["study", "criterion", "part"], sort=True):
        scale = criteria[str(key[1])]
        share = (group["value"] - scale.low) / (scale.high - scale.low)
        scaled = group.assign(value=share if scale.better == "higher" else 1 - share)
        lines += [(*key, *row) for row in _rated_systems(scaled, how)]
    columns = {**types("rating_violins"), "all_ratings": "object"}
    return pd.DataFrame(lines, columns=list(columns)).astype(columns)


def _rated_systems(
    ratings: pd.DataFrame, how: Resampling
) -> Iterator[tuple[object, ...]]:
    authors, documents = (
        sorted_authors(ratings["author"]),
        sorted(set(ratings["doc_id"])),
    )
    # sums depend on order
    ratings = ratings.sort_values(["doc_id", "author", "unit", "rater"])
    cells = tuple(
        pd.Index(names).get_indexer(pd.Index(ratings[column]))
        for names, column in ((documents, "doc_id"), (authors, "author"))
    )
    sums, numbers = np.zeros((2, len(documents), len(authors)))
    np.add.at(sums, cells, ratings["value"].to_numpy())
    np.add.at(numbers, cells, 1.0)
    sums[numbers == 0] = np.nan
    mean = means(sums, documents, how, numbers)
    for place, author in enumerate(authors):
        n_documents = int(np.isfinite(sums[:, place]).sum())
        values = ratings.loc[ratings["author"] == author, "value"].to_numpy(dtype=float)
        ends = (mean.mean[place], mean.low[place], mean.high[place])
        quartiles = np.quantile(values, [0.25, 0.5, 0.75])
        yield author, *ends, *quartiles, len(values), n_documents, values.tolist()


# Every system's mean on every metric and criterion, and its rank among the systems.

_DIGITS = 12  # what tables keep: what differs behind them is a tie


def ranks_table(
    leaderboard: pd.DataFrame,
    summaries: pd.DataFrame,
    criteria: Mapping[str, Criterion],
) -> pd.DataFrame:
    """Return a row per metric or human criterion and system; none with fewer than two systems.

    Metrics: those that say which text is better, on whole texts (macro of table
    leaderboard). Criteria: means of table rating_summaries, of whole texts or of parts.
    rank: 1 is the best; equal values share a rank, and the next one is left out; null
    without a value. n_ranked: how many systems have one.
    """
    board = leaderboard[
        (leaderboard["part"] == FULL) & (leaderboard["better"] != "neither")
    ]
    lines = [
        row
        | {
            "scorer_is": "metric",
            "scorer": metric_label(row["metric"], row["judge"]),
            "study": "",
        }
        | {"value": row["macro"]}
        for row in records(board)
    ]
    lines += [
        row
        | {"scorer_is": "people", "scorer": row["criterion"], "metric": "", "judge": ""}
        | {"author": row["name"], "value": row["mean"]}
        | {"better": criteria[row["criterion"]].better}
        for row in records(summaries[summaries["of"] == "author"])
    ]
    ranks = pd.DataFrame(lines, columns=list(types("ranks"))).astype(
        {"value": "float64"}
    )
    ranks = _drop_references(ranks).reset_index(drop=True)
    if ranks["author"].nunique() < 2:
        ranks = ranks[:0]
    rounded = (
        ranks["value"]
        .map(lambda value: float(f"{value:.{_DIGITS}g}"))
        .astype("float64")
    )
    scorer = [ranks[name] for name in ("scorer_is", "scorer", "study", "part")]
    ordered = rounded.where(ranks["better"] != "higher", -rounded).groupby(
        scorer, sort=False
    )
    ranks = ranks.assign(
        rank=ordered.rank(method="min"), n_ranked=ordered.transform("count")
    )
    return ranks.astype(types("ranks"))


# Which systems a metric cannot tell apart, and how often two metrics disagree.


def system_groups(
    scores: pd.DataFrame,
    better: Mapping[tuple[str, str], str],
    how: Resampling,
    designs: pd.DataFrame,
) -> pd.DataFrame:
    """Return a row per metric and system: its mean over whole texts, its place, `group`, letters.

    Systems that share a letter cannot be told apart at 1 - `how.confidence`. All pairs
    of systems of a metric are tested at once, on the documents that both have:
    `best.compare_with_best`, each system taken for the best in turn, over a bootstrap of
    clusters of documents, two-sided. Letters are a compact letter display (Piepho 2004,
    An algorithm for a letter-based representation of all-pairwise comparisons), `a` for
    the best. Metrics without a direction, references and systems without any score are
    left out; one system has no row. n_missing: documents of the metric without a score
    of the system.

    No rows where ratings and scores of a study in `designs` show that documents belong
    together and nobody gave the clusters: systems would be told apart that are equal.
    """
    if clusters_found(designs, how):
        return make_frame("system_groups", [])
    whole = _whole_of_systems(scores)
    lines: list[tuple[object, ...]] = []
    for metric, direction in better.items():
        if direction not in SIGNS:
            continue
        of_metric = whole[
            (whole["metric"] == metric[0]) & (whole["judge"] == metric[1])
        ]
        values = of_metric.pivot(
            index="doc_id", columns="author", values="value"
        ).sort_index()
        values = values[sorted_authors(values.columns[values.notna().any()])]
        if values.shape[1] < 2:
            continue
        sign = SIGNS[direction]
        table = sign * values.to_numpy(dtype=np.float64)
        means = np.array([np.mean(column[np.isfinite(column)]) for column in table.T])
        letters = compact_letters(
            _apart(table, list(values.index), how), np.argsort(-means, kind="stable")
        )
        columns = (
            values.columns,
            sign * means,
            places(means),
            letters,
            np.isfinite(table).sum(0),
        )
        for author, mean, place, letter, n in zip(*columns, strict=True):
            n_missing = len(table) - int(n)
            lines.append(
                (*metric, author, float(mean), int(place), letter, int(n), n_missing)
            )
    return make_frame("system_groups", lines)


def clusters_found(designs: pd.DataFrame, how: Resampling) -> bool:
    """Whether the data of any study show clusters that `how`, by the user or by copies, has not."""
    n = len(set(how.clusters.values())) if how.clusters else np.inf
    fewer = designs["n_clusters"] < np.minimum(n, designs["n_documents"])
    return bool((fewer & ~designs["given"].str.contains("cluster")).any())


def _apart(
    values: Reals, documents: Sequence[str], how: Resampling
) -> NDArray[np.bool_]:
    """Test which two columns of (documents, systems) differ: (systems, systems)."""
    size = values.shape[1]
    first, second = np.triu_indices(size, 1)
    cluster = how.number(documents)
    means = mean_draws(values[:, second] - values[:, first], how, cluster)
    draws = np.full((len(means), size, size), np.nan)
    draws[:, first, second], draws[:, second, first] = means, -means
    (n,) = worth(np.asarray(np.isfinite(values).any(axis=1, keepdims=True)), cluster)
    return apart(draws, float(n), 1 - how.confidence)


def conflict_shares(conflicts: pd.DataFrame) -> pd.DataFrame:
    """Sum table `conflicts` over documents: a row per part and two metrics; share null of none."""
    counted = conflicts.assign(n_documents=(conflicts["n_pairs"] > 0).astype("int64"))
    columns = ["n_pairs", "n_disagreements", "n_documents"]
    pairs = counted.groupby(["part", "metric_a", "metric_b"], as_index=False)
    totals = pairs[columns].sum()
    some = totals["n_pairs"].where(totals["n_pairs"] > 0)
    return totals.assign(share=(totals["n_disagreements"] / some).astype("float64"))


# Rubrics: grades, their spread, and the agreement of judges with people.

_NEAR = 0.02  # distance within which a grade is a level: files round shares such as 1/3
_TEXT = ["doc_id", "author"]

_OF_TWO: dict[str, Callable[[Reals, Reals], Reals]] = {
    "percent": partial(share_within, tolerance=0),
    "cohen_kappa_quadratic": partial(cohen_kappa, distance="quadratic"),
}
_ROUNDED = 9  # decimals: value x high is the level again
_GRADED = ("scale", "penalties")  # kinds of criteria that have levels


def _sort_criteria(criteria: pd.DataFrame) -> list[dict[str, Any]]:
    return sorted(records(criteria), key=lambda row: (row["rubric"], row["position"]))


def _times(criterion: Mapping[str, Any]) -> float:
    """Return the factor that turns a score into a grade: some scores are shares of the highest."""
    shares = criterion["value"] == "share" and criterion["kind"] == "scale"
    return float(criterion["high"]) if shares else 1.0


def rubric_tables(
    criteria: pd.DataFrame, scores: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return, per criterion, judge and author, mean and SD of the grades, and each grade's count.

    Of table scores, on whole texts; a score that is a share of the highest level is
    turned back into the level. sd is divided by n (ddof 0). n: texts with a grade;
    n_missing: texts whose answer failed; n_unscored: texts that the criterion does not
    score. Sums of penalties and overall scores have means, and no levels.
    """
    grades: list[tuple[Any, ...]] = []
    levels: list[tuple[Any, ...]] = []
    whole = scores[scores["part"] == FULL].sort_values("doc_id")
    for row in _sort_criteria(criteria):
        times = _times(row)
        of_metric = whole[whole["metric"] == row["metric"]]
        texts = dict(list(of_metric.groupby(["judge", "author"])))
        for judge in sorted(set(of_metric["judge"])):
            for author in sorted_authors(
                author for name, author in texts if name == judge
            ):
                of_author = texts[judge, author]
                key = (row["rubric"], row["criterion"], judge, author)
                values = of_author["value"].dropna().tolist()
                graded = [round(value * times, _ROUNDED) for value in values]
                missing = int(
                    (of_author["value"].isna() & (of_author["n_failed"] > 0)).sum()
                )
                counts = (len(graded), missing, len(of_author) - len(graded) - missing)
                grades.append((*key, *_mean_and_sd(graded), *counts))
                ends = (row["low"], row["high"], row["better"])
                if row["kind"] in _GRADED:
                    by_grade = sorted(Counter(graded).items())
                    levels += [
                        (*key, grade, *ends, n, n / len(graded))
                        for grade, n in by_grade
                    ]
    return make_frame("rubric_grades", grades), make_frame("rubric_levels", levels)


def _mean_and_sd(values: list[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(
        math.fsum((value - mean) ** 2 for value in values) / len(values)
    )


def rubric_agreement(
    criteria: pd.DataFrame,
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    scales: Mapping[str, Criterion],
    how: Resampling,
) -> pd.DataFrame:
    """Return one row per criterion, judge, study and coefficient of agreement.

    A criterion takes part if it is of kind scale or penalties, and people graded whole
    texts under the same name on a scale with the same direction. All ratings must be
    grades that the criterion allows, as levels or as shares of the highest; else it has
    no row. The reference is left out.

    percent is the share of equal grades, cohen_kappa_quadratic weights squared
    distances beyond chance: both compare the judge with each rater, on the texts that
    both graded, and are the mean over raters for whom they are defined.
    krippendorff_alpha_ordinal counts the judge as another rater. 1 is perfect; null if
    undefined. n: texts that the judge and anybody graded; n_missing: texts that people
    graded and the judge did not. low, high: percentile bootstrap over documents, null
    with one document and where fewer than half of the resamples are defined.
    """
    lines: list[tuple[object, ...]] = []
    whole = _whole_of_systems(scores).dropna(subset="value")
    people = _whole_of_systems(ratings[ratings["unit"] == "text"]).dropna(
        subset="value"
    )
    for criterion in _sort_criteria(criteria):
        rubric, name = criterion["rubric"], criterion["criterion"]
        of_people = people[people["criterion"] == name]
        if criterion["kind"] not in _GRADED or of_people.empty:
            continue
        if scales[name].better != criterion["better"]:
            continue
        of_metric = whole[whole["metric"] == criterion["metric"]]
        for judge, grades in of_metric.groupby("judge", sort=True):
            for study, rated in of_people.groupby("study", sort=True):
                rows = _agreement_rows(criterion, grades, rated, how)
                lines += [(rubric, name, judge, study, *row) for row in rows]
    return make_frame("rubric_agreement", lines)


def _agreement_rows(
    criterion: Mapping[str, Any],
    grades: pd.DataFrame,
    rated: pd.DataFrame,
    how: Resampling,
) -> Iterator[tuple[object, ...]]:
    unit = 1.0 / _times(criterion)
    opinions = rated.pivot(index=_TEXT, columns="rater", values="value").sort_index(
        axis=1
    )
    people = opinions.to_numpy(dtype=np.float64).T / unit
    levels = np.rint(people)
    high = np.inf if criterion["high"] is None else criterion["high"]
    allowed = (
        (np.abs(people - levels) <= _NEAR)
        & (levels >= criterion["low"])
        & (levels <= high)
    )
    if not allowed[np.isfinite(people)].all():
        return
    of_judge = grades.set_index(_TEXT)["value"].reindex(opinions.index)
    judge = of_judge.to_numpy(dtype=np.float64) / unit
    # A jury's grade can lie between two levels, and stays there.
    judge = np.where(np.abs(judge - np.rint(judge)) <= _NEAR, np.rint(judge), judge)
    both = np.isfinite(judge)
    document = pd.factorize(opinions.index.get_level_values("doc_id")[both])[0]
    size = int(document.max(initial=-1)) + 1
    draws = np.random.default_rng(how.seed).multinomial(
        size, np.full(size, 1.0 / max(size, 1)), size=how.resamples if size else 0
    )
    # Weights of texts (1 + resamples, texts): all 1 first, then those of each resample.
    weights = np.vstack([np.ones((1, size)), draws])[:, document].astype(np.float64)
    for coefficient, values in _coefficients(judge[both], levels[:, both], weights):
        low, high = np.nan, np.nan
        if size > 1 and np.isfinite(values[0]):
            (low,), (high,) = percentiles(values[1:, None], how.confidence)
        counts = int(both.sum()), int((~both).sum()), size, len(levels)
        yield coefficient, values[0], low, high, *counts


def _coefficients(
    judge: Reals, people: Reals, weights: Reals
) -> Iterator[tuple[str, Reals]]:
    """Yield each coefficient's name and values (1 + resamples,): of all texts, then resampled."""
    nothing = np.full(len(weights), np.nan)
    for name, coefficient in _OF_TWO.items():
        of_raters = []
        for rater in people:
            known = np.isfinite(rater)
            counted = weights[:, known]
            defined = counted.any(axis=1)
            values = nothing.copy()
            values[defined] = coefficient(
                np.stack([judge[known], rater[known]]), counted[defined]
            )
            of_raters.append(values)
        yield name, mean_without_gaps(np.array(of_raters))
    raters = np.vstack([judge, people])
    alpha = krippendorff_alpha(raters, weights, "ordinal") if judge.size else nothing
    yield "krippendorff_alpha_ordinal", alpha
