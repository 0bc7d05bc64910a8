"""What the tests of faithfulness metrics share: options with a single checkpoint, and scores."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from metassay.core.options import parse
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored

STORE = Path(".work/models.sqlite")


def options(
    kind: FaithfulnessMetric, model: Path, dtype: str = "float64", **changes: Any
) -> Any:
    network = {"model": str(model), "device": "cpu", "dtype": dtype}
    return parse(
        kind.options, {"checkpoints": {"tiny": network}} | changes, where="test"
    )


def scored(
    kind: FaithfulnessMetric, cases: Sequence[Case], model: Path, **changes: Any
) -> list[list[Scored]]:
    """Scores of the kind's headline metric, or of its only one."""
    parsed = options(kind, model, **changes)
    results = kind.score(cases, parsed, parsed.checkpoints["tiny"])
    assert list(results) == [each.name for each in kind.descriptions]
    name = next(each.name for each in kind.descriptions if each.headline)
    return [list(its) for its in results[name]]


def holds_in_any_company(
    score: Callable[..., list[list[Scored]]], cases: Sequence[Case]
) -> None:
    """Alone, in any batch, in any order and beside repeats, with an empty store each time."""
    alone = []
    for case in cases:
        STORE.unlink(missing_ok=True)
        alone += score([case])
    STORE.unlink(missing_ok=True)
    assert score([*cases, *cases[::-1]], batch_tokens=300) == alone + alone[::-1]
    STORE.unlink(missing_ok=True)
    assert score(cases[::-1], batch_tokens=1) == alone[::-1]
    assert score(cases, batch_tokens=7) == alone  # from the store


def plain(
    model: Path, head: str = "SequenceClassification", dtype: str = "float64"
) -> Any:
    """The tokenizer and the model, for plain calls."""
    import torch
    import transformers

    words = transformers.AutoTokenizer.from_pretrained(model)
    load = getattr(transformers, f"AutoModelFor{head}").from_pretrained
    return words, load(model, dtype=getattr(torch, dtype)).eval()


def broken(model: Path, folder: Path) -> Path:
    """A copy of a model whose weights are no numbers."""
    import shutil

    from safetensors.torch import load_file, save_file

    copy = Path(shutil.copytree(model, folder / "broken"))
    weights = load_file(copy / "model.safetensors")
    nothing = {name: weight.fill_(float("nan")) for name, weight in weights.items()}
    save_file(nothing, copy / "model.safetensors", {"format": "pt"})
    return copy


def fail(*_: object, **__: object) -> None:
    raise AssertionError("a model is loaded")
