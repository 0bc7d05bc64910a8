"""Compare a judge's pass or fail with people's, and correct systems' means by people's ratings.

Tables `judge_cards`, `calibration` and `corrected`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.card_numbers import Judgments, Row, card
from metassay.meta_evaluation.label_warnings import verdict_factors
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import MetricScores, Study, frame_of, matrix
from metassay.statistics.exact_sums import Array
from metassay.statistics.label_weights import Chosen, find_chosen
from metassay.statistics.shares import (
    prediction_powered_mean,
    rogan_gladen,
)
from metassay.tables.columns import (
    AUTHOR,
    CRITERION,
    HIGH,
    INTEGER,
    JUDGE,
    METRIC,
    PART,
    REAL,
    RECIPE,
    STUDY,
    TEXT,
)
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import Column, Table

CORRECTED = Table(
    name="corrected",
    says=(
        "what people would give a system on average, from a metric on all its texts "
        "and people on some"
    ),
    key=("study", "criterion", "part", "metric", "judge", "author", "method"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "author": AUTHOR,
        "method": Column(
            TEXT,
            "the correction; rogan_gladen only where scores and ratings are all 0 or 1",
            choices=(
                "prediction_powered",
                "rogan_gladen",
            ),
        ),
        "value": Column(
            REAL,
            "the mean that people would give all texts; null if undefined",
            null=True,
        ),
        "low": Column(
            REAL,
            "lower end of the interval",
            null=True,
        ),
        "high": HIGH,
        "metric_mean": Column(
            REAL,
            "the metric's mean over all texts, not corrected",
            null=True,
        ),
        "human_mean": Column(
            REAL,
            "people's mean over the rated texts",
            null=True,
        ),
        "weight": Column(
            REAL,
            "of prediction_powered: how far the metric is relied on, 0 to 1",
            null=True,
        ),
        "sensitivity": Column(
            REAL,
            "of rogan_gladen: share of people's ones that are 1 by the metric",
            null=True,
        ),
        "specificity": Column(
            REAL,
            "of rogan_gladen: share of people's zeros that are 0 by the metric",
            null=True,
        ),
        "n": Column(INTEGER, "texts with a score and a rating"),
        "n_judged": Column(INTEGER, "texts with a score"),
        "n_missing": Column(INTEGER, "rated texts without a score"),
        "recipe": RECIPE,
    },
)

UNIT = "text"  # ratings.unit where a text as a whole was judged


def judge_cards(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    studies: Sequence[Study],
    criteria: Mapping[str, Criterion],
    options: MetaOptions,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `judge_cards` and `calibration` of every study and metric that passes or fails texts.

    People pass or fail texts where the criterion's ends are 0 and 1, they rated whole
    texts (not claims or pairs), and each rating is 0 or 1. A text passes if more than
    half of its raters pass it; a text with a split vote is left out and counted. Where
    less is better, 1 is a fail.

    A metric passes or fails texts where its scores are 0 and 1 alone. Scores between 0
    and 1 are probabilities of passing only if they come from a judge of the text as a
    whole (`n_expected` is 1): a share of claims is none, nor is ROUGE. Other metrics
    have no card.

    A card is of all scored texts of the study's systems; texts of one document count as
    alike. Where only some are rated, each rating counts for the texts of its verdict
    and system (`weigh_labels`): which texts were rated may depend on these, and within
    them on chance.
    """
    cards: list[Row] = []
    bins: list[Row] = []
    for judged in judged_metrics(scores, ratings, studies, criteria):
        metric = judged.metric
        key = {**judged.study.key, **metric.key}
        rows, bin_rows = card(judged.judgments, options, [*key.values()], {})
        cards += [{**key, **row, "recipe": metric.recipe} for row in rows]
        bins += [{**key, **row, "recipe": metric.recipe} for row in bin_rows]
    return frame_of(cards, JUDGE_CARDS), frame_of(bins, CALIBRATION)


class JudgedMetric(NamedTuple):
    """A metric that passes or fails a study's texts, and its judgments by text."""

    study: Study
    metric: MetricScores
    texts: "pd.Index[Any]"  # document and author, of the judgments
    judgments: Judgments


def judged_metrics(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    studies: Sequence[Study],
    criteria: Mapping[str, Criterion],
) -> Iterator[JudgedMetric]:
    """Yield every study's metrics that pass or fail texts, as `judge_cards` defines them."""
    rows_of = _index_by_metric(scores)
    for study in studies:
        if not _is_pass_or_fail(study, ratings, criteria[study.criterion]):
            continue
        for metric in study.directed:
            judged = _judgments(rows_of(study, metric), study, metric)
            if judged is not None:
                yield judged


def find_choices(judged: Sequence[JudgedMetric], threshold: float) -> list[Chosen]:
    """Return by what the rated texts of a study were chosen, of all that its metrics judge.

    `judged`: the study's metrics, at least one.
    """
    texts = judged[0].texts
    for metric in judged[1:]:
        texts = texts.union(metric.texts)
    labelled = np.zeros(len(texts), dtype=np.bool_)
    factors: dict[str, Any] = {}
    is_judged = np.zeros(len(texts), dtype=np.bool_)
    for metric in judged:
        place = texts.get_indexer(metric.texts)
        values = np.full(len(texts), np.nan)
        values[place] = metric.judgments.judge
        labelled[place] |= np.isfinite(metric.judgments.people) | metric.judgments.split
        is_judged |= np.isfinite(values)
        label = metric.metric.label
        factors |= verdict_factors(values, "texts", label, threshold)
    if not (is_judged & ~labelled).any():
        return []
    document, _ = pd.factorize(texts.get_level_values(0)[is_judged])
    systems = texts.get_level_values(1)[is_judged]
    factors = {name: phrases[is_judged] for name, phrases in factors.items()}
    factors["system"] = [f"texts of system {system}" for system in systems]
    return find_chosen(labelled[is_judged], factors, document.astype(np.intp))


def _is_pass_or_fail(study: Study, ratings: pd.DataFrame, criterion: Criterion) -> bool:
    if (criterion.low, criterion.high) != (0.0, 1.0):
        return False
    of_study = (ratings[list(study.key)] == list(study.key.values())).all(axis=1)
    if not (ratings.loc[of_study, "unit"] == UNIT).all():
        return False
    return bool(np.isin(study.raters[np.isfinite(study.raters)], (0.0, 1.0)).all())


def _judgments(
    scores: pd.DataFrame, study: Study, metric: MetricScores
) -> JudgedMetric | None:
    scores = scores[scores["author"].isin(study.systems)]
    by = pd.MultiIndex.from_frame(scores[["doc_id", "author"]].astype(str))
    score = pd.Series(scores["value"].to_numpy(dtype=np.float64), index=by).dropna()
    probable = not score.isin((0.0, 1.0)).all()
    of_whole = metric.judge != NO_JUDGE and bool((scores["n_expected"] == 1).all())
    if score.empty or not score.between(0.0, 1.0).all() or (probable and not of_whole):
        return None
    rated = pd.DataFrame(
        study.human.T, index=study.documents.astype(str), columns=study.systems
    )
    human = rated.rename_axis(index="doc_id", columns="author").stack().dropna()
    texts = score.index.union(human.index, sort=True)
    judge = score.reindex(texts).to_numpy()
    people = human.reindex(texts).to_numpy()
    split = people == 0.5
    passed = np.where(np.isnan(people) | split, np.nan, people > 0.5)
    document, _ = pd.factorize(texts.get_level_values(0))
    system, _ = pd.factorize(texts.get_level_values(1))
    passing = 1.0 - judge if metric.better == "lower" else judge
    judgments = Judgments(
        judge=passing,
        people=1.0 - passed if study.better == "lower" else passed,
        cluster=document.astype(np.intp),
        split=split,
        probability=passing if probable else None,
        thresholded=bool(probable),
        factors=(system,),
    )
    return JudgedMetric(study, metric, texts, judgments)


def correct_means(
    scores: pd.DataFrame, studies: Sequence[Study], options: MetaOptions
) -> pd.DataFrame:
    """Estimate the mean that people would give all texts of each study, compared metric and system.

    All texts are the rated texts and those of the study's part that the metric scored
    by the same recipe. The estimate is on the criterion's scale. A metric that falls
    where people rise, though more of both is better, gets weight 0, which leaves
    people's mean. Both methods assume that the rated texts are a random sample of all
    texts of the system, and that documents are independent. Where texts were selected
    (the hardest, the longest), neither interval covers.
    """
    rows: list[Row] = []
    rows_of = _index_by_metric(scores)
    for study in studies:
        for metric in study.compared(options):
            of_metric = rows_of(study, metric)
            documents = study.documents.union(
                pd.Index(of_metric["doc_id"].unique()), sort=True
            )
            scored = matrix(of_metric, study.systems, documents)
            rated = np.full(scored.shape, np.nan)
            rated[:, documents.get_indexer(study.documents)] = study.human
            for author, judge, human in zip(study.systems, scored, rated, strict=True):
                sign = 1.0 if metric.better == study.better else -1.0
                for row in _corrections(judge, human, sign, options.confidence):
                    key = {**study.key, **metric.key, "author": author}
                    rows.append({**key, **row, "recipe": metric.recipe})
    return frame_of(rows, CORRECTED)


def _index_by_metric(
    scores: pd.DataFrame,
) -> Callable[[Study, MetricScores], pd.DataFrame]:
    """Return a function that looks up a metric's rows; scores of single statements have none."""
    groups = scores.groupby(["part", "metric", "judge", "recipe"], observed=True)
    by_key = {tuple(map(str, key)): rows for key, rows in groups}
    return lambda study, metric: by_key.get(
        (study.part, *metric.key.values(), metric.recipe), scores[:0]
    )


def _corrections(
    judge: Array, human: Array, sign: float, confidence: float
) -> Iterator[Row]:
    rated, scored = human[np.isfinite(human)], judge[np.isfinite(judge)]
    powered = prediction_powered_mean(sign * judge, human, confidence=confidence)
    shared = {"human_mean": float(np.mean(rated)), "n_judged": scored.size}
    ends = ("value", "low", "high", "n", "n_missing")
    yield {
        "method": "prediction_powered",
        **{name: getattr(powered, name) for name in (*ends, "weight")},
        "metric_mean": sign * powered.judge_mean,
        **shared,
    }
    if scored.size and np.isin(np.concatenate((rated, scored)), (0.0, 1.0)).all():
        share = rogan_gladen(judge, human, confidence=confidence)
        yield {
            "method": "rogan_gladen",
            **{
                name: getattr(share, name)
                for name in (*ends, "sensitivity", "specificity")
            },
            "metric_mean": float(np.mean(scored)),
            **shared,
        }


OF_SYSTEMS = Analysis(
    (CORRECTED,),
    lambda run: [correct_means(run.scores, run.studies, run.options)],
    "Corrected means",
    """
    A metric’s mean is off by whatever the metric gets wrong. People’s mean is right, but rests
    on the rated texts alone. The corrected mean uses both: it estimates what people would give
    all of a system’s texts, on their own scale. Trust its interval where the rated texts were
    drawn at random. A weight near 0 says that the metric added nothing to the ratings.
    """,
)
ANALYSIS = Analysis(
    (JUDGE_CARDS, CALIBRATION),
    lambda run: judge_cards(
        run.scores, run.ratings, run.studies, run.criteria, run.options
    ),
    "Judges that pass or fail",
    """
    People passed or failed some of the texts that a judge passes or fails. Read the first two
    numbers first. Sensitivity says how many of the texts that people pass the judge passes;
    specificity says how many of those that they fail it fails. Read agreement beside agreement
    by chance: it means little without. The judge’s own pass rate is off by what the judge gets
    wrong. Where only some texts were rated, each rating counts for the texts with its verdict
    and of its system, so that people may choose what they rate by these. Texts of one document
    count as alike.
    """,
)
