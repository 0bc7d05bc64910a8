"""Radiology reports: findings, and the impression that a radiologist wrote of them (MIMIC-III)."""

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import shown
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.rows import Place, Rows, TextRow, canonical_json, source_row
from metassay.text.sentences import sentences

VERSION = 2  # raised by whoever changes results of this module's kinds
N_REPORTS = 200
FILES = ("NOTEEVENTS.csv", "NOTEEVENTS.csv.gz")
ANATOMIES = ("head", "abdomen", "chest", "spine", "neck", "sinus", "pelvis")

_COLUMNS = ("row_id", "category", "description", "iserror", "text")
_ROWS_AT_ONCE = 20_000  # the file has two million, and 4 GB
_MODALITY = re.compile(r"\s*(CT|MR)")
_ANATOMY = re.compile("|".join(ANATOMIES))
# A section begins with its name in capitals and a colon. It ends at the next such name,
# or at a line of underscores.
_SECTION = re.compile(r"^[ \t]*([A-Z][A-Z0-9 ,/&()'-]*):|^[ \t]*_{5,}", re.MULTILINE)


class _Report(NamedTuple):
    """A report; reports are drawn in the order of their digests."""

    digest: str
    row_id: str
    kind: str
    findings: str
    impression: str


def read_mimic_reports(folder: Path) -> Rows:
    """Read 200 reports of MIMIC-III (Johnson et al. 2016), from its file NOTEEVENTS.csv.

    Reports are those of category Radiology that have findings and an impression, and
    whose description names CT or MR and one of ANATOMIES (Van Veen et al. 2023). Of
    each kind, such as `CT head`, as large a share is drawn as it has among all; which
    ones, the SHA-256 of ROW_ID says. DocLens draws 200 in the same proportion, but does
    not say which.

    A document is named after its ROW_ID. Passages are the sentences of the findings;
    the reference is the impression, and `kind` an attribute.
    """
    rows = Rows()
    paths = [folder / name for name in FILES if (folder / name).is_file()]
    if len(paths) != 1:
        what = f"must hold one of {' and '.join(FILES)}, and holds {len(paths)}"
        rows.wrong(Place(str(folder)), what, remedy="put the file of MIMIC-III into it")
        return rows
    for report in _draw(paths[0], rows):
        at = Place(paths[0].name, report.row_id, "ROW_ID")
        doc_id = f"report_{report.row_id}"
        spans = sentences(report.findings)
        passages = [report.findings[start:end] for start, end in spans]
        attributes = canonical_json({"kind": report.kind})
        rows.sources.append(
            source_row(at, doc_id, "impression", passages, attributes=attributes)
        )
        rows.texts.append(
            TextRow(
                at=at,
                doc_id=doc_id,
                author=REFERENCE,
                part=FULL,
                text=report.impression,
            )
        )
    return rows


def _draw(path: Path, rows: Rows) -> list[_Report]:
    """Return the reports that are drawn, by kind; no more than these are held in memory."""
    counts = Counter[str]()
    # By kind, the reports with the smallest digests, as a heap whose first has the
    # largest: numbers are negative for that.
    smallest: dict[str, list[tuple[int, _Report]]] = {}
    for report in _reports(path, rows):
        counts[report.kind] += 1
        heap = smallest.setdefault(report.kind, [])
        entry = (-int(report.digest, 16), report)
        if len(heap) < N_REPORTS:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    if not counts and not rows.problems:
        what = "has no report of CT or MR with FINDINGS: and IMPRESSION:"
        rows.wrong(Place(path.name), what, remedy="take NOTEEVENTS.csv of MIMIC-III")
    drawn = []
    for kind, n in sorted(allot(counts, N_REPORTS).items()):
        reports = sorted(report for _, report in smallest[kind])
        drawn += reports[:n]
    return drawn


def allot(counts: Mapping[str, int], total: int) -> dict[str, int]:
    """Divide a total in proportion to counts, by largest remainders; names break ties.

    No count is exceeded.

    >>> allot({"CT head": 60, "MR head": 25, "MR neck": 15}, 10)
    {'CT head': 6, 'MR head': 3, 'MR neck': 1}
    """
    everything = sum(counts.values())
    total = min(total, everything)
    shares = {name: total * count / everything for name, count in counts.items()}
    allotted = {name: int(share) for name, share in shares.items()}
    by_remainder = sorted(
        counts, key=lambda name: (allotted[name] - shares[name], name)
    )
    for name in by_remainder[: total - sum(allotted.values())]:
        allotted[name] += 1
    return allotted


def _reports(path: Path, rows: Rows) -> Iterator[_Report]:
    for row in _radiology(path, rows):
        kind = kind_of_report(row["description"])
        parts = divide_report(row["text"])
        findings = parts.get("FINDINGS")
        impression = parts.get("IMPRESSION")
        if kind and findings and impression:
            row_id = row["row_id"].strip()
            digest = hashlib.sha256(row_id.encode()).hexdigest()
            yield _Report(
                digest=digest,
                row_id=row_id,
                kind=kind,
                findings=findings,
                impression=impression,
            )


def _radiology(path: Path, rows: Rows) -> Iterator[dict[Hashable, Any]]:
    """Yield the rows of category Radiology that are not marked as errors, a chunk at a time."""
    header = pd.read_csv(path, nrows=0)
    names = {name.lower(): name for name in header.columns}
    missing = [name.upper() for name in _COLUMNS if name not in names]
    if missing:
        what = f"has no column {', '.join(map(shown, missing))}"
        rows.wrong(Place(path.name, 1), what, remedy="take NOTEEVENTS.csv of MIMIC-III")
        return
    chunks = pd.read_csv(
        path,
        usecols=[names[name] for name in _COLUMNS],
        dtype=str,
        keep_default_na=False,
        chunksize=_ROWS_AT_ONCE,
    )
    for chunk in chunks:
        frame = chunk.rename(columns=str.lower)
        chosen = (frame["category"].str.strip() == "Radiology") & (
            frame["iserror"].str.strip() != "1"
        )
        yield from frame[chosen].to_dict("records")


def kind_of_report(description: str) -> str:
    """Return modality and anatomy of a report's description; "" if it is of neither kind.

    >>> kind_of_report("MR L SPINE W/O CONTRAST")
    'MR spine'
    >>> kind_of_report("CHEST (PORTABLE AP)")
    ''
    """
    modality = _MODALITY.match(description.upper())
    anatomy = _ANATOMY.search(description.lower())
    return f"{modality[1]} {anatomy[0]}" if modality and anatomy else ""


def divide_report(text: str) -> dict[str, str]:
    r"""Return the sections of a report by their names; a name that returns is kept once.

    >>> divide_report("FINDINGS: No bleed.\n IMPRESSION:\n Normal.\n _____\n DR. X")
    {'FINDINGS': 'No bleed.', 'IMPRESSION': 'Normal.'}
    """
    parts: dict[str, str] = {}
    marks = list(_SECTION.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        if mark[1] is not None:
            # Lines of a report are broken at 80 columns.
            parts.setdefault(mark[1].strip(), " ".join(text[mark.end() : end].split()))
    return parts
