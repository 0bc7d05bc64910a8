"""docs/api.md, the page of all that `metassay` exports, from its docstrings.

`python -m metassay.api.reference docs/api.md` writes the page.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import metassay

_HEAD = """\
# Python

Generated from the docstrings of what `metassay` exports; do not edit.

`import metassay` is quick: each name brings what it needs when it is first used. The core install
is enough; only the metric "bleu" needs the extra `pipeline`, and "bertscore" the extra `models`.
[`metassay.kinds`](own-kinds.md) has what a kind of your own is made of.
`metassay.statistics` is public as well: the functions over arrays that these are made of, each with
shapes, missing values and source in its docstring. What is not named here may change with any
version.
"""
_SECTION = re.compile(r"^(\w+)\n-+$", re.MULTILINE)
_LISTED = ("Parameters", "Returns", "Raises")


def page() -> str:
    """Return the Markdown of docs/api.md, functions before classes."""
    names = [name for name in metassay.__all__ if callable(getattr(metassay, name))]
    names.sort(key=lambda name: inspect.isclass(getattr(metassay, name)))
    return "\n".join([_HEAD, *(line for name in names for line in _entry(name))])


def _entry(name: str) -> Iterator[str]:
    exported = getattr(metassay, name)
    yield from _describe(f"## {name}", f"metassay.{name}", exported)
    if not inspect.isclass(exported):
        return
    members = {
        k: v for base in reversed(exported.__mro__[:-1]) for k, v in vars(base).items()
    }
    for member, value in members.items():
        if member.startswith("_") or not inspect.getdoc(value):
            continue
        if isinstance(value, property):
            yield from (f"### {name}.{member}", "", _text(value), "")
        elif inspect.isfunction(value):
            yield from _describe(f"### {name}.{member}", f"{name}.{member}", value)


def _describe(heading: str, called: str, value: Any) -> Iterator[str]:
    yield from (heading, "", "```text", f"{called}{_signature(value)}", "```", "")
    yield from (_text(value), "")


def _signature(value: Any) -> str:
    """Return names and defaults; the docstring has the types."""
    parameters = inspect.signature(value).parameters.values()
    bare = [p.replace(annotation=p.empty) for p in parameters if p.name != "self"]
    return str(inspect.Signature(bare))


def _text(value: Any) -> str:
    """Turn a docstring into Markdown: sections of numpydoc become headings and lists."""
    start, *rest = _SECTION.split(inspect.getdoc(value) or "")
    parts = [start.strip()]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        text = body.strip()
        if title in _LISTED:
            text = "\n".join(_items(text))
        elif title == "Examples":
            text = f"```pycon\n{text.replace('  # doctest: +SKIP', '')}\n```"
        parts.append(f"**{title}**\n\n{text}")
    return "\n\n".join(parts)


def _items(body: str) -> Iterator[str]:
    """Entries of a section, `name : type` with indented text below, as a Markdown list."""
    for entry in re.split(r"\n(?=\S)", body):
        first, *text = entry.splitlines()
        name, _, kind = first.partition(" : ")
        start = f"- `{name}`{f' ({kind})' if kind else ''}"
        yield f"{start}: {' '.join(line.strip() for line in text)}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
