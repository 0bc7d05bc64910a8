"""The readers: one per format or dataset, from a folder of raw files to rows, or to items.

A dataset is an entry in data/registry.yaml that names its reader; a new reader is a file in this
folder, or in judge_tests/readers/ if it gives items that judges are tried on, or in
segment_tests/readers/ if it gives texts that segmentations are tried on, and a line below,
`module:function`. A reader is imported when it is used.
"""

import importlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from metassay.datasets.registry import REGISTRY, Dataset
from metassay.datasets.rows import Reader

READERS = {
    "aci_bench": "metassay.datasets.aci_bench:read",
    "doclens_abstract": "metassay.datasets.doclens_json:read_abstracts",
    "doclens_impression": "metassay.datasets.doclens_json:read_impressions",
    "doclens_note": "metassay.datasets.doclens_json:read_notes",
    "doclens_question": "metassay.datasets.doclens_json:read_questions",
    "files": "metassay.datasets.files:read",
    "longeval": "metassay.datasets.long_documents:read_longeval",
    "longsciverify": "metassay.datasets.long_documents:read_longsciverify",
    "mts_dialog": "metassay.datasets.mts_dialog:read",
    "scholarsum": "metassay.datasets.scholarsum:read",
    "sfres": "metassay.datasets.unieval:read_sfres",
    "simsum": "metassay.datasets.simsum:read",
    "topical_chat": "metassay.datasets.unieval:read_topical_chat",
    "xsum_hallucination": "metassay.datasets.xsum_hallucination:read",
}

# For tests of judges: they give `metassay.judge_tests.items.Items`.
ITEM_READERS = {
    "anli": "metassay.judge_tests.readers.anli:read",
    "claim_labels": "metassay.judge_tests.readers.claim_labels:read",
    "llm_aggrefact": "metassay.judge_tests.readers.llm_aggrefact:read",
    "medec": "metassay.judge_tests.readers.medec:read",
    "snli": "metassay.judge_tests.readers.snli:read",
    "wice": "metassay.judge_tests.readers.wice:read",
    "xsum_factuality": "metassay.judge_tests.readers.xsum_factuality:read",
}

# For tests of segmentations: they give `metassay.segment_tests.documents.Documents`.
SENTENCE_READERS = {
    "csabstruct": "metassay.segment_tests.readers.sentences:read_csabstruct",
    "pubmed_rct": "metassay.segment_tests.readers.pubmed_rct:read",
    "sentences": "metassay.segment_tests.readers.sentences:read",
}

EVERY_READER = (*READERS, *ITEM_READERS, *SENTENCE_READERS)


def reader_of(name: str) -> Reader:
    """The reader of that name, which gives rows."""
    module, _, function = READERS[name].partition(":")
    reader: Reader = getattr(importlib.import_module(module), function)
    return reader


def item_reader_of(name: str) -> Callable[[Path], Any]:
    """The reader of that name, which gives items."""
    module, _, function = ITEM_READERS[name].partition(":")
    reader: Callable[[Path], Any] = getattr(importlib.import_module(module), function)
    return reader


def sentence_reader_of(name: str) -> Callable[[Path], Any]:
    """The reader of that name, which gives texts with labelled sentences."""
    module, _, function = SENTENCE_READERS[name].partition(":")
    reader: Callable[[Path], Any] = getattr(importlib.import_module(module), function)
    return reader


def unsuited(reader: str, right: Collection[str], what: str) -> str | None:
    """Why `what` takes the readers `right` and not this one; None if it does, or it is unknown."""
    if reader in right or reader not in EVERY_READER:
        return None
    return f"reader {reader!r} does not suit {what}; it takes one of {', '.join(right)}"


def reader_problems(datasets: Mapping[str, Dataset]) -> list[str]:
    """One line for every dataset of the registry whose reader does not exist."""
    return [
        f"{REGISTRY} > datasets > {name} > reader: {dataset.reader!r} is not known; choose from"
        f" {', '.join(EVERY_READER)}"
        for name, dataset in datasets.items()
        if dataset.reader is not None and dataset.reader not in EVERY_READER
    ]
