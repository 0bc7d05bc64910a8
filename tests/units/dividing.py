"""Parts of texts by segmentations that ask nobody and read no facets of the data's own."""

from pathlib import Path

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.llm.needs import Resources
from metassay.tables.parquet import empty
from metassay.tables.parts import SEGMENTS
from metassay.units.segment import segment

RAW = Resources(Path("data/raw"))


def parts_of(
    texts: pd.DataFrame, sources: pd.DataFrame, segmentation: Chosen
) -> pd.DataFrame:
    """Table `parts`; the segmentation has nothing to note."""
    parts, notes = segment(texts, sources, empty(SEGMENTS), segmentation, RAW)
    assert notes == ()
    return parts
