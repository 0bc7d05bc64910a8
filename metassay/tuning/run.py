"""From tables to a model's folder: the rows of each sort of training, its card and its log."""

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
from metassay.tables.checks import without_further_references
from metassay.tables.names import FULL, REFERENCE, SIGNS, metric_label, suffix_of
from metassay.tables.parquet import round_significant
from metassay.tables.ratings import statement_ratings
from metassay.text.citations import strip_citations
from metassay.tuning.options import Base, TeacherOptions, TrainingOptions
from metassay.tuning.tasks import PACKAGES, Marked, Task, Valued, Written, train, write

_RATED = ["doc_id", "author", "number"]


class Candidate(NamedTuple):
    """A metric, and whether it teaches.

    `people` and `coverage`: the Pearson correlation with both; metric and ratings are turned so
    that more is better. None if it is not defined, or if nobody asks.
    """

    name: str
    teaches: bool
    people: float | None = None
    coverage: float | None = None


def by_metric(scores: pd.DataFrame) -> pd.DataFrame:
    """Table `statement_scores`, a row per statement (PLACE and number) and a column per metric.

    Columns are called `metric` or `metric (checkpoint)`. Values are turned so that more is better,
    but for metrics that are neither; NaN where there is none.
    """
    names = [metric_label(*pair) for pair in zip(scores["metric"], scores["judge"], strict=True)]
    turned = scores["value"] * scores["better"].map(SIGNS).fillna(1)
    rows = scores[[*PLACE, "number"]].assign(name=names, value=turned)
    return rows.pivot(index=[*PLACE, "number"], columns="name", values="value")


def candidates(
    scores: pd.DataFrame, ratings: pd.DataFrame, options: TeacherOptions
) -> list[Candidate]:
    """Every metric of `statement_scores` with a direction, and whether it teaches.

    By the rule, over the statements in `scores`: a teacher's correlation with the mean rating is at
    least `human.least`, in its own direction, and its absolute one with coverage at most
    `coverage.most`. Coverage is that of the same alignment, if there are several. Raises BadInput
    if a name is not there or no metric is left.
    """
    values = by_metric(scores)
    metrics = scores[["metric", "judge", "better"]].drop_duplicates().astype(str)
    metric_of = {metric_label(metric, judge): metric for metric, judge, _ in metrics.to_numpy()}
    able = sorted(metric_label(*key) for *key, better in metrics.to_numpy() if better in SIGNS)
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
    people = _judged(criterion, values) * SIGNS[rule.better]
    every = []
    for name in able:
        with_people, with_coverage = _pearson(values[name], people), None
        teaches = with_people is not None and with_people >= rule.least
        if options.coverage is not None:
            against = _against(metric_of[name], options.coverage.metric, metric_of)
            with_coverage = _pearson(values[name], values[against])
            far = with_coverage is not None and abs(with_coverage) <= options.coverage.most
            teaches = teaches and far
        every.append(Candidate(name, teaches, with_people, with_coverage))
    if not any(one.teaches for one in every):
        raise BadInput(
            f"teachers: none of {len(every)} metrics passes the rule on training documents; lower"
            " human > least, raise coverage > most, or give names"
        )
    return every


def _against(metric: str, coverage: str, metric_of: Mapping[str, str]) -> str:
    """The column of coverage that a metric is held against: if there is one, of its alignment."""
    wanted = (f"{coverage}{suffix_of(metric).removesuffix(BY_TEXT)}", coverage)
    there = {other: label for label, other in metric_of.items() if other in wanted}
    for name in filter(there.get, wanted):
        return there[name]
    raise BadInput(
        f"teachers > coverage > metric: statements have no {wanted[0]!r}; measure it, or correct"
        " the name"
    )


def targets(values: pd.DataFrame, training: Iterable[bool], teachers: Sequence[str]) -> pd.Series:
    """The mean of the teachers' standardised values, by statement; `values` as `by_metric` gives.

    Mean and standard deviation (divided by n) are those of the rows in `training`. NaN where a
    teacher has no value, or where one has the same value throughout.
    """
    rows = values[list(teachers)]
    seen = rows[list(training)]
    spread = seen.std(ddof=0).where(seen.nunique() > 1)
    return ((rows - seen.mean()) / spread).mean(axis=1, skipna=False)


def _judged(ratings: pd.DataFrame, values: pd.DataFrame) -> pd.Series:
    """The mean rating of each row of `values`, over raters and studies."""
    means = statement_ratings(ratings).groupby(_RATED)["value"].mean()
    keys = pd.MultiIndex.from_frame(values.index.to_frame()[_RATED])
    return pd.Series(means.reindex(keys).to_numpy(), index=values.index)


def _pearson(values: pd.Series, other: pd.Series) -> float | None:
    a, b = (side.to_numpy(dtype=np.float64)[None] for side in (values, other))
    value = correlate(a, b, "global", "pearson").value
    return None if np.isnan(value) else round_significant(value)  # no choice hangs on a last digit


WORK = Path(".work/tuning")
READ_BY = {"bartscore": "bartscore", "ctc": "ctc_consistency", "distill": "regressor"}
READ_BY |= {"quality": "clinical_bleurt"}


class Order(NamedTuple):
    """A model to be trained: its name, the benchmark it reads, and its alignment or criterion."""

    name: str
    source: str
    reads: Mapping[str, str]
    base: Base
    training: TrainingOptions


class Rows(NamedTuple):
    """What is learnt of each document, which documents are held out, facts for the log, notes.

    `of`: what the rows are, and what each lies beside.
    """

    rows: Sequence[tuple[str, Any]]
    dev: Sequence[str]
    facts: Mapping[str, Any] = {}
    notes: Sequence[str] = ()
    of: tuple[str, str] = ("statements", "the passages aligned with them")


def aligned(read: Read) -> pd.DataFrame:
    """Every statement with passages, of the one alignment that was read.

    Columns: PLACE, `text` and `context`, which has the passages in the order of the source, with
    blanks between. As metrics read them, texts have no blanks around, and what is blank on either
    side is left out.
    """
    rows = read.statements[PLACE].assign(
        text=[text.strip() for text in read.texts],
        context=[
            " ".join(filter(None, (text.strip() for text in passages)))
            for passages in read.passages("")
        ],
    )
    return rows[(rows["text"] != "") & (rows["context"] != "")].reset_index(drop=True)


def rated(
    parts: pd.DataFrame, ratings: pd.DataFrame, criterion: str
) -> tuple[pd.DataFrame, list[str]]:
    """Texts of systems with the document's reference and the mean rating; and a note.

    Columns: `doc_id`, `context` (the reference), `text` and `value`, the mean over raters and
    studies of what whole texts got by this criterion. Both texts are as metrics read them: without
    citations, and blanks around. What lacks one of the three is left out, which the note counts.
    """
    full = without_further_references(parts[parts["part"] == FULL])
    texts = full[["doc_id", "author"]].assign(
        text=[strip_citations(text).strip() for text in full["text"].fillna("")]
    )
    its = texts[texts["author"] == REFERENCE].set_index("doc_id")["text"]
    whole = ratings[(ratings["unit"] == "text") & (ratings["part"] == FULL)]
    means = whole[whole["criterion"] == criterion].groupby(["doc_id", "author"])["value"].mean()
    texts = texts[texts["author"] != REFERENCE].join(means, on=["doc_id", "author"])
    texts["context"] = texts["doc_id"].map(its).fillna("")
    lacks = {
        "are empty or failed": texts["text"] == "",
        "have no reference": texts["context"] == "",
        f"have no rating of {criterion}": texts["value"].isna(),
    }
    left_out = pd.DataFrame(lacks).any(axis=1)
    counts = ", ".join(f"{lack.sum():,} {what}" for what, lack in lacks.items())
    note = f"of {len(texts):,} texts of systems {left_out.sum():,} are left out: {counts}"
    return texts[~left_out].reset_index(drop=True), [note]


def held_out(doc_ids: Iterable[str], options: TrainingOptions) -> list[str]:
    """The documents to choose a checkpoint by, sorted: `dev_share` of all, and at least one.

    The seed and the documents alone decide, in whatever order they come. Raises BadInput if none
    would be left to train on.
    """
    every = sorted(set(doc_ids), key=lambda doc_id: text_hash(f"{options.seed}|{doc_id}"))
    count = max(1, round(options.dev_share * len(every)))
    if count >= len(every):
        raise BadInput(
            f"documents to train on: {len(every)}, of which {count} would be held out; add"
            " documents, or lower training > dev_share"
        )
    return sorted(every[:count])


def to_write(examples: pd.DataFrame, options: TrainingOptions) -> Rows:
    """Statements of the reference, each to be written after its passages."""
    rows = examples[examples["author"] == REFERENCE]
    texts = map(Written, rows["context"], rows["text"])
    return Rows([*zip(rows["doc_id"], texts, strict=True)], held_out(rows["doc_id"], options))


def to_mark(examples: pd.DataFrame, corruptions: pd.DataFrame, options: TrainingOptions) -> Rows:
    """Corrupted statements (table `corruptions`), whose fake words are to be told from others."""
    rows = examples.merge(corruptions, on=PLACE)
    texts = map(Marked, rows["context"], rows["words"], rows["fake"])
    return Rows([*zip(rows["doc_id"], texts, strict=True)], held_out(rows["doc_id"], options))


def to_value(
    examples: pd.DataFrame,
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    teachers: TeacherOptions,
    options: TrainingOptions,
) -> Rows:
    """Statements of systems, each with the value that its teachers agree on.

    `scores` is the table `statement_scores`. What the reference says takes no part, since metrics
    are for what systems say; statements for which a teacher has no value are left out.
    """
    scores = scores[scores["author"] != REFERENCE]
    dev = held_out(examples.merge(scores[PLACE].drop_duplicates())["doc_id"], options)
    every = candidates(scores[~scores["doc_id"].isin(dev)], ratings, teachers)
    names = [one.name for one in every if one.teaches]
    values = by_metric(scores)
    training = ~values.index.get_level_values("doc_id").isin(dev)
    target = targets(values, training, names).rename("target").dropna().reset_index()
    rows = examples.merge(target, on=PLACE)
    texts = map(Valued, rows["context"], rows["text"], rows["target"])
    facts = {"teachers": names, "candidates": [one._asdict() for one in every]}
    return Rows([*zip(rows["doc_id"], texts, strict=True)], dev, facts)


def to_rate(
    parts: pd.DataFrame, ratings: pd.DataFrame, criterion: str, options: TrainingOptions
) -> Rows:
    """Texts of systems, each with the mean rating that people gave it by a criterion."""
    rows, notes = rated(parts, ratings, criterion)
    texts = map(Valued, rows["context"], rows["text"], rows["value"])
    dev, of = held_out(rows["doc_id"], options), ("texts", "their references")
    return Rows([*zip(rows["doc_id"], texts, strict=True)], dev, notes=notes, of=of)


def tune(task: Task, order: Order, rows: Rows, out: Path, *, work: Path = WORK) -> list[str]:
    """Train a model and put it into the folder `out` with its card and its log; returns notes.

    A run that was killed goes on from its last checkpoint in `work`. Raises BadInput if there is
    nothing to train on or nothing to choose by, and what `train` raises.
    """
    dev, what = set(rows.dev), rows.of[0]
    parts = [[row for doc, row in rows.rows if (doc in dev) == held] for held in (False, True)]
    if not all(parts):
        raise BadInput(
            f"{order.name}: {len(parts[0])} {what} to train on and {len(parts[1])} to choose"
            " by; add documents, or change training > dev_share or seed"
        )
    trained = train(task, (parts[0], parts[1]), order.base, order.training, work / order.name)
    documents = len({doc for doc, _ in rows.rows} - dev), len(dev)
    facts: dict[str, Any] = {
        "tune": task.name,
        "benchmark": order.source,
        **order.reads,
        "base": identify(order.base).name,
        "documents": {"training": documents[0], "held_out": documents[1]},
        what: dict(zip(("training", "held_out"), map(len, parts), strict=True)),
        "checkpoint": {"step": trained.step, task.best: trained.value},
        "settings": {"dtype": order.base.dtype, **order.training.model_dump()},
        "packages": {name: extra.version(name) for name in PACKAGES},
        **rows.facts,
    }
    write(trained, _card(order.name, facts, rows.of), {**facts, "held_out": list(rows.dev)}, out)
    shutil.rmtree(work / order.name)  # checkpoints take several times the room of a model
    return [
        f"{order.name}: {len(parts[0]):,} {what} of {documents[0]:,} documents; step"
        f" {trained.step:,} has the best {task.best} of {len(parts[1]):,} {what} of"
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
    lines += [f"| {key} | {_shown(value)} |" for key, value in facts.items() if key != "candidates"]
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)
