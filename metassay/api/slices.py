"""What columns say of texts: slices (`--by`), and what belongs together (`--cluster` ...)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.api.columns import TEXT, Given, Named
from metassay.core.errors import raise_problems, shown
from metassay.format.numbers import counted
from metassay.meta_evaluation.layouts import Groups
from metassay.tables.names import REFERENCE
from metassay.tabular.numbers import is_blank
from metassay.tabular.rows import Findings

LARGEST = 50  # values of one column: more are hardly slices, and take very long


class Slice(NamedTuple):
    """The texts that have one value of one column."""

    name: str  # `column=value`
    texts: pd.MultiIndex  # doc_id, author, part

    def of(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows of `scores` or `ratings` that are of these texts."""
        return table[pd.MultiIndex.from_frame(table[TEXT]).isin(self.texts)]


def sliced(given: Sequence[Given], by: Sequence[str]) -> tuple[list[Slice], list[str]]:
    """Every slice by every column, in order, and what is worth saying of them.

    A value belongs to a text (doc_id, system, part). A text that no file with the column has takes
    the value of its document, where that has one only. Raises BadInput where a text has two values,
    or a column more than LARGEST.
    """
    faults = Findings()
    values = {column: _of_texts(given, column, faults) for column in by}
    problems = faults.lines()
    for column, found in values.items():
        if (n := found.nunique()) > LARGEST:
            fix = f"slice by a column of {LARGEST} at most"
            problems.append(f"--by {shown(column)}: has {n} values; {fix}")
        if not all(str(value).isprintable() for value in found.dropna().unique()):
            what = "a value has characters that do not print; clean it"
            problems.append(f"--by {shown(column)}: {what}")
    raise_problems(problems)
    slices, notes = list[Slice](), list[str]()
    for column, found in values.items():
        mine = [
            Slice(f"{column}={value}", pd.MultiIndex.from_tuples(list(texts.index), names=TEXT))
            for value, texts in found.groupby(found, sort=True)
        ]
        slices += mine
        notes += _notes(column, mine, int(found.isna().sum()))
    return slices, notes


def grouped(given: Sequence[Given], named: Named) -> tuple[Groups, list[str]]:
    """The documents of each stratum and cluster, the systems of each family; and what to say.

    Where the column is that of the documents, or systems, each stands for itself. Raises BadInput
    where a document has two strata or clusters, or a system two families.
    """
    faults = Findings()
    found, notes = list[dict[str, str]](), list[str]()
    for option, key in (("strata", "doc_id"), ("cluster", "doc_id"), ("family", "author")):
        column = getattr(named, option)
        systems = (one.table[one.table["author"] != REFERENCE] for one in given)
        every = {name for rows in systems for name in rows[key].unique()}
        if named.alone(option):
            found.append({name: name for name in every})
            continue
        labels: dict[str, str] = {}
        found.append(labels)
        if column:
            what = "document" if key == "doc_id" else "system"
            known = _checked(given, column, [key], what, faults)
            labels |= known[known[column] != ""].groupby(key)[column].first().to_dict()
            sizes = f"{len(set(labels.values())):,} for {counted(len(every), what)}"
            notes.append(f"{option} by {column}: {sizes}, {len(every - set(labels)):,} without one")
    raise_problems(faults.lines())
    return Groups(*found), notes


def _checked(
    given: Sequence[Given], column: str, keys: Sequence[str], whose: str, faults: Findings
) -> pd.DataFrame:
    """Each row's text and value; a fault where one of `keys` has two."""
    found = _rows(given, column)
    filled = found[found[column] != ""]
    first = filled.groupby([*keys])[column].transform("first")
    for at in filled[filled[column] != first].to_dict("records"):
        what = f"{shown(column)} is not what another row says of the same {whose}"
        where = "/".join(shown(at[key]) for key in keys)
        place = given[int(at["file"])].cells.at(int(at["row"]))
        faults.add(place, what, f"give each {whose} one value", where)
    return found


def _of_texts(given: Sequence[Given], column: str, faults: Findings) -> "pd.Series[str]":
    """The value of every text, as the index has them; missing where there is none."""
    known = _checked(given, column, TEXT, "text", faults)
    texts = pd.concat([one.table[TEXT] for one in given]).drop_duplicates()
    texts = texts[texts["author"] != REFERENCE]
    index = pd.MultiIndex.from_frame(texts)
    filled = known[known[column] != ""]
    own = filled.drop_duplicates(TEXT).set_index(TEXT)[column]
    per_document = filled.groupby("doc_id")[column].agg(["nunique", "first"])
    alone = per_document.loc[per_document["nunique"] == 1, "first"]
    of_document = texts["doc_id"].map(alone).set_axis(index)
    unseen = ~index.isin(pd.MultiIndex.from_frame(known[TEXT]))
    return own.reindex(index).astype("object").fillna(of_document.where(unseen))


def _notes(column: str, slices: Sequence[Slice], missing: int) -> Iterator[str]:
    each = (f"{one.name.partition('=')[2]} ({len(one.texts):,})" for one in slices)
    yield f"slices by {column}, with their texts: {', '.join(each) or 'none'}"
    if missing:
        yield f"{counted(missing, 'text')} without {column}: in no slice, only in the whole"


def _rows(given: Sequence[Given], column: str) -> pd.DataFrame:
    """Each row's text, file, place and value; "" where that is missing."""
    frames = [
        one.texts[[*TEXT, "row", column]].assign(file=number)
        for number, one in enumerate(given)
        if column in one.texts
    ]
    found = pd.concat(frames, ignore_index=True)
    found[column] = found[column].where(~found[column].map(is_blank), "")
    return found
