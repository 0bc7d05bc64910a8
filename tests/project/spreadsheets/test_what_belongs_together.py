"""Columns that say which documents and systems belong together, from sheet to project to study."""

from pathlib import Path

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.params import parse_folder
from metassay.datasets.ingest import ingest
from metassay.meta_evaluation.layouts import groups_of
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.project.spreadsheets.summary import command, lines, project_of, settings_of
from tests.project.spreadsheets.sheets import LONG, RATINGS, SCORES, SYSTEMS, files

CLINICS = {"v1": "north", "v2": "north", "v3": "south"}
PATIENTS = {"v1": "p1", "v2": "p1", "v3": ""}
TEXTS = [
    [*LONG[0], "stratum", "patient", "family"],
    *([*row, CLINICS[row[0]], PATIENTS[row[0]], "house"] for row in LONG[1:]),
]


def asked(folder: Path, **more: object) -> Inputs:
    tables = files(folder, texts=TEXTS, ratings=RATINGS, scores=SCORES)
    return Inputs(tables, ("cluster=patient",), primary="bleu", **more)  # type: ignore[arg-type]


def test_the_project_says_what_the_sheet_says(tmp_path: Path) -> None:
    inputs = asked(tmp_path)
    data = read_all(inputs)
    content = project_of("mine", data, ["texts.csv"])
    benchmark = parse_folder(yaml.safe_load(content.benchmark), where="params.yaml")
    # The sheets' bleu is called otherwise, as there is one of Metassay's own.
    assert benchmark.design.primary == "own_bleu"
    folder = tmp_path / "raw"
    folder.mkdir()
    for path, held in content.data.items():
        (folder / Path(path).name).write_bytes(held)
    sources = ingest("files", folder, benchmark.criteria).sources
    strata, clusters, families = groups_of(benchmark.design, sources, SYSTEMS, "design")
    assert strata == CLINICS
    assert clusters == {"v1": "p1", "v2": "p1"}
    assert families == dict.fromkeys(SYSTEMS, "house")
    output = " ".join(" ".join(lines(data, settings_of(data.rows))).split())
    assert "documents of one 'stratum' are compared only with each other" in output
    assert "documents of one 'patient' count as one" in output
    assert "2 systems of 1 families, which count as one" in output
    assert "primary metric: 'own_bleu'" in output
    again = command(tmp_path / "new", inputs, data, ())
    assert "cluster=patient" in again
    assert "--primary bleu" in again


def test_two_values_for_one_document_or_system_are_a_fault(tmp_path: Path) -> None:
    inputs = asked(tmp_path)
    rows = [list(row) for row in TEXTS]
    rows[2][-3], rows[3][-2], rows[4][-1] = "east", "p9", "other"
    files(tmp_path, texts=rows)
    with pytest.raises(BadInput) as caught:
        read_all(inputs)
    message = "\n".join(caught.value.problems)
    assert "strata" in message
    assert "family" in message
    assert len(caught.value.problems) == 3, message
