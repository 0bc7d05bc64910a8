"""What params.yaml > meta_evaluation may say."""

from typing import Literal

from pydantic import Field

from metassay.params import Options
from metassay.statistics.ensembles import LARGEST


class MetaOptions(Options):
    """How metrics are tested against people.

    `compared`: the metrics, of any judge, that are tested against each other, combined into
    ensembles and searched for disagreements; those that a benchmark does not have are passed over.
    `permutations`: how many permutations and resamples those tests draw; with too few of them no
    p can stay small when it is corrected for the number of pairs.
    """

    resamples: int = Field(ge=1)
    permutations: int = Field(default=5000, ge=1)
    confidence: float = Field(gt=0, lt=1)
    seed: int = Field(ge=0)
    resample: Literal["documents", "systems", "both"] = "documents"
    interval: Literal["percentile", "bca"] = "percentile"  # of correlations, by bootstrap
    coefficient: Literal["pearson", "spearman", "kendall", "kendall_c"] = "pearson"
    compared: list[str] = Field(default_factory=list)
    largest_ensemble: int = Field(default=LARGEST, ge=1, le=LARGEST)
    folds: int = Field(default=5, ge=2)
    annotate: int = Field(default=20, ge=0)
    draw: Literal["largest", "uniform"] = "largest"
