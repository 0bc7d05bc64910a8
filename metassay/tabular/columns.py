"""Which column of a spreadsheet holds what, and how `--columns` says so."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from metassay.core.errors import shown
from metassay.tabular.column_synonyms import A_RATER, Role
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet

WIDE = "wide"  # what `--columns` calls the form of names that say several things each
# What a column may hold, in each of the three files.
ROLES = {
    "texts": ("doc", "system", "source", "reference", "text", "strata", "cluster", "family"),
    "ratings": ("doc", "system", "rater", "criterion", "value"),
    "scores": ("doc", "system", "metric", "value"),
}
# Columns side by side that hold one thing each: what `--columns` calls them, and what each is.
SPREAD = {
    **{"systems": Role.SYSTEM, "criteria": Role.CRITERION},
    **{"raters": Role.RATER, "metrics": Role.METRIC},
}
SPREADS = {
    "texts": ("systems",),
    "ratings": ("criteria", "raters", WIDE),
    "scores": ("metrics", WIDE),
}
MAY_LACK = ("source", "reference", "strata", "cluster", "family")  # need not stand in every row
THINGS = {"ratings": ("doc", "system", "criterion", "rater"), "scores": ("system", "metric")}
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

Named = Mapping[str, Mapping[str, str]]  # what each column's name says, by role


def roles_in(named: Named) -> frozenset[str]:
    """The roles of which the names say something."""
    return frozenset(role for said in named.values() for role in said)


@dataclass(frozen=True)
class Columns:
    """Which column has which role; `spread` are columns side by side, with what each's name says.

    `pattern` is the form of names that say several things; "" where each name says one.
    """

    roles: Mapping[str, str]
    spread: Named = field(default_factory=dict)
    pattern: str = ""

    def get(self, role: str) -> str | None:
        """The role's column, if there is one."""
        return self.roles.get(role)

    @property
    def each(self) -> frozenset[str]:
        """What the names of the columns side by side say, by role."""
        return roles_in(self.spread)

    def unread(self, sheet: Sheet) -> list[str]:
        """Columns that hold nothing of these."""
        return [one for one in sheet.columns if one not in {*self.roles.values(), *self.spread}]

    def named(self, kind: str) -> Iterator[str]:
        """As `--columns` takes them, `texts.doc=visit_id`."""
        yield from (f"{kind}.{role}={column}" for role, column in self.roles.items())
        if self.pattern:
            yield f"{kind}.{WIDE}={self.pattern}"
        for word, each in SPREAD.items():
            if self.each == {each} and not self.pattern:
                yield f"{kind}.{word}={','.join(self.spread)}"


@dataclass(frozen=True)
class Keys:
    """The documents and systems of the texts, by which other files' columns are known."""

    documents: Collection[str] = ()
    systems: Collection[str] = ()
    called: Mapping[str, str] = field(default_factory=dict)  # their columns, by role


def parse_columns(
    words: Sequence[str], kinds: Collection[str], problems: list[str]
) -> dict[str, dict[str, str]]:
    """By file what `--columns` says of its columns, `doc=visit_id` of every file.

    `kinds`: the files that there are.
    """
    found: dict[str, dict[str, str]] = {kind: {} for kind in ROLES}
    for word in words:
        left, equals, column = word.partition("=")
        kind, dot, role = left.rpartition(".")
        taken = [k for k in found if kind in ("", k) and role in (*ROLES[k], *SPREADS[k])]
        if not equals or not column or not taken or (dot and kind not in kinds):
            known = sorted({one for of in (ROLES, SPREADS) for each in of.values() for one in each})
            problems.append(
                f"--columns {shown(word)}: write ROLE=COLUMN, or FILE.ROLE=COLUMN for one of"
                f" {', '.join(kinds)}; roles are {', '.join(known)}"
            )
        for k in taken:
            if dot or role not in found[k]:
                found[k][role] = column
    return found


def check_files(kind: str, sheet: Sheet, columns: Columns, problems: Findings) -> None:
    """Each of the files must have what tells a row's document, system and so on, and a value."""
    for name, lacking in sheet.files.items():
        for role, column in columns.roles.items():
            if column in lacking and role not in MAY_LACK:
                what = f"has no column {shown(column)}, which holds the {role} in other files"
                problems.add(Place(name), what, "add it, or call the column as they do")
        if columns.spread and lacking >= {*columns.spread}:
            what = f"has none of the columns that hold {kind} in other files"
            problems.add(Place(name), what, "call them as they do, or leave the file out")


# ---- names of columns that say two or three things each, `fluency_r1`, `gpt4 - fluency`


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


def guess_names(
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


def are_crossed(columns: Sequence[str]) -> bool:
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
    yield from (f"{{{thing}}} ({{rater}})", f"{{{thing}}} ({{system}})", "{system}", "{doc}")


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
