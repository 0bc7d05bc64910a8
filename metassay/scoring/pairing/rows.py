"""Rows of table `pairs`, whose long texts many rows share; and what a question is called."""

import hashlib
import json
from array import array
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_CHUNK = 50_000  # rows held as Python objects before they become a frame
_SHARED = ("premise", "hypothesis", "context", "repeats")  # columns of texts that rows share


class Asked(NamedTuple):
    """One question. place: doc_id, author, part, position, citation. said: premise, hypothesis and
    context. settled: why nobody is asked; then there is no premise.
    """

    instrument: str
    measure: str
    place: tuple[str, str, str, int, int]
    said: tuple[str | None, str, str | None]
    settled: str | None


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


class _Texts:
    """A column of texts, every distinct one of which is held once; null is -1."""

    def __init__(self) -> None:
        self._codes = array("i")
        self._known: dict[str, int] = {}

    def add(self, text: str | None) -> None:
        known = self._known
        self._codes.append(-1 if text is None else known.setdefault(text, len(known)))

    def column(self) -> pd.Categorical:
        codes = np.array(self._codes, dtype=np.int32)
        return pd.Categorical.from_codes(codes, pd.Index(list(self._known), dtype="str"))


class PairRows:
    """Rows of `pairs` as they come, and the table made of them."""

    def __init__(self) -> None:
        self._rows: list[tuple[object, ...]] = []
        self._chunks: list[pd.DataFrame] = []
        self._texts = {name: _Texts() for name in _SHARED}

    def add(self, one: Asked, repeats: str) -> None:
        """One row; `repeats` as the table has it."""
        identity = pair_id(one.instrument, *one.said)
        self._rows.append((identity, one.instrument, one.measure, *one.place, one.settled))
        for name, said in zip(_SHARED, (*one.said, repeats), strict=True):
            self._texts[name].add(said)
        if len(self._rows) >= _CHUNK:
            self._flush()

    def frame(self) -> pd.DataFrame:
        """Table `pairs`, its texts as Categoricals."""
        self._flush()
        if not self._chunks:
            return empty(PAIRS)
        rows = pd.concat(self._chunks, ignore_index=True)
        for name, texts in self._texts.items():
            rows[name] = texts.column()
        return rows[list(PAIRS.columns)]

    def _flush(self) -> None:
        if self._rows:
            names = [name for name in PAIRS.columns if name not in _SHARED]
            chunk = pd.DataFrame(self._rows, columns=names)
            self._chunks.append(chunk.astype({"settled": "str"}))  # else all-null has another type
            self._rows = []
