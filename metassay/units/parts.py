"""Parts: what a text is compared by, section by section."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from metassay.errors import BadInput
from metassay.params import Options
from metassay.tables import FULL, PARTS
from metassay.text.headings import SECTIONS
from metassay.text.sections import divide
from metassay.text.spans import Span

EMPTY_SECTION = "#####EMPTY#####"  # what DocLens's Table 24 scores where a section is absent
LINE_BREAK = "__lf1__"  # what it has for a newline inside a section
BETWEEN_PARTS = "\n\n"

OK = "ok"


class WholeOptions(Options):
    """Every text is one part."""


class SoapOptions(Options):
    """Notes are divided into SOAP sections; `doclens-table24` keeps that table's artefacts."""

    compat: Literal["none", "doclens-table24"]


class _Written(NamedTuple):
    """One row of texts; `text` is None unless status is ok."""

    part: str
    text: str | None
    status: str


class _Part(NamedTuple):
    part: str
    text: str | None
    pieces: Sequence[Span]
    leaf: str
    status: str


def segment(
    texts: pd.DataFrame, sources: pd.DataFrame, options: WholeOptions | SoapOptions
) -> pd.DataFrame:
    """Divide every author's text: tables.TEXTS and tables.SOURCES to tables.PARTS.

    Every text gets the part `full`. With SoapOptions a text of task `note` also gets its sections,
    whose pieces are spans of the full text and whose own text is the pieces joined by a blank line;
    a section that is absent has no row, and a note without headings is one part `full`. Only parts
    that contain no other are leaves.

    A text that was generated section by section (texts.part is not `full`) keeps its sections as
    they were written, whatever the task, and `full` is the sections joined by a blank line in SOAP
    order. With WholeOptions only that `full` remains. Should texts also hold a `full` of the same
    author, that one is taken, and where the sections stand in it is not known (no spans).

    Status: a text that failed gives a failed part `full`; of sections of which one failed, `full`
    has the first failed section's status (in SOAP order) and no text, since the whole was never
    written, while the other sections stay ok.

    compat doclens-table24: a note has all four sections always: an absent one is the literal
    `#####EMPTY#####` without span, newlines in a section are the literal `__lf1__`, and a note that
    failed as a whole has four failed sections.

    Raises BadInput if a text's doc_id is not in sources.
    """
    tasks = _tasks(texts, sources)
    rows: list[tuple[object, ...]] = []
    for (doc_id, author), written in _by_author(texts).items():
        for part in _parts(written, tasks[doc_id], options):
            starts = [piece.start for piece in part.pieces]
            ends = [piece.end for piece in part.pieces]
            rows.append(
                (doc_id, author, part.part, part.text, starts, ends, part.leaf, part.status)
            )
    return pd.DataFrame(rows, columns=list(PARTS.columns))


def _tasks(texts: pd.DataFrame, sources: pd.DataFrame) -> dict[str, str]:
    tasks = dict(zip(sources["doc_id"], sources["task"], strict=True))
    absent = sorted(set(texts["doc_id"]) - set(tasks))
    if absent:
        raise BadInput(
            f"texts: {len(absent)} doc_id(s) are not in sources, the first is {absent[0]!r};"
            " add their sources or remove their texts"
        )
    return tasks


def _by_author(texts: pd.DataFrame) -> dict[tuple[str, str], list[_Written]]:
    groups: dict[tuple[str, str], list[_Written]] = {}
    columns: Any = (texts[name] for name in ("doc_id", "author", "part", "text", "status"))
    for doc_id, author, part, text, status in zip(*columns, strict=True):
        row = _Written(part, text if status == OK else None, status)
        groups.setdefault((doc_id, author), []).append(row)
    return dict(sorted(groups.items()))


def _parts(written: list[_Written], task: str, options: WholeOptions | SoapOptions) -> list[_Part]:
    sections = sorted((row for row in written if row.part != FULL), key=_soap_order)
    joined, spans = _joined(sections)
    whole = next((row for row in written if row.part == FULL), None)
    full = whole or joined
    found: list[_Part] = []
    if isinstance(options, SoapOptions):
        if sections:
            known = {} if whole else spans
            found = [
                _leaf(row.part, row.text, known.get(row.part, []), row.status) for row in sections
            ]
        elif task == "note" and full.text is not None:
            found = _divided(full.text, options)
        if task == "note" and options.compat == "doclens-table24":
            found = _as_in_table24(found, OK if found else full.status)
    leaf = "no" if found else "yes"
    pieces = [Span(0, len(full.text))] if full.text is not None else []
    return [_Part(FULL, full.text, pieces, leaf, full.status), *found]


def _soap_order(row: _Written) -> tuple[int, str]:
    return (SECTIONS.index(row.part) if row.part in SECTIONS else len(SECTIONS), row.part)


def _joined(sections: list[_Written]) -> tuple[_Written, dict[str, list[Span]]]:
    """The sections as one text, and where each stands in it."""
    failed = next((row.status for row in sections if row.text is None), None)
    if failed:
        return _Written(FULL, None, failed), {}
    text, spans = "", {}
    for row in sections:
        between = BETWEEN_PARTS if text else ""
        start = len(text) + len(between)
        text += between + (row.text or "")
        spans[row.part] = [Span(start, len(text))]
    return _Written(FULL, text, OK), spans


def _divided(note: str, options: SoapOptions) -> list[_Part]:
    parts = []
    for section, pieces in divide(note, compat=options.compat).items():
        text = BETWEEN_PARTS.join(note[piece.start : piece.end] for piece in pieces)
        parts.append(_leaf(section, text, pieces, OK))
    return parts


def _as_in_table24(parts: list[_Part], status: str) -> list[_Part]:
    found = {part.part: part for part in parts}
    absent = EMPTY_SECTION if status == OK else None
    whole = [found.get(name) or _leaf(name, absent, [], status) for name in SECTIONS]
    whole += [part for part in parts if part.part not in SECTIONS]
    return [part._replace(text=part.text and part.text.replace("\n", LINE_BREAK)) for part in whole]


def _leaf(part: str, text: str | None, pieces: Sequence[Span], status: str) -> _Part:
    return _Part(part, text, pieces, "yes", status)
