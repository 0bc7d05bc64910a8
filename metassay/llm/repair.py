"""Bring answers that are almost in the right form into it, if they can mean only one thing.

`"2"` becomes 2, `Not entailed.` not_entailed. Nothing else is guessed.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

_WHOLE = re.compile(r"\s*(-?[0-9]{1,9})(?:\.0*)?\s*")
_AROUND = " \t\n\"'“”‘’*`."


def fold(label: str) -> str:
    """Return a label without case and surrounding marks, its words joined by `_`."""
    return re.sub(r"[\s_-]+", "_", label.strip(_AROUND).casefold())


def whole(value: object) -> int | None:
    """Return a text or number as an int; None if it is not a whole number."""
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    if match:
        return int(match[1])
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e9:
        return int(value)
    return value if type(value) is int else None


def repair(entry: Any, model: type[BaseModel]) -> Any:
    """Return the entry with values in the form of the model's fields, where they can mean only one.

    The model then validates it. An unknown key stays, and so makes the answer invalid,
    if it may be a part of the answer: another of the labels, or a list beside other
    lists.
    """
    if not isinstance(entry, Mapping):
        return entry
    kinds = {
        field.alias or name: field.annotation
        for name, field in model.model_fields.items()
    }
    fields = {
        name: _convert(entry[name], kind)
        for name, kind in kinds.items()
        if name in entry
    }
    labels = set(chain.from_iterable(map(_labels, kinds.values())))
    chosen = {fold(value) for value in fields.values() if isinstance(value, str)}
    for name in entry.keys() - kinds.keys():
        other = fold(entry[name]) if isinstance(entry[name], str) else ""
        listed = entry[name] and isinstance(entry[name], list)
        if (other in labels and other not in chosen) or (
            listed and any(isinstance(value, list) for value in fields.values())
        ):
            fields[name] = entry[name]
    return fields


def choices(model: type[BaseModel]) -> dict[str, Sequence[Any]]:
    """Return the fields of a model that choose among values, with all values of each."""
    kinds = {name: field.annotation for name, field in model.model_fields.items()}
    return {
        name: get_args(kind)
        for name, kind in kinds.items()
        if get_origin(kind) is Literal and name != "number"
    }


def _labels(kind: Any) -> dict[str, str]:
    values = get_args(kind) if get_origin(kind) is Literal else ()
    return {fold(label): label for label in values if isinstance(label, str)}


def _convert(value: Any, kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        return _convert(value, get_args(kind)[0])
    if get_origin(kind) is list and isinstance(value, list):
        return [_convert(member, get_args(kind)[0]) for member in value]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return repair(value, kind)
    if isinstance(value, str) and (labels := _labels(kind)):
        return labels.get(fold(value), value)
    if kind is int or get_origin(kind) is Literal:
        number = whole(value)
        return value if number is None else number
    return value
