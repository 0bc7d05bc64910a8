"""Whether what was drawn is as near its expectation as draws are."""

import numpy as np
import pandas as pd

SURE = 3.29  # standard errors: one of a thousand numbers lies further away


def near(total: float, chances: pd.Series) -> None:
    """Whether a sum of draws is as near its expectation as 99.9 % are."""
    error = np.sqrt((chances * (1 - chances)).sum())
    assert abs(total - chances.sum()) <= SURE * error + 0.5
