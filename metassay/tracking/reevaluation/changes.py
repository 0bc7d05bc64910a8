"""The change report, and the texts of documents behind rows that changed, as accepted and now.

The texts are for the page alone: no Markdown, event, artifact or history has them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput
from metassay.core.exit_codes import DONE, MEANINGS
from metassay.format.frames import escape_markdown, format_csv, format_markdown, records
from metassay.format.numbers import counted
from metassay.reporting import contract
from metassay.reporting.page import write_page
from metassay.reporting.shell import PageFolder, put_since, utf16
from metassay.reporting.texts import put_texts
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL
from metassay.tables.parquet import read, read_file
from metassay.tables.summaries import SUMMARIES
from metassay.tracking.comparison import differences
from metassay.tracking.comparison.sides import (
    TABLES,
    fetch_tables,
    lock_text,
    outs_of,
    parse_lock,
)
from metassay.tracking.comparison.words import (
    cause_lines,
    document,
    label,
    readable_row,
    sections,
)
from metassay.tracking.reevaluation.outcome import (
    ONE_SIDED,
    REPORTS,
    History,
    Outcome,
    accepted_file,
    documents_of,
    headline,
    row_name,
)
from metassay.tracking.reevaluation.since import describe_since

MOST = 12  # texts of a report
WAS, NOW = "accepted", "now"
MOVED = "changed"  # the part for words that the other text lacks
_ABSENT = {
    WAS: "There was no such text, or neither DVC’s cache nor a remote has it any more.",
    NOW: "There is no such text now.",
}
_WORDS = re.compile(r"\S+\s*|\s+")


class ChangedText(NamedTuple):
    """A system's text of a document, accepted and now; None if there is none, or it cannot be had.

    `rows`: the names of the rows of table CHANGES that it is behind.
    """

    doc_id: str
    author: str
    before: str | None
    after: str | None
    rows: tuple[str, ...]


def changed_texts(root: Path, outcome: Outcome, most: int = MOST) -> list[ChangedText]:
    """Return the texts behind rows that differ, those behind most rows first."""
    behind: dict[tuple[str, str], list[str]] = {}
    changes = outcome.changes
    differ = changes[changes["verdict"].isin(differences.DIFFER)]
    rows = outcome.documents.merge(differ[differences.ROW], on=differences.ROW)
    for row in records(rows):
        behind.setdefault((row["doc_id"], row["author"]), []).append(row_name(row))
    if not behind:
        return []
    folder = root / TABLES / outcome.benchmark / TEXTS.name
    after = _whole(read(TEXTS, folder)) if folder.is_dir() else {}
    before = _accepted(root, outcome.benchmark)
    ordered = sorted(behind.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        ChangedText(
            document(key[0]), key[1], before.get(key), after.get(key), tuple(names)
        )
        for key, names in ordered[:most]
    ]


def _accepted(root: Path, benchmark: str) -> dict[tuple[str, str], str]:
    file = accepted_file(benchmark)
    place = (TABLES / benchmark / TEXTS.name).as_posix()
    try:
        outs: Mapping[str, Any] = outs_of(parse_lock(lock_text(root / file), str(file)))
        hashes = {
            path: md5 for path, md5 in outs.items() if path.startswith(f"{place}/")
        }
        files = fetch_tables(root, hashes, name="accepted", benchmark=benchmark)
        return _whole(pd.concat([read_file(TEXTS, file) for file in files.values()]))
    except (BadInput, ValueError):  # there is no such table any more
        return {}


def _whole(texts: pd.DataFrame) -> dict[tuple[str, str], str]:
    whole = texts[(texts["part"] == FULL) & texts["text"].notna()]
    return {(row["doc_id"], row["author"]): row["text"] for row in records(whole)}


def put_changed_texts(
    page: PageFolder, outcome: Outcome, texts: Sequence[ChangedText]
) -> contract.TextsInfo | None:
    """Write a document per text with scores and marked words; None if there is none."""
    if not texts:
        return None
    better = {
        tuple(row[n] for n in differences.ROW): row["better"]
        for row in records(outcome.changes)
    }
    scores: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    metrics: dict[str, str] = {}
    for row in records(outcome.documents):
        name = label(row)
        metrics[name] = better[tuple(row[n] for n in differences.ROW)]
        of_text = scores.setdefault((document(row["doc_id"]), row["author"]), {})
        of_text[name] = (row["before"], row["after"])
    listed = {
        name for text in texts for name in scores.get((text.doc_id, text.author), {})
    }
    info = put_texts(
        page,
        (
            (_document(text, scores.get((text.doc_id, text.author), {})), (0, 0))
            for text in texts
        ),
        noun="document",
        metrics={
            name: direction for name, direction in metrics.items() if name in listed
        },
        parts=[MOVED],
    )
    return info._replace(authors=[WAS, NOW], references=[WAS])


def _document(
    text: ChangedText, scores: Mapping[str, tuple[float, float]]
) -> contract.Document:
    both = (text.before, text.after)
    same = text.before is not None and text.before == text.after
    attributes = list(text.rows)
    if same:
        attributes.insert(0, "the same text: only its scores changed")
    marks = _marks(*both) if all(both) else ((), ())
    bodies = [
        contract.Text(
            author=author,
            problems=[] if body is not None else [_ABSENT[author]],
            text=body or "",
            marks=marks[place],
            scores=[(name, values[place]) for name, values in scores.items()],
        )
        for place, (author, body) in enumerate(zip((WAS, NOW), both, strict=True))
    ]
    return contract.Document(
        f"{text.doc_id}, {text.author}", text.author, attributes, [], bodies
    )


def _marks(
    before: str | None, after: str | None
) -> tuple[list[contract.Mark], list[contract.Mark]]:
    """Mark stretches of whole words that the other text lacks."""
    texts = (before or "", after or "")
    words: list[list[str]] = [_WORDS.findall(text) for text in texts]
    blocks = SequenceMatcher(a=words[0], b=words[1], autojunk=False).get_opcodes()
    pieces = [(op, (a, b), (c, d)) for op, a, b, c, d in blocks if op != "equal"]
    before_marks = _stretches(texts[0], words[0], (piece[1] for piece in pieces))
    return [*before_marks], [
        *_stretches(texts[1], words[1], (piece[2] for piece in pieces))
    ]


def _stretches(
    text: str, words: Sequence[str], places: Iterator[tuple[int, int]]
) -> Iterator[contract.Mark]:
    for first, end in places:
        if first < end:
            start = sum(map(len, words[:first]))
            stretch = "".join(words[first:end]).rstrip()
            if stretch:
                stop = start + len(stretch)
                yield contract.Mark(utf16(text, start), utf16(text, stop), MOVED)


# The change report of a re-evaluation: a page, and the same in Markdown and CSV,
# without texts.

RUNS = 12  # of the history, in Markdown
_SHOWN = (differences.REGRESSED, differences.IMPROVED, differences.CHANGED)
_FOLDED = (differences.UNKNOWN, differences.NOT_SHOWN, differences.SAME, ONE_SIDED)
_SENTINEL = [
    "judge",
    "state",
    "anchors",
    "answered",
    "failed",
    "changed",
    "expected",
    "high",
    "why",
]
_RUN = [
    "run",
    "did",
    "stages",
    "status",
    "regressed",
    "improved",
    "alarms",
    "missing",
    "revision",
]


def write_report(root: Path, outcome: Outcome, history: History) -> None:
    """Write reports/changes/NAME, complete or not at all: a page, changes.md, and tables as CSV.

    The benchmark's page then has a view of what changed, with a link to this page,
    which alone has texts side by side. Equal outcomes and histories give equal bytes. Runs dated
    later than this one, by a clock that was wrong, are only counted.
    """
    n_later = int((history.runs["run"] > outcome.when).sum())
    later = [f"{counted(n_later, 'run')} of the history {_CLOCK}"] if n_later else []
    history = History(*(table[table["run"] <= outcome.when] for table in history))
    sentences = [line[:1].upper() + line[1:] for line in headline(outcome)]
    # Of a bad run all sentences but the last (what was done) are alarms, if there are
    # several.
    alarms = 0 if outcome.status == 0 else max(1, len(sentences) - 1)
    tables = _tables(outcome, history)
    name = outcome.benchmark
    with whole_folder(root / REPORTS / name, "report", replace=True) as folder:
        for table, frame in tables.items():
            (folder / f"{table}.csv").write_bytes(format_csv(frame).encode())
        text = _markdown(outcome, tables, sentences[:alarms], sentences[alarms:], later)
        (folder / "changes.md").write_bytes(text.encode())
        page = PageFolder(folder)
        write_page(
            page,
            "changes",
            tables,
            f"metassay watch check {name}",
            name=f"{name}: changes",
            banners=[_status(outcome)] if outcome.status else [],
            answer=[
                *sentences,
                " ".join(f"{term}: {fact}." for term, fact in _facts(outcome)),
            ],
            problems=[
                *(contract.Problem("missing", line) for line in outcome.missing),
                *(contract.Problem("warning", line) for line in later),
                *(contract.Problem("change", str(cause)) for cause in outcome.causes),
            ],
            texts=put_changed_texts(page, outcome, changed_texts(root, outcome)),
            links=[contract.Link(f"../../{name}/index.html", "The whole report")],
        )
    put_since(root / REPORTS.parent / name, describe_since(outcome, history, sentences))


def _facts(outcome: Outcome) -> list[tuple[str, str]]:
    return [
        ("Run", outcome.when.replace("T", " ").replace("Z", " UTC")),
        ("Revision", outcome.revision or "no git here"),
        ("Accepted numbers", outcome.accepted or "none yet"),
    ]


def _status(outcome: Outcome) -> str:
    nothing = outcome.status == DONE and outcome.differences is None
    meaning = (
        "nothing accepted to compare with" if nothing else MEANINGS[outcome.status]
    )
    return f"Exit status {outcome.status}: {meaning}"


def _tables(outcome: Outcome, history: History) -> dict[str, pd.DataFrame]:
    """Return the page's tables by name: the worst, and the latest, first."""
    by_verdict = outcome.rows
    changes = [
        row | {"verdict": verdict, "documents": " ".join(documents_of(outcome, row))}
        for verdict in (*_SHOWN, *_FOLDED)
        for row in sorted(by_verdict[verdict], key=lambda row: row["p_adjusted"] or 1.0)
    ]
    documents, causes = outcome.documents, outcome.causes
    drift = [
        [getattr(result, name) for name in _SENTINEL] for result in outcome.drift or ()
    ]
    return {
        "changes": pd.DataFrame(
            changes, columns=[*outcome.changes.columns, "documents"]
        ),
        "certificates": outcome.certificates,
        "causes": pd.DataFrame(causes, columns=list(SUMMARIES["causes"].columns)),
        "changed_documents": documents.assign(doc_id=documents["doc_id"].map(document)),
        "drift": pd.DataFrame(drift, columns=_SENTINEL),
        "history": history.runs.sort_values("run", ascending=False),
        "history_means": history.means.sort_values(
            "run", ascending=False, kind="stable"
        ),
    }


# The same in Markdown, which mails, artifacts and events may have: keys and numbers
# alone.


def _markdown(
    outcome: Outcome,
    tables: Mapping[str, pd.DataFrame],
    alarms: Sequence[str],
    calm: Sequence[str],
    later: Sequence[str],
) -> str:
    lines = [f"# {outcome.benchmark}: changes", ""]
    lines += [f"- **{escape_markdown(line)}**" for line in alarms]
    lines += [f"- {escape_markdown(line)}" for line in calm]
    lines += [
        "",
        *(f"- {term}: {escape_markdown(fact)}" for term, fact in _facts(outcome)),
    ]
    lines += [f"- {_status(outcome)}", ""]
    if outcome.differences is not None:
        changes = tables["changes"]
        rows = records(changes[changes["verdict"].isin(_SHOWN)])
        lines += sections(
            [readable_row(row, _notes(row)) for row in rows], outcome.certificates
        )
        for verdict in _FOLDED:
            if rows := outcome.rows[verdict]:
                lines.append(f"- {verdict}: {counted(len(rows), 'row')}")
        lines += ["", *map(escape_markdown, cause_lines(outcome.causes)), ""]
    lines += [f"- {escape_markdown(line)}" for line in outcome.missing]
    if outcome.drift is not None:
        lines += ["", "## Drift sentinel", "", format_markdown(tables["drift"])]
    runs = tables["history"]
    says = f"The last {counted(min(RUNS, len(runs)), 'run')} of {len(runs):,}, times in UTC."
    lines += [
        "",
        "## History",
        "",
        says,
        "",
        format_markdown(runs.head(RUNS)[_RUN]),
        *later,
    ]
    return "\n".join(lines) + "\n"


_CLOCK = "with a later date than this one: not shown, since a clock was wrong then or is wrong now."


def _notes(row: dict[str, Any]) -> str:
    one_sided = row["n_only_before"] + row["n_only_after"]
    notes = (
        f"{row['n_changed']:,} of {row['n']:,} differ",
        f"{one_sided:,} only on one side" if one_sided else "",
        f"furthest: {row['documents']}" if row["documents"] else "",
        row["why"],
        "" if row["same_recipe"] else "measured by another recipe",
    )
    return "; ".join(filter(None, notes))
