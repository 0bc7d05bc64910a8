"""The comparisons on the real texts: our ROUGE through our matching against the papers' digits."""

import pandas as pd
import pytest
from scipy.stats import pearsonr

from metassay.meta_evaluation.correlations import CORRELATIONS
from metassay.metrics import rouge
from metassay.paper_figures.published import agrees, compare_all
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import empty
from tests.reporting.invented_report import PUBLISHED, cells_of, left_out, ours_of

OPTIONS = rouge.RougeOptions(stemmer=False, split="newline")
CRITERIA = {
    "FactualPrecision": "factual_precision",
    "FactualRecall": "factual_recall",
    "FactualF1": "factual_f1",
    "HallucinationRate": "hallucination_rate",
    "OmissionRate": "omission_rate",
}
SYSTEMS = {
    "bart_samsum_full": "bart-large-xsum-samsum_clinicalnlp_taskB_test1_full.csv",
    "bart_samsum_section": "bart-large-xsum-samsum_clinicalnlp_taskB_test1_division_combined.csv",
    "biobart_full": "BioBART_clinicalnlp_taskB_test1_full.csv",
    "biobart_section": "BioBART_clinicalnlp_taskB_test1_division_combined.csv",
    "chatgpt": "test1ChatGPT_.csv",
    "gpt4": "test1GPT-4_.csv",
}


def test_mts_dialog_is_as_near_the_paper_as_rouge_score_comes(mirror):
    folder = mirror / "mts_dialog_correlation"
    texts = pd.read_csv(
        folder / "MTS-Dialog-Automatic-Summaries-ValidationSet.csv",
        encoding="utf-8-sig",
        keep_default_na=False,
    )
    people = pd.read_csv(
        folder / "MTS-Dialog-Manual-Scores4CorrelationStudy.csv", encoding="utf-8-sig"
    )
    measured = rouge.measure(
        list(texts["Automatic Summary"]), list(texts["Reference Summary"]), OPTIONS
    )
    correlations = []
    for metric, found in measured.items():
        values = pd.Series([one.value for one in found], dtype="float64")
        for column, criterion in CRITERIA.items():
            both = values.notna() & people[column].notna()
            r = pearsonr(values[both], people[column][both]).statistic
            key = ["mts_dialog", criterion, "full", metric, NO_JUDGE, "global", "pearson"]
            correlations.append([*key, r])
    columns = ["study", "criterion", "part", "metric", "judge", "level", "coefficient", "value"]
    frame = pd.DataFrame(correlations, columns=columns)
    compared = compare_all(["benabacha_table2"], PUBLISHED, ours_of(empty(LEADERBOARD), frame))
    assert (len(cells_of(compared)), left_out(compared)) == (54, 72)
    ours = cells_of(compared).set_index(["row", "column"])["ours"]
    assert ours["ROUGE-1-R", "Factual Recall"] == pytest.approx(0.53, abs=0.005)
    assert ours["ROUGE-1-R", "Omission Rate"] == pytest.approx(-0.59, abs=0.005)
    assert ours["ROUGE-1-F", "Factual F1"] == pytest.approx(0.41, abs=0.005)
    assert ours["ROUGE-1-R", "Aggregate Score"] == pytest.approx(0.40, abs=0.005)


def test_aci_bench_gives_the_printed_digits_of_whole_notes(mirror):
    folder = mirror / "aci_bench_test1"
    references = list(pd.read_csv(folder / "clinicalnlp_taskB_test1.csv")["note"])
    board = [
        ["full", metric, NO_JUDGE, author, sum(one.value for one in found) / len(references)]
        for author, name in SYSTEMS.items()
        for metric, found in rouge.measure(
            list(pd.read_csv(folder / name, keep_default_na=False)["note"]), references, OPTIONS
        ).items()
    ]
    frame = pd.DataFrame(board, columns=["part", "metric", "judge", "author", "macro"])
    compared = compare_all(["doclens_table20"], PUBLISHED, ours_of(frame, empty(CORRELATIONS)))
    assert (len(cells_of(compared)), left_out(compared)) == (18, 52)
    assert all(agrees(difference) for difference in cells_of(compared)["difference"])
    assert set(cells_of(compared)["note"]) == {""}
