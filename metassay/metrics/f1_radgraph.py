"""F1-RadGraph: do a radiology report and the reference have the same entities and relations?

Delbrouck et al. 2022, by the package radgraph, or by annotations that it or people made
elsewhere.
"""

import importlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError, model_validator

from metassay.concepts.linkers import name_and_hash
from metassay.concepts.terms import version
from metassay.core.errors import BadInput, raise_problems
from metassay.core.options import Options
from metassay.llm.needs import PromptFile
from metassay.metrics.describe import OVERLAP, Description, Measured, Metric, ratio
from metassay.tabular.decoding import UNREAD, json_lines
from metassay.tabular.rows import Findings

VERSION = 1  # raised by whoever changes results of this module's kinds

_RADGRAPH = "run: pip install radgraph, or give `annotations`"


class RadgraphOptions(Options):
    """A `model` of the package radgraph, which fetches its weights itself, or a file
    with `annotations`, a JSON object per line with `text` and RadGraph's `entities`.
    """

    model: Literal["radgraph", "radgraph-xl", "modern-radgraph-xl"] | None = None
    annotations: str | None = None

    @property
    def packages(self) -> Mapping[str, str]:
        """RadGraph, unless there are annotations."""
        return {"radgraph": _RADGRAPH} if self.model else {}

    @model_validator(mode="after")
    def _either(self) -> "RadgraphOptions":
        if (self.model is None) == (self.annotations is None):
            raise ValueError("give either `model` or `annotations`")
        return self


class Entity(BaseModel):
    """An entity as RadGraph writes it: words, a label, and relations to others by their id."""

    tokens: str
    label: str
    relations: list[tuple[str, str]]


class _Line(BaseModel):
    text: str
    entities: dict[str, Entity]

    @model_validator(mode="after")
    def _related(self) -> "_Line":
        targets = (
            to for entity in self.entities.values() for _, to in entity.relations
        )
        if not self.entities.keys() >= set(targets):
            raise ValueError
        return self


Entities = Mapping[str, Entity]  # of a text, by id
_LEVELS = {
    "simple": "words with a label",
    "partial": "words with a label, and whether they have a relation",
    "complete": "words with a label, and each relation with the words that it leads to",
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
    for level, what in _LEVELS.items()
)


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: RadgraphOptions
) -> dict[str, list[Measured]]:
    """Return F1-RadGraph of each candidate against the reference at the same index of `evidence`.

    0 to 1, higher is better. Statistics are twice the shared facts, and the facts of
    both. An empty text has no entities. Raises BadInput if the package is not
    installed, or the file with annotations cannot be read or lacks a text (white space
    is ignored).
    """
    texts = dict.fromkeys(
        _squeezed(text) for text in [*candidates, *evidence] if text.strip()
    )
    entities = (
        _read_file(options.annotations) if options.annotations else _ask(texts, options)
    )
    lacking = len(texts.keys() - entities.keys())
    if lacking:
        raise BadInput(
            f"{options.annotations}: lacks {lacking} of {len(texts)} texts; add them"
        )
    columns: dict[str, list[Measured]] = {}
    for level, description in zip(_LEVELS, DESCRIPTIONS, strict=True):
        facts = {text: _facts(entities[text], level) for text in texts} | {"": set()}
        pairs = zip(map(_squeezed, candidates), map(_squeezed, evidence), strict=True)
        columns[description.name] = [
            ratio(2 * len(facts[a] & facts[b]), len(facts[a]) + len(facts[b]))
            for a, b in pairs
        ]
    return columns


def _facts(entities: Entities, level: str) -> set[tuple[object, ...]]:
    facts: set[tuple[object, ...]] = set()
    for entity in entities.values():
        words = entity.tokens.lower(), entity.label
        if level == "complete" and entity.relations:
            facts |= {
                (*words, how, entities[to].tokens.lower())
                for how, to in entity.relations
            }
        else:
            facts.add((*words, bool(entity.relations)) if level == "partial" else words)
    return facts


def _ask(texts: Collection[str], options: RadgraphOptions) -> dict[str, Entities]:
    try:
        package: Any = importlib.import_module("radgraph")
    except ModuleNotFoundError as error:
        if error.name != "radgraph":
            raise
        raise BadInput(f"radgraph is not installed; {_RADGRAPH}") from None
    if not texts:
        return {}
    answers = package.RadGraph(model_type=options.model)(list(texts))
    return {
        text: _Line(text=text, entities=answers[str(at)]["entities"]).entities
        for at, text in enumerate(texts)
    }


def _read_file(name: str) -> dict[str, Entities]:
    problems, entities = Findings(), dict[str, Entities]()
    remedy = "write a JSON object per line with RadGraph's `text` and `entities`"
    for at, value in json_lines(Path(name), problems, remedy=remedy):
        if value is UNREAD:
            continue
        try:
            line = _Line.model_validate(value)
        except ValidationError:
            problems.add(
                at, "is not text with entities, related among themselves", remedy
            )
            continue
        entities[_squeezed(line.text)] = line.entities
    raise_problems(problems.lines())
    return entities


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _recipe(options: RadgraphOptions) -> str:
    if options.annotations:
        return f"annotations:{name_and_hash(Path(options.annotations))}"
    return f"model:{options.model}|radgraph:{version('radgraph')}"


KIND = Metric(
    options=RadgraphOptions,
    measure=measure,
    recipe=_recipe,
    descriptions=DESCRIPTIONS,
    files=lambda options: [
        PromptFile(Path(it), None) for it in [options.annotations] if it
    ],
    costly=True,
)
