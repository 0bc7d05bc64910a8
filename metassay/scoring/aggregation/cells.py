"""Where scores of units are added up: one cell for every part of every text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.scoring.pairing.instruments import Reals
from metassay.scoring.pairing.questions import Questions
from metassay.tables.checks import without_further_references
from metassay.tables.names import FULL, REFERENCE

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

KEY = ["doc_id", "author", "part"]


class Cells(NamedTuple):
    """The (document, author, part)s that get scores: arrays of one length, sorted by key."""

    keys: pd.DataFrame  # doc_id, author, part
    whole: Integers  # the cell of part full of the same text
    system: Flags  # the author is not the reference
    compared: Flags  # the document has a reference
    citing: Flags  # the author cites somewhere in the benchmark


class Lost(NamedTuple):
    """Where units are missing because the text that would have them failed."""

    parts: Integers  # cells of leaf parts that failed
    texts: Flags  # cells whose whole text failed


def cells_of(parts: pd.DataFrame, units: pd.DataFrame) -> Cells:
    """One cell for every part that a text or its document's reference has, and for its whole."""
    parts = without_further_references(parts)
    authors = parts[["doc_id", "author"]].drop_duplicates()
    references = parts.loc[parts["author"] == REFERENCE, ["doc_id", "part"]]
    inherited, whole = authors.merge(references, on="doc_id"), authors.assign(part=FULL)
    keys = pd.concat([parts[KEY], inherited, whole]).drop_duplicates()
    keys = keys.sort_values(KEY, ignore_index=True)
    # Who has statements but cites nothing does not cite; of who has none, that is not known.
    statements = units[units["kind"] == "statement"]
    stating = statements["author"].unique()
    citing = statements.loc[statements["citations"].str.len() > 0, "author"].unique()
    return Cells(
        keys,
        places_in(keys.assign(part=FULL), keys),
        (keys["author"] != REFERENCE).to_numpy(),
        keys["doc_id"].isin(references["doc_id"]).to_numpy(),
        (~keys["author"].isin(stating) | keys["author"].isin(citing)).to_numpy(),
    )


def places_in(rows: pd.DataFrame, among: pd.DataFrame) -> Integers:
    """Where each row is in `among`, which has the same columns; -1 where it is not there."""
    index = pd.MultiIndex.from_frame(among)
    return index.get_indexer(pd.MultiIndex.from_frame(rows[list(among)])).astype(np.int64)


def lost_units(parts: pd.DataFrame, cells: Cells, *, by_reference: bool) -> Lost:
    """Where the text's own units are missing or, with `by_reference`, those of its reference."""
    key = ["doc_id", "part"] if by_reference else KEY
    writers = parts[parts["author"] == REFERENCE] if by_reference else parts
    failed = writers[writers["status"] != "ok"]
    leaves, wholes = failed[failed["leaf"] == "yes"][key], failed[failed["part"] == FULL][key]
    return Lost(
        np.flatnonzero(places_in(cells.keys, leaves) >= 0),
        places_in(cells.keys.assign(part=FULL), wholes) >= 0,
    )


@dataclass(frozen=True)
class Setup:
    """What leads from texts to pairs; the settings as recipes print them.

    `alignments` has the benchmark's, by name, in its order; `questions` its blocks, by name.
    """

    segmentation: str
    decomposition: str
    alignments: Mapping[str, str]
    questions: Mapping[str, Questions]
    version: str  # metassay's


def totals(at: Integers, cells: Cells, worth: Reals | None = None) -> Reals:
    """Items, or their worth, per cell; in part full those of all parts."""
    size = len(cells.keys)
    own = np.bincount(at, worth, minlength=size).astype(float)
    pooled = np.bincount(cells.whole, own, minlength=size)
    return np.where(cells.whole == np.arange(size), pooled, own)


def ratio(part: Reals, total: Reals) -> Reals:
    """Null (NaN) where there is nothing to divide by."""
    ratios: Reals = np.full(total.shape, np.nan)
    np.divide(part, total, out=ratios, where=total > 0)
    return ratios
