"""Names that look alike and are not the same: `v1` and `V1`, two forms of `é`, a blank too many."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

from metassay.core.errors import shown

REMEDY = "they are taken for two; write them alike if they are one"

_MINUS = "\u2212"
_OTHER = re.compile(r"[^\x00-\x7f]")


def look_alikes(names: Iterable[str]) -> list[list[str]]:
    """The names that look like another one, together; each name once, in the order given.

    Case, Unicode form, blanks, characters without width and the kind of dash make no difference.
    """
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(folded(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def finder(names: Iterable[str]) -> Callable[[str], str | None]:
    """A function that says which of `names` another name looks like; they are read when asked."""

    @cache
    def known() -> dict[str, str]:
        return {folded(name): name for name in names}

    def found(name: str) -> str | None:
        return known().get(folded(name))

    return found


def spelt(name: str) -> str:
    """The name as messages show it, with its characters by number where it is not ASCII."""
    plain = shown(name)
    return plain if plain.isascii() else f"{plain} ({name!a})"


def folded(name: str) -> str:
    """What two names that look alike have in common."""
    if name.isascii():
        return "".join(name.lower().split())
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(_OTHER.sub(lambda one: _character(one[0]), plain).split())


@cache
def _character(one: str) -> str:
    kind = unicodedata.category(one)
    if kind == "Pd" or one == _MINUS:
        return "-"
    return "" if kind == "Cf" else one
