"""What a model thought aloud before it answered, which is no part of its answer."""

import re

_END = re.compile(r"^[ \t]*</think>[ \t]*$", re.MULTILINE)


def without_thoughts(text: str) -> str | None:
    """What follows the `<think>` block that an answer begins with; None if the block has no end.

    Some models' templates have opened the block already: then it is all before a line that is
    nothing but `</think>`, which no line of sound JSON is. Any other text stays as it is.
    """
    before, end, after = text.partition("</think>")
    if before.lstrip().startswith("<think>"):
        return after.lstrip() if end else None
    alone = _END.search(text) if end else None
    if alone is None or "<think>" in text[: alone.start()]:
        return text
    return text[alone.end() :].lstrip()
