"""Write options of the command line as their user types them."""

import shlex
from collections.abc import Iterable


def write_names(option: str, names: Iterable[str]) -> str:
    """Write an option that takes names, so that a shell and `cli.values.names` read them back.

    >>> print(write_names("--missing", ["n/a, resolved", "skip it"]))
    --missing '"n/a, resolved",skip it'
    >>> print(write_names("--missing", ["-skip-"]))
    --missing=-skip-
    """
    text = shlex.quote(",".join(map(quote_name, names)))
    # argparse takes a word that begins with a hyphen for an option.
    joint = "=" if text.lstrip("'").startswith("-") else " "
    return f"{option}{joint}{text}"


def quote_name(name: str) -> str:
    """Return a name as one cell of a line of names."""
    if not {",", '"'} & {*name}:
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
