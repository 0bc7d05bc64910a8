"""The questions of a rubric: each criterion about each text that it can be asked of.

A criterion that is held against a reference is not asked where the reference lacks the part, or
where there is no reference, and neither is a scale whose conditions the source does not fulfil:
these texts are not scored on it. Penalties are not asked about, and are none, where the source
lacks what they are about. What is settled without a judge says so (pairs.settled).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import BadInput, raise_problems
from metassay.scoring.pairing.pairs import PairRows, Repeats, Texts, chunks, repeats_of, texts_of
from metassay.scoring.rubrics.ask import (
    Attributes,
    applies,
    attributes_of,
    metric_of,
    not_applicable,
    question,
)
from metassay.scoring.rubrics.record import Criterion, Rubric
from metassay.tables.checks import rows_of
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE, is_reference, reference_number


class _Document(NamedTuple):
    """`source`: all passages as one text."""

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
    """What a rubric asks of a benchmark's texts; returns table `pairs`, its texts as Categoricals.

    `rubric` has one criterion for each facet already (`rubrics.ask.expanded`); `facets` are those
    that the segmentation can find. Where a document has several references there is a row for each,
    `citation` being its number from 0. The reference is graded like any text, unless a criterion of
    the rubric is held against it.

    Raises BadInput if the rubric is for none of the documents, if it names a part that no text has
    and that is no facet, or if an attribute that should have items has something else.
    """
    problems = list(_unknown_parts(parts, rubric, facets))
    raise_problems(problems)
    rows, fitting, odd = PairRows(), 0, defaultdict[str, int](int)
    # What asks the same of every document is put into words once.
    asking = [None if one.items_from else question(one, {}) for one in rubric.criteria]
    for doc_id, document in _documents(sources, parts):
        if not applies(rubric.applies, document.attributes):
            continue
        fitting += 1
        for position, criterion in enumerate(rubric.criteria):
            try:
                _add(rows, rubric, position, asking[position], (doc_id, document))
            except BadInput as error:
                odd[f"{_at(rubric)} > criteria > {criterion.name} > items_from: {error}"] += 1
    if rubric.applies and not fitting:
        problems.append(
            f"{_at(rubric)} > applies: no document has such attributes; give them in its source, or"
            " leave the rubric out"
        )
    problems += [f"{line} (in {count:,} documents)" for line, count in odd.items()]
    raise_problems(problems)
    return rows.frame()


def _unknown_parts(parts: pd.DataFrame, rubric: Rubric, facets: Sequence[str]) -> Iterator[str]:
    known = {FULL, *facets, *parts["part"].unique()}
    for criterion in rubric.criteria:
        for name in sorted(criterion.parts - known):
            yield (
                f"{_at(rubric)} > criteria > {criterion.name}: no text has the part {name!r}; there"
                f" are {', '.join(sorted(known))}: choose another segmentation or rubric"
            )


def _at(rubric: Rubric) -> str:
    return f"rubrics/{rubric.name}.yaml"


def _documents(sources: pd.DataFrame, parts: pd.DataFrame) -> Iterator[tuple[str, _Document]]:
    """All documents that have texts, in order of doc_id."""
    columns = ("doc_id", "passages", "attributes", "dataset")
    for chunk, (its_parts,) in chunks(sources, parts):
        written = texts_of(its_parts)
        for doc_id, passages, attributes, dataset in rows_of(chunk, *columns):
            if doc_id in written:
                about = ("\n".join(passages), attributes_of(attributes), dataset)
                yield str(doc_id), _Document(*about, *written[doc_id])


def _add(
    rows: PairRows, rubric: Rubric, position: int, asks: str | None, of: tuple[str, _Document]
) -> None:
    """The rows of one criterion about one document; `asks`: in words, if that is known."""
    criterion, (doc_id, document) = rubric.criteria[position], of
    none = not_applicable(criterion, document.attributes)
    if none and criterion.kind == "scale":
        return
    context = asks or question(criterion, document.attributes)
    references = document.references if criterion.compares else [""]
    for author in sorted(document.texts):
        if is_reference(author) and (rubric.compares or author != REFERENCE):
            continue
        for number, reference in enumerate(references):
            held = _held_against(document, author, criterion, reference)
            if held is None:
                continue
            read = _part(document.texts[author], criterion.reads)
            settled = _settled(criterion, held, read, none)
            if none and settled != "not_applicable":
                continue  # a text that failed, about which nothing would be asked anyway
            citation = number if len(references) > 1 else ALL_CITATIONS
            rows.add(
                (criterion.kind, metric_of(rubric.name, criterion.name)),
                (doc_id, author, criterion.reads, position, citation),
                (None if settled else held.text, read.text, context),
                settled,
                repeats_of(document.dataset, document.repeats, filter(None, (author, reference))),
            )


def _settled(criterion: Criterion, held: _Read, read: _Read, none: bool) -> str | None:
    """Why no judge is asked; None where one is."""
    if held.why or read.why in ("no_text", "no_claims"):
        return held.why or read.why
    if none or (read.why and criterion.absent == "no penalty"):
        return "not_applicable"
    return read.why


def _held_against(
    document: _Document, author: str, criterion: Criterion, reference: str
) -> _Read | None:
    """What the text is held against, or why that is unknown; None: there is no such thing."""
    found: list[tuple[str, str]] = []
    for name in criterion.against:
        if name == "source":
            one = _text_or_why(document.source)
        elif name == REFERENCE:
            one = _part(document.texts[reference], criterion.reads)
            if one.why == "no_evidence":
                return None
            one = one._replace(why=one.why and "no_reference")
        else:
            one = _part(document.texts[author], name)
        if one.why not in (None, "no_evidence"):
            return one
        found += [(name, one.text)] if one.why is None else []
    if len(criterion.against) < 2:
        texts = [text for _, text in found]
    else:  # a reader must know which is which
        texts = [f"{name}:\n{text}" for name, text in found]
    return _Read("\n\n".join(texts)) if texts or not criterion.against else None


def _part(texts: Mapping[str, str | None], name: str) -> _Read:
    """A part of one author's text."""
    if name in texts and texts[name] is not None:
        return _text_or_why(texts[name] or "")
    if name != FULL and name in texts and texts.get(FULL) is not None:
        return _Read("", "no_claims")  # the text is there, and nobody knows its facets
    return _Read("", "no_evidence" if texts.get(FULL) is not None else "no_text")


def _text_or_why(text: str) -> _Read:
    return _Read(text, None if text.strip() else "no_evidence")
