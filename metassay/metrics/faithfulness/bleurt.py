"""BLEURT of a statement with its passages as the reference (Sellam et al. 2020): mostly 0 to 1."""

from metassay.metrics.faithfulness.regressor import regressor

KIND = regressor(
    "bleurt_source",
    "the number of a regressor that was trained on people's ratings, of the statement with its"
    " passages as the reference",
    "Sellam et al. 2020, section 4",
)
