"""A page as one HTML file that can be sent: what it loads lies in it, compressed.

The file asks for nothing: its policy allows the one program that it holds, by hash.
Without texts it has the answer, systems and evidence, and no view of texts or claims.
"""

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metassay.core.errors import BadInput
from metassay.core.visible import visible
from metassay.reporting.contract import CONTRACT
from metassay.reporting.shell import BUNDLE, SINCE, encode

_OF_TEXTS = ("documents", "search", "claims", "tables/index")  # in page/data
_DOCUMENT = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{name}: Metassay</title>
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<div id="page"></div>
{data}
<script>{program}</script>
</body>
</html>
"""
_POLICY = (
    "default-src 'none'; script-src 'sha256-{program}'; style-src 'sha256-{style}';"
    " img-src data:; base-uri 'none'; form-action 'none';"
    " require-trusted-types-for 'script'; trusted-types metassay"
)


def single_file(folder: Path, *, texts: bool) -> bytes:
    """Return the page of a report's folder as one file; `texts`: whether it has texts.

    Raises BadInput if the page is not of this version of Metassay.
    """
    head = json.loads(_json_of(folder / "page/data/head.js"))
    if "pieces" in head:
        pieces = (
            json.loads(_json_of(folder / f"page/data/{piece}.js"))
            for piece in head["pieces"]
        )
        head = json.loads("".join(pieces))
    if head["contract"] != CONTRACT:
        raise BadInput(
            f"{folder} was written by another version of Metassay; metassay run writes it again"
        )
    sent = {
        **head,
        # No file lies beside this one.
        "tables": [{**table, "csv": ""} for table in head["tables"]],
        "links": [],
        "texts": head["texts"] if texts else None,
    }
    files = {"head": encode(sent), "since": encode(_read_since(folder))}
    files |= dict(_data_files(folder, texts=texts))
    program, style = (
        (BUNDLE / name).read_bytes().decode().strip() for name in ("app.js", "app.css")
    )
    policy = _POLICY.format(program=_sha256(program), style=_sha256(style))
    return _DOCUMENT.format(
        policy=policy,
        name=html.escape(visible(head["name"])),
        style=style,
        data="\n".join(_block(name, content) for name, content in files.items()),
        program=program,
    ).encode()


def _read_since(folder: Path) -> dict[str, Any] | None:
    """Return what changed since the numbers were accepted, without the report beside the page."""
    if not (folder / SINCE).is_file():
        return None
    since: dict[str, Any] | None = json.loads(_json_of(folder / SINCE))
    return since and {**since, "href": ""}


def _data_files(folder: Path, *, texts: bool) -> Iterator[tuple[str, bytes]]:
    """Yield what the page loads, by the name that it asks for."""
    data = folder / "page/data"
    for path in sorted(data.rglob("*.js")):
        name = path.relative_to(data).with_suffix("").as_posix()
        of_texts = any(name.startswith(f"{start}/") for start in _OF_TEXTS)
        if name.split("/")[0] in ("head", "since") or (of_texts and not texts):
            continue
        yield name, _json_of(path).encode()
    for path in sorted((folder / "figures").glob("*.svg")):
        yield f"figures/{path.name}", path.read_bytes()


def _json_of(path: Path) -> str:
    """Return the value of a data file, `metassay("ID",VALUE)`, as JSON."""
    text = path.read_text(encoding="utf-8")
    _, start = json.JSONDecoder().raw_decode(text, len("metassay("))
    return text[start + 1 : text.rindex(")")]


def _block(name: str, content: bytes) -> str:
    """Return a block that no browser runs; the page decodes it when a view needs it."""
    packed = base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()
    return f'<script type="text/plain" data-id="{html.escape(name)}">{packed}</script>'


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
