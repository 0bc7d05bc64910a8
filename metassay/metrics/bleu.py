"""BLEU by sacreBLEU: sentence BLEU per text, true corpus BLEU from the pooled statistics."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from metassay.core.options import Options
from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured, Metric

VERSION = 1  # raised by whoever changes results of this module's kinds


class BleuOptions(Options):
    """sacreBLEU's settings of these names; only tokenizers without download."""

    tokenize: Literal["13a", "intl", "char", "zh", "none"]
    lowercase: bool


def corpus(statistics: Sequence[Sequence[float]]) -> float:
    """Return corpus BLEU (0 to 100) of texts' statistics; equals sacreBLEU's `corpus_bleu`."""
    from sacrebleu.metrics.bleu import BLEU

    sums = [int(total) for total in np.sum(np.asarray(statistics, dtype=float), axis=0)]
    score = BLEU.compute_bleu(
        sums[2:6], sums[6:10], sums[0], sums[1], smooth_method="exp"
    )
    return _limit(score.score)


_DESCRIPTIONS = (
    Description(
        "bleu",
        "word sequences of one to four words that the reference has too, times a penalty for being"
        " shorter than it; a text's value is sentence BLEU (effective order), the pooled value"
        " corpus BLEU",
        "higher",
        (0, 100),
        "null if neither text has tokens; 0 if one has none",
        "Papineni et al. 2002, section 2.3; sacreBLEU (Post 2018)",
        OVERLAP,
        pool=corpus,
    ),
)


def recipe(options: BleuOptions) -> str:
    """Return sacreBLEU's signature of the values per text."""
    scorer = _scorer(options)
    # sacreBLEU knows the number of references only afterwards
    scorer.sentence_score("a", ["a"])
    return f"sacrebleu:({scorer.get_signature()})"


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: BleuOptions
) -> dict[str, list[Measured]]:
    """Return BLEU of each candidate against the reference at the same index of `evidence`.

    0 to 100, higher is better; null if neither text has tokens. Statistics: tokens of
    the text, tokens of the reference, matches of order 1 to 4, n-grams of order 1 to 4.
    """
    scorer = _scorer(options)
    measured = []
    for candidate, reference in zip(candidates, evidence, strict=True):
        score = scorer.sentence_score(candidate, [reference])
        counts = (score.sys_len, score.ref_len, *score.counts, *score.totals)
        if score.sys_len or score.ref_len:
            value = _limit(score.score)
            measured.append(Measured(value, tuple(map(float, counts))))
        else:
            measured.append(UNDEFINED)
    return {"bleu": measured}


def _limit(value: float) -> float:
    # sacreBLEU takes the mean of logarithms: of equal texts it is 100.00000000000004.
    return min(float(value), 100.0)


def _scorer(options: BleuOptions) -> Any:
    # Imported here: sacreBLEU is in the extra `pipeline`, the descriptions are not.
    from sacrebleu.metrics.bleu import BLEU

    # force: without it, sacreBLEU warns about texts that end in " .".
    return BLEU(
        tokenize=options.tokenize,
        lowercase=options.lowercase,
        effective_order=True,
        force=True,
    )


KIND = Metric(
    options=BleuOptions,
    measure=measure,
    recipe=recipe,
    descriptions=_DESCRIPTIONS,
)
