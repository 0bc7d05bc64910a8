"""Where a project keeps its ledger, on whose account it spends, and what its stages ask through."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from metassay.errors import BadInput
from metassay.llm.endpoints import ModelOptions, Models
from metassay.llm.messages import Ask
from metassay.llm.prompts import Decoding

LEDGER = Path(".work/ledger.sqlite")  # no out of DVC, which would delete it
ACCOUNT = "project"  # one cap, `max_cost`, over everything that a project ever asks


class Desk(Protocol):
    """What a stage needs to ask models of params.yaml > models and to show them examples."""

    raw: Path  # a folder per dataset of raw files

    def model(
        self, name: str, max_tokens: int | None, datasets: Sequence[str] = ()
    ) -> tuple[Ask, Decoding]:
        """A model by name, to be sent text of the benchmark and of these further datasets.

        Raises BadInput if there is no such model, or the text may not go to its endpoint.
        """
        ...


def find_model(models: Models, name: str) -> ModelOptions:
    """The model of that name; BadInput names the known ones."""
    if name not in models.models:
        known = ", ".join(sorted(models.models)) or "none"
        raise BadInput(f"model {name!r} is not in params.yaml > models; known: {known}")
    return models.models[name]
