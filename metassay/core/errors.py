"""The errors that bad input raises, every problem at once with its remedy; how they quote keys."""

import difflib
import errno
import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

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


# What the disk or the rights to it refuse, said in one line with its remedy.


_FULL = "there is no room left on the disk; make room and run the same again"
_RIGHTS = "you have no right to do this here; `ls -ld` shows who has, or work in a copy of yours"
_IN_THE_WAY = "a file stands where a folder is needed, or the other way round; move it away"
_TOO_MANY = "too many files are open at a time; allow more with `ulimit -n`, or run fewer --jobs"
_REFUSED = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: "your share of the disk is used up; make room and run the same again",
    errno.EFBIG: "may not grow so large; `ulimit -f` limits it: raise that and run the same again",
    errno.EROFS: "this disk cannot be written to; work in a copy of the project elsewhere",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EIO: "the disk fails; work in a copy of the project elsewhere",
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
    errno.EEXIST: _IN_THE_WAY,
    errno.ENOTDIR: _IN_THE_WAY,
    errno.EISDIR: _IN_THE_WAY,
    errno.ELOOP: "is a link that leads back to itself; name a file, or fix the link",
    errno.ENXIO: "is a socket or a device without a receiver; name a file or a pipe",
    errno.EBUSY: _IN_THE_WAY,  # what `.` says of itself
}


def refusal(error: OSError) -> str | None:
    """The line: the file and what to do. None for an error that is not about a disk.

    Nothing of it is the text of a document: a name that is too long for a file is not among them.
    """
    remedy = _REFUSED.get(error.errno or 0)
    if remedy is None:
        return None
    return f"{short_name(error.filename)}: {remedy}" if error.filename else remedy


def told(error: OSError) -> str:
    """The line; an error that is not about a disk is raised again."""
    said = refusal(error)
    if said is None:
        raise error
    return said


def short_name(name: object) -> str:
    """A file's name in one line, from the working folder where it lies below that."""
    path = Path(name.decode(errors="replace") if isinstance(name, bytes) else str(name))
    here = Path.cwd()
    short = path.relative_to(here) if path.is_relative_to(here) else path
    return one_line(str(short))
