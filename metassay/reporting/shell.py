"""The writer of pages: index.html, the bundle that shows it, data files of at most 2 MB, texts.

Pages open from the disk: data files are scripts, since a page may not fetch files
there. The policy of index.html allows scripts, styles and pictures of its own folder
and nothing else, so that no text of the data can run, and nothing is asked of any
network.
"""

import html
import json
import math
import re
import shutil
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metassay.core.atomic import whole_file
from metassay.core.visible import visible
from metassay.format.frames import rows
from metassay.reporting import contract as c

BUNDLE = Path(__file__).with_name("bundle")  # what `npm run build` makes of page/
# bytes of a shard, about; what is larger than twice that is cut to pieces
LARGEST = 1_000_000
SINCE = Path("page/data/since.js")  # of a report's folder; the stage does not write it
_PIECE = 250_000  # characters of a piece, of four bytes at most
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_SURROGATE = re.compile("[\ud800-\udfff]")
_POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:;"
    " base-uri 'none'; form-action 'none'; require-trusted-types-for 'script';"
    " trusted-types metassay"
)
_SHELL = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{name}: Metassay</title>
<link rel="stylesheet" href="page/app.css">
</head>
<body>
<noscript>This page needs JavaScript. Its tables lie beside it as CSV files.</noscript>
<div id="page"></div>
<script src="page/app.js"></script>
<script src="page/data/head.js"></script>
</body>
</html>
"""


class PageFolder:
    """A page as it is written: shards first, `finish` with its head last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._data = folder / "page/data"
        self._data.mkdir(parents=True)

    def put(self, name: str, value: object) -> str:
        """Write page/data/NAME.js, `/` in names becomes a folder; return the name.

        Bytes are JSON already. What no file may have is written as pieces, texts beside
        it.
        """
        encoded = value if isinstance(value, bytes) else encode(value)
        if len(encoded) > 2 * LARGEST:
            text = encoded.decode()
            cuts = [
                text[start : start + _PIECE] for start in range(0, len(text), _PIECE)
            ]
            pieces = [self.put(f"{name}/{n}", cut) for n, cut in enumerate(cuts)]
            encoded = encode({"pieces": pieces})
        path = self._data / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"metassay(%s,%s)\n" % (encode(name), encoded))
        return name

    def put_evidence(
        self, name: str, frame: pd.DataFrame, *, means: Mapping[str, str], **shown: Any
    ) -> c.TableInfo:
        """Write a table of the view Evidence, in shards of consecutive rows.

        `means`: what each column is, for those that are described; `shown`: the other
        fields of TableInfo.
        """
        columns = [
            c.ColumnInfo(str(n), _type(frame[n]), means.get(str(n), "")) for n in frame
        ]
        shards = [
            self.put(f"tables/{name}/{number}", {"columns": shard})
            for number, shard in enumerate(_shards(frame))
        ]
        return c.TableInfo(
            name=name, columns=columns, rows=len(frame), shards=shards, **shown
        )

    def finish(self, head: c.Head) -> None:
        """Write the head, the bundle and index.html."""
        self.put("head", head)
        if head.kind == "benchmark":
            self.put("since", None)
        for file in ("app.js", "app.css"):
            shutil.copyfile(BUNDLE / file, self.folder / "page" / file)
        shell = _SHELL.format(policy=_POLICY, name=html.escape(visible(head.name)))
        (self.folder / "index.html").write_text(shell, encoding="utf-8", newline="\n")


class Shards:
    """Values that are written one by one, several to a shard of about LARGEST bytes.

    page/data/NAME/PLACE.js is `{key: [value, ...]}`.
    """

    def __init__(self, page: PageFolder, name: str, key: str) -> None:
        self._page, self._name, self._key = page, name, key
        self._ids: list[str] = []
        self._lines: list[bytes] = []
        self._size = self.n = 0  # bytes of the lines; values of all shards

    def add(self, value: object) -> int:
        """Add a value; return the place of its shard."""
        line = encode(value)
        if self._lines and self._size + len(line) > LARGEST:
            self._put()
        self._lines.append(line)
        self._size += len(line)
        self.n += 1
        return len(self._ids)

    def finish(self) -> list[str]:
        """Return the ids of all shards, in order."""
        if self._lines:
            self._put()
        return self._ids

    def _put(self) -> None:
        shard = b"{%s:[%s]}" % (encode(self._key), b",\n".join(self._lines))
        self._ids.append(self._page.put(f"{self._name}/{len(self._ids)}", shard))
        self._lines, self._size = [], 0


def put_since(folder: Path, since: c.Since | None) -> None:
    """Say on a benchmark's page, if it is there, what changed since its numbers were accepted.

    None: no check was made since. The file is no part of what the stage wrote:
    .dvcignore names it.
    """
    if (folder / "page/data").is_dir():
        with whole_file(folder / SINCE) as file:
            file.write(b'metassay("since",%s)\n' % encode(since))


def ask_no_since(folder: Path) -> None:
    """Put an empty file of `put_since` on a benchmark's page that DVC restored without it.

    Browsers complain of files that are not there.
    """
    if not (folder / SINCE).is_file():
        put_since(folder, None)


def encode(value: object) -> bytes:
    """Encode as JSON that is JavaScript: null for what is no number, escapes for lone surrogates.

    Characters that nobody sees or that turn the text round are pictures or escapes.
    """
    return _SURROGATE.sub(
        lambda m: f"\\u{ord(m[0]):04x}", _JSON.encode(_plain(value))
    ).encode()


def _type(column: "pd.Series[Any]") -> str:
    kinds = pd.api.types
    if kinds.is_bool_dtype(column):
        return "boolean"
    if kinds.is_integer_dtype(column):
        return "integer"
    return "number" if kinds.is_numeric_dtype(column) else "text"


def _shards(frame: pd.DataFrame) -> Iterator[list[object]]:
    """Yield the columns of rows of about LARGEST bytes; one shard where there is no row."""
    names = list(map(str, frame.columns))
    sizes = np.zeros(len(frame), dtype=np.int64)
    for name in names:
        if _type(frame[name]) == "text":
            codes, texts = pd.factorize(frame[name].map(str))
            sizes += np.array([len(encode(text)) for text in texts], dtype=np.int64)[
                codes
            ]
        else:
            sizes += 20
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // LARGEST)) + 1
    for first, end in pairwise([0, *cuts, len(frame)]):
        cut = frame.iloc[first:end]
        yield [encode_column([value for (value,) in rows(cut, name)]) for name in names]


def encode_column(values: list[Any]) -> object:
    """Return the values; or the different ones and a place per row, where texts repeat."""
    values = [v.tolist() if hasattr(v, "tolist") else v for v in values]
    values = [
        json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for v in values
    ]
    if not any(isinstance(value, str) for value in values):
        return values
    places: dict[Any, int] = {}
    codes = [-1 if v is None else places.setdefault(v, len(places)) for v in values]
    return (
        {"values": list(places), "codes": codes}
        if 2 * len(places) < len(values)
        else values
    )


def _plain(value: Any) -> Any:
    """Turn records into objects by field, and reals that JSON lacks into null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return visible(value)
    if value is None or isinstance(value, int):
        return value
    names = getattr(value, "_fields", None)
    if names is not None:
        return {name: _plain(item) for name, item in zip(names, value, strict=True)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value]


def utf16(text: str, end: int) -> int:
    """Count the UTF-16 code units of the first `end` characters, as pages show them."""
    return len(visible(text[:end]).encode("utf-16-le", "surrogatepass")) // 2
