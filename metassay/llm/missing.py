"""Questions without an answer: which may get one another time, and what is said of them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

# The server has understood the question, and says no to it: it is wrong in itself (400, 422), or
# too long (413, 414). Of all else somebody or time can mend the cause: the key, the account, the
# address, a proxy.
_FOR_GOOD = re.compile(r"context_length|http_(400|413|414|422)")

REST = "Scores are of the rest, and their bounds count what is missing both ways"


def mendable(code: str) -> bool:
    """Whether asking the same again may get an answer; of a code that nobody knows, it may."""
    return _FOR_GOOD.fullmatch(code) is None


def counted(codes: Iterable[str]) -> str:
    """Codes with how often each came, the most frequent first: `http_500 11, timeout 1`."""
    by_count = sorted(Counter(codes).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{code} {count}" for code, count in by_count)


class Missing(NamedTuple):
    """One model's questions of a stage: how many, and the codes of those without an answer.

    `model` is its name in params.yaml. Asking again may get those of `open`, not those of `lost`.
    """

    model: str
    asked: int
    open: list[str]
    lost: list[str]


def missing(asked: Mapping[str, str], codes: Mapping[str, str]) -> list[Missing]:
    """By model: `asked` has the model of each question by its key, `codes` why some failed."""
    found = []
    for model in sorted(set(asked.values())):
        keys = [key for key, name in asked.items() if name == model]
        failed = [codes[key] for key in keys if key in codes]
        open_ = [code for code in failed if mendable(code)]
        lost = [code for code in failed if not mendable(code)]
        found.append(Missing(model, len(keys), open_, lost))
    return found


def missing_notes(found: Iterable[Missing]) -> list[str]:
    """The notes of a stage that went on without these answers."""
    again = "; the next `metassay run` asks for them again"
    return [f"{line}. {REST}" for line in _lines(found, again)]


def unfinished_message(found: Sequence[Missing], most: float) -> str:
    """What a stage says that stops because more than the share `most` of its answers is missing."""
    lines = _lines(found)
    if any("endpoint_down" in model.open for model in found):
        lines.append("endpoint_down: not asked, since its endpoint failed too often in a row")
    lines.append(
        "Every answer so far is in the ledger. Run again when the endpoint is up: only what is"
        " missing is asked. Or raise params.yaml > max_missing, the share of a stage's answers"
        f" that may be missing; it is {most:g}"
    )
    return ". ".join(lines)


def _lines(found: Iterable[Missing], again: str = "") -> list[str]:
    lines = []
    for model, asked, open_, lost in found:
        if open_:
            many = f"{len(open_)} of {asked} answers are missing ({counted(open_)})"
            lines.append(f"model {model!r}: {many}{again}")
        if lost:
            lines.append(
                f"model {model!r}: {len(lost)} of {asked} questions failed for good"
                f" ({counted(lost)}): asked again they would fail again, unless you change"
                f" params.yaml > models > {model}, its endpoint, or what is asked."
                " `metassay run NAME --ask-again` asks them again although nothing changed"
            )
    return lines
