"""The five-rater form, on invented grades: means, deviations and alpha by hand and by a package."""

from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.datasets.consultations import SIMSUM_CRITERIA as CRITERIA
from metassay.datasets.ingest import Tables, ingest
from metassay.meta_evaluation.agreement import agreement, rating_summaries
from metassay.meta_evaluation.options import MetaOptions

SCALES = {n: Criterion(low=1, high=5, better="higher", scale="ordinal") for n in CRITERIA}
RATERS = ("ann", "ben", "cem", "dana", "eva")
OPTIONS = MetaOptions(resamples=50, confidence=0.95, seed=1)
N_NOTES = 30


def grades() -> dict[str, pd.DataFrame]:
    """Five raters who lean together, each with a mood, and some empty cells."""
    rng = np.random.default_rng(11)
    quality = rng.normal(3.5, 0.8, (N_NOTES, len(CRITERIA)))
    made = {}
    for rater in RATERS:
        own = np.clip(np.rint(quality + rng.normal(0, 0.6, quality.shape)), 1, 5)
        own[rng.random(own.shape) < 0.05] = np.nan
        made[rater] = pd.DataFrame(own, columns=list(CRITERIA)).astype("Int64")
    made["eva"].loc[4] = pd.NA  # a note that a rater left out altogether
    return made


def sheets(folder: Path, made: dict[str, pd.DataFrame], *, index: bool = False) -> Path:
    for rater, frame in made.items():
        frame.to_csv(folder / f"{rater}.csv", index=index)
    return folder


def read(folder: Path) -> Tables:
    return ingest("simsum", folder, SCALES)


def test_every_cell_is_a_rating_and_an_empty_one_is_null(tmp_path: Path) -> None:
    made = grades()
    found = read(sheets(tmp_path, made))
    assert len(found.ratings) == 5 * 30 * 6
    values = found.ratings.set_index(["rater", "doc_id", "criterion"])["value"]
    for rater, frame in made.items():
        for row, name in ((0, "note_01"), (4, "note_05"), (29, "note_30")):
            for criterion in CRITERIA:
                given = frame.loc[row, criterion]
                value = values[rater, name, criterion]
                assert pd.isna(value) if given is pd.NA else value == given
    assert found.texts.empty
    assert found.warnings == (
        f"{tmp_path}: there is no notes.csv; ratings are read, without texts",
    )


def test_means_deviations_and_alpha(tmp_path: Path) -> None:
    made = grades()
    ratings = read(sheets(tmp_path, made)).ratings
    summaries = rating_summaries(ratings, SCALES, OPTIONS).set_index(["criterion", "of", "name"])
    alphas = agreement(ratings, SCALES, OPTIONS)
    alphas = alphas[alphas["coefficient"] == "krippendorff_alpha_ordinal"].set_index("criterion")
    for criterion in CRITERIA:
        table = np.array(
            [frame[criterion].to_numpy("float64", na_value=np.nan) for frame in made.values()]
        )
        every = summaries.loc[(criterion, "all", "")]
        assert every["mean"] == pytest.approx(np.nanmean(table))
        assert every["sd"] == pytest.approx(np.nanstd(table, ddof=0))
        assert (every["n"], every["n_missing"]) == (np.isfinite(table).sum(), np.isnan(table).sum())
        ben = summaries.loc[(criterion, "rater", "ben")]
        assert (ben["mean"], ben["sd"]) == pytest.approx(
            (np.nanmean(table[1]), np.nanstd(table[1]))
        )
        oracle = krippendorff.alpha(
            table, level_of_measurement="ordinal", value_domain=[1.0, 2.0, 3.0, 4.0, 5.0]
        )
        assert alphas.loc[criterion, "value"] == pytest.approx(oracle)


def test_by_hand(tmp_path: Path) -> None:
    """Grades 1 3, 5 5, 2 -: mean 3.2; squares of distances 4.84 .04 3.24 3.24 1.44 add to 12.8."""
    head = ",".join(CRITERIA)
    rest = "3,3,3,3,3"
    (tmp_path / "ann.csv").write_text(f"{head}\n1,{rest}\n5,{rest}\n2,{rest}\n", encoding="utf-8")
    (tmp_path / "ben.csv").write_text(f"{head}\n3,{rest}\n5,{rest}\n,{rest}\n", encoding="utf-8")
    summaries = rating_summaries(read(tmp_path).ratings, SCALES, OPTIONS)
    mine = summaries[summaries["criterion"] == "consistency"].set_index(["of", "name"])
    every = mine.loc[("all", "")]
    assert (every["mean"], every["sd"]) == pytest.approx((3.2, np.sqrt(12.8 / 5)))
    assert (every["n"], every["n_missing"]) == (5, 1)


def test_one_file_with_raters_in_a_column_is_the_same(tmp_path: Path) -> None:
    made = grades()
    apart, together = tmp_path / "apart", tmp_path / "together"
    apart.mkdir()
    together.mkdir()
    sheets(apart, made, index=True)
    one = pd.concat([frame.assign(rater=rater) for rater, frame in made.items()])
    one.sort_index(kind="stable").to_csv(together / "all.csv", index=False)
    key = ["rater", "doc_id", "criterion"]
    both = [
        read(folder).ratings.sort_values(key, ignore_index=True) for folder in (apart, together)
    ]
    pd.testing.assert_frame_equal(*both)


def test_texts_may_lie_beside_the_sheets(tmp_path: Path) -> None:
    notes = pd.DataFrame({"text": [f"Note {i}." for i in range(30)], "prompt": "Write.\nBriefly."})
    notes.to_csv(tmp_path / "notes.csv", index=False)
    found = read(sheets(tmp_path, grades()))
    assert found.texts.set_index("doc_id").loc["note_30", "text"] == "Note 29."
    assert found.sources["passages"][0] == ["Write.", "Briefly."]
    assert found.warnings == ()


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    made = grades()
    made["ben"] = made["ben"].head(29)
    made["cem"] = made["cem"].rename(columns={"realism_hist": "realism"})
    dana = made["dana"].astype("object")
    dana.loc[2, "consistency"] = "good"
    dana.loc[3, "consistency"] = 6
    made["dana"] = dana
    with pytest.raises(BadInput) as caught:
        read(sheets(tmp_path, made))
    told = "\n".join(caught.value.problems)
    assert "ben.csv: rater 'ben' has 29 rows, others have 30" in told
    assert "cem.csv: line 1: column 'realism_hist' is missing" in told
    assert "dana.csv: line 4: 'consistency' is not a number" in told
    assert "dana.csv: line 5: 'consistency' is outside its scale of 1 to 5 (value 6)" in told
    assert len(caught.value.problems) == 4


def test_rows_out_of_order_and_folders_without_sheets(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no CSV file of a rater"):
        read(tmp_path)
    shuffled = {"ann": grades()["ann"].iloc[::-1]}
    with pytest.raises(BadInput, match="does not number the rows"):
        read(sheets(tmp_path, shuffled, index=True))
    (tmp_path / "notes.csv").write_text("text\nOne.\n", encoding="utf-8")
    with pytest.raises(BadInput, match="has 1 notes, and the raters have 30 rows"):
        read(sheets(tmp_path, {"ann": grades()["ann"]}))
