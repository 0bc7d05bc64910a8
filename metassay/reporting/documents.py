"""Each document: its source, the texts written about it, and every judgment on them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.errors import shown as shown_key
from metassay.format.frames import rows
from metassay.format.numbers import counted, shown, shown_interval
from metassay.reporting.answers import Block, Judgments, blocks
from metassay.reporting.facets import Marked, marked_texts, plain
from metassay.reporting.names import Metric, headline_metrics, part_rank, sorted_authors
from metassay.tables.names import FULL, metric_label


class Passage(NamedTuple):
    """One passage; `number` is what [number] cites."""

    number: int
    speaker: str
    group: str
    text: str


class Author(NamedTuple):
    """One author's text with its facets marked; without runs there is none, `problems` say why."""

    name: str
    text: Marked
    problems: list[str]
    ratings: list[str]
    blocks: list[Block]


class Document(NamedTuple):
    """One document; `scores` are (author, one text per metric of `metrics`)."""

    number: int
    doc_id: str
    task: str
    attributes: list[str]
    passages: list[Passage]
    metrics: list[str]
    scores: list[tuple[str, list[str]]]
    authors: list[Author]
    n_failed: int


@dataclass(frozen=True)
class _Tables:
    """The frames by document and author, so that one document is made at a time."""

    texts: dict[tuple[str, str], dict[str, tuple[str | None, str]]]
    scores: dict[tuple[str, str], dict[Metric, str]]
    ratings: dict[tuple[str, str], list[str]]
    authors: dict[str, list[str]]
    metrics: list[Metric]
    judgments: Judgments
    marked: dict[tuple[str, str], Marked]


def document_views(
    tables: Mapping[str, pd.DataFrame], judgments: Judgments, facets: Sequence[str]
) -> Iterator[Document]:
    """Documents by doc_id, one at a time; only sources' documents are shown.

    `tables`: sources, texts, parts, scores and ratings.

    Raises BadInput for a source whose lists are not of one length.
    """
    sources, texts, parts = tables["sources"], tables["texts"], tables["parts"]
    _check_lists(sources)
    whole = tables["scores"][tables["scores"]["part"] == FULL]
    metrics = headline_metrics(zip(whole["metric"], whole["judge"], strict=True))
    known = _Tables(
        texts=_written(texts, parts),
        scores=_scores(whole, set(metrics)),
        ratings=_ratings(tables["ratings"]),
        authors=_authors(texts),
        metrics=metrics,
        judgments=judgments,
        marked=marked_texts(parts, facets),
    )
    columns = ("doc_id", "task", "passages", "speaker", "group", "attributes")
    for number, row in enumerate(sorted(rows(sources, *columns), key=lambda r: str(r[0]))):
        yield _document(number, row, known)


def _check_lists(sources: pd.DataFrame) -> None:
    lists = rows(sources, "doc_id", "passages", "speaker", "group")
    odd = [str(doc_id) for doc_id, *three in lists if len(set(map(len, three))) > 1]
    if odd:
        raise BadInput(
            f"sources: {len(odd):,} document(s) have not a speaker and a group for each passage,"
            f" the first is doc_id {shown_key(odd[0])}; metassay run builds a benchmark's tables"
            " again"
        )


def _document(
    number: int, row: tuple[str, str, list[str], list[str], list[str], str | None], tables: _Tables
) -> Document:
    doc_id, task, passages, speaker, group, attributes = row
    numbered = zip(range(len(passages)), speaker, group, passages, strict=True)
    names = tables.authors.get(doc_id, [])
    authors = [_author(doc_id, name, len(passages), tables) for name in names]
    return Document(
        number,
        doc_id,
        task,
        _attributes(attributes),
        [Passage(*passage) for passage in numbered],
        [metric_label(*metric) for metric in tables.metrics],
        [
            (name, [tables.scores.get((doc_id, name), {}).get(m, "") for m in tables.metrics])
            for name in names
        ],
        authors,
        sum(bool(author.problems) for author in authors),
    )


def _author(doc_id: str, name: str, n_passages: int, tables: _Tables) -> Author:
    parts = tables.texts.get((doc_id, name), {})
    problems = [
        f"no text: {status}" if part == FULL else f"{part}, no text: {status}"
        for part, (_, status) in sorted(parts.items(), key=lambda item: part_rank(item[0]))
        if status != "ok"
    ]
    known = tables.marked.get((doc_id, name))  # without, where only some parts were written
    return Author(
        name,
        known if known is not None and known.runs else plain(_full_text(parts)),
        problems,
        tables.ratings.get((doc_id, name), []),
        blocks(tables.judgments, doc_id, name, n_passages),
    )


def _full_text(parts: dict[str, tuple[str | None, str]]) -> str | None:
    """The whole text, or what there is of it where its parts were generated one by one."""
    if FULL in parts and parts[FULL][0] is not None:
        return parts[FULL][0]
    ordered = [text for _, (text, _) in sorted(parts.items(), key=lambda item: part_rank(item[0]))]
    pieces = [text for text in ordered if text is not None]
    return "\n\n".join(pieces) if pieces else None


def _written(
    texts: pd.DataFrame, parts: pd.DataFrame
) -> dict[tuple[str, str], dict[str, tuple[str | None, str]]]:
    """Texts as generated, and the whole text from `parts` where it was put together there."""
    found: dict[tuple[str, str], dict[str, tuple[str | None, str]]] = {}
    whole = parts[parts["part"] == FULL]
    for frame in (whole, texts):
        for doc_id, author, part, text, status in rows(
            frame, "doc_id", "author", "part", "text", "status"
        ):
            found.setdefault((doc_id, author), {})[part] = (text, status)
    return found


def _scores(whole: pd.DataFrame, wanted: set[Metric]) -> dict[tuple[str, str], dict[Metric, str]]:
    found: dict[tuple[str, str], dict[Metric, str]] = {}
    columns = ("doc_id", "author", "metric", "judge", "value", "n_failed", "low", "high")
    for doc_id, author, metric, judge, value, n_failed, low, high in rows(whole, *columns):
        if (metric, judge) in wanted:
            text = shown(value) or "undefined"
            if n_failed:
                bounds = shown_interval(low, high)
                text += f", {n_failed} missing" + (f", within {bounds}" if bounds else "")
            found.setdefault((doc_id, author), {})[metric, judge] = text
    return found


def _ratings(ratings: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    """One line per criterion for ratings of whole texts, every rater by name.

    Ratings of single claims are many and stay in their table; their number is told.
    """
    lines: dict[tuple[str, str], dict[str, list[str]]] = {}
    columns = ("doc_id", "author", "criterion", "unit", "rater", "value")
    n_claims: dict[tuple[str, str, str], int] = {}
    for doc_id, author, criterion, unit, rater, value in sorted(
        rows(ratings, *columns), key=lambda row: row[:5]
    ):
        mine = lines.setdefault((doc_id, author), {})
        if unit.startswith("claim:"):
            key = (doc_id, author, criterion)
            n_claims[key] = n_claims.get(key, 0) + 1
            text = counted(n_claims[key], "rating") + " of single claims"
            mine[f"{criterion}: "] = [text]
            continue
        name = criterion + (f" over {unit[7:]}" if unit.startswith("versus:") else "")
        said = "abstained" if value is None else f"{value:g}"
        mine.setdefault(f"{name}: ", []).append(f"{said} ({rater})")
    return {key: [n + ", ".join(said) for n, said in mine.items()] for key, mine in lines.items()}


def _authors(texts: pd.DataFrame) -> dict[str, list[str]]:
    return {str(doc_id): sorted_authors(mine["author"]) for doc_id, mine in texts.groupby("doc_id")}


def _attributes(attributes: str | None) -> list[str]:
    """`name: value` lines of the canonical JSON, or the text itself if it is no JSON object."""
    if attributes is None:
        return []
    try:
        values = json.loads(attributes)
    except ValueError:
        return [attributes]
    if not isinstance(values, dict):
        return [attributes]
    return [
        f"{name}: {v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)}"
        for name, v in values.items()
    ]
