"""Long texts that stand in code."""


def join_lines(text: str) -> str:
    r"""Return a text on one line: blanks and line breaks become single blanks.

    >>> join_lines("\n    Mean over 40 notes,\n    with an interval.\n")
    'Mean over 40 notes, with an interval.'
    """
    return " ".join(text.split())


def split_paragraphs(text: str) -> list[str]:
    r"""Return the paragraphs of a text, which have empty lines between them, each on one line.

    >>> split_paragraphs("\n    Mean over\n    40 notes.\n\n    Higher is better.\n")
    ['Mean over 40 notes.', 'Higher is better.']
    """
    lines = [join_lines(paragraph) for paragraph in text.split("\n\n")]
    return [line for line in lines if line]
