"""Sources to texts: one system writes for every source."""

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.generation.record import Generated
from metassay.llm.needs import Resources


def write_texts(
    sources: pd.DataFrame, name: str, system: Chosen, resources: Resources
) -> Generated:
    """Write a text for every source: SOURCES to TEXTS, with `name` as the author.

    A source from which nothing could be written has a row that says why, with no text. Raises
    BadInput as the kinds do.
    """
    written: Generated = system.record.write(sources, name, system.options, resources)
    return written
