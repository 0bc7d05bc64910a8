"""How the command line is read: names that were renamed, and names that are nearly right."""

import argparse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from metassay.core.errors import meant
from metassay.paper_figures import FORMATS

LARGEST = 2**31  # of counts, such as seconds

# Commands and options as they were called before; both tables go with the next version.
COMMANDS = {
    "accept": "watch accept",
    "reevaluate": "watch check",
    "schedule": "watch schedule",
    "upgrade": "update",
    "refresh": "update",
    "cost": "ledger cost",
    "report": "run --only report",
    "fetch": "run --only fetch",
}
_COLUMNS = ("doc", "system", "rater", "strata", "cluster", "family")
OPTIONS = {
    "compare": {"--benchmark": "BENCHMARK without an option: metassay compare BENCHMARK"},
    "study export": {"--study": "STUDY without an option, after BENCHMARK"},
    "sentinel fix": {"--again": "--replace"},
    "meta-eval": {f"--{role}": f"--columns {role}=COLUMN" for role in _COLUMNS},
}


class Parser(argparse.ArgumentParser):
    """Files may stand before, between and after options; a wrong name is told the nearest one."""

    def parse_known_args(  # type: ignore[override] # the namespace is always ours
        self, args: list[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; words that are left over and are no options are further files."""
        chosen, rest = super().parse_known_args(args, namespace)
        options = [word.partition("=")[0] for word in rest if word.startswith("-")]
        if options:
            words = self.prog.removeprefix("metassay ")
            renamed = OPTIONS.get(words, {}).get(options[0])
            hint = f" is now {renamed}" if renamed else meant(options[0], self._options())
            self.error(f"{options[0]}{hint}" if renamed else f"no option {options[0]}{hint}")
        if rest and hasattr(chosen, "files"):
            chosen.files = [*chosen.files, *map(Path, rest)]
            rest = []
        return chosen, rest

    def _options(self) -> list[str]:
        return [name for name in self._option_string_actions if name.startswith("--")]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(one) for one in action.choices]
            commands = isinstance(action, argparse._SubParsersAction)
            there = (
                f"{self.prog} --help lists all" if commands else f"choose from {', '.join(known)}"
            )
            close = meant(str(value), known)
            raise argparse.ArgumentError(action, f"there is no {value!r}; {there}{close}")


def renamed(words: list[str]) -> str | None:
    """The line that answers a command by its former name; None for other words."""
    new = COMMANDS.get(words[0]) if words else None
    return new and f"metassay {words[0]} is now metassay {new}"


def url(text: str) -> str:
    """An address of a server."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise argparse.ArgumentTypeError("an address such as http://localhost:4200/api")
    return text


def count(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or not 1 <= int(text) < LARGEST:
        raise argparse.ArgumentTypeError("a whole number from 1")
    return int(text)


def few(text: str) -> int:
    """A whole number from 1 to 20."""
    if count(text) > 20:
        raise argparse.ArgumentTypeError("20 at most")
    return int(text)


def seed(text: str) -> int:
    """A whole number from 0."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("a whole number from 0")
    return number


def formats(text: str) -> tuple[str, ...]:
    """Formats of figures, with commas between them."""
    chosen = tuple(dict.fromkeys(text.split(",")))
    unknown = [name for name in chosen if name not in FORMATS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{', '.join(map(repr, unknown))}: choose from {', '.join(FORMATS)}"
        )
    return chosen
