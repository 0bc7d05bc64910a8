"""Citations that lie past the last passage of their document."""

import re

from metassay.core.errors import shown
from metassay.tables.names import REFERENCE
from metassay.tabular.rows import Rows
from metassay.text.citations import parse
from metassay.text.sentences import sentences

# What a citation could be, and more: brackets that hold nothing but numbers and what joins them.
_BRACKETS = re.compile(r"\[([\d\s,;\u2010-\u2014-]+)\]", re.ASCII)
_NUMBER = re.compile(r"\d{1,6}", re.ASCII)


def check_citations(rows: Rows) -> None:
    """Find citations of passages that do not exist.

    In a reference they are a problem: nobody but its writer can mend it. What a system cites is
    part of what is measured, so there they are a warning, and count as wrong citations.
    """
    passages = {source.doc_id: len(source.passages) for source in rows.sources}
    for row in rows.texts:
        count = passages.get(row.doc_id, 0)
        if not row.text or not count:
            continue  # without a source or text there is a problem of another kind
        beyond = _beyond(row.text, count)
        if not beyond:
            continue
        doc, author = f"doc_id {shown(row.doc_id)}", f"author {shown(row.author)}"
        example = f"{doc}, {author}: [{beyond[0]}] of {count} passages, counted from 0"
        if row.author == REFERENCE:
            what = "the reference cites a passage that does not exist"
            rows.problems.add(row.at, what, "correct the citation or remove it", example)
        else:
            what = "a citation names a passage that does not exist"
            fix = "it counts as a wrong citation; correct it if the system did not write it so"
            rows.warnings.add(row.at, what, fix, example)


def _beyond(text: str, count: int) -> list[int]:
    """The cited numbers that are not below `count`, in order."""
    numbers = (number for group in _BRACKETS.findall(text) for number in _NUMBER.findall(group))
    if all(int(number) < count for number in numbers):
        return []  # as in most texts, which spares them the parsing
    cited = {
        number for start, end in sentences(text) for number in parse(text[start:end]).citations
    }
    return sorted(number for number in cited if number >= count)
