"""Segmentations against gold labels: scores over all sentences, by label, and by place."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.errors import BadInput
from metassay.labelled import records
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics import classification, shares
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.random_numbers import generator
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES

ALL = "all"
PLACES = ("first third", "middle third", "last third")
_KEY = ["doc_id", "author"]

Row = dict[str, Any]


class Results(NamedTuple):
    """Tables `segment_scores` and `confusions`, and lines of notes."""

    scores: pd.DataFrame
    confusions: pd.DataFrame
    notes: list[str]


class _Run(NamedTuple):
    """Predicted and gold labels of a segmentation; arrays are (sentences,)."""

    segmentation: str
    labels: list[str]  # every gold or predicted label, in order; codes are places in it
    right: NDArray[np.intp]
    predicted: NDArray[np.intp]  # -1 where it failed
    document: NDArray[np.intp]
    documents: int


def examine(
    sentences: pd.DataFrame, segmented: pd.DataFrame, options: MetaOptions
) -> Results:
    """Score the labels of each segmentation (SEGMENTED) against SENTENCES.

    Sentences on which it failed are left out, and counted; `accuracy_at_least` and
    `accuracy_at_most` take all of them for wrong, or for right. Intervals resample
    documents, the same for every segmentation.
    """
    groups = dict(_groups(sentences))
    scores: list[Row] = []
    cells: list[Row] = []
    notes: list[str] = []
    by_name = segmented.groupby("segmentation", sort=True)
    runs = [_run(str(name), sentences, rows) for name, rows in by_name]
    for run in runs:
        failed = int(np.count_nonzero(run.predicted < 0))
        count = f"{failed:,} of {len(run.predicted):,} sentences have no label, because it failed"
        remark = "scores are given without them, and accuracy in bounds with them"
        notes += [f"{run.segmentation}: {count}: {remark}"] if failed else []
        for (grouping, group), rows in groups.items():
            scores += _scores(run, grouping, group, rows, options)
        for other in runs:
            if other is not run:
                scores += _compare_runs(run, other, options)
        cells += _cells(run)
    table = pd.DataFrame(scores, columns=list(SEGMENT_SCORES.columns))
    return Results(table, pd.DataFrame(cells, columns=list(CONFUSIONS.columns)), notes)


def _run(name: str, sentences: pd.DataFrame, segmented: pd.DataFrame) -> _Run:
    rows = sentences.merge(segmented, on=[*_KEY, "position"], suffixes=("", "_given"))
    if len(rows) < len(sentences):
        raise BadInput(
            f"segmented: {name} lacks {len(sentences) - len(rows):,} sentences; run it again"
        )
    right, predicted = (
        records.names_of(rows["label"]),
        records.names_of(rows["label_given"]),
    )
    labels = [*sorted({*right, *predicted} - {None, records.NONE}), records.NONE]
    code = {label: place for place, label in enumerate(labels)}
    # Texts of several authors about the same document are a cluster.
    document, documents = pd.factorize(rows["doc_id"], sort=True)
    return _Run(
        name,
        labels,
        np.array([code[label] for label in right], dtype=np.intp),
        np.array(
            [-1 if label is None else code[label] for label in predicted], dtype=np.intp
        ),
        document.astype(np.intp),
        len(documents),
    )


def _groups(sentences: pd.DataFrame) -> Iterator[tuple[tuple[str, str], Mask]]:
    """Group sentences: all; by third of their text; by people's confidence in the label."""
    yield (ALL, ALL), np.ones(len(sentences), dtype=np.bool_)
    last = sentences.groupby(_KEY)["position"].transform("max")
    # By a sentence's middle: a text of three sentences has one in each third.
    third = np.floor(np.asarray(3 * (sentences["position"] + 0.5) / (last + 1)))
    for place, name in enumerate(PLACES):
        if (third == place).any():
            yield ("place", name), third == place
    sure = sentences["confidence"].to_numpy(dtype=np.float64)
    if np.isfinite(sure).any():
        median = np.nanmedian(sure)
        for name, rows in (("lower", sure < median), ("higher", sure >= median)):
            if rows.any():
                yield ("confidence", name), rows


def _scores(
    run: _Run, grouping: str, group: str, rows: Mask, options: MetaOptions
) -> Iterator[Row]:
    """Score a group of sentences; the group of all has scores by label, too."""
    answered = rows & (run.predicted >= 0)
    tables = _tables(run, answered)
    missing = np.bincount(run.document[rows & ~answered], minlength=run.documents)
    # A resampled document has its table, and its sentences on which the segmentation
    # failed.
    counted = np.concatenate(
        [tables.reshape(run.documents, -1), missing[:, None]], axis=1
    )
    rng = generator(options.seed, "segmentation", grouping, group)
    resampled = classification.resample_tables(counted, n=options.resamples, rng=rng)
    table, many = tables.sum(axis=0), resampled[:, :-1].reshape(-1, *tables.shape[1:])
    failed, many_failed = float(missing.sum()), resampled[:, -1]

    def row(
        grouping: str, name: str, statistic: str, value: float, values: Array
    ) -> Row:
        key = {"of": grouping, "name": name, "statistic": statistic}
        counts = {"n": int(table.sum()), "n_failed": int(failed)}
        return key | counts | _interval(run, rows, value, values, options)

    for statistic, number in classification.OF_ALL.items():
        if grouping == ALL or statistic == "accuracy":
            yield row(grouping, group, statistic, float(number(table)), number(many))
    if grouping != ALL:
        return
    for statistic, share in _WITH_FAILED.items():
        entry = row(
            grouping,
            group,
            statistic,
            float(share(table, failed)),
            share(many, many_failed),
        )
        yield entry | {"n": int(table.sum() + failed)}
    for statistic, number in classification.OF_LABEL.items():
        of_label, drawn_of_label = number(table), number(many)
        for place in _used(table):
            values = drawn_of_label[:, place]
            entry = row(
                "label", run.labels[place], statistic, float(of_label[place]), values
            )
            yield entry | {"n": int(table[place].sum())}


def _compare_runs(first: _Run, second: _Run, options: MetaOptions) -> Iterator[Row]:
    """Return by how much `first` is above `second`, on the sentences that both labelled.

    Both have the same resamples: a document that is hard for both favours neither.
    """
    both = (first.predicted >= 0) & (second.predicted >= 0)
    tables_first, tables_second = _tables(first, both), _tables(second, both)
    flat = [
        tables.reshape(first.documents, -1) for tables in (tables_first, tables_second)
    ]
    rng = generator(options.seed, "segmentation", ALL, ALL)
    joined = np.concatenate(flat, axis=1)
    resampled = classification.resample_tables(joined, n=options.resamples, rng=rng)
    drawn_first, drawn_second = np.split(resampled, [flat[0].shape[1]], axis=1)
    counts = {
        "n": int(np.count_nonzero(both)),
        "n_failed": int(np.count_nonzero(~both)),
    }
    for statistic in ("accuracy", "macro_f1"):
        number = classification.OF_ALL[statistic]
        value = float(
            number(tables_first.sum(axis=0)) - number(tables_second.sum(axis=0))
        )
        values = number(drawn_first.reshape(-1, *tables_first.shape[1:]))
        values = values - number(drawn_second.reshape(-1, *tables_second.shape[1:]))
        key = {"of": "above", "name": second.segmentation, "statistic": statistic}
        yield key | counts | _interval(first, both, value, values, options)


def _interval(
    run: _Run, rows: Mask, value: float, values: Array, options: MetaOptions
) -> Row:
    documents = len(set(run.document[rows]))
    ends = shares.ends(values, value, confidence=options.confidence)
    low, high = ends if documents > 1 else (np.nan, np.nan)
    key = {"segmentation": run.segmentation, "n_documents": documents}
    return key | {"value": value, "low": low, "high": high}


def _used(table: Array) -> list[int]:
    """Return the labels of any sentence, gold or predicted."""
    return [int(at) for at in np.flatnonzero(table.any(axis=0) | table.any(axis=1))]


# the failed for wrong, and for right
_WITH_FAILED: dict[str, Callable[[Array, Any], Array]] = {
    "failed": classification.failure_rate,
    "accuracy_at_least": classification.accuracy,
    "accuracy_at_most": lambda table, failed: classification.accuracy(
        table, failed, failed
    ),
}


def _tables(run: _Run, rows: Mask) -> Array:
    return classification.tables(
        run.right[rows],
        run.predicted[rows],
        run.document[rows],
        labels=len(run.labels),
        documents=run.documents,
    )


def _cells(run: _Run) -> Iterator[Row]:
    table = _tables(run, run.predicted >= 0).sum(axis=0)
    used = _used(table)
    for x in used:
        for y in used:
            names = {"label": run.labels[x], "given": run.labels[y]}
            yield {"segmentation": run.segmentation, **names, "n": int(table[x, y])}
