"""The linkers, by the `kind` of their options."""

import functools
from pathlib import Path
from typing import Annotated

from pydantic import Field

from metassay.concepts import adapters, terms
from metassay.concepts.record import Link, Mention, digest
from metassay.core.options import printed
from metassay.llm.needs import PromptFile

FileLinker = terms.TermListOptions | adapters.MedcatOptions | adapters.QuickumlsOptions
# What a metric or an alignment has as its option `linker`.
Linker = Annotated[
    FileLinker | adapters.ScispacyOptions,
    Field(discriminator="kind"),
]


def load(options: Linker) -> Link:
    """What finds the mentions of a text that count, each distinct text once.

    Raises BadInput if what the linker needs is not there, with how to get it.
    """
    link: Link
    match options:
        case terms.TermListOptions():
            link = terms.load(options)
        case adapters.ScispacyOptions():
            link = adapters.load_scispacy(options)
        case adapters.MedcatOptions():
            link = adapters.load_medcat(options)
        case adapters.QuickumlsOptions():
            link = adapters.load_quickumls(options)
    counts = options.types

    @functools.cache
    def found(text: str) -> list[Mention]:
        return [one for one in link(text) if counts is None or one.semantic_type in counts]

    return found


def files(options: Linker) -> tuple[PromptFile, ...]:
    """The files of the project that a linker reads: all of a folder, none of a package."""
    if isinstance(options, adapters.ScispacyOptions):
        return ()
    place = _place(options)
    every = sorted(each for each in place.rglob("*") if each.is_file()) if place.is_dir() else None
    return tuple(PromptFile(each, None) for each in every or [place])


def recipe(options: Linker) -> str:
    """A linker's settings, a hash of the file that it reads, and its package's version."""
    known = [printed(options.model_dump())]
    if isinstance(options, adapters.ScispacyOptions):
        known += [adapters.version("scispacy"), adapters.version(options.model)]
    else:
        known += [] if _place(options).is_dir() else [digest(_place(options))]
        packaged = not isinstance(options, terms.TermListOptions)
        known += [adapters.version(options.kind)] if packaged else []
    return "#".join(known)


def _place(options: FileLinker) -> Path:
    match options:
        case terms.TermListOptions():
            return Path(options.terms)
        case adapters.MedcatOptions():
            return Path(options.model)
        case _:
            return Path(options.index)
