"""From tables to a model's folder: the rows of each type of training, its card and its log."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, raise_problems
from metassay.metrics.faithfulness.record import BY_TEXT
from metassay.models import extra
from metassay.models.loading import identify
from metassay.models.outputs import text_hash
from metassay.scoring.aggregation.statements import PLACE, Read
from metassay.statistics.correlation import correlate
from metassay.tables.checks import drop_further_references
from metassay.tables.names import FULL, REFERENCE, SIGNS, metric_label, suffix_of
from metassay.tables.parquet import round_significant
from metassay.tables.ratings import statement_ratings
from metassay.text.citations import strip_citations
from metassay.tuning.options import Base, TeacherOptions, TrainingOptions
from metassay.tuning.tasks import PACKAGES, Marked, Task, Valued, Written, train, write

_RATED = ["doc_id", "author", "number"]


class Candidate(NamedTuple):
    """A metric, and whether it is a teacher.

    `people` and `coverage`: its Pearson correlations with both; metric and ratings are
    turned so that more is better. None if undefined, or not part of the rule.
    """

    name: str
    teaches: bool
    people: float | None = None
    coverage: float | None = None


def pivot_metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """Pivot `statement_scores`: a row per statement (PLACE and number), a column per metric.

    Columns are called `metric` or `metric (checkpoint)`. Values are turned so that more
    is better, except for metrics without direction; NaN if missing.
    """
    names = [
        metric_label(*pair)
        for pair in zip(scores["metric"], scores["judge"], strict=True)
    ]
    turned = scores["value"] * scores["better"].map(SIGNS).fillna(1)
    rows = scores[[*PLACE, "number"]].assign(name=names, value=turned)
    return rows.pivot(index=[*PLACE, "number"], columns="name", values="value")


def candidates(
    scores: pd.DataFrame, ratings: pd.DataFrame, options: TeacherOptions
) -> list[Candidate]:
    """List every metric of `statement_scores` with a direction, and whether it is a teacher.

    By the rule, over the statements in `scores`: a teacher's correlation with the mean
    rating is at least `human.least`, in its direction, and its absolute correlation
    with coverage at most `coverage.most`. Coverage is by the metric's alignment, if
    there are several. Raises BadInput if a name is unknown or no metric is left.
    """
    values = pivot_metrics(scores)
    metrics = scores[["metric", "judge", "better"]].drop_duplicates().astype(str)
    metric_of = {
        metric_label(metric, judge): metric for metric, judge, _ in metrics.to_numpy()
    }
    able = sorted(
        metric_label(*key) for *key, better in metrics.to_numpy() if better in SIGNS
    )
    rule, names = options.human, options.names or []
    raise_problems(
        f"teachers > names: {name!r} is not a metric of statements with a direction; choose from"
        f" {', '.join(able)}"
        for name in names
        if name not in able
    )
    if rule is None:
        return [Candidate(name, name in names) for name in able]
    criterion = ratings[ratings["criterion"] == rule.criterion]
    people = _mean_ratings(criterion, values) * SIGNS[rule.better]
    listed = []
    for name in able:
        with_people, with_coverage = _pearson(values[name], people), None
        teaches = with_people is not None and with_people >= rule.least
        if options.coverage is not None:
            against = _coverage_column(
                metric_of[name], options.coverage.metric, metric_of
            )
            with_coverage = _pearson(values[name], values[against])
            independent = (
                with_coverage is not None
                and abs(with_coverage) <= options.coverage.most
            )
            teaches = teaches and independent
        listed.append(Candidate(name, teaches, with_people, with_coverage))
    if not any(candidate.teaches for candidate in listed):
        raise BadInput(
            f"teachers: none of {len(listed)} metrics passes the rule on training documents; lower"
            " human > least, raise coverage > most, or give names"
        )
    return listed


def _coverage_column(metric: str, coverage: str, metric_of: Mapping[str, str]) -> str:
    """Return the column of coverage to compare a metric with: by its alignment, if it exists."""
    names = (f"{coverage}{suffix_of(metric).removesuffix(BY_TEXT)}", coverage)
    columns = {other: label for label, other in metric_of.items() if other in names}
    for name in filter(columns.get, names):
        return columns[name]
    raise BadInput(
        f"teachers > coverage > metric: statements have no {names[0]!r}; measure it, or correct"
        " the name"
    )


def targets(
    values: pd.DataFrame, training: Iterable[bool], teachers: Sequence[str]
) -> pd.Series:
    """Return the mean of the teachers' standardised values, by statement.

    `values` are as `pivot_metrics` returns them.
    Mean and standard deviation (divided by n) are over the rows in `training`. NaN if a
    teacher has no value, or the same value throughout.
    """
    rows = values[list(teachers)]
    training_rows = rows[list(training)]
    scale = training_rows.std(ddof=0).where(training_rows.nunique() > 1)
    return ((rows - training_rows.mean()) / scale).mean(axis=1, skipna=False)


def _mean_ratings(ratings: pd.DataFrame, values: pd.DataFrame) -> pd.Series:
    """Return the mean rating of each row of `values`, over raters and studies."""
    means = statement_ratings(ratings).groupby(_RATED)["value"].mean()
    keys = pd.MultiIndex.from_frame(values.index.to_frame()[_RATED])
    return pd.Series(means.reindex(keys).to_numpy(), index=values.index)


def _pearson(values: pd.Series, other: pd.Series) -> float | None:
    a, b = (side.to_numpy(dtype=np.float64)[None] for side in (values, other))
    value = correlate(a, b, "global", "pearson").value
    # last digits must not decide
    return None if np.isnan(value) else round_significant(value)


WORK = Path(".work/tuning")
READ_BY = {"bartscore": "bartscore", "ctc": "ctc_consistency", "distill": "regressor"}
READ_BY |= {"quality": "clinical_bleurt"}


class Order(NamedTuple):
    """A model to train: its name, the benchmark of its data, and its alignment or criterion."""

    name: str
    source: str
    reads: Mapping[str, str]
    base: Base
    training: TrainingOptions


class Rows(NamedTuple):
    """Training rows by document, the documents that are held out, facts for the log, and notes.

    `of`: words for the rows, and for their contexts.
    """

    rows: Sequence[tuple[str, Any]]
    dev: Sequence[str]
    facts: Mapping[str, Any] = {}
    notes: Sequence[str] = ()
    of: tuple[str, str] = ("statements", "the passages aligned with them")


def aligned_statements(read: Read) -> pd.DataFrame:
    """Return every statement with passages, of the only alignment.

    Columns: PLACE, `text` and `context`, the passages in the order of the source,
    joined by spaces. As for metrics, texts are stripped, and blank texts or contexts
    are left out.
    """
    rows = read.statements[PLACE].assign(
        text=[text.strip() for text in read.texts],
        context=[
            " ".join(filter(None, (text.strip() for text in passages)))
            for passages in read.passages("")
        ],
    )
    return rows[(rows["text"] != "") & (rows["context"] != "")].reset_index(drop=True)


def rated_texts(
    parts: pd.DataFrame, ratings: pd.DataFrame, criterion: str
) -> tuple[pd.DataFrame, list[str]]:
    """Return texts of systems with the document's reference and the mean rating; and a note.

    Columns: `doc_id`, `context` (the reference), `text` and `value`, the mean rating of
    the whole text by this criterion, over raters and studies. As for metrics, both
    texts are stripped and without citations. Rows that lack any of the three are left
    out, and the note counts them.
    """
    full = drop_further_references(parts[parts["part"] == FULL])
    texts = full[["doc_id", "author"]].assign(
        text=[strip_citations(text).strip() for text in full["text"].fillna("")]
    )
    references = texts[texts["author"] == REFERENCE].set_index("doc_id")["text"]
    whole = ratings[(ratings["unit"] == "text") & (ratings["part"] == FULL)]
    means = (
        whole[whole["criterion"] == criterion]
        .groupby(["doc_id", "author"])["value"]
        .mean()
    )
    texts = texts[texts["author"] != REFERENCE].join(means, on=["doc_id", "author"])
    texts["context"] = texts["doc_id"].map(references).fillna("")
    lacks = {
        "are empty or failed": texts["text"] == "",
        "have no reference": texts["context"] == "",
        f"have no rating of {criterion}": texts["value"].isna(),
    }
    left_out = pd.DataFrame(lacks).any(axis=1)
    counts = ", ".join(f"{lack.sum():,} {what}" for what, lack in lacks.items())
    note = (
        f"of {len(texts):,} texts of systems {left_out.sum():,} are left out: {counts}"
    )
    return texts[~left_out].reset_index(drop=True), [note]


def hold_out(doc_ids: Iterable[str], options: TrainingOptions) -> list[str]:
    """Return the documents to choose a checkpoint by, sorted: `dev_share` of all, at least one.

    They depend on the seed and the documents only, in any order. Raises BadInput if
    none is left to train on.
    """
    order = sorted(
        set(doc_ids), key=lambda doc_id: text_hash(f"{options.seed}|{doc_id}")
    )
    count = max(1, round(options.dev_share * len(order)))
    if count >= len(order):
        raise BadInput(
            f"documents to train on: {len(order)}, of which {count} would be held out; add"
            " documents, or lower training > dev_share"
        )
    return sorted(order[:count])


def writing_rows(examples: pd.DataFrame, options: TrainingOptions) -> Rows:
    """Return statements of the reference, to be written after their passages."""
    rows = examples[examples["author"] == REFERENCE]
    texts = map(Written, rows["context"], rows["text"])
    return Rows(
        [*zip(rows["doc_id"], texts, strict=True)], hold_out(rows["doc_id"], options)
    )


def marking_rows(
    examples: pd.DataFrame, fakes: pd.DataFrame, options: TrainingOptions
) -> Rows:
    """Return statements of table `corruptions`, `fakes`, whose fake words are to be detected."""
    rows = examples.merge(fakes, on=PLACE)
    texts = map(Marked, rows["context"], rows["words"], rows["fake"])
    return Rows(
        [*zip(rows["doc_id"], texts, strict=True)], hold_out(rows["doc_id"], options)
    )


def distillation_rows(
    examples: pd.DataFrame,
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    teachers: TeacherOptions,
    options: TrainingOptions,
) -> Rows:
    """Return statements of systems, with the mean value of their teachers.

    `scores` is table `statement_scores`. Statements of the reference are left out,
    since metrics are for systems, and so are those for which a teacher has no value.
    """
    scores = scores[scores["author"] != REFERENCE]
    dev = hold_out(examples.merge(scores[PLACE].drop_duplicates())["doc_id"], options)
    listed = candidates(scores[~scores["doc_id"].isin(dev)], ratings, teachers)
    names = [candidate.name for candidate in listed if candidate.teaches]
    values = pivot_metrics(scores)
    training = ~values.index.get_level_values("doc_id").isin(dev)
    target = targets(values, training, names).rename("target").dropna().reset_index()
    rows = examples.merge(target, on=PLACE)
    texts = map(Valued, rows["context"], rows["text"], rows["target"])
    facts = {
        "teachers": names,
        "candidates": [candidate._asdict() for candidate in listed],
    }
    return Rows([*zip(rows["doc_id"], texts, strict=True)], dev, facts)


def rating_rows(
    parts: pd.DataFrame, ratings: pd.DataFrame, criterion: str, options: TrainingOptions
) -> Rows:
    """Return texts of systems, with people's mean rating by a criterion."""
    rows, notes = rated_texts(parts, ratings, criterion)
    texts = map(Valued, rows["context"], rows["text"], rows["value"])
    dev, of = hold_out(rows["doc_id"], options), ("texts", "their references")
    return Rows([*zip(rows["doc_id"], texts, strict=True)], dev, notes=notes, of=of)


def tune(
    task: Task, order: Order, rows: Rows, out: Path, *, work: Path = WORK
) -> list[str]:
    """Train a model and save it in folder `out` with its card and its log; return notes.

    A run that was killed continues from its last checkpoint in `work`. Raises BadInput
    if there are no rows to train on or to choose by, and what `train` raises.
    """
    dev, kind = set(rows.dev), rows.of[0]
    parts = [
        [row for doc, row in rows.rows if (doc in dev) == in_dev]
        for in_dev in (False, True)
    ]
    if not all(parts):
        raise BadInput(
            f"{order.name}: {len(parts[0])} {kind} to train on and {len(parts[1])} to choose"
            " by; add documents, or change training > dev_share or seed"
        )
    trained = train(
        task, (parts[0], parts[1]), order.base, order.training, work / order.name
    )
    documents = len({doc for doc, _ in rows.rows} - dev), len(dev)
    facts: dict[str, Any] = {
        "tune": task.name,
        "benchmark": order.source,
        **order.reads,
        "base": identify(order.base).name,
        "documents": {"training": documents[0], "held_out": documents[1]},
        kind: dict(zip(("training", "held_out"), map(len, parts), strict=True)),
        "checkpoint": {"step": trained.step, task.best: trained.value},
        "settings": {"dtype": order.base.dtype, **order.training.model_dump()},
        "packages": {name: extra.version(name) for name in PACKAGES},
        **rows.facts,
    }
    write(
        trained,
        _card(order.name, facts, rows.of),
        {**facts, "held_out": list(rows.dev)},
        out,
    )
    # checkpoints are several times as large as a model
    shutil.rmtree(work / order.name)
    return [
        f"{order.name}: {len(parts[0]):,} {kind} of {documents[0]:,} documents; step"
        f" {trained.step:,} has the best {task.best} of {len(parts[1]):,} {kind} of"
        f" {documents[1]:,} held-out documents: {trained.value:.4g}",
        *rows.notes,
    ]


def _card(name: str, facts: Mapping[str, Any], of: tuple[str, str]) -> str:
    kind, texts = READ_BY[facts["tune"]], " and ".join(of)
    lines = [
        f"# {name}",
        "",
        f"Trained by Metassay for metrics of kind `{kind}`, on {texts}. It may hold what its data"
        " hold: treat it as you treat them. The held-out documents are named in training_log.json,"
        " with all that was measured.",
        "",
        "| | |",
        "|---|---|",
    ]
    lines += [
        f"| {key} | {_cell(value)} |"
        for key, value in facts.items()
        if key != "candidates"
    ]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {number}" for key, number in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)
