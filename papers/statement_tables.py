"""Tables for figures of people's marks of statements and counts of facts, beside scores.

Texts and statements are those of systems. A mark is the mean over raters; of statements
it is a share of elements with an error: less is better.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.metrics.faithfulness.record import BY_TEXT
from metassay.statistics.best import compare_with_best, places
from metassay.statistics.correlation import weighted_pearson
from metassay.statistics.document_means import Reals
from metassay.statistics.ensembles import standardise
from metassay.statistics.exact_sums import Mask
from metassay.statistics.facts import quality
from metassay.statistics.resampling import expanded_percentiles
from metassay.statistics.significance import williams_test
from metassay.tables.names import (
    FULL,
    NO_JUDGE,
    READS,
    SIGNS,
    STATEMENT,
    base_metric,
    is_reference,
    metric_label,
    suffix_of,
)
from metassay.tables.ratings import statement_ratings
from papers import estimates

Frames = Mapping[str, pd.DataFrame]

EVERY = "all"  # alignments, or systems
AVERAGE = "average"
TUNED = "tuned_"  # before the alignment that a checkpoint was tuned by, in its name
DISTILLED = "regressor"
_STATEMENT = ["doc_id", "author", "number"]
_COVERAGE = "coverage"


def drop_references(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all authors but references."""
    return frame[~frame["author"].map(is_reference).astype(bool)]


def _marks(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the mean mark of each statement: criterion, _STATEMENT and value."""
    marks = drop_references(statement_ratings(ratings)).dropna(subset=["value"])
    return (
        marks.groupby(["criterion", *_STATEMENT], sort=True)["value"]
        .mean()
        .reset_index()
    )


def errors_by_position(frames: Frames) -> pd.DataFrame:
    """Mean mark of statements by criterion, author (or EVERY) and place in the text, from 1.

    Every statement counts once. Resamples draw documents.
    """
    marks = _marks(frames["ratings"])
    both = pd.concat([marks, marks.assign(author=EVERY)])
    both["place"] = (both["number"] + 1).astype(str)
    groups = both.groupby(["criterion", "author", "place"], sort=True)
    rows = [(*key, *estimates.mean_of(group, "value")) for key, group in groups]
    return pd.DataFrame(
        rows, columns=["criterion", "author", "place", *estimates.ESTIMATE]
    )


def sizes(frames: Frames) -> pd.DataFrame:
    """How large documents and references are: means over documents; words stand between blanks.

    `what`: documents, notes (groups of passages), source_words, reference_sentences
    (statements), reference_words. No row of what no document has.
    """
    sources, parts, units = (frames[name] for name in ("sources", "parts", "units"))
    parts = parts[(parts["author"] == "reference") & (parts["part"] == FULL)]
    units = units[(units["author"] == "reference") & (units["kind"] == "statement")]
    quantities = {
        "notes": sources["group"].map(lambda groups: len(set(groups))),
        "source_words": sources["passages"].map(
            lambda texts: len(" ".join(texts).split())
        ),
        "reference_sentences": units.groupby("doc_id").size(),
        "reference_words": parts["text"].str.split().map(len),
    }
    rows = [("documents", float(len(sources)), len(sources))]
    rows += [
        (what, float(values.mean()), len(values))
        for what, values in quantities.items()
        if len(values)
    ]
    return pd.DataFrame(rows, columns=["what", "value", "n"])


# ---- metrics and people ----------------------------------------------------------------------


class _Metric(NamedTuple):
    """A metric with a judge, by statement; `sign` is -1 if less is better, 0 without direction."""

    metric: str
    judge: str
    sign: float
    values: "pd.Series[float]"
    coverage: "pd.Series[float] | None"  # of the passages that the metric reads

    @property
    def label(self) -> str:
        return metric_label(self.metric, self.judge)


def _metrics(scores: pd.DataFrame) -> Iterator[_Metric]:
    """Yield every metric that has a direction, and coverage."""
    groups = {
        (str(metric), str(judge)): group.set_index(_STATEMENT)
        for (metric, judge), group in drop_references(scores).groupby(
            ["metric", "judge"], sort=True
        )
    }
    for (metric, judge), group in groups.items():
        better = str(group["better"].iloc[0])
        if better in SIGNS or base_metric(metric) == _COVERAGE:
            suffix = suffix_of(metric).removesuffix(BY_TEXT)
            names = ((f"{_COVERAGE}{suffix}", NO_JUDGE), (_COVERAGE, NO_JUDGE))
            coverage = next(
                (groups[name]["value"] for name in names if name in groups), None
            )
            yield _Metric(
                metric, judge, SIGNS.get(better, 0.0), group["value"], coverage
            )


def _texts(
    metric: _Metric, people: "pd.Series[float]"
) -> "tuple[pd.Index[Any], estimates.Texts] | None":
    """Return the statements with metric, mark and coverage; None without coverage."""
    if metric.coverage is None:
        return None
    columns = {"metric": metric.values, "people": people, "coverage": metric.coverage}
    both = pd.concat(columns, axis=1, join="inner").dropna().sort_index()
    document = pd.factorize(both.index.get_level_values(0))[0].astype(np.intp)
    values, marks, coverage = both.to_numpy(dtype=float).T
    return both.index, estimates.Texts(values, marks, coverage, document)


def _group_by_criterion(
    ratings: pd.DataFrame,
) -> Iterator[tuple[str, "pd.Series[float]"]]:
    for criterion, group in _marks(ratings).groupby("criterion", sort=True):
        yield str(criterion), group.set_index(_STATEMENT)["value"]


def least_copied_statements(frames: Frames) -> pd.DataFrame:
    """What `least_copied` has of whole texts, of statements: coverage is of what the metric reads.

    All correlations have their true sign.
    """
    metrics = list(_metrics(frames["statement_scores"]))
    rows: list[tuple[object, ...]] = []
    for criterion, people in _group_by_criterion(frames["ratings"]):
        for metric in metrics:
            if statements := _texts(metric, people):
                shares = estimates.correlate_shares(
                    statements[1], base_metric(metric.metric)
                )
                rows += [
                    (criterion, metric.metric, metric.judge, *row) for row in shares
                ]
    return pd.DataFrame(
        rows,
        columns=["criterion", "metric", "judge", "share", "what", *estimates.ESTIMATE],
    )


class _Candidate(NamedTuple):
    """A metric, alone or with coverage, oriented so that more is better, by statement."""

    label: str
    values: "pd.Series[float]"
    estimate: estimates.Estimate


def distilled(frames: Frames) -> pd.DataFrame:
    """The distilled metric beside the best other one, both alone and with coverage added.

    Pearson's r with people by criterion, metrics oriented so that more is better, so
    that r is below 0 where they agree. `which`: `other` (each metric), `best other` and
    `distilled`, the last two also `with coverage`, the best one then chosen among the
    metrics that have it added. `less` (`less_low`, `less_high`): r of the distilled
    metric less r of this one, on statements that have both: below 0, the distilled one
    is closer to people. p: one-sided Williams test that it is closer, which assumes
    independent statements: p is too small, unlike the interval, if those of a document
    are alike. Source: Adams et al. 2023, section 8.
    """
    metrics = [metric for metric in _metrics(frames["statement_scores"]) if metric.sign]
    rows: list[tuple[object, ...]] = []
    for criterion, people in _group_by_criterion(frames["ratings"]):
        for added, which in ((False, ""), (True, " with coverage")):
            others, ours = (
                sorted(
                    _candidates(metrics, people, added=added, distilled=is_distilled),
                    key=lambda candidate: (
                        candidate.estimate[0] or 0.0,
                        candidate.label,
                    ),
                )
                for is_distilled in (False, True)
            )
            compared = [(f"best other{which}", other) for other in others[:1]]
            compared += [] if added else [("other", other) for other in others]
            for name, other in compared:
                less = (
                    _compare(ours[0].values, other.values, people)
                    if ours
                    else (None,) * 4
                )
                rows.append((criterion, name, other.label, *other.estimate, *less))
            rows += [
                (
                    criterion,
                    f"distilled{which}",
                    best.label,
                    *best.estimate,
                    *(None,) * 4,
                )
                for best in ours[:1]
            ]
    less_names = ["less", "less_low", "less_high", "p"]
    frame = pd.DataFrame(
        rows, columns=["criterion", "which", "metric", *estimates.ESTIMATE, *less_names]
    )
    return frame.astype(dict.fromkeys(less_names, "float64"))


def _candidates(
    metrics: list[_Metric], people: "pd.Series[float]", *, added: bool, distilled: bool
) -> Iterator[_Candidate]:
    for metric in metrics:
        statements = _texts(metric, people)
        if (base_metric(metric.metric) == DISTILLED) != distilled or statements is None:
            continue
        index, texts = statements
        if len(texts.metric) < 2:
            continue
        values = metric.sign * texts.metric
        if added:
            values = standardise(np.array([values, texts.coverage])).mean(axis=0)
        if np.isfinite(values).all():
            r = estimates.correlation(values, texts.people, texts.document)
            yield _Candidate(metric.label, pd.Series(values, index=index), r)


def _compare(
    metric: "pd.Series[float]", other: "pd.Series[float]", people: "pd.Series[float]"
) -> tuple[float | None, float | None, float | None, float]:
    """Return the difference of their correlations, its interval, and p."""
    both = pd.concat([metric, other, people], axis=1, join="inner").sort_index()
    document = pd.factorize(both.index.get_level_values(0))[0].astype(np.intp)
    a, b, marks = both.to_numpy(dtype=float).T
    with_people, other_with_people, with_other = (
        _pearson(*sides) for sides in ((a, -marks), (b, -marks), (a, b))
    )
    _, p = williams_test(
        with_people, other_with_people, with_other, len(both), alternative="greater"
    )
    return *estimates.difference(a, b, marks, document)[:3], p


def _pearson(a: Reals, b: Reals) -> float:
    value = estimates.correlation(a, b, np.arange(len(a)))[0]
    return np.nan if value is None else value


# ---- correlations of a benchmark -------------------------------------------------------------


def statement_correlations(frames: Frames) -> pd.DataFrame:
    """Pearson's r over all statements, of table `correlations`, with a metric's name in its pieces.

    `base`: the metric in docs/metrics.md. `alignment`: what it reads, empty if a
    benchmark has only one. `by`: `statement`, or `text` if it reads all statements of a
    text at once.
    """
    table = frames["correlations"].dropna(subset=["value"])
    for column, value in (
        ("part", STATEMENT),
        ("level", "global"),
        ("coefficient", "pearson"),
    ):
        table = table[table[column] == value]
    texts = table["metric"].str.endswith(BY_TEXT)
    return table.assign(
        base=table["metric"].map(base_metric),
        alignment=table["metric"]
        .map(suffix_of)
        .str.removesuffix(BY_TEXT)
        .str.removeprefix(READS),
        by=np.where(texts, "text", "statement"),
    )[["criterion", "metric", "base", "alignment", "by", "judge", *estimates.ESTIMATE]]


def correlation_spread(frames: Frames) -> pd.DataFrame:
    """How metrics of statements spread in their correlation with people, by what they read.

    A row per criterion and alignment, and per criterion for EVERY: the mean over
    metrics and checkpoints with a direction, oriented so that more is better; `draws`
    has each. Metrics that read whole texts are left out.
    """
    better = (
        frames["statement_scores"]
        .drop_duplicates("metric")
        .set_index("metric")["better"]
    )
    table = statement_correlations(frames)
    table = table[table["by"] == "statement"]
    signs = table["metric"].map(better.astype(object)).map(SIGNS)
    table = table.assign(value=table["value"] * signs).dropna(subset=["value"])
    both = pd.concat([table, table.assign(alignment=EVERY)])
    rows = [
        (*key, float(values.mean()), len(values), values.sort_values().tolist())
        for key, values in both.groupby(["criterion", "alignment"], sort=True)["value"]
    ]
    return pd.DataFrame(rows, columns=["criterion", "alignment", "value", "n", "draws"])


def tuning_by_use(frames: Frames) -> pd.DataFrame:
    """Correlation with people by the alignment of tuning, `tuning`, and that of use, `use`.

    The mean over metrics of the checkpoints named TUNED and an alignment; n of them. An
    AVERAGE of either is that of its rows here, and n their number.
    """
    table = statement_correlations(frames)
    table = table[table["judge"].str.startswith(TUNED) & (table["by"] == "statement")]
    table = table.assign(
        tuning=table["judge"].str.removeprefix(TUNED), use=table["alignment"]
    )
    key = ["criterion", "tuning", "use"]
    by_pair = (
        table.groupby(key, sort=True)["value"].agg(value="mean", n="size").reset_index()
    )
    tables = [by_pair]
    for averaged in (["use"], ["tuning"], ["tuning", "use"]):
        rest = [name for name in key if name not in averaged]
        over = (
            by_pair.groupby(rest, sort=True)["value"]
            .agg(value="mean", n="size")
            .reset_index()
        )
        tables.append(over.assign(**dict.fromkeys(averaged, AVERAGE)))
    return pd.concat(tables, ignore_index=True)[[*key, "value", "n"]]


# ---- metrics of notes and people's counts ----------------------------------------------------

# All correlations of a benchmark use one set of resamples of its documents, so that
# their differences, sums and means have intervals, too.

# weights of correlations, by study and criterion
Parts = tuple[tuple[float, str, str], ...]

AGGREGATE = "aggregate"
ENOUGH = 0.95  # the share of the texts that a metric must score to be ranked
FACTS = (
    "factual_precision",
    "factual_recall",
    "factual_f1",
    "hallucination_rate",
    "omission_rate",
)
PHRASES = ("hallucination_count", "omission_count")  # key phrases per word
_WEIGHTS = {"factual_f1": 0.5, "hallucination_rate": -0.25, "omission_rate": -0.25}
_LESS_IS_BETTER = (*FACTS[3:], *PHRASES)
_TEXT = ["doc_id", "author"]


class _Column(NamedTuple):
    """A column of the paper's tables: a correlation, or a weighted sum of several."""

    study: str
    criterion: str
    parts: Parts

    @property
    def sign(self) -> float:
        """-1 where a good metric has a negative correlation."""
        return -1.0 if self.criterion in _LESS_IS_BETTER else 1.0


def metrics_of_notes(frames: Frames) -> pd.DataFrame:
    """Pearson's r of metrics with people's counts by study and criterion, and which is best.

    `value` has its true sign: a good metric has a high one with factual precision,
    recall and F1, and a low one with rates and counts of errors. Criterion AGGREGATE is
    (2 F1 - hallucination - omission) / 4 of the correlations. Study AVERAGE, if there
    are several: the mean over studies of facts, for precision, recall and F1; for
    hallucination and omission the mean of two means, over studies of facts and over
    studies of key phrases per word, as in Ben Abacha et al. 2023. n: texts, over all
    studies. `place`: 1 for the best of all metrics with a direction, with judges, too.
    `p`: of its being as good as the best (`statistics.best.compare_with_best`), metrics
    compared in pairs on texts that both score; small if the best one is closer to
    people. Both are null for a metric that scores less than ENOUGH of the texts that
    others do: its correlation is of other texts.
    """
    people = _marks_of_notes(frames["ratings"])
    rows: list[tuple[object, ...]] = []
    if len(people):
        correlations = _Correlations(_scores_of_notes(frames), people)
        for column in _columns(people):
            compared = correlations.compare(column)
            rows += [
                (column.study, column.criterion, *name, *row)
                for name, row in compared.items()
            ]
    names = ["study", "criterion", "metric", "judge", *estimates.ESTIMATE, "place", "p"]
    return pd.DataFrame(rows, columns=names).astype({"place": "Int64", "p": "float64"})


def error_weights(_: Frames) -> pd.DataFrame:
    """What one error of each kind takes from `statistics.facts.quality` of a sentence."""
    errors = {"critical": (1, 0, 0), "non_critical": (0, 1, 0), "spelling": (0, 0, 1)}
    rows = [
        (error, 1 - (quality(*counts, 1, 1) or 0.0), 1)
        for error, counts in errors.items()
    ]
    return pd.DataFrame(rows, columns=["error", "value", "n"]).assign(
        low=np.nan, high=np.nan
    )


def _scores_of_notes(frames: Frames) -> pd.DataFrame:
    """Return texts by metrics with a direction, oriented so that more is better."""
    better = frames["leaderboard"].drop_duplicates(["metric", "judge"])
    signs = (
        better.set_index(["metric", "judge"])["better"]
        .astype(object)
        .map(SIGNS)
        .dropna()
    )
    scores = drop_references(frames["scores"])
    wide = scores[scores["part"] == FULL].pivot(
        index=_TEXT, columns=["metric", "judge"], values="value"
    )
    metrics = wide.columns.intersection(signs.index)
    oriented = wide[metrics].astype("float64") * signs.loc[metrics].to_numpy(
        dtype=float
    )
    return oriented.dropna(axis=1, how="all")


def _marks_of_notes(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rating over raters: study, criterion, _TEXT and value."""
    rated = drop_references(
        ratings[(ratings["unit"] == "text") & (ratings["part"] == FULL)]
    )
    rated = rated[rated["criterion"].isin([*FACTS, *PHRASES])].dropna(subset=["value"])
    return (
        rated.groupby(["study", "criterion", *_TEXT], sort=True)["value"]
        .mean()
        .reset_index()
    )


def _columns(people: pd.DataFrame) -> Iterator[_Column]:
    pairs = sorted(
        set(zip(people["study"].map(str), people["criterion"].map(str), strict=True))
    )
    for study, criterion in pairs:
        yield _Column(study, criterion, ((1.0, study, criterion),))
    facts, phrases = (
        [study for study, criterion in pairs if criterion == name]
        for name in (FACTS[2], PHRASES[0])
    )
    for study in facts:
        yield _Column(
            study,
            AGGREGATE,
            _aggregate({name: ((1.0, study, name),) for name in FACTS}),
        )
    if facts and len(facts) + len(phrases) > 1:
        averages = {name: _mean(facts, name) for name in FACTS}
        for count, rate in zip(PHRASES, FACTS[3:], strict=True) if phrases else ():
            both = (*averages[rate], *_mean(phrases, count))
            averages[rate] = tuple(
                (weight / 2, study, name) for weight, study, name in both
            )
        for criterion, parts in {**averages, AGGREGATE: _aggregate(averages)}.items():
            yield _Column(AVERAGE, criterion, parts)


def _mean(studies: Sequence[str], criterion: str) -> Parts:
    return tuple((1 / len(studies), study, criterion) for study in studies)


def _aggregate(parts: Mapping[str, Parts]) -> Parts:
    return tuple(
        (weight * share, study, name)
        for criterion, weight in _WEIGHTS.items()
        for share, study, name in parts[criterion]
    )


class _Correlations:
    """Pearson's r of metrics with people, for the data and every resample of the documents."""

    def __init__(self, values: pd.DataFrame, people: pd.DataFrame) -> None:
        keys = people[_TEXT].drop_duplicates().sort_values(_TEXT)
        texts = pd.MultiIndex.from_frame(keys)
        self._names = [tuple(map(str, name)) for name in values.columns]
        self._values = values.reindex(texts).to_numpy(dtype=np.float64).T
        self._documents = pd.factorize(keys["doc_id"])[0].astype(np.intp)
        size = int(self._documents.max(initial=-1)) + 1
        self._weights = np.concatenate(
            (np.ones((1, size)), estimates.resample_counts(size))
        )
        self._people = {
            (str(study), str(criterion)): group.set_index(_TEXT)["value"]
            .reindex(texts)
            .to_numpy()
            for (study, criterion), group in people.groupby(
                ["study", "criterion"], sort=True
            )
        }
        self._cache: dict[tuple[int, str, str, bytes], Reals] = {}

    def compare(self, column: _Column) -> dict[tuple[str, ...], tuple[object, ...]]:
        """Return ESTIMATE, place and p of each metric with a value."""
        scored = np.isfinite(self._values)
        r = np.stack(
            [self._r(column, metric, texts) for metric, texts in enumerate(scored)]
        )
        metrics = np.flatnonzero(np.isfinite(r[:, 0]))
        if not metrics.size:
            return {}
        rated = np.array([np.isfinite(self._people[part[1:]]) for part in column.parts])
        n = np.array([np.count_nonzero(rated & scored[metric]) for metric in metrics])
        n_documents = len(set(self._documents[rated.any(axis=0)]))
        ends = expanded_percentiles(
            r[metrics].T[1:], n_documents, estimates.RESAMPLING.confidence
        )
        place, p = np.zeros(metrics.size, dtype=np.int64), np.full(metrics.size, np.nan)
        ranked = n >= ENOUGH * n.max()
        place[ranked] = places(column.sign * r[metrics[ranked], 0].round(12))
        differences = self._differences(column, metrics[ranked].tolist())
        p[ranked] = compare_with_best(
            differences, place[ranked].tolist().index(1), n_documents
        )
        rows = zip(r[metrics, 0], *ends, n, place, p, strict=True)
        return {
            self._names[metric]: (
                *map(float, row[:3]),
                int(row[3]),
                int(row[4]) or None,
                float(row[5]),
            )
            for metric, row in zip(metrics, rows, strict=True)
        }

    def _differences(self, column: _Column, metrics: Sequence[int]) -> Reals:
        """Return how much better j is than i at [., i, j]: (1 + resamples, metrics, metrics)."""
        scored = np.isfinite(self._values)
        differences = np.zeros((len(self._weights), len(metrics), len(metrics)))
        for i, first in enumerate(metrics):
            for j, second in enumerate(metrics[:i]):
                both = scored[first] & scored[second]
                less = self._r(column, second, both) - self._r(column, first, both)
                differences[:, i, j], differences[:, j, i] = (
                    column.sign * less,
                    -column.sign * less,
                )
        return differences

    def _r(self, column: _Column, metric: int, texts: Mask) -> Reals:
        total: Reals = np.zeros(len(self._weights))
        for weight, study, criterion in column.parts:
            people = self._people[study, criterion]
            both = texts & np.isfinite(people)
            key = metric, study, criterion, both.tobytes()
            if key not in self._cache:
                self._cache[key] = weighted_pearson(
                    self._values[metric, both],
                    people[both],
                    self._documents[both],
                    self._weights,
                )
            total = total + weight * self._cache[key]
        return total
