"""The linkers, by the `kind` of their options: a term list, scispaCy, MedCAT or QuickUMLS.

These packages are not installed with Metassay; each is imported when it is used. The
UMLS, which all three can link to, needs a licence.
"""

import functools
import hashlib
import importlib
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from metassay.concepts import terms
from metassay.concepts.terms import Link, LinkerOptions, Mention, version
from metassay.core.errors import BadInput
from metassay.core.options import recipe_text
from metassay.llm.needs import PromptFile

_LICENCE = "the UMLS needs a licence: https://uts.nlm.nih.gov"
_SCISPACY = (
    "run: pip install scispacy, and install the model from the list at"
    f" https://allenai.github.io/scispacy; {_LICENCE}"
)
_MEDCAT = f"run: pip install medcat, and download a model pack; {_LICENCE}"
_QUICKUMLS = (
    "run: pip install quickumls, and python -m quickumls.install UMLS INDEX makes the index;"
    f" {_LICENCE}"
)


class ScispacyOptions(LinkerOptions):
    """A model of scispaCy, by the name of its package.

    `knowledge_base`: links each entity to its best candidate above `threshold`; null:
    an entity's concept is its lower-case text and its semantic type its label, as in
    MEDCON's substitute without the UMLS (en_ner_bc5cdr_md).
    """

    kind: Literal["scispacy"]
    model: str
    knowledge_base: Literal["umls", "mesh", "rxnorm", "go", "hpo"] | None = None
    threshold: float = Field(default=0.7, ge=0, le=1)

    @property
    def packages(self) -> Mapping[str, str]:
        """ScispaCy and the model."""
        return dict.fromkeys(["scispacy", self.model], _SCISPACY)

    @property
    def versions(self) -> list[str]:
        """Versions of scispaCy and the model."""
        return [version("scispacy"), version(self.model)]

    def load(self) -> Link:
        """Import the model; an entity without a candidate is not a mention."""
        if self.knowledge_base:
            # Importing them registers the pipes below.
            _module("scispacy.abbreviation", _SCISPACY)
            _module("scispacy.linking", _SCISPACY)
        try:
            nlp = _module("spacy", _SCISPACY).load(self.model)
        except OSError:
            raise BadInput(f"{self.model} is not installed; {_SCISPACY}") from None
        kinds: Any = {}
        if self.knowledge_base:
            nlp.add_pipe("abbreviation_detector")
            settings = {"linker_name": self.knowledge_base, "threshold": self.threshold}
            settings["resolve_abbreviations"] = True
            kinds = nlp.add_pipe("scispacy_linker", config=settings).kb.cui_to_entity

        def link(text: str) -> list[Mention]:
            mentions = []
            for entity in nlp(text).ents:
                name = entity.text.lower()
                concepts = [(name, entity.label_)]
                if self.knowledge_base:  # the best candidate comes first
                    best = entity._.kb_ents[:1]
                    concepts = [(cui, (*kinds[cui].types, "")[0]) for cui, _ in best]
                place = entity.start_char, entity.end_char
                mentions += [Mention(*place, *concept, name) for concept in concepts]
            return mentions

        return link


class MedcatOptions(LinkerOptions):
    """`model`: a model pack, such as umls_sm_wstatus_2021_oct.zip."""

    READS: ClassVar = "model"
    kind: Literal["medcat"]
    model: str

    @property
    def packages(self) -> Mapping[str, str]:
        """MedCAT."""
        return {"medcat": _MEDCAT}

    def load(self) -> Link:
        """Load the model pack; a concept's semantic type is the first of its types."""
        cat = _module("medcat.cat", _MEDCAT).CAT
        if not Path(self.model).exists():
            raise BadInput(f"{self.model} does not exist; {_MEDCAT}")
        loaded = cat.load_model_pack(self.model)

        def mention(entity: Any) -> Mention:
            kind = (*entity["type_ids"], "")[0]
            name = entity["source_value"].lower()
            return Mention(
                start=entity["start"],
                end=entity["end"],
                concept=entity["cui"],
                semantic_type=kind,
                term=name,
            )

        return lambda text: sorted(
            map(mention, loaded.get_entities(text)["entities"].values())
        )


class QuickumlsOptions(LinkerOptions):
    """`index`: QuickUMLS's folder with an index of the UMLS. The defaults are MEDCON's."""

    READS: ClassVar = "index"
    kind: Literal["quickumls"]
    index: str
    threshold: float = Field(default=1.0, gt=0, le=1)
    window: int = Field(default=5, ge=1)

    @property
    def packages(self) -> Mapping[str, str]:
        """QuickUMLS."""
        return {"quickumls": _QUICKUMLS}

    def load(self) -> Link:
        """Open the index. Of overlapping candidates the best counts, with all its concepts."""
        matcher_of = _module("quickumls", _QUICKUMLS).QuickUMLS
        if not Path(self.index).is_dir():
            raise BadInput(f"{self.index} is not a folder; {_QUICKUMLS}")
        types = self.types
        accepted = {} if types is None else {"accepted_semtypes": set(types)}
        matcher = matcher_of(
            self.index, threshold=self.threshold, window=self.window, **accepted
        )

        def mention(entity: Any) -> Mention:
            # A candidate has several types; use one that counts.
            kind = min(
                set(entity["semtypes"]) & (types or set()) or entity["semtypes"],
                default="",
            )
            name = entity["term"].lower()
            return Mention(
                start=entity["start"],
                end=entity["end"],
                concept=entity["cui"],
                semantic_type=kind,
                term=name,
            )

        def link(text: str) -> list[Mention]:
            matches = matcher.match(text, best_match=True, ignore_syntax=True)
            return sorted(map(mention, chain.from_iterable(matches)))

        return link


def _module(name: str, install: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        raise BadInput(f"{error.name} is not installed; {install}") from None


# The option `linker` of metrics and alignments.
Linker = Annotated[
    terms.TermListOptions | ScispacyOptions | MedcatOptions | QuickumlsOptions,
    Field(discriminator="kind"),
]


def load(options: Linker) -> Link:
    """Return a function that finds the counting mentions of a text, with a cache.

    Raises BadInput if a package or file is missing, with how to get it.
    """
    link = options.load()
    types = options.types

    @functools.cache
    def mentions(text: str) -> list[Mention]:
        return [m for m in link(text) if types is None or m.semantic_type in types]

    return mentions


def files(options: Linker, *more: Path) -> tuple[PromptFile, ...]:
    """Return the project's files that a linker reads (all of a folder), and a metric's own."""
    places = [*_places(options), *more]
    paths = chain(
        *(sorted(place.rglob("*")) if place.is_dir() else [place] for place in places)
    )
    return tuple(PromptFile(path, None) for path in paths if not path.is_dir())


def recipe(options: Linker) -> str:
    """Describe a linker: settings, hashes of files that it reads, and versions of packages."""
    hashes = [name_and_hash(place) for place in _places(options) if not place.is_dir()]
    return "#".join([recipe_text(options.model_dump()), *hashes, *options.versions])


def name_and_hash(file: Path) -> str:
    """Return a file's name with the first digits of its SHA-256; BadInput if unreadable."""
    try:
        with file.open("rb") as opened:
            return (
                f"{file.name}:{hashlib.file_digest(opened, 'sha256').hexdigest()[:8]}"
            )
    except OSError:
        raise BadInput(f"{file}: cannot be read; name an existing file") from None


def _places(options: Linker) -> list[Path]:
    return [Path(getattr(options, options.READS))] if options.READS else []
