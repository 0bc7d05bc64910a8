"""Messages that name options of the command line, told of the arguments of `meta_eval`."""

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from metassay.core.errors import BadInput

_ROLES = ("doc", "system", "rater", "strata", "cluster", "family")  # arguments of their own
_CALLED = {"confound": "confounds"}
# An option, and its value where one follows, which is no word of the sentence: parts of it may be
# in quotes, and it ends before punctuation.
_OPTION = re.compile(
    r"--([a-z]+)(?: (?!(?:and|or|if|names)\b)"
    r"((?:'[^']*'|[^\s';:,()]|[,.](?=\S))*(?:'[^']*'|[^\s';:,.()]|\.{3})))?"
)


def of_arguments(message: str) -> str:
    """`--columns doc=id` is `doc='id'`, `--scale a=1..5` is `scale={'a': '1..5'}`, `--lower` is
    `lower=`."""
    return _OPTION.sub(_argument, message)


@contextmanager
def naming_arguments() -> Iterator[None]:
    """What is raised inside names arguments."""
    try:
        yield
    except BadInput as error:
        raise BadInput([of_arguments(line) for line in error.problems]) from None


def _argument(found: re.Match[str]) -> str:
    option, value = found[1], "".join(shlex.split(found[2] or ""))
    name = _CALLED.get(option, option)
    first, equals, second = value.partition("=")
    if option == "columns" and equals and first in _ROLES:
        return f"{first}={second!r}"
    if option == "scale" and equals:
        criterion, _, scale = value.rpartition("=")
        return f"{name}={{{criterion!r}: {scale!r}}}"
    return f"{name}={value!r}" if value else f"{name}="
