"""The linkers, by the `kind` of their options."""

import functools
import hashlib
from pathlib import Path
from typing import Annotated

from pydantic import Field

from metassay.concepts import adapters, terms
from metassay.concepts.record import Link, Mention
from metassay.core.errors import BadInput
from metassay.core.options import printed
from metassay.llm.needs import PromptFile

# What a metric or an alignment has as its option `linker`.
Linker = Annotated[
    terms.TermListOptions
    | adapters.ScispacyOptions
    | adapters.MedcatOptions
    | adapters.QuickumlsOptions,
    Field(discriminator="kind"),
]


def load(options: Linker) -> Link:
    """What finds the mentions of a text that count, each distinct text once.

    Raises BadInput if what the linker needs is not there, with how to get it.
    """
    link, counts = options.load(), options.types

    @functools.cache
    def mentions(text: str) -> list[Mention]:
        return [each for each in link(text) if counts is None or each.semantic_type in counts]

    return mentions


def files(options: Linker, *more: Path) -> tuple[PromptFile, ...]:
    """The files of the project that a linker reads, all of a folder, and more of a metric."""
    places = [*_places(options), *more]
    inside = [sorted(place.rglob("*")) if place.is_dir() else [place] for place in places]
    return tuple(PromptFile(each, None) for some in inside for each in some if not each.is_dir())


def recipe(options: Linker) -> str:
    """A linker's settings, the content of a file that it reads, and its packages' versions."""
    known = [known_as(place) for place in _places(options) if not place.is_dir()]
    return "#".join([printed(options.model_dump()), *known, *options.versions])


def known_as(file: Path) -> str:
    """A file's name and the first digits of its SHA-256; BadInput if it cannot be read."""
    try:
        with file.open("rb") as opened:
            return f"{file.name}:{hashlib.file_digest(opened, 'sha256').hexdigest()[:8]}"
    except OSError:
        raise BadInput(f"{file}: cannot be read; name a file that is there") from None


def _places(options: Linker) -> list[Path]:
    return [Path(getattr(options, options.READS))] if options.READS else []
