"""Tables for figures of single statements: people's marks of each beside its scores.

Statements are those of systems that people marked; a mark is the mean over raters. Criteria are
shares of a statement's elements with an error, of which less is better.
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
from metassay.tables.ratings import of_statements

Frames = Mapping[str, pd.DataFrame]

EVERY = "all"  # alignments, or systems
AVERAGE = "average"
TUNED = "tuned_"  # before the alignment that a checkpoint was tuned by, in its name
DISTILLED = "regressor"
_STATEMENT = ["doc_id", "author", "number"]
_COVERAGE = "coverage"


def of_systems(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of all authors but references."""
    return frame[~frame["author"].map(is_reference).astype(bool)]


def _marks(ratings: pd.DataFrame) -> pd.DataFrame:
    """The mean mark of each statement: criterion, _STATEMENT and value."""
    marks = of_systems(of_statements(ratings)).dropna(subset=["value"])
    key = ["criterion", *_STATEMENT]
    return marks.groupby(key, sort=True)["value"].mean().reset_index()


def errors_by_position(frames: Frames) -> pd.DataFrame:
    """Mean mark of statements by criterion, author (or EVERY) and place in the text, from 1.

    Every statement counts once. Resamples draw documents.
    """
    marks = _marks(frames["ratings"])
    both = pd.concat([marks, marks.assign(author=EVERY)])
    both["place"] = (both["number"] + 1).astype(str)
    groups = both.groupby(["criterion", "author", "place"], sort=True)
    made = [(*key, *mean_of(of, "value")) for key, of in groups]
    return pd.DataFrame(made, columns=["criterion", "author", "place", *ESTIMATE])


def sizes(frames: Frames) -> pd.DataFrame:
    """How large documents and references are: means over documents; words stand between blanks.

    `what`: documents, notes (groups of passages), source_words, reference_sentences (statements),
    reference_words. No row of what no document has.
    """
    sources, parts, units = (frames[name] for name in ("sources", "parts", "units"))
    parts = parts[(parts["author"] == "reference") & (parts["part"] == FULL)]
    units = units[(units["author"] == "reference") & (units["kind"] == "statement")]
    each = {
        "notes": sources["group"].map(lambda groups: len(set(groups))),
        "source_words": sources["passages"].map(lambda texts: len(" ".join(texts).split())),
        "reference_sentences": units.groupby("doc_id").size(),
        "reference_words": parts["text"].str.split().map(len),
    }
    made = [("documents", float(len(sources)), len(sources))]
    made += [(what, float(of.mean()), len(of)) for what, of in each.items() if len(of)]
    return pd.DataFrame(made, columns=["what", "value", "n"])


# ---- metrics and people ----------------------------------------------------------------------


class _Scored(NamedTuple):
    """A metric under a judge, by statement; `sign` is -1 where less is better, 0 where neither."""

    metric: str
    judge: str
    sign: float
    values: "pd.Series[float]"
    coverage: "pd.Series[float] | None"  # of the passages that the metric reads

    @property
    def label(self) -> str:
        return metric_label(self.metric, self.judge)


def _scored(scores: pd.DataFrame) -> Iterator[_Scored]:
    """Every metric that has a direction, and coverage."""
    every = {
        (str(metric), str(judge)): (str(of["better"].iloc[0]), of.set_index(_STATEMENT)["value"])
        for (metric, judge), of in of_systems(scores).groupby(["metric", "judge"], sort=True)
    }
    for (metric, judge), (better, values) in every.items():
        if better in SIGNS or base_metric(metric) == _COVERAGE:
            suffix = suffix_of(metric).removesuffix(BY_TEXT)
            names = (f"{_COVERAGE}{suffix}", _COVERAGE)
            covered = [every[name, NO_JUDGE][1] for name in names if (name, NO_JUDGE) in every]
            yield _Scored(metric, judge, SIGNS.get(better, 0.0), values, next(iter(covered), None))


def _texts(one: _Scored, people: "pd.Series[float]") -> "tuple[pd.Index[Any], Texts] | None":
    """What has metric, mark and coverage; None without coverage."""
    if one.coverage is None:
        return None
    columns = {"metric": one.values, "people": people, "coverage": one.coverage}
    both = pd.concat(columns, axis=1, join="inner").dropna().sort_index()
    document = pd.factorize(both.index.get_level_values(0))[0].astype(np.intp)
    metric, marks, coverage = both.to_numpy(dtype=float).T
    return both.index, Texts(metric, marks, coverage, document)


def _by_criterion(ratings: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[float]"]]:
    for criterion, of in _marks(ratings).groupby("criterion", sort=True):
        yield str(criterion), of.set_index(_STATEMENT)["value"]


def least_copied_statements(frames: Frames) -> pd.DataFrame:
    """What `least_copied` has of whole texts, of statements: coverage is of what the metric reads.

    All that metrics are correlated with, they are with their true sign.
    """
    every = list(_scored(frames["statement_scores"]))
    made: list[tuple[object, ...]] = []
    for criterion, people in _by_criterion(frames["ratings"]):
        for one in every:
            found = _texts(one, people)
            for row in by_share(found[1], base_metric(one.metric)) if found else ():
                made.append((criterion, one.metric, one.judge, *row))
    return pd.DataFrame(made, columns=["criterion", "metric", "judge", "share", "what", *ESTIMATE])


class _Candidate(NamedTuple):
    """A metric, alone or with coverage, turned so that more is better, by statement."""

    label: str
    values: "pd.Series[float]"
    found: Estimate


def distilled(frames: Frames) -> pd.DataFrame:
    """The distilled metric beside the best other one, both alone and with coverage added.

    Pearson's r with people by criterion, metrics turned so that more is better, so that r is below
    0 where they agree. `which`: `other` (each metric), `best other` and `distilled`, the last two
    also `with coverage`, where the best one is chosen among the metrics that have it added. `less`
    (`less_low`, `less_high`) is r of the distilled metric less that of this one, on statements that
    have both: below 0, the distilled one is closer to people. p: one-sided Williams test that it is
    closer, which takes statements for independent: where those of a document are alike it is too
    small, and the interval is not. Source: Adams et al. 2023, section 8.
    """
    every = [one for one in _scored(frames["statement_scores"]) if one.sign]
    made: list[tuple[object, ...]] = []
    for criterion, people in _by_criterion(frames["ratings"]):
        for added, which in ((False, ""), (True, " with coverage")):
            others, ours = (
                sorted(
                    _candidates(every, people, added=added, distilled=is_distilled),
                    key=lambda one: (one.found[0] or 0.0, one.label),
                )
                for is_distilled in (False, True)
            )
            rows = [(f"best other{which}", one) for one in others[:1]]
            rows += [] if added else [("other", one) for one in others]
            for name, one in rows:
                less = _compared(ours[0].values, one.values, people) if ours else (None,) * 4
                made.append((criterion, name, one.label, *one.found, *less))
            made += [
                (criterion, f"distilled{which}", one.label, *one.found, *(None,) * 4)
                for one in ours[:1]
            ]
    less_names = ["less", "less_low", "less_high", "p"]
    frame = pd.DataFrame(made, columns=["criterion", "which", "metric", *ESTIMATE, *less_names])
    return frame.astype(dict.fromkeys(less_names, "float64"))


def _candidates(
    every: list[_Scored], people: "pd.Series[float]", *, added: bool, distilled: bool
) -> Iterator[_Candidate]:
    for one in every:
        found = _texts(one, people)
        if (base_metric(one.metric) == DISTILLED) != distilled or found is None:
            continue
        index, texts = found
        if len(texts.metric) < 2:
            continue
        values = one.sign * texts.metric
        if added:
            values = standardise(np.array([values, texts.coverage])).mean(axis=0)
        if np.isfinite(values).all():
            r = correlation(values, texts.people, texts.document)
            yield _Candidate(one.label, pd.Series(values, index=index), r)


def _compared(
    metric: "pd.Series[float]", other: "pd.Series[float]", people: "pd.Series[float]"
) -> tuple[float | None, float | None, float | None, float]:
    """The difference of their correlations, its interval, and p."""
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


# ---- what correlations there are -------------------------------------------------------------


def statement_correlations(frames: Frames) -> pd.DataFrame:
    """Pearson's r over all statements, of table `correlations`, with a metric's name in its pieces.

    `base` is the metric in docs/metrics.md, `alignment` what it reads, empty where a benchmark has
    one alone, and `by` is `statement`, or `text` if it reads all statements of a text at once.
    """
    found = frames["correlations"].dropna(subset=["value"])
    for column, value in (("part", STATEMENT), ("level", "global"), ("coefficient", "pearson")):
        found = found[found[column] == value]
    texts = found["metric"].str.endswith(BY_TEXT)
    return found.assign(
        base=found["metric"].map(base_metric),
        alignment=found["metric"].map(suffix_of).str.removesuffix(BY_TEXT).str.removeprefix(READS),
        by=np.where(texts, "text", "statement"),
    )[["criterion", "metric", "base", "alignment", "by", "judge", *ESTIMATE]]


def correlation_spread(frames: Frames) -> pd.DataFrame:
    """How metrics of statements spread in their correlation with people, by what they read.

    A row per criterion and alignment, and per criterion over EVERY one: the mean over metrics and
    checkpoints that have a direction, turned so that more is better; `draws` has each. Metrics that
    read whole texts are left out.
    """
    better = frames["statement_scores"].drop_duplicates("metric").set_index("metric")["better"]
    found = statement_correlations(frames)
    found = found[found["by"] == "statement"]
    signs = found["metric"].map(better.astype(object)).map(SIGNS)
    found = found.assign(value=found["value"] * signs).dropna(subset=["value"])
    both = pd.concat([found, found.assign(alignment=EVERY)])
    made = [
        (*key, float(of.mean()), len(of), of.sort_values().tolist())
        for key, of in both.groupby(["criterion", "alignment"], sort=True)["value"]
    ]
    return pd.DataFrame(made, columns=["criterion", "alignment", "value", "n", "draws"])


def tuning_by_use(frames: Frames) -> pd.DataFrame:
    """Correlation with people by the alignment of tuning, `tuning`, and that of use, `use`.

    The mean over metrics under the checkpoints whose name is TUNED and an alignment, n of them. The
    AVERAGE of either is that of its rows here, and n their number.
    """
    found = statement_correlations(frames)
    found = found[found["judge"].str.startswith(TUNED) & (found["by"] == "statement")]
    found = found.assign(tuning=found["judge"].str.removeprefix(TUNED), use=found["alignment"])
    key = ["criterion", "tuning", "use"]
    each = found.groupby(key, sort=True)["value"].agg(value="mean", n="size").reset_index()
    made = [each]
    for averaged in (["use"], ["tuning"], ["tuning", "use"]):
        rest = [name for name in key if name not in averaged]
        over = each.groupby(rest, sort=True)["value"].agg(value="mean", n="size").reset_index()
        made.append(over.assign(**dict.fromkeys(averaged, AVERAGE)))
    return pd.concat(made, ignore_index=True)[[*key, "value", "n"]]
