"""Single statements, the passages that are aligned with them, and their scores.

Scores are by judges, or by models, whose means over texts are here, too. A statement with which
nothing is aligned has no score by a model, and is not expected to have any; where the model gave no
usable answer, the statement counts as failed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.executor.record import LOCAL, Executor
from metassay.llm.needs import executor_for, files_of
from metassay.metrics.describe import Description
from metassay.metrics.extractiveness import KIND as EXTRACTIVENESS
from metassay.metrics.faithfulness.record import BY_TEXT, Case, Scored
from metassay.metrics.lengths import KIND as LENGTHS
from metassay.metrics.measure import by_name
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
from metassay.tables.checks import without_further_references
from metassay.tables.names import NO_JUDGE, aligned_suffixes, base_metric, metric_label, suffix_of
from metassay.tables.parquet import empty, rounded
from metassay.tables.scores import MEASUREMENTS
from metassay.tables.statement_scores import STATEMENT_SCORES

PLACE = ["doc_id", "author", "part", "position"]
_TEXT = ["doc_id", "author"]


@dataclass(frozen=True)
class Read:
    """The n statements of a benchmark: rows of `units` with `number`, and what each is read with.

    `sources`: of each statement all passages of its document. `aligned`: by what an alignment adds
    to names of metrics, of each statement the places of its passages, in the order of the source.
    """

    statements: pd.DataFrame
    sources: Sequence[Sequence[str]]
    aligned: Mapping[str, Sequence[Sequence[int]]]

    @property
    def texts(self) -> list[str]:
        """The statements' words."""
        return [str(text) for text in self.statements["text"]]

    def passages(self, suffix: str) -> list[tuple[str, ...]]:
        """What each statement is read against by an alignment."""
        pairs = zip(self.sources, self.aligned[suffix], strict=True)
        return [tuple(source[place] for place in places) for source, places in pairs]


def read_statements(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: Mapping[str, pd.DataFrame],
) -> Read:
    """All statements with their passages; `alignments` by name, in the benchmark's order."""
    known = units[(units["kind"] == "statement") & (units["status"] == "ok")]
    statements = numbered(without_further_references(known), parts)
    passages = dict(zip(sources["doc_id"], sources["passages"], strict=True))
    aligned = {}
    for name, suffix in aligned_suffixes("all", list(alignments)).items():
        rows = alignments[name]
        at = places_in(statements[PLACE], rows[PLACE])
        aligned[suffix] = [sorted(places) for places in rows["passages"].to_numpy()[at]]
    return Read(statements, [passages[doc_id] for doc_id in statements["doc_id"]], aligned)


def numbered(statements: pd.DataFrame, parts: pd.DataFrame) -> pd.DataFrame:
    """Statements with `number`, their place in the whole text from 0, sorted by it."""
    starts = parts.set_index(["doc_id", "author", "part"])["starts"]
    begins = starts.map(lambda of_part: min(of_part, default=0))
    keys = pd.MultiIndex.from_frame(statements[["doc_id", "author", "part"]])
    placed = statements.assign(begins=begins.reindex(keys).to_numpy())
    placed = placed.sort_values([*_TEXT, "begins", "part", "position"], ignore_index=True)
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
    """One metric's rows of table `statement_scores`: arrays have n values, null is NaN."""
    about = {"metric": metric, "judge": judge, "better": better, "recipe": recipe}
    return read.statements[[*PLACE, "number"]].assign(
        **about, value=np.asarray(value, dtype=float), failed=failed, unread=unread, cut=cut
    )


def table_of(metrics: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Table `statement_scores`."""
    if not metrics or not len(metrics[0]):
        return empty(STATEMENT_SCORES)
    whole = pd.concat(metrics, ignore_index=True)[list(STATEMENT_SCORES.columns)]
    return whole.assign(value=whole["value"].map(rounded))


def judged_statements(
    read: Read, pairs: pd.DataFrame, judgments: pd.DataFrame, setup: Setup
) -> pd.DataFrame:
    """What judges said of each statement, and its words, copying and number of passages.

    `faithfulness`: 1 or 0, null where there is no answer (failed); `support_probability`, where the
    judge gives one. Coverage and density are of the statement beside its aligned passages. Returns
    table `statement_scores`.
    """
    return table_of([*_confounds(read, setup), *_judged(read, pairs, judgments, setup)])


def _judged(
    read: Read, pairs: pd.DataFrame, judgments: pd.DataFrame, setup: Setup
) -> Iterator[pd.DataFrame]:
    asked = pairs[pairs["measure"].map(base_metric) == FAITHFULNESS.name]
    known = places_in(asked[PLACE], read.statements[PLACE])
    asked, known = asked[known >= 0], known[known >= 0]
    n = len(read.statements)
    for measure, places in sorted(asked.groupby("measure").indices.items()):
        rows, at = asked.iloc[places], known[places]
        unread = (rows["settled"] == "no_evidence").to_numpy()
        for judge, own in judgments.groupby("judge", sort=True):
            said = own.drop_duplicates("pair_id").set_index("pair_id").reindex(rows["pair_id"])
            ok = (said["status"] == "ok").to_numpy()
            label = np.where(ok, said["label"].to_numpy() == "entailed", np.nan)
            value, failed = np.full((2, n), np.nan), np.zeros(n, bool)
            value[0, at] = np.where(unread, 0.0, label)
            value[1, at] = said["probability"].to_numpy(dtype=float)
            failed[at] = ~(ok | unread)
            recipe = f"judge:{signature(str(judge), own)}|metassay:{setup.version}"
            names = (str(measure), f"support_probability{suffix_of(str(measure))}")
            for name, values, lost in zip(names, value, (failed, False), strict=True):
                told = np.isfinite(values).any()
                # Of a judge that always failed nobody knows what it would have given.
                if told or (failed.any() and not ok.any()):
                    about = name, "higher", str(judge), f"{name}|{recipe}"
                    yield rows_of(read, *about, values, failed=lost if told else failed)


def _confounds(read: Read, setup: Setup) -> Iterator[pd.DataFrame]:
    end = f"metassay:{setup.version}"
    counted = LENGTHS.measure(read.texts, read.texts, Options())["words"]
    recipe = f"words|{LENGTHS.recipe(Options())}|{end}"
    yield rows_of(read, "words", "neither", NO_JUDGE, recipe, [one.value for one in counted])
    for alignment, suffix in aligned_suffixes("all", list(setup.alignments)).items():
        passages = read.passages(suffix)
        evidence = ["\n".join(of_statement) for of_statement in passages]
        copied = EXTRACTIVENESS.measure(read.texts, evidence, Options())
        values = {name: [one.value for one in copied[name]] for name in ("coverage", "density")}
        values["aligned_passages"] = [float(len(of_statement)) for of_statement in passages]
        for name, value in values.items():
            how = f"{EXTRACTIVENESS.recipe(Options())}|alignment:{setup.alignments[alignment]}"
            recipe = f"{name}{suffix}|{how}|{end}"
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
    """Every statement by one block of metrics, under each of its checkpoints and alignments.

    Returns table `statement_scores`; rows of `measurements`, a mean per text; lines of notes.
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
            over, files = executor_for(chosen, executor), files_of(chosen)
            scored = by_name(over.map(metric.score, cases, options, network, files=files))
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
    return table_of(tables), whole[list(MEASUREMENTS.columns)], notes


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
        against = tuple(read.sources[of_text[0]][at] for at in shared)
        cases.append(Case(against, tuple(texts[place] for place in of_text)))
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
    return score_rows(cells.keys, worth, judged + missing, judged, bounds)


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
