"""MIST: the example of the definition, plain loops over cosines, and its properties."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.core.options import parse
from metassay.metrics import medcon
from metassay.metrics.describe import Measured

VECTORS = {
    **{"fever": (1.0, 0.0), "cough": (0.0, 1.0), "pyrexia": (0.8, 0.6), "pain": (-3.0, 1.0)},
}
WORDS = [*VECTORS, "rash"]  # which has no vector
TEXTS = st.lists(st.sampled_from([*WORDS, "other"]), max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mist")
    rows = [f"{word},{word},finding" for word in WORDS]
    text = "\n".join(["term,concept,semantic_type", *rows]) + "\n"
    (folder / "terms.csv").write_text(text, encoding="utf-8")
    lines = [f"{name} {a} {b}" for name, (a, b) in VECTORS.items()]
    text = "\n".join([f"{len(lines)} 2", *lines]) + "\n"
    (folder / "vectors.txt").write_text(text, encoding="utf-8")
    return folder


def options(folder: Path, **changes: Any) -> medcon.MistOptions:
    block: dict[str, Any] = {
        "linker": {"kind": "terms", "terms": str(folder / "terms.csv")},
        "vectors": {"file": str(folder / "vectors.txt")},
    }
    return parse(medcon.MistOptions, block | changes, where="test")


def measured(folder: Path, pairs: list[tuple[str, str]], **changes: Any) -> list[Measured]:
    texts, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return medcon.measure_mist(texts, references, options(folder, **changes))["mist"]


def values(folder: Path, pairs: list[tuple[str, str]], **changes: Any) -> list[float | None]:
    return [one.value for one in measured(folder, pairs, **changes)]


def test_the_example_of_the_definition(folder: Path) -> None:
    pair = [("Pyrexia.", "Fever and cough.")]
    (found,) = measured(folder, pair)
    assert found.value == pytest.approx(0.7, abs=1e-9)
    assert found.statistics == pytest.approx((1.4, 2))
    assert values(folder, pair, rule="printed") == [pytest.approx(0.4, abs=1e-9)]


def test_what_is_not_known_is_null_and_counted(folder: Path) -> None:
    pairs = [
        *[("", ""), ("fever", ""), ("", "fever"), ("rash", "fever"), ("fever", "rash")],
        ("fever rash", "fever fever rash"),
    ]
    none = None
    assert values(folder, pairs) == [none, none, 0, none, none, 1]
    texts, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    known = medcon.measure_mist(texts, references, options(folder))["mist_known"]
    assert [one.value for one in known] == [none, 1, 1, 1 / 2, 1 / 2, 1 / 2]


def by_loops(text: str, reference: str, rule: str) -> float | None:
    def cosine(one: str, other: str) -> float:
        a, b = VECTORS[one], VECTORS[other]
        dot = a[0] * b[0] + a[1] * b[1]
        return dot / math.hypot(*a) / math.hypot(*b)

    all_named = {word for word in text.split() if word in WORDS}
    named, wanted = ({w for w in side.split() if w in VECTORS} for side in (text, reference))
    if not wanted or (all_named and not named):
        return None
    if not named:
        return 0.0
    if rule == "described":
        return sum(max(cosine(w, n) for n in named) for w in wanted) / len(wanted)
    return sum(max(cosine(w, n) for w in wanted) for n in named) / len(wanted)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), st.sampled_from(["described", "printed"]))
def test_equal_to_plain_loops_in_any_batch_and_order(
    folder: Path, pairs: list[tuple[str, str]], rule: str
) -> None:
    found = values(folder, pairs, rule=rule)
    for pair, value in zip(pairs, found, strict=True):
        expected = by_loops(*pair, rule)
        assert value == (None if expected is None else pytest.approx(expected, abs=1e-9))
        assert values(folder, [pair], rule=rule) == [value]
    assert values(folder, pairs[::-1], rule=rule) == found[::-1]


@given(TEXTS)
def test_a_text_with_itself(folder: Path, text: str) -> None:
    known = any(word in VECTORS for word in text.split())
    assert values(folder, [(text, text)]) == [1 if known else None]


def test_its_record(folder: Path) -> None:
    record, chosen = medcon.MIST, options(folder)
    assert tuple(one.name for one in record.descriptions) == ("mist", "mist_known")
    assert [one.path.name for one in record.files(chosen)] == ["terms.csv", "vectors.txt"]
    assert "|rule:described" in record.recipe(chosen)
    assert record.recipe(options(folder, rule="printed")) != record.recipe(chosen)
