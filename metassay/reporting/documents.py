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
    judgments,
    who_answered,
)
from metassay.reporting.facets import Divided, Facet, divided, facet_names, lacks, marks_of
from metassay.reporting.names import (
    Metric,
    criterion_rank,
    criterion_title,
    part_rank,
    sorted_authors,
    sorted_metrics,
)
from metassay.reporting.shell import PageFolder
from metassay.reporting.text_index import put_texts, utf16
from metassay.scoring.aggregation.statements import number_statements
from metassay.tables.names import FULL, metric_label
from metassay.text.spans import Span
from metassay.units.record import BETWEEN_PARTS

_Text = tuple[str, str]  # doc_id, author
_Written = dict[str, tuple[str | None, str]]  # text and status by part
_OF_DOCUMENTS = {
    *("sources", "texts", "parts", "units", "alignments", "pairs", "scores", "ratings"),
}
_SOURCE = ("doc_id", "task", "passages", "speaker", "group", "attributes")


_AT_ONCE = 50  # documents that are indexed together: what an index takes, however many there are


@dataclass(frozen=True)
class _Tables:
    """The frames of some documents by document and author."""

    texts: Mapping[_Text, _Written]
    scores: Mapping[_Text, Mapping[Metric, float | None]]
    ratings: Mapping[_Text, Mapping[tuple[str, int], list[c.Rating]]]  # of ("text", 0), of units
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

    `tables`: sources, texts, parts, units, pairs, judgments, scores and ratings, perhaps
    alignments. Of each text the scores of the metrics in `better` are shown, with the direction
    that it gives. `facets` are those that texts may be divided into, `scales` those of people's
    criteria, `names` of authors as tables have them by other names. Only documents of sources are
    shown. Raises BadInput for a source whose lists are not of one length.
    """
    _check_lists(tables["sources"])
    judges = who_answered(tables["pairs"], tables["judgments"])
    shown = _Shown(
        *(facets, facet_names(tables["parts"], facets), sorted_metrics(better), names, judges),
        several=tables["ratings"]["study"].nunique() > 1,
    )
    return put_texts(
        page,
        _documents(tables, shown, scales),
        noun="document",
        judges=judges[0],
        metrics={metric_label(*metric): better[metric] for metric in shown.metrics},
        criteria=_criteria(tables["ratings"], scales),
        parts=shown.parts,
    )


@dataclass(frozen=True)
class _Shown:
    """What is shown of every document; `several` studies, `judges` and those of them who graded."""

    facets: Sequence[str]
    parts: Sequence[str]
    metrics: Sequence[Metric]
    names: Mapping[str, str]
    judges: tuple[list[str], list[str]]
    several: bool


def _criteria(ratings: pd.DataFrame, scales: Mapping[str, Criterion]) -> dict[str, str]:
    """What people rated whole texts by, and which way is better."""
    whole = ratings[(ratings["unit"] == "text") & (ratings["part"] == FULL)]
    several = ratings["study"].nunique() > 1
    return {
        _titled(study, criterion, FULL, several=several): scales[criterion].better
        for study, criterion in sorted(set(rows(whole, "study", "criterion")), key=_rank)
    }


def _rank(row: Sequence[Any]) -> tuple[str, tuple[int, str]]:
    """By study and criterion."""
    return row[0], criterion_rank(row[1])


def _differs(line: c.Line, scales: Mapping[str, Criterion]) -> bool:
    """Whether some judge says the opposite of most people.

    A rating in the better half of its scale is for, in the worse half against.
    """
    votes = 0
    for rating in line.people:
        of = scales[rating.criterion]
        if rating.value is not None:
            more = rating.value - (of.low + of.high) / 2
            votes += ((more > 0) - (more < 0)) * (1 if of.better == "higher" else -1)
    opposite = AGAINST if votes > 0 else FOR
    return votes != 0 and any(one.side == opposite for one in line.judgments)


def _check_lists(sources: pd.DataFrame) -> None:
    lists = rows(sources, "doc_id", "passages", "speaker", "group")
    odd = [str(doc_id) for doc_id, *three in lists if len(set(map(len, three))) > 1]
    if odd:
        raise BadInput(
            f"sources: {len(odd):,} document(s) have not a speaker and a group for each passage,"
            f" the first is doc_id {shown_key(odd[0])}; metassay run builds a benchmark's tables"
            " again"
        )


def _gathered(tables: Mapping[str, pd.DataFrame], shown: _Shown) -> _Tables:
    texts, parts, names = tables["texts"], tables["parts"], shown.names
    return _Tables(
        texts=_written(texts, parts),
        scores=_scores(tables["scores"], shown.metrics),
        ratings=_ratings(tables["ratings"], shown),
        authors={str(d): sorted_authors(mine["author"]) for d, mine in texts.groupby("doc_id")},
        judgments=judgments(
            *(number_statements(tables["units"], parts), tables["pairs"], tables["judgments"]),
            tables.get("alignments"),
            {other: name for name, other in names.items()},
            shown.judges,
        ),
        divided=divided(parts, shown.facets),
    )


def _batches(tables: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, pd.DataFrame]]:
    """The tables, document by document in the order of doc_id, _AT_ONCE documents each."""
    order = sorted(map(str, tables["sources"]["doc_id"]))
    for first in range(0, len(order), _AT_ONCE):
        chosen = order[first : first + _AT_ONCE]
        mine = {
            name: frame[frame["doc_id"].isin(chosen)]
            for name, frame in tables.items()
            if name in _OF_DOCUMENTS
        }
        answers = tables["judgments"]
        yield {**mine, "judgments": answers[answers["pair_id"].isin(mine["pairs"]["pair_id"])]}


def _documents(
    tables: Mapping[str, pd.DataFrame], shown: _Shown, scales: Mapping[str, Criterion]
) -> Iterator[tuple[c.Document, list[int]]]:
    """Each with the number of lines, per text, of which people and a judge say opposites."""
    for batch in _batches(tables):
        known = _gathered(batch, shown)
        for row in sorted(rows(batch["sources"], *_SOURCE), key=lambda row: str(row[0])):
            doc_id, task, passages, speaker, group, attributes = row
            authors = known.authors.get(doc_id, [])
            texts = [_text((doc_id, author), known, shown) for author in authors]
            lines = [[line for block in text.blocks for line in block.lines] for text in texts]
            yield (
                c.Document(
                    *(doc_id, task, _attributes(attributes)),
                    [c.Passage(*one) for one in zip(speaker, group, passages, strict=True)],
                    texts,
                ),
                [sum(_differs(line, scales) for line in mine) for mine in lines],
            )


def _text(key: _Text, known: _Tables, shown: _Shown) -> c.Text:
    written = known.texts.get(key, {})
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
    whole, rated = known.divided.get(key), known.ratings.get(key, {})
    pieces = {FULL: Facet("ok", text, [Span(0, len(text))], ()), **(whole.facets if whole else {})}
    found = blocks(
        *(known.judgments, *key, rated),
        lambda part, *ends: _place(text, pieces.get(part), *ends),
    )
    marks: list[c.Mark] = []
    if whole is not None and whole.text == text:  # else only some parts were written
        marks = marks_of(whole, shown.parts)
        said = lacks(whole, shown.parts)
        title = "Parts that the text lacks, that nobody knows, or that were made up"
        found = [c.Block("parts", title, "text", [], [], said)] * bool(said) + found
    scores = known.scores.get(key, {})
    return c.Text(
        *(key[1], problems, text),
        [c.Mark(utf16(text, mark.start), utf16(text, mark.end), mark.part) for mark in marks],
        [*rated.get(("text", 0), []), *_of_no_line(rated, found)],
        [(metric_label(*metric), scores[metric]) for metric in shown.metrics if metric in scores],
        found,
    )


def _of_no_line(rated: Rated, found: Sequence[c.Block]) -> Iterator[c.Rating]:
    """Ratings of claims and statements that the text has not, as its units are known."""
    there = {block.id: len(block.lines) for block in found}
    for (block, number), ratings in rated.items():
        if block != "text" and number >= there.get(block, 0):
            for one in ratings:
                yield one._replace(criterion=f"{one.criterion} ({block}, {number})")


def _place(text: str, part: Facet | None, start: int | None, end: int | None) -> tuple[int, int]:
    """Where a stretch of a part stands in the text, in UTF-16; -1 where it does not."""
    if part is None or start is None or end is None:
        return -1, -1
    for between in (BETWEEN_PARTS, " "):  # of sections, of facets
        if between.join(text[a:b] for a, b in part.pieces) == part.text:
            at = 0
            for a, b in part.pieces:
                if at <= start and end <= at + b - a:
                    return utf16(text, a + start - at), utf16(text, a + end - at)
                at += b - a + len(between)
    return -1, -1


# The tables by document and author.


def _written(texts: pd.DataFrame, parts: pd.DataFrame) -> dict[_Text, _Written]:
    """Texts as generated, and the whole text from `parts` where it was put together there."""
    found: dict[_Text, _Written] = {}
    columns = ("doc_id", "author", "part", "text", "status")
    for frame in (parts[parts["part"] == FULL], texts):
        for doc_id, author, part, *text_and_status in rows(frame, *columns):
            text, status = text_and_status
            found.setdefault((doc_id, author), {})[part] = (text, status)
    return found


def _scores(
    scores: pd.DataFrame, wanted: Sequence[Metric]
) -> dict[_Text, dict[Metric, float | None]]:
    found: dict[_Text, dict[Metric, float | None]] = {}
    columns = ("doc_id", "author", "metric", "judge", "value")
    for doc_id, author, metric, judge, value in rows(scores[scores["part"] == FULL], *columns):
        if (metric, judge) in wanted:
            found.setdefault((doc_id, author), {})[metric, judge] = value
    return found


def _titled(study: str, criterion: str, part: str, *, several: bool) -> str:
    title = criterion_title(criterion, part)
    return f"{title} ({study})" if several else title


def _ratings(
    ratings: pd.DataFrame, shown: _Shown
) -> dict[_Text, dict[tuple[str, int], list[c.Rating]]]:
    """Ratings of whole texts, of parts and comparisons, and of single claims and statements.

    Claims are the reference's, but those rated for claim_precision are the text's own.
    """
    found: dict[_Text, dict[tuple[str, int], list[c.Rating]]] = {}
    columns = ("study", "criterion", "part", "rater", "unit", "doc_id", "author", "value")
    order = sorted(rows(ratings, *columns), key=lambda r: (_rank(r), part_rank(r[2]), *r[3:7]))
    for study, criterion, part, rater, unit, doc_id, author, value in order:
        kind, _, which = unit.partition(":")
        title = _titled(study, criterion, part, several=shown.several)
        name = shown.names.get(which, which)
        of, rating = ("text", 0), c.Rating(title, rater, value, name)
        if kind in ("claim", "statement"):
            own = "claim_precision" if criterion == "claim_precision" else "claim_recall"
            of = ("statements" if kind == "statement" else own, int(which))
            rating = c.Rating(criterion, rater, value)
        found.setdefault((doc_id, author), {}).setdefault(of, []).append(rating)
    return found


def _attributes(attributes: str | None) -> list[str]:
    """`name: value` lines of the canonical JSON, or the text itself if it is no JSON object."""
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
