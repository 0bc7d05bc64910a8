"""ScholarSum's arXiv part, on an invented file and, with a mirror, the real one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from metassay.core.errors import BadInput
from metassay.core.options import Criterion, parse
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.registry import Dataset, place_problems
from metassay.datasets.scored_texts import FACETS
from metassay.datasets.scored_texts import SCHOLARSUM_METRICS as METRICS
from metassay.scoring.catalogue import descriptions
from metassay.tables.parquet import read, write
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.meta_evaluation.invented_study import OPTIONS, correlated, scores_of

ROOT = Path(__file__).parents[2]
SCALES = {n: Criterion(low=0, high=1, better="higher") for n in ("overall", *FACETS)}
KEY = ["doc_id", "author"]


ABSTRACTS = "arxiv.json"
SYSTEMS = ("bartlarge", "factsum", "gpt35", "llama2_70b")
LISTS = {"gpt35_fm_list": [1.0, 0.5, 0.25, 0.75], "gpt4_fm_list": [0.5, 0.25, 1.0, 0.5]}
FM_FACETS = {f"scholarsum_fm_{judge}_{facet}" for judge in ("gpt35", "gpt4") for facet in FACETS}


def aspects(**facets: object) -> str:
    return json.dumps({facet: "" for facet in FACETS} | facets)


def paper(number: int, systems: tuple[str, ...] = SYSTEMS) -> dict[str, Any]:
    found: dict[str, Any] = {"article": f"A {number} .\n\n B .", "human": "We did. It holds."}
    found["human_aspect"] = aspects(method="We did.", result="It holds.")
    for place, system in enumerate(systems):
        found[system] = f"{system} on {number}"
        found[f"{system}_aspect"] = aspects(background=f"{system} on {number}")
        found[f"{system}_human"] = 0.5
        found[f"{system}_human_list"] = [1.0, 0.25, 0.5, 0.0]
        found |= {f"{system}_{name}": place / 10 + number for name in METRICS}
        found |= {f"{system}_{name}": values for name, values in LISTS.items()}
    return found


def put(folder: Path, *papers: object) -> Path:
    (folder / ABSTRACTS).write_text("\n".join(map(json.dumps, papers)), encoding="utf-8")
    return folder


def test_a_paper_is_a_line(tmp_path: Path) -> None:
    found = ingest("scholarsum", put(tmp_path, paper(0), paper(1)), SCALES)
    assert found.sources["passages"].tolist() == [["A 0 .", "B ."], ["A 1 .", "B ."]]
    texts = found.texts.set_index(KEY)["text"]
    assert texts["arxiv_01", "llama2_70b"] == "llama2_70b on 1"
    assert texts["arxiv_00", "reference"] == "We did. It holds."
    assert len(texts) == 2 * 5
    ratings = found.ratings.set_index([*KEY, "criterion"])["value"]
    assert ratings["arxiv_00", "gpt35", "method"] == 0.25
    assert pd.isna(ratings["arxiv_00", "gpt35", "conclusion"])  # 0: not in the reference
    assert set(found.ratings["study"]) == {"scholarsum_arxiv"}
    assert not found.warnings


def test_released_metrics_come_along_also_by_facet(tmp_path: Path) -> None:
    found = ingest("scholarsum", put(tmp_path, paper(0), paper(1)), SCALES)
    scores = found.measurements.set_index([*KEY, "metric"])["value"]
    assert scores["arxiv_01", "factsum", "scholarsum_gpt4"] == 1.1
    assert scores["arxiv_00", "bart_large", "scholarsum_fm_gpt35_method"] == 0.5
    assert scores["arxiv_00", "bart_large", "scholarsum_fm_gpt4_result"] == 1.0
    assert pd.isna(scores["arxiv_00", "bart_large", "scholarsum_fm_gpt4_conclusion"])
    named = {*METRICS.values(), *FM_FACETS}
    assert set(found.measurements["metric"]) == named
    assert len(scores) == 2 * 4 * len(named)
    described = descriptions()
    assert all(described[name].better == "higher" for name in FM_FACETS)
    assert described["scholarsum_delta"].better == "lower"


def test_facets_are_segments_and_an_empty_one_has_none(tmp_path: Path) -> None:
    found = ingest("scholarsum", put(tmp_path, paper(0)), SCALES)
    segments = found.segments.set_index(["doc_id", "author", "part"])["text"].sort_index()
    assert segments["arxiv_00", "reference"].to_dict() == {
        "method": "We did.",
        "result": "It holds.",
    }
    assert segments["arxiv_00", "gpt35"].to_dict() == {"background": "gpt35 on 0"}
    assert len(segments) == 2 + 4


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("human", " ", "'human' is not text"),
        ("factsum", None, "'factsum' is not text"),
        ("gpt35_delta", "low", "'gpt35_delta' is not a finite number"),
        ("gpt35_human", True, "'gpt35_human' is not a finite number"),
        ("gpt35_human", 1.5, "'overall' is outside its scale of 0 to 1"),
        ("gpt35_human_list", [1, 1, 1], "'gpt35_human_list' is not a list of 4 numbers"),
        ("gpt35_gpt4_fm_list", "[1]", "'gpt35_gpt4_fm_list' is not a list of 4 numbers"),
        ("gpt35_aspect", [], "'gpt35_aspect' is not an object of facets written as JSON"),
        ("gpt35_aspect", aspects(result=3), "'gpt35_aspect > result' is not text"),
    ],
)
def test_faults_are_told_with_their_line(
    tmp_path: Path, name: str, value: object, expected: str
) -> None:
    with pytest.raises(BadInput) as caught:
        ingest("scholarsum", put(tmp_path, paper(0), paper(1) | {name: value}), SCALES)
    (found,) = caught.value.problems
    assert found.startswith(f"{ABSTRACTS}: line 2: {expected}")


def test_a_facet_that_is_no_json_is_told_with_its_key(tmp_path: Path) -> None:
    broken = paper(1) | {"gpt35_aspect": '{"background": "cut off'}
    with pytest.raises(BadInput) as caught:
        ingest("scholarsum", put(tmp_path, paper(0), broken), SCALES)
    (found,) = caught.value.problems
    assert found.startswith(f"{ABSTRACTS}: line 2 > 'gpt35_aspect': is not valid JSON")
    assert "cut off" not in found


ODD = [
    ({"background": "A."}, "'gpt35_aspect > method' is not there; it counts as absent", []),
    ({"method": ["A.", "B."]}, "'gpt35_aspect > method' is a list, not a text", ["A. B."]),
    ({"aim": "To win."}, "'gpt35_aspect' has another facet, 'aim'; it is not read", []),
]


@pytest.mark.parametrize(("facets", "expected", "texts"), ODD)
def test_odd_facets_are_named(
    tmp_path: Path, facets: dict[str, object], expected: str, texts: list[str]
) -> None:
    if "background" not in facets:
        facets = json.loads(aspects(**facets))
    odd = paper(0) | {"gpt35_aspect": json.dumps(facets)}
    found = ingest("scholarsum", put(tmp_path, odd), SCALES)
    assert f"{ABSTRACTS}: line 1: {expected}" in "\n".join(found.warnings)
    segments = found.segments.set_index(["author", "part"])["text"]
    assert [text for key, text in segments.items() if key == ("gpt35", "method")] == texts


def test_what_nobody_reads_and_what_is_there_twice_are_named(tmp_path: Path) -> None:
    changed = paper(0) | {"gpt35": "Another one."}
    folder = put(tmp_path, paper(0) | {"old": "x"}, paper(1), paper(1), changed)
    found = ingest("scholarsum", folder, SCALES)
    assert sorted(found.sources["doc_id"]) == ["arxiv_00", "arxiv_01", "arxiv_03"]
    told = "\n".join(found.warnings)
    assert "line 1: 'old' is not read" in told
    assert "line 3: is the same record as an earlier line (as line 2); it is read once" in told
    assert "line 4: has the article of an earlier line, and differs in something else" in told


def test_files_that_hold_something_else(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"has 0 files \*.json"):
        ingest("scholarsum", tmp_path, SCALES)
    with pytest.raises(BadInput, match="is not an object with named values"):
        ingest("scholarsum", put(tmp_path, [1]), SCALES)
    with pytest.raises(BadInput, match="has no system that people scored"):
        ingest("scholarsum", put(tmp_path, {"article": "A.", "human": "B."}), SCALES)
    (tmp_path / "pubmed.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"has 2 files \*.json"):
        ingest("scholarsum", tmp_path, SCALES)


def test_another_part_of_the_set_needs_a_folder_and_no_code(tmp_path: Path) -> None:
    """Its file has another name, other systems, and not every metric."""
    systems = ("longt5", "bigbird_block")
    papers = [paper(number, systems) for number in range(3)]
    for one in papers:
        del one["longt5_geval"], one["bigbird_block_geval"], one["longt5_acu3"]
    (tmp_path / "pubmed.json").write_text("\n".join(map(json.dumps, papers)), encoding="utf-8")
    entry = {
        "reader": "scholarsum",
        "title": "Mine",
        "licence": "internal",
        "folder": str(tmp_path),
        "access": "private",
    }
    dataset = parse(Dataset, entry, where="mine")
    assert place_problems("mine", dataset, tmp_path) == []
    found = ingest(dataset.reader, tmp_path, SCALES, dataset="mine")
    assert list(found.sources["doc_id"]) == ["pubmed_00", "pubmed_01", "pubmed_02"]
    assert set(found.texts["author"]) == {"reference", *systems}
    assert set(found.ratings["study"]) == {"scholarsum_pubmed"}
    by_author = found.measurements.groupby("author")["metric"].agg(set)
    assert by_author["bigbird_block"] - by_author["longt5"] == {"scholarsum_acu"}
    assert "scholarsum_geval" not in by_author["bigbird_block"]


@pytest.fixture(scope="module")
def real(mirror: Path) -> Tables:
    criteria = load(ROOT).benchmarks["scholarsum_arxiv"].criteria
    return ingest("scholarsum", mirror / "scholarsum_arxiv", criteria)


def overall(real: Tables) -> pd.DataFrame:
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


def test_the_real_file_gives_the_known_correlations(real: Tables) -> None:
    assert (len(real.sources), len(real.texts), len(real.ratings)) == (50, 250, 1000)
    assert set(METRICS.values()) | FM_FACETS <= set(descriptions())
    both = overall(real)
    assert len(both) == 200
    for metric, known in KNOWN.items():
        found = [f(both[metric], both["overall"]).statistic for f in (pearsonr, spearmanr)]
        assert found == pytest.approx(known, abs=0.0005), metric


def test_ranks_are_of_the_released_digits(real: Tables, tmp_path: Path) -> None:
    """As tables keep them: .5 and .49999999999999994 are two ranks, in 12 digits one."""
    both = overall(real)
    assert {0.5, 0.49999999999999994} <= set(both["overall"])
    scores = pd.concat(
        [scores_of(both[metric].to_dict(), metric=metric) for metric in KNOWN], ignore_index=True
    )
    write(SCORES, scores, tmp_path / "scores.parquet")
    write(RATINGS, real.ratings[list(RATINGS.columns)], tmp_path / "ratings.parquet")
    scores, ratings = (
        read(SCORES, tmp_path / "scores.parquet"),
        read(RATINGS, tmp_path / "ratings.parquet"),
    )
    found = correlated(scores, ratings, SCALES, OPTIONS.model_copy(update={"permutations": 20}))
    whole = found[(found["criterion"] == "overall") & (found["level"] == "global")]
    table = whole.set_index(["metric", "coefficient"])["value"]
    for metric, known in KNOWN.items():
        assert table[metric, "spearman"] == pytest.approx(known[1], abs=0.0005), metric
        for coefficient, oracle in (("spearman", spearmanr), ("kendall", kendalltau)):
            expected = oracle(both[metric], both["overall"]).statistic
            assert table[metric, coefficient] == pytest.approx(expected, abs=1e-11), metric


def test_overall_is_the_weighted_mean_of_the_facets_that_are_scored(real: Tables) -> None:
    both = overall(real)
    facets = both[list(FACETS)].to_numpy()
    weights = np.where(np.isnan(facets), 0.0, [0.1, 0.3, 0.3, 0.3])
    means = np.sum(np.nan_to_num(facets) * weights, axis=1) / np.sum(weights, axis=1)
    assert both["overall"].to_numpy() == pytest.approx(means, abs=1e-9)


def test_the_real_facets(real: Tables) -> None:
    found = real.segments.groupby("author")["part"].count()
    assert found.to_dict() == {
        "reference": 182,
        "bart_large": 170,
        "factsum": 176,
        "gpt35": 180,
        "llama2_70b": 187,
    }
    assert [line.split(":")[1] for line in real.warnings] == [" 50 lines", " 50 lines"]  # bartbase


def test_facet_grades_of_metrics_make_the_metric_on_the_facets_that_people_scored(
    real: Tables,
) -> None:
    """Of 34 facets that people did not score, the file has grades by metrics all the same."""
    both = overall(real)
    for judge in ("gpt35", "gpt4"):
        name = f"scholarsum_fm_{judge}"
        facets = both[[f"{name}_{facet}" for facet in FACETS]].to_numpy()
        assert np.isnan(facets).sum() == 34
        weights = np.where(np.isnan(facets), 0.0, [0.1, 0.3, 0.3, 0.3])
        means = np.sum(np.nan_to_num(facets) * weights, axis=1) / np.sum(weights, axis=1)
        assert both[name].to_numpy() == pytest.approx(means, abs=1e-9)


def test_the_first_44_papers_give_most_of_the_printed_means(real: Tables) -> None:
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
    differing = {}
    cells = printed.to_dict("records")
    for row in cells:
        column = f"{row['quantity']} {row['evaluator']}".strip()
        ours = first.loc[authors[row["system_or_metric"]], columns[column]]
        if abs(ours - row["value"]) >= 0.00005:
            differing[row["system_or_metric"], columns[column]] = round(ours, 4)
    assert len(cells) == 32
    assert differing == {
        ("GPT-3.5", "overall"): 0.6573,
        ("Llama2", "scholarsum_fm_gpt35"): 0.6761,
        ("Llama2", "scholarsum_fm_gpt4"): 0.7069,
        ("Llama2", "overall"): 0.7385,
        ("FactSum", "scholarsum_fm_gpt35"): 0.6527,
        ("BART-Large", "overall"): 0.6371,
    }
