"""The project that `metassay init DIR` makes without data: the invented sample."""

import re

from metassay.options import PARAMS
from metassay.project import kit
from metassay.project.make import Content

_ENTRY = re.compile(r"^  sample:\n(?:    .*\n)+", re.MULTILINE)


def example(name: str) -> Content:
    """A benchmark of this name on the invented sample."""
    return Content(
        name=name,
        params=kit.file(str(PARAMS)).decode("utf-8"),
        benchmark=re.sub(r"(?m)^name: .*$", f"name: {name}", kit.example_params()),
        registry=registry(example_entry()),
        data=kit.example_data(),
        about_data="The example's are invented, in `data/sample/`.",
    )


def example_entry() -> str:
    """The sample's entry in the registry."""
    found = _ENTRY.search(kit.file("data/registry.yaml").decode("utf-8"))
    assert found is not None
    return found[0]


def registry(entry: str) -> str:
    """A registry with one entry, below what ours says at its head of registries."""
    head = kit.file("data/registry.yaml").decode("utf-8").partition("\nfetched:")[0]
    fetched = "fetched: [] # those that have files below: a stage of dvc.yaml each"
    return f"{head}\n{fetched}\ndatasets:\n{entry}"
