"""Pairs of concepts that mean the same, found by a classifier that was trained on labelled pairs.

Adams et al. 2023, appendix C: a random forest over features of two concepts, since
identifiers differ where meanings do not (an abbreviation, a brand's name). What it finds
is a CSV, which an alignment reads; the forest itself is not kept.
"""

import csv
import io
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from math import log, nan
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from metassay.concepts.terms import GROUPS, load_terms
from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.models import extra

COLUMNS = ("concept", "synonym")
SYNONYMS = "synonyms"
LABELS = ("unrelated", "related", SYNONYMS)
FEATURES = (
    "cosine of the concepts",
    "highest cosine of their terms",
    "highest overlap of their terms' words",
    "highest similarity of their terms' letters",
    "same semantic type",
    "same semantic group",
)
TREES = 500

Label = Literal["unrelated", "related", "synonyms"]
ConceptPair = tuple[str, str]


class Concept(NamedTuple):
    """A concept's terms, its semantic type, and the group of types that this belongs to."""

    terms: tuple[str, ...]
    semantic_type: str = ""
    group: str = ""


class Concepts(NamedTuple):
    """Concepts by identifier, with vectors of concepts and of terms, where there are any.

    Vectors have length 1, as `vectors.load_vectors` returns them; those of terms are by
    the term in lower case. Concepts and terms may lack one.
    """

    by_id: Mapping[str, Concept]
    vectors: Mapping[str, Any] = {}
    term_vectors: Mapping[str, Any] = {}


def read_concepts(path: Path) -> dict[str, Concept]:
    """Read the concepts of a term list; BadInput as `terms.load_terms`.

    A concept with terms of several semantic types has the first one.
    """
    terms: dict[str, dict[str, str]] = {}
    for meanings in load_terms(path).meanings.values():
        for meaning in meanings:
            of_concept = terms.setdefault(meaning.concept, {})
            of_concept.setdefault(meaning.term, meaning.semantic_type)
    groups = {kind: group for group in GROUPS for kind in GROUPS[group].split()}
    concepts = {}
    for name, types in terms.items():
        semantic_type = next(iter(types.values()))
        concepts[name] = Concept(
            terms=tuple(types),
            semantic_type=semantic_type,
            group=groups.get(semantic_type, semantic_type),
        )
    return concepts


def describe_pair(
    pair: ConceptPair, concepts: Concepts, idf: Mapping[str, float]
) -> list[float]:
    """Return the numbers of a pair in the order of FEATURES; NaN if a vector lacks.

    All are higher the closer the concepts are, whichever comes first. Overlap: the
    inverse frequencies of the words that two terms share, per those of all their words.
    """
    first, second = (concepts.by_id[name] for name in pair)
    terms = [(a.lower(), b.lower()) for a, b in product(first.terms, second.terms)]
    return [
        _cosine(pair, concepts.vectors),
        max((_cosine(two, concepts.term_vectors) for two in terms), key=_nan_last),
        max(_overlap(a, b, idf) for a, b in terms),
        max(Levenshtein.normalized_similarity(a, b) for a, b in terms),
        float(first.semantic_type == second.semantic_type),
        float(first.group == second.group),
    ]


def inverse_frequencies(concepts: Concepts) -> dict[str, float]:
    """Return log(terms / terms with the word) of each word of all terms."""
    terms = [term for concept in concepts.by_id.values() for term in concept.terms]
    with_word = Counter(word for term in terms for word in set(term.lower().split()))
    return {word: log(len(terms) / n) for word, n in with_word.items()}


def fit_synonyms(
    pairs: Sequence[ConceptPair],
    labels: Sequence[Label],
    concepts: Concepts,
    *,
    seed: int,
) -> Any:
    """Fit a random forest to labelled pairs; the same input and seed give the same forest.

    Raises BadInput if a concept or a label is unknown, or no pair is of synonyms, or
    all are.
    """
    unknown = sorted({name for pair in pairs for name in pair} - concepts.by_id.keys())
    if unknown:
        raise BadInput(f"no such concept: {unknown[0]!r}; name concepts of the list")
    others = sorted(set(labels) - set(LABELS))
    if others:
        raise BadInput(f"no such label: {others[0]!r}; use {', '.join(LABELS)}")
    if len({label == SYNONYMS for label in labels}) < 2:
        raise BadInput(
            "the labels need pairs of synonyms and other pairs; one of the two is missing"
        )
    idf = inverse_frequencies(concepts)
    rows = [describe_pair(pair, concepts, idf) for pair in pairs]
    forest = extra.module("sklearn.ensemble").RandomForestClassifier
    return forest(n_estimators=TREES, random_state=seed).fit(rows, list(labels))


def find_synonyms(
    forest: Any, pairs: Sequence[ConceptPair], concepts: Concepts
) -> list[ConceptPair]:
    """Return the pairs whose likeliest label is synonyms, in order."""
    if not pairs:
        return []
    idf = inverse_frequencies(concepts)
    labels = forest.predict([describe_pair(pair, concepts, idf) for pair in pairs])
    return [
        pair for pair, label in zip(pairs, labels, strict=True) if label == SYNONYMS
    ]


def write_synonyms(path: Path, pairs: Collection[ConceptPair]) -> None:
    """Write pairs as a CSV, which people can correct."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(sorted(pairs))
    with whole_file(path) as file:
        file.write(buffer.getvalue().encode())


def read_synonyms(path: Path) -> dict[str, frozenset[str]]:
    """Return the synonyms of each concept: of A, B in a row, B of A and A of B.

    Synonyms of synonyms are not followed. Raises BadInput if the file has other columns.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            headings, *rows = csv.reader(file)
            if tuple(headings) != COLUMNS or any(len(row) != 2 for row in rows):
                raise ValueError
    except (OSError, ValueError):
        raise BadInput(
            f"{path}: no synonyms can be read; write a CSV with the columns"
            f" {' and '.join(COLUMNS)}, a pair per line"
        ) from None
    synonyms: dict[str, set[str]] = {}
    for first, second in rows:
        synonyms.setdefault(first, set()).add(second)
        synonyms.setdefault(second, set()).add(first)
    return {concept: frozenset(names) for concept, names in synonyms.items()}


def _cosine(pair: tuple[str, str], vectors: Mapping[str, Any]) -> float:
    if pair[0] not in vectors or pair[1] not in vectors:
        return nan
    return float(np.dot(vectors[pair[0]], vectors[pair[1]]))


def _nan_last(value: float) -> float:
    return -2.0 if np.isnan(value) else value


def _overlap(first: str, second: str, idf: Mapping[str, float]) -> float:
    words, others = set(first.split()), set(second.split())
    total = sum(idf[word] for word in sorted(words | others))
    shared = sum(idf[word] for word in sorted(words & others))
    return shared / total if total else 0.0
