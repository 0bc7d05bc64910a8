"""Metric families over a benchmark: cases of text and evidence, and missing scores."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from metassay import __version__
from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.executor.record import LOCAL, Executor
from metassay.llm.needs import executor_for, files_of
from metassay.metrics.describe import UNDEFINED, Measure, Measured, Metric
from metassay.tables.checks import check_sources, drop_further_references
from metassay.tables.names import FULL, NO_JUDGE, REFERENCE
from metassay.tables.parquet import empty, round_significant
from metassay.tables.scores import MEASUREMENTS
from metassay.text.citations import strip_citations

Value = TypeVar("Value")
Parts = dict[str, str | None]  # part -> its text, None where it failed


class _Case(NamedTuple):
    """A text and its evidence."""

    doc_id: str
    author: str
    part: str
    candidate: str | None  # None: the text failed
    evidence: str | tuple[str, str] | None  # None: nothing to compare with


class Measurements(NamedTuple):
    """Table `measurements`, and warnings without any text of the data."""

    table: pd.DataFrame
    warnings: tuple[str, ...]


def measure(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    metrics: Sequence[Chosen],
    *,
    segmentation: str,
    executor: Executor = LOCAL,
) -> Measurements:
    """Measure every text by metric families, each with its options.

    Families that compare with the reference score every other author, the rest the
    reference, too. Citations are removed from all texts first.

    - A part that the reference has and the author left out is scored as an empty text;
      a part that the author has and a reference with other sections left out is
      compared with an empty reference. Families that need no reference score the parts
      that exist.
    - A text that failed: value null, n_expected 1, n_failed 1; bounds are the ends of
      the metric's range if it has both. Its missing sections are failed, too, not left
      out.
    - Nothing to compare with (no reference, or a reference without sections for an
      author's section): value null and nothing expected.
    - A value that is undefined for the two texts is null with n_expected and n_judged
      1.

    `segmentation` made `parts`, as recipes print it. Raises BadInput if a text's
    document is not in `sources`.
    """
    by_doc = _group_by_document(parts)
    rows: list[tuple[Any, ...]] = []
    warnings: list[str] = []
    for chosen in metrics:
        kind, metric, options = chosen
        cases = list(_cases(metric, sources, by_doc))
        complete = [
            case for case in cases if None not in (case.candidate, case.evidence)
        ]
        pieces = [(str(case.candidate), case.evidence) for case in complete]
        measured = join_shards(
            executor_for(chosen, executor).map(
                measure_texts, pieces, metric.measure, options, files=files_of(chosen)
            )
        )
        _check(kind, metric, measured, len(complete))
        rows += _rows(metric, metric.recipe(options), cases, measured, segmentation)
        warnings += _cut(kind, complete, measured)
        if metric.find_unread is not None and complete:
            texts, evidence = zip(*pieces, strict=True)
            unread = metric.find_unread(texts, evidence, options)
            warnings += [f"{kind}: {unread}"] if unread else []
    frame = (
        pd.DataFrame(rows, columns=list(MEASUREMENTS.columns))
        if rows
        else empty(MEASUREMENTS)
    )
    frame["value"] = frame["value"].astype("float64").map(round_significant)
    return Measurements(frame, tuple(warnings))


def measure_texts(
    shard: Sequence[tuple[str, Any]], measured: Measure, options: Any
) -> Mapping[str, Sequence[Measured]]:
    """Measure texts, each with its evidence."""
    return measured(
        [text for text, _ in shard], [evidence for _, evidence in shard], options
    )


def join_shards(
    shards: Sequence[Mapping[str, Sequence[Value]]],
) -> dict[str, list[Value]]:
    """Return the values of all shards, in order, by the metric's name."""
    joined: dict[str, list[Value]] = {name: [] for name in shards[0]}
    for shard in shards:
        for name, values in shard.items():
            joined[name] += values
    return joined


def _check(
    kind: str, metric: Metric, measured: Mapping[str, Sequence[Measured]], texts: int
) -> None:
    """Raise BadInput unless a metric, which may be a user's, has a value per text."""
    expected = {description.name: texts for description in metric.descriptions}
    counts = {name: len(values) for name, values in measured.items()}
    if counts != expected:
        raise BadInput(
            f"{kind}: returned {counts} values, not {expected}; correct the metric"
        )


def _rows(
    metric: Metric,
    recipe: str,
    cases: Sequence[_Case],
    measured: Mapping[str, Sequence[Measured]],
    segmentation: str,
) -> Iterator[tuple[Any, ...]]:
    """Return rows of the table; `measured` has the complete cases, in order, by metric."""
    settings = (
        f"against:{metric.against}|segmentation:{segmentation}|citations:removed"
        f"|metassay:{__version__}"
    )
    for description in metric.descriptions:
        full_recipe = f"{description.name}|{recipe}|{settings}"
        scores = iter(measured[description.name])
        for case in cases:
            complete = None not in (case.candidate, case.evidence)
            value, statistics, _ = next(scores) if complete else UNDEFINED
            expected = int(case.evidence is not None)
            failed = int(bool(expected) and case.candidate is None)
            ends = [value, value]
            if (
                failed
                and description.range[0] is not None
                and description.range[1] is not None
            ):
                ends = [float(description.range[0]), float(description.range[1])]
            key = (case.doc_id, case.author, case.part, description.name, NO_JUDGE)
            yield (
                *key,
                value,
                expected,
                expected - failed,
                failed,
                *ends,
                statistics,
                full_recipe,
            )


def _cut(
    kind: str, complete: Sequence[_Case], measured: Mapping[str, Sequence[Measured]]
) -> Iterator[str]:
    """Count the texts that a model cut, by author."""
    compared = zip(complete, zip(*measured.values(), strict=True), strict=True)
    cut = Counter(
        case.author for case, values in compared if any(value.cut for value in values)
    )
    if cut:
        authors = ", ".join(
            f"{author} {count:,}" for author, count in sorted(cut.items())
        )
        yield (
            f"{kind}: {cut.total():,} of {len(complete):,} comparisons have a text that is longer"
            f" than the model reads; only its beginning counts ({authors})"
        )


def _group_by_document(parts: pd.DataFrame) -> dict[str, dict[str, Parts]]:
    """Return document -> author -> part -> text without citations, None where it failed."""
    ordered = drop_further_references(parts).sort_values(["doc_id", "author", "part"])
    columns = (ordered[name] for name in ("doc_id", "author", "part", "text", "status"))
    documents: dict[str, dict[str, Parts]] = {}
    for doc_id, author, part, text, status in zip(*columns, strict=True):
        parts_of_author = documents.setdefault(doc_id, {}).setdefault(author, {})
        parts_of_author[part] = strip_citations(text) if status == "ok" else None
    return documents


def _cases(
    metric: Metric, sources: pd.DataFrame, by_doc: dict[str, dict[str, Parts]]
) -> Iterator[_Case]:
    evidence: dict[str, str | None] = dict.fromkeys(by_doc, "")
    if "source" in metric.against:
        check_sources("parts", by_doc, sources)
        passages = zip(sources["doc_id"], sources["passages"], strict=True)
        evidence = {
            doc: "\n".join(lines) if len(lines) else None for doc, lines in passages
        }
    for doc_id, authors in by_doc.items():
        reference = authors.get(REFERENCE, {})
        for author, parts in authors.items():
            if "reference" not in metric.against:
                for part, text in parts.items():
                    yield _Case(doc_id, author, part, text, evidence[doc_id])
            elif author != REFERENCE:
                left_out = "" if parts.get(FULL, "") is not None else None
                for part in sorted({*parts, *reference}):
                    divided = part != FULL and any(name != FULL for name in reference)
                    right = reference.get(part, "" if divided else None)
                    compared: str | tuple[str, str] | None = right
                    if "source" in metric.against:
                        source = evidence[doc_id]
                        compared = (
                            None if source is None or right is None else (source, right)
                        )
                    yield _Case(
                        doc_id, author, part, parts.get(part, left_out), compared
                    )
