"""The view Texts: shards of documents, their index, and what a search reads."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import pandas as pd

from metassay.reporting import contract as c
from metassay.reporting.claims import ClaimRows, sort_scorers
from metassay.reporting.shell import PageFolder, Shards
from metassay.tables.names import is_reference, sorted_authors

_SIDES = ("for", "against", "unknown")
_FIXED = (
    "document",
    "author",
    "task",
    "home",
    "status",
    "words",
    "rated",
    "split",
    "parts",
)


def put_texts(  # noqa: PLR0913 - all that the view is made of
    page: PageFolder,
    documents: Iterable[tuple[c.Document, Sequence[int]]],
    *,
    noun: str,
    judges: Sequence[str] = (),
    metrics: Mapping[str, str],
    criteria: Mapping[str, str] = MappingProxyType({}),
    parts: Sequence[str] = (),
    rated: Callable[[c.Text], Iterable[c.Rating]] = lambda text: text.ratings,
) -> c.TextsInfo:
    """Write documents, index and search in the order of `documents`, one at a time.

    With each document stands, per text, on how many lines a judge is wrong or differs
    from people: column `split`. `metrics`: better direction by the label that
    Text.scores have, `criteria` by the name that ratings have. `parts`: those of lines
    and marks that can be filtered by. `rated`: the ratings of a text that are counted,
    and whose means its criteria are.
    """
    measures = [
        *(
            c.Measure(label, f"metric_{n}", metrics[label])
            for n, label in enumerate(metrics)
        ),
        *(
            c.Measure(f"people: {name}", f"people_{n}", criteria[name])
            for n, name in enumerate(criteria)
        ),
    ]
    place = {part: str(n) for n, part in enumerate(parts)}
    index: list[dict[str, object]] = []
    counted: list[Counter[tuple[str, str, str]]] = []
    claims = ClaimRows(page, judges)
    shards = Shards(page, "documents", "documents")
    search = Shards(page, "search", "texts")
    for document, splits in documents:
        home = shards.add(document)
        for text, split in zip(document.texts, splits, strict=True):
            lines = [line for block in text.blocks for line in block.lines]
            ratings = [*rated(text)]
            of_text = {line.part for line in lines} | {mark.part for mark in text.marks}
            places = " ".join(place[part] for part in sorted(of_text & set(place)))
            values = dict(text.scores)
            values |= {f"people: {name}": _mean(ratings, name) for name in criteria}
            index.append(
                {
                    "document": document.id,
                    "author": text.author,
                    "task": document.task,
                    "home": home,
                    "status": "; ".join(text.problems) or "ok",
                    "words": len(text.text.split()) if text.text else None,
                    "rated": sum(rating.value is not None for rating in ratings),
                    "split": split,
                    "parts": places,
                    **{measure.column: values.get(measure.key) for measure in measures},
                }
            )
            counted.append(_count_sides(text))
            claims.add(document.id, text)
            others = [line.text for line in lines if line.text not in text.text]
            search.add("\n".join([text.text, *others]))
    reals = [measure.column for measure in measures]
    heads = {(measure, judge) for counts in counted for measure, judge, _ in counts}
    scorers = sort_scorers(heads, judges)
    frame = pd.DataFrame(index, columns=[*_FIXED, *reals])
    for n, head in enumerate(scorers):
        for side in _SIDES:
            key = (head.measure, head.judge, side)
            frame[f"{side}_{n}"] = [counts[key] for counts in counted]
    frame = frame.astype({"words": "Int64", **dict.fromkeys(reals, "float64")})
    authors = sorted_authors(frame["author"])
    # this table is no evidence
    unused = dict.fromkeys(("title", "group", "csv", "command"), "")
    return c.TextsInfo(
        documents=shards.n,
        texts=len(frame),
        noun=noun,
        authors=authors,
        references=[name for name in authors if is_reference(name)],
        measures=measures,
        judges=judges,
        scorers=scorers,
        parts=parts,
        table=page.put_evidence("index", frame, means={}, **unused, says=[]),
        search=search.finish(),
        documents_in=shards.finish(),
        claims=claims.finish(),
    )


def _count_sides(text: c.Text) -> Counter[tuple[str, str, str]]:
    """Count judgments by measure, judge and side."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for block in text.blocks:
        for line in block.lines:
            for head, judgment in zip(block.heads, line.judgments, strict=True):
                counts[head.measure, head.judge, judgment.side] += 1
    return counts


def _mean(ratings: Sequence[c.Rating], name: str) -> float | None:
    """Average the ratings of the text itself, not of it beside another one."""
    values = [
        r.value
        for r in ratings
        if r.criterion == name and not r.of and r.value is not None
    ]
    return math.fsum(values) / len(values) if values else None
