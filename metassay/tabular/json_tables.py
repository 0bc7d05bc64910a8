"""JSON in the forms that tools and people write, as records: what each row is, and its fields.

Read are a list of objects, an object per line, objects one after another, an object around
a list of records, one list per column, and objects whose keys are data: ids, raters, systems.
Nested fields get names with dots, `judgments.0.decision`. A note says what was read.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from metassay.core.errors import quoted
from metassay.tabular.column_synonyms import (
    is_field_name,
    is_rater_column,
    is_rater_name,
)
from metassay.tabular.decoding import UNREAD, parse_json
from metassay.tabular.limits import ROWS, SPLIT, rows_problem
from metassay.tabular.rows import Findings, Place

Record = dict[str, Any]
Rows = list[tuple[Place, Record]]

_LONGEST = 20  # elements of a list that become fields; longer ones are texts or chats
_COLUMNS = 12  # keys of innermost objects beyond which they are rows and no columns
_WORDS = 4  # of an element of a list of labels
_BLANKS = re.compile(r"\s*")
_SHOWN = 3  # keys and fields that a note names
_KEY = "id"  # what a level of keys is called: the document's, unless it is a rater's
_ORIENTED = {
    "columns",
    "data",
}  # keys of an object with columns and rows, as pandas writes
_OBJECT = 'write a list of objects: [{"doc_id": ..., ...}, ...]'


class JsonTable(NamedTuple):
    """Records with flat fields, a sentence on the structure, and columns made of keys."""

    rows: Rows
    note: str = ""
    levels: tuple[str, ...] = ()


def read_json(text: str, name: str, problems: Findings) -> JsonTable | None:
    """Return the records of a JSON text; None, with every fault in `problems`, if unusable."""
    values = list(islice(_values(text, name, problems), ROWS + 1))
    if problems:
        return None
    if len(values) == 1 and values[0][0].kind == "":
        table = _find_records(values[0][1], name, problems)
    else:
        table = JsonTable(_objects(values, problems))
    if table is None or problems:
        return None
    if too_many := rows_problem(len(table.rows)):
        problems.add(Place(name), too_many, SPLIT)
        return None
    rows, lists = _flatten(table.rows)
    if lists:
        each = f"each row is of one rater, as named in {', '.join(map(quoted, lists))}"
        table = table._replace(note="; ".join(filter(None, (table.note, each))))
    return table._replace(rows=rows)


# ---- values: one for the whole text, or one after another


def _values(text: str, name: str, problems: Findings) -> Iterator[tuple[Place, Any]]:
    """Yield the values of a text; the place of a single one has no `kind`."""
    lines = text.split("\n")
    full = [n for n, line in enumerate(lines, start=1) if line.strip()]
    whole = Place(name, kind="")
    first = parse_json(lines[full[0] - 1], whole, Findings(), nan=True)
    if isinstance(first, dict | list) and len(full) > 1:  # a value on each line
        for number in full:
            at = Place(name, number)
            value = parse_json(lines[number - 1], at, problems, nan=True)
            if value is not UNREAD:
                yield at, value
        return
    faults = Findings()
    value = parse_json(text, whole, faults, nan=True)
    if value is not UNREAD:
        yield whole, value
        return
    following = _one_after_another(text, name)
    yield from following
    if not following:
        problems.merge(faults)


def _one_after_another(text: str, name: str) -> list[tuple[Place, Any]]:
    """Return values that stand one after another, each over several lines; [] if not so."""
    decoder = json.JSONDecoder()
    values = []
    line, position = 1, 0
    start = _skip_blanks(text, position)
    while start < len(text):
        try:
            _, end = decoder.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            return []
        line += text.count("\n", position, start)
        value = parse_json(text[start:end], Place(name, line), Findings(), nan=True)
        values.append((Place(name, line), value))
        line += text.count("\n", start, end)
        position = end
        start = _skip_blanks(text, position)
    return values if len(values) > 1 else []


def _skip_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    return blanks.end() if blanks else start


# ---- records: where they are, and what keys say


def _objects(values: Sequence[tuple[Place, Any]], problems: Findings) -> Rows:
    """Return the values that are objects; each other one is a problem."""
    for at, value in values:
        if not isinstance(value, dict):
            problems.add(at, "is not an object with named values", _OBJECT)
    return [(at, value) for at, value in values if isinstance(value, dict)]


def _find_records(value: Any, name: str, problems: Findings) -> JsonTable | None:
    """Find the records in a single value."""
    if isinstance(value, list):
        return JsonTable(_objects(_numbered(value, name), problems))
    if not isinstance(value, dict) or not value:
        problems.add(Place(name), "has no records", _OBJECT)
        return None
    if value.keys() == {"schema", "data"} and _is_records(value["data"]):
        # As pandas writes a table with its types.
        return JsonTable(_numbered(value["data"], name), "the rows are those of 'data'")
    if value.keys() >= _ORIENTED and _is_rows(value["data"], value["columns"]):
        rows = [dict(zip(value["columns"], row, strict=True)) for row in value["data"]]
        note = "'data' has the rows, and 'columns' their names"
        return JsonTable(_numbered(rows, name), note)
    inner = list(value.values())
    if lists := dict(_lists_of_records(value)):
        table = _longest(lists, name, problems)
    elif all(isinstance(cells, list) for cells in inner):
        table = _columns(value, name, problems)
    elif all(isinstance(element, dict) for element in inner):
        table = _keyed(value, name, problems)
    else:
        table = _single(value, name)
    return table


def _single(value: Record, name: str) -> JsonTable:
    """Return an object with single values: a row, or a row for each key that is an id."""
    nested = any(isinstance(element, dict | list) for element in value.values())
    if nested or len(value) == 1 or any(map(is_field_name, value)):
        return JsonTable(_numbered([value], name), "the object is a single row")
    rows = [{_KEY: key, "value": cell} for key, cell in value.items()]
    note = f"each key, such as {_some(value)}, is a row with one value"
    return JsonTable(_numbered(rows, name), note)


def _numbered(values: Sequence[Any], name: str) -> list[tuple[Place, Any]]:
    return [
        (Place(name, n, "record"), value) for n, value in enumerate(values, start=1)
    ]


def _is_rows(rows: Any, columns: Any) -> bool:
    return (
        isinstance(rows, list)
        and isinstance(columns, list)
        and all(isinstance(row, list) and len(row) == len(columns) for row in rows)
    )


def _is_records(value: Any) -> bool:
    """Whether a value is a list of objects."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(element, dict) for element in value)
    )


def _lists_of_records(
    value: Mapping[str, Any], steps: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], list[Record]]]:
    """Yield the lists of objects below an object, each with the keys that lead to it."""
    for key, inner in value.items():
        if _is_records(inner):
            yield (*steps, key), inner
        elif isinstance(inner, dict):
            yield from _lists_of_records(inner, (*steps, key))


def _longest(
    lists: Mapping[tuple[str, ...], list[Record]], name: str, problems: Findings
) -> JsonTable | None:
    """Return the only list of records, lists of like records by their keys, or the longest."""
    if len(lists) > 1 and _are_alike(lists):
        depth = {len(steps) for steps in lists}
        if len(depth) == 1:
            leaves = [
                (steps, record) for steps, rows in lists.items() for record in rows
            ]
            return _make_table(leaves, name)
    ordered = sorted(lists, key=lambda steps: -len(lists[steps]))
    if len(ordered) > 1 and len(lists[ordered[1]]) * 2 > len(lists[ordered[0]]):
        paths = ", ".join(quoted(".".join(steps)) for steps in ordered[:2])
        problems.add(Place(name), f"has several lists of records: {paths}", "keep one")
        return None
    path = ".".join(ordered[0])
    return JsonTable(
        _numbered(lists[ordered[0]], name), f"the rows are those of {path!r}"
    )


def _are_alike(lists: Mapping[tuple[str, ...], list[Record]]) -> bool:
    """Whether the records of several lists have the same fields, nearly."""
    fields = [set[str]().union(*records) for records in lists.values()]
    common, all_fields = set.intersection(*fields), set.union(*fields)
    return 2 * len(common) > len(all_fields)


def _columns(
    value: Mapping[str, list[Any]], name: str, problems: Findings
) -> JsonTable | None:
    """Return the rows of an object with a list per column."""
    lengths = {len(cells) for cells in value.values()}
    if len(lengths) > 1:
        what = f"has lists of different lengths, from {min(lengths)} to {max(lengths)}"
        problems.add(Place(name), what, "make them equally long, a value per row")
        return None
    rows = [
        dict(zip(value, cells, strict=True))
        for cells in zip(*value.values(), strict=True)
    ]
    return JsonTable(
        _numbered(rows, name), f"each key, such as {_some(value)}, is a column"
    )


def _keyed(
    value: Mapping[str, Record], name: str, problems: Findings
) -> JsonTable | None:
    """Return the rows of an object of objects, whose keys are ids, raters or systems."""
    leaves = list(_leaves(value))
    cells = [key for _, leaf in leaves for key in leaf]
    outer = dict.fromkeys(steps[0] for steps, _ in leaves)
    if {len(steps) for steps, _ in leaves} != {1} or not _is_matrix(leaves):
        return _make_table(leaves, name)
    inner = dict.fromkeys(cells)
    if any(map(is_field_name, inner)):
        return _make_table(leaves, name)
    by_name = all(map(is_field_name, outer))
    if not by_name and len(inner) == len(outer):
        what = f"has keys {_some(outer)} with keys {_some(inner)}: which are rows?"
        problems.add(Place(name), what, _OBJECT)
        return None
    if not by_name and len(inner) < len(outer):
        return _make_table(leaves, name)
    rows = [
        {_KEY: key} | {steps[0]: leaf.get(key) for steps, leaf in leaves}
        for key in inner
    ]
    note = f"each of {_some(outer)} is a column, and each key in it, such as {_some(inner)}, a row"
    return JsonTable(_numbered(rows, name), note)


def _is_matrix(leaves: Sequence[tuple[tuple[str, ...], Record]]) -> bool:
    """Whether the innermost objects hold single values alone."""
    values = [value for _, leaf in leaves for value in leaf.values()]
    return not any(isinstance(value, dict | list) for value in values)


def _are_data(leaves: Sequence[Record]) -> bool:
    """Whether the keys of innermost objects are data: many, or others in each object."""
    keys = {key for leaf in leaves for key in leaf}
    alike = all(keys == leaf.keys() for leaf in leaves)
    return not any(map(is_field_name, keys)) and (not alike or len(keys) > _COLUMNS)


def _leaves(
    value: Mapping[str, Any], steps: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Record]]:
    """Yield the records below keys that are data, each with these keys."""
    inner = list(value.values())
    nested = bool(inner) and all(isinstance(element, dict) for element in inner)
    if steps and (not nested or not _are_keys(value)):
        yield steps, dict(value)
        return
    for key, element in value.items():
        yield from _leaves(element, (*steps, key))


def _are_keys(value: Mapping[str, Record]) -> bool:
    """Whether the keys of an object of objects are data, and no names of fields.

    Then what is below them is alike, and they are no usual names of fields.
    """
    fields = [set(inner) for inner in value.values()]
    alike = 2 * len(set.intersection(*fields)) >= max(map(len, fields))
    names = [key for key in value if is_field_name(key) and not is_rater_name(key)]
    return alike and not names


def _make_table(
    leaves: Sequence[tuple[tuple[str, ...], Record]], name: str
) -> JsonTable:
    """Return records with their keys as columns."""
    if _is_matrix(leaves) and _are_data([leaf for _, leaf in leaves]):
        leaves = [
            ((*steps, key), {"value": cell})
            for steps, leaf in leaves
            for key, cell in leaf.items()
        ]
    depth = max(len(steps) for steps, _ in leaves)
    levels = [dict.fromkeys(steps[n] for steps, _ in leaves) for n in range(depth)]
    taken = {field for _, leaf in leaves for field in leaf}
    names = _name_levels(levels, taken)
    rows = [dict(zip(names, steps, strict=True)) | leaf for steps, leaf in leaves]
    parts = [
        f"{quoted(column)} has keys such as {_some(level)}"
        for column, level in zip(names, levels, strict=True)
    ]
    unclear = tuple(column for column in names if column.startswith("key"))
    return JsonTable(_numbered(rows, name), "; ".join(parts), unclear)


def _name_levels(levels: Sequence[Mapping[str, None]], taken: set[str]) -> list[str]:
    """Name levels of keys: raters by their names, the level with most keys `id`."""
    names: list[str] = []
    sizes = [len(level) for level in levels]
    most = max(sizes) if sizes.count(max(sizes)) == 1 else None
    for n, level in enumerate(levels):
        if all(map(is_rater_name, level)) and "rater" not in {*names, *taken}:
            names.append("rater")
        elif len(level) == most and _KEY not in {*names, *taken}:
            names.append(_KEY)
        else:
            names.append(f"key {n + 1}" if len(levels) > 1 else "key")
    return names


def _some(keys: Mapping[str, Any]) -> str:
    """Quote the first keys."""
    names = [quoted(key) for key in keys][:_SHOWN]
    return ", ".join(names)


# ---- fields: nested ones get names with dots, lists of raters' answers a row per rater


def _flatten(rows: Rows) -> tuple[Rows, list[str]]:
    """Return records with flat fields, and the lists that name raters.

    A record is a row, or a row per rater of these lists.
    """
    lists = {".".join(steps) for _, record in rows for steps, _ in _answers(record)}
    parts = [(at, part) for at, record in rows for part in _split_by_rater(record)]
    shapes = _shapes(part for _, part in parts)
    return [(at, dict(_fields(part, "", shapes))) for at, part in parts], sorted(lists)


def _split_by_rater(record: Record) -> Iterator[Record]:
    """Yield a record once, or once for each rater of the lists of answers in it."""
    answers = dict(_answers(record))
    raters = dict.fromkeys(
        str(answer[column])
        for column, answer_list in answers.values()
        for answer in answer_list
    )
    if not raters:
        yield record
    for rater in raters:
        yield {"rater": rater} | _select_rater(record, (), answers, rater)


Answers = Mapping[tuple[str, ...], tuple[str, list[Record]]]


def _answers(
    record: Record, steps: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], tuple[str, list[Record]]]]:
    """Yield each list of objects that all name a rater, with the field that does."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _answers(value, (*steps, key))
        elif _is_records(value):
            common = set.intersection(*(set(answer) for answer in value))
            column = next((field for field in value[0] if is_rater_column(field)), "")
            if column in common and "rater" not in record:
                yield (*steps, key), (column, value)


def _select_rater(
    record: Record, steps: tuple[str, ...], answers: Answers, rater: str
) -> Record:
    """Return a record with the answers of one rater alone; a single one is no list."""
    part: Record = {}
    for key, value in record.items():
        path = (*steps, key)
        if path in answers:
            column, everyone = answers[path]
            theirs = [
                {field: cell for field, cell in answer.items() if field != column}
                for answer in everyone
                if str(answer[column]) == rater
            ]
            part[key] = _only(theirs)
        elif isinstance(value, dict):
            part[key] = _select_rater(value, path, answers, rater)
        else:
            part[key] = value
    return part


def _only(answers: list[Record]) -> Any:
    """Return a rater's single answer, as its value if it has no other field."""
    if len(answers) != 1:
        return answers
    (answer,) = answers
    return next(iter(answer.values())) if len(answer) == 1 else answer


def _shapes(records: Iterable[Record]) -> dict[str, str]:
    """Say by path what becomes of lists: their `only` element, or `fields` of elements.

    Other lists, of texts, chats or many things, stay JSON.
    """
    lists: dict[str, list[list[Any]]] = {}
    for record in records:
        for path, value in _lists(record, ""):
            lists.setdefault(path, []).append(value)
    shapes = {}
    for path, values in lists.items():
        if max(map(len, values)) == 1 and all(_is_plain(v[0]) for v in values if v):
            shapes[path] = "only"
        elif _are_answers(values):
            shapes[path] = "fields"
    return shapes


def _lists(value: Any, path: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield each list in a record, with its path; `*` stands for places in lists."""
    if isinstance(value, list):
        yield path, value
    inner = value.items() if isinstance(value, dict) else ()
    places = [("*", element) for element in value] if isinstance(value, list) else inner
    for key, element in places:
        yield from _lists(element, f"{path}.{key}" if path else str(key))


def _are_answers(lists: Sequence[list[Any]]) -> bool:
    """Whether lists have few elements that are answers or labels, and no texts or chats."""
    if max(map(len, lists)) > _LONGEST:
        return False
    elements = [element for values in lists for element in values]
    if all(isinstance(element, dict) for element in elements):
        return not any({"role", "content"} <= element.keys() for element in elements)
    return all(
        isinstance(element, int | float) or _is_label(element) for element in elements
    )


def _is_label(element: Any) -> bool:
    return element is None or (
        isinstance(element, str) and len(element.split()) <= _WORDS
    )


def _fields(
    value: Any, path: str, shapes: Mapping[str, str], pattern: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a record by their names with dots.

    `pattern` is the path with `*` for places in lists, by which `shapes` knows it.
    """
    shape = shapes.get(pattern, "") if isinstance(value, list) else ""
    if shape == "only" and value:
        (only,) = value  # Label Studio writes a rating as [{"rating": 3}]
        value = next(iter(only.values())) if isinstance(only, dict) else only
    if isinstance(value, dict) and value:
        items = [(str(key), str(key), element) for key, element in value.items()]
    elif shape == "fields" and value:
        items = [(str(n), "*", element) for n, element in enumerate(value)]
    else:
        yield path, _single_value(value)
        return
    for key, step, element in items:
        inner, of_inner = (
            f"{p}.{k}" if p else k for p, k in ((path, key), (pattern, step))
        )
        yield from _fields(element, inner, shapes, of_inner)


def _single_value(value: Any) -> Any:
    """Return a value for a cell: a list or an object as JSON, NaN as nothing."""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False) if value else None
    return None if isinstance(value, float) and math.isnan(value) else value


def _is_plain(value: Any) -> bool:
    """Whether a list's only element is a single value, or an object of one."""
    if isinstance(value, dict):
        return len(value) == 1 and not isinstance(
            next(iter(value.values())), dict | list
        )
    return not isinstance(value, list)
