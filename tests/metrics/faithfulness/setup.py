"""What the tests of faithfulness metrics share: options with a single checkpoint, and scores."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from metassay.core.options import parse
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored

STORE = Path(".work/models.sqlite")


def options(kind: FaithfulnessMetric, model: Path, dtype: str = "float64", **changes: Any) -> Any:
    network = {"model": str(model), "device": "cpu", "dtype": dtype}
    return parse(kind.options, {"checkpoints": {"tiny": network}} | changes, where="test")


def scored(
    kind: FaithfulnessMetric, cases: Sequence[Case], model: Path, **changes: Any
) -> list[list[Scored]]:
    """Scores of the kind's headline metric, or of its only one."""
    parsed = options(kind, model, **changes)
    results = kind.score(cases, parsed, parsed.checkpoints["tiny"])
    assert list(results) == [each.name for each in kind.descriptions]
    name = next(each.name for each in kind.descriptions if each.headline)
    return [list(its) for its in results[name]]


def recipe(kind: FaithfulnessMetric, model: Path, **changes: Any) -> str:
    parsed = options(kind, model, **changes)
    return kind.recipe(parsed, parsed.checkpoints["tiny"])


def holds_in_any_company(score: Callable[..., list[list[Scored]]], cases: Sequence[Case]) -> None:
    """Alone, in any batch, in any order and beside repeats, with an empty store each time."""
    alone = []
    for case in cases:
        alone += score([case])
        STORE.unlink(missing_ok=True)
    assert score([*cases, *cases[::-1]], batch_tokens=300) == alone + alone[::-1]
    STORE.unlink(missing_ok=True)
    assert score(cases[::-1], batch_tokens=1) == alone[::-1]
    assert score(cases, batch_tokens=7) == alone  # from the store


def fail(*_: object, **__: object) -> None:
    raise AssertionError("a model is loaded")
