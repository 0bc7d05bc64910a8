"""The papers, and the records of their figures and tables: records.yaml."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from metassay.core import strict_yaml
from metassay.paper_figures.record import Record

_ESTIMATE = {"value": "value", "low": "low", "high": "high", "n": "n"}
_Papers = dict[str, tuple[Record, ...]]


def _read() -> _Papers:
    """Raises a ValidationError that names a block which is no record."""
    blocks: Any = strict_yaml.load(Path(__file__).with_name("records.yaml"))
    papers = {
        paper: [{"paper": paper, "name": name, **_record(block)} for name, block in of.items()]
        for paper, of in blocks.items()
        if paper != "shared"
    }
    return TypeAdapter(_Papers, config=ConfigDict(extra="forbid")).validate_python(papers)


def _record(block: Mapping[str, Any]) -> dict[str, Any]:
    lines = {key: block[key] for key in ("panels", "rows", "columns") if key in block}
    texts = {key: block[key] for key in ("says", "apart", "open") if key in block}
    return {
        **_with_numbers(block),
        **{key: [line for one in _flat(of) for line in _lines(one)] for key, of in lines.items()},
        **{key: " ".join(_flat(text)) for key, text in texts.items()},
    }


def _with_numbers(block: Mapping[str, Any]) -> dict[str, Any]:
    numbers = block.get("numbers")
    if numbers is None or "value" in numbers:
        return dict(block)
    return {**block, "numbers": {**_ESTIMATE, **numbers}}


def _lines(block: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "by" not in block:
        yield _with_numbers(block)
        return
    for title, value in block["of"].items():
        ours = {**block.get("ours", {}), block["by"]: value}
        printed = {block["print"]: title} if "print" in block else None
        yield {"title": title, "ours": ours, "printed": printed}


def _flat(value: Any) -> Iterator[Any]:
    if not isinstance(value, list):
        yield value
        return
    for one in value:
        yield from _flat(one)


PAPERS: Mapping[str, tuple[Record, ...]] = _read()
