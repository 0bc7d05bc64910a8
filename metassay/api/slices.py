"""Columns that describe texts: slices (`--by`), and groups (`--cluster` ...)."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from metassay.api.columns import TEXT, InputTable, Roles
from metassay.core.errors import raise_problems, shown
from metassay.format.numbers import counted
from metassay.meta_evaluation.layouts import Groups
from metassay.tables.names import REFERENCE
from metassay.tabular.numbers import is_blank
from metassay.tabular.rows import Findings

LARGEST = 50  # values of a column: slices by more are hardly of use, and take very long


class Slice(NamedTuple):
    """The texts that have one value of one column."""

    name: str  # `column=value`
    texts: pd.MultiIndex  # doc_id, author, part

    def rows_of(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of `scores` or `ratings` that are of these texts."""
        return table[pd.MultiIndex.from_frame(table[TEXT]).isin(self.texts)]


def find_slices(
    files: Sequence[InputTable], by: Sequence[str]
) -> tuple[list[Slice], list[str]]:
    """Return every slice by every column, in order, and notes on them.

    A value belongs to a text (doc_id, system, part). A text that is in no file with the
    column has the value of its document, if that has only one. Raises BadInput where a
    text has two values, or a column more than LARGEST.
    """
    faults = Findings()
    values = {column: _value_texts(files, column, faults) for column in by}
    problems = faults.lines()
    caller = files[0].cells.caller
    for column, of_texts in values.items():
        option = caller.option("by", blank=shown(column))
        if (n := of_texts.nunique()) > LARGEST:
            fix = f"slice by a column of {LARGEST} at most"
            problems.append(f"{option}: has {n} values; {fix}")
        if not all(str(value).isprintable() for value in of_texts.dropna().unique()):
            what = "a value has characters that do not print; clean it"
            problems.append(f"{option}: {what}")
    raise_problems(problems)
    slices, notes = list[Slice](), list[str]()
    for column, of_texts in values.items():
        of_column = [
            Slice(
                f"{column}={value}",
                pd.MultiIndex.from_tuples(list(texts.index), names=TEXT),
            )
            for value, texts in of_texts.groupby(of_texts, sort=True)
        ]
        slices += of_column
        sizes = (
            f"{part.name.partition('=')[2]} ({len(part.texts):,})" for part in of_column
        )
        notes.append(
            f"slices by {column}, with their texts: {', '.join(sizes) or 'none'}"
        )
        if missing := int(of_texts.isna().sum()):
            without = f"{counted(missing, 'text')} without {column}"
            notes.append(f"{without}: in no slice, only in the whole")
    return slices, notes


def find_groups(files: Sequence[InputTable], roles: Roles) -> tuple[Groups, list[str]]:
    """Return the stratum and cluster of documents, the family of systems; and notes on them.

    Where the column is that of the documents, or systems, each is a group of its own.
    Raises BadInput where a document has two strata or clusters, or a system two
    families.
    """
    faults = Findings()
    groups, notes = list[dict[str, str]](), list[str]()
    for option, key in (
        ("strata", "doc_id"),
        ("cluster", "doc_id"),
        ("family", "author"),
    ):
        column = getattr(roles, option)
        systems = (file.table[file.table["author"] != REFERENCE] for file in files)
        names = {name for rows in systems for name in rows[key].unique()}
        labels = {name: name for name in names} if roles.alone(option) else {}
        if column and not roles.alone(option):
            what = "document" if key == "doc_id" else "system"
            rows = _check_values(files, column, [key], what, faults)
            labels = rows[rows[column] != ""].groupby(key)[column].first().to_dict()
            sizes = f"{len(set(labels.values())):,} for {counted(len(names), what)}"
            notes.append(
                f"{option} by {column}: {sizes}, {len(names - set(labels)):,} without one"
            )
        groups.append(labels)
    raise_problems(faults.lines())
    return Groups(*groups), notes


def _check_values(
    files: Sequence[InputTable],
    column: str,
    keys: Sequence[str],
    kind: str,
    faults: Findings,
) -> pd.DataFrame:
    """Return each row's text and value ("": missing); add a fault where a key has two values."""
    frames = [
        file.texts[[*TEXT, "row", column]].assign(file=number)
        for number, file in enumerate(files)
        if column in file.texts
    ]
    rows = pd.concat(frames, ignore_index=True)
    rows[column] = rows[column].where(~rows[column].map(is_blank), "")
    filled = rows[rows[column] != ""]
    first = filled.groupby([*keys])[column].transform("first")
    for row in filled[filled[column] != first].to_dict("records"):
        what = f"{shown(column)} differs from another row of the same {kind}"
        where = "/".join(shown(row[key]) for key in keys)
        place = files[int(row["file"])].cells.at(int(row["row"]))
        faults.add(place, what, f"give each {kind} one value", where)
    return rows


def _value_texts(
    files: Sequence[InputTable], column: str, faults: Findings
) -> "pd.Series[str]":
    """Return the value of every text, indexed by TEXT; missing where there is none."""
    rows = _check_values(files, column, TEXT, "text", faults)
    texts = pd.concat([file.table[TEXT] for file in files]).drop_duplicates()
    texts = texts[texts["author"] != REFERENCE]
    index = pd.MultiIndex.from_frame(texts)
    filled = rows[rows[column] != ""]
    of_text = filled.drop_duplicates(TEXT).set_index(TEXT)[column]
    per_document = filled.groupby("doc_id")[column].agg(["nunique", "first"])
    unique = per_document.loc[per_document["nunique"] == 1, "first"]
    of_document = texts["doc_id"].map(unique).set_axis(index)
    unseen = ~index.isin(pd.MultiIndex.from_frame(rows[TEXT]))
    return of_text.reindex(index).astype("object").fillna(of_document.where(unseen))
