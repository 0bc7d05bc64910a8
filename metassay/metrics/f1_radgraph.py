"""F1-RadGraph: do a radiology report and the reference have the same entities and relations?

Delbrouck et al. 2022, by the package radgraph, or by annotations that it or people made elsewhere.
"""

import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError, model_validator

from metassay.concepts.adapters import version
from metassay.concepts.record import digest
from metassay.core.errors import BadInput, raise_problems
from metassay.core.options import Options
from metassay.llm.needs import PromptFile
from metassay.metrics.describe import OVERLAP, Description, Measured, ratio
from metassay.metrics.record import Metric
from metassay.tabular.decoding import UNREAD, json_lines
from metassay.tabular.rows import Findings


class RadgraphOptions(Options):
    """What finds entities: a `model` of the package radgraph, which fetches its weights itself, or
    a file with `annotations`, a JSON object per line with `text` and RadGraph's `entities`."""

    model: Literal["radgraph", "radgraph-xl", "modern-radgraph-xl"] | None = None
    annotations: str | None = None

    @model_validator(mode="after")
    def _either(self) -> "RadgraphOptions":
        if (self.model is None) == (self.annotations is None):
            raise ValueError("give `model` or `annotations`, and not both")
        return self


class Entity(BaseModel):
    """An entity as RadGraph writes it: words, a label, and relations to others by their id."""

    tokens: str
    label: str
    relations: list[tuple[str, str]]


class _Line(BaseModel):
    text: str
    entities: dict[str, Entity]


Entities = Mapping[str, Entity]  # of a text, by id
Facts = frozenset[tuple[object, ...]]


def _simple(its: Entities) -> Facts:
    return frozenset((one.tokens.lower(), one.label) for one in its.values())


def _partial(its: Entities) -> Facts:
    return frozenset((one.tokens.lower(), one.label, bool(one.relations)) for one in its.values())


def _complete(its: Entities) -> Facts:
    alone = {(one.tokens.lower(), one.label) for one in its.values() if not one.relations}
    related = {
        (one.tokens.lower(), one.label, name, its[to].tokens.lower())
        for one in its.values()
        for name, to in one.relations
    }
    return frozenset(alone | related)


_LEVELS: dict[str, tuple[Callable[[Entities], Facts], str]] = {
    "simple": (_simple, "a word and its label"),
    "partial": (_partial, "a word, its label and whether it has a relation"),
    "complete": (_complete, "a word, its label, and a relation and its word, if it has any"),
}
DESCRIPTIONS = tuple(
    Description(
        f"f1_radgraph_{level}",
        f"F1 of what RadGraph finds in text and reference: {what}",
        better="higher",
        range=(0, 1),
        missing="null if nothing is found in either; 0 if only in one",
        source="Delbrouck et al. 2022; radgraph (Stanford-AIMI)",
        family=OVERLAP,
        headline=level == "partial",
    )
    for level, (_, what) in _LEVELS.items()
)


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: RadgraphOptions
) -> dict[str, list[Measured]]:
    """F1-RadGraph of each candidate against the reference text at the same index of `evidence`.

    0 to 1, higher is better. Statistics are twice the shared, and what both have together. An empty
    text has no entities. Raises BadInput if the package is not installed, or the file with
    annotations cannot be read or lacks a text, white space apart.
    """
    texts = dict.fromkeys(_squeezed(text) for text in [*candidates, *evidence] if text.strip())
    known = _from_file(options.annotations) if options.annotations else _ask(texts, options)
    lacking = len(texts.keys() - known.keys())
    if lacking:
        raise BadInput(f"{options.annotations}: lacks {lacking} of {len(texts)} texts; add them")
    columns: dict[str, list[Measured]] = {}
    for level, (facts, _) in _LEVELS.items():
        found = {text: facts(known[text]) for text in texts}
        pairs = [
            [found.get(_squeezed(text), frozenset()) for text in pair]
            for pair in zip(candidates, evidence, strict=True)
        ]
        columns[f"f1_radgraph_{level}"] = [ratio(2 * len(a & b), len(a) + len(b)) for a, b in pairs]
    return columns


def _ask(texts: Collection[str], options: RadgraphOptions) -> dict[str, Entities]:
    try:
        package: Any = importlib.import_module("radgraph")
    except ModuleNotFoundError as error:
        if error.name != "radgraph":
            raise
        raise BadInput(
            "radgraph is not installed; run: pip install radgraph, or give `annotations`"
        ) from None
    if not texts:
        return {}
    answers = package.RadGraph(model_type=options.model)(list(texts))
    return {
        text: _Line(text=text, entities=answers[str(at)]["entities"]).entities
        for at, text in enumerate(texts)
    }


def _from_file(name: str) -> dict[str, Entities]:
    problems, found = Findings(), dict[str, Entities]()
    remedy = "write a JSON object per line with RadGraph's `text` and `entities`"
    for at, value in json_lines(Path(name), problems, remedy=remedy):
        if value is UNREAD:
            continue
        try:
            line = _Line.model_validate(value)
        except ValidationError:
            problems.add(at, "is no text with entities", remedy)
            continue
        wanted = {to for one in line.entities.values() for _, to in one.relations}
        if not wanted <= line.entities.keys():
            problems.add(at, "has a relation to an entity that is not there", "correct its id")
        found[_squeezed(line.text)] = line.entities
    raise_problems(problems.lines())
    return found


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _recipe(options: RadgraphOptions) -> str:
    if options.annotations:
        return f"annotations:{options.annotations}#{digest(Path(options.annotations))}"
    return f"model:{options.model}|radgraph:{version('radgraph')}"


KIND = Metric(
    options=RadgraphOptions,
    measure=measure,
    recipe=_recipe,
    against="reference",
    descriptions=DESCRIPTIONS,
    files=lambda options: (
        (PromptFile(Path(options.annotations), None),) if options.annotations else ()
    ),
    costly=True,
)
