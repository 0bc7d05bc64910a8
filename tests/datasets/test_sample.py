"""The committed sample is what its README says, and what was planted comes back at its rates."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.registry import load_registry
from metassay.text.headings import divide
from metassay.text.sentences import sentences
from tests.support import planted_sample
from tests.support.sampling import near

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data/sample"
KEY = ["doc_id", "author"]
RATES = json.loads((FOLDER / "planted/rates.json").read_text("utf-8"))
SYSTEMS = [*RATES["systems"]]
TEXTS = 26 * 8 - 1  # one failed


@pytest.fixture(scope="module")
def sample() -> Tables:
    benchmark = load(ROOT).benchmarks["sample"]
    reader = load_registry(ROOT / "data/registry.yaml")[benchmark.dataset].reader
    return ingest(reader, ROOT / benchmark.raw, benchmark.criteria)


@pytest.fixture(scope="module")
def planted() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "planted/statements.csv", keep_default_na=False)


def drawn(rows: pd.DataFrame, column: str, kind: str, rate: str) -> None:
    """Whether each system has so many rows of the kind as its rate says."""
    for system, rates in RATES["systems"].items():
        own = rows[rows["author"] == system]
        near((own[column] == kind).sum(), pd.Series([rates[rate]] * len(own)))


def test_the_files_are_those_that_the_script_makes(tmp_path: Path) -> None:
    planted_sample.write(tmp_path)
    made = sorted(one for one in tmp_path.rglob("*") if one.is_file())
    assert len(made) == 4
    for path in made:
        assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path)).read_bytes(), path


def test_size(sample: Tables) -> None:
    tasks = sample.sources.groupby("task").size().to_dict()
    assert tasks == {"note": 8, "impression": 6, "question": 6, "abstract": 6}
    turns = sample.sources[sample.sources["task"] == "note"]["passages"].map(len)
    assert turns.between(21, 25).all()
    assert len(sample.texts) == 26 * 9
    assert set(sample.texts["author"]) == {"reference", *SYSTEMS}
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < 700_000


def test_one_text_failed(sample: Tables) -> None:
    failed = sample.texts[sample.texts["status"] != "ok"]
    assert failed[[*KEY, "status"]].to_numpy().tolist() == [["note_08", "brief", "error"]]


def test_who_cites_and_whose_citations_do_not_exist(sample: Tables, planted: pd.DataFrame) -> None:
    texts = sample.texts[sample.texts["status"] == "ok"]
    for author, written in texts.groupby("author")["text"]:
        none = author in ("reference", "brief")
        assert written.str.contains(r"\[\d+\]").eq(not none).all(), author
    (warning,) = sample.warnings
    missing = planted[planted["citation"] == "missing"].groupby(KEY).ngroups
    assert warning.startswith(
        f"texts.jsonl: {missing} lines: a citation names a passage that does not exist"
    )
    assert missing > 5


def test_notes_have_their_sections(sample: Tables) -> None:
    notes = sample.texts[sample.texts["doc_id"].str.startswith("note")]
    references = notes[notes["author"] == "reference"].set_index("doc_id")["text"]
    absent = [doc for doc, text in references.items() if len(divide(text, compat="none")) < 4]
    assert absent == ["note_03"]
    assert len({text.split("\n")[0] for text in references}) >= 6  # headings in several forms


def test_each_statement_of_a_reference_is_planted_and_rated(
    sample: Tables, planted: pd.DataFrame
) -> None:
    texts = sample.texts.set_index(KEY)["text"]
    rated = sample.ratings[sample.ratings["criterion"] == "completeness"]
    rated = rated.groupby([*KEY, "rater"])["unit"].agg(list)
    assert len(rated) == TEXTS * 3
    for (doc, author, _), units in rated.items():
        n = len(sentences(texts[doc, "reference"]))
        assert units == [f"claim:{place}" for place in range(n)], (doc, author)
    claims = planted.groupby(KEY)["claim"].agg(list)
    assert len(claims) == TEXTS
    assert all(
        claims[doc, author] == [*range(len(units))] for (doc, author, _), units in rated.items()
    )


def test_faults_come_back_at_their_rates(planted: pd.DataFrame) -> None:
    """Of what each system could get wrong in each way."""
    rows = planted[planted["words"] != "copied before"]
    drawn(rows[rows["claim"] > 0], "fault", "omission", "omission")
    rows = rows[rows["fault"] != "omission"]
    earlier = []
    for kind in ("number", "side", "negation"):
        able = rows["slots"].str.split().map(lambda fits, kind=kind: kind in fits)
        drawn(rows[able & ~rows["fault"].isin(earlier)], "fault", kind, kind)
        earlier.append(kind)
    for system, rates in RATES["systems"].items():  # no question has an invented end
        able = rows[(rows["author"] == system) & ~rows["fault"].isin(earlier)]
        questions = able["doc_id"].str.startswith("question") & (able["slots"] == "")
        chances = pd.Series(np.where(questions, 0, rates["invention"]))
        near((able["fault"] == "invention").sum(), chances)


def test_copying_wrong_citations_and_padding_come_back_at_their_rates(
    planted: pd.DataFrame,
) -> None:
    rows = planted[~planted["doc_id"].str.startswith("note") & (planted["fault"] == "")]
    drawn(rows[rows["words"] != "copied before"], "words", "passages", "copying")
    assert not (planted["doc_id"].str.startswith("note") & (planted["words"] == "passages")).any()
    rows = planted[planted["words"].isin(["reference", "other"])]
    cited = rows[rows["author"] != "brief"]
    wrong = cited.assign(citation=cited["citation"].replace("missing", "wrong"))
    for system, own in wrong.groupby("author"):
        rate = RATES["systems"][system]["citation"]
        assert abs((own["citation"] == "wrong").mean() - rate) < 0.06, system
    padded = planted.groupby("author")["padded"].mean()
    assert padded["rambling"] > 0.5 > padded["miscounting"] > 0.2
    assert padded.drop(["rambling", "miscounting"]).max() < 0.15


def test_raters_see_what_was_planted_and_misjudge_at_their_rates(
    sample: Tables, planted: pd.DataFrame
) -> None:
    truth = planted.assign(unit="claim:" + planted["claim"].astype(str))
    right = truth.set_index([*KEY, "unit"])["fault"].isin(["", "invention"])
    ratings = sample.ratings[sample.ratings["criterion"] == "completeness"].dropna()
    for rater, own in ratings.groupby("rater"):
        seen = own.set_index([*KEY, "unit"])["value"] == 1
        wrong = seen != right.reindex(seen.index)
        near(wrong.sum(), pd.Series([RATES["raters"][rater]["misjudged"]] * len(wrong)))
    for criterion, rows in sample.ratings.groupby("criterion"):
        near(rows["value"].isna().sum(), pd.Series([RATES["abstained"]] * len(rows))), criterion


def test_usefulness_is_length(sample: Tables) -> None:
    words = sample.texts.set_index(KEY)["text"].str.split().str.len().astype("float64")
    truth = RATES["doubled"] * np.log2(words / RATES["fewest"])
    ratings = sample.ratings[sample.ratings["criterion"] == "usefulness"].dropna()
    for rater, own in ratings.groupby("rater"):
        points = own.set_index(KEY)["value"]
        expected = truth.reindex(points.index) + RATES["raters"][rater]["points"]
        off = points - expected.clip(0, 100)
        assert off.abs().max() <= RATES["noise"] + 2.5, "and rounding to 5"


def test_fewer_faults_are_preferred_at_their_odds(sample: Tables, planted: pd.DataFrame) -> None:
    said = planted[planted["fault"] != "omission"]
    wrong = said["fault"].ne("").groupby([said[name] for name in KEY]).mean()
    rows = sample.ratings[sample.ratings["criterion"] == "preference"].dropna()
    assert rows.groupby("doc_id")["unit"].size().between(7 * 3 - 4, 8 * 3).all()
    first = wrong.reindex(pd.MultiIndex.from_frame(rows[KEY])).to_numpy()
    others = pd.MultiIndex.from_arrays([rows["doc_id"], rows["unit"].str.removeprefix("versus:")])
    odds = RATES["fewer"] * (wrong.reindex(others).to_numpy() - first)
    chance = pd.Series(1 / (1 + np.exp(-odds)))
    tied = (rows["value"] == 0.5).to_numpy()
    near(tied.sum(), pd.Series([RATES["ties"]] * len(rows)))
    near((rows["value"] == 1).sum(), chance[~tied])


def test_it_says_that_it_is_invented() -> None:
    assert "everything in it is invented" in (FOLDER / "README.md").read_text("utf-8")
