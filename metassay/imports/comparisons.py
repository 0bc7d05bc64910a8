"""Preferences between two texts as tables: each comparison, and the share that each text won.

A text's share is the mean of its comparisons with other texts of the document, a tie counting one
half. It says how a text compares with those it was compared with, and with no others.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby

from metassay.core.errors import quoted
from metassay.format.numbers import counted, short
from metassay.imports.database import Database, add_number
from metassay.imports.items import PERSON
from metassay.imports.tables import format_number

Row = tuple[object, ...]

_BY_PAIR = """SELECT doc, first, second, person, rater, AVG(share) FROM comparisons
    GROUP BY doc, first, second, person, rater ORDER BY doc, first, second, person, rater"""
_RATERS = (
    "SELECT rater FROM comparisons WHERE person = ? GROUP BY rater ORDER BY MIN(rowid)"
)
_SIDES = """(SELECT doc, first AS system, name, rater, person, share AS won FROM comparisons
    UNION ALL SELECT doc, second, name, rater, person, 1 - share FROM comparisons)"""
_SHARES = f"""SELECT doc, system, name, rater, AVG(won) FROM {_SIDES} WHERE person = ?
    GROUP BY doc, system, name, rater ORDER BY doc, system, name, rater"""
_WON = f"""SELECT system, AVG(won), COUNT(won) FROM {_SIDES} WHERE person = ? AND won IS NOT NULL
    GROUP BY system ORDER BY AVG(won) DESC, system"""
_COUNTS = (
    "SELECT COUNT(*), COALESCE(SUM(share IS NULL), 0) FROM comparisons WHERE person = ?"
)
_COLUMNS = 20  # people with a column of their own
_SHOWN = 12  # systems in a line


def judges(database: Database) -> list[str]:
    """Return the names of the judges that compared texts."""
    return [rater for (rater,) in database.run(_RATERS, (0,))]


def is_judged_and_rated(database: Database) -> bool:
    """Whether both judges and people compared texts."""
    return bool(judges(database)) and bool(database.run(_RATERS, (1,)).fetchone())


def score_rows(database: Database, metrics: Mapping[str, str]) -> Iterator[Row]:
    """Yield the rows of scores.csv: the share of its comparisons that each text won, by judge."""
    for doc, system, _, judge, won in database.run(_SHARES, (0,)):
        yield doc, system, metrics[judge], format_number(won), "higher"


def rating_rows(database: Database, study: str) -> Iterator[Row]:
    """Yield the rows of ratings.csv: the share of its comparisons that each text won, by rater."""
    for doc, system, name, rater, won in database.run(_SHARES, (1,)):
        yield study, doc, system, rater, name, format_number(won), "text"


def comparison_table(database: Database) -> tuple[list[str], Iterator[list[object]]]:
    """Return the header and the rows of comparisons.csv: A, B or tie per judge and person.

    More than 20 people share columns: the first, second, ... of each comparison.
    """
    people = [rater for (rater,) in database.run(_RATERS, (1,))]
    columns: dict[tuple[int, str], str] = {}
    used: set[str] = set()
    for judge in judges(database):
        columns[0, judge] = add_number(f"judge_{judge}", used)
        used.add(columns[0, judge])
    shared = len(people) > _COLUMNS
    if shared:
        most = _most_people(database)
        people = [str(place) for place in range(1, most + 1)]
    for person in people:
        name = "human" if person == PERSON else f"human_{person}"
        columns[1, person] = add_number(name, used)
        used.add(columns[1, person])

    def rows() -> Iterator[list[object]]:
        by_pair = groupby(database.run(_BY_PAIR), key=lambda row: row[:3])
        for number, (pair, judgments) in enumerate(by_pair, start=1):
            cells: dict[tuple[int, str], str] = {}
            place = 0
            for *_, person, rater, share in judgments:
                place += person
                cells[person, str(place) if person and shared else rater] = _word(share)
            yield [number, *pair, *(cells.get(column, "") for column in columns)]

    return ["item", "document", "system_a", "system_b", *columns.values()], rows()


def _most_people(database: Database) -> int:
    query = """SELECT MAX(n) FROM (SELECT COUNT(DISTINCT rater) AS n FROM comparisons WHERE person
        GROUP BY doc, first, second)"""
    return int(database.run(query).fetchone()[0])


def _word(share: float | None) -> str:
    if share is None:
        return ""
    if share == 0.5:
        return "tie"
    return "A" if share > 0.5 else "B"


def comparison_lines(database: Database) -> Iterator[str]:
    """Yield what people and judges preferred: the share of comparisons that each system won."""
    for person, who in ((1, "people"), (0, "judges")):
        n, missing = database.run(_COUNTS, (person,)).fetchone()
        if not n:
            continue
        raters = database.run(_RATERS, (person,)).fetchall()
        by = counted(len(raters), "person" if person else "judge").replace(
            "persons", "people"
        )
        more = f", {missing:,} missing" if missing else ""
        yield f"{counted(n, 'preference')} by {by}{more}"
        won = database.run(_WON, (person,)).fetchall()
        shares = [
            f"{quoted(name)} {short(share)} of {count:,}" for name, share, count in won
        ]
        rest = (
            f" and {len(shares) - _SHOWN} more systems" if len(shares) > _SHOWN else ""
        )
        yield f"won, as {who} see it, ties counting half: {', '.join(shares[:_SHOWN])}{rest}"
