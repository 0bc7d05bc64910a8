"""`metassay completion`: a shell's script that completes commands, options and names.

shtab makes the script of the parser itself, so a new command needs no line here. What an argument
takes, its metavar says: BENCHMARK is a name in the project, and of paths DIR is a folder. The shell
itself lists names when Tab is pressed: Python doesn't start.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import shtab

# Lists names in sh, zsh and fish alike; no globs, since these shells differ where nothing matches.
# Only what may be a name: bash runs what looks like a command in the words that it is to offer.
NAMES = {
    "BENCHMARK": (
        "find benchmarks -mindepth 2 -maxdepth 2 -name params.yaml 2>/dev/null"
        " | sed -n 's|^benchmarks/\\([A-Za-z0-9][A-Za-z0-9_-]*\\)/params.yaml$|\\1|p' | sort"
    ),
    "JUDGE|MODEL|ENDPOINT": (
        "awk '/^[^ #]/ {block = $1} block ~ /^(judges|models|endpoints):$/"
        ' && /^  [A-Za-z0-9][A-Za-z0-9_-]*:/ {sub(/:.*/, ""); print $1}\' params.yaml'
        " 2>/dev/null | sort -u"
    ),
}
FOLDER = "DIR"


def completion(args: argparse.Namespace) -> int:
    """Print the script of the shell."""
    from metassay.cli.main import parser  # which imports the commands, this one among them

    print(script(parser(), args.shell))
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """What `shell` reads (bash, zsh or fish) to complete the words that `parser` takes."""
    for action in _actions(parser):
        completed = _completed(action)
        if completed is not None:
            action.complete = completed  # type: ignore[attr-defined] # where shtab looks for it
    return shtab.complete(parser, shell)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for summary in action._choices_actions:
                command = action.choices[summary.dest]
                # shtab would show the first line of the description, which ends in mid-sentence.
                command.description = summary.help
                yield from _actions(command)


def _completed(action: argparse.Action) -> dict[str, object] | None:
    """How shtab should complete an argument; None where only the user knows what to write."""
    metavar = str(action.metavar)
    if metavar not in NAMES:
        folder = shtab.DIRECTORY if metavar == FOLDER else shtab.FILE
        return dict(folder) if action.type is Path else None
    function, listing = f"_metassay_{metavar.lower().replace('|', '_')}", NAMES[metavar]
    preamble = {
        "bash": f'{function}() {{\n  compgen -W "$({listing})" -- "$1"\n}}',
        "zsh": f'{function}() {{\n  compadd -- ${{(f)"$({listing})"}}\n}}',
        "fish": f"function {function}\n  {listing}\nend",
    }
    return {"bash": function, "zsh": function, "fish": f"({function})", "preamble": preamble}
