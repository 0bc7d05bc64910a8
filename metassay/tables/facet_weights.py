"""The weights of a rubric's criteria, fitted to people's overall scores."""

from metassay.tables.columns import table

FACET_WEIGHTS = table(
    "facet_weights",
    "the weights of a rubric's criteria, fitted to overall scores that people gave beside their"
    " grades of the same criteria",
    "study part rubric method criterion",
    """
    study part
    rubric text: the rubric whose criteria people graded
    method complete|complete_non_negative|renormalised|renormalised_non_negative: complete: least
      squares on the texts that have every grade. renormalised: least squares on all texts, the
      overall score being the mean of the grades that there are by the weights of these, which add
      up to 1. non_negative: no weight below 0
    criterion
    weight real?: the weight, for grades and overall scores as shares of the ends of their scales;
      null if it cannot be told
    low real?: lower end of the interval, from a bootstrap over documents; null with one document
    high
    given real: the rubric's own weight, as a share of the sum of all
    mse real?: mean squared error of the fitted weights on the texts used; null where these are no
      more than the weights, so that any scores fit
    mse_given real?: the same of the rubric's own weights
    n integer: texts used
    n_missing integer: rated texts left out: no overall score, or grades missing
    n_documents integer: documents of the texts used
    n_resamples integer: resamples in which the weights could be told
    """,
)
