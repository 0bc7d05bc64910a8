"""`metassay completion`: a shell's script that completes commands, options and names.

shtab writes the script from the parser itself, so a new command needs no line here. The
metavar of an argument tells what it takes: BENCHMARK is a name in the project, DIR a
folder. The shell itself lists names when Tab is pressed: Python doesn't start.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import shtab

# Shell code that lists names in sh, zsh and fish; no globs, which differ where nothing
# matches. It lists only valid names: bash would run commands in the words that it
# offers.
NAMES = {
    "BENCHMARK": (
        "find benchmarks -mindepth 2 -maxdepth 2 -name params.yaml 2>/dev/null"
        " | sed -n 's|^benchmarks/\\([A-Za-z0-9][A-Za-z0-9_-]*\\)/params.yaml$|\\1|p' | sort"
    ),
    "JUDGE": (
        'awk \'/^[^ #]/ {block = $1} block == "judges:"'
        ' && /^  [A-Za-z0-9][A-Za-z0-9_-]*:/ {sub(/:.*/, ""); print $1}\' params.yaml'
        " 2>/dev/null | sort -u"
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
    from metassay.cli.main import parser  # imports the commands, this one among them

    print(script(parser(), args.shell))
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return what `shell` (bash, zsh or fish) reads to complete the words that `parser` takes."""
    for action in _actions(parser):
        complete = _completion(action)
        if complete is not None:
            action.complete = complete  # type: ignore[attr-defined] # where shtab looks for it
    return shtab.complete(parser, shell)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for summary in action._choices_actions:
                command = action.choices[summary.dest]
                # shtab would show the first line of the description, which ends
                # mid-sentence.
                command.description = summary.help
                yield from _actions(command)


def _completion(action: argparse.Action) -> dict[str, object] | None:
    """Return how shtab should complete an argument; None if only the user knows what to write."""
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
    return {
        "bash": function,
        "zsh": function,
        "fish": f"({function})",
        "preamble": preamble,
    }
