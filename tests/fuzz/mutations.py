"""What is done to sound input: to its bytes, to its lines, to its values."""

import copy
import math
import random
from typing import Any

from hypothesis import strategies as st

ODD_TEXTS = (
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\x1b[31m",
    "\u200b",
    "\ufeff",
    "\u202e",
    "\ud800",
    "=1+1",
    "+1",
    "-1",
    "@x",
    "[/b]x",
    "<script>",
    "{{x}}",
    "${x}",
    "%s",
    "'",
    '"',
    "`x`",
    "|",
    "../../x",
    "/etc/passwd",
    "a/b",
    "x;touch y;",
    "$(touch y)",
    "-n",
    "con",
    "NaN",
    "null",
    "e\u0301",
    "é",
    "Ann",
    "ann",
    "reference",
    "Reference",
    "full",
    "given",
    "claim:-1",
    "1e400",
    "1e309",
    "-0",
    "1,5",
    "٣",
    "0x10",
    "1_000",
    "true",
    "2026-02-30",
    "[0]",
    "[9999]",
    "x" * 5000,
    "1" * 5000,
)
ODD_NUMBERS = (
    0,
    -1,
    1,
    10**12,
    10**30,
    -(10**30),
    0.1,
    1e308,
    math.inf,
    -math.inf,
    math.nan,
)
ODD_VALUES = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    {"a": None},
    [1, "a"],
    {"": ""},
    *ODD_NUMBERS,
    *ODD_TEXTS,
)
_PIECES = (
    *tuple(text.encode("utf-8", "surrogatepass") for text in ODD_TEXTS),
    b"\xff",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\x00" * 100,
    b"[" * 3000,
    b"{" * 3000,
    b"\x80" * 8,
    b"\n",
    b"\r",
    b",",
    b'"',
    b":",
    b"\n\n\n",
    b"PAR1",
    b"\x1f\x8b\x08",
    b"PK\x03\x04",
)

_KINDS = ["flip", "cut", "end", "zero", "insert", "double", "swap"]
_bytes = st.tuples(
    st.sampled_from(_KINDS),
    st.floats(0, 1, exclude_max=True),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, len(_PIECES) - 1),
    st.integers(1, 255),
)


ACCIDENTS = st.lists(_bytes, min_size=1, max_size=3)


def damaged(
    content: bytes, accidents: list[tuple[str, float, float, int, int]]
) -> bytes:
    """The content after these accidents to its bytes."""
    for accident in accidents:
        content = _accident(content, *accident)
    return content


def spoilt(content: bytes, draw: random.Random) -> bytes:
    """The content after one such accident, drawn by chance."""
    places = draw.choice(_KINDS), draw.random(), draw.random()
    return _accident(
        content, *places, draw.randrange(len(_PIECES)), draw.randint(1, 255)
    )


def _accident(
    content: bytes, what: str, at: float, to: float, piece: int, number: int
) -> bytes:
    start, other = sorted((int(at * len(content)), int(to * len(content))))
    after = min(other, start + 64)
    before, piece_here, behind = content[:start], content[start:after], content[after:]
    flipped = bytes(byte ^ number for byte in content[start : start + 1])
    return {
        "flip": before + flipped + content[start + 1 :],
        "cut": before + behind,
        "end": before,
        "zero": before + b"\0" * len(piece_here) + behind,
        "insert": before + _PIECES[piece] + content[start:],
        "double": before + 2 * piece_here + behind,
        "swap": content[other:] + content[start:other] + before,
    }[what]


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside a value, itself included."""
    steps = value.items() if isinstance(value, dict) else ()
    steps = enumerate(value) if isinstance(value, list) else steps
    return [at, *(path for step, inner in steps for path in paths(inner, (*at, step)))]


_values = st.tuples(
    st.sampled_from(["put", "remove", "rename", "wrap", "double"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, len(ODD_VALUES) - 1),
)


CHANGES = st.lists(_values, min_size=1, max_size=3)


def changed(value: Any, changes: list[tuple[str, float, int]]) -> Any:
    """The value, of JSON or YAML, after these changes."""
    result = copy.deepcopy(value)
    for what, where, new in changes:
        if places := [path for path in paths(result) if path]:
            path = places[int(where * len(places))]
            _change(result, path, what, copy.deepcopy(ODD_VALUES[new]))
    return result


def _change(root: Any, path: tuple[Any, ...], what: str, new: Any) -> None:
    holder = root
    for step in path[:-1]:
        holder = holder[step]
    last = path[-1]
    if what == "put":
        holder[last] = new
    elif what == "remove":
        del holder[last]
    elif what == "wrap":
        holder[last] = [holder[last]]
    elif isinstance(holder, dict):
        key = new if isinstance(new, str) else f"{last}x"
        holder[key] = holder[last] if what == "double" else holder.pop(last)
    else:
        holder.insert(last, holder[last])
