"""Segmentations against gold labels: scores over all sentences, by label, and by place."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.labelled import records
from metassay.labelled.class_numbers import ACCURACY, class_numbers
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics.exact_sums import Index, Mask
from metassay.statistics.label_rows import LabelRows
from metassay.statistics.nominal_labels import AGREEMENT, compare_judges
from metassay.statistics.random_numbers import generator
from metassay.statistics.shares import Estimate, share
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
    right: Index
    predicted: Index  # -1 where it failed
    document: Index

    def rows(self, sentences: Mask) -> LabelRows:
        """Return the sentences that have a predicted label, of those (sentences,)."""
        answered = sentences & (self.predicted >= 0)
        return LabelRows(
            judge=self.predicted[answered],
            people=self.right[answered],
            weight=np.ones(np.count_nonzero(answered)),
            cluster=self.document[answered],
            n_judge=len(self.labels),
            n_people=len(self.labels),
        )


def examine(
    sentences: pd.DataFrame, segmented: pd.DataFrame, options: MetaOptions
) -> Results:
    """Score the labels of each segmentation (SEGMENTED) against SENTENCES.

    Sentences on which it failed are left out, and counted; `accuracy_at_least` and
    `accuracy_at_most` take all of them for wrong, or for right. Sentences of a document
    count as alike.
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
        for (grouping, group), within in groups.items():
            scores += _scores(run, grouping, group, within, options)
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
    used = {*right, *predicted} - {None}
    labels = sorted(used, key=lambda label: (label == records.NONE, label))
    code = {label: place for place, label in enumerate(labels)}
    # Texts of several authors about the same document are a cluster.
    document, _ = pd.factorize(rows["doc_id"], sort=True)
    return _Run(
        segmentation=name,
        labels=labels,
        right=np.array([code[label] for label in right], dtype=np.intp),
        predicted=np.array([code.get(label, -1) for label in predicted], dtype=np.intp),
        document=document.astype(np.intp),
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
    run: _Run, grouping: str, group: str, within: Mask, options: MetaOptions
) -> Iterator[Row]:
    """Score a group of sentences; the group of all has scores by label, too."""
    rows = run.rows(within)
    rng = generator(options.seed, "segmentation", run.segmentation, grouping, group)
    numbers = class_numbers(rows, confidence=options.confidence, rng=rng)
    key: Row = {
        "segmentation": run.segmentation,
        "n_failed": int(np.count_nonzero(within & (run.predicted < 0))),
        "n_documents": np.unique(run.document[within]).size,
    }
    if grouping != ALL:
        of_group = {"of": grouping, "name": group, "statistic": ACCURACY}
        yield {**key, **of_group, **_numbers(numbers.of_all[ACCURACY], key)}
        return
    of_all = {**numbers.of_all, **_failure_bounds(run, within, options.confidence)}
    for statistic, estimate in of_all.items():
        of_number = {"of": ALL, "name": ALL, "statistic": statistic}
        yield {**key, **of_number, **_numbers(estimate, key)}
    for place in _used(rows):
        n_right = int(np.count_nonzero(rows.people == place))
        for statistic, estimate in numbers.of_class[place].items():
            of_label = {
                "of": "label",
                "name": run.labels[place],
                "statistic": statistic,
            }
            entry = {**key, **of_label, **_numbers(estimate, key)}
            yield {**entry, "n": n_right}


def _failure_bounds(run: _Run, within: Mask, confidence: float) -> dict[str, Estimate]:
    """Return how many sentences it failed on, and accuracy if all of these were wrong, or right."""
    failed = run.predicted[within] < 0
    hits = run.predicted[within] == run.right[within]
    counted = {
        "failed": failed,
        "accuracy_at_least": hits,
        "accuracy_at_most": hits | failed,
    }
    document = run.document[within]
    return {
        name: share(mask, document, confidence=confidence)
        for name, mask in counted.items()
    }


def _compare_runs(first: _Run, second: _Run, options: MetaOptions) -> Iterator[Row]:
    """Return by how much `first` is above `second`, on the sentences that both labelled."""
    both = (first.predicted >= 0) & (second.predicted >= 0)
    labels = sorted({*first.labels, *second.labels})
    place = {label: code for code, label in enumerate(labels)}

    def codes(run: _Run, labels_of: Index) -> Index:
        return np.array(
            [place[run.labels[code]] for code in labels_of[both]], dtype=np.intp
        )

    differences = compare_judges(
        codes(first, first.predicted),
        codes(second, second.predicted),
        codes(first, first.right),
        first.document[both],
        n=len(labels),
        confidence=options.confidence,
        rng=generator(options.seed, "segmentation", "above"),
    )
    key: Row = {
        "segmentation": first.segmentation,
        "of": "above",
        "name": second.segmentation,
        "n_failed": int(np.count_nonzero(~both)),
        "n_documents": np.unique(first.document[both]).size,
    }
    for statistic, estimate in differences.items():
        name = ACCURACY if statistic == AGREEMENT else statistic
        yield {**key, "statistic": name, **_numbers(estimate, key)}


def _numbers(estimate: Estimate, key: Row) -> Row:
    """Return a number with its interval, of which one document knows nothing."""
    has_ends = key["n_documents"] > 1
    return {
        "value": estimate.value,
        "low": estimate.low if has_ends else np.nan,
        "high": estimate.high if has_ends else np.nan,
        "n": estimate.n,
    }


def _used(rows: LabelRows) -> list[int]:
    """Return the labels of any sentence, gold or predicted."""
    return [int(code) for code in np.unique(np.concatenate((rows.people, rows.judge)))]


def _cells(run: _Run) -> Iterator[Row]:
    rows = run.rows(np.ones(run.right.size, dtype=np.bool_))
    n = len(run.labels)
    table = np.bincount(rows.cell, minlength=n * n).reshape(n, n)
    used = _used(rows)
    for x in used:
        for y in used:
            names = {"label": run.labels[x], "given": run.labels[y]}
            yield {"segmentation": run.segmentation, **names, "n": int(table[x, y])}
