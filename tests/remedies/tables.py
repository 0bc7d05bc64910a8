"""Small tables that every command reads, to be damaged."""

DOCUMENTS = ("d1", "d2", "d3", "d4")
SYSTEMS = ("m", "n")
RATERS = ("ann", "ben")


def _table(header: str, rows: list[str]) -> str:
    return "\n".join([header, *rows]) + "\n"


def _value(*names: str) -> int:
    """A grade from 1 to 5 that depends on nothing but the names."""
    return sum(map(ord, "".join(names))) * 7 % 5 + 1


RATINGS = _table(
    "doc_id,system,rater,fluency",
    [
        f"{doc},{system},{rater},{_value(doc, system, rater)}"
        for doc in DOCUMENTS
        for system in SYSTEMS
        for rater in RATERS
    ],
)
# A row per text, without raters.
PLAIN = _table(
    "doc_id,system,fluency",
    [
        f"{doc},{system},{_value(doc, system)}"
        for doc in DOCUMENTS
        for system in SYSTEMS
    ],
)
SCORES = PLAIN.replace("fluency", "good")
LONG_SCORES = _table(
    "doc_id,system,metric,value",
    [
        f"{doc},{system},good,{_value(doc, system, 'x')}"
        for doc in DOCUMENTS
        for system in SYSTEMS
    ],
)
TEXTS = _table(
    "doc_id,system,text",
    [
        f"{doc},{system},The text of {system} about {doc} is this."
        for doc in DOCUMENTS
        for system in SYSTEMS
    ],
)
VERDICTS = _table(
    "id,judge,human",
    [
        f"i{n},{'pass' if n % 3 else 'fail'},{'pass' if n % 4 else 'fail'}"
        for n in range(12)
    ],
)
# Ratings, and the same text's score beside each rater's rating.
RATED_AND_SCORED = _table(
    "doc_id,system,rater,fluency,good",
    [
        f"{doc},{system},{rater},{_value(doc, system, rater)},{_value(doc, system)}"
        for doc in DOCUMENTS
        for system in SYSTEMS
        for rater in RATERS
    ],
)
# Each rater puts three systems into an order: 1, 2 and 3 once per document.
RANKS = _table(
    "doc_id,system,rater,quality",
    [
        f"{doc},{system},{rater},{(place + number) % 3 + 1}"
        for number, doc in enumerate(DOCUMENTS)
        for rater in RATERS
        for place, system in enumerate(("m", "n", "o"))
    ],
)
# A row per text and rater.
LABELS = _table(
    "doc,rater,judge,human",
    [
        f"i{n},{rater},{'pass' if n % 3 else 'fail'},{'pass' if (n + place) % 4 else 'fail'}"
        for n in range(12)
        for place, rater in enumerate(RATERS)
    ],
)


def column(table: str, name: str, cells: str) -> str:
    """A table with one column more, all of whose cells are equal."""
    header, *rows = table.splitlines()
    return _table(f"{header},{name}", [f"{row},{cells}" for row in rows])


def status(table: str, name: str, usual: str, odd: str) -> str:
    """A table with one column more: `odd` in the rows of ben, `usual` in the others."""
    header, *rows = table.splitlines()
    cells = [odd if ",ben," in row else usual for row in rows]
    pairs = zip(rows, cells, strict=True)
    return _table(f"{header},{name}", [f"{row},{cell}" for row, cell in pairs])


def one_more_row(table: str) -> str:
    """A table whose last row occurs twice."""
    last = table.splitlines()[-1]
    return f"{table}{last}\n"
