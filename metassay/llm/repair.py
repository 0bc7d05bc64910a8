"""Answers in nearly the form that was asked for, put into it where they can mean one thing only.

Nothing of what is said is changed: only how it is written (`"2"` for 2, `Not entailed.` for
not_entailed), and keys that nobody asked for are left out.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

_WHOLE = re.compile(r"\s*(-?[0-9]{1,9})(?:\.0*)?\s*")
_AROUND = " \t\n\"'“”‘’*`."


def folded(label: str) -> str:
    """A label without case and the marks around it, its words joined by `_`."""
    return re.sub(r"[\s_-]+", "_", label.strip(_AROUND).casefold())


def whole(value: object) -> int | None:
    """The whole number that a text or a real is; None if it is none."""
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    if match:
        return int(match[1])
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e9:
        return int(value)
    return value if type(value) is int else None


def repaired(said: Any, model: type[BaseModel]) -> Any:
    """What was said as the fields of the model, as far as it can be; the model then validates it.

    A key that the model doesn't have stays, and so makes the answer invalid, if it may be a part of
    the answer: another one of the labels to choose from, or a list beside other lists.
    """
    if not isinstance(said, Mapping):
        return said
    kinds = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    found = {name: _fitted(said[name], kind) for name, kind in kinds.items() if name in said}
    labels = {folded(one) for kind in kinds.values() for one in _labels(kind)}
    chosen = {value for value in found.values() if isinstance(value, str)}
    for name in said.keys() - kinds.keys():
        other = folded(said[name]) if isinstance(said[name], str) else ""
        listed = said[name] and isinstance(said[name], list)
        if (other in labels and other not in map(folded, chosen)) or (
            listed and any(isinstance(value, list) for value in found.values())
        ):
            found[name] = said[name]
    return found


def _labels(kind: Any) -> list[str]:
    return [one for one in get_args(kind) if isinstance(one, str)] if _is_choice(kind) else []


def _is_choice(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _fitted(value: Any, kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        return _fitted(value, get_args(kind)[0])
    if get_origin(kind) is list and isinstance(value, list):
        return [_fitted(one, get_args(kind)[0]) for one in value]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return repaired(value, kind)
    if isinstance(value, str) and _labels(kind):
        return {folded(one): one for one in _labels(kind)}.get(folded(value), value)
    if kind is int or _is_choice(kind):
        number = whole(value)
        return value if number is None else number
    return value
