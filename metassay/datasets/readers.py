"""The readers: one per format or dataset, from a folder of raw files to rows.

A dataset is an entry in data/registry.yaml that names its reader; a new reader is a file in this
folder and a line below. Not in `__init__`, so that fetching does not depend on every reader.
"""

from collections.abc import Mapping

from metassay.datasets import (
    aci_bench,
    doclens_json,
    files,
    mts_dialog,
    scholarsum,
    unieval,
    xsum_hallucination,
)
from metassay.datasets.registry import REGISTRY, Dataset
from metassay.datasets.rows import Reader

READERS: dict[str, Reader] = {
    "aci_bench": aci_bench.read,
    "doclens_abstract": doclens_json.read_abstracts,
    "doclens_impression": doclens_json.read_impressions,
    "doclens_note": doclens_json.read_notes,
    "doclens_question": doclens_json.read_questions,
    "files": files.read,
    "mts_dialog": mts_dialog.read,
    "scholarsum": scholarsum.read,
    "sfres": unieval.read_sfres,
    "topical_chat": unieval.read_topical_chat,
    "xsum_hallucination": xsum_hallucination.read,
}


def reader_problems(datasets: Mapping[str, Dataset]) -> list[str]:
    """One line for every dataset of the registry whose reader does not exist."""
    return [
        f"{REGISTRY} > datasets > {name} > reader: {dataset.reader!r} is not known; choose from"
        f" {', '.join(READERS)}"
        for name, dataset in datasets.items()
        if dataset.reader is not None and dataset.reader not in READERS
    ]
