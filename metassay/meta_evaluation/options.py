"""Options of params.yaml > meta_evaluation and > certification."""

from typing import Literal

from pydantic import Field

from metassay.core.options import Confidence, Draws, Options, Seed, Share
from metassay.statistics.limits import LARGEST
from metassay.tables.names import base_metric

# Names that pages need without loading the statistics. Confounds of statements alone
# come last.
MEASURED = ("coverage", "density", "words", "aligned_passages", "unread")
SYSTEM = "system"  # the confound that is no metric: who wrote the text
ANY_SHAPE = "partial_of_any_shape"  # the statistic of `confounds` that verdicts rest on
# the coefficient that names raters who agree less
BELOW_OTHERS = "spearman_below_others"
VANISHES = 0.5  # share of a correlation; if a confound takes more, the rest is tested


class MetaOptions(Options):
    """How metrics are tested against people.

    `compared`: the metrics, by name (then of any judge and alignment) or by label
    (`claim_recall (lexical)`), that are tested against each other, combined into
    ensembles and searched for disagreements; names that a benchmark does not have are
    ignored. `permutations`: how many permutations and resamples those tests draw, and
    how many orders the exact tests of the certificates try; with too few, no adjusted p
    can be small. `resample`: what tests of metric against metric exchange. `confounds`:
    further metrics that can explain a correlation. `digits`: significant digits of
    scores and ratings; with 17 they count as written, with 12 values that differ by
    rounding alone are ties. `threshold`: the probability of passing from which a
    judge's card counts a text as passed. `label_width`: the width of the interval for
    which the card gives the number of labels needed. `primary`, `primary_criterion`:
    the one metric, and the one criterion, that were named before anybody saw results;
    they are not adjusted for the others. `tried`: each metric is the best of so many
    that were tried on these ratings elsewhere. `fitted`: metrics that were fitted on
    these ratings, by name or label; they get no verdict.
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
    primary_criterion: str | None = None
    tried: int = Field(default=1, ge=1)
    fitted: list[str] = Field(default_factory=list)
    largest_ensemble: int = Field(default=LARGEST, ge=1, le=LARGEST)
    digits: int = Field(default=17, ge=1, le=17)
    folds: int = Field(default=5, ge=2)
    threshold: Share = 0.5
    label_width: Share = 0.1
    annotate: int = Field(default=20, ge=0)
    draw: Literal["largest", "uniform"] = "largest"

    def is_primary(self, metric: str, label: str) -> bool:
        """Whether a metric was chosen before seeing the data; `label` has its judge too."""
        return self.primary is not None and self.primary in (metric, label)

    def is_fitted(self, metric: str, label: str) -> bool:
        """Whether a metric was fitted on the ratings; `label` has its judge too."""
        return bool({metric, label, base_metric(metric)} & set(self.fitted))

    def compares(self, metric: str, label: str) -> bool:
        """Whether a metric is to be compared with others; `label` has its judge too."""
        return bool({metric, label, base_metric(metric)} & set(self.compared))

    def rank(self, metric: str, label: str) -> tuple[int, str]:
        """A metric's place in `compared`, which is its priority for ensembles."""
        names = (label, metric, base_metric(metric))
        return min(
            self.compared.index(name) for name in names if name in self.compared
        ), label


class CertificationOptions(Options):
    """How verdicts follow from the numbers; these options change no number.

    `useful`: the smallest useful correlation. `margin`: how far below a rater a metric
    can lie and still be as good.
    """

    useful: float = Field(default=0.3, ge=0.01, le=0.99)
    margin: float = Field(default=0.05, ge=0, le=0.99)
