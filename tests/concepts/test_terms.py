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


class LinkerBlock(Options):
    """What has a linker."""

    linker: linkers.Linker


def linker(**block: object) -> linkers.Linker:
    return parse(LinkerBlock, {"linker": block}, where="test").linker


def term_list(path: Path | str, **changes: object) -> linkers.Linker:
    return linker(kind="terms", terms=str(path), **changes)


@pytest.mark.parametrize(("text", "expected"), LINES, ids=lambda it: it.strip())
def test_what_a_line_of_a_note_names(text: str, expected: str) -> None:
    mentions = terms.mentions(text, TERMS)
    assert sorted(mentions, key=lambda mention: mention.start) == mentions
    places = groupby(mentions, key=lambda mention: mention[:2])
    named = [f"{text[a:b]}={'/'.join(m.concept for m in each)}" for (a, b), each in places]
    assert " ".join(named) == expected.strip()
    assert len(LINES) >= 40


def test_a_mention_has_its_type_and_the_list_s_wording() -> None:
    assert terms.mentions("No FEVERS, but chf.", TERMS) == [
        Mention(3, 9, "FEVER", "finding", "fever"),
        Mention(15, 18, "HEART_FAILURE", "disorder", "CHF"),
    ]
    assert terms.mentions("", TERMS) == []


def test_other_types_do_not_count() -> None:
    link = linkers.load(term_list(HERE / "lines.csv", semantic_types=["finding", "substance"]))
    mentions = link("heart failure, cough, latex")
    assert [mention.concept for mention in mentions] == ["COUGH", "LATEX"]
    types = term_list("x", semantic_types=["Devices", "finding"]).types
    assert sorted(types or ()) == ["T074", "T075", "T203", "finding"]
    assert term_list("x").types is None


def test_the_recipe_and_the_files(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("term,concept,semantic_type\nfever,FEVER,\n", encoding="utf-8")
    before = linkers.recipe(term_list(path))
    form = r"terms,semantic_types=None,terms=.*list\.csv#list\.csv:[0-9a-f]{8}"
    assert re.fullmatch(form, before)
    assert [file.path for file in linkers.files(term_list(path))] == [path]
    path.write_text("term,concept,semantic_type\nfever,F,\n", encoding="utf-8")
    assert linkers.recipe(term_list(path)) != before
    with pytest.raises(BadInput, match=r"none\.csv: cannot be read; name an existing file"):
        linkers.recipe(term_list(tmp_path / "none.csv"))
    with pytest.raises(BadInput, match="linker"):
        linker(kind="nobody")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("term,concept\nfever,FEVER\n", "'semantic_type'"),
        ("term,concept,semantic_type\n?,FEVER,\nfever, ,\n", "terms.csv: 2 lines: a term or con"),
        ("", "terms.csv: is empty; write a CSV with the columns term, concept, semantic_type"),
        (None, "/terms.csv"),
    ],
)
def test_lists_that_are_none(tmp_path: Path, text: str | None, expected: str) -> None:
    path = tmp_path / "terms.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=re.escape(expected)) as error:
        linkers.load(term_list(path))
    assert str(tmp_path) in str(error.value)


WORDS = st.sampled_from(["a", "b", "c", "d", "ab"])
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@given(st.sets(NAMES, min_size=1, max_size=6), st.lists(WORDS, max_size=12))
def test_equal_to_a_search_by_one_expression(names: set[str], text: list[str]) -> None:
    """Alternatives, longest in words first, from left to right."""
    sizes: dict[str, set[int]] = {}
    for name in names:
        sizes.setdefault(name.split()[0], set()).add(len(name.split()))
    known = terms.Terms(
        {name: [terms.Meaning(name, "", name, False)] for name in names},
        {first: sorted(each, reverse=True) for first, each in sizes.items()},
    )
    longest = sorted(names, key=lambda name: (-len(name.split()), name))
    matches = re.finditer(rf"(?<!\S)(?:{'|'.join(longest)})(?!\S)", " ".join(text))
    expected = [(*match.span(), match.group()) for match in matches]
    assert [mention[:3] for mention in terms.mentions(" ".join(text), known)] == expected
