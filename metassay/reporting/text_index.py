"""The view Texts of a page: shards of documents, their index, and what a search reads."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from metassay.core.visible import visible
from metassay.reporting import contract as c
from metassay.reporting.names import sorted_authors
from metassay.reporting.shell import PageFolder, Shards
from metassay.tables.names import is_reference

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


Rated = Callable[[c.Text], Iterable[c.Rating]]


def put_texts(  # noqa: PLR0913 - all that the view is made of
    page: PageFolder,
    documents: Iterable[tuple[c.Document, Sequence[int]]],
    *,
    noun: str,
    judges: Sequence[str] = (),
    metrics: Mapping[str, str],
    criteria: Mapping[str, str] | None = None,
    parts: Sequence[str] = (),
    rated: Rated = lambda text: text.ratings,
) -> c.TextsInfo:
    """Write documents, index and search in the order of `documents`, one at a time.

    With each document stands, per text, on how many lines a judge is wrong or differs from people:
    column `split`. `metrics`: better direction by the label that Text.scores have, `criteria` by
    the name that ratings have. `parts`: those of lines and marks that can be filtered by. `rated`:
    the ratings of a text that are counted, and whose means its criteria are.
    """
    columns = {label: f"metric_{place}" for place, label in enumerate(metrics)}
    people = {name: f"people_{place}" for place, name in enumerate(criteria or ())}
    place_of = {part: str(place) for place, part in enumerate(parts)}
    index: list[dict[str, object]] = []
    shards, search = Shards(page, "documents", "documents"), Shards(page, "search", "texts")
    for document, splits in documents:
        home = shards.add(document)
        for text, split in zip(document.texts, splits, strict=True):
            scores, ratings = dict(text.scores), [*rated(text)]
            index.append(
                {
                    **{"document": document.id, "author": text.author, "task": document.task},
                    **{"home": home, "status": "; ".join(text.problems) or "ok"},
                    "words": len(text.text.split()) if text.text else None,
                    "rated": sum(one.value is not None for one in ratings),
                    **_sides(text, judges),
                    "split": split,
                    "parts": " ".join(place_of[p] for p in sorted(_parts(text) & set(place_of))),
                    **{column: scores.get(label) for label, column in columns.items()},
                    **{column: _mean(ratings, name) for name, column in people.items()},
                }
            )
            lines = [line.text for block in text.blocks for line in block.lines]
            search.add("\n".join([text.text, *(line for line in lines if line not in text.text)]))
    reals = [*columns.values(), *people.values()]
    known = [*FIXED, *_side_names(len(judges)), "split", "parts", *reals]
    frame = pd.DataFrame(index, columns=known)
    frame = frame.astype({"words": "Int64", **dict.fromkeys(reals, "float64")})
    authors = sorted_authors(frame["author"])
    return c.TextsInfo(
        documents=shards.n,
        texts=len(frame),
        noun=noun,
        authors=authors,
        references=[name for name in authors if is_reference(name)],
        measures=[
            *(c.Measure(label, column, metrics[label]) for label, column in columns.items()),
            *(c.Measure(f"people: {n}", at, (criteria or {})[n]) for n, at in people.items()),
        ],
        judges=judges,
        parts=parts,
        table=page.put_evidence("index", frame, means=FIXED, **dict.fromkeys(_UNUSED, ""), says=[]),
        search=search.finish(),
        documents_in=shards.finish(),
    )


def utf16(text: str, end: int) -> int:
    """How many UTF-16 code units the first `end` characters are, as pages show them."""
    return len(visible(text[:end]).encode("utf-16-le", "surrogatepass")) // 2


def _side_names(judges: int) -> list[str]:
    return [f"{side}_{n}" for n in range(judges) for side in ("for", "against", "unknown")]


def _sides(text: c.Text, judges: Sequence[str]) -> dict[str, int]:
    counts = dict.fromkeys(_side_names(len(judges)), 0)
    for block in text.blocks:
        for line in block.lines:
            for head, judgment in zip(block.heads, line.judgments, strict=True):
                if judgment.side != "neutral":
                    counts[f"{judgment.side}_{judges.index(head.judge)}"] += 1
    return counts


def _parts(text: c.Text) -> set[str]:
    lines = (line.part for block in text.blocks for line in block.lines)
    return {*lines, *(mark.part for mark in text.marks)}


def _mean(ratings: Sequence[c.Rating], name: str) -> float | None:
    """Of ratings of the text itself, not of it beside another one."""
    values = [r.value for r in ratings if r.criterion == name and not r.of and r.value is not None]
    return math.fsum(values) / len(values) if values else None
