"""Claims of ACI-BENCH's references as DocLens (Xie et al. 2024) released them; others by rule.

In all 40 records of the released file, `example_id` and `reference` are of another note
than the section texts and their claims (`reference_<section>`,
`subclaims_reference_<section>`). So claims are keyed by their section texts: all those
of a record must occur in exactly one reference note, and each note must match exactly
one record.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.core.options import Options
from metassay.llm.needs import Resources
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import json_list
from metassay.tabular.rows import AGAIN, Findings, Place
from metassay.text.headings import SECTIONS
from metassay.units.clauses import clauses
from metassay.units.record import Decomposed, Decomposition
from metassay.units.statements import EMPTY_SECTION, claim_row, unit_rows, units_of

VERSION = 1  # raised by whoever changes results of this module's kinds

DATASET = "doclens_aci_claims"
FILE = "ACI-Bench-TestSet-1_clean.claim_min1max30.json"

_NOT_THIS = (
    "give the references of ACI-BENCH's test set 1, each under its own encounter_id"
)


class _Record(NamedTuple):
    """A record; `sections` have their text, empty if absent in the note, and claims."""

    at: Place
    example_id: str
    reference: str
    sections: Mapping[str, tuple[str, list[str]]]


def read_claims(file: Path, references: Mapping[str, str]) -> Decomposed:
    """Read the released claims to rows of UNITS: kind claim, author reference, part the section.

    `references` are ACI-BENCH's reference notes by encounter_id. Claims keep the order
    and the repetitions of the file. A warning counts the records with a new key. Raises
    BadInput unless records and references match one to one, both by example_id and by
    the texts of sections.
    """
    problems = Findings()
    records = _records(file, problems)
    for record in records:
        if references.get(record.example_id, "").strip() != record.reference.strip():
            where = f"example_id {shown(record.example_id)}"
            problems.add(
                record.at, "the reference is not the note of that id", _NOT_THIS, where
            )
    keyed = _match_notes(records, references, problems) if not problems else {}
    raise_problems(problems.lines())
    moved = sum(key != record.example_id for key, record in keyed.items())
    rows: list[tuple[object, ...]] = []
    for key, record in sorted(keyed.items()):
        for section, (_, claims) in record.sections.items():
            for position, claim in enumerate(claims):
                place = (key, REFERENCE, section)
                rows.append(claim_row(place, position, claim.strip()))
    warning = (
        f"{file.name}: the claims of {moved} of {len(records)} records stood under another note's"
        " example_id; every record was keyed anew by the one note in which its section texts occur"
    )
    return Decomposed(unit_rows(rows), (warning,))


def _records(file: Path, problems: Findings) -> list[_Record]:
    """Read the released file, whose hash `fetch` has checked."""
    records = []
    for at, row in json_list(file, problems, remedy=AGAIN) or ():
        try:
            texts = {
                section: row[f"reference_{section}"].strip() for section in SECTIONS
            }
            sections = {
                section: (
                    "" if text == EMPTY_SECTION else text,
                    row[f"subclaims_reference_{section}"],
                )
                for section, text in texts.items()
            }
            records.append(
                _Record(
                    at=at,
                    example_id=row["example_id"],
                    reference=row["reference"],
                    sections=sections,
                )
            )
        except (AttributeError, LookupError, TypeError):
            problems.add(at, "is not a record of claims", AGAIN)
    return records


def _has_every_text(note: str, texts: list[str]) -> bool:
    return all(text in note for text in texts)


def _match_notes(
    records: list[_Record], references: Mapping[str, str], problems: Findings
) -> dict[str, _Record]:
    """Key every record by the only note that has all of its sections."""
    keyed: dict[str, _Record] = {}
    for record in records:
        texts = [text for text, _ in record.sections.values() if text]
        matches = [
            key for key, note in references.items() if _has_every_text(note, texts)
        ]
        if not texts or len(matches) != 1:
            what = f"its sections occur together in {len(matches)} notes, not in exactly one"
            where = f"example_id {shown(record.example_id)}"
            problems.add(record.at, what, _NOT_THIS, where)
        else:
            keyed[matches[0]] = record
    if not problems and not len(records) == len(keyed) == len(references):
        what = f"{len(records)} records are of {len(keyed)} of {len(references)} references"
        problems.add(Place(records[0].at.file), what, _NOT_THIS)
    return keyed


def _decompose(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: Options,  # noqa: ARG001
    resources: Resources,
) -> Decomposed:
    units = units_of(parts, sources, clauses)
    whole = parts[(parts["author"] == REFERENCE) & (parts["part"] == FULL)]
    texts = dict(zip(whole["doc_id"], whole["text"].fillna(""), strict=True))
    claims, warnings = read_claims(resources.raw / DATASET / FILE, texts)
    # Released claims are of sections, so the references must be divided into these.
    place = ["doc_id", "author", "part"]
    leaves = pd.MultiIndex.from_frame(parts.loc[parts["leaf"] == "yes", place])
    missing = sorted(set(pd.MultiIndex.from_frame(claims[place])) - set(leaves))
    if missing:
        doc_id, _, part = missing[0]
        raise BadInput(
            f"{len(missing)} section(s) with released claims are not parts of the references, the"
            f" first is doc_id {shown(doc_id)}, {shown(part)}; choose a segmentation of kind soap"
        )
    released = (units["kind"] == "claim") & (units["author"] == REFERENCE)
    return Decomposed(
        pd.concat([units[~released], claims], ignore_index=True), warnings
    )


KIND = Decomposition(
    options=Options, take_apart=_decompose, datasets=lambda _: (DATASET,)
)
