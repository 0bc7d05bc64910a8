"""What the disk or the rights to it refuse, said in one line with its remedy."""

import errno
from pathlib import Path

from metassay.core.errors import one_line

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
