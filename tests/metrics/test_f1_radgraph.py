"""F1-RadGraph: the example of the definition, a fake of the package, and plain loops."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.metrics import f1_radgraph
from metassay.metrics.describe import Measured

LEVELS = ("simple", "partial", "complete")
ABSENT, ANATOMY, PRESENT = (
    *("Observation::definitely absent", "Anatomy::definitely present"),
    "Observation::definitely present",
)


def entity(tokens: str, label: str, *relations: list[str]) -> dict[str, Any]:
    return {"tokens": tokens, "label": label, "start_ix": 0, "end_ix": 0, "relations": relations}


WITH = {
    "1": entity("pneumothorax", ABSENT),
    "2": entity("chest", ANATOMY),
    "3": entity("Tube", PRESENT, ["located_at", "2"]),
}
WITHOUT = {**WITH, "3": entity("tube", PRESENT)}
TEXTS = {
    "No pneumothorax, chest tube.": WITH,
    "No pneumothorax. Chest. Tube.": WITHOUT,
    "Quiet.": {},
    "Two tubes.": {"1": entity("tubes", PRESENT), "2": entity("chest", ANATOMY)},
}


@pytest.fixture(scope="module")
def annotations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("radgraph") / "annotations.jsonl"
    lines = [json.dumps({"text": text, "entities": its}) for text, its in TEXTS.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def options(**block: Any) -> f1_radgraph.RadgraphOptions:
    return parse(f1_radgraph.RadgraphOptions, block, where="test")


def values(pairs: list[tuple[str, str]], **block: Any) -> list[tuple[Any, ...]]:
    texts, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = f1_radgraph.measure(texts, references, options(**block))
    assert list(found) == [one.name for one in f1_radgraph.KIND.descriptions]
    columns = [[one.value for one in found[f"f1_radgraph_{level}"]] for level in LEVELS]
    return list(zip(*columns, strict=True))


def test_the_example_of_the_definition(annotations: Path) -> None:
    pair = ("No pneumothorax, chest tube.", "No pneumothorax.\nChest.  Tube.")
    found = values([pair], annotations=str(annotations))
    assert found == [pytest.approx((1, 0.666667, 0.666667), abs=1e-6)]
    chosen = options(annotations=str(annotations))
    measured = f1_radgraph.measure(list(pair[:1]), list(pair[1:]), chosen)
    assert measured["f1_radgraph_partial"] == [Measured(4 / 6, (4, 6))]


def test_a_side_without_entities(annotations: Path) -> None:
    one, none = "Two tubes.", (None,) * 3
    pairs = [("Quiet.", one), (one, ""), ("", "Quiet."), (" ", ""), (one, one)]
    zero = (0, 0, 0)
    assert values(pairs, annotations=str(annotations)) == [zero, zero, none, none, (1, 1, 1)]


class RadGraph:
    """The package's model: a dictionary of annotations by the text's number."""

    def __init__(self, model_type: str | None = None) -> None:
        assert model_type == "radgraph-xl"

    def __call__(self, hyps: list[str]) -> Mapping[str, Any]:
        assert isinstance(hyps, list)
        assert all(hyps)
        rest = {"data_source": None, "data_split": "inference"}
        return {
            str(at): {"text": text.replace(".", " ."), "entities": TEXTS[text], **rest}
            for at, text in enumerate(hyps)
        }


def test_by_the_package(monkeypatch: pytest.MonkeyPatch, annotations: Path) -> None:
    pairs = [(a, b) for a in [*TEXTS, ""] for b in [*TEXTS, ""]]
    with pytest.raises(BadInput, match="radgraph is not installed; run: pip install radgraph, or"):
        values(pairs, model="radgraph-xl")
    module = ModuleType("radgraph")
    module.RadGraph = RadGraph  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "radgraph", module)
    assert values(pairs, model="radgraph-xl") == values(pairs, annotations=str(annotations))
    assert values([("", "")], model="radgraph-xl") == [(None,) * 3]
    recipe = f1_radgraph.KIND.recipe(options(model="radgraph-xl"))
    assert recipe == "model:radgraph-xl|radgraph:absent"
    assert f1_radgraph.KIND.files(options(model="radgraph-xl")) == []


def by_loops(text: str, reference: str) -> tuple[float | None, ...]:
    found = []
    for level in LEVELS:
        sides = []
        for its in (TEXTS.get(text, {}), TEXTS.get(reference, {})):
            facts = set()
            for one in its.values():
                word, label, relations = one["tokens"].lower(), one["label"], one["relations"]
                if level == "simple" or (level == "complete" and not relations):
                    facts.add(f"{word} {label}")
                elif level == "partial":
                    facts.add(f"{word} {label} {len(relations) > 0}")
                else:
                    facts |= {f"{word} {label} {r} {its[to]['tokens']}" for r, to in relations}
            sides.append(facts)
        a, b = sides
        shared = len(a & b)
        precision, recall = shared / max(len(a), 1), shared / max(len(b), 1)
        f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
        found.append(f1 if a or b else None)
    return tuple(found)


SAMPLE = st.sampled_from([*TEXTS, ""])


@given(st.lists(st.tuples(SAMPLE, SAMPLE), max_size=6))
def test_equal_to_plain_loops_in_any_batch_and_order(
    annotations: Path, pairs: list[tuple[str, str]]
) -> None:
    found = values(pairs, annotations=str(annotations))
    for pair, row in zip(pairs, found, strict=True):
        expected = by_loops(*pair)
        assert row == tuple(None if one is None else pytest.approx(one) for one in expected)
        assert values([pair], annotations=str(annotations)) == [row]
    assert values(pairs[::-1], annotations=str(annotations)) == found[::-1]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"text": "a"}', "is not text with entities"),
        ("[", "annotations.jsonl"),
        (
            json.dumps({"text": "a", "entities": {"1": entity("a", ANATOMY, ["modify", "2"])}}),
            "is not text with entities, related among themselves",
        ),
        ('{"text": "b", "entities": {}}', "lacks 1 of 1 texts; add them"),
    ],
)
def test_annotations_that_are_none(tmp_path: Path, line: str, expected: str) -> None:
    path = tmp_path / "annotations.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match=expected):
        values([("a", "")], annotations=str(path))


def test_either_a_model_or_annotations(annotations: Path) -> None:
    for block in ({}, {"model": "radgraph", "annotations": str(annotations)}):
        with pytest.raises(BadInput, match="give either `model` or `annotations`"):
            options(**block)
    chosen = options(annotations=str(annotations))
    assert [one.path for one in f1_radgraph.KIND.files(chosen)] == [annotations]
    assert f1_radgraph.KIND.recipe(chosen).startswith("annotations:annotations.jsonl:")
