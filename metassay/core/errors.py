"""Errors of bad input, with all problems and their remedies at once; how messages quote keys."""

import difflib
import errno
import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_LONG = re.compile(r"\S{301,}")  # longer than any sensible path or key
_NAME = re.compile(r"[!-~]{1,80}", re.ASCII)  # an id, a path or a URL, not text
_BYTES = 40
_WORDS = 4


class BadInput(Exception):  # noqa: N818 - the input is bad, not the program
    """Input or configuration that cannot be used; trying again does not help.

    `problems` has a line per problem: the file or table, the row or key, and the
    remedy, never the text of a document. Unprintable characters are escaped, words over
    300 characters shortened.
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        lines = (problems,) if isinstance(problems, str) else problems
        self.problems = tuple(map(one_line, lines))
        super().__init__("\n".join(self.problems))


def raise_problems(problems: Iterable[str]) -> None:
    """Raise BadInput with these problems, if there are any."""
    if lines := tuple(problems):
        raise BadInput(lines)


@contextmanager
def collect_problems(collected: list[str], lead: str = "") -> Iterator[None]:
    """Add the problems of a BadInput raised inside to a list, each after `lead`, and continue."""
    try:
        yield
    except BadInput as error:
        collected += [f"{lead}{problem}" for problem in error.problems]


def one_line(message: str) -> str:
    """Return a message as a line that any terminal, log or page can show."""
    if not message.isprintable():
        escapes = {
            c: c.encode("unicode_escape").decode()
            for c in message
            if not c.isprintable()
        }
        message = "".join(escapes.get(c, c) for c in message)
    return _LONG.sub(
        lambda word: f"{word[0][:100]}... ({len(word[0]):,} characters)", message
    )


class Unfinished(Exception):  # noqa: N818 - a state, not a mistake
    """Something outside failed for now; another run can help, and does only what is missing.

    The message says what is missing and what to do, without the text of a document.
    """


def hint(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'gpt-4'?` if a name in `known` is similar, else an empty text."""
    plain = {_plain(candidate): candidate for candidate in known}
    key = _plain(name)
    matches = [key] if key in plain else difflib.get_close_matches(key, plain, n=1)
    return f"; did you mean {shown(plain[matches[0]])}?" if matches else ""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def shown(key: object) -> str:
    """Quote a key for messages; show only length and hash if it can be text of a document."""
    text = str(key)
    data = text.encode("utf-8", "surrogatepass")
    short = len(data) <= _BYTES and len(text.split()) <= _WORDS
    if short or _NAME.fullmatch(text):
        return repr(text)
    return f"<{len(text):,} characters, sha256 {hashlib.sha256(data).hexdigest()[:8]}>"


def quoted(name: object) -> str:
    """Quote a name that the user chose, in full: of a column, criterion, metric or sheet.

    For messages on the user's own terminal. `shown` is for cells and for shared logs.

    >>> quoted("Please rate the summary of case 1 by system A [Fluency]")
    "'Please rate the summary of case 1 by system A [Fluency]'"
    """
    return repr(str(name))


# Errors of a disk or its permissions, each with its remedy.

_FULL = "there is no room left on the disk; make room and run the same again"
_RIGHTS = (
    "you lack the permission for this; `ls -ld` shows the owner, or work in a copy"
)
_IN_THE_WAY = "a file is where a folder is needed, or vice versa; move it away"
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
    errno.EBUSY: _IN_THE_WAY,  # the error of `.`
}


def refusal(error: OSError) -> str | None:
    """Return the file and the remedy, or None for an error that is not about a disk.

    Contains no text of a document: too long file names are not among these errors.
    """
    remedy = _REFUSED.get(error.errno or 0)
    if remedy is None:
        return None
    return f"{short_name(error.filename)}: {remedy}" if error.filename else remedy


def disk_problem(error: OSError) -> str:
    """Return the line of `refusal`; raise an error that is not about a disk again."""
    line = refusal(error)
    if line is None:
        raise error
    return line


def short_name(name: object) -> str:
    """Return a file's name in one line, relative to the working folder if it is inside."""
    path = Path(name.decode(errors="replace") if isinstance(name, bytes) else str(name))
    folder = Path.cwd()
    short = path.relative_to(folder) if path.is_relative_to(folder) else path
    return one_line(str(short))
