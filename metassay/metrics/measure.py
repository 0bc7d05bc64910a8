"""One metric family over a benchmark: which text meets which evidence, and what has no score."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from metassay import __version__
from metassay.errors import BadInput
from metassay.metrics import METRICS, Metric
from metassay.metrics.describe import Description, Measured
from metassay.params import Options
from metassay.parquet import empty
from metassay.tables import FULL, MEASUREMENTS, NO_JUDGE, REFERENCE
from metassay.text.citations import strip_citations

Parts = dict[str, str | None]  # part -> its text, None where it failed


class _Case(NamedTuple):
    """One text and what it is compared with."""

    doc_id: str
    author: str
    part: str
    candidate: str | None  # None: the text failed
    evidence: str | None  # None: there is nothing to compare with


def measure(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    kind: str,
    options: Options,
    *,
    segmentation: str,
) -> pd.DataFrame:
    """Table `measurements` of one metric family (`kind`, a key of METRICS).

    Families that compare with the reference score every other author, the rest the reference too.
    Citations are no words of a text: they are removed from it and from the reference first.

    - A part that the reference has and the author left out is scored as an empty text; one that
      the author has and the reference, though it has sections, left out is compared with an empty
      reference. Families that need no reference score the parts that are there.
    - A text that failed: value null, n_expected 1, n_failed 1; bounds are the ends of the metric's
      range where it has two. Its missing sections are failed too, not left out.
    - Nothing to compare with (no reference, or one without sections for an author's section):
      value null and nothing expected.
    - A value that is undefined for the two texts is null with n_expected and n_judged 1.

    `segmentation` is what made `parts`, as recipes print it. Raises BadInput if a text's document
    is not in `sources`.
    """
    metric = METRICS[kind]
    by_doc = _by_document(parts)
    cases = list(_cases(metric, sources, by_doc))
    complete = [
        n for n, c in enumerate(cases) if c.candidate is not None and c.evidence is not None
    ]
    measured = metric.measure(
        [str(cases[n].candidate) for n in complete],
        [str(cases[n].evidence) for n in complete],
        options,
    )
    settings = [
        f"against:{metric.against}",
        f"segmentation:{segmentation}",
        "citations:removed",
        f"metassay:{__version__}",
    ]
    rows = []
    for name, description in metric.descriptions.items():
        found = dict(zip(complete, measured[name], strict=True))
        recipe = "|".join([name, metric.recipe(options), *settings])
        rows += [_row(c, found.get(n), description, recipe) for n, c in enumerate(cases)]
    return pd.DataFrame(rows, columns=list(MEASUREMENTS.columns)) if rows else empty(MEASUREMENTS)


def _by_document(parts: pd.DataFrame) -> dict[str, dict[str, Parts]]:
    """Document -> author -> part -> text without citations, None where it failed."""
    ordered = parts.sort_values(["doc_id", "author", "part"])
    columns = (ordered[name] for name in ("doc_id", "author", "part", "text", "status"))
    found: dict[str, dict[str, Parts]] = {}
    for doc_id, author, part, text, status in zip(*columns, strict=True):
        written = found.setdefault(doc_id, {}).setdefault(author, {})
        written[part] = strip_citations(text) if status == "ok" else None
    return found


def _cases(
    metric: Metric, sources: pd.DataFrame, by_doc: dict[str, dict[str, Parts]]
) -> Iterator[_Case]:
    if metric.against == "reference":
        return _against_reference(by_doc)
    if metric.against == "source":
        return _against(_sources(sources, by_doc), by_doc)
    return _against(dict.fromkeys(by_doc, ""), by_doc)


def _against_reference(by_doc: dict[str, dict[str, Parts]]) -> Iterator[_Case]:
    for doc_id, authors in by_doc.items():
        reference = authors.get(REFERENCE, {})
        for author, own in authors.items():
            if author == REFERENCE:
                continue
            for part in sorted({*own, *reference}):
                yield _Case(doc_id, author, part, _own(own, part), _reference(reference, part))


def _own(own: Parts, part: str) -> str | None:
    left_out = "" if own.get(FULL, "") is not None else None
    return own.get(part, left_out)


def _reference(reference: Parts, part: str) -> str | None:
    divided = part != FULL and any(name != FULL for name in reference)
    return reference.get(part, "" if divided else None)


def _against(evidence: dict[str, str], by_doc: dict[str, dict[str, Parts]]) -> Iterator[_Case]:
    for doc_id, authors in by_doc.items():
        for author, own in authors.items():
            for part, text in own.items():
                yield _Case(doc_id, author, part, text, evidence[doc_id])


def _sources(sources: pd.DataFrame, by_doc: dict[str, dict[str, Parts]]) -> dict[str, str]:
    passages = zip(sources["doc_id"], sources["passages"], strict=True)
    joined = {doc_id: "\n".join(lines) for doc_id, lines in passages}
    unknown = [doc_id for doc_id in by_doc if doc_id not in joined]
    if unknown:
        raise BadInput(
            f"parts: {len(unknown)} document(s) are not in sources, the first is"
            f" doc_id={unknown[0]!r}; run ingest and segment again"
        )
    return joined


def _row(
    case: _Case, measured: Measured | None, description: Description, recipe: str
) -> tuple[Any, ...]:
    """One row of the table, in the order of its columns."""
    expected, failed = int(case.evidence is not None), 0
    value, statistics = measured or (None, None)
    low = high = value
    if expected and case.candidate is None:
        failed = 1
        low, high = _bounds(description)
    counts = (expected, expected - failed, failed)
    key = (case.doc_id, case.author, case.part, description.name, NO_JUDGE)
    return (*key, value, *counts, low, high, statistics, recipe)


def _bounds(description: Description) -> tuple[float, float] | tuple[None, None]:
    low, high = description.range
    return (None, None) if high is None else (float(low), float(high))
