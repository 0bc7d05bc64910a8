"""MEDCON and MIST: by hand, by plain loops, and their properties."""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from metassay.core.kinds import Chosen, choose
from metassay.metrics import METRICS
from metassay.metrics.describe import Measured
from tests.conftest import ROOT

# bee is another name of b, and c has two concepts; rash has no vector.
TERMS = {
    "a": "Ax",
    "b": "Bx",
    "bee": "Bx",
    "c": "Cx Dy",
    "e": "Ey",
    **{word: f"{word[0].upper()}x" for word in ("fever", "pyrexia", "rash")},
    "cough": "Kx",
    "pain": "Qx",
}
VECTORS = {
    "fever": (1.0, 0.0),
    "cough": (0.0, 1.0),
    "pyrexia": (0.8, 0.6),
    "pain": (-3.0, 1.0),
}
IDS = {word: [each[0] for each in ids.split()] for word, ids in TERMS.items()}
MED = st.lists(st.sampled_from(["a", "b", "bee", "c", "e", "other"]), max_size=6).map(
    " ".join
)
MIST = st.lists(st.sampled_from([*VECTORS, "rash", "other"]), max_size=6).map(" ".join)
Pairs = list[tuple[str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terms")
    rows = [
        f"{word},{each[0]},{each[1]}"
        for word, ids in TERMS.items()
        for each in ids.split()
    ]
    (folder / "terms.csv").write_text(
        "\n".join(["term,concept,semantic_type", *rows]) + "\n"
    )
    lines = [f"{IDS[word][0]} {a} {b}" for word, (a, b) in VECTORS.items()]
    (folder / "vectors.txt").write_text("\n".join([f"{len(lines)} 2", *lines]) + "\n")
    return folder


def chosen(folder: Path, kind: str, **changes: Any) -> Chosen:
    block = {
        "kind": kind,
        "linker": {"kind": "terms", "terms": str(folder / "terms.csv")},
    }
    if kind == "mist":
        block["vectors"] = {"file": str(folder / "vectors.txt")}
    return choose(METRICS, block | changes, where="test")


def measured(folder: Path, kind: str, pairs: Pairs, **changes: Any) -> Any:
    _, record, options = chosen(folder, kind, **changes)
    return record.measure(
        [text for text, _ in pairs], [right for _, right in pairs], options
    )


def values(folder: Path, kind: str, pairs: Pairs, **changes: Any) -> list[Any]:
    """Of MEDCON all three, of MIST the value."""
    columns = [
        [m.value for m in its]
        for its in measured(folder, kind, pairs, **changes).values()
    ]
    return list(zip(*columns, strict=True)) if kind == "medcon" else columns[0]


def test_medcon_by_hand(folder: Path) -> None:
    """Text {A, B, C, D}, reference {B, E}."""
    assert measured(folder, "medcon", [("a bee c", "b b e")]) == {
        "medcon_precision": [Measured(1 / 4, (1, 4))],
        "medcon_recall": [Measured(1 / 2, (1, 2))],
        "medcon_f1": [Measured(2 / 6, (2, 6))],
    }
    empty, none = [("", "b"), ("b", "other"), ("", "other"), ("a", "b")], None
    assert values(folder, "medcon", empty) == [
        (none, 0, 0),
        (0, none, 0),
        (none,) * 3,
        (0, 0, 0),
    ]
    # As released: three of the reference's terms b, bee, c, e have a concept of the
    # text.
    ((precision, recall, f1),) = values(
        folder, "medcon", [("b c", "b bee c e")], rule="released"
    )
    assert (precision, recall) == (3 / 2, 3 / 4)
    assert f1 == pytest.approx(2 * 1.5 * 0.75 / (1.5 + 0.75))
    assert values(folder, "medcon", empty, rule="released") == [(0, 0, 0)] * 4
    linker = {
        "kind": "terms",
        "terms": str(folder / "terms.csv"),
        "semantic_types": ["y"],
    }
    assert values(folder, "medcon", [("a c", "b c e")], linker=linker) == [
        (1, 1 / 2, 2 / 3)
    ]


def test_mist_by_hand(folder: Path) -> None:
    """The example of the definition, and what is not known: null, and counted."""
    pair = [("Pyrexia.", "Fever and cough.")]
    (score,) = measured(folder, "mist", pair)["mist"]
    assert score.value == pytest.approx(0.7, abs=1e-9)
    assert score.statistics == pytest.approx((1.4, 2))
    assert values(folder, "mist", pair, rule="printed") == [
        pytest.approx(0.4, abs=1e-9)
    ]
    pairs = [
        ("", ""),
        ("fever", ""),
        ("", "fever"),
        ("rash", "fever"),
        ("fever", "rash"),
        ("fever rash", "fever fever rash"),
    ]
    scores, none = measured(folder, "mist", pairs), None
    assert [each.value for each in scores["mist"]] == [none, none, 0, none, none, 1]
    assert [each.value for each in scores["mist_known"]] == [
        none,
        1,
        1,
        1 / 2,
        1 / 2,
        1 / 2,
    ]


def medcon_by_loops(text: str, reference: str, rule: str) -> tuple[float | None, ...]:
    text_terms, terms = (
        {w for w in side.split() if w in IDS} for side in (text, reference)
    )
    there, wanted = (
        {id for w in words for id in IDS[w]} for words in (text_terms, terms)
    )
    if rule == "sets":
        p = len(there & wanted) / len(there) if there else None
        r = len(there & wanted) / len(wanted) if wanted else None
        f = None if p is None and r is None else 0.0
        return p, r, 2 * p * r / (p + r) if p and r else f
    hits = sum(any(id in there for id in IDS[word]) for word in terms)
    if not hits:
        return 0.0, 0.0, 0.0
    p, r = hits / len(text_terms), hits / len(terms)
    return p, r, 2 * p * r / (p + r)


def mist_by_loops(text: str, reference: str, rule: str) -> float | None:
    def cosine(left: str, right: str) -> float:
        a, b = VECTORS[left], VECTORS[right]
        return (a[0] * b[0] + a[1] * b[1]) / math.hypot(*a) / math.hypot(*b)

    every = {word for word in text.split() if word in IDS}
    named, wanted = (
        {w for w in side.split() if w in VECTORS} for side in (text, reference)
    )
    if not wanted or (every and not named):
        return None
    if not named:
        return 0.0
    if rule == "described":
        return sum(max(cosine(w, n) for n in named) for w in wanted) / len(wanted)
    return sum(max(cosine(w, n) for w in wanted) for n in named) / len(wanted)


CASES = st.one_of(
    st.tuples(
        st.just(("medcon", medcon_by_loops)),
        st.sampled_from(["sets", "released"]),
        st.lists(st.tuples(MED, MED), max_size=5),
    ),
    st.tuples(
        st.just(("mist", mist_by_loops)),
        st.sampled_from(["described", "printed"]),
        st.lists(st.tuples(MIST, MIST), max_size=5),
    ),
)


@given(CASES)
def test_equal_to_plain_loops_in_any_order(folder: Path, case: Any) -> None:
    (kind, by_loops), rule, pairs = case
    rows = values(folder, kind, pairs, rule=rule)
    for pair, row in zip(pairs, rows, strict=True):
        assert row == pytest.approx(by_loops(*pair, rule), abs=1e-9)
        assert values(folder, kind, [pair], rule=rule) == [row]
    assert values(folder, kind, pairs[::-1], rule=rule) == rows[::-1]


@pytest.mark.parametrize(
    ("kind", "names", "files", "rule"),
    [
        (
            "medcon",
            ["medcon_precision", "medcon_recall", "medcon_f1"],
            ["terms.csv"],
            "sets",
        ),
        ("mist", ["mist", "mist_known"], ["terms.csv", "vectors.txt"], "described"),
    ],
)
def test_records(
    folder: Path, kind: str, names: list[str], files: list[str], rule: str
) -> None:
    _, record, options = chosen(folder, kind)
    assert ([each.name for each in record.descriptions], record.costly) == (
        names,
        False,
    )
    assert record.recipe(options).startswith("linker:terms,semantic_types=None,terms=")
    assert f"|rule:{rule}" in record.recipe(options)
    assert [each.path.name for each in record.files(options)] == files


@pytest.mark.parametrize(
    ("vectors_of", "words"),
    [
        ({"vectors_of": "graph"}, "graph"),
        ({"vectors_of": "text"}, "text, no graph embedding"),
        ({"vectors_of": "terms"}, "terms, no graph embedding"),
        ({}, "not stated"),
    ],
)
def test_the_recipe_says_what_vectors_are_of(
    folder: Path, vectors_of: dict[str, str], words: str
) -> None:
    _, record, options = chosen(folder, "mist", **vectors_of)
    assert record.recipe(options).endswith(f"|vectors_of:{words}")


def test_the_recipe_of_the_default_says_that_it_is_no_graph_embedding() -> None:
    block = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    options = choose(METRICS, block["metrics"]["mist"], where="test")
    assert options.options.vectors_of == "terms"
