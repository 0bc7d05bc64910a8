"""Vectors of concepts, from a file: word2vec's text, .npy with a vocabulary, or Parquet."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metassay.concepts.record import digest
from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.llm.needs import PromptFile
from metassay.tables.parquet_file import load as load_parquet

Unit = Any  # a vector of length 1, float64


class VectorOptions(Options):
    """A file with a vector per concept.

    `file`: a .npy (concepts x dimensions), a .parquet with the columns concept and vector, or else
    word2vec's text: a line with the numbers of concepts and dimensions, then a line per concept.
    `vocabulary`: of a .npy, the text file with a concept per line, in the order of its rows.
    """

    file: str
    vocabulary: str | None = None


def load_vectors(options: VectorOptions, concepts: Collection[str]) -> dict[str, Unit]:
    """The vectors of these concepts, each brought to length 1.

    A concept that the file does not have, or whose vector is all zeros, is left out. Raises
    BadInput if a file cannot be read, is not of its form, or has two vectors of one concept.
    """
    path = Path(options.file)
    if (path.suffix == ".npy") != (options.vocabulary is not None):
        raise BadInput(f"{path}: a .npy needs a `vocabulary`, and nothing else has one; correct it")
    try:
        if path.suffix == ".npy":
            names, rows = _from_array(path, Path(str(options.vocabulary)))
        elif path.suffix == ".parquet":
            names, rows = _from_parquet(path)
        else:
            names, rows = _from_text(path)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path}: no vectors can be read ({type(error).__name__}); write word2vec's text, a"
            " .npy with a vocabulary, or a .parquet with the columns concept and vector"
        ) from None
    if len(set(names)) < len(names) or len(names) != len(rows):
        raise BadInput(
            f"{path}: has {len(rows):,} vectors of {len(set(names)):,} different concepts; give"
            " each concept one"
        )
    return _units({name: rows[at] for at, name in enumerate(names) if name in concepts}, path)


def vector_files(options: VectorOptions) -> tuple[PromptFile, ...]:
    """The files of the project that vectors are read from."""
    names = [options.file, *([options.vocabulary] if options.vocabulary else [])]
    return tuple(PromptFile(Path(name), None) for name in names)


def vector_digest(options: VectorOptions) -> str:
    """What recipes know the files by; BadInput if one cannot be read."""
    return "".join(digest(one.path) for one in vector_files(options))


def _units(raw: Mapping[str, Any], path: Path) -> dict[str, Unit]:
    found = {}
    for name, row in raw.items():
        vector = np.asarray(row, np.float64)
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or vector.shape != np.shape(next(iter(raw.values()))):
            raise BadInput(
                f"{path}: the vector of {name!r} has another length than the first one, or a number"
                " that is not finite; correct it"
            )
        if length > 0:
            found[name] = vector / length
    return found


def _from_array(path: Path, vocabulary: Path) -> tuple[Sequence[str], Any]:
    names = [line.strip() for line in vocabulary.read_text(encoding="utf-8").splitlines()]
    rows = np.load(path, mmap_mode="r", allow_pickle=False)
    if rows.ndim != 2:
        raise ValueError
    return names, rows


def _from_parquet(path: Path) -> tuple[Sequence[str], Any]:
    table = load_parquet(path)
    if not {"concept", "vector"} <= set(table.column_names):
        raise ValueError
    return table["concept"].to_pylist(), table["vector"].to_pylist()


def _from_text(path: Path) -> tuple[Sequence[str], Any]:
    with path.open(encoding="utf-8") as file:
        count, dimensions = map(int, file.readline().split())
        # A concept's name may have blanks, a number none.
        lines = [line.rstrip().rsplit(" ", dimensions) for line in file if line.strip()]
    if len(lines) != count:
        raise ValueError
    return [line[0] for line in lines], [list(map(float, line[1:])) for line in lines]
