"""ScholarSum's arXiv part, on an invented file and, with a mirror, the real one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, spearmanr

from metassay.datasets.ingest import Ingested, ingest
from metassay.datasets.scholarsum import ABSTRACTS, FACETS, METRICS, SYSTEMS
from metassay.errors import BadInput
from metassay.metrics.catalogue import descriptions
from metassay.options import Criterion
from metassay.params import load

ROOT = Path(__file__).parents[2]
SCALES = {n: Criterion(low=0, high=1, better="higher") for n in ("overall", *FACETS)}
KEY = ["doc_id", "author"]


def paper(number: int) -> dict[str, Any]:
    found: dict[str, Any] = {"article": f"A {number} .\n\n B .", "human": "We did.", "rest": 1}
    for place, system in enumerate(SYSTEMS):
        found[system] = f"{system} on {number}"
        found[f"{system}_human"] = 0.5
        found[f"{system}_human_list"] = [1.0, 0.25, 0.5, 0.0]
        found |= {f"{system}_{name}": place / 10 + number for name in METRICS}
    return found


def put(folder: Path, *papers: object) -> Path:
    (folder / ABSTRACTS).write_text("\n".join(map(json.dumps, papers)), encoding="utf-8")
    return folder


def test_a_paper_is_a_line(tmp_path: Path) -> None:
    found = ingest("scholarsum", put(tmp_path, paper(0), paper(1)), SCALES)
    assert found.sources["passages"].tolist() == [["A 0 .", "B ."], ["A 1 .", "B ."]]
    texts = found.texts.set_index(KEY)["text"]
    assert texts["arxiv_01", "llama2_70b"] == "llama2_70b on 1"
    assert texts["arxiv_00", "reference"] == "We did."
    assert len(texts) == 2 * 5
    ratings = found.ratings.set_index([*KEY, "criterion"])["value"]
    assert ratings["arxiv_00", "gpt35", "method"] == 0.25
    assert pd.isna(ratings["arxiv_00", "gpt35", "conclusion"])  # 0: not in the reference
    scores = found.measurements.set_index([*KEY, "metric"])["value"]
    assert scores["arxiv_01", "factsum", "scholarsum_gpt4"] == 1.1
    assert len(scores) == 2 * 4 * 11


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("human", " ", "'human' is no text"),
        ("factsum", None, "'factsum' is no text"),
        ("gpt35_delta", "low", "'gpt35_delta' is no finite number"),
        ("gpt35_human", True, "'gpt35_human' is no finite number"),
        ("gpt35_human", 1.5, "'overall' is outside its scale of 0 to 1"),
        ("gpt35_human_list", [1, 1, 1], "'gpt35_human_list' is not a list of 4 numbers"),
    ],
)
def test_faults_are_told_with_their_line(
    tmp_path: Path, name: str, value: object, expected: str
) -> None:
    with pytest.raises(BadInput) as caught:
        ingest("scholarsum", put(tmp_path, paper(0), paper(1) | {name: value}), SCALES)
    (found,) = caught.value.problems
    assert found.startswith(f"{ABSTRACTS}: line 2: {expected}")


def test_files_that_hold_something_else(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not in"):
        ingest("scholarsum", tmp_path, SCALES)
    with pytest.raises(BadInput, match="is not an object with named values"):
        ingest("scholarsum", put(tmp_path, [1]), SCALES)


@pytest.fixture(scope="module")
def real(mirror: Path) -> Ingested:
    criteria = load(ROOT).benchmarks["scholarsum_arxiv"].criteria
    return ingest("scholarsum", mirror / "scholarsum_arxiv", criteria)


def overall(real: Ingested) -> pd.DataFrame:
    """Metrics and the overall rating of the 200 texts."""
    people = real.ratings.pivot(index=KEY, columns="criterion", values="value")
    metrics = real.measurements.pivot(index=KEY, columns="metric", values="value")
    return people.join(metrics, how="inner")


# All 200 items, Pearson and Spearman with the human overall score, on the released digits.
KNOWN = {
    "scholarsum_rougeL": (0.238, 0.258),
    "scholarsum_bertscore": (0.249, 0.246),
    "scholarsum_delta": (-0.016, -0.001),
    "scholarsum_questeval": (0.313, 0.324),
    "scholarsum_acu": (-0.011, -0.083),
    "scholarsum_fm_llama": (0.588, 0.574),
    "scholarsum_fm_gpt35": (0.543, 0.528),
    "scholarsum_fm_gpt4": (0.702, 0.693),
    "scholarsum_gpt4": (0.258, 0.280),
}


def test_the_real_file_gives_the_known_correlations(real: Ingested) -> None:
    assert (len(real.sources), len(real.texts), len(real.ratings)) == (50, 250, 1000)
    assert set(METRICS.values()) <= set(descriptions())
    both = overall(real)
    assert len(both) == 200
    for metric, known in KNOWN.items():
        found = [f(both[metric], both["overall"]).statistic for f in (pearsonr, spearmanr)]
        assert found == pytest.approx(known, abs=0.0005), metric


def test_twelve_digits_tie_what_was_released_apart(real: Ingested) -> None:
    """Why the report's Spearman correlations differ in the third decimal."""
    both = overall(real)
    assert {0.5, 0.49999999999999994} <= set(both["overall"])
    rounded = both.map(lambda value: float(f"{value:.12g}"))
    found = spearmanr(rounded["scholarsum_rougeL"], rounded["overall"]).statistic
    assert found == pytest.approx(0.262, abs=0.0005)


def test_overall_is_the_weighted_mean_of_the_facets_that_are_scored(real: Ingested) -> None:
    both = overall(real)
    facets = both[list(FACETS)].to_numpy()
    weights = np.where(np.isnan(facets), 0.0, [0.1, 0.3, 0.3, 0.3])
    means = np.sum(np.nan_to_num(facets) * weights, axis=1) / np.sum(weights, axis=1)
    assert both["overall"].to_numpy() == pytest.approx(means, abs=1e-9)


def test_the_first_44_papers_give_most_of_the_printed_means(real: Ingested) -> None:
    printed = pd.read_csv(ROOT / "reports/published/fm_table4.csv", keep_default_na=False)
    authors = {
        "GPT-3.5": "gpt35",
        "Llama2": "llama2_70b",
        "FactSum": "factsum",
        "BART-Large": "bart_large",
    }
    columns = {
        "ROUGE-L": "scholarsum_rougeL",
        "BERTScore": "scholarsum_bertscore",
        "DELTA": "scholarsum_delta",
        "QuestEval": "scholarsum_questeval",
        "ACU": "scholarsum_acu",
        "FM GPT-3.5": "scholarsum_fm_gpt35",
        "FM GPT-4": "scholarsum_fm_gpt4",
        "Human (facet-aware overall score) human": "overall",
    }
    first = overall(real).loc["arxiv_00":"arxiv_43"].groupby("author").mean()  # type: ignore[misc]
    agreeing = [
        abs(
            first.loc[
                authors[row["system_or_metric"]],
                columns[f"{row['quantity']} {row['evaluator']}".strip()],
            ]
            - row["value"]
        )
        < 0.00005
        for row in printed.to_dict("records")
    ]
    assert (len(agreeing), sum(agreeing)) == (32, 26)
