"""Read summaries with people's labels of each sentence's elements: errors and their severity.

Categories and shares of errors are those of Adams et al. 2023, A meta-evaluation of faithfulness
metrics for long-form hospital-course summarization. A folder has `sources.jsonl`, `summaries.jsonl`
and `labels.jsonl`; docs/own-data.md shows them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from metassay.core.errors import shown
from metassay.core.options import Options
from metassay.datasets.own_data import Clean, Filled, Key, read_sources, validate, validate_all
from metassay.tables.names import FULL
from metassay.tables.ratings import STATEMENT_UNIT
from metassay.tabular.decoding import UNREAD, json_lines, warn_unread
from metassay.tabular.rows import Place, Rows, TextRow
from metassay.text.citations import parse
from metassay.text.sentences import sentences

SOURCES, SUMMARIES, LABELS = "sources.jsonl", "summaries.jsonl", "labels.jsonl"
CATEGORIES = ("incorrect", "missing", "not_in_notes")
SHARES = ("error", *CATEGORIES, "critical")

_SEE = "docs/own-data.md shows how it is written"
_DIVIDE = "divide the text as docs/own-data.md says, and count its sentences again"


class _Summary(Options):
    doc_id: Key
    author: Key
    sentences: Annotated[list[Filled], Field(min_length=1)]


class _Element(Options):
    label: Literal["correct", "incorrect", "missing", "not_in_notes"] | None
    severity: Literal["minor", "critical"] | None = None
    text: Clean = ""

    @model_validator(mode="after")
    def _severity_fits(self) -> Self:
        if (self.severity is not None) != (self.label in CATEGORIES):
            what = "hold a severity that does not fit; write minor or critical at errors alone"
            raise PydanticCustomError("severity", what)
        return self


class _Labels(Options):
    doc_id: Key
    author: Key
    sentence: Annotated[int, Field(ge=0)]
    rater: Key
    elements: list[_Element]
    study: Key = "elements"


def label_shares(labels: Sequence[tuple[str, bool] | None]) -> dict[str, float | None]:
    """Return the shares of a sentence's elements by SHARES, 0 to 1, lower is better.

    `labels`: for each element `correct` or one of CATEGORIES, and whether it is critical; None
    without a label. `error` is any category, `critical` a critical error of any category. All are
    None if there is no element, or one without a label: an unknown share is not a small one.

    Example: correct, incorrect (critical), missing (minor), correct: error .5, incorrect .25,
    missing .25, not_in_notes 0, critical .25.
    """
    known = [label for label in labels if label is not None]
    if not labels or len(known) < len(labels):
        return dict.fromkeys(SHARES)
    counts = {name: sum(label == name for label, _ in known) for name in CATEGORIES}
    counts["error"] = sum(counts.values())
    counts["critical"] = sum(critical for _, critical in known)
    return {name: counts[name] / len(known) for name in SHARES}


def read(folder: Path) -> Rows:
    """Read the three files: ratings by the criteria SHARES of each unit `statement:N` and rater.

    A text is its sentences, a line each. They must be the statements that Metassay finds in it;
    then sentence N, counted from 0, is statement N. The rating of a text is the mean over its
    sentences (meta_evaluation.study.human_scores).
    """
    rows = Rows()
    if not folder.is_dir():
        rows.wrong(Place(str(folder)), "is not a folder", remedy=f"create it; {_SEE}")
        return rows
    read_sources(folder / SOURCES, rows)
    lengths: dict[tuple[str, str], int] = {}
    for at, value in json_lines(folder / SUMMARIES, rows.problems, remedy=_SEE):
        summary = None if value is UNREAD else validate(_Summary, value, at, rows.problems)
        if summary is None:
            rows.unreadable.add("texts")
            continue
        text = "\n".join(summary.sentences)
        statements = [text[start:end] for start, end in sentences(text)]
        statements = [s for s in statements if any(map(str.isalnum, parse(s).text))]
        if statements != summary.sentences:
            same = [a == b for a, b in zip(statements, summary.sentences, strict=False)]
            doc_id, author = shown(summary.doc_id), shown(summary.author)
            where = f"doc_id {doc_id}, author {author}, sentence {(*same, False).index(False)}"
            rows.wrong(at, "the sentences are not those that Metassay finds", where, _DIVIDE)
        lengths[summary.doc_id, summary.author] = len(summary.sentences)
        rows.texts.append(TextRow(at, summary.doc_id, summary.author, FULL, text))
    _read_labels(folder / LABELS, lengths, rows)
    warn_unread(folder, {SOURCES, SUMMARIES, LABELS}, rows.warnings)
    return rows


def _read_labels(path: Path, lengths: dict[tuple[str, str], int], rows: Rows) -> None:
    seen = set[tuple[object, ...]]()
    lines = json_lines(path, rows.problems, remedy=_SEE)
    for at, line in validate_all(lines, _Labels, rows.problems):
        unit = f"{STATEMENT_UNIT}{line.sentence}"
        key = (line.study, line.doc_id, line.author, FULL, unit, line.rater)
        doc_id, author = shown(line.doc_id), shown(line.author)
        where = f"doc_id {doc_id}, author {author}, sentence {line.sentence}"
        if key in seen:
            what, fix = "a rater has labelled the sentence before", "put its elements into one line"
            rows.wrong(at, what, f"{where}, rater {shown(line.rater)}", fix)
            continue
        seen.add(key)
        if line.sentence >= lengths.get((line.doc_id, line.author), line.sentence + 1):
            fix = "count sentences from 0, or correct doc_id or author"
            rows.wrong(at, "the text has no such sentence", where, fix)
        labels = [
            None if element.label is None else (element.label, element.severity == "critical")
            for element in line.elements
        ]
        rows.rate(at, key, label_shares(labels))
