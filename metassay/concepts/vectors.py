"""Read vectors of concepts: word2vec's text, CSV, .npy with a vocabulary, or Parquet.

Any will do whose concepts are those of the linker: embeddings of a graph such as the
UMLS, of claims and notes, or of the terms' words. docs/checkpoints.md names public ones.
"""

import csv
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.tables.parquet_file import load as load_parquet

_UNEQUAL = "it has no finite vector of one length for each of different concepts"


class VectorOptions(Options):
    """A file with a vector per concept.

    `file`: a .npy (concepts x dimensions); a .parquet with the columns concept and
    vector; a .csv with a line of headings, then a concept and its numbers per line; or
    else word2vec's text: a line with the numbers of concepts and dimensions, then a
    line per concept. `vocabulary`: for a .npy, a text file with a concept per line, in
    the order of its rows.
    """

    file: str
    vocabulary: str | None = None

    @property
    def paths(self) -> list[Path]:
        """Files of the project that are read."""
        return [Path(name) for name in (self.file, self.vocabulary) if name]


def load_vectors(options: VectorOptions, concepts: Collection[str]) -> dict[str, Any]:
    """Read the vectors of these concepts, in float64, scaled to length 1.

    A concept that is not in the file, or whose vector is zero, is left out. Other
    concepts of a text or CSV take no memory. Raises BadInput if a file cannot be read,
    has another format, or has two vectors of a concept.
    """
    try:
        names, rows = _read(options.paths, set(concepts))
        wanted = [name for name in names if name in concepts]
        vectors = np.asarray(rows, np.float64)
        if len(set(names)) < len(names) or not np.isfinite(vectors).all():
            raise ValueError(_UNEQUAL)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadInput(
            f"{options.file}: no vectors can be read ({error}); write word2vec's text, a .csv with"
            " a line of headings, a .npy with a `vocabulary`, or a .parquet with the columns"
            " concept and vector"
        ) from None
    if not wanted:
        return {}
    lengths = np.linalg.norm(vectors, axis=1)
    return {
        name: vectors[row] / lengths[row]
        for row, name in enumerate(wanted)
        if lengths[row] > 0
    }


def _read(paths: list[Path], concepts: set[str]) -> tuple[list[str], Any]:
    """Return all concepts of a file, and the vectors of the wanted ones, in its order."""
    file, *vocabularies = paths
    if (file.suffix == ".npy") != bool(vocabularies):
        raise ValueError("a .npy file needs a `vocabulary`, and no other file has one")
    if file.suffix == ".csv":
        return _read_csv(file, concepts)
    if file.suffix not in {".npy", ".parquet"}:
        return _read_text(file, concepts)
    if vocabularies:
        lines = vocabularies[0].read_text(encoding="utf-8").splitlines()
        names = [line.strip() for line in lines]
        rows = np.load(file, allow_pickle=False)
    else:
        table = load_parquet(file)
        names = table["concept"].to_pylist()
        rows = table["vector"].to_pylist()
    vectors = np.asarray(rows, np.float64)
    if vectors.ndim != 2 or len(names) != len(vectors):
        raise ValueError(_UNEQUAL)
    return names, vectors[[name in concepts for name in names]]


def _read_text(file: Path, concepts: set[str]) -> tuple[list[str], list[Any]]:
    names = []
    rows = []
    with file.open(encoding="utf-8") as lines:
        count, dimensions = map(int, next(lines, "").split())
        for line in lines:
            if not line.strip():
                continue
            # A concept's name can have blanks, a number none.
            name, *numbers = line.rstrip().rsplit(" ", dimensions)
            names.append(name)
            if name in concepts:
                rows.append(np.array(numbers, np.float64))
    if len(names) != count:
        raise ValueError(
            f"it has {len(names)} concepts, not {count} as its first line says"
        )
    return names, rows


def _read_csv(file: Path, concepts: set[str]) -> tuple[list[str], list[Any]]:
    names = []
    rows = []
    with file.open(encoding="utf-8", newline="") as opened:
        lines = csv.reader(opened)
        headings = next(lines, [])
        if not headings or any(map(_is_number, headings)):
            raise ValueError("its first line has numbers instead of headings")
        for name, *numbers in lines:
            names.append(name)
            if name in concepts:
                rows.append(np.array(numbers, np.float64))
    return names, rows


def _is_number(heading: str) -> bool:
    try:
        float(heading)
    except ValueError:
        return False
    return True
