"""The readers: one per format or dataset, from a folder of raw files to rows, or to items.

A dataset is an entry in data/registry.yaml that names its reader, or by a dotted path a user's own.
What was released is known by its hash (`fetch`): its readers check little that others check.
CONTRIBUTING.md says where a new one goes. A reader is imported when it is used.
"""

import importlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from metassay.core.errors import BadInput, collect_problems
from metassay.core.kinds import is_path, object_at
from metassay.datasets.registry import REGISTRY, Dataset

READERS = {
    "aci_bench": "metassay.datasets.consultations:read_aci_bench",
    "doclens_abstract": "metassay.datasets.doclens_json:read_abstracts",
    "doclens_impression": "metassay.datasets.doclens_json:read_impressions",
    "doclens_note": "metassay.datasets.doclens_json:read_notes",
    "doclens_question": "metassay.datasets.doclens_json:read_questions",
    "element_labels": "metassay.datasets.element_labels:read",
    "fact_annotations": "metassay.datasets.fact_annotations:read",
    "files": "metassay.datasets.own_data:read",
    "frank": "metassay.datasets.scored_texts:read_frank",
    "longeval": "metassay.datasets.scored_texts:read_longeval",
    "longsciverify": "metassay.datasets.scored_texts:read_longsciverify",
    "mts_dialog": "metassay.datasets.consultations:read_mts_dialog",
    "primock57": "metassay.datasets.consultations:read_primock57",
    "scholarsum": "metassay.datasets.scholarsum:read",
    "sfres": "metassay.datasets.scored_texts:read_sfres",
    "simsum": "metassay.datasets.simsum:read",
    "topical_chat": "metassay.datasets.scored_texts:read_topical_chat",
    "xsum_hallucination": "metassay.datasets.scored_texts:read_xsum_hallucination",
}

# For tests of judges: they give `metassay.labelled.records.Items`.
ITEM_READERS = {
    "anli": "metassay.labelled.readers.entailment:read_anli",
    "claim_labels": "metassay.labelled.readers.claim_labels:read",
    "llm_aggrefact": "metassay.labelled.readers.entailment:read_llm_aggrefact",
    "medec": "metassay.labelled.readers.medec:read",
    "snli": "metassay.labelled.readers.entailment:read_snli",
    "wice": "metassay.labelled.readers.entailment:read_wice",
    "xsum_factuality": "metassay.labelled.readers.entailment:read_xsum_factuality",
}

# For tests of segmentations: they give `metassay.labelled.records.Documents`.
SENTENCE_READERS = {
    "csabstruct": "metassay.labelled.readers.sentences:read_csabstruct",
    "pubmed_rct": "metassay.labelled.readers.sentences:read_pubmed_rct",
    "sentences": "metassay.labelled.readers.sentences:read",
}

EVERY_READER = (*READERS, *ITEM_READERS, *SENTENCE_READERS)


def unsuited(reader: str, right: Collection[str], what: str) -> str | None:
    """Why `what` takes the readers `right` and not this one; None if it does, or it is unknown."""
    if reader in right or reader not in EVERY_READER:
        return None
    return f"reader {reader!r} does not suit {what}; it takes one of {', '.join(right)}"


def returned(found: object, wanted: type[Any], reader: str) -> Any:
    """What a reader returned; BadInput if it is not of the type that is wanted."""
    if not isinstance(found, wanted):
        raise BadInput(
            f"reader {reader!r} returned {type(found).__name__}, and metassay.kinds."
            f"{wanted.__name__} is wanted here; fix it"
        )
    return found


def reader_problems(datasets: Mapping[str, Dataset]) -> list[str]:
    """One line for every dataset of the registry whose reader does not exist."""
    problems: list[str] = []
    for name, dataset in datasets.items():
        where = f"{REGISTRY} > datasets > {name} > reader"
        if dataset.reader is None or dataset.reader in EVERY_READER:
            continue
        if is_path(dataset.reader):
            with collect_problems(problems):
                _user_reader(dataset.reader, where)
        else:
            known = ", ".join(EVERY_READER)
            problems.append(f"{where}: {dataset.reader!r} is not known; choose from {known}")
    return problems


def reader_of(name: str, index: Mapping[str, str] = READERS) -> Callable[[Path], Any]:
    """The reader of that name in an index, or at that dotted path."""
    if name not in index and is_path(name):
        return _user_reader(name, str(REGISTRY))
    module, _, function = index[name].partition(":")
    reader: Callable[[Path], Any] = getattr(importlib.import_module(module), function)
    return reader


def _user_reader(path: str, where: str) -> Callable[[Path], Any]:
    """The function that a dotted path names; `read`, if it names a module."""
    found: Callable[[Path], Any] = object_at(path, "read", where=where)
    if not callable(found):
        raise BadInput(f"{where}: {path!r} is not a function of a folder; name one (module:NAME)")
    return found
