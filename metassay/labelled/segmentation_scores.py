"""Segmentations beside right labels: scores of all sentences, of each label, and by place."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.errors import BadInput
from metassay.labelled import records
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import generator
from metassay.statistics import classification, shares
from metassay.statistics.exact_sums import Array, Mask
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES

ALL = "all"
PLACES = ("first third", "middle third", "last third")
_KEY = ["doc_id", "author"]

Row = dict[str, Any]


class Results(NamedTuple):
    """Tables `segment_scores` and `confusions`, and what their owner should know."""

    scores: pd.DataFrame
    confusions: pd.DataFrame
    notes: list[str]


class _Beside(NamedTuple):
    """One segmentation's labels beside the right ones; arrays are (sentences,)."""

    segmentation: str
    labels: list[str]  # every label that is right or given, in order; codes are places in it
    right: NDArray[np.intp]
    given: NDArray[np.intp]  # -1 where it failed
    document: NDArray[np.intp]
    documents: int


def examine(sentences: pd.DataFrame, segmented: pd.DataFrame, options: MetaOptions) -> Results:
    """Hold the labels of each segmentation (SEGMENTED) against SENTENCES.

    Sentences on which it failed are left out, and counted; `accuracy_at_least` and
    `accuracy_at_most` take all of them for wrong, or for right. Intervals resample documents, the
    same ones for every segmentation, so that they differ by the segmentations alone.
    """
    groups = dict(_groups(sentences))
    scores: list[Row] = []
    cells: list[Row] = []
    notes: list[str] = []
    by_name = segmented.groupby("segmentation", sort=True)
    everyone = [_beside(str(name), sentences, theirs) for name, theirs in by_name]
    for one in everyone:
        failed = int(np.count_nonzero(one.given < 0))
        many = f"{failed:,} of {len(one.given):,} sentences have no label, because it failed"
        said = "scores are given without them, and accuracy in bounds with them"
        notes += [f"{one.segmentation}: {many}: {said}"] if failed else []
        for (of, group), rows in groups.items():
            scores += _scores(one, of, group, rows, options)
        for other in everyone:
            if other is not one:
                scores += _above(one, other, options)
        cells += _cells(one)
    made = pd.DataFrame(scores, columns=list(SEGMENT_SCORES.columns))
    return Results(made, pd.DataFrame(cells, columns=list(CONFUSIONS.columns)), notes)


def _beside(name: str, sentences: pd.DataFrame, theirs: pd.DataFrame) -> _Beside:
    rows = sentences.merge(theirs, on=[*_KEY, "position"], suffixes=("", "_given"))
    if len(rows) < len(sentences):
        raise BadInput(
            f"segmented: {name} says nothing of {len(sentences) - len(rows):,} sentences; run it"
            " again"
        )
    right, given = records.names_of(rows["label"]), records.names_of(rows["label_given"])
    labels = [*sorted({*right, *given} - {None, records.NONE}), records.NONE]
    code = {label: place for place, label in enumerate(labels)}
    # What several authors wrote of one document is alike, too.
    document, documents = pd.factorize(rows["doc_id"], sort=True)
    return _Beside(
        name,
        labels,
        np.array([code[label] for label in right], dtype=np.intp),
        np.array([-1 if label is None else code[label] for label in given], dtype=np.intp),
        document.astype(np.intp),
        len(documents),
    )


def _groups(sentences: pd.DataFrame) -> Iterator[tuple[tuple[str, str], Mask]]:
    """All sentences; each third of texts; those of whose label people were less or more sure."""
    yield (ALL, ALL), np.ones(len(sentences), dtype=np.bool_)
    last = sentences.groupby(_KEY)["position"].transform("max")
    # The middle of a sentence's share of its text: a text of three sentences has one in each third.
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


def _scores(one: _Beside, of: str, group: str, rows: Mask, options: MetaOptions) -> Iterator[Row]:
    """The numbers of some sentences; of all of them also those of each label."""
    answered = rows & (one.given >= 0)
    tables = _tables(one, answered)
    missing = np.bincount(one.document[rows & ~answered], minlength=one.documents)
    # A document that is drawn brings its table, and its sentences on which the segmentation failed.
    both = np.concatenate([tables.reshape(one.documents, -1), missing[:, None]], axis=1)
    rng = generator(options.seed, "segmentation", of, group)
    drawn = classification.resampled_tables(both, n=options.resamples, rng=rng)
    table, many = tables.sum(axis=0), drawn[:, :-1].reshape(-1, *tables.shape[1:])
    failed, many_failed = float(missing.sum()), drawn[:, -1]

    def row(of: str, name: str, statistic: str, value: float, values: Array) -> Row:
        key = {"of": of, "name": name, "statistic": statistic}
        counts = {"n": int(table.sum()), "n_failed": int(failed)}
        return key | counts | _interval(one, rows, value, values, options)

    for statistic, number in classification.OF_ALL.items():
        if of == ALL or statistic == "accuracy":
            yield row(of, group, statistic, float(number(table)), number(many))
    if of != ALL:
        return
    for statistic, share in _WITH_FAILED.items():
        made = row(of, group, statistic, float(share(table, failed)), share(many, many_failed))
        yield made | {"n": int(table.sum() + failed)}
    for statistic, number in classification.OF_LABEL.items():
        of_label, drawn_of_label = number(table), number(many)
        for place in _used(table):
            values = drawn_of_label[:, place]
            made = row("label", one.labels[place], statistic, float(of_label[place]), values)
            yield made | {"n": int(table[place].sum())}


def _above(one: _Beside, other: _Beside, options: MetaOptions) -> Iterator[Row]:
    """By how much one is above the other, on the sentences that both labelled.

    They are drawn together: on hard documents both do badly, which says nothing of which is better.
    """
    both = (one.given >= 0) & (other.given >= 0)
    ours, theirs = _tables(one, both), _tables(other, both)
    flat = [tables.reshape(one.documents, -1) for tables in (ours, theirs)]
    rng = generator(options.seed, "segmentation", ALL, ALL)
    joined = np.concatenate(flat, axis=1)
    drawn = classification.resampled_tables(joined, n=options.resamples, rng=rng)
    first, second = np.split(drawn, [flat[0].shape[1]], axis=1)
    counts = {"n": int(np.count_nonzero(both)), "n_failed": int(np.count_nonzero(~both))}
    for statistic in ("accuracy", "macro_f1"):
        number = classification.OF_ALL[statistic]
        value = float(number(ours.sum(axis=0)) - number(theirs.sum(axis=0)))
        values = number(first.reshape(-1, *ours.shape[1:]))
        values = values - number(second.reshape(-1, *theirs.shape[1:]))
        key = {"of": "above", "name": other.segmentation, "statistic": statistic}
        yield key | counts | _interval(one, both, value, values, options)


def _interval(one: _Beside, rows: Mask, value: float, values: Array, options: MetaOptions) -> Row:
    documents = len(set(one.document[rows]))
    ends = shares.ends(values, value, confidence=options.confidence)
    low, high = ends if documents > 1 else (np.nan, np.nan)
    found = {"segmentation": one.segmentation, "n_documents": documents}
    return found | {"value": value, "low": low, "high": high}


def _used(table: Array) -> list[int]:
    """Labels that are right for some sentence, or given to one."""
    found: list[int] = np.flatnonzero(table.any(axis=0) | table.any(axis=1)).tolist()
    return found


_WITH_FAILED = {
    "failed": classification.failed,
    "accuracy_at_least": classification.accuracy_at_least,
    "accuracy_at_most": classification.accuracy_at_most,
}


def _tables(one: _Beside, rows: Mask) -> Array:
    return classification.tables(
        one.right[rows],
        one.given[rows],
        one.document[rows],
        labels=len(one.labels),
        documents=one.documents,
    )


def _cells(one: _Beside) -> Iterator[Row]:
    table = _tables(one, one.given >= 0).sum(axis=0)
    used = _used(table)
    for x in used:
        for y in used:
            names = {"label": one.labels[x], "given": one.labels[y]}
            yield {"segmentation": one.segmentation, **names, "n": int(table[x, y])}
