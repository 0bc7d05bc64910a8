"""ScholarSum's arXiv part, on an invented file and, with a mirror, the real one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from metassay.core.options import Criterion, parse
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.registry import Dataset, place_problems
from metassay.datasets.scored_texts import FACETS
from metassay.datasets.scored_texts import SCHOLARSUM_METRICS as METRICS
from metassay.scoring.catalogue import descriptions
from metassay.tables.parquet import round_trip
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.datasets.reading import ROOT, problems, put_lines
from tests.meta_evaluation.invented_study import OPTIONS, correlated, scores_of

SCALES = {n: Criterion(low=0, high=1, better="higher") for n in ("overall", *FACETS)}
KEY = ["doc_id", "author"]
SYSTEMS = ("bartlarge", "factsum", "gpt35", "llama2_70b")
LISTS = {"gpt35_fm_list": [1.0, 0.5, 0.25, 0.75], "gpt4_fm_list": [0.5, 0.25, 1.0, 0.5]}
FM_FACETS = {
    f"scholarsum_fm_{judge}_{facet}" for judge in ("gpt35", "gpt4") for facet in FACETS
}


def aspects(**facets: object) -> str:
    return json.dumps({facet: "" for facet in FACETS} | facets)


def paper(
    number: int, systems: tuple[str, ...] = SYSTEMS, **changes: Any
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "article": f"A {number} .\n\n B .",
        "human": "We did. It holds.",
    }
    fields["human_aspect"] = aspects(method="We did.", result="It holds.")
    for place, system in enumerate(systems):
        fields[system] = f"{system} on {number}"
        fields[f"{system}_aspect"] = aspects(background=f"{system} on {number}")
        fields[f"{system}_human"] = 0.5
        fields[f"{system}_human_list"] = [1.0, 0.25, 0.5, 0.0]
        fields |= {f"{system}_{name}": place / 10 + number for name in METRICS}
        fields |= {f"{system}_{name}": values for name, values in LISTS.items()}
    return fields | changes


def read(folder: Path, *papers: object) -> Tables:
    return ingest("scholarsum", put_lines(folder / "arxiv.json", *papers), SCALES)


def test_a_paper_is_a_line(tmp_path: Path) -> None:
    tables = read(tmp_path, paper(0), paper(1))
    assert not tables.warnings
    assert tables.sources["passages"].tolist() == [["A 0 .", "B ."], ["A 1 .", "B ."]]
    texts = tables.texts.set_index(KEY)["text"]
    assert texts["arxiv_01", "llama2_70b"] == "llama2_70b on 1"
    assert texts["arxiv_00", "reference"] == "We did. It holds."
    assert len(texts) == 2 * 5
    ratings = tables.ratings.set_index([*KEY, "criterion"])["value"]
    assert ratings["arxiv_00", "gpt35", "method"] == 0.25
    # 0: not in the reference
    assert pd.isna(ratings["arxiv_00", "gpt35", "conclusion"])
    assert set(tables.ratings["study"]) == {"scholarsum_arxiv"}
    scores = tables.measurements.set_index([*KEY, "metric"])["value"]
    assert scores["arxiv_01", "factsum", "scholarsum_gpt4"] == 1.1
    assert scores["arxiv_00", "bart_large", "scholarsum_fm_gpt35_method"] == 0.5
    assert scores["arxiv_00", "bart_large", "scholarsum_fm_gpt4_result"] == 1.0
    assert pd.isna(scores["arxiv_00", "bart_large", "scholarsum_fm_gpt4_conclusion"])
    names = {*METRICS.values(), *FM_FACETS}
    assert set(tables.measurements["metric"]) == names
    assert len(scores) == 2 * 4 * len(names)
    described = descriptions()
    assert names <= set(described)
    assert all(described[name].better == "higher" for name in FM_FACETS)
    assert described["scholarsum_delta"].better == "lower"
    segments = tables.segments.set_index(["doc_id", "author", "part"])[
        "text"
    ].sort_index()
    assert segments["arxiv_00", "reference"].to_dict() == {
        "method": "We did.",
        "result": "It holds.",
    }
    assert segments["arxiv_00", "gpt35"].to_dict() == {"background": "gpt35 on 0"}
    assert len(segments) == 2 * (2 + 4)  # an empty facet has none


@pytest.mark.parametrize(
    ("name", "value", "start"),
    [
        ("human", " ", ": 'human' is not text"),
        ("factsum", None, ": 'factsum' is not text"),
        ("gpt35_delta", "low", ": 'gpt35_delta' is not a finite number"),
        ("gpt35_human", True, ": 'gpt35_human' is not a finite number"),
        ("gpt35_human", 1.5, ": 'overall' is outside its scale of 0 to 1"),
        (
            "gpt35_human_list",
            [1, 1, 1],
            ": 'gpt35_human_list' is not a list of 4 numbers",
        ),
        (
            "gpt35_gpt4_fm_list",
            "[1]",
            ": 'gpt35_gpt4_fm_list' is not a list of 4 numbers",
        ),
        (
            "gpt35_aspect",
            [],
            ": 'gpt35_aspect' is not an object of facets written as JSON",
        ),
        ("gpt35_aspect", aspects(result=3), ": 'gpt35_aspect > result' is not text"),
        (
            "gpt35_aspect",
            '{"background": "cut off',
            " > 'gpt35_aspect': is not valid JSON",
        ),
    ],
)
def test_faults_are_told_with_their_line(
    tmp_path: Path, name: str, value: object, start: str
) -> None:
    put_lines(tmp_path / "arxiv.json", paper(0), paper(1, **{name: value}))
    (line,) = problems("scholarsum", tmp_path, SCALES)
    assert line.startswith(f"arxiv.json: line 2{start}")
    assert "cut off" not in line


@pytest.mark.parametrize(
    ("facets", "text", "method"),
    [
        (
            '{"background": "A."}',
            "'gpt35_aspect > method' is not there; it counts as absent",
            [],
        ),
        (
            aspects(method=["A.", "B."]),
            "'gpt35_aspect > method' is a list, not a text",
            ["A. B."],
        ),
        (
            aspects(aim="To win."),
            "'gpt35_aspect' has another facet, 'aim'; it is not read",
            [],
        ),
    ],
)
def test_odd_facets_are_named(
    tmp_path: Path, facets: str, text: str, method: list[str]
) -> None:
    tables = read(tmp_path, paper(0, gpt35_aspect=facets))
    assert any(
        line.startswith(f"arxiv.json: line 1: {text}") for line in tables.warnings
    )
    rows = tables.segments[tables.segments["author"] == "gpt35"]
    assert rows[rows["part"] == "method"]["text"].tolist() == method


def test_what_nobody_reads_and_what_is_there_twice_are_named(tmp_path: Path) -> None:
    tables = read(
        tmp_path, paper(0, old="x"), paper(1), paper(1), paper(0, gpt35="Another one.")
    )
    assert sorted(tables.sources["doc_id"]) == ["arxiv_00", "arxiv_01", "arxiv_03"]
    lines = "\n".join(tables.warnings)
    assert "line 1: 'old' is not read" in lines
    assert (
        "line 3: is the same record as an earlier line (as line 2); it is read once"
        in lines
    )
    assert (
        "line 4: has the article of an earlier line, and differs in something else"
        in lines
    )


def test_files_that_hold_something_else(tmp_path: Path) -> None:
    def problem() -> str:
        return problems("scholarsum", tmp_path)[0]

    assert "has 0 files *.json" in problem()
    put_lines(tmp_path / "arxiv.json", [1])
    assert "is not an object with named values" in problem()
    put_lines(tmp_path / "arxiv.json", {"article": "A.", "human": "B."})
    assert "has no system that people scored" in problem()
    put_lines(tmp_path / "pubmed.json", {})
    assert "has 2 files *.json" in problem()


def test_another_part_of_the_set_needs_a_folder_and_no_code(tmp_path: Path) -> None:
    """Its file has another name, other systems, and not every metric."""
    systems = ("longt5", "bigbird_block")
    papers = [paper(number, systems) for number in range(3)]
    for fields in papers:
        del fields["longt5_geval"], fields["bigbird_block_geval"], fields["longt5_acu3"]
    put_lines(tmp_path / "pubmed.json", *papers)
    entry = {
        "reader": "scholarsum",
        "title": "Mine",
        "licence": "internal",
        "access": "private",
    }
    dataset = parse(Dataset, {**entry, "folder": str(tmp_path)}, where="mine")
    assert place_problems("mine", dataset, tmp_path) == []
    tables = ingest(dataset.reader, tmp_path, SCALES, dataset="mine")
    assert list(tables.sources["doc_id"]) == ["pubmed_00", "pubmed_01", "pubmed_02"]
    assert set(tables.texts["author"]) == {"reference", *systems}
    assert set(tables.ratings["study"]) == {"scholarsum_pubmed"}
    by_author = tables.measurements.groupby("author")["metric"].agg(set)
    assert by_author["bigbird_block"] - by_author["longt5"] == {"scholarsum_acu"}
    assert "scholarsum_geval" not in by_author["bigbird_block"]


@pytest.fixture(scope="module")
def real(mirror: Path) -> Tables:
    criteria = load(ROOT).benchmarks["scholarsum_arxiv"].criteria
    return ingest("scholarsum", mirror / "scholarsum_arxiv", criteria)


@pytest.fixture(scope="module")
def both(real: Tables) -> pd.DataFrame:
    """Metrics and ratings of the 200 texts."""
    people = real.ratings.pivot(index=KEY, columns="criterion", values="value")
    metrics = real.measurements.pivot(index=KEY, columns="metric", values="value")
    return people.join(metrics, how="inner")


# All 200 items, Pearson and Spearman with the human overall score, on the released
# digits.
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


def test_the_real_file_gives_the_known_correlations(
    real: Tables, both: pd.DataFrame
) -> None:
    """Ranks are of the released digits: .5 and .49999999999999994 are two, in 12 digits one."""
    assert (len(real.sources), len(real.texts), len(real.ratings)) == (50, 250, 1000)
    authors = ("reference", "bart_large", "factsum", "gpt35", "llama2_70b")
    sizes = dict(zip(authors, (182, 170, 176, 180, 187), strict=True))
    assert real.segments["author"].value_counts().to_dict() == sizes
    # bartbase
    assert [line.split(":")[1] for line in real.warnings] == [" 50 lines", " 50 lines"]
    assert len(both) == 200
    assert {0.5, 0.49999999999999994} <= set(both["overall"])
    scores = pd.concat(
        [scores_of(both[m].to_dict(), metric=m) for m in KNOWN], ignore_index=True
    )
    ratings = round_trip(RATINGS, real.ratings[list(RATINGS.columns)])
    options = OPTIONS.model_copy(update={"permutations": 20})
    table = correlated(round_trip(SCORES, scores), ratings, SCALES, options)
    table = table[(table["criterion"] == "overall") & (table["level"] == "global")]
    values = table.set_index(["metric", "coefficient"])["value"]
    for metric, known in KNOWN.items():
        oracles = [
            f(both[metric], both["overall"]).statistic for f in (pearsonr, spearmanr)
        ]
        assert oracles == pytest.approx(known, abs=0.0005), metric
        for coefficient, oracle in (("spearman", spearmanr), ("kendall", kendalltau)):
            expected = oracle(both[metric], both["overall"]).statistic
            assert values[metric, coefficient] == pytest.approx(expected, abs=1e-11), (
                metric
            )


@pytest.mark.parametrize(
    "whole", ["overall", "scholarsum_fm_gpt35", "scholarsum_fm_gpt4"]
)
def test_overall_is_the_weighted_mean_of_the_facets_that_are_scored(
    both: pd.DataFrame, whole: str
) -> None:
    """Of 34 facets that people did not score, the file has grades by metrics all the same."""
    names = FACETS if whole == "overall" else [f"{whole}_{facet}" for facet in FACETS]
    facets = both[list(names)].to_numpy()
    assert np.isnan(facets).sum() == 34
    weights = np.where(np.isnan(facets), 0.0, [0.1, 0.3, 0.3, 0.3])
    means = np.sum(np.nan_to_num(facets) * weights, axis=1) / np.sum(weights, axis=1)
    assert both[whole].to_numpy() == pytest.approx(means, abs=1e-9)


def test_the_first_44_papers_give_most_of_the_printed_means(both: pd.DataFrame) -> None:
    printed = pd.read_csv(
        ROOT / "reports/published/fm_table4.csv", keep_default_na=False
    )
    authors = {"GPT-3.5": "gpt35", "Llama2": "llama2_70b"}
    authors |= {"FactSum": "factsum", "BART-Large": "bart_large"}
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
    first = both.loc["arxiv_00":"arxiv_43"].groupby("author").mean()  # type: ignore[misc]
    differing = {}
    cells = printed.to_dict("records")
    for row in cells:
        column = columns[f"{row['quantity']} {row['evaluator']}".strip()]
        ours = first.loc[authors[row["system_or_metric"]], column]
        if abs(ours - row["value"]) >= 0.00005:
            differing[row["system_or_metric"], column] = round(ours, 4)
    assert len(cells) == 32
    assert differing == {
        ("GPT-3.5", "overall"): 0.6573,
        ("Llama2", "scholarsum_fm_gpt35"): 0.6761,
        ("Llama2", "scholarsum_fm_gpt4"): 0.7069,
        ("Llama2", "overall"): 0.7385,
        ("FactSum", "scholarsum_fm_gpt35"): 0.6527,
        ("BART-Large", "overall"): 0.6371,
    }
