"""Scores of single statements that models compute, and their means over texts.

A statement with which nothing is aligned has no score, and is not expected to have any; where the
model gave no usable answer, the statement counts as failed.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.executor.record import LOCAL, Executor
from metassay.llm.needs import executor_for, files_of
from metassay.metrics.describe import Description
from metassay.metrics.faithfulness.record import BY_TEXT, Case, Scored
from metassay.metrics.measure import by_name
from metassay.scoring.aggregation.cells import (
    Setup,
    cells_of,
    lost_units,
    places_in,
    ratio,
    totals,
)
from metassay.scoring.aggregation.statements import Read, rows_of, table_of
from metassay.tables.names import NO_JUDGE, aligned_suffixes, metric_label
from metassay.tables.parquet import rounded
from metassay.tables.scores import MEASUREMENTS


class StatementScores(NamedTuple):
    """Table `statement_scores`; rows of `measurements`, a mean per text; lines of notes."""

    table: pd.DataFrame
    measurements: pd.DataFrame
    notes: tuple[str, ...]


def score_statements(
    read: Read,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    name: str,
    chosen: Chosen,
    setup: Setup,
    executor: Executor = LOCAL,
) -> StatementScores:
    """Every statement by one block of metrics, under each of its checkpoints and alignments.

    Raises BadInput if the metric cannot read whole texts and is to, and what it raises itself.
    """
    options, metric = chosen.options, chosen.record
    by_text = options.by == "text"
    if by_text and not metric.by_text:
        raise BadInput(
            f"statement_metrics > {name} > by: kind {chosen.kind!r} reads statements one by one;"
            " write statement"
        )
    tables, measured = [], []
    notes: list[str] = []
    suffixes = aligned_suffixes(options.alignments, list(setup.alignments))
    for alignment, suffix in suffixes.items():
        cases, places = _cases(read, suffix, by_text=by_text)
        for checkpoint, network in getattr(options, "checkpoints", {NO_JUDGE: None}).items():
            scored = by_name(
                executor_for(chosen, executor).map(
                    metric.score, cases, options, network, files=files_of(chosen)
                )
            )
            settings = (
                f"{metric.recipe(options, network)}|by:{options.by}"
                f"|segmentation:{setup.segmentation}|decomposition:{setup.decomposition}"
                f"|alignment:{setup.alignments[alignment]}|metassay:{setup.version}"
            )
            for one in metric.descriptions:
                metric_name = one.name + suffix + (BY_TEXT if by_text else "")
                of_each = [score for case in scored[one.name] for score in case]
                recipe = f"{metric_name}|{settings}"
                rows = _rows(read, places, of_each, (metric_name, one.better, checkpoint, recipe))
                tables.append(rows)
                known = _of_texts(rows, parts, units, one)
                measured.append(known.assign(metric=metric_name, judge=checkpoint, recipe=recipe))
                notes += _counted(metric_label(metric_name, checkpoint), rows)
    whole = pd.concat(measured, ignore_index=True)
    whole["value"] = whole["value"].map(rounded)
    return StatementScores(table_of(tables), whole[list(MEASUREMENTS.columns)], tuple(notes))


def _cases(read: Read, suffix: str, *, by_text: bool) -> tuple[list[Case], list[int]]:
    """What a model reads, and the place of each statement that is in it, in order.

    A statement with which nothing is aligned is in none.
    """
    texts, passages, aligned = read.texts, read.passages(suffix), read.aligned[suffix]
    places = [place for place, text in enumerate(texts) if aligned[place] and text.strip()]
    if not by_text:
        return [Case(passages[place], (texts[place],)) for place in places], places
    keys = list(zip(read.statements["doc_id"], read.statements["author"], strict=True))
    cases = []
    for _, group in groupby(places, key=keys.__getitem__):
        of_text = list(group)
        shared = sorted({at for place in of_text for at in aligned[place]})
        source = read.sources[of_text[0]]
        cases.append(
            Case(tuple(source[at] for at in shared), tuple(texts[place] for place in of_text))
        )
    return cases, places


def _rows(
    read: Read, places: Sequence[int], scored: Sequence[Scored], about: tuple[str, str, str, str]
) -> pd.DataFrame:
    """Rows of the table: a statement that no model read has one with a null."""
    of_each = dict(zip(places, scored, strict=True))
    every = [of_each.get(place, Scored(None)) for place in range(len(read.statements))]
    return rows_of(
        read,
        *about,
        [np.nan if one.value is None else one.value for one in every],
        failed=[one.failed for one in every],
        unread=[float(one.unread) for one in every],
        cut=[one.cut for one in every],
    )


def _of_texts(
    rows: pd.DataFrame, parts: pd.DataFrame, units: pd.DataFrame, description: Description
) -> pd.DataFrame:
    """What `measurements` has of one metric but its name: the mean over statements with a value."""
    cells = cells_of(parts, units)
    lost = lost_units(parts, cells, by_reference=False)
    at = places_in(rows[list(cells.keys)], cells.keys)
    value = rows["value"].to_numpy(dtype=float)
    known, failed = ~np.isnan(value), rows["failed"].to_numpy(dtype=bool)
    worth, judged = totals(at[known], cells, value[known]), totals(at[known], cells)
    missing = totals(np.concatenate([at[failed], lost.parts]), cells)
    missing[lost.texts & (judged + missing == 0)] = 1  # sections of a text that failed
    low, high = description.range
    ends = (np.nan, np.nan) if low is None or high is None else (float(low), float(high))
    bounds = [
        np.where(missing > 0, ratio(worth + end * missing, judged + missing), ratio(worth, judged))
        for end in ends
    ]
    return cells.keys.assign(
        value=ratio(worth, judged),
        n_expected=(judged + missing).astype(np.int64),
        n_judged=judged.astype(np.int64),
        n_failed=missing.astype(np.int64),
        low=bounds[0],
        high=bounds[1],
        statistics=np.stack([worth, judged], axis=1).tolist(),
    )


def _counted(metric: str, rows: pd.DataFrame) -> Iterator[str]:
    """What was not read, and what has no score."""
    counts: dict[str, pd.Series] = {
        "are read against passages that the model did not read to their end": rows["unread"] > 0,
        "were not read to their end": rows["cut"],
        "have no score, for the model gave no usable answer": rows["failed"],
        "have no score: nothing is aligned with them, or the metric is undefined": (
            rows["value"].isna() & ~rows["failed"]
        ),
    }
    for what, which in counts.items():
        if which.any():
            yield f"{metric}: {int(which.sum()):,} of {len(rows):,} statements {what}"
