"""Name the option that answers a question, as the caller writes it.

The same question is asked on the terminal and in Python. What answers it is an option of
the command, or an argument of the function, with the same name and the same value.
"""

import shlex
from dataclasses import dataclass
from enum import Enum

# Arguments of Python whose options have another name.
_ARGUMENTS = {"pass": "passes", "class": "classes", "confound": "confounds"}
# Columns that are arguments by themselves in Python, and words of `--columns`.
_ROLES = ("doc", "system", "rater", "claim", "strata", "cluster", "family", "part")
# Options that take their values as words; other options take NAME,NAME.
_WORDS = ("judge", "human", "pass", "class")


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of a command, which is an argument of the function in Python.

    `key` is what the values are of: the role of `--columns`, the criterion of `--scale`,
    the column of `--rows`. `blank` stands where the user writes a value.

    >>> lower = Option(name="lower", values=("error rate", "words"))
    >>> print(lower.terminal, "or", lower.python)
    --lower 'error rate,words' or lower=['error rate', 'words']
    >>> scale = Option(name="scale", key="fluency", values=("1..5",))
    >>> print(scale.terminal, "or", scale.python)
    --scale fluency=1..5 or scale={'fluency': '1..5'}
    """

    name: str
    values: tuple[str, ...] = ()
    key: str = ""
    blank: str = ""

    @property
    def terminal(self) -> str:
        """Write the option so that a shell and `cli.values.names` read its values back."""
        option = f"--{self.name}"
        if self.blank:
            return (
                f"{option} {self.key}={self.blank}"
                if self.key
                else f"{option} {self.blank}"
            )
        if not self.values:
            return option
        if self.name in _WORDS:
            return f"{option} {shlex.join(self.values)}"
        first, *more = self.values
        if self.key:
            first = f"{self.key}={first}"
        if self.name == "columns":
            text = ",".join([first, *more])
        else:
            text = ",".join(map(_quote_name, [first, *more]))
        text = shlex.quote(text)
        # argparse takes a word that begins with a hyphen for an option.
        joint = "=" if text.lstrip("'").startswith("-") else " "
        return f"{option}{joint}{text}"

    @property
    def python(self) -> str:
        """Write the argument, with its value as a literal."""
        argument = _ARGUMENTS.get(self.name, self.name.replace("-", "_"))
        if not self.values and not self.blank:
            return f"{argument}="
        value = self.blank or self._literal()
        if self.name == "columns" and self.key in _ROLES:
            argument = self.key
        elif self.name != "columns" and self.key:
            value = f"{{{self.key!r}: {value}}}"
        return f"{argument}={value}"

    def _literal(self) -> str:
        """Write one value by itself, and several as a list; columns as `--columns` takes them."""
        if self.name == "columns":
            columns = ",".join(self.values)
            return repr(columns if self.key in _ROLES else f"{self.key}={columns}")
        if len(self.values) == 1 and self.name != "rows":
            return repr(self.values[0])
        return repr([*self.values])


class Caller(Enum):
    """Who reads a message, and so how it names options."""

    TERMINAL = "terminal"
    PYTHON = "python"

    def option(self, name: str, *values: str, key: str = "", blank: str = "") -> str:
        """Write an option as this caller does; see `Option` for the arguments.

        >>> Caller.TERMINAL.option("missing", "n/a, resolved", "skip it")
        '--missing \\'"n/a, resolved",skip it\\''
        >>> Caller.PYTHON.option("pass-from", blank="NUMBER")
        'pass_from=NUMBER'
        """
        option = Option(name=name, values=values, key=key, blank=blank)
        if self is Caller.PYTHON:
            return option.python
        return option.terminal

    def column(self, role: str, *columns: str) -> str:
        """Write the option that names the column of a role, such as `ratings.raters`.

        >>> Caller.TERMINAL.column("doc", "visit id")
        "--columns 'doc=visit id'"
        >>> Caller.PYTHON.column("doc", "visit id")
        "doc='visit id'"
        """
        return self.option("columns", *columns, key=role)


def _quote_name(name: str) -> str:
    """Return a name as one cell of a line of names."""
    if not {",", '"'} & {*name}:
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
