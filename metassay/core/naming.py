"""The one rule for names: of benchmarks, datasets, prompts, and every named block of params.yaml.

A name becomes a file, a folder, a word of a command, a key of DVC, of YAML and of Prefect, and a
cell of tables. The rule is what all of them take.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

from metassay.core.strict_yaml import is_text

LONGEST = 60  # characters: file names hold 255, and names are joined in them
FORM = "use letters, digits, _ and - of ASCII alone, first a letter or digit"
MOST = 200  # characters of words that are shown

_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")  # a dot would part a key of DVC


def name_problem(name: str, taken: Collection[str] = ()) -> str:
    """What is wrong with a name, with the remedy; "" for a good one. `taken` are those in use."""
    if not _FORM.fullmatch(name):
        return FORM
    if len(name) > LONGEST:
        return f"has {len(name)} characters; shorten it to {LONGEST}"
    if not is_text(name):
        return (
            "YAML does not read it as text; choose a name that is not a number, a date, yes or null"
        )
    if prefect_key(name) in map(prefect_key, taken):
        return "the name is taken; choose another"
    return ""


def name_problems(names: Iterable[str], taken: Collection[str] = ()) -> Iterator[str]:
    """A line `<name>: <problem>` for each bad name, and for each that is too like one before it.

    Names that differ only in case, or in _ and -, are one file on some disks, and one key in
    Prefect.
    """
    first: dict[str, str] = {}
    for name in names:
        problem = name_problem(name, taken)
        like = first.setdefault(prefect_key(name), name)
        if not problem and like != name:
            problem = f"differs from {like} in case or - alone; choose another name"
        if problem:
            yield f"{name}: {problem}"


def words_problem(words: str) -> str:
    """What is wrong with words that become no file, but are shown; "" for nothing."""
    if not words.isprintable() or not words.strip() or words != words.strip():
        return "use printable characters, without blanks around them"
    return f"has {len(words)} characters; shorten it to {MOST}" if len(words) > MOST else ""


def prefect_key(name: str) -> str:
    """The name as Prefect's keys are written; no two names of a block have the same."""
    return name.casefold().replace("_", "-")


def folded(name: str) -> str:
    """What names that look alike share: no case, Unicode form, blanks, width, or kind of dash."""
    if name.isascii():
        return "".join(name.lower().split())
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    drawn = [one for one in plain if unicodedata.category(one) != "Cf"]
    dash = {one for one in drawn if one == "\u2212" or unicodedata.category(one) == "Pd"}
    return "".join("".join("-" if one in dash else one for one in drawn).split())
