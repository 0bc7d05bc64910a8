"""Radiology reports of MIMIC-III, on an invented file of the form of NOTEEVENTS.csv."""

import csv
import gzip
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.datasets import reports
from metassay.datasets.ingest import ingest
from tests.datasets.invented_reports import COLUMNS, put_notes, report


def test_reports_are_drawn_in_proportion_to_their_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 60 reports of the head by CT, 30 by MR and 10 of the neck, ten."""
    monkeypatch.setattr(reports, "N_REPORTS", 10)
    tables = ingest("mimic_reports", put_notes(tmp_path, n_head=60, n_mr=30), {})
    kinds = Counter(json.loads(a)["kind"] for a in tables.sources["attributes"])
    assert kinds == {"CT head": 6, "MR head": 3, "CT neck": 1}
    again = ingest("mimic_reports", tmp_path, {})
    assert list(again.sources["doc_id"]) == list(tables.sources["doc_id"])


def test_passages_are_the_findings_and_the_reference_the_impression(
    tmp_path: Path,
) -> None:
    """Without what stands above, below or between; lines are joined."""
    tables = ingest("mimic_reports", put_notes(tmp_path, n_head=1, n_mr=0), {})
    source = tables.sources.set_index("doc_id").loc["report_1"]
    assert source["task"] == "impression"
    assert list(source["passages"]) == [
        "There is no bleed of size 1.",
        "The ventricles are of normal size.",
    ]
    text = tables.texts.set_index("doc_id").loc["report_1", "text"]
    assert text == "1. No bleed. 2. Normal ventricles."


def test_what_is_no_report_of_the_study_is_left_out(tmp_path: Path) -> None:
    """Other notes and images, errors, and reports that lack a section."""
    whole = report(1)
    others = [
        report(2) | {"CATEGORY": "Nursing"},
        report(3) | {"DESCRIPTION": "CHEST (PORTABLE AP)"},
        report(4) | {"DESCRIPTION": "CT LOWER EXT W/O C"},
        report(5) | {"ISERROR": "1"},
        report(6) | {"TEXT": "FINDINGS: There is no bleed."},
        report(7) | {"TEXT": "FINDINGS:\nIMPRESSION: No bleed."},
    ]
    put_notes(tmp_path, rows=[whole, *others])
    assert list(ingest("mimic_reports", tmp_path, {}).sources["doc_id"]) == ["report_1"]
    put_notes(tmp_path, rows=others)
    with pytest.raises(BadInput, match="has no report of CT or MR with FINDINGS:"):
        ingest("mimic_reports", tmp_path, {})


def test_a_packed_copy_and_names_in_small_letters_read_the_same(
    tmp_path: Path,
) -> None:
    plain = ingest("mimic_reports", put_notes(tmp_path / "a", n_head=3, n_mr=3), {})
    (tmp_path / "b").mkdir()
    content = (tmp_path / "a/NOTEEVENTS.csv").read_text(encoding="utf-8")
    head, body = content.split("\n", 1)
    with gzip.open(tmp_path / "b/NOTEEVENTS.csv.gz", "wt", encoding="utf-8") as file:
        file.write(f"{head.lower()}\n{body}")
    packed = ingest("mimic_reports", tmp_path / "b", {})
    assert list(packed.sources["doc_id"]) == list(plain.sources["doc_id"])
    shutil.copy(tmp_path / "a/NOTEEVENTS.csv", tmp_path / "b")
    with pytest.raises(
        BadInput, match=r"must hold one of NOTEEVENTS\.csv and NOTEEVENT"
    ):
        ingest("mimic_reports", tmp_path / "b", {})


def test_another_table_is_refused_with_the_column_that_it_lacks(
    tmp_path: Path,
) -> None:
    with (tmp_path / "NOTEEVENTS.csv").open("w", encoding="utf-8") as file:
        csv.writer(file).writerow([name for name in COLUMNS if name != "CATEGORY"])
    with pytest.raises(BadInput, match=r"NOTEEVENTS\.csv.*has no column 'CATEGORY'"):
        ingest("mimic_reports", tmp_path, {})


@pytest.mark.parametrize(
    ("description", "kind"),
    [
        ("CT HEAD W/O CONTRAST", "CT head"),
        ("CTA CHEST W&W/O C&RECONS, NON-CORONARY", "CT chest"),
        ("MR C-SPINE W& W/O CONTRAST", "MR spine"),
        ("CT SINUS/MANDIBLE/MAXILLOFACIAL W/O CONTRAST", "CT sinus"),
        ("RENAL U.S.", ""),
        ("MR THIGH W&W/O CONTRAST LEFT", ""),
    ],
)
def test_kinds_are_those_of_the_description(description: str, kind: str) -> None:
    assert reports.kind_of_report(description) == kind
