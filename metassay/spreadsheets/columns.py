"""Which column of a spreadsheet holds what, and how `--columns` says so."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from metassay.spreadsheets.sheet import Sheet
from metassay.spreadsheets.wide import Named, told_by
from metassay.spreadsheets.words import (
    CLUSTER,
    CRITERION,
    DOC,
    FAMILY,
    METRIC,
    RATER,
    REFERENCE,
    SOURCE,
    STRATA,
    SYSTEM,
    TEXT,
    VALUE,
)

# What a column may hold, in each of the three files.
ROLES = {
    "texts": (DOC, SYSTEM, SOURCE, REFERENCE, TEXT, STRATA, CLUSTER, FAMILY),
    "ratings": (DOC, SYSTEM, RATER, CRITERION, VALUE),
    "scores": (DOC, SYSTEM, METRIC, VALUE),
}
# Columns side by side that hold one thing each: what `--columns` calls them, and what each is.
SPREAD = {"systems": SYSTEM, "criteria": CRITERION, "raters": RATER, "metrics": METRIC}
WIDE = "wide"  # what it calls the form of names that say several things each
SPREADS = {
    "texts": ("systems",),
    "ratings": ("criteria", "raters", WIDE),
    "scores": ("metrics", WIDE),
}
THINGS = {"ratings": (SYSTEM, CRITERION, RATER), "scores": (SYSTEM, METRIC)}


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
