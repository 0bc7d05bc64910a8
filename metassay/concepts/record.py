"""What a linker gives: the concepts that a text names, and where; and its options' base."""

import importlib.metadata
from collections.abc import Callable
from itertools import chain
from typing import ClassVar, NamedTuple

from metassay.core.options import Options
from metassay.text.patterns import read_pairs

GROUPS = read_pairs(__file__, "groups")


class Mention(NamedTuple):
    """A concept that a text names at text[start:end], by its name `term`.

    Several mentions may have one place.
    """

    start: int
    end: int
    concept: str
    semantic_type: str
    term: str


Link = Callable[[str], list[Mention]]  # the mentions of a text, in their order there


class LinkerOptions(Options):
    """`semantic_types`: mentions of other types do not count; null: all count.

    A name of `GROUPS`, such as Disorders, stands for the types of the UMLS in it. `READS`: which
    option names the file or folder of the project that is read, if one does.
    """

    READS: ClassVar = ""
    kind: str
    semantic_types: list[str] | None = None

    @property
    def types(self) -> frozenset[str] | None:
        """The semantic types that count; None: all."""
        if self.semantic_types is None:
            return None
        every = (GROUPS[n].split() if n in GROUPS else [n] for n in self.semantic_types)
        return frozenset(chain.from_iterable(every))

    @property
    def versions(self) -> list[str]:
        """The versions of its packages, as recipes print them."""
        return [] if self.kind == "terms" else [version(self.kind)]

    def load(self) -> Link:
        """What finds mentions; BadInput if it cannot be had, with how to get it."""
        raise NotImplementedError


def version(package: str) -> str:
    """The version of a package, or `absent`."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
