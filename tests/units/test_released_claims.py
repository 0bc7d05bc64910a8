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
from metassay.core.kinds import choose
from metassay.datasets.ingest import ingest
from metassay.llm.needs import Resources
from metassay.tables.parquet import round_trip
from metassay.tables.units import UNITS
from metassay.text.headings import SECTIONS, divide
from metassay.text.tokens import content_tokens
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS, released_claims
from metassay.units.released_claims import FILE, read_claims
from tests.units.dividing import parts_of

NOTES = {
    "E1": "CC\n\nKnee pain.\n\nEXAM\n\nSwollen.\n\nRESULTS\n\nNo fracture.\n\nPLAN\n\nRest.\n",
    "E2": "CC\n\nCough.\n\nEXAM\n\nWheeze.\n\nPLAN\n\nInhaler.\n",
    "E3": "CC\n\nRash.\n\nEXAM\n\nRed patch.\n\nRESULTS\n\nTest negative.\n\nPLAN\n\nCream.\n",
}
HEADINGS = dict(zip(SECTIONS, ("CC", "EXAM", "RESULTS", "PLAN"), strict=True))
COUNTS = {
    "assessment_and_plan": 460,
    "objective_exam": 209,
    "objective_results": 88,
    "subjective": 530,
}


def record(note: str, other: str) -> dict[str, Any]:
    """A record of a note with the claims of another."""
    fields: dict[str, Any] = {
        "example_id": note,
        "reference": NOTES[note],
        "input": "[0] x",
    }
    for name in SECTIONS:
        match = re.search(rf"{HEADINGS[name]}\n\n[^\n]*\n", NOTES[other])
        fields[f"reference_{name}"] = match.group() if match else "#####EMPTY#####"
        claims = [f"{other} {name} {n}." for n in (0, 1)] if match else []
        fields[f"subclaims_reference_{name}"] = claims
    return fields


def mixed() -> list[dict[str, Any]]:
    """As released: in each record the claims of another note."""
    return [record("E1", "E3"), record("E2", "E1"), record("E3", "E2")]


Save = Callable[[Any], Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(records: Any) -> Path:
        (tmp_path / FILE).write_text(json.dumps(records), encoding="utf-8")
        return tmp_path / FILE

    return write


def test_claims_go_to_the_note_that_has_their_sections(save: Save) -> None:
    units, (warning,) = read_claims(save(mixed()), NOTES)
    assert len(units) == 4 * 2 + 3 * 2 + 4 * 2
    for doc_id, text, part in zip(
        units["doc_id"], units["text"], units["part"], strict=True
    ):
        assert text.startswith(f"{doc_id} {part} ")
    assert units["doc_id"].tolist() == sorted(units["doc_id"])
    assert "objective_results" not in set(units.loc[units["doc_id"] == "E2", "part"])
    assert (
        units.groupby(["doc_id", "part"])["position"].agg(list).tolist()
        == [[0, 1]] * 11
    )
    about = units[["author", "kind", "status"]].drop_duplicates().to_numpy().tolist()
    assert about == [["reference", "claim", "ok"]]
    assert set(UNITS.columns) <= set(units.columns)
    assert "claims of 3 of 3 records stood under another note's" in warning
    assert "knee" not in warning.lower()
    # A file that is right already is read the same way.
    again, (warning,) = read_claims(save([record(note, note) for note in NOTES]), NOTES)
    assert len(again) == 22
    assert "claims of 0 of 3 records" in warning


WRONG_NOTE = "the reference is not the note of that id"
TWICE = [record("E1", "E1"), record("E2", "E1"), record("E3", "E2")]
NOBODYS = {"reference_subjective": "CC\n\nNobody's.\n"}
EXCHANGED = {"reference_subjective": mixed()[1]["reference_subjective"]}
NOTHING = {f"reference_{name}": "#####EMPTY#####" for name in SECTIONS}
NOTHING |= {f"subclaims_reference_{name}": [] for name in SECTIONS}


@pytest.mark.parametrize(
    ("records", "references", "problem"),
    [
        (
            mixed(),
            {"E1": NOTES["E2"], "E2": NOTES["E3"], "E3": NOTES["E1"]},
            WRONG_NOTE,
        ),
        (mixed(), {key: NOTES[key] for key in ("E1", "E2")}, WRONG_NOTE),
        (
            mixed(),
            NOTES | {"E4": "CC\n\nOther.\n"},
            "3 records are of 3 of 4 references",
        ),
        (TWICE, NOTES, "3 records are of 2 of 3 references"),
        ([*mixed(), mixed()[0]], NOTES, "4 records are of 3 of 3 references"),
        *(
            (
                [mixed()[0] | its, *mixed()[1:]],
                NOTES,
                f"its sections occur together in {n} notes",
            )
            for its, n in ((NOBODYS, 0), (EXCHANGED, 0), (NOTHING, 3))
        ),
        ({}, NOTES, "is not a list of records"),
        ([{}], NOTES, "is not a record of claims"),
    ],
)
def test_what_does_not_match_is_refused(
    save: Save, records: Any, references: dict[str, str], problem: str
) -> None:
    with pytest.raises(BadInput) as error:
        read_claims(save(records), references)
    lines = "\n".join(error.value.problems)
    assert problem in lines
    assert "Knee" not in lines


def released(mirror: Path) -> tuple[Path, dict[str, str]]:
    path = mirror / "aci_bench_test1" / "clinicalnlp_taskB_test1.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        notes = {row["encounter_id"]: row["note"] for row in csv.DictReader(file)}
    return mirror / "doclens_aci_claims" / FILE, notes


def share(claims: list[tuple[str, str]], notes: dict[str, str]) -> float:
    """Share of the claims' content words, but for "patient", that their note has."""
    known = {key: set(content_tokens(note)) for key, note in notes.items()}
    words = [(key, word) for key, claim in claims for word in content_tokens(claim)]
    inside = [word in known[key] for key, word in words if word != "patient"]
    return sum(inside) / len(inside)


def test_the_released_claims(mirror: Path) -> None:
    path, notes = released(mirror)
    units, (warning,) = read_claims(path, notes)
    # The numbers are those of the release after keying it anew.
    assert units.groupby("part").size().to_dict() == COUNTS
    per_note = units.groupby("doc_id").size()
    assert (len(per_note), per_note.min(), per_note.max()) == (40, 14, 53)
    assert per_note.mean() == pytest.approx(32.18, abs=0.0051)  # it is 32.175
    assert units.duplicated(["doc_id", "text"]).sum() == 20
    assert "claims of 40 of 40 records" in warning
    keyed = list(zip(units["doc_id"], units["text"], strict=True))
    assert share(keyed, notes) == pytest.approx(0.90, abs=0.02)
    as_released = [
        (record["example_id"], claim)
        for record in json.loads(path.read_text(encoding="utf-8"))
        for section in SECTIONS
        for claim in record[f"subclaims_reference_{section}"]
    ]
    assert len(as_released) == len(units) == 1287
    assert share(as_released, notes) == pytest.approx(0.26, abs=0.02)
    # Every part with released claims is a part of the note as it is divided here.
    of_notes = {key: set(group) for key, group in units.groupby("doc_id")["part"]}
    assert {
        key: set(divide(note, compat="none")) for key, note in notes.items()
    } == of_notes
    keys = sorted(notes)
    rotated = {
        key: notes[other] for key, other in zip(keys, keys[1:] + keys[:1], strict=True)
    }
    with pytest.raises(BadInput, match=f"40 records: {WRONG_NOTE}"):
        read_claims(path, rotated)


def test_the_released_claims_are_the_references_and_only_theirs(mirror: Path) -> None:
    data = ingest("aci_bench", mirror / "aci_bench_test1", {})
    texts = data.texts[data.texts["author"].isin(["reference", "gpt4"])]
    soap, whole = (
        parts_of(texts, data.sources, choose(SEGMENTATIONS, block, where="params"))
        for block in ({"kind": "soap", "compat": "none"}, {"kind": "whole"})
    )
    kind = choose(DECOMPOSITIONS, {"kind": "doclens_claims"}, where="params")
    apart = kind.record.take_apart(soap, data.sources, kind.options, Resources(mirror))
    claims = round_trip(UNITS, apart.units).query("kind == 'claim'")
    assert (
        claims.query("author == 'reference'").groupby("part").size().to_dict() == COUNTS
    )
    assert not claims.query("author == 'gpt4'").empty
    assert "40 of 40" in apart.warnings[0]
    with pytest.raises(BadInput, match="segmentation of kind soap"):
        kind.record.take_apart(whole, data.sources, kind.options, Resources(mirror))


def test_no_other_reader_is_there_that_could_trust_the_released_ids() -> None:
    functions = inspect.getmembers(released_claims, inspect.isfunction)
    public = [
        name
        for name, value in functions
        if value.__module__ == released_claims.__name__ and not name.startswith("_")
    ]
    assert public == ["read_claims"]
