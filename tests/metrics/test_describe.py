"""Every metric is described, under its own name, and docs/metrics.md says so."""

from pathlib import Path

import pytest

from metassay.metrics import DESCRIPTIONS, METRICS, released, verdicts
from metassay.metrics.describe import Description, page
from metassay.params import load, options_of

ROOT = Path(__file__).parents[2]


def test_the_page_in_docs_is_fresh() -> None:
    written = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert written == page(DESCRIPTIONS), (
        "stale: python -m metassay.metrics.describe docs/metrics.md"
    )


def test_every_metric_has_one_description_under_its_name() -> None:
    families = [
        verdicts.DESCRIPTIONS,
        released.DESCRIPTIONS,
        *(metric.descriptions for metric in METRICS.values()),
    ]
    assert sum(map(len, families)) == len(DESCRIPTIONS)
    assert all(description.name == name for name, description in DESCRIPTIONS.items())
    for description in DESCRIPTIONS.values():
        assert description.meaning
        assert description.missing
        assert description.source


@pytest.mark.parametrize("kind", sorted(METRICS))
def test_families_give_what_they_describe(kind: str) -> None:
    metric = METRICS[kind]
    options = _options(kind)
    measured = metric.measure(["a b", ""], ["a", "b"], options)
    assert list(measured) == list(metric.descriptions)
    assert all(len(values) == 2 for values in measured.values())
    assert metric.recipe(options)


def _options(kind: str) -> object:
    """As params.yaml has them: its keys are those of the options class."""
    blocks = load(ROOT / "params.yaml").metrics
    kinds = {name: metric.options for name, metric in METRICS.items()}
    block = next(block for block in blocks.values() if block["kind"] == kind)
    return options_of(block, kinds, where="params.yaml > metrics")


def test_a_row_of_the_page() -> None:
    description = Description("x", "a | b", "lower", (0, None), "never", "nobody")
    assert page({"x": description}).splitlines()[-1] == (
        "| `x` | a \\| b | lower | from 0 | never | nobody |"
    )
