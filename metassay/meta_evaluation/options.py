"""What params.yaml > meta_evaluation and > certification may say."""

from typing import Literal

from pydantic import Field

from metassay.core.options import Confidence, Draws, Options, Seed, Share
from metassay.statistics.limits import LARGEST
from metassay.tables.names import base_metric

# Confounds, also for pages, which would otherwise load the statistics for these words.
# Those of statements alone come last.
MEASURED = ("coverage", "density", "words", "aligned_passages", "unread")
SYSTEM = "system"  # the confound that is no metric: who wrote the text
ANY_SHAPE = "partial_of_any_shape"  # the statistic of `confounds` that verdicts rest on
BELOW_OTHERS = "spearman_below_others"  # the coefficient that names raters who agree less
VANISHES = 0.5  # what is left is tested where so much of a correlation goes with a confound


class MetaOptions(Options):
    """How metrics are tested against people.

    `compared`: the metrics, by name (then of any judge and alignment) or by label (`claim_recall
    (lexical)`), that are tested against each other, combined into ensembles and searched for
    disagreements; those that a benchmark does not have are passed over.
    `permutations`: how many permutations and resamples those tests draw, and how many orders the
    exact tests of the certificates try; with too few of them no p can stay small when it is
    adjusted for all the others. `resample`: what those tests of metric against metric exchange.
    `confounds`: further metrics that may be behind a correlation.
    `digits`: the significant digits that scores and ratings have; with 17 they count as written,
    with 12 those are ties that differ only by how a computer rounds.
    `threshold`: the probability of passing from which a judge's card counts a text as passed.
    `label_width`: the width of an interval for which the card says how many labels it takes.
    """

    resamples: Draws
    permutations: Draws = 5000
    confidence: Confidence
    seed: Seed
    resample: Literal["documents", "systems", "both"] = "documents"
    coefficient: Literal["pearson", "spearman", "kendall", "kendall_c"] = "pearson"
    confounds: list[str] = Field(default_factory=list)
    compared: list[str] = Field(default_factory=list)
    primary: str | None = None
    largest_ensemble: int = Field(default=LARGEST, ge=1, le=LARGEST)
    digits: int = Field(default=17, ge=1, le=17)
    folds: int = Field(default=5, ge=2)
    threshold: Share = 0.5
    label_width: Share = 0.1
    annotate: int = Field(default=20, ge=0)
    draw: Literal["largest", "uniform"] = "largest"

    def is_primary(self, metric: str, label: str) -> bool:
        """Whether it was named before anybody looked; `label` has its judge too."""
        return self.primary is not None and self.primary in (metric, label)

    def compares(self, metric: str, label: str) -> bool:
        """Whether a metric is to be compared with others; `label` has its judge too."""
        return bool({metric, label, base_metric(metric)} & set(self.compared))

    def rank(self, metric: str, label: str) -> tuple[int, str]:
        """Its place in `compared`: what comes first there goes first into ensembles."""
        names = (label, metric, base_metric(metric))
        return min(self.compared.index(name) for name in names if name in self.compared), label


class CertificationOptions(Options):
    """What makes a verdict of the numbers; another choice here changes no number.

    `useful`: the smallest correlation that is of use. `margin`: how far below a rater a metric may
    lie and still be as good.
    """

    useful: float = Field(default=0.3, ge=0.01, le=0.99)
    margin: float = Field(default=0.05, ge=0, le=0.99)
