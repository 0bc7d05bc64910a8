"""Scores of single statements by judges and by models, and the models' means over texts.

A statement without aligned passages has no score by a model, and none is expected;
where the model gave no usable answer, the statement counts as failed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.executor.record import LOCAL, Executor
from metassay.llm.needs import executor_for, files_of
from metassay.metrics.copying import EXTRACTIVENESS, LENGTHS
from metassay.metrics.describe import Description
from metassay.metrics.faithfulness.record import BY_TEXT, Case, Scored
from metassay.metrics.measure import join_shards
from metassay.scoring.aggregation.judged import (
    Setup,
    cells_of,
    lost_units,
    places_in,
    ratio,
    score_rows,
    signature,
    totals,
)
from metassay.scoring.pairing.measures import FAITHFULNESS
from metassay.tables.checks import drop_further_references
from metassay.tables.names import (
    NO_JUDGE,
    aligned_suffixes,
    base_metric,
    metric_label,
    suffix_of,
)
from metassay.tables.parquet import empty, round_significant
from metassay.tables.scores import MEASUREMENTS
from metassay.tables.statement_scores import STATEMENT_SCORES

PLACE = ["doc_id", "author", "part", "position"]
_TEXT = ["doc_id", "author"]


@dataclass(frozen=True)
class Read:
    """The n statements of a benchmark, rows of `units` with `number`, and their passages.

    `sources`: all passages of each statement's document. `aligned`: by the suffix that
    an alignment adds to names of metrics, the places of each statement's passages, in
    the source's order.
    """

    statements: pd.DataFrame
    sources: Sequence[Sequence[str]]
    aligned: Mapping[str, Sequence[Sequence[int]]]

    @property
    def texts(self) -> list[str]:
        """The statements' texts."""
        return [str(text) for text in self.statements["text"]]

    def passages(self, suffix: str) -> list[tuple[str, ...]]:
        """Return the passages that an alignment gives each statement."""
        read = []
        for source, places in zip(self.sources, self.aligned[suffix], strict=True):
            read.append(tuple(source[place] for place in places))
        return read


def read_statements(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: Mapping[str, pd.DataFrame],
) -> Read:
    """Read all statements with their passages; `alignments` by name, in the benchmark's order."""
    valid = units[(units["kind"] == "statement") & (units["status"] == "ok")]
    statements = number_statements(drop_further_references(valid), parts)
    passages = dict(zip(sources["doc_id"], sources["passages"], strict=True))
    aligned = {}
    for name, suffix in aligned_suffixes("all", list(alignments)).items():
        rows = alignments[name]
        at = places_in(statements[PLACE], rows[PLACE])
        aligned[suffix] = [sorted(places) for places in rows["passages"].to_numpy()[at]]
    return Read(
        statements, [passages[doc_id] for doc_id in statements["doc_id"]], aligned
    )


def number_statements(statements: pd.DataFrame, parts: pd.DataFrame) -> pd.DataFrame:
    """Add `number`, a statement's place in the whole text from 0, and sort by it."""
    begins = parts.set_index(["doc_id", "author", "part"])["starts"].map(
        lambda s: min(s, default=0)
    )
    keys = pd.MultiIndex.from_frame(statements[["doc_id", "author", "part"]])
    placed = statements.assign(begins=begins.reindex(keys).to_numpy())
    placed = placed.sort_values(
        [*_TEXT, "begins", "part", "position"], ignore_index=True
    )
    return placed.assign(number=placed.groupby(_TEXT).cumcount()).drop(columns="begins")


def rows_of(  # noqa: PLR0913 - the columns of the table
    read: Read,
    metric: str,
    better: str,
    judge: str,
    recipe: str,
    value: Any,
    *,
    failed: Any = False,
    unread: Any = 0.0,
    cut: Any = False,
) -> pd.DataFrame:
    """Return a metric's rows of table `statement_scores`: arrays have n values, null is NaN."""
    about = {"metric": metric, "judge": judge, "better": better, "recipe": recipe}
    return read.statements[[*PLACE, "number"]].assign(
        **about,
        value=np.asarray(value, dtype=float),
        failed=failed,
        unread=unread,
        cut=cut,
    )


def table_of(metrics: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return table `statement_scores`."""
    if not metrics or not len(metrics[0]):
        return empty(STATEMENT_SCORES)
    whole = pd.concat(metrics, ignore_index=True)[list(STATEMENT_SCORES.columns)]
    return whole.assign(value=whole["value"].map(round_significant))


def judged_statements(
    read: Read, pairs: pd.DataFrame, judgments: pd.DataFrame, setup: Setup
) -> pd.DataFrame:
    """Score each statement by judges, and by its words, copying and number of passages.

    `faithfulness`: 1 or 0, null where the answer failed; `support_probability`: where
    the judge gives it. Coverage and density compare the statement with its aligned
    passages. Returns table `statement_scores`.
    """
    return table_of([*_confounds(read, setup), *_judged(read, pairs, judgments, setup)])


def _judged(
    read: Read, pairs: pd.DataFrame, judgments: pd.DataFrame, setup: Setup
) -> Iterator[pd.DataFrame]:
    pairs = pairs[pairs["measure"].map(base_metric) == FAITHFULNESS.name]
    statement = places_in(pairs[PLACE], read.statements[PLACE])
    pairs = pairs[statement >= 0]
    statement = statement[statement >= 0]
    n = len(read.statements)
    for measure, places in sorted(pairs.groupby("measure").indices.items()):
        rows = pairs.iloc[places]
        at = statement[places]
        unread = (rows["settled"] == "no_evidence").to_numpy()
        for judge, of_judge in judgments.groupby("judge", sort=True):
            answers = of_judge.drop_duplicates("pair_id").set_index("pair_id")
            answers = answers.reindex(rows["pair_id"])
            ok = (answers["status"] == "ok").to_numpy()
            label = np.where(ok, answers["label"].to_numpy() == "entailed", np.nan)
            value = np.full((2, n), np.nan)
            failed = np.zeros(n, bool)
            value[0, at] = np.where(unread, 0.0, label)
            value[1, at] = answers["probability"].to_numpy(dtype=float)
            failed[at] = ~(ok | unread)
            recipe = f"judge:{signature(str(judge), of_judge)}|metassay:{setup.version}"
            names = (str(measure), f"support_probability{suffix_of(str(measure))}")
            for name, values, failures in zip(
                names, value, (failed, False), strict=True
            ):
                defined = np.isfinite(values).any()
                # A judge that always failed might have given it.
                if defined or (failed.any() and not ok.any()):
                    about = name, "higher", str(judge), f"{name}|{recipe}"
                    yield rows_of(
                        read, *about, values, failed=failures if defined else failed
                    )


def _confounds(read: Read, setup: Setup) -> Iterator[pd.DataFrame]:
    end = f"metassay:{setup.version}"
    counted = LENGTHS.measure(read.texts, read.texts, Options())["words"]
    recipe = f"words|{LENGTHS.recipe(Options())}|{end}"
    yield rows_of(
        read, "words", "neither", NO_JUDGE, recipe, [score.value for score in counted]
    )
    for alignment, suffix in aligned_suffixes("all", list(setup.alignments)).items():
        passages = read.passages(suffix)
        evidence = ["\n".join(of_statement) for of_statement in passages]
        copied = EXTRACTIVENESS.measure(read.texts, evidence, Options())
        values: dict[str, Sequence[float | None]] = {
            "coverage": [score.value for score in copied["coverage"]],
            "density": [score.value for score in copied["density"]],
            "aligned_passages": [float(len(of_statement)) for of_statement in passages],
        }
        for name, value in values.items():
            settings = f"{EXTRACTIVENESS.recipe(Options())}|alignment:{setup.alignments[alignment]}"
            recipe = f"{name}{suffix}|{settings}|{end}"
            yield rows_of(read, name + suffix, "neither", NO_JUDGE, recipe, value)


def score_statements(
    read: Read,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    name: str,
    chosen: Chosen,
    setup: Setup,
    executor: Executor = LOCAL,
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Score every statement by a block of metrics, under each of its checkpoints and alignments.

    Returns table `statement_scores`; rows of `measurements`, a mean per text; lines of
    notes. Raises BadInput if `by` is `text` and the metric cannot read whole texts, or
    if the metric does.
    """
    options = chosen.options
    metric = chosen.record
    by_text = options.by == "text"
    if by_text and not metric.by_text:
        raise BadInput(
            f"statement_metrics > {name} > by: kind {chosen.kind!r} cannot read whole texts; write"
            " statement"
        )
    tables = []
    measured = []
    notes: list[str] = []
    suffixes = aligned_suffixes(options.alignments, list(setup.alignments))
    for alignment, suffix in suffixes.items():
        cases, places = _cases(read, suffix, by_text=by_text)
        for checkpoint, network in getattr(
            options, "checkpoints", {NO_JUDGE: None}
        ).items():
            over = executor_for(chosen, executor)
            files = files_of(chosen)
            scored = join_shards(
                over.map(metric.score, cases, options, network, files=files)
            )
            settings = (
                f"{metric.recipe(options, network)}|by:{options.by}"
                f"|segmentation:{setup.segmentation}|decomposition:{setup.decomposition}"
                f"|alignment:{setup.alignments[alignment]}|metassay:{setup.version}"
            )
            for description in metric.descriptions:
                metric_name = description.name + suffix + (BY_TEXT if by_text else "")
                of_each = list(chain.from_iterable(scored[description.name]))
                recipe = f"{metric_name}|{settings}"
                rows = _rows(
                    read,
                    places,
                    of_each,
                    (metric_name, description.better, checkpoint, recipe),
                )
                tables.append(rows)
                means = _average_by_text(rows, parts, units, description)
                measured.append(
                    means.assign(metric=metric_name, judge=checkpoint, recipe=recipe)
                )
                notes += _counted(metric_label(metric_name, checkpoint), rows)
    whole = pd.concat(measured, ignore_index=True)
    whole["value"] = whole["value"].map(round_significant)
    return table_of(tables), whole[list(MEASUREMENTS.columns)], notes


def _cases(read: Read, suffix: str, *, by_text: bool) -> tuple[list[Case], list[int]]:
    """Return what a model reads, and the place of each statement in it, in order.

    A statement without aligned passages is left out.
    """
    texts = read.texts
    passages = read.passages(suffix)
    aligned = read.aligned[suffix]
    places = [
        place for place, text in enumerate(texts) if aligned[place] and text.strip()
    ]
    if not by_text:
        return [Case(passages[place], (texts[place],)) for place in places], places
    keys = list(zip(read.statements["doc_id"], read.statements["author"], strict=True))
    cases = []
    for _, group in groupby(places, key=keys.__getitem__):
        of_text = list(group)
        shared = sorted(set(chain.from_iterable(aligned[place] for place in of_text)))
        against = tuple(read.sources[of_text[0]][at] for at in shared)
        cases.append(Case(against, tuple(texts[place] for place in of_text)))
    return cases, places


def _rows(
    read: Read,
    places: Sequence[int],
    scored: Sequence[Scored],
    about: tuple[str, str, str, str],
) -> pd.DataFrame:
    """Return a row per statement, null for those that no model read."""
    by_place = dict(zip(places, scored, strict=True))
    scores = [
        by_place.get(place, Scored(None)) for place in range(len(read.statements))
    ]
    return rows_of(
        read,
        *about,
        [np.nan if score.value is None else score.value for score in scores],
        failed=[score.failed for score in scores],
        unread=[float(score.unread) for score in scores],
        cut=[score.cut for score in scores],
    )


def _average_by_text(
    rows: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    description: Description,
) -> pd.DataFrame:
    """Return a metric's `measurements` without its name: means over statements with a value."""
    cells = cells_of(parts, units)
    losses = lost_units(parts, cells, by_reference=False)
    at = places_in(rows[list(cells.keys)], cells.keys)
    value = rows["value"].to_numpy(dtype=float)
    valued = ~np.isnan(value)
    failed = rows["failed"].to_numpy(dtype=bool)
    worth = totals(at[valued], cells, value[valued])
    judged = totals(at[valued], cells)
    missing = totals(np.concatenate([at[failed], losses.parts]), cells)
    # sections of a text that failed
    missing[losses.texts & (judged + missing == 0)] = 1
    low, high = description.range
    ends = (
        (np.nan, np.nan) if low is None or high is None else (float(low), float(high))
    )
    bounds = [
        np.where(
            missing > 0,
            ratio(worth + end * missing, judged + missing),
            ratio(worth, judged),
        )
        for end in ends
    ]
    return score_rows(cells.keys, worth, judged + missing, judged, bounds)


def _counted(metric: str, rows: pd.DataFrame) -> Iterator[str]:
    """Count the statements that were not read whole, and those without a score."""
    counts: dict[str, pd.Series] = {
        "are read against passages that the model did not read to their end": rows[
            "unread"
        ]
        > 0,
        "were not read to their end": rows["cut"],
        "have no score, for the model gave no usable answer": rows["failed"],
        "have no score: nothing is aligned with them, or the metric is undefined": (
            rows["value"].isna() & ~rows["failed"]
        ),
    }
    for what, which in counts.items():
        if which.any():
            yield f"{metric}: {int(which.sum()):,} of {len(rows):,} statements {what}"
