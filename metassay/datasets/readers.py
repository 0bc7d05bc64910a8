"""The readers: one per format or dataset, from a folder of raw files to rows.

A dataset is an entry in data/registry.yaml that names its reader; a new reader is a file in this
folder and a line below, `module:function`. A reader is imported when it is used.
"""

import importlib
from collections.abc import Mapping

from metassay.datasets.registry import REGISTRY, Dataset
from metassay.datasets.rows import Reader

READERS = {
    "aci_bench": "metassay.datasets.aci_bench:read",
    "doclens_abstract": "metassay.datasets.doclens_json:read_abstracts",
    "doclens_impression": "metassay.datasets.doclens_json:read_impressions",
    "doclens_note": "metassay.datasets.doclens_json:read_notes",
    "doclens_question": "metassay.datasets.doclens_json:read_questions",
    "files": "metassay.datasets.files:read",
    "mts_dialog": "metassay.datasets.mts_dialog:read",
    "scholarsum": "metassay.datasets.scholarsum:read",
    "sfres": "metassay.datasets.unieval:read_sfres",
    "topical_chat": "metassay.datasets.unieval:read_topical_chat",
    "xsum_hallucination": "metassay.datasets.xsum_hallucination:read",
}


def reader_of(name: str) -> Reader:
    """The reader of that name."""
    module, _, function = READERS[name].partition(":")
    reader: Reader = getattr(importlib.import_module(module), function)
    return reader


def reader_problems(datasets: Mapping[str, Dataset]) -> list[str]:
    """One line for every dataset of the registry whose reader does not exist."""
    return [
        f"{REGISTRY} > datasets > {name} > reader: {dataset.reader!r} is not known; choose from"
        f" {', '.join(READERS)}"
        for name, dataset in datasets.items()
        if dataset.reader is not None and dataset.reader not in READERS
    ]
