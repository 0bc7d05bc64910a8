"""Fields of records as names, texts and numbers, however a tool's version writes them."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from metassay.tabular.decoding import finite_number


def unpacked(value: object) -> Any:
    """A value that a table holds as JSON; what is no JSON stays a text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def field(record: object, path: str) -> Any:
    """What a record has under `metadata.model`; None where it has nothing there."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    for step in path.split("."):
        record = unpacked(record)
        record = record.get(step) if isinstance(record, Mapping) else None
    return record


def first(record: object, *names: str) -> Any:
    """The first of these fields that holds anything."""
    return next((v for v in (field(record, name) for name in names) if v not in (None, "")), None)


def objects(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; none of what is no list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def key(value: object) -> str:
    """A name in one line, without blanks around it; "" for nothing and for what is no name."""
    if isinstance(value, Mapping | list) or _is_nothing(value):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def _is_nothing(value: object) -> bool:
    return value in (None, "", []) or (isinstance(value, float) and math.isnan(value))


def digest(value: object) -> str:
    """A name for what has none: equal values have equal ones."""
    told = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def text(value: object) -> str | None:
    """A text, of a text, of chat messages or their parts, or of any JSON; None for nothing."""
    if isinstance(value, list) and value and len(objects(value)) == len(value):
        value = "\n".join(filter(None, (text(first(one, "text", "content")) for one in value)))
    if _is_nothing(value) or isinstance(value, str):
        return value if isinstance(value, str) and value else None
    return json.dumps(value, ensure_ascii=False, default=str)


def texts(*values: object) -> tuple[str, ...]:
    """Those of the values, and of lists among them, that hold anything."""
    each = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return tuple(one for one in map(text, each) if one is not None and one.strip())


def number(value: object) -> float | None:
    """The number that a value is, true being 1; None for anything else, NaN and infinities."""
    if isinstance(value, str):
        return finite_number(value.strip())
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None


def scalars(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Names and values: of an object one per key, of a list one per place."""
    if isinstance(value, Mapping | list | tuple) and value:
        listed = value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
        for step, inner in listed:
            yield from scalars(f"{name}_{step}", inner)
    else:
        yield name, value


def verdict(passed: object) -> str:
    """`pass` or `fail`, of what is true or false; "" of anything else."""
    return ("pass" if passed else "fail") if isinstance(passed, bool) else ""
