"""Which passages a statement rests on: the rules of citations, and those of DocLens's own code.

The rules: the cited passages in the order of citing. A citation of a passage that is absent or
blank is wrong, and the others can still be read. A statement without citations rests on nothing;
with `borrow` it has those of the next cited statement of its part.

`compat: doclens` is what DocLens's released code does instead where published numbers depend on it
(eval_citation.py and eval_citation_model.py). Statements stay those that we cut, a citation that is
repeated counts once, and a blank passage cannot be read:

- Words and citations are those of `text.citations.as_doclens`.
- One citation of an absent passage makes all of the statement's citations wrong.
- Else the first 10 citations of a statement count.
"""

from collections.abc import Sequence

from metassay.scoring.pairing.evidence import Unit

CITING = "citing"  # the kind of such statements in Document.units
MOST_CITATIONS = 10  # of a statement, by DocLens's default


def cited(
    statements: Sequence[Unit], passages: Sequence[str], *, borrow: bool, doclens: bool
) -> list[Unit]:
    """The statements of one text with the citations that count, and the passages left to read."""
    found = _lent(statements) if borrow else statements
    return [_resting(one, passages, doclens=doclens) for one in found]


def _lent(statements: Sequence[Unit]) -> list[Unit]:
    """Those without citations have those of the next cited one of their part."""
    lent: list[Unit] = []
    following: dict[str, Sequence[int]] = {}
    for statement in reversed(statements):
        if statement.citations:
            following[statement.part] = statement.citations
        lent.append(statement._replace(citations=following.get(statement.part, ())))
    return lent[::-1]


def _resting(statement: Unit, passages: Sequence[str], *, doclens: bool) -> Unit:
    citations = statement.citations
    there = [c for c in citations if 0 <= c < len(passages)]
    if doclens and len(there) < len(citations):
        there = []
    elif doclens:
        citations = there = there[:MOST_CITATIONS]
    readable = [c for c in there if passages[c].strip()]
    return statement._replace(citations=citations, readable=readable)
