"""Records of all papers, of DocLens table 1 alone: their numbers, counted anew.

Where the tables of a benchmark are here, each number is computed again with pandas and
scipy alone, and the printed ones beside ours are counted.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from metassay.core.options import Criterion
from metassay.datasets.consultations import SIMSUM_CRITERIA as CRITERIA
from metassay.meta_evaluation.agreement import agreement, rating_summaries
from metassay.meta_evaluation.options import MetaOptions
from metassay.reporting.contract_page import TABLES
from metassay.reporting.published.benabacha import METRICS as ROUGE_VARIANTS
from metassay.reporting.published.printed import read_printed
from metassay.tables import parquet
from papers.cells import Cells, find_cells
from papers.derived_tables import DERIVED
from papers.draw import PUBLISHED, inputs_in
from papers.index import PAPERS

ROOT = Path(__file__).parents[2]
RECORDS = {
    (record.paper, record.name): record
    for records in PAPERS.values()
    for record in records
}
# Printed numbers, those beside ours, and the largest difference where both are of one
# thing.
BESIDE: dict[str, dict[str, tuple[int, int, float | None]]] = {
    "adams": {
        "table1": (15, 8, None),
        "table2": (14, 4, None),
        "table3": (48, 27, None),
        "table4": (4, 4, None),
        "table5": (12, 5, None),
        "table6": (4, 4, None),
        "table6_hospital": (4, 4, None),
        "table7": (13, 1, None),
        "table8": (21, 5, None),
        "table7_hospital": (13, 3, None),
        "table9": (17, 2, None),
        "table10": (7, 2, None),
        "table9_hospital": (17, 9, None),
        "table10_hospital": (7, 7, None),
    },
    "benabacha": {
        "table1": (21, 3, 0.4675),
        "table2": (126, 96, 0.2352),
        "table3": (126, 96, None),
        "table4": (126, 96, None),
        "table5": (168, 128, None),
        "table6": (126, 96, None),
    },
    "fm": {"table4": (32, 32, 0.0150), "weights": (5, 5, 0.0050), "fig11": (3, 2, 1.0)},
}


@cache
def table(benchmark: str, name: str) -> pd.DataFrame:
    if name in DERIVED:
        return DERIVED[name].make(
            {of: table(benchmark, of) for of in DERIVED[name].sources}
        )
    path = inputs_in(ROOT).table(benchmark, name)
    if not path.exists():
        pytest.skip(f"the tables of {benchmark} are not here")
    return parquet.read(TABLES[name], path)


def shown(paper: str, name: str) -> Cells:
    record = RECORDS[paper, name]
    printed = [read_printed(ROOT / PUBLISHED / file) for file in record.printed_files]
    return find_cells(
        record, table, pd.concat(printed, ignore_index=True) if printed else None
    )


def ours(cells: Cells) -> dict[tuple[str, str], float]:
    """By row and column."""
    return {
        (cell.row, cell.column): cell.ours for cell in cells.cells if not cell.panel
    }


def scored(benchmark: str, metric: str, judge: str = "none") -> "pd.Series[float]":
    """By document and system."""
    scores = table(benchmark, "scores")
    is_it = (
        (scores["metric"] == metric)
        & (scores["judge"] == judge)
        & (scores["part"] == "full")
    )
    values = scores[is_it & (scores["author"] != "reference")]
    return values.set_index(["doc_id", "author"])["value"]


def rated(benchmark: str, criterion: str) -> "pd.Series[float]":
    ratings = table(benchmark, "ratings")
    return ratings[ratings["criterion"] == criterion].set_index(["doc_id", "author"])[
        "value"
    ]


def pearson(a: "pd.Series[float]", b: "pd.Series[float]") -> float:
    both = pd.concat([a, b], axis=1).dropna().to_numpy()
    return float(stats.pearsonr(*both.T).statistic)


@pytest.mark.parametrize(
    ("paper", "name"), [(p, n) for p, of in BESIDE.items() for n in of]
)
def test_printed_numbers_beside_ours_are_counted(paper: str, name: str) -> None:
    cells = shown(paper, name)
    n_printed, n_compared, largest = BESIDE[paper][name]
    assert (cells.n_printed, cells.n_compared) == (n_printed, n_compared)
    if largest is None:
        assert RECORDS[paper, name].not_comparable
        return
    differences = [
        abs(cell.difference) for cell in cells.cells if cell.difference is not None
    ]
    assert len(differences) == n_compared
    assert max(differences) == pytest.approx(largest, abs=0.0006)


def test_correlations_and_sizes_on_mts_dialog_are_those_of_its_scores() -> None:
    cells = ours(shown("benabacha", "table2"))
    columns = {
        "Factual F1 ↑": "factual_f1",
        "Hallucination Rate ↓": "hallucination_rate",
    }
    columns["Omission Rate ↓"] = "omission_rate"
    for name, metric in ROUGE_VARIANTS.items():
        scores = scored("mts_dialog", metric)
        values = [pearson(scores, rated("mts_dialog", of)) for of in columns.values()]
        assert [cells[name, column] for column in columns] == pytest.approx(
            values, abs=1e-9
        )
        whole = (2 * values[0] - values[1] - values[2]) / 4
        assert cells[name, "Aggregate Score ↑"] == pytest.approx(whole, abs=1e-9)
    semantic = scored("mts_dialog", "claim_recall", "semantic")
    value = pearson(semantic, rated("mts_dialog", "factual_recall"))
    cell = cells["Claim recall, semantic judge", "Factual Recall ↑"]
    assert cell == pytest.approx(value, abs=1e-9)
    cells, words = ours(shown("benabacha", "table1")), scored("mts_dialog", "words")
    assert cells["MTS-Dialog", "Summaries"] == len(words) == 400
    assert cells["MTS-Dialog", "Words per summary"] == pytest.approx(words.mean())


def test_copying_and_people_on_mts_dialog() -> None:
    """Turned as the paper prints it: above 0 is fewer errors."""
    people, copied = (
        rated("mts_dialog", "hallucination_rate"),
        scored("mts_dialog", "coverage"),
    )
    alone = ours(shown("adams", "table7"))
    by_share = ours(shown("adams", "fig4"))
    assert alone["Coverage", "Alone"] == pytest.approx(
        -pearson(copied, people), abs=1e-9
    )
    for row, metric, judge in (
        ("ROUGE-1 F", "rouge1_fmeasure", "none"),
        ("Faithfulness, lexical judge", "faithfulness", "lexical"),
    ):
        values = scored("mts_dialog", metric, judge)
        value = -pearson(values, people)
        assert alone[row, "Alone"] == pytest.approx(value, abs=1e-9)
        assert by_share[row, "100 %"] == pytest.approx(value, abs=1e-9)
        both = (values - values.mean()) / values.std() + (
            copied - copied.mean()
        ) / copied.std()
        assert alone[row, "With coverage"] == pytest.approx(
            -pearson(both, people), abs=1e-9
        )
        quarter = copied[copied <= copied.nsmallest(100).max() + 1e-12]
        least = -pearson(values.loc[quarter.index], people.loc[quarter.index])
        assert by_share[row, "25 %"] == pytest.approx(least, abs=1e-9)


def test_copying_has_the_numbers_of_table_confounds() -> None:
    """Which has them without intervals, and turned so that more is better."""
    confounds = table("mts_dialog", "confounds")
    copied = table("mts_dialog", "least_copied")
    is_it = (confounds["confound"] == "coverage") & (confounds["level"] == "global")
    names = {f"lowest_{share}": share for share in ("25", "50", "75", "100")}
    theirs = confounds[is_it & confounds["statistic"].isin(names)].dropna(
        subset=["value"]
    )
    theirs = theirs.assign(share=theirs["statistic"].map(names))
    key = ["criterion", "metric", "judge", "share"]
    both = theirs.merge(
        copied[copied["what"] == "alone"], on=key, suffixes=("", "_here")
    )
    assert len(both) == len(theirs) > 400
    assert (both["n"] == both["n_here"]).all()
    assert np.allclose(both["value"].abs(), both["value_here"].abs(), atol=1e-9)


def test_ensembles_and_scatter_are_of_the_tables() -> None:
    single = ours(shown("adams", "table9"))
    value = -pearson(
        scored("mts_dialog", "bleu"), rated("mts_dialog", "hallucination_rate")
    )
    assert single["BLEU", "Alone"] == pytest.approx(value, abs=1e-9)
    ensembles = table("mts_dialog", "ensembles")
    subsets = ensembles[ensembles["kind"] == "subset"]
    subsets = subsets[subsets["criterion"] == "hallucination_rate"]
    with_it = subsets[
        subsets["members"].map(lambda members: "bleu" in members.split(" + "))
    ]
    assert single["BLEU", "In ensembles"] == pytest.approx(
        with_it["value"].mean(), abs=1e-9
    )
    scatter = ours(shown("adams", "fig8_density"))
    across = pearson(scored("mts_dialog", "bleu"), scored("mts_dialog", "density"))
    assert scatter["BLEU", "Correlation with density"] == pytest.approx(
        across, abs=1e-9
    )
    assert scatter["BLEU", "Correlation with people"] == pytest.approx(value, abs=1e-9)


def test_means_and_facets_on_arxiv_are_those_of_the_ratings() -> None:
    papers = sorted(set(table("scholarsum_arxiv", "ratings")["doc_id"]))[:44]
    overall = rated("scholarsum_arxiv", "overall").unstack("author")
    means = ours(shown("fm", "table4"))
    assert means["Human ↑", "FactSum"] == pytest.approx(
        overall.loc[papers, "factsum"].mean()
    )
    delta = scored("scholarsum_arxiv", "scholarsum_delta").unstack("author")
    assert means["DELTA ↓", "GPT-3.5"] == pytest.approx(
        delta.loc[papers, "gpt35"].mean()
    )
    assert ours(shown("fm", "fig4d"))[
        "Llama2", "Rated facet by facet"
    ] == pytest.approx(overall["llama2_70b"].mean())
    method = rated("scholarsum_arxiv", "method").unstack("author")
    facets = ours(shown("fm", "fig9"))
    assert facets["Method", "GPT-3.5"] == pytest.approx(method["gpt35"].mean())


def test_correlations_on_arxiv_are_both_ways_and_delta_is_turned() -> None:
    cells = ours(shown("fm", "fig8"))
    people = rated("scholarsum_arxiv", "overall")
    value = pearson(scored("scholarsum_arxiv", "scholarsum_fm_gpt4"), people)
    assert cells["Human", "FM (GPT-4)"] == cells["FM (GPT-4)", "Human"]
    assert cells["Human", "FM (GPT-4)"] == pytest.approx(value, abs=1e-9)
    delta = -pearson(scored("scholarsum_arxiv", "scholarsum_delta"), people)
    assert cells["DELTA", "Human"] == pytest.approx(delta, abs=1e-9)
    assert len(cells) == 90


def test_abstracts_facets_and_numbers_on_arxiv() -> None:
    parts = table("scholarsum_arxiv", "parts")
    texts = parts[(parts["author"] == "gpt35") & (parts["part"] == "full")]["text"]
    # a rough count
    spelled = texts.str.count(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w.])").mean()
    numbers = ours(shown("fm", "fig4b"))
    assert numbers["GPT-3.5", "Numbers per abstract"] == pytest.approx(spelled, abs=0.5)
    shares, facets = (
        ours(shown("fm", "fig4a")),
        ("Background", "Method", "Result", "Conclusion"),
    )
    for system in ("Reference", "GPT-3.5", "Llama2", "FactSum", "BART-Large"):
        assert 80 < sum(shares[system, facet] for facet in facets) <= 100


def test_cases_have_the_grades_of_the_data() -> None:
    cells = {
        cell.row.split(":")[0]: cell
        for cell in shown("fm", "fig11").cells
        if cell.published
    }
    grade = scored("scholarsum_arxiv", "scholarsum_fm_gpt4_result")
    assert cells["Case 2"].ours == pytest.approx(4 * grade["arxiv_34", "gpt35"])


def test_the_summary_of_simsum_is_drawn_once_there_is_a_benchmark() -> None:
    """Its record is whole. Two raters give three notes 2, 3 and 5, and differ on one criterion."""
    options = MetaOptions(resamples=20, confidence=0.95, seed=0)
    values = (2.0, 3.0, 5.0)
    rows = [
        (f"note_{note}", rater, criterion, value)
        for criterion in CRITERIA
        for rater in "ab"
        for note, value in enumerate(
            values[::-1] if (criterion, rater) == ("consistency", "b") else values
        )
    ]
    names = ["doc_id", "rater", "criterion", "value"]
    ratings = pd.DataFrame(rows, columns=names).assign(
        study="simsum", author="generated", part="full", unit="text"
    )
    scale = Criterion(low=1, high=5, better="higher", scale="ordinal")
    scales = dict.fromkeys(CRITERIA, scale)
    tables = {
        "rating_summaries": rating_summaries(ratings, scales, options),
        "agreement": agreement(ratings, scales, options),
    }
    record = replace(RECORDS["simsum", "summary"], open=None)
    cells = ours(find_cells(record, lambda _, name: tables[name], None))
    assert len(cells) == 3 * len(CRITERIA)
    assert cells["Clinical accuracy", "Mean"] == pytest.approx(10 / 3)
    assert cells["Clinical accuracy", "SD"] == pytest.approx(np.std([2, 3, 5]))
    assert cells["Clinical accuracy", "Alpha"] == pytest.approx(1.0)
    assert cells["Consistency with the prompt", "Alpha"] < 0


def test_judges_of_doclens_are_right_as_often_as_counted_by_hand() -> None:
    cells = ours(shown("doclens", "table1"))
    labels = table("wice_dev", "gold").set_index("item")["label"]
    verdicts = table("wice_dev", "verdicts")
    by_judge = verdicts.set_index(["item", "judge"])[["label", "probability"]].unstack(
        "judge"
    )
    common = by_judge.index[by_judge["probability", "t5_3b_anli"].notna()]
    assert len(common) == 100
    passed = by_judge["probability", "t5_3b_anli"][common] >= 0.5
    right = passed == (labels[common] == "entailed")
    assert cells["T5-3B tuned on ANLI, as released", "WiCE"] == pytest.approx(
        100 * right.mean()
    )
    right = by_judge["label", "lexical"][common] == labels[common]
    assert cells["Lexical", "WiCE"] == pytest.approx(100 * right.mean())
    supported = 100 * (labels[common] == "entailed").mean()
    assert cells["Supported", "WiCE"] == pytest.approx(supported)
    edited = table("minimal_pairs_aci", "verdicts")
    labelled = edited[edited["judge"] == "semantic"].set_index("item")["label"]
    right = labelled == table("minimal_pairs_aci", "gold").set_index("item")["label"]
    assert cells["Semantic", "Changed sentences"] == pytest.approx(100 * right.mean())
