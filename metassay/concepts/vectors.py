"""Read vectors of concepts: word2vec's text, .npy with a vocabulary, or Parquet."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.tables.parquet_file import load as load_parquet


class VectorOptions(Options):
    """A file with a vector per concept.

    `file`: a .npy (concepts x dimensions), a .parquet with the columns concept and
    vector, or else word2vec's text: a line with the numbers of concepts and dimensions,
    then a line per concept. `vocabulary`: for a .npy, a text file with a concept per
    line, in the order of its rows.
    """

    file: str
    vocabulary: str | None = None

    @property
    def paths(self) -> list[Path]:
        """Files of the project that are read."""
        return [Path(name) for name in (self.file, self.vocabulary) if name]


def load_vectors(options: VectorOptions, concepts: Collection[str]) -> dict[str, Any]:
    """Read the vectors of these concepts, in float64, scaled to length 1.

    A concept that is not in the file, or whose vector is zero, is left out. Raises
    BadInput if a file cannot be read, has another format, or has two vectors of a
    concept.
    """
    try:
        names, rows = _read(*options.paths)
        vectors = np.asarray(rows, np.float64)
        valid = vectors.shape[:1] == (len(set(names)),) and vectors.ndim == 2
        if not valid or len(names) != len(vectors) or not np.isfinite(vectors).all():
            raise ValueError(
                "it has no finite vector of one length for each of different concepts"
            )
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadInput(
            f"{options.file}: no vectors can be read ({error}); write word2vec's text, a .npy with"
            " a `vocabulary`, or a .parquet with the columns concept and vector"
        ) from None
    lengths = np.linalg.norm(vectors, axis=1)
    return {
        name: vectors[row] / lengths[row]
        for row, name in enumerate(names)
        if name in concepts and lengths[row] > 0
    }


def _read(file: Path, vocabulary: Path | None = None) -> tuple[list[str], Any]:
    if (file.suffix == ".npy") != (vocabulary is not None):
        raise ValueError("a .npy needs a `vocabulary`, and nothing else has one")
    if vocabulary is not None:
        names = vocabulary.read_text(encoding="utf-8").splitlines()
        return [name.strip() for name in names], np.load(file, allow_pickle=False)
    if file.suffix == ".parquet":
        table = load_parquet(file)
        return table["concept"].to_pylist(), table["vector"].to_pylist()
    (first, *lines) = file.read_text(encoding="utf-8").splitlines()
    count, dimensions = map(int, first.split())
    # A concept's name can have blanks, a number none.
    parts = [line.rstrip().rsplit(" ", dimensions) for line in lines if line.strip()]
    if len(parts) != count:
        raise ValueError(
            f"it has {len(parts)} concepts, not {count} as its first line says"
        )
    return [part[0] for part in parts], [list(map(float, part[1:])) for part in parts]
