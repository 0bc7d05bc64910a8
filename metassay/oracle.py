"""Code of our own that stands for a package's, for speed: a sample of every run is held against it.

The sample is the same for equal keys. It is small enough to take well under a second; the import of
the package comes on top.
"""

import hashlib
import json
from collections.abc import Sequence

from metassay.errors import Defect

TOLERANCE = 1e-9
MOST = 50
WORK = 15_000_000  # characters of one text times those of the other: 0.2 s of rouge-score
_SHOWN = 5


def sample(keys: Sequence[Sequence[str]], work: Sequence[int]) -> list[int]:
    """At most 50 indices, drawn by a hash of their keys, whose work is at most WORK together.

    What does not fit any more is passed over. If nothing fits, it is the one with the least work.
    """

    def drawn(index: int) -> bytes:
        return hashlib.sha256(json.dumps(keys[index]).encode()).digest()

    left = WORK
    found: list[int] = []
    for index in sorted(range(len(keys)), key=drawn):
        if work[index] <= left and len(found) < MOST:
            left -= work[index]
            found.append(index)
    if keys and not found:
        found = [min(range(len(keys)), key=lambda index: work[index])]
    return found


def same(one: float | None, other: float | None) -> bool:
    """Whether two values are equal up to 1e-9, or both null."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= TOLERANCE


def refuse(kind: str, differing: Sequence[str], checked: int) -> None:
    """Raise Defect if anything differs; each line names a key and numbers, and no text."""
    if differing:
        raise Defect(
            "\n".join(
                [
                    f"{kind}: {len(differing)} values of a sample of {checked} texts are not those"
                    " of the package that defines them, so no value was kept. The program is at"
                    " fault, or an installed package, not your data: please report these lines",
                    *differing[:_SHOWN],
                ]
            )
        )
