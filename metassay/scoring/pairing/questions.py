"""A block of params.yaml > questions: which measures are asked for, and under which settings."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from metassay.core.options import Options
from metassay.scoring.pairing.measures import MEASURES, Measure, Question
from metassay.tables.names import aligned_suffixes


class Questions(Options):
    """What is asked about the texts.

    measures: names of measures, each at most once.
    against: claims are judged against the whole other text (`full`) or its same part (`part`): all
    of a text without sections, no evidence where only this one is missing.
    borrow: a statement without citations has those of the next cited one.
    compat: how citations are read: by our rules (`none`), or as DocLens's released code reads them
    (`doclens`, which borrows, too); `documents.py` says what differs.
    alignments: which of the benchmark's alignments faithfulness is asked by: names, or `all`; the
    benchmark's first if there is no name.
    """

    measures: tuple[str, ...]
    against: Literal["full", "part"]
    borrow: bool
    compat: Literal["none", "doclens"] = "none"
    alignments: list[str] | Literal["all"] = Field(default_factory=list)

    @field_validator("measures", mode="before")
    @classmethod
    def _listed(cls, names: object) -> object:
        return tuple(names) if isinstance(names, list) else names  # YAML has no tuples

    @field_validator("measures")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in names if name not in MEASURES]
        if unknown:
            raise PydanticCustomError(
                "unknown_measure",
                "{unknown}: not known; choose from {known}",
                {"unknown": ", ".join(unknown), "known": ", ".join(MEASURES)},
            )
        if len(set(names)) < len(names):
            raise PydanticCustomError("repeated_measure", "a measure is named twice; name it once")
        return names

    @model_validator(mode="after")
    def _as_it_was(self) -> Self:
        if self.compat == "doclens" and not self.borrow:
            raise ValueError("compat: doclens borrows citations; write borrow: true beside it")
        return self


def measures_of(options: Questions, suffixes: Iterable[str] = ("",)) -> list[Measure]:
    """The measures of a block, in the order of the table of measures.

    What reads alignments is there once for each that is read; `suffixes`: what these add to names.
    """
    return [
        measure.reading(suffix) if suffix else measure
        for name, measure in MEASURES.items()
        if name in options.measures
        for suffix in (suffixes if measure.aligned else ("",))
    ]


def questions_of(options: Questions, suffixes: Iterable[str] = ("",)) -> list[Question]:
    """Every question that the measures of a block need, each once."""
    every = [one for measure in measures_of(options, suffixes) for one in measure.questions]
    return list({one.name: one for one in every}.values())


def clashes(blocks: Mapping[str, Questions], alignments: Sequence[str]) -> list[str]:
    """One line for each two blocks of one benchmark (by name) that ask the same question.

    A measure that is in two blocks would have two scores, and so would measures that share a
    question (citation_recall and citation_precision share the one about all passages together).
    """
    reads = {
        name: list(aligned_suffixes(options.alignments, alignments).values())
        for name, options in blocks.items()
    }
    names = {
        name: {one.name for one in questions_of(options, reads[name])}
        for name, options in blocks.items()
    }
    problems = []
    for one, other in combinations(blocks, 2):
        if shared := names[one] & names[other]:
            asking = dict.fromkeys(
                measure.description.name
                for block in (one, other)
                for measure in measures_of(blocks[block], reads[block])
                if any(question.name in shared for question in measure.questions)
            )
            problems.append(
                f"questions > {one} and {other} ask the same of one benchmark; name these measures"
                f" in one of the two only: {', '.join(asking)}"
            )
    return problems


def unanswerable(
    blocks: Mapping[str, Questions], judges: Mapping[str, Collection[str]]
) -> list[str]:
    """One line for each instrument that a benchmark's blocks use and a judge does not answer.

    `judges` have the instruments that each can answer.
    """
    asking: dict[str, dict[str, None]] = {}
    for options in blocks.values():
        for measure in measures_of(options):
            for question in measure.questions:
                asking.setdefault(question.instrument.name, {})[measure.description.name] = None
    return [
        f"judges > {judge}: cannot answer instrument {instrument!r}, which {', '.join(measures)}"
        " asks; choose another judge, or leave out the measure"
        for judge, known in judges.items()
        for instrument, measures in asking.items()
        if instrument not in known
    ]
