"""The table `corrected`: a system's true mean from a metric on all its texts and people on some."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study
from metassay.parquet import empty
from metassay.statistics.correlation import Array
from metassay.statistics.prediction_powered import prediction_powered_mean, rogan_gladen
from metassay.tables.corrected import CORRECTED


def corrected(scores: pd.DataFrame, found: Sequence[Study], options: MetaOptions) -> pd.DataFrame:
    """Per study, compared metric and rated system: the mean that people would give all its texts.

    `scores`: the table of that name; all texts of the system in the study's part that the metric
    scored by the recipe of the rated ones, and their documents, are "all its texts". The estimate
    is a mean on the criterion's own scale, whatever the metric's. A metric that falls where people
    rise, though both say that more is better, gets weight 0, which leaves people's mean. Every
    system has a row `prediction_powered`; a row `rogan_gladen` where all its scores and ratings
    are 0 or 1.

    Both assume that the rated texts are a random sample of all texts of the system, and that
    documents are independent. Where the texts were picked (the hardest, the longest), neither
    interval covers.
    """
    rows: list[dict[str, object]] = []
    for study in found:
        for measured in study.compared(options):
            mine = _of_metric(scores, study, measured)
            for position, author in enumerate(study.systems):
                judge, human = _aligned(mine, study, position)
                sign = 1.0 if measured.better == study.better else -1.0
                for row in _corrections(judge, human, sign, options.confidence):
                    of = {"metric": measured.metric, "judge": measured.judge, "author": author}
                    rows.append({**study.key, **of, **row, "recipe": measured.recipe})
    return pd.DataFrame(rows, columns=list(CORRECTED.columns)) if rows else empty(CORRECTED)


def _of_metric(scores: pd.DataFrame, study: Study, measured: Measured) -> pd.DataFrame:
    return scores[
        (scores["part"] == study.part)
        & (scores["metric"] == measured.metric)
        & (scores["judge"] == measured.judge)
        & (scores["recipe"] == measured.recipe)
    ]


def _aligned(scores: pd.DataFrame, study: Study, position: int) -> tuple[Array, Array]:
    """The metric's and people's values of every text that one system has of either."""
    own = scores[scores["author"] == study.systems[position]]
    metric = pd.Series(own["value"].to_numpy(dtype=np.float64), index=own["doc_id"])
    people = pd.Series(study.human[position], index=study.documents).dropna()
    documents = metric.index.union(people.index, sort=True)
    return metric.reindex(documents).to_numpy(), people.reindex(documents).to_numpy()


def _corrections(
    judge: Array, human: Array, sign: float, confidence: float
) -> Iterator[dict[str, object]]:
    rated, scored = human[np.isfinite(human)], judge[np.isfinite(judge)]
    by_people = float(np.mean(rated))
    powered = prediction_powered_mean(sign * judge, human, confidence=confidence)
    yield {
        "method": "prediction_powered",
        "value": powered.value,
        "low": powered.low,
        "high": powered.high,
        "metric_mean": sign * powered.judge_mean,
        "human_mean": by_people,
        "weight": powered.weight,
        "sensitivity": np.nan,
        "specificity": np.nan,
        "n": powered.n,
        "n_judged": scored.size,
        "n_missing": powered.n_missing,
    }
    if not scored.size or not np.isin(np.concatenate((rated, scored)), (0.0, 1.0)).all():
        return
    share = rogan_gladen(judge, human, confidence=confidence)
    yield {
        "method": "rogan_gladen",
        "value": share.value,
        "low": share.low,
        "high": share.high,
        "metric_mean": float(np.mean(scored)),
        "human_mean": by_people,
        "weight": np.nan,
        "sensitivity": share.sensitivity,
        "specificity": share.specificity,
        "n": share.n,
        "n_judged": scored.size,
        "n_missing": share.n_missing,
    }
