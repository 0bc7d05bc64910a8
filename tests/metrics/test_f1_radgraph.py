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

ABSENT, PRESENT = "Observation::definitely absent", "Observation::definitely present"
ANATOMY = "Anatomy::definitely present"
NONE = (None,) * 3


def entity(tokens: str, label: str, *relations: list[str]) -> dict[str, Any]:
    return {
        "tokens": tokens,
        "label": label,
        "start_ix": 0,
        "end_ix": 0,
        "relations": relations,
    }


WITH = {
    "1": entity("pneumothorax", ABSENT),
    "2": entity("chest", ANATOMY),
    "3": entity("Tube", PRESENT, ["located_at", "2"]),
}
TEXTS = {
    "No pneumothorax, chest tube.": WITH,
    "No pneumothorax. Chest. Tube.": {**WITH, "3": entity("tube", PRESENT)},
    "Quiet.": {},
    "Two tubes.": {"1": entity("tubes", PRESENT), "2": entity("chest", ANATOMY)},
}


@pytest.fixture(scope="module")
def annotations(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("radgraph") / "annotations.jsonl"
    lines = [
        json.dumps({"text": text, "entities": its}) + "\n"
        for text, its in TEXTS.items()
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def options(**block: Any) -> f1_radgraph.RadgraphOptions:
    return parse(f1_radgraph.RadgraphOptions, block, where="test")


def values(pairs: list[tuple[str, str]], **block: Any) -> list[tuple[Any, ...]]:
    """By level: simple, partial, complete."""
    texts, references = [text for text, _ in pairs], [right for _, right in pairs]
    columns = f1_radgraph.measure(texts, references, options(**block))
    assert list(columns) == [each.name for each in f1_radgraph.KIND.descriptions]
    return list(
        zip(*([each.value for each in its] for its in columns.values()), strict=True)
    )


def test_the_example_of_the_definition(annotations: str) -> None:
    pair = ("No pneumothorax, chest tube.", "No pneumothorax.\nChest.  Tube.")
    (row,) = values([pair], annotations=annotations)
    assert row == pytest.approx((1, 0.666667, 0.666667), abs=1e-6)
    columns = f1_radgraph.measure(
        [pair[0]], [pair[1]], options(annotations=annotations)
    )
    assert columns["f1_radgraph_partial"] == [Measured(4 / 6, (4, 6))]
    two, zero = "Two tubes.", (0, 0, 0)
    pairs = [("Quiet.", two), (two, ""), ("", "Quiet."), (" ", ""), (two, two)]
    assert values(pairs, annotations=annotations) == [zero, zero, NONE, NONE, (1, 1, 1)]


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


def test_by_the_package(monkeypatch: pytest.MonkeyPatch, annotations: str) -> None:
    pairs = [(a, b) for a in [*TEXTS, ""] for b in [*TEXTS, ""]]
    with pytest.raises(
        BadInput, match="radgraph is not installed; run: pip install radgraph, or"
    ):
        values(pairs, model="radgraph-xl")
    module = ModuleType("radgraph")
    module.RadGraph = RadGraph  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "radgraph", module)
    assert values(pairs, model="radgraph-xl") == values(pairs, annotations=annotations)
    assert values([("", "")], model="radgraph-xl") == [NONE]


def by_loops(text: str, reference: str) -> tuple[Any, ...]:
    values = []
    for level in ("simple", "partial", "complete"):
        sides = []
        for its in (TEXTS.get(text, {}), TEXTS.get(reference, {})):
            facts = set()
            for each in its.values():
                word, label, relations = (
                    each["tokens"].lower(),
                    each["label"],
                    each["relations"],
                )
                if level == "simple" or (level == "complete" and not relations):
                    facts.add(f"{word} {label}")
                elif level == "partial":
                    facts.add(f"{word} {label} {len(relations) > 0}")
                else:
                    facts |= {
                        f"{word} {label} {r} {its[to]['tokens']}" for r, to in relations
                    }
            sides.append(facts)
        a, b = sides
        shared = len(a & b)
        precision, recall = shared / max(len(a), 1), shared / max(len(b), 1)
        f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
        values.append(pytest.approx(f1) if a or b else None)
    return tuple(values)


SAMPLE = st.sampled_from([*TEXTS, ""])


@given(st.lists(st.tuples(SAMPLE, SAMPLE), max_size=6))
def test_equal_to_plain_loops_in_any_batch_and_order(
    annotations: str, pairs: list[tuple[str, str]]
) -> None:
    rows = values(pairs, annotations=annotations)
    for pair, row in zip(pairs, rows, strict=True):
        assert row == by_loops(*pair)
        assert values([pair], annotations=annotations) == [row]
    assert values(pairs[::-1], annotations=annotations) == rows[::-1]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"text": "a"}', "is not text with entities"),
        ("[", "annotations.jsonl"),
        (
            json.dumps(
                {"text": "a", "entities": {"1": entity("a", ANATOMY, ["modify", "2"])}}
            ),
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


def test_its_record(annotations: str) -> None:
    for block in ({}, {"model": "radgraph", "annotations": annotations}):
        with pytest.raises(BadInput, match="give either `model` or `annotations`"):
            options(**block)
    kind, file, model = (
        f1_radgraph.KIND,
        options(annotations=annotations),
        options(model="radgraph"),
    )
    assert kind.costly
    assert [str(each.path) for each in kind.files(file)] == [annotations]
    assert kind.recipe(file).startswith("annotations:annotations.jsonl:")
    assert (kind.recipe(model), kind.files(model)) == (
        "model:radgraph|radgraph:absent",
        [],
    )
