"""The web page: one file that needs nothing else, works without JavaScript, escapes every text."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from metassay.reporting.names import criterion_title
from metassay.reporting.numbers import counted
from metassay.reporting.views.answers import (
    ABSTAINED,
    ENTAILED,
    FAILED,
    GRADED,
    LABELLED,
    NO_EVIDENCE,
    NOT_ENTAILED,
    NOT_JUDGED,
    NOT_NEEDED,
)
from metassay.reporting.views.correlations import Criterion
from metassay.reporting.views.documents import Document
from metassay.reporting.views.facets import Facets
from metassay.reporting.views.filled import FilledIn
from metassay.reporting.views.leaderboard import Part
from metassay.reporting.views.published import PublishedTable
from metassay.reporting.views.section import Grid, Section
from metassay.visible import visible

_HERE = Path(__file__).parent
_CLASSES = {
    **{ENTAILED: "y", NOT_ENTAILED: "n", GRADED: "g", LABELLED: "g"},
    **{NO_EVIDENCE: "o", ABSTAINED: "u", FAILED: "f", NOT_NEEDED: "o", NOT_JUDGED: "f"},
}


@dataclass(frozen=True)
class Page:
    """Everything the template prints. `figures` holds finished `<svg>` elements by name.

    `limits` says what the study is too small for; `best` is the headline; `trust` stands before
    the correlations, `sections` after them. `missing` says which answers of models there are not.
    """

    benchmark: str
    title: str
    licence: str
    citation: str
    invented: bool
    counts: list[str]
    seen: Sequence[str]
    lexical_judges: list[str]
    figures: Mapping[str, str]
    limits: list[str]
    best: Grid | None
    leaderboard: list[Part]
    recipes: list[tuple[str, str]]
    correlations: list[Criterion]
    trust: Section
    sections: list[Section]
    facets: Facets | None
    rubrics: Section | None
    filled: FilledIn | None
    published: list[PublishedTable]
    missing: list[str]
    notes: Section | None
    asked: Section | None
    documents: Iterator[Document]
    n_documents: int


def write_page(page: Page, file: IO[str]) -> None:
    """Write the page piece by piece, so that a large benchmark isn't held in memory at once."""
    write_template("page.html.j2", file, page.figures, page=page, classes=_CLASSES, markdown=True)


def write_template(name: str, file: IO[str], figures: Mapping[str, str], **given: object) -> None:
    """Write a template of this folder with the style, the script and finished `<svg>` elements.

    `given` is what else it prints; all of that is escaped.
    """
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    environment.filters["counted"] = counted
    environment.filters["titled"] = criterion_title
    script = environment.get_template("sort.js.j2").render()
    stream = environment.get_template(name).stream(
        css=Markup((_HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        policy=_policy(script),
        figures={name: Markup(svg) for name, svg in figures.items()},
        **given,
    )
    stream.enable_buffering(200)
    for piece in stream:
        file.write(piece)


def _visible(value: object) -> object:
    """Characters of which browsers show nothing, or which turn what follows round."""
    return visible(value) if isinstance(value, str) else value


def _policy(script: str) -> str:
    """A second lock beside escaping: no loads at all, and no script but the page's own."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
