"""Notes of consultations: ACI-BENCH, MTS-Dialog, PriMock57 and SimSUM, invented and real."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rouge_score.rouge_scorer import RougeScorer

from metassay.core.options import Criterion
from metassay.core.params import load
from metassay.datasets.consultations import (
    CRITERIA,
    DIALOGUES,
    FILE,
    METADATA,
    SCORES,
    SIMSUM_CRITERIA,
    SUMMARIES,
    SYSTEMS,
)
from metassay.datasets.ingest import Tables, ingest
from tests.datasets.reading import ROOT, problems, put_csv

KEY = ["doc_id", "author"]


# ---- ACI-BENCH: rows matched by encounter

ENCOUNTERS = {
    "E2": "[doctor] any rash ?\n[patient] no .\n[patient_guest] a little .",
    "E1": "[doctor] hello .\nand your knee ?\n[patient] it's [ laughs ] fine .",
}


def notes(author: str) -> list[dict[str, str]]:
    column = "Dialogues" if author in ("chatgpt", "gpt4") else "dialogue"
    text = "PLAN\n\nRest, says {author} of {encounter}.\n"
    return [
        {
            "encounter_id": e,
            column: dialogue,
            "note": text.format(author=author, encounter=e),
        }
        for e, dialogue in ENCOUNTERS.items()
    ]


@pytest.fixture
def encounters(tmp_path: Path) -> Path:
    about = {"dataset": "x", "doctor_name": ""}
    put_csv(tmp_path / DIALOGUES, notes("reference"))
    put_csv(
        tmp_path / METADATA,
        [{**about, "encounter_id": e, "cc": f"cc {e}"} for e in ENCOUNTERS],
    )
    for author, name in SYSTEMS.items():
        put_csv(tmp_path / name, notes(author))
    return tmp_path


def test_encounters(encounters: Path) -> None:
    # another order changes nothing
    put_csv(encounters / SYSTEMS["gpt4"], notes("gpt4")[::-1])
    empty = [notes("led_full")[0] | {"note": ""}, notes("led_full")[1]]
    put_csv(encounters / SYSTEMS["led_full"], empty)
    sources, texts, *others, _, warnings = ingest("aci_bench", encounters, {})
    first, second = sources.to_dict("records")
    assert first["doc_id"] == "E2"
    assert first["passages"] == ["any rash ?", "no .", "a little ."]
    assert first["speaker"] == ["doctor", "patient", "patient_guest"]
    assert second["passages"] == ["hello .\nand your knee ?", "it's [ laughs ] fine ."]
    assert json.loads(first["attributes"]) == {
        "cc": "cc E2",
        "dataset": "x",
        "doctor_name": "",
    }
    by_key = texts.set_index(KEY)["text"]
    assert by_key["E1", "gpt4"] == "PLAN\n\nRest, says gpt4 of E1.\n"
    assert by_key["E2", "reference"] == "PLAN\n\nRest, says reference of E2.\n"
    assert by_key["E2", "led_full"] == ""  # what the system wrote
    assert set(texts["status"]) == {"ok"}
    assert (len(texts), sum(map(len, others)), warnings) == (2 * 13, 0, ())


def test_real_encounters(mirror: Path) -> None:
    """Xie et al. 2024, table 20: BART+SAMSum (section) has ROUGE-2 25.08 over the 40 full notes."""
    sources, texts, _, ratings, *_, warnings = ingest(
        "aci_bench", mirror / "aci_bench_test1", {}
    )
    assert (len(sources), len(texts), len(ratings), warnings) == (40, 40 * 13, 0, ())
    assert set(texts["author"]) == {"reference", *SYSTEMS}
    speakers = [name for names in sources["speaker"] for name in names]
    assert set(speakers) == {"doctor", "patient", "patient_guest"}
    assert len(speakers) == 1068 + 964 + 50
    words = texts["text"].str.split().str.len().groupby(texts["author"]).mean()
    for author, mean in (
        ("reference", 415.3),
        ("chatgpt", 233.2),
        ("biobart_full", 179.4),
    ):
        assert words[author] == pytest.approx(mean, abs=0.06)
    by_key, scorer = (
        texts.set_index(KEY)["text"],
        RougeScorer(["rouge2"], use_stemmer=False),
    )
    scores = [
        scorer.score(by_key[d, "reference"], by_key[d, "bart_samsum_section"])[
            "rouge2"
        ].fmeasure
        for d in sources["doc_id"]
    ]
    assert round(100 * float(np.mean(scores)), 2) == 25.08


# ---- MTS-Dialog: joined by the order of rows

RATES = {name: Criterion(low=-1, high=1, better="higher") for name in CRITERIA.values()}
COLUMNS = ["ID", "Dialogue", "Reference Summary", "Automatic Summary"]
SPOKEN = [
    "Doctor: Any fever? \r\nPatient: No. Doctor: Chills?\r\n Guest_family: Some.\r\n"
    "Guest_family_1: Two.",
    "Doctor: Smoker?\r\nPatient: My doctor: no. Never.",
]


def summary_rows() -> list[list[str]]:
    return [
        [str(doc), SPOKEN[doc], f"Reference {doc}. ", f"System {system} on {doc}. "]
        for system in (1, 2, 3)
        for doc in (0, 1)
    ]


def score_rows() -> list[list[str]]:
    return [[f"0.{row}{column}" for column in range(1, 7)] for row in range(1, 7)]


def put_mts(folder: Path, summaries: list[list[str]], scores: list[list[str]]) -> Path:
    put_csv(folder / SUMMARIES, [COLUMNS, *summaries])
    put_csv(folder / SCORES, [list(CRITERIA), *scores])
    for name in (SUMMARIES, SCORES):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    return folder


def test_rows_are_joined_by_order(tmp_path: Path) -> None:
    scores = score_rows()
    scores[4][4] = "-1"  # an omission rate below 0 is kept
    tables = ingest("mts_dialog", put_mts(tmp_path, summary_rows(), scores), RATES)
    assert tables.sources["doc_id"].tolist() == ["mts_000", "mts_001"]
    first, second = tables.sources.to_dict("records")
    assert first["passages"] == ["Any fever?", "No.", "Chills?", "Some.", "Two."]
    assert first["speaker"] == [
        "Doctor",
        "Patient",
        "Doctor",
        "Guest_family",
        "Guest_family_1",
    ]
    assert second["passages"] == ["Smoker?", "My doctor: no. Never."]
    texts = tables.texts.set_index(KEY)["text"]
    assert texts["mts_001", "reference"] == "Reference 1. "  # as released, blanks too
    assert texts["mts_001", "system_3"] == "System 3 on 1. "
    assert len(texts) == 2 + 6
    ratings = tables.ratings.set_index(["author", "doc_id", "criterion"])["value"]
    # Row 4 of the scores belongs to system 2's second document, column 5 is the
    # omission rate.
    assert ratings["system_2", "mts_000", "factual_precision"] == 0.31
    assert ratings["system_2", "mts_001", "omission_rate"] == 0.45
    assert (len(ratings), ratings.min()) == (36, -1)
    below, joined = tables.warnings
    assert below.startswith(f"{SCORES}: line 6: the omission rate is below 0")
    assert f"6 rows were joined with those of {SCORES} by their order" in joined


@pytest.mark.parametrize(
    "rows", [[0, 1, 2, 3, 4], [0, 2, 4, 1, 3, 5], [0, 1, 3, 2, 4, 5]]
)
def test_blocks_that_are_incomplete_or_mixed(tmp_path: Path, rows: list[int]) -> None:
    summaries = [summary_rows()[row] for row in rows]
    (line,) = problems(
        "mts_dialog", put_mts(tmp_path, summaries, score_rows()[: len(rows)])
    )
    start = f"the IDs are not 0, 1, 2, ... once for each system, {len(rows)} in all"
    assert line.startswith(f"{SUMMARIES}: {start}")


def test_faults_of_summaries_and_scores(tmp_path: Path) -> None:
    lines = problems("mts_dialog", tmp_path, RATES)
    assert [line.split(":")[0] for line in lines] == [SUMMARIES, SCORES]
    summaries, scores = summary_rows(), score_rows()
    summaries[1][1], scores[0][2] = summaries[1][1].removeprefix("Doctor: "), "high"
    turns, number = problems("mts_dialog", put_mts(tmp_path, summaries, scores), RATES)
    assert "the dialogue does not divide into turns" in turns + number
    text = f"{SCORES}: line 2: 'FactualF1' is not a finite number; fetch the file again"
    assert text in (turns, number)


def test_real_summaries(mirror: Path) -> None:
    """rouge-score's ROUGE-1 and numpy's Pearson over the joined rows give known correlations."""
    criteria = load(ROOT).benchmarks["mts_dialog"].criteria
    real = ingest("mts_dialog", mirror / "mts_dialog_correlation", criteria)
    assert (len(real.sources), len(real.texts), len(real.ratings)) == (100, 500, 2400)
    authors = {"reference", *(f"system_{n}" for n in (1, 2, 3, 4))}
    assert real.texts.groupby("author").size().to_dict() == dict.fromkeys(authors, 100)
    assert real.sources["speaker"].map(len).equals(real.sources["passages"].map(len))
    turns = [turn for speakers in real.sources["speaker"] for turn in speakers]
    assert (turns.count("Doctor"), turns.count("Patient"), len(turns)) == (
        415,
        357,
        815,
    )
    assert "2 lines: the omission rate is below 0" in real.warnings[0]
    texts, scorer = (
        real.texts.set_index(KEY)["text"],
        RougeScorer(["rouge1"], use_stemmer=False),
    )
    values = real.ratings.pivot(index=KEY, columns="criterion", values="value")
    rouge = [
        scorer.score(texts[d, "reference"], texts[d, a])["rouge1"]
        for d, a in values.index
    ]
    for variant, criterion, known in (
        ("recall", "factual_recall", 0.53),
        ("recall", "omission_rate", -0.59),
        ("fmeasure", "factual_f1", 0.41),
    ):
        scores = [getattr(score, variant) for score in rouge]
        assert np.corrcoef(scores, values[criterion])[0, 1] == pytest.approx(
            known, abs=0.005
        )


# ---- PriMock57: 57 consultations by 5 evaluators, invented

PRIMOCK = (
    "Evaluator",
    "Consultation",
    "Model",
    "Evaluator Note",
    "Model Note",
    "Post-edited note",
)
PRIMOCK += ("Post-edit time", "Incorrect Statements", "Omissions", "Other Issues")
LISTS = (
    "incorrect_statements",
    "critical_incorrect_statements",
    "omissions",
    "critical_omissions",
)
COUNT = Criterion(low=0, high=100, better="lower", scale="count")
OF_EDITS = dict.fromkeys(LISTS, COUNT) | {
    "post_edit_seconds": Criterion(low=0, high=10_000, better="lower")
}
MODELS = ("m1", "m2", "doctor")


def edit(evaluator: int, consultation: int, model: str, **changes: str) -> list[str]:
    wrong = "\n".join(["! the side", "- the spelling\n  of a name"][:evaluator])
    texts = [f"What {who} noted of {consultation}." for who in (evaluator, model)]
    key, lists = (
        [str(evaluator), f"c{consultation:02d}", model],
        [wrong, "- no age\n" * consultation],
    )
    cells = [*key, *texts, "What was edited.", str(30 + evaluator), *lists, ""]
    return list((dict(zip(PRIMOCK, cells, strict=True)) | changes).values())


def read_edits(
    folder: Path, *rows: list[str], columns: tuple[str, ...] = PRIMOCK
) -> Tables:
    return ingest("primock57", put_csv(folder / FILE, [columns, *rows]), OF_EDITS)


def test_every_consultation_evaluator_and_model(tmp_path: Path) -> None:
    rows = [edit(e, c, m) for c in range(57) for e in range(1, 6) for m in MODELS]
    tables = read_edits(
        tmp_path, *rows, columns=tuple(name.title() for name in PRIMOCK)
    )
    assert tables.warnings == ()
    assert tables.sources["passages"].map(len).tolist() == [0] * 57
    references = ("reference", *(f"reference:{n}" for n in range(2, 6)))
    authors = tables.texts.groupby("author").size().to_dict()
    assert authors == dict.fromkeys((*MODELS, *references), 57)
    texts = tables.texts.set_index(KEY)["text"]
    assert texts["c07", "m2"] == "What m2 noted of 7."
    assert texts["c07", "reference:3"] == "What 3 noted of 7."
    assert len(tables.ratings) == 57 * 5 * 3 * 5
    values = tables.ratings.set_index([*KEY, "rater", "criterion"])["value"]
    assert [values["c07", "m1", "2", name] for name in LISTS] == [2, 1, 7, 0]
    assert [values["c00", "doctor", "1", name] for name in LISTS] == [1, 1, 0, 0]
    assert values["c00", "m1", "5", "post_edit_seconds"] == 35


def test_what_nobody_says_is_null(tmp_path: Path) -> None:
    nothing = {"Incorrect Statements": "", "Omissions": ""}
    tables = read_edits(
        tmp_path,
        edit(1, 1, "m1", **nothing),
        edit(2, 1, "m1", **nothing, **{"Post-edited note": "", "Post-edit time": ""}),
        edit(3, 1, "m1", Omissions="the age is missing"),
    )
    values = tables.ratings.pivot_table(
        index="rater",
        columns="criterion",
        values="value",
        dropna=False,
        aggfunc="first",
    )
    assert values.loc["1", list(LISTS)].tolist() == [0, 0, 0, 0]
    assert values.loc["2"].isna().all()
    assert values.loc["3", list(LISTS)].fillna(-1).tolist() == [2, 1, -1, -1]
    assert tables.warnings == (
        f"{FILE}: line 4: 'omissions' begin without ! or -; its ratings are null",
    )


def test_faults_of_edits(tmp_path: Path) -> None:
    rows = [edit(1, 1, "m1"), edit(2, 1, "m1", **{"Model Note": "Another note."})]
    rows += [edit(1, 1, "m2", **{"Evaluator Note": "Another note."})]
    put_csv(tmp_path / FILE, [PRIMOCK, *rows, edit(1, 2, " ")])
    lines = problems("primock57", tmp_path, OF_EDITS)
    where = " (consultation 'c01', first in line 2); fetch the file again"
    assert lines == [
        f"{FILE}: line 4: the model note is not the one of an earlier row{where}",
        f"{FILE}: line 8: the evaluator note is not the one of an earlier row{where}",
        f"{FILE}: line 10: evaluator, consultation or model is empty; fetch the file again",
    ]
    put_csv(tmp_path / FILE, [PRIMOCK[:-2], edit(1, 1, "m1")[:-2]])
    assert "line 1: column 'omissions' is missing" in problems("primock57", tmp_path)[0]


# ---- SimSUM: the five-rater form, on invented grades

SCALES = {
    n: Criterion(low=1, high=5, better="higher", scale="ordinal")
    for n in SIMSUM_CRITERIA
}
Grades = dict[str, pd.DataFrame]


def grades() -> Grades:
    """Five raters who lean together, each with a mood, and some empty cells."""
    rng = np.random.default_rng(11)
    quality, by_rater = rng.normal(3.5, 0.8, (30, len(SCALES))), Grades()
    for rater in ("ann", "ben", "cem", "dana", "eva"):
        values = np.clip(np.rint(quality + rng.normal(0, 0.6, quality.shape)), 1, 5)
        values[rng.random(values.shape) < 0.05] = np.nan
        by_rater[rater] = pd.DataFrame(values, columns=list(SCALES)).astype("Int64")
    by_rater["eva"].loc[4] = pd.NA  # a note that a rater left out altogether
    return by_rater


def put_grades(folder: Path, by_rater: Grades, *, index: bool = False) -> Path:
    folder.mkdir(exist_ok=True)
    for rater, frame in by_rater.items():
        frame.to_csv(folder / f"{rater}.csv", index=index)
    return folder


def test_every_cell_is_a_rating_and_an_empty_one_is_null(tmp_path: Path) -> None:
    by_rater = grades()
    tables = ingest("simsum", put_grades(tmp_path / "a", by_rater, index=True), SCALES)
    values = tables.ratings.pivot(
        index=["rater", "doc_id"], columns="criterion", values="value"
    )
    for rater, frame in by_rater.items():
        expected = frame.astype("float64").to_numpy(na_value=np.nan)
        np.testing.assert_array_equal(
            values.loc[rater][list(SCALES)].to_numpy(), expected
        )
    assert values.loc["ann"].index.tolist() == [f"note_{n:02d}" for n in range(1, 31)]
    assert tables.texts.empty
    assert tables.warnings == (
        f"{tmp_path / 'a'}: there is no notes.csv; ratings are read, without texts",
    )
    # A file with a column `rater` is the same; texts may lie beside it.
    whole = pd.concat([frame.assign(rater=rater) for rater, frame in by_rater.items()])
    put_grades(tmp_path / "b", {"all": whole.sort_index(kind="stable")})
    texts = pd.DataFrame(
        {"text": [f"Note {i}." for i in range(30)], "prompt": "Write.\nBriefly."}
    )
    texts.to_csv(tmp_path / "b/notes.csv", index=False)
    together, key = (
        ingest("simsum", tmp_path / "b", SCALES),
        ["rater", "doc_id", "criterion"],
    )
    pair = [t.ratings.sort_values(key, ignore_index=True) for t in (tables, together)]
    pd.testing.assert_frame_equal(*pair)
    assert together.texts.set_index("doc_id").loc["note_30", "text"] == "Note 29."
    assert together.sources["passages"][0] == ["Write.", "Briefly."]
    assert together.warnings == ()


def test_faults_of_grades(tmp_path: Path) -> None:
    (line,) = problems("simsum", tmp_path)
    assert "has no CSV file of a rater" in line
    by_rater = grades()
    by_rater["ben"] = by_rater["ben"].head(29)
    by_rater["cem"] = by_rater["cem"].rename(columns={"realism_hist": "realism"})
    by_rater["dana"] = by_rater["dana"].astype("object")
    by_rater["dana"].loc[2:3, "consistency"] = ["good", 6]
    lines = problems("simsum", put_grades(tmp_path / "a", by_rater), SCALES)
    assert len(lines) == 4
    for start in (
        "ben.csv: rater 'ben' has 29 rows, others have 30",
        "cem.csv: line 1: column 'realism_hist' is missing",
        "dana.csv: line 4: 'consistency' is not a number",
        "dana.csv: line 5: 'consistency' is outside its scale of 1 to 5 (value 6)",
    ):
        assert any(line.startswith(start) for line in lines)
    put_grades(tmp_path / "b", {"ann": grades()["ann"].iloc[::-1]}, index=True)
    put_csv(tmp_path / "b/notes.csv", [["text"], ["One."]])
    lines = problems("simsum", tmp_path / "b", SCALES)
    assert any("does not number the rows" in line for line in lines)
    assert any("has 1 notes, and the raters have 30 rows" in line for line in lines)
