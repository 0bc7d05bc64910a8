"""MEDCON: by hand, by plain loops over sets, and its properties."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.core.options import parse
from metassay.metrics import medcon
from metassay.metrics.describe import Measured

NAMES = ("medcon_precision", "medcon_recall", "medcon_f1")
# b has two names, and c two concepts.
TERMS = """\
term,concept,semantic_type
a,A,x
b,B,x
bee,B,x
c,C,x
c,D,y
e,E,y
"""
TEXTS = st.lists(st.sampled_from(["a", "b", "bee", "c", "e", "other"]), max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("terms") / "terms.csv"
    path.write_text(TERMS, encoding="utf-8")
    return path


def options(terms: Path, **changes: Any) -> medcon.MedconOptions:
    linker = {"kind": "terms", "terms": str(terms)}
    return parse(medcon.MedconOptions, {"linker": linker} | changes, where="test")


def values(terms: Path, pairs: list[tuple[str, str]], **changes: Any) -> list[tuple[Any, ...]]:
    texts, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = medcon.measure(texts, references, options(terms, **changes))
    return list(zip(*([one.value for one in found[name]] for name in NAMES), strict=True))


def test_by_hand(terms: Path) -> None:
    """Text {A, B, C, D}, reference {B, E}."""
    found = medcon.measure(["a bee c"], ["b b e"], options(terms))
    assert found == {
        "medcon_precision": [Measured(1 / 4, (1, 4))],
        "medcon_recall": [Measured(1 / 2, (1, 2))],
        "medcon_f1": [Measured(2 / 6, (2, 6))],
    }


def test_the_released_rule_by_hand(terms: Path) -> None:
    """Three of the reference's terms b, bee, c, e have a concept of the text, with b and c."""
    ((precision, recall, f1),) = values(terms, [("b c", "b bee c e")], rule="released")
    assert (precision, recall) == (3 / 2, 3 / 4)
    assert f1 == pytest.approx(2 * 1.5 * 0.75 / (1.5 + 0.75))
    empty = [("", "b"), ("b", "other"), ("", ""), ("a", "b")]
    assert values(terms, empty, rule="released") == [(0, 0, 0)] * 4


def test_a_side_without_concepts(terms: Path) -> None:
    pairs = [("", "b"), ("b", "other"), ("", "other"), ("a", "b")]
    none = None
    assert values(terms, pairs) == [(none, 0, 0), (0, none, 0), (none,) * 3, (0, 0, 0)]


def test_semantic_types_are_the_linkers(terms: Path) -> None:
    linker = {"kind": "terms", "terms": str(terms), "semantic_types": ["y"]}
    assert values(terms, [("a c", "b c e")], linker=linker) == [(1, 1 / 2, 2 / 3)]


def by_loops(text: str, reference: str, rule: str) -> tuple[float | None, ...]:
    ids = {"a": "A", "b": "B", "bee": "B", "c": "CD", "e": "E"}
    text_terms, terms = ({w for w in side.split() if w in ids} for side in (text, reference))
    there = {one for word in text_terms for one in ids[word]}
    wanted = {one for word in terms for one in ids[word]}
    if rule == "sets":
        p = len(there & wanted) / len(there) if there else None
        r = len(there & wanted) / len(wanted) if wanted else None
        f = None if p is None and r is None else 0.0
        return p, r, 2 * p * r / (p + r) if p and r else f
    hits = sum(any(one in there for one in ids[word]) for word in terms)
    if not hits:
        return 0.0, 0.0, 0.0
    p, r = hits / len(text_terms), hits / len(terms)
    return p, r, 2 * p * r / (p + r)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), st.sampled_from(["sets", "released"]))
def test_equal_to_plain_loops_in_any_order(
    terms: Path, pairs: list[tuple[str, str]], rule: str
) -> None:
    found = values(terms, pairs, rule=rule)
    for pair, row in zip(pairs, found, strict=True):
        assert row == pytest.approx(by_loops(*pair, rule))
        assert values(terms, [pair], rule=rule) == [row]
    assert values(terms, pairs[::-1], rule=rule) == found[::-1]


@given(TEXTS)
def test_a_text_with_itself(terms: Path, text: str) -> None:
    names = any(word != "other" for word in text.split())
    assert values(terms, [(text, text)]) == [(1, 1, 1) if names else (None,) * 3]


def test_its_record(terms: Path) -> None:
    record = medcon.KIND
    assert (tuple(one.name for one in record.descriptions), record.costly) == (NAMES, False)
    before = record.recipe(options(terms))
    assert before.startswith("linker:terms,semantic_types=None,terms=")
    assert before.endswith("|rule:sets")
    assert [one.path for one in record.files(options(terms))] == [terms]
