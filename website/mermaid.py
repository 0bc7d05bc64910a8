"""Draws the Mermaid blocks of docs/ when the site is built, so that pages need no network."""

from hashlib import sha256
from typing import Any

import mmdr


def draw(source: str, *_: Any, **__: Any) -> str:
    """The picture of one block, as zensical.toml's custom fence puts it into the page.

    Raises RuntimeError where the block is no diagram; the builder then shows its text.
    """
    # Ids are a picture's own: a page may have several.
    name = f"diagram-{sha256(source.encode()).hexdigest()[:8]}"
    return f'<div class="diagram">{mmdr.render(source).svg().replace("merman", name)}</div>'
