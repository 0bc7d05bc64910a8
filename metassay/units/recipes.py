"""How recipes print a segmentation, a decomposition or an alignment."""

from metassay.core.kinds import Chosen
from metassay.core.options import printed
from metassay.llm.endpoints import Models, find_model
from metassay.llm.prompts import Decoding


def recipe_of(chosen: Chosen, models: Models) -> str:
    """One of these as recipes print it; if a language model makes it, with how it is asked.

    Raises BadInput if its model is not in `models`, or what it reads (a prompt, a trained file) is
    not usable.
    """
    record, options = chosen.record, chosen.options
    if record.recipe is None:
        return printed({"kind": chosen.kind} | options.model_dump(exclude_unset=True))
    use = record.model(options)
    asked = Decoding.of(find_model(models, use.model), use.max_tokens) if use is not None else None
    recipe: str = record.recipe(options, asked)
    return recipe
