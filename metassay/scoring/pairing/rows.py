"""Rows of table `pairs`, whose long texts many rows share; and what a question is called."""

import hashlib
import json
from array import array
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_CHUNK = 50_000  # rows held as Python objects before they become a frame
_SHARED = ("premise", "hypothesis", "context", "repeats")  # columns of texts that rows share


def pair_id(
    instrument: str, premise: str | None, hypothesis: str, context: str | None = None
) -> str:
    """First 32 hex digits of the SHA-256 of [instrument, premise, hypothesis] as compact JSON.

    A context, if there is one, is a fourth item.
    """
    digest = _begun(instrument, premise).copy()
    digest.update(_json(hypothesis))
    digest.update(b"]" if context is None else b"," + _json(context) + b"]")
    return str(digest.hexdigest()[:32])


@lru_cache(maxsize=1024)
def _begun(instrument: str, premise: str | None) -> Any:
    # Many hypotheses share a long premise, which is thus hashed once.
    return hashlib.sha256(b"[" + _json(instrument) + b"," + _json(premise) + b",")


def _json(value: str | None) -> bytes:
    return _ENCODER.encode(value).encode()


class PairRows:
    """Rows of `pairs` as they come, and the table made of them.

    Of texts that many rows share every distinct one is held once, with a number; null is -1.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[object, ...]] = []
        self._chunks: list[pd.DataFrame] = []
        self._texts: dict[str, dict[str, int]] = {name: {} for name in _SHARED}
        self._codes = {name: array("i") for name in _SHARED}

    def add(
        self,
        asks: tuple[str, str],
        place: tuple[str, str, str, int, int],
        said: tuple[str | None, str, str | None],
        settled: str | None,
        repeats: str,
    ) -> None:
        """One question. asks: instrument and measure. place: doc_id, author, part, position,
        citation. said: premise, hypothesis and context. settled: why nobody is asked; then there is
        no premise. `repeats` as the table has it.
        """
        self._rows.append((pair_id(asks[0], *said), *asks, *place, settled))
        for name, text in zip(_SHARED, (*said, repeats), strict=True):
            known = self._texts[name]
            code = -1 if text is None else known.setdefault(text, len(known))
            self._codes[name].append(code)
        if len(self._rows) >= _CHUNK:
            self._flush()

    def frame(self) -> pd.DataFrame:
        """Table `pairs`, its texts as Categoricals."""
        self._flush()
        if not self._chunks:
            return empty(PAIRS)
        rows = pd.concat(self._chunks, ignore_index=True)
        for name, known in self._texts.items():
            codes = np.array(self._codes[name], dtype=np.int32)
            rows[name] = pd.Categorical.from_codes(codes, pd.Index(list(known), dtype="str"))
        return rows[list(PAIRS.columns)]

    def _flush(self) -> None:
        if self._rows:
            names = [name for name in PAIRS.columns if name not in _SHARED]
            chunk = pd.DataFrame(self._rows, columns=names)
            self._chunks.append(chunk.astype({"settled": "str"}))  # else all-null has another type
            self._rows = []


def repeats_of(dataset: str, known: Mapping[str, frozenset[str]], authors: Iterable[str]) -> str:
    """What the source may repeat, and each of these authors' texts, as pairs.repeats has it."""
    return " ".join(sorted(frozenset([dataset]).union(*(known[author] for author in authors))))
