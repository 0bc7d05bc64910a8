"""Records of all papers, of DocLens table 1 alone: their numbers, counted anew.

Where the tables of a benchmark are here, each number is computed again with pandas and scipy alone,
and the printed ones beside ours are counted.
"""

from collections.abc import Mapping
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
from metassay.paper_figures.cells import Cells, find_cells
from metassay.paper_figures.derived_tables import DERIVED
from metassay.paper_figures.draw import PUBLISHED, inputs_in
from metassay.paper_figures.papers import PAPERS
from metassay.paper_figures.printed import read_printed
from metassay.paper_figures.published import ROUGE_VARIANTS
from metassay.reporting.contract_page import TABLES
from metassay.tables import parquet

ROOT = Path(__file__).parents[2]
RECORDS = {(record.paper, record.name): record for records in PAPERS.values() for record in records}
# Printed numbers, those beside ours, and the largest difference where both are of one thing.
BESIDE: Mapping[tuple[str, str], tuple[int, int, float | None]] = {
    ("adams", "table6"): (4, 4, None),
    ("adams", "table7"): (13, 1, None),
    ("adams", "table9"): (17, 2, None),
    ("adams", "table10"): (7, 2, None),
    ("adams", "table6_hospital"): (4, 4, None),
    ("adams", "table10_hospital"): (7, 7, None),
    ("adams", "table1"): (15, 8, None),
    ("adams", "table2"): (14, 4, None),
    ("adams", "table3"): (48, 27, None),
    ("adams", "table4"): (4, 4, None),
    ("adams", "table5"): (12, 3, None),
    ("adams", "table7_hospital"): (13, 3, None),
    ("adams", "table8"): (21, 5, None),
    ("adams", "table9_hospital"): (17, 9, None),
    ("benabacha", "table1"): (21, 3, 0.4675),
    ("benabacha", "table2"): (126, 96, 0.2352),
    ("benabacha", "table3"): (126, 96, None),
    ("benabacha", "table4"): (126, 96, None),
    ("benabacha", "table5"): (168, 128, None),
    ("benabacha", "table6"): (126, 96, None),
    ("fm", "table4"): (32, 32, 0.0150),
    ("fm", "weights"): (5, 5, 0.0050),
    ("fm", "fig11"): (3, 2, 1.0),
}


@cache
def table(benchmark: str, name: str) -> pd.DataFrame:
    if name in DERIVED:
        return DERIVED[name].make({one: table(benchmark, one) for one in DERIVED[name].sources})
    path = inputs_in(ROOT).table(benchmark, name)
    if not path.exists():
        pytest.skip(f"the tables of {benchmark} are not here")
    return parquet.read(TABLES[name], path)


def shown(paper: str, name: str) -> Cells:
    record = RECORDS[paper, name]
    printed = [read_printed(ROOT / PUBLISHED / file) for file in record.printed]
    return find_cells(record, table, pd.concat(printed, ignore_index=True) if printed else None)


def ours(cells: Cells) -> dict[tuple[str, str], float]:
    """By row and column."""
    return {(cell.row, cell.column): cell.ours for cell in cells.cells if not cell.panel}


def scored(benchmark: str, metric: str, judge: str = "none") -> "pd.Series[float]":
    """By document and system."""
    scores = table(benchmark, "scores")
    is_it = (scores["metric"] == metric) & (scores["judge"] == judge) & (scores["part"] == "full")
    values = scores[is_it & (scores["author"] != "reference")]
    return values.set_index(["doc_id", "author"])["value"]


def rated(benchmark: str, criterion: str) -> "pd.Series[float]":
    ratings = table(benchmark, "ratings")
    return ratings[ratings["criterion"] == criterion].set_index(["doc_id", "author"])["value"]


def pearson(one: "pd.Series[float]", other: "pd.Series[float]") -> float:
    both = pd.concat([one, other], axis=1).dropna().to_numpy()
    return float(stats.pearsonr(both[:, 0], both[:, 1]).statistic)


@pytest.mark.parametrize("key", BESIDE, ids=" ".join)
def test_printed_numbers_beside_ours_are_counted(key: tuple[str, str]) -> None:
    cells = shown(*key)
    n_printed, n_compared, largest = BESIDE[key]
    assert (cells.n_printed, cells.n_compared) == (n_printed, n_compared)
    if largest is None:
        assert RECORDS[key].apart
        return
    found = [abs(cell.difference) for cell in cells.cells if cell.difference is not None]
    assert len(found) == n_compared
    assert max(found) == pytest.approx(largest, abs=0.0006)


def test_correlations_on_mts_dialog_are_those_of_its_scores() -> None:
    cells = ours(shown("benabacha", "table2"))
    parts = {}
    for name, metric in ROUGE_VARIANTS.items():
        for column, criterion in (
            ("Factual F1 ↑", "factual_f1"),
            ("Hallucination Rate ↓", "hallucination_rate"),
            ("Omission Rate ↓", "omission_rate"),
        ):
            value = pearson(scored("mts_dialog", metric), rated("mts_dialog", criterion))
            assert cells[name, column] == pytest.approx(value, abs=1e-9)
            parts[name, column] = value
        whole = 2 * parts[name, "Factual F1 ↑"]
        whole -= parts[name, "Hallucination Rate ↓"] + parts[name, "Omission Rate ↓"]
        assert cells[name, "Aggregate Score ↑"] == pytest.approx(whole / 4, abs=1e-9)
    semantic = scored("mts_dialog", "claim_recall", "semantic")
    value = pearson(semantic, rated("mts_dialog", "factual_recall"))
    assert cells["Claim recall, semantic judge", "Factual Recall ↑"] == pytest.approx(
        value, abs=1e-9
    )


def test_sizes_of_mts_dialog_are_those_of_its_texts() -> None:
    cells = ours(shown("benabacha", "table1"))
    words = scored("mts_dialog", "words")
    assert cells["MTS-Dialog", "Summaries"] == len(words) == 400
    assert cells["MTS-Dialog", "Words per summary"] == pytest.approx(words.mean())


def test_copying_and_people_on_mts_dialog() -> None:
    """Turned as the paper prints it: above 0 is fewer errors."""
    people, copied = rated("mts_dialog", "hallucination_rate"), scored("mts_dialog", "coverage")
    alone = ours(shown("adams", "table7"))
    by_share = ours(shown("adams", "fig4"))
    assert alone["Coverage", "Alone"] == pytest.approx(-pearson(copied, people), abs=1e-9)
    for row, metric, judge in (
        ("ROUGE-1 F", "rouge1_fmeasure", "none"),
        ("Faithfulness, lexical judge", "faithfulness", "lexical"),
    ):
        values = scored("mts_dialog", metric, judge)
        value = -pearson(values, people)
        assert alone[row, "Alone"] == pytest.approx(value, abs=1e-9)
        assert by_share[row, "100 %"] == pytest.approx(value, abs=1e-9)
        both = (values - values.mean()) / values.std() + (copied - copied.mean()) / copied.std()
        assert alone[row, "With coverage"] == pytest.approx(-pearson(both, people), abs=1e-9)
        quarter = copied[copied <= copied.nsmallest(100).max() + 1e-12]
        least = -pearson(values.loc[quarter.index], people.loc[quarter.index])
        assert by_share[row, "25 %"] == pytest.approx(least, abs=1e-9)


def test_copying_has_the_numbers_of_table_confounds() -> None:
    """Which has them without intervals, and turned so that more is better."""
    confounds = table("mts_dialog", "confounds")
    mine = table("mts_dialog", "least_copied")
    is_it = (confounds["confound"] == "coverage") & (confounds["level"] == "global")
    names = {f"lowest_{share}": share for share in ("25", "50", "75", "100")}
    theirs = confounds[is_it & confounds["statistic"].isin(names)].dropna(subset=["value"])
    theirs = theirs.assign(share=theirs["statistic"].map(names))
    key = ["criterion", "metric", "judge", "share"]
    both = theirs.merge(mine[mine["what"] == "alone"], on=key, suffixes=("", "_mine"))
    assert len(both) == len(theirs) > 400
    assert (both["n"] == both["n_mine"]).all()
    assert np.allclose(both["value"].abs(), both["value_mine"].abs(), atol=1e-9)


def test_ensembles_and_scatter_are_of_the_tables() -> None:
    single = ours(shown("adams", "table9"))
    value = -pearson(scored("mts_dialog", "bleu"), rated("mts_dialog", "hallucination_rate"))
    assert single["BLEU", "Alone"] == pytest.approx(value, abs=1e-9)
    ensembles = table("mts_dialog", "ensembles")
    own = ensembles[
        (ensembles["criterion"] == "hallucination_rate") & (ensembles["kind"] == "subset")
    ]
    with_it = own[own["members"].map(lambda members: "bleu" in members.split(" + "))]
    assert single["BLEU", "In ensembles"] == pytest.approx(with_it["value"].mean(), abs=1e-9)
    scatter = ours(shown("adams", "fig8_density"))
    across = pearson(scored("mts_dialog", "bleu"), scored("mts_dialog", "density"))
    assert scatter["BLEU", "Correlation with density"] == pytest.approx(across, abs=1e-9)
    assert scatter["BLEU", "Correlation with people"] == pytest.approx(value, abs=1e-9)


def test_means_and_facets_on_arxiv_are_those_of_the_ratings() -> None:
    papers = sorted(set(table("scholarsum_arxiv", "ratings")["doc_id"]))[:44]
    overall = rated("scholarsum_arxiv", "overall").unstack("author")
    means = ours(shown("fm", "table4"))
    assert means["Human ↑", "FactSum"] == pytest.approx(overall.loc[papers, "factsum"].mean())
    delta = scored("scholarsum_arxiv", "scholarsum_delta").unstack("author")
    assert means["DELTA ↓", "GPT-3.5"] == pytest.approx(delta.loc[papers, "gpt35"].mean())
    assert ours(shown("fm", "fig4d"))["Llama2", "Rated facet by facet"] == pytest.approx(
        overall["llama2_70b"].mean()
    )
    method = rated("scholarsum_arxiv", "method").unstack("author")
    facets = ours(shown("fm", "fig9"))
    assert facets["Method", "GPT-3.5"] == pytest.approx(method["gpt35"].mean())


def test_correlations_on_arxiv_are_both_ways_and_delta_is_turned() -> None:
    found = ours(shown("fm", "fig8"))
    people = rated("scholarsum_arxiv", "overall")
    value = pearson(scored("scholarsum_arxiv", "scholarsum_fm_gpt4"), people)
    assert found["Human", "FM (GPT-4)"] == found["FM (GPT-4)", "Human"]
    assert found["Human", "FM (GPT-4)"] == pytest.approx(value, abs=1e-9)
    delta = -pearson(scored("scholarsum_arxiv", "scholarsum_delta"), people)
    assert found["DELTA", "Human"] == pytest.approx(delta, abs=1e-9)
    assert len(found) == 90


def test_abstracts_facets_and_numbers_on_arxiv() -> None:
    parts = table("scholarsum_arxiv", "parts")
    own = parts[(parts["author"] == "gpt35") & (parts["part"] == "full")]
    spelled = own["text"].str.count(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w.])").mean()  # a rough count
    numbers = ours(shown("fm", "fig4b"))
    assert numbers["GPT-3.5", "Numbers per abstract"] == pytest.approx(spelled, abs=0.5)
    shares = ours(shown("fm", "fig4a"))
    for system in ("Reference", "GPT-3.5", "Llama2", "FactSum", "BART-Large"):
        held = sum(
            shares[system, facet] for facet in ("Background", "Method", "Result", "Conclusion")
        )
        assert 80 < held <= 100


def test_cases_have_the_grades_of_the_data() -> None:
    cells = {cell.row.split(":")[0]: cell for cell in shown("fm", "fig11").cells if cell.published}
    grade = scored("scholarsum_arxiv", "scholarsum_fm_gpt4_result")
    assert cells["Case 2"].ours == pytest.approx(4 * grade["arxiv_34", "gpt35"])


def test_the_summary_of_simsum_is_drawn_once_there_is_a_benchmark() -> None:
    """Its record is whole. Two raters give three notes 2, 3 and 5, and differ on one criterion."""
    options = MetaOptions(resamples=20, confidence=0.95, seed=0)
    rows = [
        (f"note_{note}", rater, criterion, value)
        for criterion in CRITERIA
        for rater, values in {"a": (2.0, 3.0, 5.0), "b": (2.0, 3.0, 5.0)}.items()
        for note, value in enumerate(values)
    ]
    names = ["doc_id", "rater", "criterion", "value"]
    ratings = pd.DataFrame(rows, columns=names).assign(
        study="simsum", author="generated", part="full", unit="text"
    )
    other = (ratings["criterion"] == "consistency") & (ratings["rater"] == "b")
    ratings.loc[other, "value"] = [5.0, 3.0, 2.0]
    scales = {one: Criterion(low=1, high=5, better="higher", scale="ordinal") for one in CRITERIA}
    made = {
        "rating_summaries": rating_summaries(ratings, scales, options),
        "agreement": agreement(ratings, scales, options),
    }
    record = replace(RECORDS["simsum", "summary"], open="")
    values = ours(find_cells(record, lambda _, name: made[name], None))
    assert len(values) == 3 * len(CRITERIA)
    assert values["Clinical accuracy", "Mean"] == pytest.approx(10 / 3)
    assert values["Clinical accuracy", "SD"] == pytest.approx(np.std([2, 3, 5]))
    assert values["Clinical accuracy", "Alpha"] == pytest.approx(1.0)
    assert values["Consistency with the prompt", "Alpha"] < 0


def test_judges_of_doclens_are_right_as_often_as_counted_by_hand() -> None:
    found = ours(shown("doclens", "table1"))
    labels = table("wice_dev", "gold").set_index("item")["label"]
    verdicts = table("wice_dev", "verdicts")
    by_judge = verdicts.set_index(["item", "judge"])[["label", "probability"]].unstack("judge")
    asked = by_judge.index[by_judge["probability", "t5_3b_anli"].notna()]
    assert len(asked) == 100
    passed = by_judge["probability", "t5_3b_anli"][asked] >= 0.5
    right = passed == (labels[asked] == "entailed")
    assert found["T5-3B tuned on ANLI, as released", "WiCE"] == pytest.approx(100 * right.mean())
    right = by_judge["label", "lexical"][asked] == labels[asked]
    assert found["Lexical", "WiCE"] == pytest.approx(100 * right.mean())
    supported = 100 * (labels[asked] == "entailed").mean()
    assert found["Supported", "WiCE"] == pytest.approx(supported)
    edited = table("minimal_pairs_aci", "verdicts")
    mine = edited[edited["judge"] == "semantic"].set_index("item")["label"]
    right = mine == table("minimal_pairs_aci", "gold").set_index("item")["label"]
    assert found["Semantic", "Changed sentences"] == pytest.approx(100 * right.mean())
