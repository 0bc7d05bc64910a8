"""The sentences of a dataset's references, from which tests by rule are made."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from metassay.tables.names import REFERENCE
from metassay.tabular.rows import Rows, TextRow
from metassay.text.sentences import sentences

_FEWEST_WORDS = 3  # of a sentence: headings and names are not edited
_WORD = re.compile(r"\w+")


class ReferenceSentence(NamedTuple):
    """A sentence of a reference: its row, its number, its text, and the row's other sentences."""

    row: TextRow
    number: int  # within its document's references, from 0
    text: str
    others: tuple[str, ...]


def reference_sentences(read: Rows) -> Iterator[ReferenceSentence]:
    """Yield the sentences of all references that have three words or more."""
    totals: dict[str, int] = {}
    for row in read.texts:
        if row.author != REFERENCE or row.text is None:
            continue
        texts = [row.text[start:end] for start, end in sentences(row.text)]
        for place, text in enumerate(texts):
            number = totals.get(row.doc_id, 0)
            totals[row.doc_id] = number + 1
            if len(_WORD.findall(text)) >= _FEWEST_WORDS:
                others = tuple(texts[:place] + texts[place + 1 :])
                yield ReferenceSentence(row, number, text, others)
