"""CTC's relevance: whether a text covers the reference and the source supports it."""

from collections.abc import Sequence

from metassay.metrics.describe import OVERLAP, Description, Measured, Metric
from metassay.metrics.faithfulness import ctc_consistency
from metassay.metrics.faithfulness.ctc_consistency import CtcReading
from metassay.metrics.faithfulness.record import Case, Scored
from metassay.models.loading import NetworkOptions
from metassay.models.rows import recipe_of

NAME = "ctc_relevance"


class CtcRelevanceOptions(NetworkOptions, CtcReading):
    """A classifier of tokens, as `ctc_consistency` reads it."""


def measure(
    candidates: Sequence[str], evidence: Sequence[tuple[str, str]], options: CtcRelevanceOptions
) -> dict[str, list[Measured]]:
    """Return the relevance of each candidate, given source and reference at the same index.

    The consistency of the text with the source times that of the reference with the text, each the
    mean probability of words not to be fake: 0 to 1, higher is better. With consistencies .8 and .5
    it is .4. Null if any of the three texts is empty, or a consistency is unknown. `cut`: an end of
    a text was not read. There are no statistics: a corpus value is a mean. Deng et al. 2021,
    section 4.1. Raises BadInput as `ctc_consistency.score`.
    """
    sides = [
        [Case((source,), (text,)) for text, (source, _) in zip(candidates, evidence, strict=True)],
        [Case((text,), (right,)) for text, (_, right) in zip(candidates, evidence, strict=True)],
    ]
    scored = ctc_consistency.score([*sides[0], *sides[1]], options, options)[ctc_consistency.NAME]
    flat = [score for (score,) in scored]
    pairs = zip(flat[: len(candidates)], flat[len(candidates) :], strict=True)
    return {NAME: [_product(*pair) for pair in pairs]}


def _product(supported: Scored, repeated: Scored) -> Measured:
    cut = any(side.cut or side.unread > 0 for side in (supported, repeated))
    if supported.value is None or repeated.value is None:
        return Measured(None, None, cut)
    return Measured(supported.value * repeated.value, None, cut)


KIND = Metric(
    options=CtcRelevanceOptions,
    measure=measure,
    recipe=lambda options: recipe_of(options, options, "pieces", "stop_words", "max_tokens"),
    against="source and reference",
    descriptions=(
        Description(
            NAME,
            "consistency of the text with the source, times that of the reference with the text:"
            " each the mean probability of words not to be fake",
            better="higher",
            range=(0, 1),
            missing="null if text, source or reference is empty, or a consistency is not known",
            source="Deng et al. 2021, section 4.1; tanyuqian/ctc-gen-eval",
            family=OVERLAP,
            headline=True,
        ),
    ),
    costly=True,
)
