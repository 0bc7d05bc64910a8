"""Long texts that stand in code."""


def join_lines(text: str) -> str:
    r"""Return a text on one line: blanks and line breaks become single blanks.

    >>> join_lines("\n    Mean over 40 notes,\n    with an interval.\n")
    'Mean over 40 notes, with an interval.'
    """
    return " ".join(text.split())
