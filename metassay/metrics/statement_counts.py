"""Descriptions of judges' probabilities and confounds of single statements."""

from functools import partial

from metassay.metrics.describe import COPYING, JUDGED, Description

_confound = partial(
    Description, better="neither", range=(0, None), family=COPYING, source="a count"
)
DESCRIPTIONS = (
    Description(
        "support_probability",
        "a judge's probability that the aligned passages entail a statement",
        better="higher",
        range=(0, 1),
        missing="null where the judge gives none, and where nothing is aligned",
        source="Adams et al. 2023, section 6.2: entailment by aligned sentences",
        family=JUDGED,
    ),
    _confound(
        "aligned_passages",
        "passages of the source that a statement is read against",
        missing="0 where nothing is aligned",
    ),
    _confound(
        "unread",
        "share of the tokens of the aligned passages that a model did not read, of a statement",
        missing="0 where all were read",
    ),
)
