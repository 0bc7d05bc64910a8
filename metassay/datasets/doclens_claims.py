"""DocLens's released claims of ACI-BENCH's references (Xie et al. 2024), put back to their notes.

In the released file a record's `example_id` and `reference` name one note, while its section texts
and their claims (`reference_<section>`, `subclaims_reference_<section>`) belong to another, in all
40 records. So the claims are keyed by the texts they were made from: all section texts of a record
must occur in exactly one reference note, and each note must be found by exactly one record.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from metassay.core.errors import raise_problems, shown
from metassay.tables.names import REFERENCE
from metassay.tabular.decoding import json_list
from metassay.tabular.rows import AGAIN, Findings, Place
from metassay.text.headings import SECTIONS

FILE = "ACI-Bench-TestSet-1_clean.claim_min1max30.json"

_ABSENT = "#####EMPTY#####"  # the text of a section that the note does not have
_NOT_THIS = "give the references of ACI-BENCH's test set 1, each under its own encounter_id"
_COLUMNS = (
    *("doc_id", "author", "part", "kind", "position"),
    *("text", "status", "citations", "statement", "start", "end"),
)


class Claims(NamedTuple):
    """Rows of UNITS, and what was done to get them: one line each, without any text."""

    units: pd.DataFrame
    warnings: tuple[str, ...]


class _Record(BaseModel):
    """What is read of a record; `input` is not."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    example_id: str
    reference: str
    reference_subjective: str
    reference_objective_exam: str
    reference_objective_results: str
    reference_assessment_and_plan: str
    subclaims_reference_subjective: list[str]
    subclaims_reference_objective_exam: list[str]
    subclaims_reference_objective_results: list[str]
    subclaims_reference_assessment_and_plan: list[str]

    def text(self, section: str) -> str:
        """The section's text without blanks around it; empty if the note does not have it."""
        text = str(getattr(self, f"reference_{section}")).strip()
        return "" if text == _ABSENT else text

    def claims(self, section: str) -> list[str]:
        """The section's claims."""
        found: list[str] = getattr(self, f"subclaims_reference_{section}")
        return found


def read_claims(file: Path, references: Mapping[str, str]) -> Claims:
    """The released claims as rows of UNITS: kind claim, author reference, part the section.

    `references` are ACI-BENCH's reference notes by encounter_id. Claims keep the order and the
    repetitions of the file. A warning says how many records were keyed anew. BadInput unless
    records and references match one to one, both by example_id and by the texts of sections.
    """
    problems = Findings()
    records = _records(file, problems)
    if not problems:
        for at, record in records:
            _check_note(at, record, references, problems)
    keyed = _keyed(records, references, problems) if not problems else {}
    raise_problems(problems.lines())
    moved = sum(key != record.example_id for key, (_, record) in keyed.items())
    rows = [row for key in sorted(keyed) for row in _rows(key, keyed[key][1])]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    frame = frame.astype({"statement": "Int64", "start": "Int64", "end": "Int64"})
    warning = (
        f"{file.name}: the claims of {moved} of {len(records)} records stood under another note's"
        " example_id; every record was keyed anew by the one note in which its section texts occur"
    )
    return Claims(frame, (warning,))


def _records(file: Path, problems: Findings) -> list[tuple[Place, _Record]]:
    records = []
    for at, entry in json_list(file, problems, remedy=AGAIN) or ():
        try:
            records.append((at, _Record.model_validate(entry)))
        except ValidationError as error:
            first = ".".join(str(step) for step in error.errors()[0]["loc"])
            problems.add(at, "is not a record of claims", AGAIN, f"{error.error_count()}: {first}")
    return records


def _check_note(
    at: Place, record: _Record, references: Mapping[str, str], problems: Findings
) -> None:
    """Its own note is that of the reference; nothing has claims without a text."""
    where = f"example_id {shown(record.example_id)}"
    if references.get(record.example_id, "").strip() != record.reference.strip():
        problems.add(at, "the reference is not the note of that id", _NOT_THIS, where)
    for section in SECTIONS:
        if record.claims(section) and not record.text(section):
            problems.add(at, f"{section} has claims but no text", AGAIN, where)
        if not all(claim.strip() for claim in record.claims(section)):
            problems.add(at, f"{section} has a blank claim", AGAIN, where)


def _keyed(
    records: list[tuple[Place, _Record]], references: Mapping[str, str], problems: Findings
) -> dict[str, tuple[Place, _Record]]:
    """Every record under the one note that has all its sections."""
    keyed: dict[str, tuple[Place, _Record]] = {}
    for at, record in records:
        texts = [text for text in map(record.text, SECTIONS) if text]
        found = [k for k, note in references.items() if all(text in note for text in texts)]
        where = f"example_id {shown(record.example_id)}"
        if not texts or len(found) != 1:
            what = f"its sections occur together in {len(found)} notes, not in one"
            problems.add(at, what, _NOT_THIS, where)
        else:
            keyed[found[0]] = (at, record)
    if not problems and not len(records) == len(keyed) == len(references):
        what = f"{len(records)} records are of {len(keyed)} of {len(references)} references"
        problems.add(Place(records[0][0].file), what, _NOT_THIS)
    return keyed


def _rows(encounter: str, record: _Record) -> list[tuple[object, ...]]:
    rest: tuple[object, ...] = ("ok", [], None, None, None)
    return [
        (encounter, REFERENCE, section, "claim", position, claim.strip(), *rest)
        for section in SECTIONS
        for position, claim in enumerate(record.claims(section))
    ]
