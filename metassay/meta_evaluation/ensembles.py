"""The table `ensembles`: would several metrics together be closer to people than one."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study, frame_of, generator
from metassay.statistics.ensembles import best_subset, in_ensembles
from metassay.statistics.ensembles import ensembles as every_subset
from metassay.statistics.exact_sums import Array, Mask
from metassay.tables.ensembles import ENSEMBLES

JOINED = " + "

Rows = Iterator[dict[str, object]]


def _unheard(line: str) -> None:
    """Where nobody listens."""


def ensembles(
    found: Sequence[Study], options: MetaOptions, *, note: Callable[[str], None] = _unheard
) -> pd.DataFrame:
    """Every subset of a study's compared metrics, each metric's mean over them, and the best one.

    Metrics and people are turned so that more is better; only texts with people and every compared
    metric take part. A metric that gives every text the same score has no scale and is left out.
    The best subset is chosen by Pearson's correlation, texts of one
    document (or cluster of documents) in one fold: there is no such row by another coefficient. Its
    value is null, and it has no members if none could be chosen, where fewer documents are left
    than twice the folds.
    Studies with fewer than two compared metrics have no rows.

    Where a study has more of the compared metrics than `largest_ensemble`, the first of
    `options.compared` take part; `note` is told which do not.
    """
    compared = []
    for study in found:
        apart = [one for one in study.compared(options) if one.tells_apart]
        apart.sort(key=lambda one: options.rank(one.metric, one.label))
        taken, left = apart[: options.largest_ensemble], apart[options.largest_ensemble :]
        compared.append(sorted(taken, key=lambda one: one.label))
        if left:
            note(
                f"ensembles of study {study.study}: {len(apart)} metrics are compared, and"
                f" {len(taken)} is the most that are combined; left out:"
                f" {', '.join(one.label for one in left)}. Those that come first in params.yaml >"
                " meta_evaluation > compared are taken"
            )
    rows = [
        row
        for study, metrics in zip(found, compared, strict=True)
        if len(metrics) > 1
        for row in _of_study(study, metrics, options)
    ]
    return frame_of(rows, ENSEMBLES)


def _of_study(study: Study, compared: Sequence[Measured], options: MetaOptions) -> Rows:
    metrics = np.stack([study.layout.less_strata(one.oriented).ravel() for one in compared])
    human = study.layout.less_strata(study.oriented).ravel()
    rated, scored = np.isfinite(human), np.all(np.isfinite(metrics), axis=0)
    shared: dict[str, object] = {
        **study.key,
        "coefficient": options.coefficient,
        "n": int(np.count_nonzero(rated & scored)),
        "n_missing": int(np.count_nonzero(rated & ~scored)),
    }
    labels = np.array([one.label for one in compared], dtype=object)
    for row in _combined(study, metrics, human, labels, options):
        yield {**shared, **row}
    if options.coefficient == "pearson":
        yield {**shared, **_best(study, metrics, human, labels, options)}


def _combined(
    study: Study, metrics: Array, human: Array, labels: Array, options: MetaOptions
) -> Rows:
    every = every_subset(
        metrics,
        human,
        options.coefficient,
        n=options.resamples,
        confidence=options.confidence,
        rng=generator(options.seed, "ensembles", *study.key.values()),
    )
    for members, value, low, high in zip(
        every.members, every.value, every.low, every.high, strict=True
    ):
        yield {
            "kind": "subset",
            "members": JOINED.join(labels[members]),
            "size": int(np.count_nonzero(members)),
            "value": value,
            "low": low,
            "high": high,
        }
    containing = in_ensembles(
        every,
        n=options.resamples,
        confidence=options.confidence,
        rng=generator(options.seed, "ensembles", "containing", *study.key.values()),
    )
    for label, mean in zip(labels, containing, strict=True):
        yield {
            "kind": "containing",
            "members": label,
            "size": 1,
            "value": mean.value,
            "low": mean.low,
            "high": mean.high,
            "low_of_values": mean.low_paper,
            "high_of_values": mean.high_paper,
        }


def _best(
    study: Study, metrics: Array, human: Array, labels: Array, options: MetaOptions
) -> dict[str, object]:
    document = np.broadcast_to(study.layout.cluster, study.human.shape).ravel()
    complete = np.all(np.isfinite(np.vstack((metrics, human))), axis=0)
    members: Mask = np.zeros(len(labels), dtype=bool)
    value, in_sample = np.nan, np.nan
    if np.unique(document[complete]).size >= 2 * options.folds:
        best = best_subset(
            metrics,
            human,
            folds=options.folds,
            rng=generator(options.seed, "ensembles", "best", *study.key.values()),
            groups=document,
        )
        if not np.isnan(best.in_sample):
            members, value, in_sample = best.members, best.value, best.in_sample
    return {
        "kind": "best",
        "members": JOINED.join(labels[members]),
        "size": int(np.count_nonzero(members)),
        "value": value,
        "in_sample": in_sample,
    }
