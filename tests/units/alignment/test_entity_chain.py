"""entity_chain: by hand, and against a search by regular expressions."""

import csv
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.core.options import parse
from metassay.units.alignment import ALIGNMENTS, entity_chain
from metassay.units.alignment.entity_chain import EntityChainOptions
from metassay.units.record import Passages, Statements

ROOT = Path(__file__).parents[3]
LIST = """\
term,concept,semantic_type
fever,FEVER,finding
pyrexia,FEVER,finding
cough,COUGH,finding
chest x-ray,XRAY,procedure
heart,HEART,anatomy
heart failure,FAILURE,disorder
HF,FAILURE,disorder
allergy,ALLERGY,disorder
"""
NOTE = [
    "Fever and cough.",
    "No coughs.",
    "An x-ray.",
    "Chest X-rays: heart failure.",
    "Quiet.",
]


@pytest.fixture
def terms(tmp_path: Path) -> Path:
    path = tmp_path / "terms.csv"
    path.write_text(LIST, encoding="utf-8")
    return path


def test_a_synonym_of_a_concept_is_shared_and_one_of_a_synonym_is_not(
    terms: Path,
) -> None:
    """FEVER and COUGH are one meaning here, COUGH and XRAY another; FEVER and XRAY none."""
    pairs = terms.with_name("synonyms.csv")
    pairs.write_text("concept,synonym\nFEVER,COUGH\nXRAY,COUGH\n", encoding="utf-8")
    more = options(terms).model_copy(update={"synonyms": str(pairs)})
    document = Statements(NOTE, [], ["Pyrexia.", "Pyrexia and a cough."])
    first, second = entity_chain.align([document], more).documents[0]
    assert first == [(0, 1), (1, 1)]
    # The chest X-rays of passage 3 mean a cough.
    assert second == [(0, 2), (1, 2), (3, 1)]
    record = choose(
        ALIGNMENTS, {"kind": "entity_chain", **more.model_dump()}, where="t"
    )
    read = record.record.files(more)
    assert {file.path for file in read} == {terms, pairs}
    plain = record.record.recipe(options(terms), None)
    assert record.record.recipe(more, None).startswith(
        f"{plain},synonyms=synonyms.csv:"
    )


def options(terms: Path) -> EntityChainOptions:
    block = {"linker": {"kind": "terms", "terms": str(terms)}}
    return parse(EntityChainOptions, block, where="test")


def aligned(terms: Path, *statements: str, passages: list[str] = NOTE) -> Passages:
    document = Statements(passages, [], list(statements))
    return entity_chain.align([document], options(terms)).documents[0]


def test_all_passages_that_share_a_concept_in_their_order(terms: Path) -> None:
    """She had a cough and fever: both are in passage 0, the cough alone in passage 1."""
    assert aligned(
        terms,
        "She had a cough and fever.",
        "Coughs, HF, x-rays of the chest.",
        "Chest x-ray, HF.",
    ) == [[(0, 2.0), (1, 1.0)], [(0, 1.0), (1, 1.0), (3, 1.0)], [(3, 2.0)]]
    # What names no concept is aligned with nothing and counted.
    documents = [
        Statements(NOTE, [], ["Quiet.", "An allergy."]),
        Statements([], [], ["Well."]),
    ]
    results = entity_chain.align(documents, options(terms))
    assert results.documents == [[[], []], [[]]]
    assert results.notes == (
        "2 of 3 statements name no concept by linker terms; nothing is aligned with them",
    )
    assert (
        entity_chain.align([Statements(NOTE, [], ["Fever."])], options(terms)).notes
        == ()
    )
    assert entity_chain.align([], options(terms)).documents == []


def test_another_list_is_another_recipe(terms: Path) -> None:
    block = {"kind": "entity_chain", "linker": {"kind": "terms", "terms": str(terms)}}
    _, record, chosen = choose(ALIGNMENTS, block, where="params")
    before = record.recipe(chosen, None)
    settings = re.escape(
        f"entity_chain,linker=(terms,semantic_types=None,terms={terms}#terms.csv:"
    )
    assert re.fullmatch(rf"{settings}[0-9a-f]{{8}}\)", before)
    terms.write_text(LIST + "rash,RASH,finding\n", encoding="utf-8")
    assert record.recipe(chosen, None) != before
    assert [read.path for read in record.files(chosen)] == [terms]
    terms.unlink()
    with pytest.raises(BadInput, match="cannot be read; name an existing file"):
        record.recipe(chosen, None)


def by_expression(text: str, names: dict[str, set[str]]) -> set[str]:
    """The same by an expression: alternatives, longest in words first, from left to right."""
    words = " ".join(re.findall("[a-z0-9]+", text.lower()))
    by_length = sorted(names, key=lambda name: -len(name.split()))
    named = re.findall(
        rf"(?<!\S)(?:{'|'.join(map(re.escape, by_length))})(?!\S)", words
    )
    return set().union(*(names[name] for name in named))


def test_on_the_hospital_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, set[str]] = defaultdict(set)
    with Path("data/terms/clinical.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name = " ".join(re.findall("[a-z0-9]+", row["term"].lower()))
            end = "ies" if re.search(r"[^aeiou]y$", name) else "s"
            end = "es" if re.search(r"(?:s|x|z|ch|sh)$", name) else end
            for form in (name, (name[:-1] if end == "ies" else name) + end):
                names[form].add(row["concept"])
    sources, summaries = (
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for file in map(
            Path("data/hospital_course/{}.jsonl").with_stem, ("sources", "summaries")
        )
    )
    empty = 0
    for source in sources[:3]:
        passages = [passage["text"] for passage in source["passages"]]
        of = [summary for summary in summaries if summary["doc_id"] == source["doc_id"]]
        statements = [statement for summary in of for statement in summary["sentences"]]
        results = aligned(
            Path("data/terms/clinical.csv"), *statements, passages=passages
        )
        each = [by_expression(passage, names) for passage in passages]
        for statement, chosen in zip(statements, results, strict=True):
            its = by_expression(statement, names)
            shared = [len(its & concepts) for concepts in each]
            assert chosen == [(i, float(n)) for i, n in enumerate(shared) if n]
            empty += not chosen
    assert 0 < empty < 20
