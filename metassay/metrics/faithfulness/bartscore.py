"""BARTScore of a statement: its likelihood for an encoder-decoder that read its passages."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from metassay.metrics.bartscore import mean
from metassay.metrics.faithfulness import reading, record
from metassay.models.likelihood import Likelihoods, likelihoods
from metassay.models.loading import NetworkOptions

NAME = "bartscore_source"


def score(
    cases: Sequence[record.Case], options: reading.ReadingOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """Return BARTScore of each statement given its passages: at most 0, higher is more faithful.

    The mean logarithm of the probabilities of the statement's tokens; the first special token
    counts with the first statement, the last with the last that was read. Statements of a case are
    joined by a space. Null for a blank statement or without passages; failed if it is past the
    model's limit, or a number is not finite. Yuan et al. 2021, section 3.1 (source > text). Raises
    BadInput as `loading.load`.
    """

    def scores(cases: Sequence[record.Case]) -> list[list[record.Scored]]:
        pairs = [(" ".join(case.passages), " ".join(case.statements)) for case in cases]
        results = likelihoods(pairs, checkpoint, options)
        return [list(_statements(c.statements, r)) for c, r in zip(cases, results, strict=True)]

    return {NAME: reading.by_text(cases, scores, record.Scored(None))}


def _statements(statements: Sequence[str], read: Likelihoods) -> Iterator[record.Scored]:
    starts = list(accumulate((len(text) + 1 for text in statements), initial=0))[:-1]
    tokens: list[list[float]] = [[] for _ in statements]
    last = 0
    for begin, value in zip(read.begins, read.values or (), strict=False):
        last = bisect_right(starts, begin) - 1
        tokens[last].append(value)
    for place, its in enumerate(tokens):
        yield record.Scored(mean(its), not its, read.unread, read.cut and place >= last)


KIND = record.FaithfulnessMetric(
    options=reading.ReadingOptions,
    score=score,
    recipe=reading.states("max_tokens"),
    descriptions=(
        reading.described(
            NAME,
            "mean logarithm of the probabilities that an encoder-decoder gives the tokens of the"
            " statement, having read its passages; what is past the model's limit is not read",
            range=(None, 0),
            source="Yuan et al. 2021, section 3.1, source > text; neulab/BARTScore",
        ),
    ),
    by_text=True,
)
