"""Minimal pairs: references' sentences, edited by rule, each put to judges with its original."""

import hashlib
import re
from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field

from metassay.core.options import Options, Seed
from metassay.labelled.judges.items import ENTAILED, NOT_ENTAILED, ItemRow, Items
from metassay.labelled.judges.record import JudgeTestKind
from metassay.tables.names import REFERENCE
from metassay.tabular.rows import Place, Rows, TextRow
from metassay.text.edits.make import FLIPS, KINDS, edits
from metassay.text.sentences import sentences

_FEWEST_WORDS = 3  # of a sentence: a heading or a name has nothing that can be edited
_WORD = re.compile(r"\w+")


def _known(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"is not known; choose from {', '.join(KINDS)}")
    return kind


class MinimalPairsOptions(Options):
    """Of which sentences, and how they are edited.

    `sentences`: so many of all references, at most; the same ones with the same `seed`, and fewer
    are some of more. `premise`: the original sentence, or the whole text that it is of. `kinds`:
    those of docs/judge-tests.md; an empty list stands for all.
    """

    sentences: Annotated[int, Field(ge=1)]
    seed: Seed
    premise: Literal["sentence", "text"]
    kinds: list[Annotated[str, AfterValidator(_known)]]


class _Sentence(NamedTuple):
    row: TextRow
    number: int  # within its document's references, from 0
    text: str
    others: tuple[str, ...]  # those of its text


def make(read: Rows, options: MinimalPairsOptions) -> Items:
    """The edits of a sample of the references' sentences, with what the reader found wrong.

    Sentences of one wording count once. One is drawn only if an edit that changes its truth fits
    it (any edit, if none of those is asked for), has three words and is no question. An item's
    cluster is its document, its subset says what the premise is, and its key is made of document,
    sentence and kind.
    """
    found = Items(problems=read.problems, warnings=read.warnings)
    kinds = options.kinds or list(KINDS)
    needed = [kind for kind in kinds if kind in FLIPS] or kinds
    there = {
        one.text: one for one in reversed(list(_sentences(read))) if edits(one.text, needed, 0)
    }
    drawn = sorted(there.values(), key=lambda one: _rank(options.seed, one.text))
    drawn = drawn[: options.sentences]
    if len(drawn) < options.sentences and not found.problems:
        at = Place("params.yaml > options > sentences")
        what = f"only {len(drawn):,} of {options.sentences:,} sentences are there"
        found.warnings.add(at, what, "all of them are used; ask for fewer, or for more kinds")
    found.items = [
        row
        for one in sorted(drawn, key=lambda one: (one.row.doc_id, one.number))
        for row in _items(one, kinds, options)
    ]
    return found


def _sentences(read: Rows) -> Iterator[_Sentence]:
    counted: dict[str, int] = {}
    for row in read.texts:
        if row.author != REFERENCE or row.text is None:
            continue
        said = [row.text[start:end] for start, end in sentences(row.text)]
        for place, text in enumerate(said):
            number = counted.get(row.doc_id, 0)
            counted[row.doc_id] = number + 1
            if len(_WORD.findall(text)) >= _FEWEST_WORDS:
                yield _Sentence(row, number, text, tuple(said[:place] + said[place + 1 :]))


def _items(one: _Sentence, kinds: list[str], options: MinimalPairsOptions) -> Iterator[ItemRow]:
    whole = options.premise == "text"
    for edit in edits(one.text, kinds, options.seed, one.others if whole else ()):
        yield ItemRow(
            one.row.at,
            f"{one.row.doc_id}:{one.number}:{edit.kind}",
            [one.row.text or "" if whole else one.text],
            edit.text,
            ENTAILED if edit.entailed else NOT_ENTAILED,
            options.premise,
            edit.kind,
            one.row.doc_id,
        )


def _rank(seed: int, text: str) -> str:
    return hashlib.sha256(f"{seed}\x1f{text}".encode()).hexdigest()


KIND = JudgeTestKind(options=MinimalPairsOptions, reads="rows", make=make, ways=lambda _options: 2)
