"""Mentions of concepts in a text, the options of linkers, and the linker by a term list.

A term list is a CSV with the columns term, concept and semantic_type. Synonyms and
abbreviations are rows with the same concept.
"""

import importlib.metadata
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from metassay.core.errors import raise_problems
from metassay.core.options import Options
from metassay.tabular.decoding import csv_records
from metassay.tabular.rows import Findings
from metassay.text.tokens import STOPWORDS
from metassay.text.vocabulary.inflection import plural

COLUMNS = ("term", "concept", "semantic_type")
# Runs of letters and digits; single letters with points are one word (C.T., p.o.).
# Punctuation is a token, so that no term crosses it: "blood, pressure".
_TOKEN = re.compile(
    r"(?<![^\W_])[^\W\d_](?:\.[^\W\d_])+(?![^\W_])\.?|[^\W_]+|[,;:!?]|\.(?!\S)"
)
# Semantic types of the UMLS by group: the groups that MEDCON keeps (Yim et al. 2023).
# Procedures are none of them.
GROUPS = {
    "Anatomy": "T017 T018 T021 T022 T023 T024 T025 T026 T029 T030 T031",
    "Chemicals & Drugs": (
        "T103 T104 T109 T114 T116 T120 T121 T122 T123 T125 T126 T127 T129 T130 T131 "
        "T192 T195 T196 T197 T200"
    ),
    "Devices": "T074 T075 T203",
    "Disorders": "T019 T020 T033 T037 T046 T047 T048 T049 T050 T184 T190 T191",
    "Genes & Molecular Sequences": "T028 T085 T086 T087 T088",
    "Phenomena": "T034 T038 T067 T068 T069 T070",
    "Physiology": "T032 T039 T040 T041 T042 T043 T044 T045 T201",
}


class Mention(NamedTuple):
    """A concept mentioned at text[start:end], by its name `term`.

    Several mentions can have the same place.
    """

    start: int
    end: int
    concept: str
    semantic_type: str
    term: str


Link = Callable[[str], list[Mention]]  # the mentions of a text, in order


class LinkerOptions(Options):
    """`semantic_types`: mentions of other types do not count; null: all count.

    A name of `GROUPS`, such as Disorders, stands for its UMLS types. `READS`: the
    option with the file or folder of the project that is read, if any.
    """

    READS: ClassVar = ""
    kind: str
    semantic_types: list[str] | None = None

    @property
    def types(self) -> frozenset[str] | None:
        """Semantic types that count; None: all."""
        if self.semantic_types is None:
            return None
        types = (GROUPS[n].split() if n in GROUPS else [n] for n in self.semantic_types)
        return frozenset(chain.from_iterable(types))

    @property
    def versions(self) -> list[str]:
        """Versions of its packages, for recipes."""
        return [] if self.kind == "terms" else [version(self.kind)]


def version(package: str) -> str:
    """Return the version of a package, or `absent`."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


class TermListOptions(LinkerOptions):
    """`terms`: the project's file with the term list."""

    READS: ClassVar = "terms"
    kind: Literal["terms"]
    terms: str

    def load(self) -> Link:
        """Read the list; BadInput as `load_terms`."""
        terms = load_terms(Path(self.terms))
        return lambda text: mentions(text, terms)


class Meaning(NamedTuple):
    """A concept of a term; `capitals`: only if the term is in capitals."""

    concept: str
    semantic_type: str
    term: str
    capitals: bool


class Terms(NamedTuple):
    """Meanings by the tokens of each term, joined by blanks.

    `sizes`: by first token, the numbers of tokens of its terms, the longest first.
    """

    meanings: Mapping[str, Sequence[Meaning]]
    sizes: Mapping[str, Sequence[int]]


def load_terms(path: Path) -> Terms:
    """Read a term list, with plurals of the terms by rule.

    Raises BadInput, for all rows at once, if it cannot be read or a term or concept is
    empty.
    """
    problems = Findings()
    meanings: dict[str, list[Meaning]] = {}
    sizes: dict[str, set[int]] = {}
    remedy = f"write a CSV with the columns {', '.join(COLUMNS)}"
    for record in csv_records(path, problems, required=COLUMNS, remedy=remedy):
        term, concept, semantic_type = (record.fields[name].strip() for name in COLUMNS)
        if not any(map(str.isalnum, term)) or not concept:
            problems.add(
                record.at, "a term or concept is empty", "fill it in or remove the row"
            )
            continue
        # OR is not "or", US not "us": both would be found in every text.
        capitals = term.isupper() and term.lower() in STOPWORDS
        meaning = Meaning(
            concept=concept, semantic_type=semantic_type, term=term, capitals=capitals
        )
        for form in [term, plural(term)] + [f"{term[:-2]}es"] * term.endswith("sis"):
            tokens = [_word(token) for token in _TOKEN.findall(form)]
            sizes.setdefault(tokens[0], set()).add(len(tokens))
            term_meanings = meanings.setdefault(" ".join(tokens), [])
            if meaning not in term_meanings:
                term_meanings.append(meaning)
    raise_problems(f"{path.parent}/{line}" for line in problems.lines())
    return Terms(
        meanings, {first: sorted(n, reverse=True) for first, n in sizes.items()}
    )


def mentions(text: str, terms: Terms) -> list[Mention]:
    """Find the terms of a text: at each token the longest term that starts there.

    Tokens are runs of letters and digits in any case, so that hyphens and blanks are
    equivalent, and punctuation, which no term crosses. Words within a longer term do
    not count: "heart failure" is not "heart". A term with several concepts mentions
    all. Negation is ignored: "no fever" mentions fever.

    With fever, heart failure and HF, "No fevers, but HF." mentions fever at 3 to 9, and
    heart failure at 15 to 17.
    """
    spans = [match.span() for match in _TOKEN.finditer(text)]
    words = [_word(text[start:end]) for start, end in spans]
    result: list[Mention] = []
    next_free = 0  # everything before is in a term
    for place, word in enumerate(words):
        for size in terms.sizes.get(word, ()) if place >= next_free else ():
            candidates = terms.meanings.get(" ".join(words[place : place + size]))
            if candidates is None:
                continue
            start = spans[place][0]
            end = spans[min(place + size, len(spans)) - 1][1]
            is_upper = text[start:end].isupper()
            matching = [
                meaning for meaning in candidates if is_upper or not meaning.capitals
            ]
            if matching:
                result += [Mention(start, end, *meaning[:3]) for meaning in matching]
                next_free = place + size
                break
    return result


def _word(token: str) -> str:
    return token.lower().replace(".", "")
