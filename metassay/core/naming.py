"""The rule for names of benchmarks, datasets, prompts, and all named blocks of params.yaml.

A name becomes a file, a folder, a word of a command, a key of DVC, of YAML and of
Prefect, and a cell of tables. The rule allows what all of them accept.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

from metassay.core.strict_yaml import is_text

LONGEST = 60  # characters: file names have at most 255, and join several names
FORM = "use letters, digits, _ and - of ASCII alone, first a letter or digit"
MOST = 200  # characters of labels

_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")  # a dot would split a key of DVC


def name_problem(name: str, taken: Collection[str] = ()) -> str:
    """Describe what is wrong with a name, with the remedy; "" if valid. `taken`: names in use."""
    if not _FORM.fullmatch(name):
        return FORM
    if len(name) > LONGEST:
        return f"has {len(name)} characters; shorten it to {LONGEST}"
    if not is_text(name):
        return (
            "YAML does not read it as text; choose a name that is not a number, a date,"
            " yes or null"
        )
    if prefect_key(name) in map(prefect_key, taken):
        return "the name is taken; choose another"
    return ""


def name_problems(names: Iterable[str], taken: Collection[str] = ()) -> Iterator[str]:
    """Yield a line `<name>: <problem>` for each invalid name, and each too similar to another.

    Names that differ only in case, or in _ and -, are the same file on some disks, and
    the same key in Prefect.
    """
    first: dict[str, str] = {}
    for name in names:
        problem = name_problem(name, taken)
        other = first.setdefault(prefect_key(name), name)
        if not problem and other != name:
            problem = f"differs from {other} in case or - alone; choose another name"
        if problem:
            yield f"{name}: {problem}"


def words_problem(words: str) -> str:
    """Describe what is wrong with words that are only displayed; "" if valid."""
    if not words.isprintable() or not words.strip() or words != words.strip():
        return "use printable characters, without blanks around them"
    return (
        f"has {len(words)} characters; shorten it to {MOST}"
        if len(words) > MOST
        else ""
    )


def prefect_key(name: str) -> str:
    """Return the name as a key of Prefect; no two names of a block have the same."""
    return name.casefold().replace("_", "-")


def normalise(name: str) -> str:
    """Normalise a name: equal for names that differ in case, Unicode form, blanks or dashes."""
    if name.isascii():
        return "".join(name.lower().split())
    plain = unicodedata.normalize(
        "NFKC", unicodedata.normalize("NFKC", name).casefold()
    )
    characters = [c for c in plain if unicodedata.category(c) != "Cf"]
    dashes = {c for c in characters if c == "\u2212" or unicodedata.category(c) == "Pd"}
    return "".join("".join("-" if c in dashes else c for c in characters).split())
