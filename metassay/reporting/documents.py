"""Each document: its source, the texts written about it, and every judgment on them."""

import json
from collections import Counter
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


_Text = tuple[str, str]  # doc_id, author
_Written = dict[str, tuple[str | None, str]]  # text and status by part


@dataclass(frozen=True)
class _Tables:
    """The frames by document and author, so that one document is made at a time."""

    texts: dict[_Text, _Written]
    scores: dict[_Text, dict[Metric, str]]
    ratings: dict[_Text, list[str]]
    authors: dict[str, list[str]]
    metrics: list[Metric]
    judgments: Judgments
    marked: dict[_Text, Marked]


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
        authors={str(d): sorted_authors(mine["author"]) for d, mine in texts.groupby("doc_id")},
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
    names = tables.authors.get(doc_id, [])
    authors = [_author((doc_id, name), len(passages), tables) for name in names]
    scores = {name: tables.scores.get((doc_id, name), {}) for name in names}
    return Document(
        number,
        doc_id,
        task,
        _attributes(attributes),
        list(map(Passage, range(len(passages)), speaker, group, passages)),
        [metric_label(*metric) for metric in tables.metrics],
        [(name, [of.get(m, "") for m in tables.metrics]) for name, of in scores.items()],
        authors,
        sum(bool(author.problems) for author in authors),
    )


def _author(key: _Text, n_passages: int, tables: _Tables) -> Author:
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
    if text is None and texts:
        text = "\n\n".join(texts)
    known = tables.marked.get(key)  # without, where only some parts were written
    return Author(
        key[1],
        known if known is not None and known.runs else plain(text),
        problems,
        tables.ratings.get(key, []),
        blocks(tables.judgments, *key, n_passages),
    )


def _written(texts: pd.DataFrame, parts: pd.DataFrame) -> dict[_Text, _Written]:
    """Texts as generated, and the whole text from `parts` where it was put together there."""
    found: dict[_Text, _Written] = {}
    columns = ("doc_id", "author", "part", "text", "status")
    for frame in (parts[parts["part"] == FULL], texts):
        for doc_id, author, part, *text_and_status in rows(frame, *columns):
            text, status = text_and_status
            found.setdefault((doc_id, author), {})[part] = (text, status)
    return found


def _scores(whole: pd.DataFrame, wanted: set[Metric]) -> dict[_Text, dict[Metric, str]]:
    found: dict[_Text, dict[Metric, str]] = {}
    columns = ("doc_id", "author", "metric", "judge", "value", "n_failed", "low", "high")
    for doc_id, author, metric, judge, value, n_failed, low, high in rows(whole, *columns):
        if (metric, judge) in wanted:
            text = shown(value) or "undefined"
            if n_failed:
                bounds = shown_interval(low, high)
                text += f", {n_failed} missing" + (f", within {bounds}" if bounds else "")
            found.setdefault((doc_id, author), {})[metric, judge] = text
    return found


def _ratings(ratings: pd.DataFrame) -> dict[_Text, list[str]]:
    """One line per criterion for ratings of whole texts, every rater by name.

    Ratings of single claims and statements are many and stay in their table; their number is told.
    """
    lines: dict[_Text, dict[str, list[str]]] = {}
    columns = ("doc_id", "author", "criterion", "unit", "rater", "value")
    n_single: Counter[tuple[str, ...]] = Counter()
    for doc_id, author, criterion, unit, rater, value in sorted(
        rows(ratings, *columns), key=lambda row: row[:5]
    ):
        mine = lines.setdefault((doc_id, author), {})
        kind = unit.partition(":")[0]
        if kind in ("claim", "statement"):
            of = (doc_id, author, criterion, kind)
            n_single[of] += 1
            line = mine.setdefault(f"{criterion}: ", [])
            if n_single[of] > 1:
                line.pop()  # the number so far
            line.append(f"{counted(n_single[of], 'rating')} of single {kind}s")
            continue
        name = criterion + (f" over {unit[7:]}" if unit.startswith("versus:") else "")
        said = "abstained" if value is None else f"{value:g}"
        mine.setdefault(f"{name}: ", []).append(f"{said} ({rater})")
    return {key: [n + ", ".join(said) for n, said in mine.items()] for key, mine in lines.items()}


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
