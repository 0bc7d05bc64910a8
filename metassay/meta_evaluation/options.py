"""What params.yaml > meta_evaluation may say."""

from typing import Literal

from pydantic import Field

from metassay.params import Options
from metassay.statistics.ensembles import LARGEST


class MetaOptions(Options):
    """How metrics are tested against people.

    `compared`: the metrics, of any judge, that are tested against each other, combined into
    ensembles and searched for disagreements; those that a benchmark does not have are passed over.
    `permutations`: how many permutations and resamples those tests draw, and how many orders the
    exact tests of the certificates try; with too few of them no p can stay small when it is
    adjusted for all the others. `resample`: what those tests of metric against metric exchange.
    `useful`: the smallest correlation that is of use. `margin`: how far below a rater a metric may
    lie and still be as good. `confounds`: further metrics that may be behind a correlation.
    `threshold`: the probability of passing from which a judge's card counts a text as passed.
    `label_width`: the width of an interval for which the card says how many labels it takes.
    """

    resamples: int = Field(ge=1)
    permutations: int = Field(default=5000, ge=1)
    confidence: float = Field(gt=0, lt=1)
    seed: int = Field(ge=0)
    resample: Literal["documents", "systems", "both"] = "documents"
    coefficient: Literal["pearson", "spearman", "kendall", "kendall_c"] = "pearson"
    useful: float = Field(default=0.3, gt=0, lt=1)
    margin: float = Field(default=0.05, ge=0, lt=1)
    confounds: list[str] = Field(default_factory=list)
    compared: list[str] = Field(default_factory=list)
    largest_ensemble: int = Field(default=LARGEST, ge=1, le=LARGEST)
    folds: int = Field(default=5, ge=2)
    threshold: float = Field(default=0.5, gt=0, lt=1)
    label_width: float = Field(default=0.1, gt=0, lt=1)
    annotate: int = Field(default=20, ge=0)
    draw: Literal["largest", "uniform"] = "largest"
