"""What each author's texts are like beside the reference: words, numbers, how common words are."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from metassay.format.frames import rows
from metassay.reporting.names import sorted_authors
from metassay.statistics.document_means import Reals, Resampling, means
from metassay.tables.names import FULL, NO_JUDGE, REFERENCE, is_reference
from metassay.tables.summaries import framed
from metassay.text.citations import strip_citations
from metassay.text.tokens import content_tokens

MEASURED = ("words", "numbers")  # metrics of table scores
POPULARITY = "popularity"
QUANTILES = {"p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75, "p90": 0.9}

_PER = 1e6  # words

Text = tuple[str, str]  # doc_id, author


def profile_table(
    sources: pd.DataFrame, parts: pd.DataFrame, scores: pd.DataFrame, how: Resampling
) -> pd.DataFrame:
    """One row per quantity and author: its distribution over whole texts, and beside the reference.

    Quantities: the metrics words and numbers, where they were measured, and `popularity`. Intervals
    are of a bootstrap over documents, or clusters of them. The difference to the reference is of
    documents that have both; null without such a document, and for the reference. Columns:
    `tables.summaries`.
    """
    found = {
        **{name: _measured(scores, name) for name in MEASURED},
        POPULARITY: popularity(sources, parts),
    }
    made: list[tuple[object, ...]] = []
    for quantity, values in found.items():
        if any(value is not None for value in values.values()):
            made += [(quantity, *row) for row in _of_authors(values, how)]
    return framed("profile", made)


def popularity(sources: pd.DataFrame, parts: pd.DataFrame) -> dict[Text, float | None]:
    """How common each whole text's words are in the benchmark: needs no list from elsewhere.

    Mean over the text's content words (text/tokens.py) of log10 of how often the word occurs per
    million content words in the sources and references of the other documents, one occurrence
    added, so that a word that is in none has a value too. The text's own document is left out:
    what is copied from it is not common for that. Null for a text that failed or has no content
    word, and where no other document has any.
    """
    known: dict[str, Counter[str]] = {}
    for doc_id, passages in rows(sources, "doc_id", "passages"):
        known.setdefault(doc_id, Counter()).update(content_tokens("\n".join(passages)))
    whole = parts[parts["part"] == FULL]
    texts = {
        (doc_id, author): None if text is None else content_tokens(strip_citations(text))
        for doc_id, author, text in rows(whole, "doc_id", "author", "text")
    }
    for (doc_id, author), tokens in texts.items():
        if is_reference(author) and tokens:
            known.setdefault(doc_id, Counter()).update(tokens)
    every: Counter[str] = Counter()
    for counts in known.values():
        every.update(counts)
    return {key: _common(tokens, every, known[key[0]]) for key, tokens in texts.items()}


def _common(
    tokens: Sequence[str] | None, every: Mapping[str, int], own: Mapping[str, int]
) -> float | None:
    others = sum(every.values()) - sum(own.values())
    if not tokens or not others:
        return None
    times = (every[token] - own[token] + 1 for token in tokens)
    return math.fsum(math.log10(_PER * n / others) for n in times) / len(tokens)


def _measured(scores: pd.DataFrame, metric: str) -> dict[Text, float | None]:
    chosen = scores[
        (scores["metric"] == metric) & (scores["part"] == FULL) & (scores["judge"] == NO_JUDGE)
    ]
    return {(doc_id, a): value for doc_id, a, value in rows(chosen, "doc_id", "author", "value")}


def _of_authors(values: Mapping[Text, float | None], how: Resampling) -> list[tuple[object, ...]]:
    authors = sorted_authors(author for _, author in values)
    places = {doc_id: row for row, doc_id in enumerate(sorted({d for d, _ in values}))}
    table = np.full((len(places), len(authors)), np.nan)
    for (doc_id, author), value in values.items():
        if value is not None:
            table[places[doc_id], authors.index(author)] = value
    beside = np.full_like(table, np.nan)
    if authors[0] == REFERENCE:
        beside[:, 1:] = table[:, 1:] - table[:, :1]
    mean, less = (means(one, list(places), how) for one in (table, beside))
    made: list[tuple[object, ...]] = []
    for place, author in enumerate(authors):
        own = table[np.isfinite(table[:, place]), place]
        both = int(np.isfinite(beside[:, place]).sum())
        missing = sum(one == author and value is None for (_, one), value in values.items())
        ends = (mean.mean[place], mean.low[place], mean.high[place])
        apart = (less.mean[place], less.low[place], less.high[place])
        made.append((author, len(own), missing, *ends, *_quantiles(own), *apart, both))
    return made


def _quantiles(values: Reals) -> list[float]:
    if not len(values):
        return [math.nan] * len(QUANTILES)
    return [float(value) for value in np.quantile(values, list(QUANTILES.values()))]
