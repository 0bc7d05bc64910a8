"""Parts to units: statements, and the claims they make."""

import pandas as pd

from metassay.kinds import Chosen
from metassay.llm.endpoints import Models, find_model
from metassay.llm.prompts import Decoding
from metassay.needs import Resources
from metassay.options import printed
from metassay.units.record import Decomposed


def take_apart(
    parts: pd.DataFrame, sources: pd.DataFrame, decomposition: Chosen, resources: Resources
) -> Decomposed:
    """Take the leaf parts apart: tables.PARTS and tables.SOURCES to tables.UNITS.

    Statements are always cut by rule: only claims differ. Raises BadInput if a part's doc_id is not
    in sources, and as the kinds do.
    """
    apart: Decomposed = decomposition.record.take_apart(
        parts, sources, decomposition.options, resources
    )
    return apart


def recipe_of(decomposition: Chosen, models: Models) -> str:
    """A decomposition as recipes print it; by a model, with how it is asked.

    Raises BadInput if its model is not in `models`, or its prompt is not usable.
    """
    record, options = decomposition.record, decomposition.options
    use = record.model(options)
    if use is None or record.recipe is None:
        return printed({"kind": decomposition.kind} | options.model_dump(exclude_unset=True))
    model = find_model(models, use.model)
    recipe: str = record.recipe(options, Decoding.of(model, use.max_tokens))
    return recipe
