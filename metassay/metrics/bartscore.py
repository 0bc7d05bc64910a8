"""BARTScore: the likelihood of a text for an encoder-decoder that read another.

Of a text and the reference, each given the other; and of statements given their
passages (SOURCE).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from math import fsum
from typing import Literal

from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured, Metric
from metassay.metrics.faithfulness import reading, record
from metassay.models.likelihood import Likelihoods, likelihoods
from metassay.models.loading import NetworkOptions
from metassay.models.rows import Limits, recipe_of

VERSION = 1  # raised by whoever changes results of this module's kinds


class BartscoreOptions(NetworkOptions, Limits):
    """An encoder-decoder, and the combination of both directions.

    `f`: their `mean`, as in the paper, or `harm`, a b / (a + b), as also in the
    released code.
    """

    f: Literal["mean", "harm"] = "mean"


def describe(name: str, source: str, detail: str = "") -> tuple[Description, ...]:
    """Describe precision, recall and f of a metric; `more` goes into their meaning."""
    entry = partial(
        Description,
        better="higher",
        range=(None, 0),
        missing="null if both texts are empty, or if a number of the model is not finite; an empty"
        " text has the tokenizer's marks alone",
        source=source,
        family=OVERLAP,
    )
    side = (
        "mean logarithm of the probabilities that an encoder-decoder gives the tokens of the {},"
        f" having read the {{}}; {detail}what is past its limit is not read"
    )
    return (
        entry(f"{name}_precision", side.format("text", "reference")),
        entry(f"{name}_recall", side.format("reference", "text")),
        entry(
            f"{name}_f", f"mean of {name}_precision and {name}_recall", headline=True
        ),
    )


DESCRIPTIONS = describe("bartscore", "Yuan et al. 2021, section 3.1; neulab/BARTScore")


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: BartscoreOptions
) -> dict[str, list[Measured]]:
    """Return BARTScore of each candidate against the reference at the same index of `evidence`.

    At most 0, higher is better. Null if both texts are empty, or a number is not
    finite. `cut`: a text was longer than the model reads. There are no statistics: a
    corpus value is a mean. Raises BadInput as `loading.load`.
    """
    rows = both_ways(candidates, evidence, options, lambda _, read: mean(read.values))
    return {d.name: [row[at] for row in rows] for at, d in enumerate(DESCRIPTIONS)}


def both_ways(
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: BartscoreOptions,
    value: Callable[[str, Likelihoods], float | None],
) -> list[tuple[Measured, ...]]:
    """Return precision, recall and f of each pair, by the value of each target's tokens."""
    pairs = [(r.strip(), c.strip()) for c, r in zip(candidates, evidence, strict=True)]
    full = [pair for pair in pairs if any(pair)]
    n, targets = len(full), [pair[1] for pair in full] + [pair[0] for pair in full]
    results = likelihoods([*full, *(pair[::-1] for pair in full)], options, options)
    values = list(map(value, targets, results))
    cut = [read.cut or read.unread > 0 for read in results]
    cut_pairs = [forth or back for forth, back in zip(cut[:n], cut[n:], strict=True)]
    sides = zip(values[:n], values[n:], cut_pairs, strict=True)
    return [
        _values(*next(sides), options.f) if any(pair) else (UNDEFINED,) * 3
        for pair in pairs
    ]


def _values(
    a: float | None, b: float | None, cut: bool, f: str
) -> tuple[Measured, ...]:
    both = None
    if a is not None and b is not None:
        both = (a + b) / 2 if f == "mean" else a * b / (a + b)
    return tuple(Measured(value, None, cut) for value in (a, b, both))


def mean(values: Sequence[float] | None) -> float | None:
    """Return the mean, which does not depend on the order; None without values."""
    return fsum(values) / len(values) if values else None


KIND = Metric(
    options=BartscoreOptions,
    measure=measure,
    recipe=lambda options: recipe_of(options, options, "f", "max_tokens"),
    descriptions=DESCRIPTIONS,
    costly=True,
)


def score(
    cases: Sequence[record.Case],
    options: reading.ReadingOptions,
    checkpoint: NetworkOptions,
) -> reading.ByName:
    """Return BARTScore of each statement given its passages: at most 0, higher is more faithful.

    The mean logarithm of the probabilities of the statement's tokens; the first special
    token counts with the first statement, the last with the last that was read.
    Statements of a case are joined by a space. Null for a blank statement or without
    passages; failed if it is past the model's limit, or a number is not finite. Yuan et
    al. 2021, section 3.1 (source > text). Raises BadInput as `loading.load`.
    """

    def scores(cases: Sequence[record.Case]) -> list[list[record.Scored]]:
        pairs = [(" ".join(case.passages), " ".join(case.statements)) for case in cases]
        results = likelihoods(pairs, checkpoint, options)
        return [
            list(_statements(c.statements, r))
            for c, r in zip(cases, results, strict=True)
        ]

    return {"bartscore_source": reading.score_texts(cases, scores, record.Scored(None))}


def _statements(
    statements: Sequence[str], read: Likelihoods
) -> Iterator[record.Scored]:
    starts = list(accumulate((len(text) + 1 for text in statements), initial=0))[:-1]
    tokens: list[list[float]] = [[] for _ in statements]
    last = 0
    for begin, value in zip(read.begins, read.values or (), strict=False):
        last = bisect_right(starts, begin) - 1
        tokens[last].append(value)
    for place, its in enumerate(tokens):
        yield record.Scored(mean(its), not its, read.unread, read.cut and place >= last)


SOURCE = record.FaithfulnessMetric(
    options=reading.ReadingOptions,
    score=score,
    recipe=reading.states("max_tokens"),
    descriptions=(
        reading.described(
            "bartscore_source",
            "mean logarithm of the probabilities that an encoder-decoder gives the tokens of the"
            " statement, having read its passages; what is past the model's limit is not read",
            range=(None, 0),
            source="Yuan et al. 2021, section 3.1, source > text; neulab/BARTScore",
        ),
    ),
    by_text=True,
)
