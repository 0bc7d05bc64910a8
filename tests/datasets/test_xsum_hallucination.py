"""XSum's annotations: rows joined by key, spans to words, on invented files and the real ones."""

import csv
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import spearmanr

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.scored_texts import XSUM_FACTS as FACTS
from metassay.datasets.scored_texts import XSUM_METRICS as METRICS
from metassay.datasets.scored_texts import XSUM_SCORES as SCORES
from metassay.datasets.scored_texts import XSUM_SPANS as SPANS
from metassay.scoring.catalogue import descriptions

ROOT = Path(__file__).parents[2]
SCALES = {
    name: Criterion(low=0, high=1, better="higher")
    for name in ("faithfulness", "factuality", "faithful_released", "factual_released")
}
HEADERS = {
    SPANS: "bbcid,system,summary,hallucination_type,hallucinated_span,hallucinated_span_start,"
    "hallucinated_span_end,worker_id",
    FACTS: "bbcid,system,summary,is_factual,worker_id",
    SCORES: "system_bbcid,R1,R2,RL,BERTScore,Entailment,Faithful,Factual",
}
ESCAPED = r"the mayor\'s red car won"  # in the files of spans
PLAIN = "the mayor's red car won"
#        1   5       13  17  21    1-based starts of its five words


def rows() -> dict[str, list[list[str]]]:
    """Two systems and the reference on article 7."""
    return {
        SPANS: [
            ["7", "BERTS2S", ESCAPED, "extrinsic", "red car", "13", "20", "wid_0"],
            ["7", "BERTS2S", ESCAPED, "intrinsic", "car won", "17", "24", "wid_0"],
            ["7", "BERTS2S", ESCAPED, "NULL", "NULL", "-1", "-1", "wid_1"],
            ["7", "TranS2S", "it rained", "extrinsic", "it rained", "0", "40", "wid_0"],
            ["7", "Gold", "the mayor won", "NULL", "NULL", "-1", "-1", "wid_0"],
        ],
        FACTS: [
            ["7", "BERTS2S", PLAIN, "yes", "wid_0"],
            ["7", "BERTS2S", PLAIN, "no", "wid_1"],
            ["7", "BERTS2S", PLAIN, "NULL", "wid_2"],
        ],
        SCORES: [
            ["bert_nockpt_7", "0", ".2", ".3", ".4", "1e-05", ".6", ".7"],
            ["bert_withckpt_7", ".5", ".4", ".3", ".2", ".1", "1", "0"],
        ],
    }


def put(folder: Path, files: dict[str, list[list[str]]]) -> Path:
    for name, body in files.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([HEADERS[name].split(","), *body])
    return folder


def problem(folder: Path) -> str:
    with pytest.raises(BadInput) as caught:
        ingest("xsum_hallucination", folder, SCALES)
    (found,) = caught.value.problems
    return found


def test_rows_are_joined_by_article_and_system(tmp_path: Path) -> None:
    found = ingest("xsum_hallucination", put(tmp_path, rows()), SCALES)
    (source,) = found.sources.to_dict("records")
    assert (source["doc_id"], source["passages"]) == ("xsum_7", [])
    texts = found.texts.set_index("author")["text"]
    assert texts.to_dict() == {
        "berts2s": PLAIN,
        "trans2s": "it rained",
        "reference": "the mayor won",
    }
    ratings = found.ratings.set_index(["author", "criterion", "rater"])["value"].sort_index()
    # wid_0 marked the words "red", "car" and "won" of five, "car" twice.
    assert ratings["berts2s", "faithfulness", "wid_0"] == pytest.approx(2 / 5)
    assert ratings["berts2s", "faithfulness", "wid_1"] == 1
    # A span from 0 to past the end is the whole text.
    assert ratings["trans2s", "faithfulness", "wid_0"] == 0
    assert ratings["berts2s", "factuality", "wid_0"] == 1
    assert ratings["berts2s", "factuality", "wid_1"] == 0
    assert pd.isna(ratings["berts2s", "factuality", "wid_2"])
    assert ("trans2s", "factuality", "wid_0") not in ratings  # was not asked
    assert ratings["trans2s", "faithful_released", "released"] == 0.6
    scores = found.measurements.set_index(["author", "metric"])
    assert scores["value"]["trans2s", "xsum_entailment"] == 1e-05
    assert scores["value"]["berts2s", "xsum_rouge1"] == 0.5
    assert len(scores) == 10
    assert scores["recipe"]["berts2s", "xsum_rouge1"] == (
        "xsum_rouge1|given|reader:xsum_hallucination"
    )


@pytest.mark.parametrize(
    ("name", "row", "column", "value", "expected"),
    [
        (SPANS, 0, 1, "LSTM", "does not hold what was released (KeyError)"),
        (FACTS, 0, 3, "maybe", "does not hold what was released (KeyError)"),
        (FACTS, 1, 0, "8", "line 3: system 'berts2s' has no text for the document in"),
        (FACTS, 1, 4, "wid_0", "line 3: the key"),
        (SCORES, 0, 0, "lstm_7", "does not hold what was released (KeyError)"),
        (SCORES, 1, 1, "high", "line 3: 'R1' is not a finite number"),
        (SCORES, 1, 1, "nan", "line 3: 'R1' is not a finite number"),
        (SCORES, 1, 6, "1.5", "line 3: 'faithful_released' is outside its scale of 0 to 1"),
    ],
)
def test_faults_are_told_with_their_line(
    tmp_path: Path, name: str, row: int, column: int, value: str, expected: str
) -> None:
    files = rows()
    files[name][row][column] = value
    found = problem(put(tmp_path, files))
    assert expected in found
    assert "mayor" not in found


def test_a_score_that_is_there_twice(tmp_path: Path) -> None:
    files = rows()
    files[SCORES].append(files[SCORES][0])
    with pytest.raises(BadInput) as caught:
        ingest("xsum_hallucination", put(tmp_path, files), SCALES)
    assert all("is there twice" in found for found in caught.value.problems)


def test_every_metric_is_described() -> None:
    assert set(METRICS.values()) <= set(descriptions())


@pytest.fixture(scope="module")
def real(mirror: Path) -> Tables:
    criteria = load(ROOT).benchmarks["xsum_hallucination"].criteria
    return ingest("xsum_hallucination", mirror / "xsum_hallucination", criteria)


def test_the_real_files(real: Tables) -> None:
    assert (len(real.sources), len(real.texts)) == (500, 2500)
    assert len(real.measurements) == 5 * 1992
    counts = real.ratings.groupby("criterion").size().to_dict()
    released = {"faithful_released": 1992, "factual_released": 1992}
    assert counts == {"faithfulness": 7499, "factuality": 5597} | released


def joined(real: Tables, criterion: str) -> pd.DataFrame:
    """Metrics and the mean rating, one row per text that has both."""
    key = ["doc_id", "author"]
    people = real.ratings[real.ratings["criterion"] == criterion].groupby(key)["value"].mean()
    metrics = real.measurements.pivot(index=key, columns="metric", values="value")
    return metrics.join(people.rename("people"), how="inner").dropna()


@pytest.mark.parametrize(
    ("criterion", "n", "expected"),
    [
        # Maynez et al.: Spearman of R1, R2, RL, BERTScore and entailment.
        ("faithful_released", 1992, [0.197, 0.162, 0.162, 0.190, 0.431]),
        ("factual_released", 1992, [0.125, 0.095, 0.113, 0.116, 0.264]),
        # Ours, from the raters' own spans and answers (docs/benchmarks.md says why they differ).
        ("faithfulness", 1992, [0.1974, 0.1602, 0.1589, 0.1831, 0.4448]),
        ("factuality", 1858, [0.1376, 0.1125, 0.1367, 0.1480, 0.1342]),
    ],
)
def test_correlations_to_three_digits(
    real: Tables, criterion: str, n: int, expected: list[float]
) -> None:
    both = joined(real, criterion)
    assert len(both) == n
    found = [spearmanr(both[metric], both["people"]).statistic for metric in METRICS.values()]
    assert found == pytest.approx(expected, abs=0.0005)


def test_released_factuality_is_the_raters_mean_and_1_where_nobody_was_asked(
    real: Tables,
) -> None:
    values = {
        criterion: real.ratings[real.ratings["criterion"] == criterion]
        .groupby(["doc_id", "author"])["value"]
        .mean()
        for criterion in ("factuality", "factual_released")
    }
    ours = values["factuality"].reindex(values["factual_released"].index).fillna(1)
    assert ((ours - values["factual_released"]).abs() < 1e-6).sum() == 1990
