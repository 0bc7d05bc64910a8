"""ACI-BENCH: rows matched by encounter, on invented files and, with a mirror, on the real ones."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from metassay.core.errors import BadInput
from metassay.datasets.consultations import DIALOGUES, METADATA, SYSTEMS
from metassay.datasets.ingest import Tables, ingest

DIALOGUE = {
    "E2": "[doctor] any rash ?\n[patient] no .\n[patient_guest] a little .",
    "E1": "[doctor] hello .\nand your knee ?\n[patient] it's [ laughs ] fine .",
}
GPT = ("chatgpt", "gpt4")


def rows(author: str) -> list[dict[str, str]]:
    found = []
    for encounter, dialogue in DIALOGUE.items():
        note = f"PLAN\n\nRest, says {author} of {encounter}.\n"
        if author in GPT:
            found.append({"Dialogues": dialogue, "note": note, "encounter_id": encounter})
        else:
            found.append({"encounter_id": encounter, "dialogue": dialogue, "note": note})
    return found


def put(path: Path, content: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(content[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(content)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / DIALOGUES, rows("reference"))
    put(
        tmp_path / METADATA,
        [{"dataset": "x", "encounter_id": e, "cc": f"cc {e}", "doctor_name": ""} for e in DIALOGUE],
    )
    for author, name in SYSTEMS.items():
        put(tmp_path / name, rows(author))
    return tmp_path


def problem(folder: Path) -> str:
    with pytest.raises(BadInput) as caught:
        ingest("aci_bench", folder, {})
    (found,) = caught.value.problems
    return found


def test_good_data(folder: Path) -> None:
    put(folder / SYSTEMS["gpt4"], rows("gpt4")[::-1])  # another order changes nothing
    sources, texts, segments, ratings, measurements, _, warnings = ingest("aci_bench", folder, {})
    first, second = sources.to_dict("records")
    assert first["doc_id"] == "E2"
    assert first["passages"] == ["any rash ?", "no .", "a little ."]
    assert first["speaker"] == ["doctor", "patient", "patient_guest"]
    assert second["passages"] == ["hello .\nand your knee ?", "it's [ laughs ] fine ."]
    assert json.loads(first["attributes"]) == {"cc": "cc E2", "dataset": "x", "doctor_name": ""}
    by_key = texts.set_index(["doc_id", "author"])["text"]
    assert by_key["E1", "gpt4"] == "PLAN\n\nRest, says gpt4 of E1.\n"
    assert by_key["E2", "reference"] == "PLAN\n\nRest, says reference of E2.\n"
    assert len(texts) == 2 * 13
    assert len(ratings) == 0
    assert measurements.empty
    assert segments.empty
    assert warnings == ()


def test_an_empty_note_is_what_the_system_wrote(folder: Path) -> None:
    content = rows("led_full")
    content[0]["note"] = ""
    put(folder / SYSTEMS["led_full"], content)
    texts = ingest("aci_bench", folder, {}).texts.set_index(["doc_id", "author"])
    assert texts.loc[("E2", "led_full"), ["text", "status"]].tolist() == ["", "ok"]


def test_encounters_that_are_unknown_or_twice(folder: Path) -> None:
    name = SYSTEMS["transcript"]
    content = rows("transcript")
    put(folder / name, [*content, content[0]])
    assert problem(folder).startswith(f"{name}: line 14: the key (doc_id, author, part) is there")
    put(folder / name, [*content, content[0] | {"encounter_id": "E9"}])
    assert problem(folder).startswith(f"{name}: line 14: the document is not in {DIALOGUES}")


def test_a_missing_file_or_column_is_the_only_complaint(folder: Path) -> None:
    (folder / DIALOGUES).unlink()
    assert problem(folder) == f"{DIALOGUES}: is not in {folder}; fetch the file again"
    put(folder / DIALOGUES, [{"encounter_id": "E1", "dialogue": "[doctor] x"}])
    assert problem(folder).startswith(f"{DIALOGUES}: line 1: column 'note' is missing")


@pytest.fixture(scope="module")
def real(mirror: Path) -> Tables:
    return ingest("aci_bench", mirror / "aci_bench_test1", {})


def test_the_real_files(real: Tables) -> None:
    assert (len(real.sources), len(real.texts), len(real.ratings)) == (40, 40 * 13, 0)
    assert real.warnings == ()
    assert set(real.texts["author"]) == {"reference", *SYSTEMS}
    speakers = [name for names in real.sources["speaker"] for name in names]
    assert set(speakers) == {"doctor", "patient", "patient_guest"}
    assert len(speakers) == 1068 + 964 + 50
    words = real.texts["text"].str.split().str.len().groupby(real.texts["author"]).mean()
    assert words["reference"] == pytest.approx(415.3)
    assert words["chatgpt"] == pytest.approx(233.2, abs=0.06)
    assert words["biobart_full"] == pytest.approx(179.4, abs=0.06)


def test_one_published_row(real: Tables) -> None:
    """Xie et al. 2024, table 20: BART+SAMSum (section) has ROUGE-2 25.08 over the 40 full notes."""
    texts = real.texts.set_index(["doc_id", "author"])["text"]
    scorer = RougeScorer(["rouge2"], use_stemmer=False)
    scores = [
        scorer.score(texts[doc, "reference"], texts[doc, "bart_samsum_section"])["rouge2"].fmeasure
        for doc in real.sources["doc_id"]
    ]
    assert round(100 * float(np.mean(scores)), 2) == 25.08
