"""The tables `judge_cards`, `calibration` and `corrected`: what a judge on all texts is worth.

A card has a judge's pass or fail of texts beside people's; `corrected` a system's true mean from a
metric on all its texts and people on some.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Analysis, Page
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study, frame_of, generator, matrix
from metassay.statistics.classification import Calibration, auroc, calibration, judge_card
from metassay.statistics.exact_sums import Array
from metassay.statistics.shares import (
    Clusters,
    Estimate,
    labels_needed,
    pass_rates,
    prediction_powered_mean,
    rogan_gladen,
)
from metassay.tables.columns import table
from metassay.tables.judge_cards import CALIBRATION, CARD_STATISTICS, JUDGE_CARDS
from metassay.tables.names import NO_JUDGE

CORRECTED = table(
    "corrected",
    "what people would give a system on average, from a metric on all its texts and people on some",
    "study criterion part metric judge author method",
    """
    study criterion part metric judge author
    method prediction_powered|rogan_gladen: the correction; rogan_gladen only where scores and
      ratings are all 0 or 1
    value real?: the mean that people would give all texts; null if undefined
    low real?: lower end of the interval
    high
    metric_mean real?: the metric's mean over all texts, not corrected
    human_mean real?: people's mean over the rated texts
    weight real?: of prediction_powered: how far the metric is relied on, 0 to 1
    sensitivity real?: of rogan_gladen: share of people's ones that are 1 by the metric
    specificity real?: of rogan_gladen: share of people's zeros that are 0 by the metric
    n integer: texts with a score and a rating
    n_judged integer: texts with a score
    n_missing integer: rated texts without a score
    recipe
    """,
)

Row = dict[str, object]
Numbers = dict[str, Estimate]  # by statistic


class Judged(NamedTuple):
    """Every text that a judge or people judged."""

    judge: Array  # 0 to 1: from the threshold on a pass; NaN without a judgment
    people: Array  # 0 or 1; NaN where there is no right answer
    cluster: Clusters  # texts of one number are alike
    n_split: int  # texts without a right answer because half of their raters pass them
    probability: Array | None  # of passing, 0 to 1, NaN where there is none; None without any
    thresholded: bool  # whether the threshold made passes and fails of `judge`


def card(
    judged: Judged, options: MetaOptions, key: Sequence[str], more: Mapping[str, Estimate]
) -> tuple[list[Row], list[Row]]:
    """Rows of the card and of its bins, without their key and recipe.

    `key` seeds what is drawn; `more` has further numbers of the card.
    """
    rows, found = {**numbers(judged, options, key), **more}, None
    if judged.probability is not None:
        sure, p, y, of = options.confidence, judged.probability, judged.people, judged.cluster
        rng = generator(options.seed, "calibration", *key)
        found = calibration(p, y, confidence=sure, rng=rng, cluster=of)
        rows |= {name: getattr(found, name) for name in ("brier", "bias", "ece", "ece_by_chance")}
        rows["auroc"] = auroc(p, y, confidence=sure, cluster=of)
    shared = {
        "n_judged": int(np.count_nonzero(np.isfinite(judged.judge))),
        "n_missing": int(np.count_nonzero(np.isnan(judged.judge) & np.isfinite(judged.people))),
        "n_split": judged.n_split,
        "threshold": options.threshold if judged.thresholded else np.nan,
    }
    made: list[Row] = [
        {
            "statistic": name,
            **rows[name]._asdict(),
            **shared,
            "width": options.label_width if name.startswith("labels_") else np.nan,
        }
        for name in CARD_STATISTICS
        if name in rows
    ]
    return made, _bins(found) if found is not None else []


def numbers(judged: Judged, options: MetaOptions, key: Sequence[str]) -> Numbers:
    """Every number that passes and fails alone give."""
    judge, people, cluster = judged.judge, judged.people, judged.cluster
    asked = {"confidence": options.confidence, "threshold": options.threshold}
    rng = generator(options.seed, "judge_card", *key)
    found = judge_card(judge, people, rng=rng, cluster=cluster, **asked)
    counts = found[:4]
    n, worth = sum(counts), found.estimates["agreement"].n_effective
    made = {
        name: Estimate(float(count), np.nan, np.nan, n, worth)
        for name, count in zip(CARD_STATISTICS[:4], counts, strict=True)
    }
    made |= found.estimates
    rng = generator(options.seed, "pass_rates", *key)
    rates = pass_rates(judge, people, rng=rng, cluster=cluster, **asked)
    made |= {f"{name}_pass_rate": rate for name, rate in rates._asdict().items()}
    needed = labels_needed(judge, people, width=options.label_width, cluster=cluster, **asked)
    for name, labels in needed._asdict().items():
        made[f"labels_{name}"] = Estimate(labels, np.nan, np.nan, n, worth)
    return made


def _bins(found: Calibration) -> list[Row]:
    return [
        {
            "bin": place,
            **{name: getattr(one, name) for name in ("lowest", "highest", "mean")},
            "passed": one.passed.value,
            **{name: getattr(one.passed, name) for name in ("low", "high", "n")},
        }
        for place, one in enumerate(found.bins)
    ]


UNIT = "text"  # ratings.unit where a text as a whole was judged


def judge_cards(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    found: Sequence[Study],
    criteria: Mapping[str, Criterion],
    options: MetaOptions,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables: one card per study of pass or fail and metric that passes or fails texts.

    People pass or fail where the criterion's ends are 0 and 1, they rated whole texts (not claims
    or pairs), and each rater gave each text 0 or 1. A text passes if more than half of its raters
    pass it; one that half of them pass is left out and counted. Where less is better, 1 is a fail.

    A metric passes or fails where its scores are 0 and 1 alone. Scores between 0 and 1 are
    probabilities of passing only if they come from a judge that was asked about the text as a whole
    (`n_expected` is 1): a share of claims is none, nor is ROUGE. Other metrics have no card.

    All systems of the study are in one card; texts of one document count as alike. All scored texts
    of these systems are judged; the rated ones are taken for a random sample of them.
    """
    cards: list[Row] = []
    bins: list[Row] = []
    by_metric = _by_metric(scores)
    for study in found:
        if not _pass_or_fail(study, ratings, criteria[study.criterion]):
            continue
        for measured in study.directed:
            texts = _texts(_of_metric(by_metric, study, measured), study, measured)
            if texts is None:
                continue
            key: Row = {**study.key, **measured.key}
            last: Row = {"recipe": measured.recipe}
            made, reliability = card(texts, options, [str(name) for name in key.values()], {})
            cards += [{**key, **row, **last} for row in made]
            bins += [{**key, **row, **last} for row in reliability]
    return frame_of(cards, JUDGE_CARDS), frame_of(bins, CALIBRATION)


def _pass_or_fail(study: Study, ratings: pd.DataFrame, criterion: Criterion) -> bool:
    if (criterion.low, criterion.high) != (0.0, 1.0):
        return False
    mine = (ratings[list(study.key)] == list(study.key.values())).all(axis=1)
    if not (ratings.loc[mine, "unit"] == UNIT).all():
        return False
    return bool(np.isin(study.raters[np.isfinite(study.raters)], (0.0, 1.0)).all())


def _texts(mine: pd.DataFrame, study: Study, measured: Measured) -> Judged | None:
    mine = mine[mine["author"].isin(study.systems)]
    by = pd.MultiIndex.from_frame(mine[["doc_id", "author"]].astype(str))
    score = pd.Series(mine["value"].to_numpy(dtype=np.float64), index=by).dropna()
    probable = not score.isin((0.0, 1.0)).all()
    asked_whole = measured.judge != NO_JUDGE and bool((mine["n_expected"] == 1).all())
    if score.empty or not score.between(0.0, 1.0).all() or (probable and not asked_whole):
        return None
    rated = pd.DataFrame(study.human.T, index=study.documents.astype(str), columns=study.systems)
    human = rated.rename_axis(index="doc_id", columns="author").stack().dropna()
    every = score.index.union(human.index, sort=True)
    judge = score.reindex(every).to_numpy()
    people = human.reindex(every).to_numpy()
    split = people == 0.5
    passed = np.where(np.isnan(people) | split, np.nan, people > 0.5)
    document, _ = pd.factorize(every.get_level_values(0))
    passing = 1.0 - judge if measured.better == "lower" else judge
    return Judged(
        passing,
        1.0 - passed if study.better == "lower" else passed,
        document.astype(np.intp),
        int(np.count_nonzero(split)),
        passing if probable else None,
        bool(probable),
    )


def corrected(scores: pd.DataFrame, found: Sequence[Study], options: MetaOptions) -> pd.DataFrame:
    """Per study, compared metric and rated system: the mean that people would give all its texts.

    "All its texts" are those in the study's part that the metric scored by the recipe of the rated
    ones, and the rated ones. The estimate is on the criterion's own scale. A metric that falls
    where people rise, though both say that more is better, gets weight 0, which leaves people's
    mean. Both methods assume that the rated texts are a random sample of all texts of the system,
    and that documents are independent. Where the texts were picked (the hardest, the longest),
    neither interval covers.
    """
    rows: list[Row] = []
    by_metric = _by_metric(scores)
    for study in found:
        for measured in study.compared(options):
            mine = _of_metric(by_metric, study, measured)
            documents = study.documents.union(pd.Index(mine["doc_id"].unique()), sort=True)
            scored = matrix(mine, study.systems, documents)
            rated = np.full(scored.shape, np.nan)
            rated[:, documents.get_indexer(study.documents)] = study.human
            for author, judge, human in zip(study.systems, scored, rated, strict=True):
                sign = 1.0 if measured.better == study.better else -1.0
                for row in _corrections(judge, human, sign, options.confidence):
                    key = {**study.key, **measured.key, "author": author}
                    rows.append({**key, **row, "recipe": measured.recipe})
    return frame_of(rows, CORRECTED)


_ByMetric = dict[tuple[str, ...], pd.DataFrame]


def _by_metric(scores: pd.DataFrame) -> _ByMetric:
    each = scores.groupby(["part", "metric", "judge", "recipe"], observed=True)
    return {(): scores[:0], **{tuple(map(str, key)): rows for key, rows in each}}


def _of_metric(by_metric: _ByMetric, study: Study, measured: Measured) -> pd.DataFrame:
    key = study.part, *measured.key.values(), measured.recipe
    return by_metric.get(key, by_metric[()])  # scores of single statements are in no table


def _corrections(judge: Array, human: Array, sign: float, confidence: float) -> Iterator[Row]:
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
            **{name: getattr(share, name) for name in (*ends, "sensitivity", "specificity")},
            "metric_mean": float(np.mean(scored)),
            **shared,
        }


OF_SYSTEMS = Analysis(
    (CORRECTED,),
    lambda of: [corrected(of.scores, of.studies, of.options)],
    Page(
        "Corrected means",
        """
        A metric’s mean is off by whatever the metric gets wrong. People’s mean is right, but rests
        on the rated texts alone. The corrected mean uses both: it estimates what people would give
        all of a system’s texts, on their own scale. Trust its interval where the rated texts were
        drawn at random. A weight near 0 says that the metric added nothing to the ratings.
        """,
    ),
)
ANALYSIS = Analysis(
    (JUDGE_CARDS, CALIBRATION),
    lambda of: judge_cards(of.scores, of.ratings, of.studies, of.criteria, of.options),
    Page(
        "Judges that pass or fail",
        """
        People passed or failed some of the texts that a judge passes or fails. Read the first two
        numbers first. Sensitivity says how many of the texts that people pass the judge passes;
        specificity says how many of those that they fail it fails. Read agreement beside agreement
        by chance: it means little without. The judge’s own pass rate is off by what the judge gets
        wrong. The corrected pass rates hold where the rated texts were drawn at random. Texts of
        one document count as alike.
        """,
    ),
)
