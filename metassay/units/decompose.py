"""Parts to units: statements, and the claims they make."""

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.llm.needs import Resources
from metassay.units.record import Decomposed


def take_apart(
    parts: pd.DataFrame, sources: pd.DataFrame, decomposition: Chosen, resources: Resources
) -> Decomposed:
    """Take the leaf parts apart: PARTS and SOURCES to UNITS.

    Statements are always cut by rule: only claims differ. Raises BadInput if a part's doc_id is not
    in sources, and as the kinds do.
    """
    apart: Decomposed = decomposition.record.take_apart(
        parts, sources, decomposition.options, resources
    )
    return apart
