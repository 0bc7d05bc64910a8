"""Every metric is described, under its own name, and docs/metrics.md says so."""

from pathlib import Path

import pytest

from metassay.core.kinds import choose
from metassay.core.params import load
from metassay.metrics import METRICS
from metassay.metrics.describe import Description, add_list, list_metrics
from metassay.scoring.catalogue import descriptions

ROOT = Path(__file__).parents[2]
CHEAP = {block["kind"]: block for block in load(ROOT).metrics.values()}


def test_the_page_in_docs_is_fresh() -> None:
    written = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert written == add_list(written, descriptions()), "stale: make docs"
    description = Description(
        "x", "a | b", "lower", (0, None), "never", "nobody", "others"
    )
    row = "| `x` | a \\| b | lower | from 0 | never | nobody |"
    assert row in list_metrics({"x": description}).splitlines()


def test_every_metric_has_one_description_under_its_name() -> None:
    for name, description in descriptions().items():
        assert description.name == name
        assert all((description.meaning, description.missing, description.source))


@pytest.mark.parametrize("kind", sorted(CHEAP))
def test_families_give_what_they_describe(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    _, metric, options = choose(METRICS, CHEAP[kind], where="params.yaml > metrics")
    assert not metric.costly
    measured = metric.measure(["a b", ""], ["a", "b"], options)
    assert list(measured) == [description.name for description in metric.descriptions]
    assert all(len(values) == 2 for values in measured.values())
    assert metric.recipe(options)
