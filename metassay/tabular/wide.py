"""Names of columns that say two or three things each, `fluency_r1`, `gpt4 - fluency`."""

import re
from collections.abc import Collection, Iterator, Sequence

from metassay.tabular.column_synonyms import A_RATER, Role
from metassay.tabular.columns import Keys, Named

_FIELD = re.compile(r"\{(\w+)\}")
_SEPARATORS = ("_", " - ", " | ", ": ", ".", "-", "/", " ")
# What names say by the forms that are tried, those that say most first; a thing is a criterion or
# a metric.
_ORDERS = (
    *("system thing rater", "system rater thing", "rater system thing", "thing system rater"),
    *("thing rater", "rater thing", "system thing", "thing system", "system rater"),
    *("rater system", "doc system thing", "doc system", "doc thing"),
)
_FEW = 2  # from so many raters or systems on, names are taken for theirs


def is_pattern(pattern: str, allowed: Collection[str]) -> bool:
    """Whether it tells something, nothing twice, and nothing but what is `allowed`."""
    told = _FIELD.findall(pattern)
    return bool(told) and len(set(told)) == len(told) and {*told} <= {*allowed}


def read_names(pattern: str, columns: Sequence[str], keys: Keys) -> Named:
    """What the columns' names say that have this form.

    A document and a system are among `keys`. A rater has a number (`r1`, `Rater 2`) if any
    column's does; otherwise the criterion takes as much of the name as it can.
    """
    strict = _matches(pattern, columns, keys, A_RATER)
    return strict or _matches(pattern, columns, keys, ".+?")


def guessed_names(
    columns: Sequence[str], keys: Keys, roles: Collection[str], allowed: Collection[str]
) -> tuple[str, Named]:
    """The form that all of these columns' names have, and what they say; ("", {}) if none.

    `roles` are those that have a column of their own; `allowed` are those that names may tell.
    """
    for pattern in _patterns(Role.METRIC if Role.METRIC in allowed else Role.CRITERION):
        told = set(_FIELD.findall(pattern))
        by_name = Role.DOC in told  # then a study of one system need not name it
        if (
            not told <= {*allowed} - {*roles}
            or by_name == (Role.DOC in roles)
            or (
                (Role.SYSTEM in told) == (Role.SYSTEM in roles)
                and not (by_name and len(keys.systems) <= 1)
            )
        ):
            continue
        found = _matches(pattern, columns, keys, A_RATER)
        each = told & {Role.RATER, Role.SYSTEM, Role.DOC}
        counts = [len({one[role] for one in found.values()}) for role in each]
        if len(found) == len(columns) and min(counts) >= _FEW:
            return pattern, found
    return "", {}


def crossed(columns: Sequence[str]) -> bool:
    """Whether the names are all pairs of two sets, `a_x, a_y, b_x, b_y`, or differ by a number."""
    stems = {re.sub(r"[ _.-]?\d+$", "", name) for name in columns}
    numbers = [
        name for name in columns if re.search(r"\d$", name) and not re.match(r"(?i)q\d", name)
    ]
    if len(columns) > 1 and len(numbers) == len(columns) and 0 < len(stems) < len(columns):
        return True
    for separator in _SEPARATORS:
        for parts in (
            [name.rpartition(separator) for name in columns],
            [name.partition(separator) for name in columns],
        ):
            if all(before and after for before, _, after in parts):
                first, last = {one[0] for one in parts}, {one[2] for one in parts}
                if min(len(first), len(last)) >= _FEW and len(first) * len(last) == len(columns):
                    return True
    return False


def _patterns(thing: str) -> Iterator[str]:
    for document in ("{doc} {system}", "{doc} - {system}", "{doc}"):
        yield f"{document} [{{{thing}}}]"
        yield f"{{{thing}}} [{document}]"
    for order in _ORDERS:
        for separator in _SEPARATORS:
            yield separator.join(f"{{{role}}}" for role in order.replace("thing", thing).split())
    yield f"{{{thing}}} ({{rater}})"
    yield f"{{{thing}}} ({{system}})"
    yield from ("{system}", "{doc}")


def _matches(
    pattern: str, columns: Sequence[str], keys: Keys, rater: str
) -> dict[str, dict[str, str]]:
    written = {
        role: "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        for role, names in ((Role.DOC, keys.documents), (Role.SYSTEM, keys.systems))
        if f"{{{role}}}" in pattern
    }
    written |= {Role.CRITERION: ".+", Role.METRIC: ".+", Role.RATER: rater}
    parts = _FIELD.split(pattern)  # literals and fields in turn
    regex = "".join(
        f"(?P<{part}>{written[part] or '(?!)'})" if n % 2 else re.escape(part)
        for n, part in enumerate(parts)
    )
    flags = re.IGNORECASE if rater == A_RATER else 0
    found = {column: re.fullmatch(regex, column, flags) for column in columns}
    return {
        column: _as_written(match.groupdict(), keys) for column, match in found.items() if match
    }


def _as_written(said: dict[str, str], keys: Keys) -> dict[str, str]:
    """The document and the system in the case in which the texts have them."""
    for role, names in ((Role.DOC, keys.documents), (Role.SYSTEM, keys.systems)):
        if role in said and said[role] not in names:
            like = (one for one in names if one.casefold() == said[role].casefold())
            said[role] = next(like, said[role])
    return said
