"""The one error that bad input raises: every problem at once, each with its remedy."""

from collections.abc import Iterable


class BadInput(Exception):  # noqa: N818 - reads as what it is: the input is bad, not the program
    """Input or configuration that cannot be used as it is; trying again cannot help.

    `problems` holds one line per problem. A line names the file or table, the row or key, and what
    to do about it; it never holds the text of a document.
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class Unfinished(Exception):  # noqa: N818 - reads as what it is
    """Something outside failed for now; the same again may help, and does only what is missing.

    The message says what is missing and what to do, without the text of a document.
    """
