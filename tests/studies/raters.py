"""A careful, a lenient and a careless rater, simulated: they fill in the sheets of a study."""

import csv
import io
import random
from pathlib import Path

from metassay.studies import key

# What the careful rater would say of the sample's systems on 1 to 4, give or take one.
WORTH = {"careful": 4, "copying": 4, "inventive": 3, "mirrored": 3, "miscounting": 3}
WORTH |= {"negating": 2, "rambling": 2, "brief": 2, "lead": 2, "longest_turn": 1}


def fill_in(
    study: Path, column: str, raters: dict[str, str], seed: int = 1
) -> list[Path]:
    """Fill in the CSV sheets; `raters` says who is what. The key tells whose text is whose."""
    known = key.read(study / key.FILE)
    filled = []
    for rater, manner in raters.items():
        path = study / "sheets" / f"{rater}.csv"
        header, *rows = csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline=""))
        lots = random.Random(f"{seed} {rater}")
        for row in rows:
            target = known.rows[row[header.index("row")]].questions[column].target
            row[header.index(column)] = str(_grade(manner, target.author, lots))
        buffer = io.StringIO(newline="")
        csv.writer(buffer).writerows([header, *rows])
        path.write_text(buffer.getvalue(), encoding="utf-8")
        filled.append(path)
    return filled


def _grade(manner: str, author: str, lots: random.Random) -> int:
    if manner == "careless":
        return lots.randint(1, 4)
    near = WORTH[author] + lots.choice([0, 0, 0, 0, 1, -1])
    return max(1, min(4, near + (manner == "lenient")))
