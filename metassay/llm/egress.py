"""Whose text may go where: it is decided before the first request."""

from collections.abc import Iterable
from dataclasses import dataclass

from metassay.errors import BadInput
from metassay.llm.endpoints import EndpointOptions

PUBLIC = "public"


@dataclass(frozen=True)
class Cleared:
    """An endpoint that one dataset's text may go to. Made by `check` and by nothing else."""

    name: str
    options: EndpointOptions
    dataset: str


def datasets_of(examples: Iterable[str]) -> list[str]:
    """The datasets that few-shot examples come from: their text is sent too, so they must be
    cleared too. An example's name is `dataset/split/id`.
    """
    return sorted({name.split("/", 1)[0] for name in examples})


def check(access: str, dataset: str, name: str, endpoint: EndpointOptions) -> Cleared:
    """Clear an endpoint for a dataset, or say which key of params.yaml would allow it.

    `access` is the dataset's class in data/registry.yaml. An endpoint on this machine is no
    exception: what it passes on is not ours to know. Raises BadInput if the class is not public
    and the endpoint does not name it under `sends`.
    """
    if access != PUBLIC and access not in endpoint.sends:
        raise BadInput(
            f"dataset {dataset!r} is {access}: its text does not go to endpoint {name!r}"
            f" ({endpoint.base_url}). If it may, add {access!r} to params.yaml > endpoints >"
            f" {name} > sends; else choose a model at another endpoint"
        )
    return Cleared(name, endpoint, dataset)
