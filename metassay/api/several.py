"""Several files of scores, or of ratings, as where each rater has one, as one table."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metassay.api.columns import RATING, TEXT, Given, Shape
from metassay.core.errors import shown
from metassay.tabular.decoding import joined
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, as_keys

_PLACE = ["file", "row"]


def together(found: Sequence[Given], shape: Shape, problems: list[str]) -> Given:
    """All rows of the files. What contradicts goes to `problems`, and the rest is then no use.

    One file may have metrics or criteria that another one lacks, but no keys; nothing may be there
    twice.
    """
    if len(found) == 1 or any(one.table.empty for one in found):
        return found[0]
    faults = Findings()
    keys = {key: name for one in found for key, name in one.keys.items() if key != shape.what}
    for one in found:
        for key in keys.keys() - one.keys.keys():
            what = f"has no column {shown(keys[key])}, which another of the files has"
            faults.add(one.cells.head, what, "add it")
    table = pd.concat(
        [one.table.assign(file=number) for number, one in enumerate(found)], ignore_index=True
    )
    _check_twice(table, found, shape, faults)
    if faults:
        problems += faults.lines()
        return found[0]
    notes = [line for one in found for line in one.notes]
    if shape is RATING and "rater" not in keys:
        notes.append("no column says who rated: each file is the rater's that it is called after")
    return Given(
        table,
        joined([one.name for one in found]),
        list(dict.fromkeys(name for one in found for name in one.names)),
        notes,
        _cells(found, keys),
        pd.concat([one.texts for one in found], ignore_index=True).fillna(""),
        {key: key for key in keys},
    )


def _check_twice(
    table: pd.DataFrame, found: Sequence[Given], shape: Shape, faults: Findings
) -> None:
    """Each file has each value once; two files may have the same one."""
    keys = [*TEXT, *(key for key in shape.optional if key not in TEXT), shape.what]
    twice = table[table.duplicated(keys, keep=False)]
    first = twice.groupby(keys, sort=False)[_PLACE].transform("first")
    again = (twice["file"] != first["file"]).to_numpy()
    for at, earlier in zip(
        twice[again].to_dict("records"), first[again].to_dict("records"), strict=True
    ):
        there = found[earlier["file"]].cells.at(earlier["row"])
        where = ", ".join(shown(at[key]) for key in keys)
        what = f"the same {', '.join(keys)} as in {there.file}"
        place = found[at["file"]].cells.at(at["row"])
        faults.add(place, what, "keep one of the two", f"{there.kind} {there.row} there: {where}")


def _cells(found: Sequence[Given], keys: dict[str, str]) -> Sheet:
    """The cells with keys, by what they are, and where their rows stand."""
    frame = pd.DataFrame(
        {
            key: pd.concat(
                [as_keys(one.cells.frame[one.keys[key]]) for one in found], ignore_index=True
            )
            for key in keys
        }
    )
    name = joined([one.name for one in found])
    parts = tuple(one.cells for one in found)
    return Sheet(name, frame, np.arange(len(frame)), "row", parts=parts)
