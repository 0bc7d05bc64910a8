"""The view Texts of a test's page: shards of documents, their index, and what a search reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from metassay.reporting.contract import (
    AuthorInfo,
    CriterionInfo,
    Document,
    MetricInfo,
    SearchShard,
    Text,
    TextsInfo,
)
from metassay.reporting.shell import LARGEST, PageFolder

FIXED = {
    "document": "the document",
    "author": "who wrote the text",
    "task": "what the document is of",
    "home": "the shard that its document is in",
    "status": "ok, or why there is no text",
    "words": "words of the text",
    "rated": "ratings of the text",
}
_UNUSED = ("title", "group", "csv", "command")  # of the record of a table that is no evidence


def put_texts(
    page: PageFolder,
    documents: Iterable[tuple[Document, Sequence[int]]],
    *,
    noun: str,
    judges: Sequence[str] = (),
    metrics: Mapping[str, str],
    criteria: Sequence[CriterionInfo] = (),
    parts: Sequence[str] = (),
) -> TextsInfo:
    """Write documents, index and search in the order of `documents`.

    With each document stands, per text, on how many lines a judge is wrong or differs from people:
    column `split`. `metrics`: better direction by the label that Text.scores have. `parts`: those
    of lines and marks that can be filtered by.
    """
    columns = {label: f"metric_{place}" for place, label in enumerate(metrics)}
    place_of = {part: str(place) for place, part in enumerate(parts)}
    splits: list[Sequence[int]] = []
    index: list[dict[str, object]] = []
    read: list[str] = []

    def each() -> Iterator[Document]:
        for document, split in documents:
            splits.append(split)
            yield document

    for document, home in page.put_documents(each()):
        for text, split in zip(document.texts, splits[-1], strict=True):
            status = "; ".join(text.problems) or "ok"
            scores = dict(text.scores)
            index.append(
                {
                    **{"document": document.id, "author": text.author, "task": document.task},
                    **{"home": home, "status": status, "words": len(text.text.split())},
                    **{"rated": sum(1 for _ in _ratings(text)), **_sides(text, judges)},
                    "split": split,
                    "parts": " ".join(place_of[p] for p in sorted(_parts(text) & set(place_of))),
                    **{column: scores.get(label) for label, column in columns.items()},
                    **{of.column: _mean(text, of.name) for of in criteria},
                }
            )
            lines = [line.text for block in text.blocks for line in block.lines]
            read.append("\n".join([text.text, *(line for line in lines if line not in text.text)]))
    known = [*FIXED, *_side_names(len(judges)), "split", "parts", *columns.values()]
    frame = pd.DataFrame(index, columns=[*known, *(of.column for of in criteria)])
    for column in (*columns.values(), *(of.column for of in criteria)):
        frame[column] = frame[column].astype("float64")
    return TextsInfo(
        documents=len(splits),
        texts=len(frame),
        noun=noun,
        authors=[AuthorInfo(name, "system") for name in sorted(set(frame["author"]))],
        metrics=[MetricInfo(label, column, metrics[label]) for label, column in columns.items()],
        criteria=criteria,
        judges=judges,
        parts=parts,
        index=page.put_evidence("index", frame, means=FIXED, **dict.fromkeys(_UNUSED, ""), says=[]),
        search=list(_put_search(page, read)),
        documents_in=[
            f"documents/{n}" for n in range(int(frame["home"].max()) + 1 if index else 0)
        ],
    )


def utf16(text: str, end: int) -> int:
    """How many UTF-16 code units the first `end` characters are."""
    return len(text[:end].encode("utf-16-le", "surrogatepass")) // 2


def _put_search(page: PageFolder, read: Sequence[str]) -> Iterator[SearchShard]:
    first = size = 0
    for row, text in enumerate(read):
        size += len(text)
        if size > LARGEST // 2 or row == len(read) - 1:
            number = page.put(f"search/{first}", {"texts": read[first : row + 1]})
            yield SearchShard(number, first, row + 1 - first)
            first, size = row + 1, 0


def _side_names(judges: int) -> list[str]:
    return [f"{side}_{n}" for n in range(judges) for side in ("for", "against", "unknown")]


def _sides(text: Text, judges: Sequence[str]) -> dict[str, int]:
    counts = dict.fromkeys(_side_names(len(judges)), 0)
    for block in text.blocks:
        for line in block.lines:
            for head, judgment in zip(block.heads, line.judgments, strict=True):
                if judgment.side != "neutral":
                    counts[f"{judgment.side}_{judges.index(head.judge)}"] += 1
    return counts


def _parts(text: Text) -> set[str]:
    lines = (line.part for block in text.blocks for line in block.lines)
    return {*lines, *(mark.part for mark in text.marks)}


def _ratings(text: Text) -> Iterator[tuple[str, float | None]]:
    """Criterion and value of all ratings, of the text and of its lines."""
    for rating in text.ratings:
        yield rating.criterion, rating.value
    for block in text.blocks:
        for line in block.lines:
            yield from ((rating.criterion, rating.value) for rating in line.people)


def _mean(text: Text, criterion: str) -> float | None:
    values = [value for name, value in _ratings(text) if name == criterion and value is not None]
    return sum(values) / len(values) if values else None
