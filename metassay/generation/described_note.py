"""Chat models that write a note of a described patient, and then its compact version.

A document's source describes the patient. The text has the parts `history`,
`physical_examination` and `compact`, which the rubrics of the SimSUM expert study read
(docs/papers.md), and `full`, the note without its compact version.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from metassay import __version__
from metassay.core.options import Name, Options
from metassay.generation.record import Generated, System
from metassay.llm.endpoints import Length
from metassay.llm.messages import Ask, ChatRequest, Reply, replies_to
from metassay.llm.needs import PromptFile, Requests, Resources, Use
from metassay.llm.prompts import PROMPTS, Decoding, file_of, load, render
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL

VERSION = 1  # raised by whoever changes results of this module's kinds

HISTORY = "history"
EXAMINATION = "physical_examination"
COMPACT = "compact"
PARTS = (FULL, HISTORY, EXAMINATION, COMPACT)
# A heading alone on its line; models like to mark it (`**History**`, `## History:`).
_HEADINGS = re.compile(
    r"^[\W_]*history[\W_]*\n(?P<history>.*?)"
    r"^[\W_]*physical examination[\W_]*\n(?P<physical_examination>.*)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


class DescribedNoteOptions(Options):
    """A chat model, asked twice for each document.

    `prompt` and `rewrite` are the prompts of the note and of its compact version.
    `max_tokens` null: the number of params.yaml > models.
    """

    model: str
    prompt: Name = "write-described-note"
    rewrite: Name = "rewrite-compact"
    max_tokens: Length | None = None


def divide_note(note: str) -> dict[str, str] | None:
    """Return history and physical examination of a note, by its headings; None without both.

    >>> divide_note("History\\nA dry cough.\\n\\n**Physical Examination:**\\nLungs clear.")
    {'history': 'A dry cough.', 'physical_examination': 'Lungs clear.'}
    """
    match = _HEADINGS.search(note + "\n")
    if match is None:
        return None
    parts = {name: text.strip() for name, text in match.groupdict().items()}
    return parts if all(parts.values()) else None


def write_notes(
    sources: pd.DataFrame,
    name: str,
    options: DescribedNoteOptions,
    ask: Ask,
    decoding: Decoding,
    *,
    prompts: Path = PROMPTS,
) -> pd.DataFrame:
    """Write two versions of a note for every source: SOURCES to TEXTS, author `name`.

    A document has four rows. If the note could not be written, all have its status:
    refused, truncated, error, or unparsed if a heading or what stands below it is
    missing. If only the compact version failed, its row has the status.
    """
    recipe = _recipe(options, decoding, prompts)
    note_requests = _note_requests(sources, options, decoding, prompts)
    replies = iter(replies_to(ask, [request for request in note_requests if request]))
    answers = [next(replies) if request else None for request in note_requests]
    notes = [_read_note(answer) for answer in answers]
    written = [parts[FULL] for parts in notes if FULL in parts]
    rewrites = _rewrite_requests(written, options, decoding, prompts)
    compact = iter(replies_to(ask, rewrites))
    rows: list[tuple[object, ...]] = []
    for doc_id, answer, parts in zip(
        sources.sort_values("doc_id")["doc_id"], answers, notes, strict=True
    ):
        status = _status(answer)
        if FULL in parts:
            status, parts[COMPACT] = _read_compact(next(compact))
        for part in PARTS:
            text = parts.get(part) or None
            row_status = "ok" if text else status
            rows.append((doc_id, name, part, text, row_status, recipe))
    return pd.DataFrame(rows, columns=list(TEXTS.columns))


def _read_note(reply: Reply | None) -> dict[str, str]:
    """Return the text of each part that the note has; none if it failed."""
    if reply is None or reply.status != "ok":
        return {}
    note = (reply.text or "").strip()
    parts = divide_note(note)
    return {} if parts is None else {FULL: note, **parts}


def _status(reply: Reply | None) -> str:
    """Return the status of a note without text."""
    if reply is None:  # the source has no text
        return "error"
    return "unparsed" if reply.status == "ok" else reply.status


def _read_compact(reply: Reply) -> tuple[str, str]:
    text = (reply.text or "").strip() if reply.status == "ok" else ""
    return _status(reply), text


def _note_requests(
    sources: pd.DataFrame,
    options: DescribedNoteOptions,
    decoding: Decoding,
    prompts: Path,
) -> list[ChatRequest | None]:
    """Return a request for each source, by doc_id; None if it has no text."""
    prompt = load(options.prompt, prompts)
    return [
        decoding.request(render(prompt, passages=[*passages]))
        if any(passage.strip() for passage in passages)
        else None
        for passages in sources.sort_values("doc_id")["passages"]
    ]


def _rewrite_requests(
    notes: Sequence[str],
    options: DescribedNoteOptions,
    decoding: Decoding,
    prompts: Path,
) -> list[ChatRequest]:
    prompt = load(options.rewrite, prompts)
    return [decoding.request(render(prompt, note=note)) for note in notes]


def _recipe(options: DescribedNoteOptions, decoding: Decoding, prompts: Path) -> str:
    first = load(options.prompt, prompts).signature
    second = load(options.rewrite, prompts).signature
    return (
        f"described_note|{decoding.signature}|prompt:{first}|rewrite:{second}"
        f"|metassay:{__version__}"
    )


def _write(
    sources: pd.DataFrame,
    name: str,
    options: DescribedNoteOptions,
    resources: Resources,
) -> Generated:
    ask, decoding = resources.require_model()
    return Generated(write_notes(sources, name, options, ask, decoding))


def _requests(
    sources: pd.DataFrame, options: DescribedNoteOptions, decoding: Decoding, _: Path
) -> Requests:
    note_requests = _note_requests(sources, options, decoding, PROMPTS)
    requests = [request for request in note_requests if request]
    return Requests(requests, [1] * len(requests))


def _follow_up(
    texts: pd.DataFrame, options: DescribedNoteOptions, decoding: Decoding
) -> Requests:
    notes = texts.loc[(texts["part"] == FULL) & (texts["status"] == "ok"), "text"]
    requests = _rewrite_requests([*notes], options, decoding, PROMPTS)
    return Requests(requests, [1] * len(requests))


def _files(options: Any) -> list[PromptFile]:
    return [
        PromptFile(file_of(options.prompt), {"passages": "data"}),
        PromptFile(file_of(options.rewrite), {"note": "data"}),
    ]


KIND = System(
    options=DescribedNoteOptions,
    write=_write,
    requests=_requests,
    follow_up=_follow_up,
    model=lambda options: Use(options.model, options.max_tokens),
    files=_files,
)
