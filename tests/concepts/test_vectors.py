"""Vectors of concepts: three forms of file, the same vectors; and files that are none."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.concepts.vectors import VectorOptions, load_vectors
from metassay.core.errors import BadInput
from metassay.core.options import parse

NAMES = ["fever", "chest pain", "nothing", "cough"]
ROWS = np.array([[3.0, 4.0], [0.0, -2.0], [0.0, 0.0], [1.0, 1.0]])


def write(folder: Path) -> dict[str, VectorOptions]:
    np.save(folder / "v.npy", ROWS.astype("float32"))
    (folder / "names.txt").write_text("\n".join(NAMES) + "\n", encoding="utf-8")
    lines = [f"{name} {a} {b}" for name, (a, b) in zip(NAMES, ROWS.tolist(), strict=True)]
    (folder / "v.vec").write_text("\n".join(["4 2", *lines]) + "\n", encoding="utf-8")
    pd.DataFrame({"concept": NAMES, "vector": ROWS.tolist()}).to_parquet(folder / "v.parquet")
    forms: dict[str, dict[str, str | None]] = {
        "npy": {"vocabulary": str(folder / "names.txt")},
        **{"vec": {"vocabulary": None}, "parquet": {"vocabulary": None}},
    }
    return {
        form: parse(VectorOptions, {"file": str(folder / f"v.{form}"), **more}, where="test")
        for form, more in forms.items()
    }


@pytest.mark.parametrize("form", ["npy", "vec", "parquet"])
def test_vectors_of_length_1_in_any_form(tmp_path: Path, form: str) -> None:
    options = write(tmp_path)[form]
    found = load_vectors(options, {"fever", "chest pain", "nothing", "unknown"})
    assert {name: vector.tolist() for name, vector in found.items()} == {
        "fever": pytest.approx([0.6, 0.8]),
        "chest pain": pytest.approx([0, -1]),
    }
    assert load_vectors(options, ()) == {}


def test_which_files_are_read(tmp_path: Path) -> None:
    options = write(tmp_path)
    assert [one.name for one in options["npy"].paths] == ["v.npy", "names.txt"]
    assert [one.name for one in options["vec"].paths] == ["v.vec"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("v.vec", "fever 1 2\n", "no vectors can be read"),
        ("v.vec", "2 2\nfever 1 2\n", "no vectors can be read"),
        ("v.vec", "1 2\nfever 1 x\n", "no vectors can be read"),
        ("v.vec", "2 2\nfever 1 2\nfever 1 2\n", "different concepts"),
        ("v.vec", "1 2\nfever 1 nan\n", "no finite vector"),
        ("v.vec", "", "no vectors can be read"),
        ("v.parquet", "no", "is damaged or no Parquet file"),
        ("v.npy", "no", "needs a `vocabulary`"),
    ],
)
def test_files_without_vectors(tmp_path: Path, name: str, text: str, expected: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    options = VectorOptions(file=str(tmp_path / name))
    with pytest.raises(BadInput, match=expected):
        load_vectors(options, {"fever"})
    (tmp_path / name).unlink()
    with pytest.raises(BadInput, match=name):
        load_vectors(options, {"fever"})


def test_an_array_that_does_not_fit_its_vocabulary(tmp_path: Path) -> None:
    options = write(tmp_path)["npy"]
    (tmp_path / "names.txt").write_text("fever\ncough\n", encoding="utf-8")
    with pytest.raises(BadInput, match="different concepts"):
        load_vectors(options, {"fever"})
    np.save(tmp_path / "v.npy", np.zeros(4))
    with pytest.raises(BadInput, match="no vectors can be read"):
        load_vectors(options, {"fever"})
    frame = pd.DataFrame({"concept": ["fever", "cough"], "vector": [[1.0], [1.0, 2.0]]})
    frame.to_parquet(tmp_path / "v.parquet")
    with pytest.raises(BadInput, match="no vectors can be read"):
        load_vectors(VectorOptions(file=str(tmp_path / "v.parquet")), {"fever", "cough"})
    frame.rename(columns={"vector": "row"}).to_parquet(tmp_path / "v.parquet")
    with pytest.raises(BadInput, match="no vectors can be read"):
        load_vectors(VectorOptions(file=str(tmp_path / "v.parquet")), {"fever"})
