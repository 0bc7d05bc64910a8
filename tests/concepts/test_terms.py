"""The term list: lines of notes with what they name, by hand, and a search by expressions."""

import re
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.concepts import linkers, terms
from metassay.concepts.terms import Mention
from metassay.core.errors import BadInput
from metassay.core.options import Options, parse

HERE = Path(__file__).parent
LINES = [
    line.split(" |")
    for line in (HERE / "clinical_lines.txt").read_text(encoding="utf-8").splitlines()[1:]
]
TERMS = terms.load_terms(HERE / "lines.csv")


class _Options(Options):
    linker: linkers.Linker


def linker(path: Path | str, **changes: object) -> linkers.Linker:
    block = {"linker": {"kind": "terms", "terms": str(path), **changes}}
    return parse(_Options, block, where="test").linker


@pytest.mark.parametrize(("text", "expected"), LINES, ids=lambda it: it.strip())
def test_what_a_line_of_a_note_names(text: str, expected: str) -> None:
    found = terms.mentions(text, TERMS)
    assert sorted(found, key=lambda one: one.start) == found
    places = groupby(found, key=lambda one: (one.start, one.end))
    named = [f"{text[a:b]}={'/'.join(one.concept for one in its)}" for (a, b), its in places]
    assert " ".join(named) == expected.strip()


def test_there_are_enough_lines() -> None:
    assert len(LINES) >= 40


def test_a_mention_has_its_type_and_the_lists_own_wording() -> None:
    assert terms.mentions("No FEVERS, but chf.", TERMS) == [
        Mention(3, 9, "FEVER", "finding", "fever"),
        Mention(15, 18, "HEART_FAILURE", "disorder", "CHF"),
    ]
    assert terms.mentions("", TERMS) == []


def test_other_types_do_not_count() -> None:
    text = "heart failure, cough, latex"
    link = linkers.load(linker(HERE / "lines.csv", semantic_types=["finding", "substance"]))
    assert [one.concept for one in link(text)] == ["COUGH", "LATEX"]
    types = linker("x", semantic_types=["Devices", "finding"]).types
    assert sorted(types or ()) == ["T074", "T075", "T203", "finding"]
    assert linker("x").types is None


def test_the_recipe_and_the_files(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("term,concept,semantic_type\nfever,FEVER,\n", encoding="utf-8")
    before = linkers.recipe(linker(path))
    assert re.fullmatch(
        r"terms,semantic_types=None,terms=.*list\.csv#list\.csv:[0-9a-f]{8}", before
    )
    assert [one.path for one in linkers.files(linker(path))] == [path]
    path.write_text("term,concept,semantic_type\nfever,F,\n", encoding="utf-8")
    assert linkers.recipe(linker(path)) != before
    with pytest.raises(BadInput, match=r"none\.csv: cannot be read; name an existing file"):
        linkers.recipe(linker(tmp_path / "none.csv"))
    with pytest.raises(BadInput, match="linker"):
        parse(_Options, {"linker": {"kind": "nobody"}}, where="test")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("term,concept\nfever,FEVER\n", "'semantic_type'"),
        ("term,concept,semantic_type\n?,FEVER,\nfever, ,\n", "terms.csv: 2 lines: a term or con"),
        ("", "terms.csv: is empty; write a CSV with the columns term, concept, semantic_type"),
    ],
)
def test_lists_that_are_none(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "terms.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=re.escape(expected)):
        linkers.load(linker(path))
    path.unlink()
    with pytest.raises(BadInput, match=re.escape(f"{tmp_path}/terms.csv")):
        linkers.load(linker(path))


WORDS = st.sampled_from(["a", "b", "c", "d", "ab"])
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@given(st.sets(NAMES, max_size=6), st.lists(WORDS, max_size=12))
def test_equal_to_a_search_by_one_expression(names: set[str], text: list[str]) -> None:
    """Alternatives, longest in words first, from left to right."""
    listed = terms.Terms(
        {name: [terms.Meaning(name, "", name, False)] for name in names},
        {
            first: sorted({len(n.split()) for n in names if n.split()[0] == first}, reverse=True)
            for first in {name.split()[0] for name in names}
        },
    )
    whole, expected = " ".join(text), list[tuple[int, int, str]]()
    if names:
        longest = sorted(names, key=lambda name: (-len(name.split()), name))
        found = re.finditer(rf"(?<!\S)(?:{'|'.join(longest)})(?!\S)", whole)
        expected = [(*match.span(), match.group()) for match in found]
    assert [one[:3] for one in terms.mentions(whole, listed)] == expected
