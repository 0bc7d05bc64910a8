"""The view Texts of a benchmark: each document with all that was said of it, one at a time."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.errors import shown as shown_key
from metassay.core.options import Criterion
from metassay.format.frames import rows
from metassay.reporting import contract as c
from metassay.reporting.answers import (
    AGAINST,
    FOR,
    Judgments,
    Rated,
    blocks,
    index_judgments,
    who_answered,
)
from metassay.reporting.facets import (
    Divided,
    Facet,
    divide_texts,
    facet_names,
    marks_of,
    what_lacks,
)
from metassay.reporting.keys import criterion_title, part_rank
from metassay.reporting.names import Metric, criterion_rank, sorted_metrics
from metassay.reporting.shell import PageFolder, utf16
from metassay.reporting.texts import put_texts
from metassay.scoring.aggregation.statements import number_statements
from metassay.tables.names import FULL, metric_label, sorted_authors
from metassay.text.spans import Span
from metassay.units.record import BETWEEN_PARTS

_Text = tuple[str, str]  # doc_id, author
_Written = dict[str, tuple[str | None, str]]  # text and status by part
_OF_DOCUMENTS = {
    "sources",
    "texts",
    "parts",
    "units",
    "alignments",
    "pairs",
    "scores",
    "ratings",
}
_SOURCE = ("doc_id", "task", "passages", "speaker", "group", "attributes")
_SCORE = ("doc_id", "author", "metric", "judge", "value")
# documents that are indexed together: what an index takes, however many there are
_AT_ONCE = 50


@dataclass(frozen=True)
class _Shown:
    """What is shown of every document; `several` studies, `judges` and those of them who graded."""

    facets: Sequence[str]
    parts: Sequence[str]
    metrics: Sequence[Metric]
    names: Mapping[str, str]
    judges: tuple[list[str], list[str]]
    several: bool

    def title(self, study: str, criterion: str, part: str) -> str:
        """Name a criterion, with its study where there are several."""
        title = criterion_title(criterion, part)
        return f"{title} ({study})" if self.several else title


@dataclass(frozen=True)
class _Tables:
    """The frames of some documents by document and author."""

    texts: Mapping[_Text, _Written]
    scores: Mapping[tuple[Any, ...], float | None]  # by doc_id, author, metric, judge
    # of ("text", 0), of units
    ratings: Mapping[_Text, Mapping[tuple[str, int], list[c.Rating]]]
    authors: Mapping[str, Sequence[str]]
    judgments: Judgments
    divided: Mapping[_Text, Divided]


def put_documents(
    page: PageFolder,
    tables: Mapping[str, pd.DataFrame],
    *,
    facets: Sequence[str],
    scales: Mapping[str, Criterion],
    better: Mapping[Metric, str],
    names: Mapping[str, str],
) -> c.TextsInfo:
    """Write documents, index and search, document by document in the order of doc_id.

    `tables`: sources, texts, parts, units, pairs, judgments, scores and ratings,
    perhaps alignments. Of each text the scores of the metrics in `better` are shown,
    with the direction that it gives. `facets` are those that texts may be divided into,
    `scales` those of people's criteria, `names` of authors as tables have them by other
    names. Only documents of sources are shown. Raises BadInput for a source whose lists
    are not of one length.
    """
    lists = rows(tables["sources"], "doc_id", "passages", "speaker", "group")
    uneven = [
        str(doc_id) for doc_id, *columns in lists if len(set(map(len, columns))) > 1
    ]
    if uneven:
        raise BadInput(
            f"sources: {len(uneven):,} document(s) have not a speaker and a group for each passage,"
            f" the first is doc_id {shown_key(uneven[0])}; metassay run builds a benchmark's tables"
            " again"
        )
    judges, ratings = (
        who_answered(tables["pairs"], tables["judgments"]),
        tables["ratings"],
    )
    shown = _Shown(
        facets,
        facet_names(tables["parts"], facets),
        sorted_metrics(better),
        names,
        judges,
        several=ratings["study"].nunique() > 1,
    )
    whole = ratings[(ratings["unit"] == "text") & (ratings["part"] == FULL)]
    criteria = sorted(set(rows(whole, "study", "criterion")), key=_rank)
    return put_texts(
        page,
        _documents(tables, shown, scales),
        noun="document",
        judges=judges[0],
        metrics={metric_label(*metric): better[metric] for metric in shown.metrics},
        criteria={
            shown.title(study, criterion, FULL): scales[criterion].better
            for study, criterion in criteria
        },
        parts=shown.parts,
    )


def _rank(row: Sequence[Any]) -> tuple[str, tuple[int, str]]:
    """Return the sorting key of a row that begins with study and criterion."""
    return row[0], criterion_rank(row[1])


def _rated(line: c.Line, scales: Mapping[str, Criterion]) -> str:
    """Whether most people rated the line for or against the text; "" where neither.

    A rating in the better half of its scale is for, in the worse half against.
    """
    votes = 0
    for rating in line.people:
        scale = scales[rating.criterion]
        if rating.value is not None:
            above = rating.value - (scale.low + scale.high) / 2
            votes += ((above > 0) - (above < 0)) * (
                1 if scale.better == "higher" else -1
            )
    if votes == 0:
        return ""
    return FOR if votes > 0 else AGAINST


def _differs(line: c.Line) -> bool:
    """Whether some judge says the opposite of most people."""
    opposite = {FOR: AGAINST, AGAINST: FOR}.get(line.rated)
    return any(judgment.side == opposite for judgment in line.judgments)


def _mark_ratings(text: c.Text, scales: Mapping[str, Criterion]) -> c.Text:
    blocks = [
        block._replace(
            lines=[line._replace(rated=_rated(line, scales)) for line in block.lines]
        )
        for block in text.blocks
    ]
    return text._replace(blocks=blocks)


def _batches(
    tables: Mapping[str, pd.DataFrame], shown: _Shown
) -> Iterator[tuple[Any, _Tables]]:
    """Yield sources and tables, in the order of doc_id, _AT_ONCE documents each."""
    order = sorted(map(str, tables["sources"]["doc_id"]))
    for first in range(0, len(order), _AT_ONCE):
        batch = {
            name: frame[frame["doc_id"].isin(order[first : first + _AT_ONCE])]
            for name, frame in tables.items()
            if name in _OF_DOCUMENTS
        }
        answers = tables["judgments"]
        answers = answers[answers["pair_id"].isin(batch["pairs"]["pair_id"])]
        texts, parts, scores = batch["texts"], batch["parts"], batch["scores"]
        scores = scores[scores["part"] == FULL]
        by_document = texts.groupby("doc_id")["author"]
        others = {other: name for name, other in shown.names.items()}
        yield (
            sorted(rows(batch["sources"], *_SOURCE), key=lambda row: str(row[0])),
            _Tables(
                texts=_written(texts, parts),
                scores={tuple(key): value for *key, value in rows(scores, *_SCORE)},
                ratings=_ratings(batch["ratings"], shown),
                authors={
                    str(doc_id): sorted_authors(names) for doc_id, names in by_document
                },
                judgments=index_judgments(
                    number_statements(batch["units"], parts),
                    batch["pairs"],
                    answers,
                    batch.get("alignments"),
                    others,
                    shown.judges,
                ),
                divided=divide_texts(parts, shown.facets),
            ),
        )


def _documents(
    tables: Mapping[str, pd.DataFrame], shown: _Shown, scales: Mapping[str, Criterion]
) -> Iterator[tuple[c.Document, list[int]]]:
    """Yield each with the number of lines, per text, of which people and a judge say opposites."""
    for sources, batch in _batches(tables, shown):
        for doc_id, task, passages, speaker, group, attributes in sources:
            authors = batch.authors.get(doc_id, [])
            texts = [
                _mark_ratings(_text((doc_id, author), batch, shown), scales)
                for author in authors
            ]
            shown_passages = [
                c.Passage(*passage)
                for passage in zip(speaker, group, passages, strict=True)
            ]
            document = c.Document(
                doc_id, task, _attributes(attributes), shown_passages, texts
            )
            yield document, [_count_differences(text) for text in texts]


def _count_differences(text: c.Text) -> int:
    """Count the lines of a text of which people and a judge say opposites."""
    return sum(_differs(line) for block in text.blocks for line in block.lines)


def _text(key: _Text, tables: _Tables, shown: _Shown) -> c.Text:
    written = tables.texts.get(key, {})
    parts = sorted(written.items(), key=lambda item: part_rank(item[0]))
    problems = [
        f"no text: {status}" if part == FULL else f"{part}, no text: {status}"
        for part, (_, status) in parts
        if status != "ok"
    ]
    # The whole text, or what there is of it where its parts were generated one by one.
    texts = [text for _, (text, _) in parts if text is not None]
    text = written.get(FULL, (None, ""))[0]
    text = "\n\n".join(texts) if text is None else text
    divided, rated = tables.divided.get(key), tables.ratings.get(key, {})
    facets = divided.facets if divided else {}
    pieces = {FULL: Facet("ok", text, [Span(0, len(text))], ()), **facets}
    of_text = blocks(
        tables.judgments,
        *key,
        rated,
        lambda part, *ends: _place(text, pieces.get(part), *ends),
    )
    marks: list[c.Mark] = []
    # else only some parts were written
    if divided is not None and divided.text == text:
        marks = marks_of(divided, shown.parts)
        if note := what_lacks(divided, shown.parts):
            title = "Parts that the text lacks, that nobody knows, or that were made up"
            of_text = [c.Block("parts", title, "text", [], [], note), *of_text]
    scores = {metric: (*key, *metric) for metric in shown.metrics}
    return c.Text(
        key[1],
        problems,
        text,
        [
            c.Mark(utf16(text, mark.start), utf16(text, mark.end), mark.part)
            for mark in marks
        ],
        [*rated.get(("text", 0), []), *_ratings_without_line(rated, of_text)],
        [
            (metric_label(*m), tables.scores[s])
            for m, s in scores.items()
            if s in tables.scores
        ],
        of_text,
    )


def _ratings_without_line(
    rated: Rated, blocks: Sequence[c.Block]
) -> Iterator[c.Rating]:
    """Yield ratings of claims and statements that are not among the units of the text."""
    n_lines = {block.id: len(block.lines) for block in blocks}
    for (block, number), ratings in rated.items():
        if block != "text" and number >= n_lines.get(block, 0):
            for rating in ratings:
                yield rating._replace(
                    criterion=f"{rating.criterion} ({block}, {number})"
                )


def _place(
    text: str, part: Facet | None, start: int | None, end: int | None
) -> tuple[int, int]:
    """Return where a stretch of a part stands in the text, in UTF-16; -1 where it does not."""
    if part is None or start is None or end is None:
        return -1, -1
    for between in (BETWEEN_PARTS, " "):  # of sections, of facets
        if between.join(text[a:b] for a, b in part.pieces) == part.text:
            before = 0
            for a, b in part.pieces:
                if before <= start and end <= before + b - a:
                    return utf16(text, a + start - before), utf16(
                        text, a + end - before
                    )
                before += b - a + len(between)
    return -1, -1


# The tables by document and author.


def _written(texts: pd.DataFrame, parts: pd.DataFrame) -> dict[_Text, _Written]:
    """Return texts as generated; whole ones of `parts` where they were put together there."""
    written: dict[_Text, _Written] = {}
    columns = ("doc_id", "author", "part", "text", "status")
    for frame in (parts[parts["part"] == FULL], texts):
        for doc_id, author, part, text, status in rows(frame, *columns):
            written.setdefault((doc_id, author), {})[part] = (text, status)
    return written


def _ratings(
    ratings: pd.DataFrame, shown: _Shown
) -> dict[_Text, dict[tuple[str, int], list[c.Rating]]]:
    """Return ratings of whole texts, of parts and comparisons, of single claims and statements.

    Claims are the reference's, but those rated for claim_precision are the text's own.
    """
    by_text: dict[_Text, dict[tuple[str, int], list[c.Rating]]] = {}
    columns = (
        "study",
        "criterion",
        "part",
        "rater",
        "unit",
        "doc_id",
        "author",
        "value",
    )
    order = sorted(
        rows(ratings, *columns), key=lambda r: (_rank(r), part_rank(r[2]), *r[3:7])
    )
    for study, criterion, part, rater, unit, doc_id, author, value in order:
        kind, _, which = unit.partition(":")
        name = shown.names.get(which, which)
        place = ("text", 0)
        rating = c.Rating(shown.title(study, criterion, part), rater, value, name)
        if kind in ("claim", "statement"):
            claims = (
                "claim_precision" if criterion == "claim_precision" else "claim_recall"
            )
            place = ("statements" if kind == "statement" else claims, int(which))
            rating = c.Rating(criterion, rater, value)
        by_text.setdefault((doc_id, author), {}).setdefault(place, []).append(rating)
    return by_text


def _attributes(attributes: str | None) -> list[str]:
    """Return `name: value` lines of the JSON, or the text itself if it is no JSON object."""
    if attributes is None:
        return []
    try:
        values = dict(json.loads(attributes).items())
    except (ValueError, AttributeError):
        return [attributes]
    return [
        f"{name}: {v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)}"
        for name, v in values.items()
    ]
