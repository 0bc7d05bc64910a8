"""The project that `metassay init DIR` makes without data: the invented sample.

It has a metric and a judge of its own, in `mylab/`; its benchmark measures that metric.
"""

import re

from metassay.core.options import PARAMS
from metassay.project import kit
from metassay.project.make import Content

# What is said of the example's own kinds, each after the line of another one.
_KINDS = {
    "  numbers: {kind: numbers}\n": (
        '  negations: {kind: "mylab.metrics:NEGATIONS", words: ["no", not, never, without]}\n'
    ),
    "  lexical: {kind: lexical, threshold: 0.6, window: 60}\n": (
        '  verbatim: {kind: "mylab.judges:VERBATIM"}\n'
    ),
}
_ENTRY = re.compile(r"^  sample:\n(?:    .*\n)+", re.MULTILINE)


def example(name: str) -> Content:
    """A benchmark of this name on the invented sample."""
    return Content(
        name=name,
        params=_params(),
        benchmark=_benchmark(name),
        registry=registry(example_entry()),
        data={**kit.example_data(), **kit.example_kinds()},
        about_data="The example's are invented, in `data/sample/`.",
    )


def _params() -> str:
    text = kit.file(str(PARAMS)).decode("utf-8")
    for line, more in _KINDS.items():
        assert text.count(line) == 1, line
        text = text.replace(line, line + more)
    return text


def _benchmark(name: str) -> str:
    text, n = re.subn(r"(?m)^(metrics: \[.*)\]$", r"\1, negations]", kit.example_params())
    assert n == 1
    return re.sub(r"(?m)^name: .*$", f"name: {name}", text)


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
