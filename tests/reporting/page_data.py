"""The data files of a page read as a browser would: their values, and tables as frames."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd


def value(page: Path, name: str) -> Any:
    """What page/data/NAME.js hands over, under its own name."""
    text = (page / f"page/data/{name}.js").read_text(encoding="utf-8")
    match = re.fullmatch(r"metassay\((\".*?\"),(.*)\)\n", text, re.DOTALL)
    assert match, name
    assert json.loads(match[1]) == name
    content = json.loads(match[2])
    if isinstance(content, dict) and "pieces" in content:
        return json.loads("".join(value(page, piece) for piece in content["pieces"]))
    return content


def everything(page: Path) -> str:
    """All data files as one text."""
    files = sorted((page / "page/data").rglob("*.js"))
    return "".join(file.read_text(encoding="utf-8") for file in files)


def head(page: Path) -> Any:
    """The first data file."""
    return value(page, "head")


def figures(head: Any) -> list[str]:
    """The figures that draw a table of the page, by name."""
    return [name for info in head["tables"] for name in info["figures"]]


def frame(page: Path, info: dict[str, Any]) -> pd.DataFrame:
    """A table by its TableInfo, out of its shards."""
    shards = [value(page, shard)["columns"] for shard in info["shards"]]
    names = [column["name"] for column in info["columns"]]
    columns = {
        name: [v for s in shards for v in _plain(s[n])] for n, name in enumerate(names)
    }
    table = pd.DataFrame(columns)
    assert len(table) == info["rows"]
    return table


def table(page: Path, name: str) -> pd.DataFrame:
    """A table of the view Evidence."""
    return frame(
        page, next(info for info in head(page)["tables"] if info["name"] == name)
    )


def _plain(column: Any) -> list[Any]:
    if isinstance(column, list):
        return column
    return [None if code < 0 else column["values"][code] for code in column["codes"]]


def documents(page: Path) -> list[Any]:
    """All documents, in the order of their shards."""
    shards = head(page)["texts"]["documents_in"]
    return [
        document for shard in shards for document in value(page, shard)["documents"]
    ]


def texts(page: Path) -> dict[tuple[str, str], Any]:
    """All texts, by document and author."""
    return {
        (of["id"], text["author"]): text
        for of in documents(page)
        for text in of["texts"]
    }
