"""The errors that bad input raises, every problem at once with its remedy; how they quote keys."""

import difflib
import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_LONG = re.compile(r"\S{301,}")  # longer than any path or key that somebody means
_NAME = re.compile(r"[!-~]{1,80}", re.ASCII)  # an id, a path or a URL: nothing that has words
_BYTES = 40
_WORDS = 4


class BadInput(Exception):  # noqa: N818 - reads as what it is: the input is bad, not the program
    """Input or configuration that cannot be used as it is; trying again cannot help.

    `problems` holds one line per problem: the file or table, the row or key, and what to do about
    it, never the text of a document. What does not print is escaped, a word of 300 characters cut.
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        given = (problems,) if isinstance(problems, str) else problems
        self.problems = tuple(map(one_line, given))
        super().__init__("\n".join(self.problems))


def raise_problems(problems: Iterable[str]) -> None:
    """Raise BadInput with all of these problems, if there are any."""
    if found := tuple(problems):
        raise BadInput(found)


@contextmanager
def collect_problems(into: list[str], lead: str = "") -> Iterator[None]:
    """Add the problems of a BadInput that is raised inside to a list, and go on behind it.

    `lead` goes before each of them.
    """
    try:
        yield
    except BadInput as error:
        into += [f"{lead}{problem}" for problem in error.problems]


def one_line(said: str) -> str:
    """What is said, as one line that any terminal, log or page can show."""
    if not said.isprintable():
        said = "".join(
            c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in said
        )
    return _LONG.sub(lambda word: f"{word[0][:100]}... ({len(word[0]):,} characters)", said)


class Unfinished(Exception):  # noqa: N818 - reads as what it is
    """Something outside failed for now; the same again may help, and does only what is missing.

    The message says what is missing and what to do, without the text of a document.
    """


def meant(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'gpt-4'?` where one of `known` is close, else nothing."""
    plain = {_plain(one): one for one in known}
    close = (
        [_plain(name)]
        if _plain(name) in plain
        else difflib.get_close_matches(_plain(name), plain, n=1)
    )
    return f"; did you mean {shown(plain[close[0]])}?" if close else ""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def shown(key: object) -> str:
    """A key as messages show it: quoted, or as length and hash where it may be somebody's text."""
    text = str(key)
    written = text.encode("utf-8", "surrogatepass")
    short = len(written) <= _BYTES and len(text.split()) <= _WORDS
    if short or _NAME.fullmatch(text):
        return repr(text)
    return f"<{len(text):,} characters, sha256 {hashlib.sha256(written).hexdigest()[:8]}>"
