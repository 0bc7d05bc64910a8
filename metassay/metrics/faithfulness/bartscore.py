"""BARTScore of a statement: how likely an encoder-decoder finds it, having read its passages."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import fsum
from pathlib import Path

from pydantic import Field

from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.options import CheckpointOptions
from metassay.metrics.faithfulness.reading import by_text
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models.likelihood import Likelihoods, likelihoods
from metassay.models.loading import NetworkOptions
from metassay.models.rows import recipe_of
from metassay.models.store import STORE

NAME = "bartscore_source"


class BartscoreOptions(CheckpointOptions):
    """Encoder-decoders that read the passages, joined by a blank, and weigh the statement.

    `max_tokens`: how much is read of either side; null for the model's own limit. `batch_tokens`:
    how many tokens are read at once, padding included (about 512 suits a processor, 8192 a GPU); it
    is for speed, and changes last digits at most.
    """

    max_tokens: int | None = Field(default=None, ge=3)
    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[Case],
    options: BartscoreOptions,
    checkpoint: NetworkOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[list[Scored]]]:
    """BARTScore of each statement given its passages: at most 0, higher is more faithful.

    The mean logarithm of the probabilities of the statement's tokens; the mark before a text counts
    with its first statement, the one behind it with the last that was read. Statements of a case
    are one text, joined by a blank, of which each has its own tokens. Null for a blank statement
    and where there is no passage; failed if it is past the model's limit, or a number is not
    finite. Yuan et al. 2021, section 3.1 (source > text). Raises BadInput as `loading.load`.
    """

    def scores(cases: Sequence[Case]) -> list[list[Scored]]:
        asked = [(" ".join(case.passages), " ".join(case.statements)) for case in cases]
        most, batch = options.max_tokens, options.batch_tokens
        found = likelihoods(asked, checkpoint, max_tokens=most, batch_tokens=batch, store=store)
        return [
            list(_statements(case.statements, its)) for case, its in zip(cases, found, strict=True)
        ]

    return {NAME: by_text(cases, scores, Scored(None))}


def mean(values: Sequence[float]) -> float:
    """The mean, in whatever order they are added up."""
    return fsum(values) / len(values)


def _statements(statements: Sequence[str], found: Likelihoods) -> Iterator[Scored]:
    starts = list(accumulate((len(text) + 1 for text in statements), initial=0))[:-1]
    tokens: list[list[float]] = [[] for _ in statements]
    last = 0
    for begin, value in zip(found.begins, found.values or (), strict=False):
        last = bisect_right(starts, begin) - 1
        tokens[last].append(value)
    for place, its in enumerate(tokens):
        cut = found.cut and place >= last
        yield Scored(mean(its) if its else None, not its, found.unread, cut)


KIND = FaithfulnessMetric(
    options=BartscoreOptions,
    score=score,
    recipe=lambda options, checkpoint: recipe_of(
        checkpoint, direction="source>text", max_tokens=options.max_tokens or "the model's"
    ),
    descriptions=(
        Description(
            NAME,
            "mean logarithm of the probabilities that an encoder-decoder gives the tokens of the"
            " statement, having read its passages; what is past the model's limit is not read",
            better="higher",
            range=(None, 0),
            missing="null for a blank statement, and where no passage is aligned with it",
            source="Yuan et al. 2021, section 3.1, source > text; neulab/BARTScore",
            family=JUDGED,
            headline=True,
        ),
    ),
    by_text=True,
)
