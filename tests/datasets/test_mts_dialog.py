"""MTS-Dialog: the join by order, on invented files and, with a mirror, on the real ones."""

import csv
from pathlib import Path

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.core.params import load
from metassay.datasets.consultations import CRITERIA, SCORES, SUMMARIES
from metassay.datasets.ingest import Tables, ingest

ROOT = Path(__file__).parents[2]
SCALES = {name: Criterion(low=-1, high=1, better="higher") for name in CRITERIA.values()}
COLUMNS = ["ID", "Dialogue", "Reference Summary", "Automatic Summary"]
DIALOGUES = [
    "Doctor: Any fever? \r\nPatient: No. Doctor: Chills?\r\n Guest_family: Some.\r\n"
    "Guest_family_1: Two.",
    "Doctor: Smoker?\r\nPatient: My doctor: no. Never.",
]


def summary_rows() -> list[list[str]]:
    return [
        [str(doc), DIALOGUES[doc], f"Reference {doc}. ", f"System {system} on {doc}. "]
        for system in (1, 2, 3)
        for doc in (0, 1)
    ]


def score_rows() -> list[list[str]]:
    return [[f"0.{row}{column}" for column in range(1, 7)] for row in range(1, 7)]


def put(folder: Path, summaries: list[list[str]], scores: list[list[str]]) -> Path:
    for name, header, rows in (
        (SUMMARIES, COLUMNS, summaries),
        (SCORES, list(CRITERIA), scores),
    ):
        with (folder / name).open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    return folder


def problem(folder: Path) -> str:
    with pytest.raises(BadInput) as caught:
        ingest("mts_dialog", folder, SCALES)
    (found,) = caught.value.problems
    return found


def test_rows_are_joined_by_order(tmp_path: Path) -> None:
    ingested = ingest("mts_dialog", put(tmp_path, summary_rows(), score_rows()), SCALES)
    assert ingested.sources["doc_id"].tolist() == ["mts_000", "mts_001"]
    first, second = ingested.sources.to_dict("records")
    assert first["passages"] == ["Any fever?", "No.", "Chills?", "Some.", "Two."]
    assert first["speaker"] == ["Doctor", "Patient", "Doctor", "Guest_family", "Guest_family_1"]
    assert second["passages"] == ["Smoker?", "My doctor: no. Never."]
    texts = ingested.texts.set_index(["doc_id", "author"])["text"]
    assert texts["mts_001", "reference"] == "Reference 1. "  # as released, blanks too
    assert texts["mts_001", "system_3"] == "System 3 on 1. "
    assert len(texts) == 2 + 6
    ratings = ingested.ratings.set_index(["author", "doc_id", "criterion"])["value"]
    # Row 4 of the scores belongs to system 2's first document, column 5 is the omission rate.
    assert ratings["system_2", "mts_000", "factual_precision"] == 0.31
    assert ratings["system_2", "mts_001", "omission_rate"] == 0.45
    assert len(ratings) == 36
    assert len(ingested.warnings) == 1
    assert f"6 rows were joined with those of {SCORES} by their order" in ingested.warnings[0]


def test_a_rate_below_zero_is_kept_and_warned_of(tmp_path: Path) -> None:
    scores = score_rows()
    scores[4][4] = "-1"
    ingested = ingest("mts_dialog", put(tmp_path, summary_rows(), scores), SCALES)
    assert ingested.ratings["value"].min() == -1
    assert ingested.warnings[0].startswith(f"{SCORES}: line 6: the omission rate is below 0")


@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4], [0, 2, 4, 1, 3, 5], [0, 1, 3, 2, 4, 5]])
def test_blocks_that_are_incomplete_or_mixed(tmp_path: Path, rows: list[int]) -> None:
    summaries = [summary_rows()[row] for row in rows]
    found = problem(put(tmp_path, summaries, score_rows()[: len(rows)]))
    said = f"the IDs are not 0, 1, 2, ... once for each system, {len(rows)} in all"
    assert found.startswith(f"{SUMMARIES}: {said}")


def test_a_dialogue_without_speakers(tmp_path: Path) -> None:
    summaries = summary_rows()
    for row in summaries:
        row[1] = row[1].removeprefix("Doctor: ") if row[0] == "1" else row[1]
    found = problem(put(tmp_path, summaries, score_rows()))
    assert "the dialogue does not divide into turns" in found


def test_a_score_that_is_no_number(tmp_path: Path) -> None:
    scores = score_rows()
    scores[0][2] = "high"
    found = problem(put(tmp_path, summary_rows(), scores))
    assert found == f"{SCORES}: line 2: 'FactualF1' is not a finite number; fetch the file again"


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        ingest("mts_dialog", tmp_path, SCALES)
    assert [found.split(":")[0] for found in caught.value.problems] == [SUMMARIES, SCORES]


@pytest.fixture(scope="module")
def real(mirror: Path) -> Tables:
    criteria = load(ROOT).benchmarks["mts_dialog"].criteria
    return ingest("mts_dialog", mirror / "mts_dialog_correlation", criteria)


def test_the_real_files(real: Tables) -> None:
    assert (len(real.sources), len(real.texts), len(real.ratings)) == (100, 500, 2400)
    authors = real.texts.groupby("author").size()
    assert authors.to_dict() == {"reference": 100} | {f"system_{n}": 100 for n in (1, 2, 3, 4)}
    assert real.sources["speaker"].map(len).equals(real.sources["passages"].map(len))
    turns = [turn for speakers in real.sources["speaker"] for turn in speakers]
    assert (turns.count("Doctor"), turns.count("Patient"), len(turns)) == (415, 357, 815)
    assert "2 lines: the omission rate is below 0" in real.warnings[0]


@pytest.mark.parametrize(
    ("variant", "criterion", "expected"),
    [
        ("recall", "factual_recall", 0.53),
        ("recall", "omission_rate", -0.59),
        ("fmeasure", "factual_f1", 0.41),
    ],
)
def test_the_join_gives_the_known_correlations(
    real: Tables, variant: str, criterion: str, expected: float
) -> None:
    """rouge-score's ROUGE-1 and numpy's Pearson, over the rows that this reader joined."""
    texts = real.texts.set_index(["doc_id", "author"])["text"]
    ratings = real.ratings[real.ratings["criterion"] == criterion]
    scorer = RougeScorer(["rouge1"], use_stemmer=False)
    scores = [
        getattr(scorer.score(texts[doc, "reference"], texts[doc, author])["rouge1"], variant)
        for doc, author in zip(ratings["doc_id"], ratings["author"], strict=True)
    ]
    found = np.corrcoef(scores, ratings["value"].to_numpy())[0, 1]
    assert found == pytest.approx(expected, abs=0.005)
