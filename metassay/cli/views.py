"""The tables of a benchmark as the terminal shows them: views of pages, and those of the contract.

Columns that may hold texts are left out, whatever the dataset's access class: what a terminal shows
is recorded, and a file is sent on, more easily than anybody looks the class up.
"""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from metassay.core.params import Params
from metassay.core.stages import TABLES, files_in
from metassay.llm.endpoints import parse_models
from metassay.reporting import headline
from metassay.reporting.certificates import limits_of
from metassay.reporting.contract_page import TABLES as CONTRACT
from metassay.reporting.names import ShownAs
from metassay.tables.parquet import read

# Of columns that hold words, these and those of a key are ours or names; others may be texts.
OURS = {
    *("advice", "confound", "found", "given", "note"),
    *("recipe", "sentence", "suspected", "verdict", "why"),
}
VIEWS = {  # what is made of tables, by the block of params that has the benchmark
    "benchmarks": {
        "trust": "the metric closest to people, by each criterion and for each decision",
        "means": "each system's mean score of whole texts, by the main metrics",
    },
    "judge_tests": {"judges": "how often each judge is right"},
    "segment_tests": {"segmentations": "how often each segmentation is right"},
    "every": {"answers": "what language models were asked, and how many answers are missing"},
}


def path_of(folder: Path, table: str) -> Path:
    """A table's file, or its folder where several stages write it."""
    whole = folder / table
    return whole if whole.is_dir() else folder / f"{table}.parquet"


def table_of(name: str, table: str, params: Params) -> tuple[pd.DataFrame, list[str]]:
    """A table of a benchmark, and what is to be known of it."""
    own, folder = params.every[name], Path(TABLES) / name
    shown_as = ShownAs.of(params.shown_as, getattr(own, "writers", []), getattr(own, "judges", []))
    if table == "means":
        authors, values = headline.board(folder, shown_as)
        return pd.DataFrame(values, columns=["metric", *authors]), []
    if table == "trust":
        limits = limits_of(folder, float(params.meta_evaluation["confidence"]))
        best = headline.best_metrics(folder, shown_as)
        return pd.DataFrame(best, columns=[*headline.HEADS_OF_TRUST]), limits
    if table == "judges":
        values = headline.cards(folder, shown_as)
        return pd.DataFrame(values, columns=[*headline.HEADS_OF_CARDS]), []
    if table == "segmentations":
        values = headline.score_rows(folder)
        return pd.DataFrame(values, columns=[*headline.HEADS_OF_SCORES]), []
    if table == "answers":
        models = parse_models(params.endpoints, params.models).models
        return headline.answers_of(folder, files_in(own, "responses"), models), []
    of = CONTRACT[table]
    texts = [
        name
        for name, column in of.columns.items()
        if not (name in of.key or name in OURS or column.choices)
        and pa.types.is_string(getattr(column.type, "value_type", column.type))
    ]
    told = [f"left out, as they may hold texts: {', '.join(texts)}"] if texts else []
    return read(of, path_of(folder, table)).drop(columns=texts), told
