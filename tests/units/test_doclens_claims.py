"""DocLens's released claims: keyed anew by their section texts, or refused."""

import csv
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.tables.units import UNITS
from metassay.text.headings import SECTIONS, divide
from metassay.text.tokens import content_tokens
from metassay.units import released_claims as doclens_claims
from metassay.units.released_claims import FILE, read_claims

NOTES = {
    "E1": "CC\n\nKnee pain.\n\nEXAM\n\nSwollen.\n\nRESULTS\n\nNo fracture.\n\nPLAN\n\nRest.\n",
    "E2": "CC\n\nCough.\n\nEXAM\n\nWheeze.\n\nPLAN\n\nInhaler.\n",
    "E3": "CC\n\nRash.\n\nEXAM\n\nRed patch.\n\nRESULTS\n\nTest negative.\n\nPLAN\n\nCream.\n",
}
HEADINGS = dict(zip(SECTIONS, ("CC", "EXAM", "RESULTS", "PLAN"), strict=True))
OTHER = {"E1": "E3", "E2": "E1", "E3": "E2"}  # whose claims stand in each record


def section(note: str, name: str) -> str:
    found = re.search(rf"{HEADINGS[name]}\n\n[^\n]*\n", note)
    return found.group() if found else "#####EMPTY#####"


def record(own: str, other: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"example_id": own, "reference": NOTES[own], "input": "[0][doctor] x"}
    for name in SECTIONS:
        text = section(NOTES[other], name)
        said = [] if text.startswith("#") else [f"{other} {name} 0.", f"{other} {name} 1."]
        fields |= {f"reference_{name}": text, f"subclaims_reference_{name}": said}
    return fields


Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(records: Any = None) -> Path:
        path = tmp_path / FILE
        found = [record(own, other) for own, other in OTHER.items()] if records is None else records
        path.write_text(json.dumps(found), encoding="utf-8")
        return path

    return write


def test_claims_go_to_the_note_that_holds_their_sections(save: Save) -> None:
    units, warnings = read_claims(save(), NOTES)
    assert len(units) == 4 * 2 + 3 * 2 + 4 * 2
    for doc_id, text, part in zip(units["doc_id"], units["text"], units["part"], strict=True):
        assert text.startswith(f"{doc_id} {part} ")
    assert units["doc_id"].tolist() == sorted(units["doc_id"])
    assert "objective_results" not in set(units.loc[units["doc_id"] == "E2", "part"])
    assert units.groupby(["doc_id", "part"])["position"].agg(list).tolist() == [[0, 1]] * 11
    assert set(units["author"]) == {"reference"}
    assert set(units["kind"]) == {"claim"}
    assert set(units["status"]) == {"ok"}
    assert set(UNITS.columns) <= set(units.columns)
    (warning,) = warnings
    assert "claims of 3 of 3 records stood under another note's" in warning
    assert "knee" not in warning.lower()


def test_a_file_that_is_right_already_is_read_the_same_way(save: Save) -> None:
    units, (warning,) = read_claims(save([record(own, own) for own in NOTES]), NOTES)
    assert len(units) == 22
    assert "claims of 0 of 3 records" in warning


def refused(path: Path, references: dict[str, str]) -> str:
    with pytest.raises(BadInput) as raised:
        read_claims(path, references)
    return "\n".join(raised.value.problems)


def test_references_under_other_ids_are_refused(save: Save) -> None:
    shuffled = {"E1": NOTES["E2"], "E2": NOTES["E3"], "E3": NOTES["E1"]}
    said = refused(save(), shuffled)
    assert "the reference is not the note of that id" in said
    assert "Knee" not in said


def test_records_and_references_must_be_the_same_ones(save: Save) -> None:
    fewer = {key: NOTES[key] for key in ("E1", "E2")}
    assert "the reference is not the note of that id" in refused(save(), fewer)
    more = NOTES | {"E4": "CC\n\nOther.\n"}
    assert "3 records are of 3 of 4 references" in refused(save(), more)
    twice = [record("E1", "E1"), record("E2", "E1"), record("E3", "E2")]
    assert "3 records are of 2 of 3 references" in refused(save(twice), NOTES)
    every = [record(own, other) for own, other in OTHER.items()]
    assert "4 records are of 3 of 3 references" in refused(save([*every, every[0]]), NOTES)


def test_sections_must_occur_together_in_exactly_one_note(save: Save) -> None:
    nowhere = [record(own, other) for own, other in OTHER.items()]
    nowhere[0]["reference_subjective"] = "CC\n\nNobody's.\n"
    assert "its sections occur together in 0 notes" in refused(save(nowhere), NOTES)
    mixed = [record(own, other) for own, other in OTHER.items()]
    mixed[0]["reference_subjective"] = mixed[1]["reference_subjective"]
    assert "its sections occur together in 0 notes" in refused(save(mixed), NOTES)
    nothing = [record(own, other) for own, other in OTHER.items()]
    for name in SECTIONS:
        nothing[0] |= {f"reference_{name}": "#####EMPTY#####", f"subclaims_reference_{name}": []}
    assert "its sections occur together in 3 notes" in refused(save(nothing), NOTES)


def test_a_file_that_is_none(save: Save, tmp_path: Path) -> None:
    assert "is not a list of records" in refused(save({}), NOTES)
    assert "is not in" in refused(tmp_path / "nothing.json", NOTES)


def released(mirror: Path) -> tuple[Path, dict[str, str]]:
    path = mirror / "aci_bench_test1" / "clinicalnlp_taskB_test1.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        notes = {row["encounter_id"]: row["note"] for row in csv.DictReader(file)}
    return mirror / "doclens_aci_claims" / FILE, notes


def share_found(claims: list[tuple[str, str]], notes: dict[str, str]) -> float:
    """Share of the claims' content words, but for "patient", that their note has."""
    known = {key: set(content_tokens(note)) - {"patient"} for key, note in notes.items()}
    said = [(key, word) for key, claim in claims for word in content_tokens(claim)]
    found = [word in known[key] for key, word in said if word != "patient"]
    return sum(found) / len(found)


def test_the_released_claims(mirror: Path) -> None:
    path, notes = released(mirror)
    units, warnings = read_claims(path, notes)
    # The numbers are those of the release after keying it anew.
    assert len(units) == 1287
    assert units.groupby("part").size().to_dict() == {
        "subjective": 530,
        "objective_exam": 209,
        "objective_results": 88,
        "assessment_and_plan": 460,
    }
    per_note = units.groupby("doc_id").size()
    assert len(per_note) == 40
    assert per_note.mean() == pytest.approx(32.18, abs=0.0051)  # it is 32.175
    assert (per_note.min(), per_note.max()) == (14, 53)
    results = units.loc[units["part"] == "objective_results", "doc_id"]
    assert 40 - results.nunique() == 8
    assert units.duplicated(["doc_id", "text"]).sum() == 20
    assert "claims of 40 of 40 records" in warnings[0]
    keyed = list(zip(units["doc_id"], units["text"], strict=True))
    assert share_found(keyed, notes) == pytest.approx(0.90, abs=0.02)
    records = json.loads(path.read_text(encoding="utf-8"))
    as_released = [
        (r["example_id"], claim)
        for r in records
        for s in SECTIONS
        for claim in r[f"subclaims_reference_{s}"]
    ]
    assert len(as_released) == 1287
    assert share_found(as_released, notes) == pytest.approx(0.26, abs=0.02)


def test_every_part_with_released_claims_is_one_of_ours(mirror: Path) -> None:
    path, notes = released(mirror)
    units, _ = read_claims(path, notes)
    found = {key: set(group) for key, group in units.groupby("doc_id")["part"]}
    assert {key: set(divide(note, compat="none")) for key, note in notes.items()} == found


def test_the_released_file_is_refused_with_its_notes_exchanged(mirror: Path) -> None:
    path, notes = released(mirror)
    keys = sorted(notes)
    rotated = {key: notes[other] for key, other in zip(keys, keys[1:] + keys[:1], strict=True)}
    with pytest.raises(BadInput, match="40 records: the reference is not the note of that id"):
        read_claims(path, rotated)


def test_no_other_reader_is_there_that_could_trust_the_released_ids() -> None:
    here = doclens_claims.__name__
    functions = [
        name
        for name, value in vars(doclens_claims).items()
        if inspect.isfunction(value) and value.__module__ == here and not name.startswith("_")
    ]
    assert functions == ["read_claims"]
