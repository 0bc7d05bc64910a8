"""BLEURT by a regressor that was tuned on the quality of clinical texts, such as ours.

The measure is that of `bleurt`, under another name, so that a benchmark can have both. Ben Abacha
et al. 2023 tune a checkpoint of BLEURT; metassay.tuning trains any encoder so (`tune: quality`).
More is better, on the scale of the ratings that were learnt. Null if both texts are empty, or if
the number is not finite.
"""

from metassay.metrics.bleurt import regressor

KIND = regressor(
    "clinical_bleurt",
    "tuned on people's ratings of the quality of clinical texts",
    "Ben Abacha et al. 2023, ClinicalBLEURT",
)
