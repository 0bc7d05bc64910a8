"""Tables for figures of single statements: people's marks of each beside its scores.

Statements are those of systems that people marked; a mark is the mean over raters. Criteria are
shares of a statement's elements with an error: less is better.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.metrics.faithfulness.record import BY_TEXT
from metassay.paper_figures.estimates import (
    ESTIMATE,
    Estimate,
    Texts,
    by_share,
    correlation,
    difference,
    mean_of,
)
from metassay.statistics.document_means import Reals
from metassay.statistics.ensembles import standardise
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

Frames = Mapping[str, pd.DataFrame]

EVERY = "all"  # alignments, or systems
AVERAGE = "average"
TUNED = "tuned_"  # before the alignment that a checkpoint was tuned by, in its name
DISTILLED = "regressor"
_STATEMENT = ["doc_id", "author", "number"]
_COVERAGE = "coverage"


def of_systems(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all authors but references."""
    return frame[~frame["author"].map(is_reference).astype(bool)]


def _marks(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the mean mark of each statement: criterion, _STATEMENT and value."""
    marks = of_systems(statement_ratings(ratings)).dropna(subset=["value"])
    return marks.groupby(["criterion", *_STATEMENT], sort=True)["value"].mean().reset_index()


def errors_by_position(frames: Frames) -> pd.DataFrame:
    """Mean mark of statements by criterion, author (or EVERY) and place in the text, from 1.

    Every statement counts once. Resamples draw documents.
    """
    marks = _marks(frames["ratings"])
    both = pd.concat([marks, marks.assign(author=EVERY)])
    both["place"] = (both["number"] + 1).astype(str)
    groups = both.groupby(["criterion", "author", "place"], sort=True)
    rows = [(*key, *mean_of(group, "value")) for key, group in groups]
    return pd.DataFrame(rows, columns=["criterion", "author", "place", *ESTIMATE])


def sizes(frames: Frames) -> pd.DataFrame:
    """How large documents and references are: means over documents; words stand between blanks.

    `what`: documents, notes (groups of passages), source_words, reference_sentences (statements),
    reference_words. No row of what no document has.
    """
    sources, parts, units = (frames[name] for name in ("sources", "parts", "units"))
    parts = parts[(parts["author"] == "reference") & (parts["part"] == FULL)]
    units = units[(units["author"] == "reference") & (units["kind"] == "statement")]
    quantities = {
        "notes": sources["group"].map(lambda groups: len(set(groups))),
        "source_words": sources["passages"].map(lambda texts: len(" ".join(texts).split())),
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
        for (metric, judge), group in of_systems(scores).groupby(["metric", "judge"], sort=True)
    }
    for (metric, judge), group in groups.items():
        better = str(group["better"].iloc[0])
        if better in SIGNS or base_metric(metric) == _COVERAGE:
            suffix = suffix_of(metric).removesuffix(BY_TEXT)
            names = ((f"{_COVERAGE}{suffix}", NO_JUDGE), (_COVERAGE, NO_JUDGE))
            coverage = next((groups[name]["value"] for name in names if name in groups), None)
            yield _Metric(metric, judge, SIGNS.get(better, 0.0), group["value"], coverage)


def _texts(metric: _Metric, people: "pd.Series[float]") -> "tuple[pd.Index[Any], Texts] | None":
    """Return the statements with metric, mark and coverage; None without coverage."""
    if metric.coverage is None:
        return None
    columns = {"metric": metric.values, "people": people, "coverage": metric.coverage}
    both = pd.concat(columns, axis=1, join="inner").dropna().sort_index()
    document = pd.factorize(both.index.get_level_values(0))[0].astype(np.intp)
    values, marks, coverage = both.to_numpy(dtype=float).T
    return both.index, Texts(values, marks, coverage, document)


def _by_criterion(ratings: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[float]"]]:
    for criterion, group in _marks(ratings).groupby("criterion", sort=True):
        yield str(criterion), group.set_index(_STATEMENT)["value"]


def least_copied_statements(frames: Frames) -> pd.DataFrame:
    """What `least_copied` has of whole texts, of statements: coverage is of what the metric reads.

    All correlations have their true sign.
    """
    metrics = list(_metrics(frames["statement_scores"]))
    rows: list[tuple[object, ...]] = []
    for criterion, people in _by_criterion(frames["ratings"]):
        for metric in metrics:
            if statements := _texts(metric, people):
                shares = by_share(statements[1], base_metric(metric.metric))
                rows += [(criterion, metric.metric, metric.judge, *row) for row in shares]
    return pd.DataFrame(rows, columns=["criterion", "metric", "judge", "share", "what", *ESTIMATE])


class _Candidate(NamedTuple):
    """A metric, alone or with coverage, oriented so that more is better, by statement."""

    label: str
    values: "pd.Series[float]"
    estimate: Estimate


def distilled(frames: Frames) -> pd.DataFrame:
    """The distilled metric beside the best other one, both alone and with coverage added.

    Pearson's r with people by criterion, metrics oriented so that more is better, so that r is
    below 0 where they agree. `which`: `other` (each metric), `best other` and `distilled`, the last
    two also `with coverage`, the best one then chosen among the metrics that have it added. `less`
    (`less_low`, `less_high`): r of the distilled metric less r of this one, on statements that have
    both: below 0, the distilled one is closer to people. p: one-sided Williams test that it is
    closer, which assumes independent statements: p is too small, unlike the interval, if those of
    a document are alike. Source: Adams et al. 2023, section 8.
    """
    metrics = [metric for metric in _metrics(frames["statement_scores"]) if metric.sign]
    rows: list[tuple[object, ...]] = []
    for criterion, people in _by_criterion(frames["ratings"]):
        for added, which in ((False, ""), (True, " with coverage")):
            others, ours = (
                sorted(
                    _candidates(metrics, people, added=added, distilled=is_distilled),
                    key=lambda candidate: (candidate.estimate[0] or 0.0, candidate.label),
                )
                for is_distilled in (False, True)
            )
            compared = [(f"best other{which}", other) for other in others[:1]]
            compared += [] if added else [("other", other) for other in others]
            for name, other in compared:
                less = _compare(ours[0].values, other.values, people) if ours else (None,) * 4
                rows.append((criterion, name, other.label, *other.estimate, *less))
            rows += [
                (criterion, f"distilled{which}", best.label, *best.estimate, *(None,) * 4)
                for best in ours[:1]
            ]
    less_names = ["less", "less_low", "less_high", "p"]
    frame = pd.DataFrame(rows, columns=["criterion", "which", "metric", *ESTIMATE, *less_names])
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
            r = correlation(values, texts.people, texts.document)
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
    return *difference(a, b, marks, document)[:3], p


def _pearson(a: Reals, b: Reals) -> float:
    value = correlation(a, b, np.arange(len(a)))[0]
    return np.nan if value is None else value


# ---- correlations of a benchmark -------------------------------------------------------------


def statement_correlations(frames: Frames) -> pd.DataFrame:
    """Pearson's r over all statements, of table `correlations`, with a metric's name in its pieces.

    `base`: the metric in docs/metrics.md. `alignment`: what it reads, empty if a benchmark has only
    one. `by`: `statement`, or `text` if it reads all statements of a text at once.
    """
    table = frames["correlations"].dropna(subset=["value"])
    for column, value in (("part", STATEMENT), ("level", "global"), ("coefficient", "pearson")):
        table = table[table[column] == value]
    texts = table["metric"].str.endswith(BY_TEXT)
    return table.assign(
        base=table["metric"].map(base_metric),
        alignment=table["metric"].map(suffix_of).str.removesuffix(BY_TEXT).str.removeprefix(READS),
        by=np.where(texts, "text", "statement"),
    )[["criterion", "metric", "base", "alignment", "by", "judge", *ESTIMATE]]


def correlation_spread(frames: Frames) -> pd.DataFrame:
    """How metrics of statements spread in their correlation with people, by what they read.

    A row per criterion and alignment, and per criterion for EVERY: the mean over metrics and
    checkpoints with a direction, oriented so that more is better; `draws` has each. Metrics that
    read whole texts are left out.
    """
    better = frames["statement_scores"].drop_duplicates("metric").set_index("metric")["better"]
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

    The mean over metrics of the checkpoints named TUNED and an alignment; n of them. An AVERAGE of
    either is that of its rows here, and n their number.
    """
    table = statement_correlations(frames)
    table = table[table["judge"].str.startswith(TUNED) & (table["by"] == "statement")]
    table = table.assign(tuning=table["judge"].str.removeprefix(TUNED), use=table["alignment"])
    key = ["criterion", "tuning", "use"]
    by_pair = table.groupby(key, sort=True)["value"].agg(value="mean", n="size").reset_index()
    tables = [by_pair]
    for averaged in (["use"], ["tuning"], ["tuning", "use"]):
        rest = [name for name in key if name not in averaged]
        over = by_pair.groupby(rest, sort=True)["value"].agg(value="mean", n="size").reset_index()
        tables.append(over.assign(**dict.fromkeys(averaged, AVERAGE)))
    return pd.concat(tables, ignore_index=True)[[*key, "value", "n"]]
