"""Claims by rule: the clauses of each statement, by the rules of clause_rules.py."""

import pandas as pd

from metassay.needs import Resources
from metassay.options import Options
from metassay.units.clause_rules import clauses
from metassay.units.leaves import units_of
from metassay.units.record import Decomposed, Decomposition


class ClauseOptions(Options):
    """There is nothing to set: it is one set of rules."""


def _take_apart(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: ClauseOptions,  # noqa: ARG001
    resources: Resources,  # noqa: ARG001
) -> Decomposed:
    return Decomposed(units_of(parts, sources, clauses))


KIND = Decomposition(options=ClauseOptions, take_apart=_take_apart)
