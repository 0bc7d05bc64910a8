"""Concepts by packages that a user may have: scispaCy, MedCAT, QuickUMLS.

None is installed with Metassay; each is imported when it is used. The UMLS, which all three can
link to, needs a licence of one's own.
"""

import importlib
import importlib.metadata
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from metassay.concepts.record import Link, LinkerOptions, Mention
from metassay.core.errors import BadInput

_LICENCE = "the UMLS needs a licence: https://uts.nlm.nih.gov"


class ScispacyOptions(LinkerOptions):
    """A model of scispaCy, by the name of its package.

    `knowledge_base`: what its entities are linked to, each to the best candidate of all that are
    above `threshold`; null: an entity's concept is its wording in lower case and its semantic type
    its label, as MEDCON's substitute without the UMLS has it (en_ner_bc5cdr_md).
    """

    kind: Literal["scispacy"]
    model: str
    knowledge_base: Literal["umls", "mesh", "rxnorm", "go", "hpo"] | None = None
    threshold: float = Field(default=0.7, ge=0, le=1)


class MedcatOptions(LinkerOptions):
    """`model`: a model pack, such as umls_sm_wstatus_2021_oct.zip; a concept's semantic type is its
    first."""

    kind: Literal["medcat"]
    model: str


class QuickumlsOptions(LinkerOptions):
    """`index`: the folder that QuickUMLS made of a UMLS. The defaults are MEDCON's."""

    kind: Literal["quickumls"]
    index: str
    threshold: float = Field(default=1.0, gt=0, le=1)
    window: int = Field(default=5, ge=1)


def load_scispacy(options: ScispacyOptions) -> Link:
    """What finds the mentions of a text; BadInput if scispaCy or the model is not installed."""
    install = (
        f"run: pip install scispacy, and install {options.model} from the list of models at"
        f" https://allenai.github.io/scispacy; {_LICENCE}"
    )
    if options.knowledge_base:
        # Importing them registers what add_pipe names.
        _module("scispacy.abbreviation", install)
        _module("scispacy.linking", install)
    try:
        nlp = _module("spacy", install).load(options.model)
    except OSError:
        raise BadInput(f"{options.model} is not installed; {install}") from None
    kinds: Any = {}
    if options.knowledge_base:
        nlp.add_pipe("abbreviation_detector")
        settings = {
            "resolve_abbreviations": True,
            "linker_name": options.knowledge_base,
            "threshold": options.threshold,
        }
        kinds = nlp.add_pipe("scispacy_linker", config=settings).kb.cui_to_entity

    def link(text: str) -> list[Mention]:
        found = []
        for entity in nlp(text).ents:
            term, semantic_type = entity.text.lower(), entity.label_
            concept: str | None = term
            if options.knowledge_base:
                # The best candidate comes first; there may be none.
                concept = next((name for name, _ in entity._.kb_ents), None)
                semantic_type = next(iter(kinds[concept].types), "") if concept else ""
            if concept:
                place = entity.start_char, entity.end_char
                found.append(Mention(*place, concept, semantic_type, term))
        return found

    return link


def load_medcat(options: MedcatOptions) -> Link:
    """What finds the mentions of a text; BadInput if MedCAT or the model pack is not there."""
    install = f"run: pip install medcat, and download a model pack; {_LICENCE}"
    cat = _module("medcat.cat", install).CAT
    if not Path(options.model).exists():
        raise BadInput(f"{options.model} is not there; {install}")
    loaded = cat.load_model_pack(options.model)

    def link(text: str) -> list[Mention]:
        entities = loaded.get_entities(text)["entities"].values()
        found = [
            Mention(
                *(one["start"], one["end"], one["cui"]),
                next(iter(one["type_ids"]), ""),
                one["source_value"].lower(),
            )
            for one in entities
        ]
        return sorted(found)

    return link


def load_quickumls(options: QuickumlsOptions) -> Link:
    """What finds the mentions of a text; BadInput if QuickUMLS or its index is not there.

    Of candidates that overlap the best counts (QuickUMLS's best_match), with all its concepts; text
    is matched without its syntax, as MEDCON does.
    """
    install = (
        "run: pip install quickumls, and python -m quickumls.install UMLS INDEX makes the index;"
        f" {_LICENCE}"
    )
    made = _module("quickumls", install).QuickUMLS
    if not Path(options.index).is_dir():
        raise BadInput(f"{options.index} is no folder; {install}")
    accepted = {} if options.types is None else {"accepted_semtypes": set(options.types)}
    matcher = made(options.index, threshold=options.threshold, window=options.window, **accepted)

    def link(text: str) -> list[Mention]:
        every = matcher.match(text, best_match=True, ignore_syntax=True)
        # A candidate has several types; one that counts stands for it.
        return sorted(
            Mention(
                *(one["start"], one["end"], one["cui"]),
                min(set(one["semtypes"]) & (options.types or set()) or one["semtypes"], default=""),
                one["term"].lower(),
            )
            for candidates in every
            for one in candidates
        )

    return link


def version(package: str) -> str:
    """The version of a package, or `absent`."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def _module(name: str, install: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        raise BadInput(f"{error.name} is not installed; {install}") from None
