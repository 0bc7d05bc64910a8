"""Read rankings: judges and people each rank the texts of a document.

Each two texts of a document become a pair, with the preferences of whoever ranked both:
what is told of preferences is told of rankings.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.api.label_columns import (
    ColumnRoles,
    LabelledItems,
    collect_items,
    note_columns,
)
from metassay.api.label_table import holds_numbers, read_numbers
from metassay.api.labels import BY, RANKINGS, Choices, Labels
from metassay.api.preference_study import Pairs
from metassay.core.errors import BadInput, quoted, raise_problems, shown
from metassay.format.numbers import counted
from metassay.statistics.exact_sums import Array, Index
from metassay.statistics.preferences import FIRST, SECOND, TIE
from metassay.statistics.rankings import prefer_by_rank
from metassay.statistics.shares import cluster_codes
from metassay.tabular.column_synonyms import names_quality
from metassay.tabular.guess import listed
from metassay.tabular.orders import odd_cells
from metassay.tabular.rankings import find_rankings
from metassay.tabular.rows import Findings
from metassay.tabular.scales import guess_direction
from metassay.tabular.sheet import Sheet, to_keys

NAMES = ("first", "second", "tie")  # of the two texts of a pair
_RANK = re.compile(r"(^|[^a-z])(ranks?|ranking|ranked|rang|platz)([^a-z]|$)")


class RankColumns(NamedTuple):
    """The columns of labels by what they hold."""

    ranks: tuple[str, ...]  # 1, 2, 3 ... once in nearly all documents, or called ranks
    likely: tuple[str, ...]  # the same in half of the documents or more, as with ties
    called: tuple[
        str, ...
    ]  # called ranks, but with others than 1 to the number of texts
    small: tuple[str, ...]  # from 1 to the number of texts, as ranks with ties are


def holds_rankings(roles: ColumnRoles) -> bool:
    """Whether labels rank the texts of each document; raises BadInput where that is unclear."""
    columns = _rank_columns(roles)
    choices, faults = roles.choices, Findings()
    answered = {*choices.lower, *choices.higher}
    unclear = [name for name in columns.likely if name not in answered]
    if unclear and not columns.ranks:
        lower = choices.caller.option("lower", *unclear)
        higher = choices.caller.option("higher", *unclear)
        what = (
            f"{listed(unclear)} has each of 1, 2, 3 ... once in most documents, as ranks"
            " with ties have"
        )
        fix = (
            f"say {lower} if these are ranks, of which 1 is the best, or {higher} if"
            " more is better"
        )
        faults.add(roles.sheet.head, what, fix)
    raise_problems(faults.lines())
    is_likely = {*columns.likely} & {*choices.lower}
    return bool(columns.ranks or columns.called or is_likely)


def refuse_odd_orders(sheet: Sheet, orders: Sequence[str], choices: Choices) -> None:
    """Raise BadInput with each cell of the columns `orders` that is no order."""
    faults = Findings()
    for row, column, cell in odd_cells(sheet, orders, choices.missing):
        what = f"column {quoted(column)} has {shown(cell)}, which is no order such as A > B"
        missing = choices.caller.option("missing", cell)
        fix = f"correct it; or, if nobody answered, say {missing}"
        faults.add(sheet.cell(row, column), what, fix)
    raise_problems(faults.lines())


def refuse_single_labels(roles: ColumnRoles, orders: Sequence[str]) -> None:
    """Raise BadInput for labels of whole rows beside orders, which rank the texts of a row."""
    others = [name for name in roles.labels if name not in orders]
    ranking = [name for name in roles.labels if name in orders]
    if ranking and others:
        judge = roles.choices.caller.option("judge", blank="COLUMN")
        human = roles.choices.caller.option("human", blank="COLUMN")
        raise BadInput(
            f"{roles.sheet.name}: {listed(ranking)} ranks the texts of each row, such as A >"
            f" B, and {listed(others)} does not; write these in the same way, or name other"
            f" columns: {judge}, {human}"
        )


def _rank_columns(roles: ColumnRoles) -> RankColumns:
    """Find columns of ranks by their cells, and by names such as `judge_rank`."""
    choices, sheet = roles.choices, roles.answers
    of_other_kind = choices.passes or choices.classes or choices.pass_from is not None
    names = [name for name in roles.labels if sheet.cells(name)]
    none = RankColumns(ranks=(), likely=(), called=(), small=())
    if of_other_kind or not choices.doc:
        return none
    if not all(holds_numbers(sheet, name) for name in names):
        return none
    within = [choices.doc, *filter(None, [choices.rater])]
    keys = {column: to_keys(sheet.frame[column]).to_numpy() for column in within}
    if not pd.DataFrame(keys).duplicated().any():
        return none
    values = [
        pd.DataFrame({**keys, "label": name, "value": sheet.values(name)})
        for name in names
    ]
    table = pd.concat(values, ignore_index=True)
    table = table.replace({"value": {np.inf: np.nan}})
    ranks, likely = find_rankings(table, "label", within)
    lists = table.groupby(["label", *within])["value"]
    fits = table["value"].isna() | table["value"].between(1, lists.transform("size"))
    is_small = fits.groupby(table["label"]).all()
    # One number in a list ranks nothing.
    is_small &= lists.count().groupby("label").max() > 1
    small = [name for name in names if is_small[name]]
    called = [name for name in names if _RANK.search(name.casefold())]
    ranks += [name for name in called if name in small and name not in ranks]
    return RankColumns(
        ranks=tuple(ranks),
        likely=tuple(name for name in likely if name not in called),
        called=tuple(name for name in called if name not in ranks),
        small=tuple(name for name in small if name not in ranks),
    )


def read_rankings(roles: ColumnRoles) -> Pairs:
    """Read rankings as pairs of texts; raises BadInput with every column that is unclear."""
    faults = Findings()
    values = read_numbers(roles, faults)
    directions = _directions(roles, faults)
    raise_problems(faults.lines())
    # The lower number is the better one.
    ranks = {
        name: -numbers if directions[name] == "higher" else numbers
        for name, numbers in values.items()
    }
    labelled = collect_items(roles, ranks)
    first, second = _pairs_of_lists(labelled)
    people = np.array(
        [prefer_by_rank(rater[first], rater[second]) for rater in labelled.table]
    )
    ranked = np.isfinite(people).any(axis=0)
    if not ranked.any():
        what = f"people ranked no two texts of one document ({roles.choices.doc})"
        option = roles.choices.caller.column("doc", "COLUMN")
        fix = f"add people's ranks, or name another document: {option}"
        raise BadInput(f"{roles.sheet.name}: {what}; {fix}")
    first, second, people = first[ranked], second[ranked], people[:, ranked]
    judges = {
        name: prefer_by_rank(ranks_of[first], ranks_of[second])
        for name, ranks_of in labelled.judges.items()
    }
    systems, codes = _systems_of(labelled)
    items = _pair_items(roles, labelled, first, second)
    notes = [
        *_sizes(roles, labelled, people),
        *_direction_notes(directions, _rank_columns(roles)),
        *_gaps(labelled, judges, people),
    ]
    labels = Labels(
        name=roles.sheet.name,
        kind=RANKINGS,
        names=NAMES,
        levels=np.array([FIRST, SECOND, TIE], dtype=np.float64),
        items=items,
        judges=judges,
        raters=dict(zip(labelled.raters, people, strict=True)),
        table=people,
        n=np.isfinite(people).sum(axis=0).astype(np.float64),
        cluster=cluster_codes(items["doc"], len(items)),
        choices=roles.choices._replace(
            system="",
            lower=tuple(name for name in directions if directions[name] == "lower"),
            higher=tuple(name for name in directions if directions[name] == "higher"),
        ),
        notes=(notes[0], *note_columns(roles, notes[1:])),
    )
    return Pairs(
        labels=labels,
        games={},
        people=np.empty((2, 0)),
        systems=systems,
        first=codes[first],
        second=codes[second],
    )


def _directions(roles: ColumnRoles, faults: Findings) -> dict[str, str]:
    """Return whether lower or higher numbers of each column are better."""
    choices = roles.choices
    columns = _rank_columns(roles)
    directions = {}
    for name in roles.labels:
        better = "lower"
        if name in choices.higher:
            better = "higher"
        elif name in choices.lower:
            better = "lower"
        elif name in columns.ranks:
            if guess_direction(name) != "lower" and names_quality(name):
                _ask(roles, name, "has each of 1, 2, 3 ... once per document", faults)
        elif name in columns.called:
            what = "is called a rank, and has numbers that are no ranks of these texts"
            _ask(roles, name, what, faults)
        elif name in (*columns.likely, *columns.small):
            what = "has numbers from 1 to the number of texts, as ranks with ties have"
            _ask(roles, name, what, faults)
        else:
            better = guess_direction(name)
            if better not in ("lower", "higher"):
                _ask(roles, name, "is compared with ranks", faults)
        directions[name] = better
    return directions


def _ask(roles: ColumnRoles, name: str, what: str, faults: Findings) -> None:
    lower = roles.choices.caller.option("lower", name)
    higher = roles.choices.caller.option("higher", name)
    fix = f"say {lower} if 1 is the best, or {higher} if more is better"
    faults.add(roles.sheet.head, f"column {quoted(name)} {what}", fix)


def _pairs_of_lists(labelled: LabelledItems) -> tuple[Index, Index]:
    """Return each two texts (pairs,) of one document, as places of items.

    In the order of their systems, if there are any: which text is first tells nothing.
    """
    key = "system" if "system" in labelled.items else "id"
    order = labelled.items.sort_values(["doc", key], kind="stable").index.to_numpy()
    docs = labelled.items["doc"].to_numpy()[order]
    starts = np.flatnonzero(np.append(True, docs[1:] != docs[:-1]))
    sizes = np.diff(np.append(starts, docs.size))
    first, second = [], []
    for start, size in zip(starts, sizes, strict=True):
        left, right = np.triu_indices(size, 1)
        first.append(order[start + left])
        second.append(order[start + right])
    return np.concatenate(first), np.concatenate(second)


def _systems_of(labelled: LabelledItems) -> tuple[tuple[str, ...], Index]:
    """Return the systems, and the code of each item's (items,); none without a column of them."""
    if "system" not in labelled.items:
        return (), np.zeros(len(labelled.items), dtype=np.intp)
    systems, codes = np.unique(labelled.items["system"], return_inverse=True)
    return tuple(map(str, systems)), np.asarray(codes, dtype=np.intp)


def _pair_items(
    roles: ColumnRoles, labelled: LabelledItems, first: Index, second: Index
) -> pd.DataFrame:
    """Return the pairs as items: an id, the document, the two texts, slices."""
    texts = labelled.items
    names = texts["system" if "system" in texts else "id"]
    # The ids of texts that stood in one cell begin with their document.
    name = np.array(
        [
            text.removeprefix(f"{of}: ")
            for text, of in zip(names, texts["doc"], strict=True)
        ]
    )
    doc = texts["doc"].to_numpy()[first]
    pair = [f"{a}/{b}" for a, b in zip(name[first], name[second], strict=True)]
    ids = [f"{d}: {two}" for d, two in zip(doc, pair, strict=True)]
    items = pd.DataFrame({"id": ids, "doc": doc, "pair": pair})
    for column in roles.choices.by:
        values = texts[BY + column].to_numpy()
        odd = np.flatnonzero(values[first] != values[second])
        if odd.size:
            raise BadInput(
                f"{roles.sheet.name}: column {quoted(column)} differs between texts of"
                f" document {quoted(str(doc[odd[0]]))}; slice rankings by a column of"
                " documents"
            )
        items[BY + column] = values[first]
    return items


# ---- what is said of how rankings were read


def _sizes(roles: ColumnRoles, labelled: LabelledItems, people: Array) -> Iterator[str]:
    """Say how many texts and documents there are, and what people ranked of them."""
    doc = roles.choices.doc
    ranked = np.isfinite(labelled.table).any(axis=0)
    documents = labelled.items["doc"]
    n_ranked = np.unique(documents.to_numpy()[ranked]).size
    yield (
        f"{roles.sheet.name}: {counted(len(documents), 'text')} of"
        f" {counted(documents.nunique(), 'document')} ({doc});"
        f" {counted(len(labelled.raters), 'rater')} ranked"
        f" {counted(n_ranked, 'document')},"
        f" {counted(people.shape[1], 'pair')} of texts; pairs of a document count as alike"
    )


def _direction_notes(
    directions: Mapping[str, str], columns: RankColumns
) -> Iterator[str]:
    ranks: dict[str, list[str]] = {}
    scores: dict[str, list[str]] = {}
    for name, better in directions.items():
        by_end = ranks if name in (*columns.ranks, *columns.likely) else scores
        by_end.setdefault(better, []).append(name)
    for better, names in ranks.items():
        end = "best" if better == "lower" else "worst"
        yield f"ranks of a document's texts, of which 1 is the {end}: {listed(names, 6)}"
    for better, names in scores.items():
        end = "more" if better == "higher" else "less"
        yield (
            f"numbers by which texts are ranked, {end} is better: {listed(names, 6)}"
        )


def _gaps(
    labelled: LabelledItems, judges: Mapping[str, Array], people: Array
) -> Iterator[str]:
    """Count ties, texts without a rank, and documents that nobody ranked."""
    docs = labelled.items["doc"]
    ranked = np.isfinite(labelled.table).any(axis=0)
    nobody = docs.nunique() - np.unique(docs.to_numpy()[ranked]).size
    if nobody:
        yield f"{counted(nobody, 'document')} that no person ranked: left out"
    ties = {name: codes == TIE for name, codes in judges.items()}
    for name, codes in zip(labelled.raters, people, strict=True):
        ties[name] = codes == TIE
    tied = [
        f"{np.count_nonzero(is_tie):,} by {name}"
        for name, is_tie in ties.items()
        if is_tie.any()
    ]
    if tied:
        yield f"tied pairs: {', '.join(tied)}"
    partial = []
    for name, ranks in {**labelled.judges, **labelled.raters}.items():
        lists = pd.Series(np.isfinite(ranks)).groupby(docs.to_numpy())
        share = lists.mean()
        n = int(((share > 0) & (share < 1)).sum())
        if n:
            partial.append(f"{n:,} by {name}")
    if partial:
        yield (
            f"lists with a text without a rank: {', '.join(partial)}; only texts that"
            " both ranked are compared"
        )
    single = int((docs.value_counts() == 1).sum())
    if single:
        yield f"{counted(single, 'document')} with one text: nothing to rank"
    same = "system" in labelled.items and bool(
        labelled.items.duplicated(["doc", "system"]).any()
    )
    if same:
        yield "some documents have several texts of one system"
