"""Parse the command line: arguments of commands, and names that are nearly right."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from metassay.cli.arguments import Argument
from metassay.cli.commands import COMMANDS
from metassay.cli.values import names
from metassay.core.errors import BadInput, hint

ROLES = ("doc", "system", "rater", "strata", "cluster", "family", "part")
# An option that takes several words, and may be repeated.
SEVERAL: Final[dict[str, Any]] = {"nargs": "+", "action": "extend", "default": []}
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
    parser: argparse.ArgumentParser, arguments: Mapping[str, Argument]
) -> None:
    """Add a command's arguments."""
    groups: dict[str, Any] = {"": parser}
    for name, argument in arguments.items():
        group = argument.group
        if group not in groups:
            groups[group] = parser.add_mutually_exclusive_group(
                required=group == "when"
            )
        groups[group].add_argument(name, **_settings(argument))


def _settings(argument: Argument) -> dict[str, Any]:
    """Return what argparse is told of an argument."""
    if argument.flag:
        return {"action": "store_true", "help": argument.help}
    settings: dict[str, Any] = {
        "help": argument.help,
        "type": argument.read,
        "metavar": argument.metavar,
        "choices": argument.choices,
        "nargs": argument.nargs,
        "default": argument.default,
        "const": argument.const,
        "action": argument.action,
        "dest": argument.dest,
    }
    if argument.required:
        settings["required"] = True
    if argument.several:
        settings |= SEVERAL
    if argument.read is names:
        settings |= {"action": "extend", "default": []}
    return {name: value for name, value in settings.items() if value is not None}


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
    if words[:1] not in (["meta-eval"], ["init"], ["judge-check"], ["check"]):
        return list(words)
    arguments = {**COMMANDS["init"].arguments, **COMMANDS["meta-eval"].arguments}
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
        takes_names = word in arguments and arguments[word].read is names
        behind = _names_behind(word, waiting) if takes_names else []
        result += [f"{word}={name}" for name in behind] or [word]
        del waiting[: len(behind)]
    return result


def _names_behind(option: str, words: Sequence[str]) -> list[str]:
    behind: list[str] = []
    for word in words:
        ending = Path(word).suffix.lower() in _ENDINGS
        if ending and not behind:
            raise BadInput(
                f"{option}: takes names; {word} is a file; write {option} NAME {word}"
            )
        if word.startswith("-") or ending or (behind and _is_file(word)):
            break
        behind.append(word)
    return behind


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except OSError:  # too long for a file's name
        return False
