"""Follow what a refusal prints, in the form in which it is printed."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from metassay.cli.main import main

# A command on a line of its own, and an option with its value inside a sentence.
_COMMAND = re.compile(r"^(?:  |next: )metassay (.+)$", re.MULTILINE)
_OPTION = re.compile(r"--[a-z][a-z-]*(?:[ =](?:'[^']*'|\"[^\"]*\"|[^\s;,:()'\"])+)?")


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

    @property
    def options(self) -> list[str]:
        """The options that it printed inside its sentences, each with its value."""
        return [match.rstrip(".") for match in _OPTION.findall(self.err)]


class Terminal:
    """A terminal in a folder: runs commands, and what they print."""

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

    def add_option(self, done: Done, option: str, names: Mapping[str, str]) -> Done:
        """Repeat a command with an option that was printed, with names for its placeholders."""
        printed = [text for text in done.options if text.startswith(option)]
        assert printed, f"{option} was not printed:\n{done.err}"
        text = printed[0]
        for placeholder, name in names.items():
            assert placeholder in text, f"{placeholder} is not in {text}"
            text = text.replace(placeholder, shlex.quote(name))
        return self.run([*done.words, *shlex.split(text)])
