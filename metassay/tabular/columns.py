"""Which column of a spreadsheet holds what, and how `--columns` says so."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from metassay.core.errors import shown
from metassay.tabular.column_synonyms import Role
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
Named = Mapping[str, Mapping[str, str]]  # what each column's name says, by role


def told_by(named: Named) -> frozenset[str]:
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
        return told_by(self.spread)

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


def said_columns(
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


def check_each(kind: str, sheet: Sheet, columns: Columns, problems: Findings) -> None:
    """Each of the files must have what tells a row's document, system and so on, and a value."""
    for name, lacking in sheet.files.items():
        for role, column in columns.roles.items():
            if column in lacking and role not in MAY_LACK:
                what = f"has no column {shown(column)}, which holds the {role} in other files"
                problems.add(Place(name), what, "add it, or call the column as they do")
        if columns.spread and lacking >= {*columns.spread}:
            what = f"has none of the columns that hold {kind} in other files"
            problems.add(Place(name), what, "call them as they do, or leave the file out")
