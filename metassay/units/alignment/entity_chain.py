"""Entity-Chain: the source passages that share a concept with a statement (Adams et al. 2023, 6.1).

Concepts come from a term list: a CSV of the project with the columns term, concept and
semantic_type, in which synonyms are rows of one concept.
"""

import functools
import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import BadInput, raise_problems
from metassay.core.options import Options, printed
from metassay.llm.needs import PromptFile
from metassay.tabular.decoding import csv_records
from metassay.tabular.rows import Findings
from metassay.text.vocabulary.inflection import plural
from metassay.units.alignment.rouge import rouge_tokens
from metassay.units.record import Aligned, Alignment, Statements

NAME = "entity_chain"
COLUMNS = ("term", "concept", "semantic_type")


class Terms(NamedTuple):
    """Concepts by the tokens of each term that names them, and how many tokens the longest has."""

    concepts: Mapping[tuple[str, ...], Collection[str]]
    longest: int


class EntityChainOptions(Options):
    """`terms`: the file of the project that has the term list."""

    terms: str


def load_terms(path: Path) -> Terms:
    """The term list in a file, each term also in its plural by rule.

    Raises BadInput, for all rows at once, if it cannot be read or a term or concept is empty.
    """
    problems = Findings()
    found: dict[tuple[str, ...], dict[str, None]] = {}
    remedy = f"write a CSV with the columns {', '.join(COLUMNS)}"
    for record in csv_records(path, problems, required=COLUMNS, remedy=remedy):
        term, concept = record.fields["term"].strip(), record.fields["concept"].strip()
        if not rouge_tokens(term) or not concept:
            problems.add(record.at, "a term or concept is empty", "fill it in or remove the row")
        for form in (term, plural(term)):
            found.setdefault(tuple(rouge_tokens(form)), {})[concept] = None
    raise_problems(f"{path.parent}/{line}" for line in problems.lines())
    return Terms(found, max(map(len, found), default=0))


def concepts(text: str, terms: Terms) -> frozenset[str]:
    """The concepts that a text names: at each token the longest term that begins there counts.

    Tokens are runs of letters and digits, in lower case. What lies within a longer term is not
    named by itself: "heart failure" is no "heart".
    """
    tokens, found, at = rouge_tokens(text), set[str](), 0
    while at < len(tokens):
        sizes = range(min(terms.longest, len(tokens) - at), 0, -1)
        size = next((n for n in sizes if tuple(tokens[at : at + n]) in terms.concepts), 0)
        found.update(terms.concepts[tuple(tokens[at : at + size])] if size else ())
        at += size or 1
    return frozenset(found)


def align(documents: Sequence[Statements], options: EntityChainOptions) -> Aligned:
    """For each statement all passages that share a concept with it, in source order.

    A passage's value is how many concepts they share: 1 or more, higher is closer. A statement that
    names no concept is aligned with nothing; notes count these. Raises BadInput as `load_terms`.

    Terms fever, cough, chest x-ray; passages "Fever and cough.", "No coughs.", "An x-ray."; the
    statement "She had a cough and fever." gets passage 0 with 2 and passage 1 with 1.
    """
    terms = load_terms(Path(options.terms))
    link = functools.cache(lambda text: concepts(text, terms))
    found = []
    for passages, _, statements in documents:
        of_passages = [link(passage) for passage in passages]
        shared = [[len(link(said) & each) for each in of_passages] for said in statements]
        found.append([[(i, float(n)) for i, n in enumerate(row) if n] for row in shared])
    every = [said for document in documents for said in document.statements]
    unnamed = sum(not link(said) for said in every)
    note = f"{unnamed:,} of {len(every):,} statements name no concept of {options.terms}"
    return Aligned(found, (f"{note}; nothing is aligned with them",) if unnamed else ())


def _recipe(options: EntityChainOptions, _: object) -> str:
    """The block's settings and a hash of the term list."""
    try:
        content = hashlib.sha256(Path(options.terms).read_bytes()).hexdigest()
    except OSError:
        raise BadInput(f"{options.terms}: cannot be read; name a term list that is there") from None
    return f"{printed({'kind': NAME} | options.model_dump())}#{content[:8]}"


KIND = Alignment(
    options=EntityChainOptions,
    align=align,
    files=lambda options: (PromptFile(Path(options.terms), None),),
    recipe=_recipe,
)
