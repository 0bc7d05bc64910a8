"""Roles of a spreadsheet's columns, and the option `--columns` that names them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from metassay.core.errors import quoted
from metassay.tabular.column_synonyms import Role
from metassay.tabular.numbers import is_blank
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet, to_keys

BETTER = "better"  # a column of scores: which end of the metric is better
DIRECTIONS = ("higher", "lower", "neither")
WIDE = "wide"  # the word of `--columns` for names of columns that have several parts
# The roles of columns in each of the three files.
ROLES = {
    "texts": (
        "doc",
        "system",
        "source",
        "reference",
        "text",
        "strata",
        "cluster",
        "family",
    ),
    "ratings": ("doc", "system", "part", "rater", "criterion", "value"),
    "scores": ("doc", "system", "part", "metric", "value"),
}
# Words of `--columns` for columns side by side, and the role that each column's name
# has.
SPREAD = {
    "systems": Role.SYSTEM,
    "criteria": Role.CRITERION,
    "raters": Role.RATER,
    "metrics": Role.METRIC,
}
SPREADS = {
    "texts": ("systems",),
    "ratings": ("criteria", "raters", WIDE),
    "scores": ("metrics", WIDE),
}
# optional in every row
MAY_LACK = ("source", "reference", "strata", "cluster", "family")
THINGS = {
    "ratings": ("doc", "system", "criterion", "rater"),
    "scores": ("doc", "system", "metric"),
}
Named = Mapping[str, Mapping[str, str]]  # the parts of each column's name, by role


def roles_in(named: Named) -> frozenset[str]:
    """Return the roles that parts of the names have."""
    return frozenset(role for roles in named.values() for role in roles)


@dataclass(frozen=True)
class Columns:
    """The column of each role; `spread`: columns side by side, with the parts of their names.

    `pattern` is the form of names with several parts; "" where each name has a single
    part.
    """

    roles: Mapping[str, str]
    spread: Named = field(default_factory=dict)
    pattern: str = ""

    @property
    def name_roles(self) -> frozenset[str]:
        """The roles that the names of columns side by side have."""
        return roles_in(self.spread)

    def unread(self, sheet: Sheet) -> list[str]:
        """Return the columns of a sheet that have no role.

        Beside a column of metrics, `better` says which end of each is better.
        """
        read = {*self.roles.values(), *self.spread}
        if Role.METRIC in self.roles:
            read.add(BETTER)
        return [name for name in sheet.columns if name not in read]

    def words(self, kind: str) -> Iterator[str]:
        """Yield the words of `--columns`, such as `texts.doc=visit_id`."""
        yield from (f"{kind}.{role}={column}" for role, column in self.roles.items())
        if self.pattern:
            yield f"{kind}.{WIDE}={self.pattern}"
        for word, role in SPREAD.items():
            if self.name_roles == {role} and not self.pattern:
                yield f"{kind}.{word}={','.join(self.spread)}"


@dataclass(frozen=True)
class Keys:
    """The documents and systems of the texts, which identify columns of other files."""

    documents: Collection[str] = ()
    systems: Collection[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)  # their columns, by role


def parse_columns(
    words: Sequence[str],
    kinds: Collection[str],
    problems: list[str],
    caller: Caller = Caller.TERMINAL,
) -> dict[str, dict[str, str]]:
    """Return the options of `--columns` by file; `doc=visit_id` is for every file.

    `kinds`: the files that there are. Faults are added to `problems`.
    """
    options: dict[str, dict[str, str]] = {kind: {} for kind in ROLES}
    for word in words:
        left, equals, column = word.partition("=")
        kind, dot, role = left.rpartition(".")
        files = [
            k for k in options if kind in ("", k) and role in (*ROLES[k], *SPREADS[k])
        ]
        if not equals or not column or not files or (dot and kind not in kinds):
            roles = sorted({*chain(*ROLES.values(), *SPREADS.values())})
            option = caller.option("columns", blank=quoted(word))
            problems.append(
                f"{option}: write ROLE=COLUMN, or FILE.ROLE=COLUMN for one of"
                f" {', '.join(kinds)}; roles are {', '.join(roles)}"
            )
        for k in files:
            if dot or role not in options[k]:
                options[k][role] = column
    return options


def directions_in(
    sheet: Sheet, metric_column: str | None, problems: Findings
) -> dict[str, str]:
    """Return what the column `better` of a file of scores says, by metric.

    Empty cells say nothing. A word that is no direction is a problem, and so are two
    directions of a metric.
    """
    if metric_column is None or BETTER not in sheet.columns:
        return {}
    directions: dict[str, str] = {}
    metrics, ends = to_keys(sheet.frame[metric_column]), to_keys(sheet.frame[BETTER])
    for row, (metric, end) in enumerate(zip(metrics, ends, strict=True)):
        if is_blank(end):
            continue
        if end not in DIRECTIONS:
            what = f"column {BETTER!r} has {quoted(end)}"
            problems.add(
                sheet.at(row), what, f"write {', '.join(DIRECTIONS)} or nothing"
            )
        elif directions.setdefault(metric, end) != end:
            what = f"column {BETTER!r} says of {quoted(metric)} {end}, and before"
            fix = "write the same in all rows of a metric"
            problems.add(sheet.at(row), f"{what} {directions[metric]}", fix)
    return directions


def check_files(kind: str, sheet: Sheet, columns: Columns, problems: Findings) -> None:
    """Check that each file has the columns of the others, unless they are optional."""
    for name, lacking in sheet.files.items():
        for role, column in columns.roles.items():
            if column in lacking and role not in MAY_LACK:
                what = f"has no column {quoted(column)}, which holds the {role} in other files"
                problems.add(Place(name), what, "add it, or call the column as they do")
        if columns.spread and lacking >= {*columns.spread}:
            what = f"has none of the columns that hold {kind} in other files"
            problems.add(
                Place(name), what, "call them as they do, or leave the file out"
            )
