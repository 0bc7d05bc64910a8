"""What a linker gives: the concepts that a text names, and where; and the linker by a term list.

A term list is a CSV with the columns term, concept and semantic_type. Synonyms and abbreviations
are rows of one concept.
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
from metassay.text.patterns import read_pairs
from metassay.text.tokens import STOPWORDS
from metassay.text.vocabulary.inflection import plural

COLUMNS = ("term", "concept", "semantic_type")
# Runs of letters and digits; single letters with points between them are one word (C.T., p.o.).
# What parts a sentence is a token too, so that no term goes over it: "blood, pressure".
_TOKEN = re.compile(r"(?<![^\W_])[^\W\d_](?:\.[^\W\d_])+(?![^\W_])\.?|[^\W_]+|[,;:!?]|\.(?!\S)")
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


class TermListOptions(LinkerOptions):
    """`terms`: the file of the project that has the term list."""

    READS: ClassVar = "terms"
    kind: Literal["terms"]
    terms: str

    def load(self) -> Link:
        """Read the list; BadInput as `load_terms`."""
        terms = load_terms(Path(self.terms))
        return lambda text: mentions(text, terms)


class Meaning(NamedTuple):
    """A concept that a term names; `capitals`: only where it is written in capitals."""

    concept: str
    semantic_type: str
    term: str
    capitals: bool


class Terms(NamedTuple):
    """Meanings by the tokens of each term, joined by a blank.

    `sizes`: how many tokens the terms have that begin with a token, the longest first.
    """

    meanings: Mapping[str, Sequence[Meaning]]
    sizes: Mapping[str, Sequence[int]]


def load_terms(path: Path) -> Terms:
    """The term list in a file, each term also in its plural by rule.

    Raises BadInput, for all rows at once, if it cannot be read or a term or concept is empty.
    """
    problems = Findings()
    meanings: dict[str, list[Meaning]] = {}
    sizes: dict[str, set[int]] = {}
    remedy = f"write a CSV with the columns {', '.join(COLUMNS)}"
    for record in csv_records(path, problems, required=COLUMNS, remedy=remedy):
        term, concept, semantic_type = (record.fields[name].strip() for name in COLUMNS)
        if not any(map(str.isalnum, term)) or not concept:
            problems.add(record.at, "a term or concept is empty", "fill it in or remove the row")
            continue
        # OR is no "or", US no "us": both would be found in every text.
        capitals = term.isupper() and term.lower() in STOPWORDS
        meaning = Meaning(concept, semantic_type, term, capitals)
        for form in (term, *_plurals(term)):
            tokens = [_word(token) for token in _TOKEN.findall(form)]
            sizes.setdefault(tokens[0], set()).add(len(tokens))
            its = meanings.setdefault(" ".join(tokens), [])
            if meaning not in its:
                its.append(meaning)
    raise_problems(f"{path.parent}/{line}" for line in problems.lines())
    return Terms(meanings, {token: sorted(its, reverse=True) for token, its in sizes.items()})


def mentions(text: str, terms: Terms) -> list[Mention]:
    """What a text names: at each token the longest term that begins there counts.

    Tokens are runs of letters and digits in any case, so a hyphen is as good as a blank, and marks
    that part a sentence, so that no term goes over one that it does not have. What lies within a
    longer term is not named by itself: "heart failure" is no "heart". A term of several concepts
    names all. Negation is left alone: "no fever" names fever.

    With fever, heart failure and HF, "No fevers, but HF." names fever at 3 to 9, and heart failure
    at 15 to 17.
    """
    spans = [match.span() for match in _TOKEN.finditer(text)]
    words = [_word(text[start:end]) for start, end in spans]
    named: list[Mention] = []
    free = 0  # what is before it is inside of a term
    for at, word in enumerate(words):
        for size in terms.sizes.get(word, ()) if at >= free else ():
            its = terms.meanings.get(" ".join(words[at : at + size]))
            if its is None:
                continue
            start, end = spans[at][0], spans[min(at + size, len(spans)) - 1][1]
            shouted = text[start:end].isupper()
            meant = [each for each in its if shouted or not each.capitals]
            if meant:
                named += [Mention(start, end, *each[:3]) for each in meant]
                free = at + size
                break
    return named


def _word(token: str) -> str:
    return token.lower().replace(".", "")


def _plurals(term: str) -> tuple[str, ...]:
    return (plural(term), f"{term[:-2]}es") if term.endswith("sis") else (plural(term),)
