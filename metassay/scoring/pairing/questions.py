"""Blocks of params.yaml > questions: the measures and their settings."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from metassay.core.options import Options
from metassay.scoring.pairing.measures import MEASURES
from metassay.scoring.pairing.record import Measure, Question
from metassay.tables.names import aligned_suffixes


class Questions(Options):
    """The questions about the texts.

    measures: names of measures, each at most once. against: claims are judged against
    the whole other text (`full`) or its same part (`part`): all of a text without
    sections; if it lacks only this section, there is no evidence. borrow: a statement
    without citations takes those of the next cited statement. compat: how citations are
    read: by our rules (`none`), or as by DocLens's released code (`doclens`, which
    borrows, too); `pairs.py` says what differs. alignments: those of the benchmark's
    alignments that faithfulness reads: names, or `all`; an empty list is the
    benchmark's first.
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
            raise PydanticCustomError(
                "repeated_measure", "a measure is named twice; name it once"
            )
        return names

    @model_validator(mode="after")
    def _doclens_borrows(self) -> Self:
        if self.compat == "doclens" and not self.borrow:
            raise ValueError(
                "compat: doclens borrows citations; write borrow: true beside it"
            )
        return self


def measures_of(options: Questions, suffixes: Iterable[str] = ("",)) -> list[Measure]:
    """Return the measures of a block, in the order of the table of measures.

    A measure that reads alignments is repeated for each; `suffixes`: what these add to
    names.
    """
    suffixes = list(suffixes)
    chosen = []
    for name, measure in MEASURES.items():
        if name not in options.measures:
            continue
        if not measure.aligned:
            chosen.append(measure)
            continue
        for suffix in suffixes:
            chosen.append(measure.reading(suffix) if suffix else measure)
    return chosen


def questions_of(options: Questions, suffixes: Iterable[str] = ("",)) -> list[Question]:
    """Return every question that the measures of a block need, once."""
    by_name: dict[str, Question] = {}
    for measure in measures_of(options, suffixes):
        by_name |= {question.name: question for question in measure.questions}
    return list(by_name.values())


def clashes(blocks: Mapping[str, Questions], alignments: Sequence[str]) -> list[str]:
    """Return a line for each two blocks of a benchmark (by name) that ask the same question.

    A measure in two blocks would have two scores, and so would measures that share a
    question (citation_recall and citation_precision share that about all passages
    together).
    """
    measures = {
        name: measures_of(
            options, aligned_suffixes(options.alignments, alignments).values()
        )
        for name, options in blocks.items()
    }
    problems = []
    for first, second in combinations(blocks, 2):
        shared = _question_names(measures[first]) & _question_names(measures[second])
        asking = dict.fromkeys(
            measure.description.name
            for measure in [*measures[first], *measures[second]]
            if shared & _question_names([measure])
        )
        if asking:
            problems.append(
                f"questions > {first} and {second} ask the same of one benchmark; name these"
                f" measures in one of the two only: {', '.join(asking)}"
            )
    return problems


def _question_names(measures: Iterable[Measure]) -> set[str]:
    names: set[str] = set()
    for measure in measures:
        names.update(question.name for question in measure.questions)
    return names


def unanswerable(
    blocks: Mapping[str, Questions], judges: Mapping[str, Collection[str]]
) -> list[str]:
    """Return a line for each instrument that a benchmark's blocks use and a judge cannot answer.

    `judges`: the instruments that each can answer, by name.
    """
    asking: dict[str, dict[str, None]] = {}
    for options in blocks.values():
        for measure in measures_of(options):
            for question in measure.questions:
                names = asking.setdefault(question.instrument.name, {})
                names[measure.description.name] = None  # a set that keeps the order
    problems = []
    for judge, instruments in judges.items():
        for instrument, measures in asking.items():
            if instrument not in instruments:
                problems.append(
                    f"judges > {judge}: cannot answer instrument {instrument!r}, which"
                    f" {', '.join(measures)} asks; choose another judge, or leave out the measure"
                )
    return problems
