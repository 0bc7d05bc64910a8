"""The questions of a rubric: each criterion about each text to which it applies.

A text is not scored on a criterion that compares with a reference if there is none or
it lacks the part, nor on a scale whose conditions the source does not meet. If the
source lacks what penalties are about, there are none, and no judge is asked;
`pairs.settled` says why.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import BadInput, raise_problems
from metassay.scoring.pairing.pairs import (
    PairRows,
    Repeats,
    Texts,
    chunks,
    repeats_of,
    texts_of,
)
from metassay.scoring.rubrics.ask import (
    Attributes,
    applies,
    attributes_of,
    is_not_applicable,
    metric_of,
    question,
)
from metassay.scoring.rubrics.record import Criterion, Rubric
from metassay.tables.checks import rows_of
from metassay.tables.names import (
    ALL_CITATIONS,
    FULL,
    REFERENCE,
    is_reference,
    reference_number,
)


class _Document(NamedTuple):
    """`source`: all passages, joined."""

    source: str
    attributes: Attributes
    dataset: str
    texts: Texts
    repeats: Repeats

    @property
    def references(self) -> list[str]:
        return sorted(filter(is_reference, self.texts), key=reference_number)


class _Read(NamedTuple):
    """A text, or why there is none: a value of pairs.settled."""

    text: str
    why: str | None = None


def rubric_pairs(
    sources: pd.DataFrame, parts: pd.DataFrame, rubric: Rubric, facets: Sequence[str]
) -> pd.DataFrame:
    """Ask a rubric of a benchmark's texts; return table `pairs`, its texts as Categoricals.

    `rubric` has a criterion for each facet already (`rubrics.ask.expand_facets`);
    `facets` are those that the segmentation can find. A document with several
    references has a row for each, with its number from 0 as `citation`. The reference
    is graded like any text, unless a criterion compares with it.

    Raises BadInput if the rubric applies to no document, if it names a part that no
    text has and that is not a facet, or if an attribute that should have items has
    something else.
    """
    problems = list(_unknown_parts(parts, rubric, facets))
    raise_problems(problems)
    rows = PairRows()
    fitting = 0
    odd = defaultdict[str, int](int)
    # Without items of the document, a criterion's question is the same for all of them.
    asking = [
        None if criterion.items_from else question(criterion, {})
        for criterion in rubric.criteria
    ]
    for doc_id, document in _documents(sources, parts):
        if not applies(rubric.applies, document.attributes):
            continue
        fitting += 1
        for position, criterion in enumerate(rubric.criteria):
            try:
                _add(rows, rubric, position, asking[position], (doc_id, document))
            except BadInput as error:
                odd[
                    f"{_file(rubric)} > criteria > {criterion.name} > items_from: {error}"
                ] += 1
    if rubric.applies and not fitting:
        problems.append(
            f"{_file(rubric)} > applies: no document has such attributes; add them to sources, or"
            " leave the rubric out"
        )
    problems += [f"{line} (in {count:,} documents)" for line, count in odd.items()]
    raise_problems(problems)
    return rows.frame()


def _unknown_parts(
    parts: pd.DataFrame, rubric: Rubric, facets: Sequence[str]
) -> Iterator[str]:
    known = {FULL, *facets, *parts["part"].unique()}
    for criterion in rubric.criteria:
        for name in sorted(criterion.parts - known):
            yield (
                f"{_file(rubric)} > criteria > {criterion.name}: no text has the part {name!r};"
                f" there are {', '.join(sorted(known))}: choose another segmentation or rubric"
            )


def _file(rubric: Rubric) -> str:
    return f"rubrics/{rubric.name}.yaml"


def _documents(
    sources: pd.DataFrame, parts: pd.DataFrame
) -> Iterator[tuple[str, _Document]]:
    """Iterate over the documents with texts, in order of doc_id."""
    columns = ("doc_id", "passages", "attributes", "dataset")
    for chunk, (its_parts,) in chunks(sources, parts):
        written = texts_of(its_parts)
        for doc_id, passages, attributes, dataset in rows_of(chunk, *columns):
            if doc_id in written:
                about = ("\n".join(passages), attributes_of(attributes), dataset)
                yield str(doc_id), _Document(*about, *written[doc_id])


def _add(
    rows: PairRows,
    rubric: Rubric,
    position: int,
    asks: str | None,
    of: tuple[str, _Document],
) -> None:
    """Add the rows of a criterion about a document; `asks`: its question, if documents share it."""
    criterion = rubric.criteria[position]
    (doc_id, document) = of
    none = is_not_applicable(criterion, document.attributes)
    if none and criterion.kind == "scale":
        return
    context = asks or question(criterion, document.attributes)
    references = document.references if criterion.compares else [""]
    for author in sorted(document.texts):
        if is_reference(author) and (rubric.compares or author != REFERENCE):
            continue
        for number, reference in enumerate(references):
            against = _held_against(document, author, criterion, reference)
            if against is None:
                continue
            read = _part(document.texts[author], criterion.reads)
            settled = _settled(criterion, against, read, none)
            if none and settled != "not_applicable":
                continue  # a text that failed; a judge would not be asked anyway
            citation = number if len(references) > 1 else ALL_CITATIONS
            rows.add(
                (criterion.kind, metric_of(rubric.name, criterion.name)),
                (doc_id, author, criterion.reads, position, citation),
                (None if settled else against.text, read.text, context),
                settled,
                repeats_of(
                    document.dataset,
                    document.repeats,
                    filter(None, (author, reference)),
                ),
            )


def _settled(
    criterion: Criterion, against: _Read, read: _Read, none: bool
) -> str | None:
    """Return why no judge is asked; None if a judge is."""
    if against.why or read.why in ("no_text", "no_claims"):
        return against.why or read.why
    if none or (read.why and criterion.absent == "no penalty"):
        return "not_applicable"
    return read.why


def _held_against(
    document: _Document, author: str, criterion: Criterion, reference: str
) -> _Read | None:
    """Return what the text is compared with, or why it is unknown; None: the reference lacks it."""
    texts: list[tuple[str, str]] = []
    for name in criterion.against:
        if name == "source":
            read = _text_or_why(document.source)
        elif name == REFERENCE:
            read = _part(document.texts[reference], criterion.reads)
            if read.why == "no_evidence":
                return None
            read = read._replace(why=read.why and "no_reference")
        else:
            read = _part(document.texts[author], name)
        if read.why not in (None, "no_evidence"):
            return read
        texts += [(name, read.text)] if read.why is None else []
    # Several are named, so that a reader can tell them apart.
    labelled = [
        f"{name}:\n{text}" if len(criterion.against) > 1 else text
        for name, text in texts
    ]
    return _Read("\n\n".join(labelled)) if texts or not criterion.against else None


def _part(texts: Mapping[str, str | None], name: str) -> _Read:
    """Return a part of an author's text."""
    if name in texts and texts[name] is not None:
        return _text_or_why(texts[name] or "")
    if name != FULL and name in texts and texts.get(FULL) is not None:
        return _Read("", "no_claims")  # the text has unknown facets
    return _Read("", "no_evidence" if texts.get(FULL) is not None else "no_text")


def _text_or_why(text: str) -> _Read:
    return _Read(text, None if text.strip() else "no_evidence")
