"""Index the readers, which read a folder of raw files into rows or items.

There is a reader per format or dataset. The dataset's entry in data/registry.yaml names
it, or a user's reader by a dotted path. Released files are verified by hash (`fetch`),
so their readers check less. CONTRIBUTING.md says where a new one goes. Readers are
imported when used.
"""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from metassay.core.errors import BadInput, collect_problems
from metassay.core.kinds import is_path, object_at
from metassay.datasets.registry import REGISTRY, Dataset

READERS = {
    "aci_bench": "metassay.datasets.consultations:read_aci_bench",
    "doclens_abstract": "metassay.datasets.own_data:read_abstracts",
    "doclens_impression": "metassay.datasets.own_data:read_impressions",
    "doclens_note": "metassay.datasets.own_data:read_notes",
    "doclens_question": "metassay.datasets.own_data:read_questions",
    "element_labels": "metassay.datasets.annotations:read_element_labels",
    "fact_annotations": "metassay.datasets.annotations:read_fact_annotations",
    "files": "metassay.datasets.own_data:read",
    "frank": "metassay.datasets.scored_texts:read_frank",
    "longeval": "metassay.datasets.scored_texts:read_longeval",
    "longsciverify": "metassay.datasets.scored_texts:read_longsciverify",
    "meqsum": "metassay.datasets.questions:read_meqsum",
    "mimic_reports": "metassay.datasets.reports:read_mimic_reports",
    "mts_dialog": "metassay.datasets.consultations:read_mts_dialog",
    "primock57": "metassay.datasets.consultations:read_primock57",
    "scholarsum": "metassay.datasets.scored_texts:read_scholarsum",
    "sfres": "metassay.datasets.scored_texts:read_sfres",
    "simsum": "metassay.datasets.consultations:read_simsum",
    "topical_chat": "metassay.datasets.scored_texts:read_topical_chat",
    "xsum_hallucination": "metassay.datasets.scored_texts:read_xsum_hallucination",
}

# For tests of judges: they give `metassay.labelled.records.Items`.
ITEM_READERS = {
    "anli": "metassay.labelled.readers.entailment:read_anli",
    "claim_labels": "metassay.labelled.readers.entailment:read_claim_labels",
    "llm_aggrefact": "metassay.labelled.readers.entailment:read_llm_aggrefact",
    "medec": "metassay.labelled.readers.entailment:read_medec",
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


def check_type(value: object, type_: type[Any], reader: str) -> Any:
    """Return a reader's output; raise BadInput if it has the wrong type."""
    if not isinstance(value, type_):
        raise BadInput(
            f"reader {reader!r} returned {type(value).__name__}, and metassay.kinds."
            f"{type_.__name__} is needed here; correct the reader"
        )
    return value


def reader_problems(datasets: Mapping[str, Dataset]) -> list[str]:
    """Return a line for every dataset of the registry whose reader does not exist."""
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
            problems.append(
                f"{where}: {dataset.reader!r} is not known; choose from {known}"
            )
    return problems


def reader_of(name: str, index: Mapping[str, str] = READERS) -> Callable[[Path], Any]:
    """Return the reader of that name in an index, or at that dotted path."""
    if name not in index and is_path(name):
        return _user_reader(name, str(REGISTRY))
    module, _, function = index[name].partition(":")
    reader: Callable[[Path], Any] = getattr(importlib.import_module(module), function)
    return reader


def _user_reader(path: str, where: str) -> Callable[[Path], Any]:
    """Return the function at a dotted path; `read`, if the path is of a module."""
    reader: Callable[[Path], Any] = object_at(path, "read", where=where)
    if not callable(reader):
        raise BadInput(
            f"{where}: {path!r} is not a function of a folder; name one (module:NAME)"
        )
    return reader
