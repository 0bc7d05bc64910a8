"""Parse the command line: arguments of commands.yaml, and names that are nearly right."""

import argparse
import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from metassay.core.atomic import out_file
from metassay.core.errors import BadInput, hint
from metassay.core.strict_yaml import LOADER
from metassay.studies import FORM_NAMES
from metassay.studies import FORMATS as SHEET_FORMATS

COMMANDS: Final[Mapping[str, Mapping[str, Any]]] = yaml.load(
    Path(__file__).with_name("commands.yaml").read_text(encoding="utf-8"), Loader=LOADER
)
# Former names of commands, and of their options; they go with the next version.
FORMER = {
    "accept": "watch accept",
    "reevaluate": "watch check",
    "schedule": "watch schedule",
    "upgrade": "update",
    "refresh": "update",
    "cost": "ledger cost",
    "report": "run --only report",
    "fetch": "run --only fetch",
}
ROLES = ("doc", "system", "rater", "strata", "cluster", "family", "part")
_FORMER_OPTIONS = {
    "compare --benchmark": "BENCHMARK without an option",
    "study export --study": "STUDY without an option, after BENCHMARK",
    "sentinel fix --again": "--replace",
    **{f"meta-eval --{role}": f"--columns {role}=COLUMN" for role in ROLES},
}
LARGEST = 2**31 - 1  # for counts, such as seconds
# An option that takes several words, and may be repeated.
SEVERAL: Final[dict[str, Any]] = {"nargs": "+", "action": "extend", "default": []}
_CHOICES = {"forms": FORM_NAMES, "sheets": list(SHEET_FORMATS)}
_ENDINGS = (".csv", ".tsv", ".parquet", ".xlsx", ".json", ".jsonl")


class Parser(argparse.ArgumentParser):
    """Take files before, between and after options; suggest the nearest of a wrong name."""

    def parse_known_args(  # type: ignore[override] # the namespace is always ours
        self, args: list[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; words that are left over and are no options are further files."""
        parsed, rest = super().parse_known_args(args, namespace)
        options = [word.partition("=")[0] for word in rest if word.startswith("-")]
        if options:
            words = f"{self.prog.removeprefix('metassay ')} {options[0]}"
            if words in _FORMER_OPTIONS:
                self.error(f"{options[0]} is now {_FORMER_OPTIONS[words]}")
            known = [
                name for name in self._option_string_actions if name.startswith("--")
            ]
            self.error(f"no option {options[0]}{hint(options[0], known)}")
        if rest and hasattr(parsed, "files"):
            parsed.files = [*parsed.files, *map(Path, rest)]
            rest = []
        return parsed, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            commands = isinstance(action, argparse._SubParsersAction)
            choices = f"choose from {', '.join(known)}"
            remedy = f"{self.prog} --help lists all" if commands else choices
            close = hint(str(value), known)
            raise argparse.ArgumentError(
                action, f"there is no {value!r}; {remedy}{close}"
            )


def add_arguments(
    parser: argparse.ArgumentParser, arguments: Mapping[str, Any]
) -> None:
    """Add a command's arguments, as commands.yaml has them."""
    groups: dict[str, Any] = {}
    for name, settings in arguments.items():
        options = dict(settings)
        group = options.pop("group", None)
        if group and group not in groups:
            groups[group] = parser.add_mutually_exclusive_group(
                required=group == "when"
            )
        if options.pop("flag", False):
            options["action"] = "store_true"
        if options.pop("several", False):
            options |= SEVERAL
        if options.get("type") == "names":
            options |= {"action": "extend", "default": []}
        if "type" in options:
            options["type"] = _TYPES[options["type"]]
        if isinstance(options.get("choices"), str):
            options["choices"] = _CHOICES[options["choices"]]
        if isinstance(options.get("metavar"), list):
            options["metavar"] = tuple(options["metavar"])
        groups.get(group, parser).add_argument(name, **options)


def roles_in(words: Sequence[str], roles: Sequence[str]) -> dict[str, str]:
    """Return the columns of `--columns` by role; BadInput for words that are not ROLE=COLUMN."""
    columns = {}
    for word in words:
        role, _, column = word.partition("=")
        if role not in roles or not column:
            raise BadInput(
                f"--columns {word}: write ROLE=COLUMN; roles are {', '.join(roles)}"
                f"{hint(role, roles)}"
            )
        columns[role] = column
    return columns


def spread(words: Sequence[str]) -> list[str]:
    """Return the words of a command line, with each name behind an option as `--option=NAME`.

    argparse would take `--lower a b scores.csv ratings.csv` for three files. Here the
    names of an option end at the next option, at `--`, or at the first file: a word
    with a file's ending or, after the first name, an existing file. `--lower=NAME`
    takes any name. Raises BadInput where a file stands in the place of a name.
    """
    if words[:1] not in (["meta-eval"], ["init"], ["judge-check"]):
        return list(words)
    arguments = {**COMMANDS["init"]["arguments"], **COMMANDS["meta-eval"]["arguments"]}
    result: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            # Written as a path, a file is no option to any version of argparse.
            return [
                *result,
                *(f"./{file}" if file[:1] == "-" else file for file in waiting),
            ]
        takes = arguments.get(word, {}).get("type") == "names"
        names = _names_behind(word, waiting) if takes else []
        result += [f"{word}={name}" for name in names] or [word]
        del waiting[: len(names)]
    return result


def _names_behind(option: str, words: Sequence[str]) -> list[str]:
    names: list[str] = []
    for word in words:
        ending = Path(word).suffix.lower() in _ENDINGS
        if ending and not names:
            raise BadInput(
                f"{option}: takes names; {word} is a file; write {option} NAME {word}"
            )
        if word.startswith("-") or ending or (names and _is_file(word)):
            break
        names.append(word)
    return names


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except OSError:  # too long for a file's name
        return False


def _names(text: str) -> list[str]:
    names = [
        name.strip() for name in next(csv.reader([text], skipinitialspace=True), [""])
    ]
    if not all(names):
        raise argparse.ArgumentTypeError("a name is empty; write NAME or NAME,NAME")
    return names


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise argparse.ArgumentTypeError("an address such as http://localhost:4200/api")
    return text


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Return a parser of whole numbers from `least` to `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            end = f" to {most}" if most < LARGEST else ""
            raise argparse.ArgumentTypeError(f"a whole number from {least}{end}")
        return int(text)

    return read


def _least(word: str) -> tuple[str, float]:
    name, _, least = word.partition("=")
    try:
        return name, float(least)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{word!r}: write it as sensitivity=.9"
        ) from None


_TYPES: Final[Mapping[str, Callable[[str], Any]]] = {
    "path": Path,
    "out_file": out_file,
    "int": int,
    "float": float,
    "names": _names,
    "url": _url,
    "count": _whole(1, LARGEST),
    "few": _whole(1, 20),
    "seed": _whole(0, 2**63),
    "least": _least,
}
