"""What a linker gives: the concepts that a text names, and where; and its options' base."""

import importlib.metadata
from collections.abc import Callable
from itertools import chain
from typing import ClassVar, NamedTuple

from metassay.core.options import Options

# Semantic types of the UMLS by group: the groups that MEDCON keeps (Yim et al. 2023). Procedures
# are none of them.
GROUPS = {
    "Anatomy": "T017 T018 T021 T022 T023 T024 T025 T026 T029 T030 T031",
    "Chemicals & Drugs": "T103 T104 T109 T114 T116 T120 T121 T122 T123 T125 T126 T127 T129 T130"
    " T131 T192 T195 T196 T197 T200",
    "Devices": "T074 T075 T203",
    "Disorders": "T019 T020 T033 T037 T046 T047 T048 T049 T050 T184 T190 T191",
    "Genes & Molecular Sequences": "T028 T085 T086 T087 T088",
    "Phenomena": "T034 T038 T067 T068 T069 T070",
    "Physiology": "T032 T039 T040 T041 T042 T043 T044 T045 T201",
}


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
