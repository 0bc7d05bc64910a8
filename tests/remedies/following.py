"""Refusals, and what a person does who reads one: the printed remedy, in the printed form."""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from metassay.cli.main import main

# A command on a line of its own.
_COMMAND = re.compile(r"^(?:  |next: )metassay (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Done:
    """A command that was run: its words, exit code and output."""

    words: list[str]
    code: int
    out: str
    err: str

    @property
    def commands(self) -> list[list[str]]:
        """The commands that it printed on lines of their own, without `metassay`."""
        lines = _COMMAND.findall(f"{self.out}\n{self.err}")
        return [shlex.split(line) for line in lines]


class Terminal:
    """A terminal in a folder: runs commands, and has what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def run(self, words: list[str]) -> Done:
        """Run a command, given without `metassay`."""
        self.capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as error:  # of argparse
            code = int(error.code or 0)
        printed = self.capsys.readouterr()
        return Done(words, code, printed.out, printed.err)

    def type(self, line: str) -> Done:
        """Run a command as it is typed, without `metassay`."""
        return self.run(shlex.split(line))

    def follow_commands(self, done: Done) -> Done:
        """Run all commands that were printed, each with success; return the last one."""
        assert done.commands, f"no command was printed:\n{done.err}"
        last = done
        for words in done.commands:
            last = self.run(words)
            assert last.code == 0, f"{shlex.join(words)}\n{last.err}"
        return last


# ---- what a person does: each step takes the words of the command, and returns those to run


Step = Callable[[list[str], Done], list[str]]


def add(option: str, **names: str) -> Step:
    """Add an option that was printed, with a name in the place of each placeholder."""

    def step(words: list[str], refused: Done) -> list[str]:
        assert option in refused.err, f"{option} was not printed:\n{refused.err}"
        text = option
        for placeholder, name in names.items():
            assert placeholder in text
            text = text.replace(placeholder, shlex.quote(name))
        return [*words, *shlex.split(text)]

    return step


def retype(old: str, new: str) -> Step:
    """Type the command again with other words in a place."""

    def step(words: list[str], refused: Done) -> list[str]:
        line = shlex.join(words)
        assert old in line, f"{old} is not in: {line}"
        return shlex.split(line.replace(old, new))

    return step


def edit(name: str, old: str, new: str) -> Step:
    """Correct a file."""

    def step(words: list[str], refused: Done) -> list[str]:
        path = Path(name)
        content = path.read_text("utf-8")
        assert old in content, f"{old!r} is not in {name}"
        path.write_text(content.replace(old, new), encoding="utf-8")
        return words

    return step


def write(name: str, content: str) -> Step:
    """Write a file anew, as the remedy says."""

    def step(words: list[str], refused: Done) -> list[str]:
        Path(name).write_text(content, encoding="utf-8")
        return words

    return step


def rename(old: str, new: str) -> Step:
    """Rename a file, and name it so."""

    def step(words: list[str], refused: Done) -> list[str]:
        Path(old).rename(new)
        return [new if word == old else word for word in words]

    return step


def run_printed(words: list[str], refused: Done) -> list[str]:
    """Run the command that was printed on a line of its own."""
    (command,) = refused.commands
    return command


@dataclass(frozen=True)
class Refusal:
    """A refusal: the command and its files, what is printed, and how a person follows it.

    `says` and `remedy` are parts of what is printed, as it is printed.
    """

    command: str
    files: Mapping[str, str | bytes]
    says: str
    remedy: str
    steps: tuple[Step, ...] = field(default=())

    def provoke(self, terminal: Terminal, folder: Path) -> Done:
        """Write the files, and run the command, which must refuse them."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                path.write_text(content, encoding="utf-8")
        refused = terminal.type(self.command)
        assert refused.code == 2, refused
        assert self.says in refused.err, refused.err
        assert self.remedy in refused.err, refused.err
        return refused

    def follow(self, terminal: Terminal, refused: Done) -> Done:
        """Do what the refusal says, and run the command again."""
        words = refused.words
        for step in self.steps:
            words = step(words, refused)
        return terminal.run(words)
