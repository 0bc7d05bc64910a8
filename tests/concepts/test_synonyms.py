"""Synonyms of concepts: features by hand, planted ones that are found again, and the file."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from metassay.concepts.synonyms import (
    FEATURES,
    Concept,
    Concepts,
    describe_pair,
    find_synonyms,
    fit_synonyms,
    inverse_frequencies,
    read_concepts,
    read_synonyms,
    write_synonyms,
)
from metassay.core.errors import BadInput

ROOT = Path(__file__).parents[2]
BRAND = Concept(("Rocephin",), "T121", "Chemicals & Drugs")
DRUG = Concept(("ceftriaxone", "ceftriaxone sodium"), "T195", "Chemicals & Drugs")
PAIN = Concept(("chest pain", "pain in the chest"), "T184", "Disorders")
ACHE = Concept(("chest ache",), "T184", "Disorders")
UNITS = {"brand": np.array([1.0, 0.0]), "drug": np.array([0.6, 0.8])}
SOME = Concepts(
    {"brand": BRAND, "drug": DRUG, "pain": PAIN, "ache": ACHE},
    vectors=UNITS,
    term_vectors={
        "rocephin": np.array([0.0, 1.0]),
        "ceftriaxone": np.array([1.0, 0.0]),
        "ceftriaxone sodium": np.array([0.6, 0.8]),
    },
)


def test_the_features_of_a_pair_by_hand() -> None:
    idf = inverse_frequencies(SOME)
    # 6 terms: "chest" in 3 of them, "pain" and "ceftriaxone" in 2, others in 1.
    assert idf["chest"] == pytest.approx(np.log(6 / 3))
    assert idf["ceftriaxone"] == pytest.approx(np.log(6 / 2))
    drugs = describe_pair(("brand", "drug"), SOME, idf)
    assert len(drugs) == len(FEATURES)
    # The second of the drug's terms is the closer one: .8 by its vector.
    assert drugs[:3] == [0.6, 0.8, 0]
    assert drugs[4:] == [0, 1]
    pains = describe_pair(("pain", "ache"), SOME, idf)
    assert np.isnan(pains[:2]).all()
    # "chest pain" and "chest ache" share "chest".
    shared = np.log(2) / (np.log(2) + np.log(3) + np.log(6))
    assert pains[2] == pytest.approx(shared)
    assert pains[3] == 0.6  # 4 of 10 letters differ
    assert pains[4:] == [1, 1]
    assert describe_pair(("ache", "pain"), SOME, idf)[2:] == pains[2:]


# ---- planted -------------------------------------------------------------------------------------


def plant(seed: int) -> tuple[Concepts, set[tuple[str, str]]]:
    """Concepts in twins: two of a pair have close vectors, and words that share nothing.

    Cousins share their type and half of the way of their vectors; they mean different
    things.
    """
    rng = np.random.default_rng(seed)
    by_id = {}
    vectors = {}
    twins = set()
    for family in range(20):
        origin = rng.normal(size=16)
        for cousin in range(2):
            meaning = origin + rng.normal(size=16)
            for twin in range(2):
                name = f"{family:02}-{cousin}-{twin}"
                vector = meaning + 0.3 * rng.normal(size=16)
                vectors[name] = vector / np.linalg.norm(vector)
                letters = rng.integers(97, 123, size=9)
                by_id[name] = Concept(("".join(map(chr, letters)),), f"T{family % 4}")
            twins.add((f"{family:02}-{cousin}-0", f"{family:02}-{cousin}-1"))
    return Concepts(by_id, vectors), twins


def label_of(pair: tuple[str, str], twins: set[tuple[str, str]]) -> str:
    if pair in twins:
        return "synonyms"
    return "related" if pair[0][:2] == pair[1][:2] else "unrelated"


def test_planted_synonyms_are_found_among_concepts_that_were_not_labelled() -> None:
    concepts, twins = plant(1)
    pairs = list(combinations(concepts.by_id, 2))
    # All twins and cousins, and every tenth of the others.
    chosen = [
        pair
        for number, pair in enumerate(pairs)
        if label_of(pair, twins) != "unrelated" or number % 10 == 0
    ]
    labels = [label_of(pair, twins) for pair in chosen]
    forest = fit_synonyms(chosen, labels, concepts, seed=1)
    others, their_twins = plant(2)
    pairs = list(combinations(others.by_id, 2))
    predicted = set(find_synonyms(forest, pairs, others))
    assert len(predicted & their_twins) >= 0.8 * len(their_twins)
    assert len(predicted & their_twins) >= 0.8 * len(predicted)
    # 40 of 3,160 pairs are twins: by chance 1 % of those found would be.
    assert len(their_twins) / len(pairs) < 0.02
    again = fit_synonyms(chosen, labels, concepts, seed=1)
    assert find_synonyms(again, pairs, others) == find_synonyms(forest, pairs, others)
    assert find_synonyms(forest, [], others) == []


@pytest.mark.parametrize(
    ("pairs", "labels", "problem"),
    [
        ([("brand", "none")], ["synonyms"], "no such concept: 'none'"),
        ([("brand", "drug")], ["same"], "no such label: 'same'"),
        ([("brand", "drug")], ["synonyms"], "one of the two is missing"),
    ],
)
def test_labels_that_teach_nothing(pairs, labels, problem) -> None:
    with pytest.raises(BadInput, match=problem):
        fit_synonyms(pairs, labels, SOME, seed=1)


# ---- files ---------------------------------------------------------------------------------------


def test_a_file_is_read_both_ways_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "synonyms.csv"
    write_synonyms(path, [("b, second", 'c"'), ("a", "b, second")])
    lines = path.read_text().splitlines()
    assert lines == ["concept,synonym", 'a,"b, second"', '"b, second","c"""']
    assert read_synonyms(path) == {
        "a": {"b, second"},
        "b, second": {"a", 'c"'},
        'c"': {"b, second"},
    }
    for content in ("", "term,synonym\na,b\n", "concept,synonym\na\n"):
        path.write_text(content)
        with pytest.raises(BadInput, match="columns concept and synonym"):
            read_synonyms(path)
    with pytest.raises(BadInput, match="no synonyms can be read"):
        read_synonyms(tmp_path / "absent.csv")


def test_concepts_of_a_term_list(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text("term,concept,semantic_type\nfever,F,T184\npyrexia,F,T184\n")
    fever = Concept(("fever", "pyrexia"), "T184", "Disorders")
    assert read_concepts(path) == {"F": fever}


def test_the_example_of_the_docs_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs/tuning.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (example,) = (block for block in blocks if "find_synonyms" in block)
    monkeypatch.chdir(tmp_path)
    Path("data").symlink_to(ROOT / "data")
    exec(example, {})
    assert (tmp_path / "synonyms.csv").read_text().startswith("concept,synonym\n")
