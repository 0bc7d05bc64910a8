"""The weights of a rubric's criteria, fitted to people's overall scores."""

from metassay.tables.columns import CRITERION, PART, STUDY, UPPER
from metassay.tables.parquet import Table, choice, integer, real, text

FACET_WEIGHTS = Table(
    "facet_weights",
    "the weights of a rubric's criteria, fitted to overall scores that people gave beside their"
    " grades of the same criteria",
    ("study", "part", "rubric", "method", "criterion"),
    {
        "study": STUDY,
        "part": PART,
        "rubric": text("the rubric whose criteria people graded"),
        "method": choice(
            "complete",
            "complete_non_negative",
            "renormalised",
            "renormalised_non_negative",
            meaning="complete: least squares on the texts that have every grade. renormalised:"
            " least squares on all texts, the overall score being the mean of the grades that there"
            " are by the weights of these, which add up to 1. non_negative: no weight below 0",
        ),
        "criterion": CRITERION,
        "weight": real(
            "the weight, for grades and overall scores as shares of the ends of their scales; null"
            " if it cannot be told",
            null=True,
        ),
        "low": real(
            "lower end of the interval, from a bootstrap over documents; null with one document",
            null=True,
        ),
        "high": UPPER,
        "given": real("the rubric's own weight, as a share of the sum of all"),
        "mse": real(
            "mean squared error of the fitted weights on the texts used; null where these are no"
            " more than the weights, so that any scores fit",
            null=True,
        ),
        "mse_given": real("the same of the rubric's own weights", null=True),
        "n": integer("texts used"),
        "n_missing": integer("rated texts left out: no overall score, or grades missing"),
        "n_documents": integer("documents of the texts used"),
        "n_resamples": integer("resamples in which the weights could be told"),
    },
)
