"""Names of columns that say two or three things each, `fluency_r1`, `gpt4 - fluency`."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from metassay.spreadsheets.words import A_RATER, CRITERION, METRIC, RATER, SYSTEM

_FIELD = re.compile(r"\{(\w+)\}")
_SEPARATORS = ("_", " - ", " | ", ": ", ".", "-", "/", " ")
_FEW = 2  # from so many raters or systems on, names are taken for theirs

Named = Mapping[str, Mapping[str, str]]  # what each column's name says, by role


def fields(pattern: str) -> list[str]:
    """What a pattern such as `{criterion}_{rater}` tells, in its order."""
    return _FIELD.findall(pattern)


def told_by(named: Named) -> frozenset[str]:
    """The roles of which the names say something."""
    return frozenset(role for said in named.values() for role in said)


def is_pattern(pattern: str, allowed: Collection[str]) -> bool:
    """Whether it tells something, nothing twice, and nothing but what is `allowed`."""
    told = fields(pattern)
    return bool(told) and len(set(told)) == len(told) and {*told} <= {*allowed}


def read_names(pattern: str, columns: Sequence[str], systems: Collection[str]) -> Named:
    """What the columns' names say that have this form.

    A system is one of `systems`. A rater has a number (`r1`, `Rater 2`) if any column's does;
    otherwise the criterion takes as much of the name as it can.
    """
    strict = _matches(pattern, columns, systems, A_RATER)
    return strict or _matches(pattern, columns, systems, ".+?")


def guessed_names(
    columns: Sequence[str],
    systems: Collection[str],
    roles: Collection[str],
    allowed: Collection[str],
) -> tuple[str, Named]:
    """The form that all of these columns' names have, and what they say; ("", {}) if none.

    `roles` are those that have a column of their own; `allowed` are those that names may tell.
    """
    for pattern in _patterns(METRIC if METRIC in allowed else CRITERION):
        told = set(fields(pattern))
        if not told <= {*allowed} - {*roles} or (SYSTEM in told) == (SYSTEM in roles):
            continue
        found = _matches(pattern, columns, systems, A_RATER)
        counts = [
            len({one[role] for one in found.values()}) for role in (RATER, SYSTEM) if role in told
        ]
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
    for order in (
        (SYSTEM, thing, RATER),
        (SYSTEM, RATER, thing),
        (RATER, SYSTEM, thing),
        (thing, SYSTEM, RATER),
        (thing, RATER),
        (RATER, thing),
        (SYSTEM, thing),
        (thing, SYSTEM),
        (SYSTEM, RATER),
        (RATER, SYSTEM),
    ):
        for separator in _SEPARATORS:
            yield separator.join(f"{{{role}}}" for role in order)
    yield f"{{{thing}}} ({{{RATER}}})"
    yield f"{{{thing}}} ({{{SYSTEM}}})"
    yield f"{{{SYSTEM}}}"


def _matches(
    pattern: str, columns: Sequence[str], systems: Collection[str], rater: str
) -> dict[str, dict[str, str]]:
    written = {SYSTEM: "|".join(map(re.escape, sorted(systems, key=len, reverse=True)))}
    written |= {CRITERION: ".+", METRIC: ".+", RATER: rater}
    parts = _FIELD.split(pattern)  # literals and fields in turn
    regex = "".join(
        f"(?P<{part}>{written[part] or '(?!)'})" if n % 2 else re.escape(part)
        for n, part in enumerate(parts)
    )
    flags = re.IGNORECASE if rater == A_RATER else 0
    found = {column: re.fullmatch(regex, column, flags) for column in columns}
    return {
        column: _system_as_written(match.groupdict(), systems)
        for column, match in found.items()
        if match
    }


def _system_as_written(said: dict[str, str], systems: Collection[str]) -> dict[str, str]:
    """The system in the case in which the texts have it."""
    if SYSTEM in said:
        like = [one for one in systems if one.casefold() == said[SYSTEM].casefold()]
        said[SYSTEM] = said[SYSTEM] if said[SYSTEM] in systems else like[0]
    return said
