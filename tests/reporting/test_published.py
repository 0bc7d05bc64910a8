import csv
import re

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.meta_evaluation.correlations import CORRELATIONS
from metassay.paper_figures.papers import PAPERS
from metassay.paper_figures.published import COMPARISONS, JUDGE_COMPARISONS, agrees, compare_all
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import empty
from tests.reporting.invented_report import PUBLISHED, cells_of, left_out, ours_of

CRITERIA = {
    "factual_precision": "Factual Precision",
    "factual_recall": "Factual Recall",
    "factual_f1": "Factual F1",
    "hallucination_rate": "Hallucination Rate",
    "omission_rate": "Omission Rate",
}


def correlations_of(values):
    """Rows of the table `correlations` as far as a comparison reads them."""
    return pd.DataFrame(
        [
            ["mts_dialog", criterion, "full", metric, NO_JUDGE, "global", "pearson", value]
            for (metric, criterion), value in values.items()
        ],
        columns=["study", "criterion", "part", "metric", "judge", "level", "coefficient", "value"],
    )


def leaderboard_of(values):
    return pd.DataFrame(
        [
            [part, metric, NO_JUDGE, author, value]
            for (part, metric, author), value in values.items()
        ],
        columns=["part", "metric", "judge", "author", "macro"],
    )


def cell(compared, row, column):
    found = cells_of(compared)
    return found[(found["row"] == row) & (found["column"] == column)].iloc[0]


def summary_of(compared):
    (block,) = compared.blocks.values()
    return block["says"][1]


def one(name, *, leaderboard=None, correlations=None, folder=PUBLISHED):
    leaderboard = empty(LEADERBOARD) if leaderboard is None else leaderboard
    correlations = empty(CORRELATIONS) if correlations is None else correlations
    return compare_all([name], folder, ours_of(leaderboard, correlations))


@pytest.fixture
def benabacha():
    """Correlations near the issue's: R1-R with recall .53, omission -.59, F1 .52."""
    values = {("rouge1_recall", criterion): 0.0 for criterion in CRITERIA}
    values["rouge1_recall", "factual_recall"] = 0.5323
    values["rouge1_recall", "factual_f1"] = 0.5161
    values["rouge1_recall", "hallucination_rate"] = 0.0015
    values["rouge1_recall", "omission_rate"] = -0.5874
    values["rougeL_fmeasure", "factual_f1"] = 0.38
    return one("benabacha_table2", correlations=correlations_of(values))


def test_benabacha_by_hand(benabacha):
    recall = cell(benabacha, "ROUGE-1-R", "Factual Recall")
    assert recall["published"] == 0.57
    assert recall["difference"] == pytest.approx(0.5323 - 0.57)
    assert "Another ROUGE" in recall["note"]
    # (2 x .5161 - .0015 + .5874) / 4 = .404525, printed .41
    aggregate = cell(benabacha, "ROUGE-1-R", "Aggregate Score")
    assert aggregate["ours"] == pytest.approx(0.404525)
    assert aggregate["difference"] == pytest.approx(-0.005475)
    same = cell(benabacha, "ROUGE-L-F", "Factual F1")
    assert (same["difference"], same["note"]) == (0, "")


def test_what_was_not_run_is_counted_and_not_shown(benabacha):
    # 126 printed; ours: 5 correlations, their aggregate, and one more, too little for an aggregate
    assert len(cells_of(benabacha)) == 7
    assert left_out(benabacha) == 119
    full = {(m, c): 0.1 for m in _rouge_names() for c in CRITERIA}
    assert left_out(one("benabacha_table2", correlations=correlations_of(full))) == 72


def _rouge_names():
    return [f"rouge{n}_{v}" for n in ("1", "2", "L") for v in ("precision", "recall", "fmeasure")]


def test_other_levels_studies_judges_and_parts_are_not_ours():
    values = {("rouge1_recall", "factual_recall"): 0.5}
    for column, other in (
        ("study", "mine"),
        ("part", "subjective"),
        ("judge", "lexical"),
        ("level", "system"),
        ("coefficient", "spearman"),
    ):
        wrong = correlations_of(values).assign(**{column: other})
        assert cells_of(one("benabacha_table2", correlations=wrong)).empty


def test_undefined_stays_undefined():
    values = {("rouge1_recall", criterion): np.nan for criterion in CRITERIA}
    compared = one("benabacha_table2", correlations=correlations_of(values))
    assert cells_of(compared)["ours"].isna().all()
    assert len(cells_of(compared)) == 6  # the aggregate too
    assert set(cells_of(compared)["note"]) == {"Undefined here."}
    assert summary_of(compared).startswith("0 of 6 cells equal the printed digits. 120 ")


def test_table20_takes_rouge_lsum_of_whole_texts():
    compared = one(
        "doclens_table20",
        leaderboard=leaderboard_of(
            {
                ("full", "rougeLsum_fmeasure", "bart_samsum_section"): 0.48618,
                ("full", "rougeL_fmeasure", "bart_samsum_section"): 0.1,
                ("full", "rouge1_fmeasure", "chatgpt"): 0.47438,
                ("full", "rouge2_fmeasure", "gpt4"): 0.3,
                ("subjective", "rouge1_fmeasure", "gpt4"): 0.1,
                ("full", "rouge1_fmeasure", "somebody_else"): 0.1,
            }
        ),
    )
    assert len(cells_of(compared)) == 3
    assert left_out(compared) == 64 + 6 - 3
    section = cell(compared, "BART + SAMSum FT, section", "Rouge-L")
    assert (section["ours"], section["published"]) == (pytest.approx(48.618), 48.62)
    assert section["note"] == ""
    assert cell(compared, "ChatGPT, full", "Rouge-1")["published"] == 47.44
    gpt4 = cell(compared, "GPT-4, full", "Rouge-2")
    assert gpt4["difference"] == pytest.approx(30 - 22.58)
    assert gpt4["note"].startswith("Unexpected")
    assert "Yim et al. 2023" in gpt4["note"]


def test_table24_takes_plain_rouge_l_of_sections():
    compared = one(
        "doclens_table24",
        leaderboard=leaderboard_of(
            {
                ("objective_results", "rouge1_fmeasure", "biobart_full"): 0.175,
                ("objective_results", "rougeLsum_fmeasure", "biobart_full"): 0.1,
                ("assessment_and_plan", "rougeL_fmeasure", "chatgpt"): 0.2332,
                ("full", "rouge1_fmeasure", "biobart_full"): 0.1,
            }
        ),
    )
    assert len(cells_of(compared)) == 2
    results = cell(compared, "BioBART, full", "Objective-Results Rouge-1")
    assert (results["published"], results["note"]) == (17.50, "")
    plan = cell(compared, "Reported GPT-3.5-turbo, full, 0-shot", "Assessment and Plan Rouge-L")
    assert plan["published"] == 23.32


def test_every_cell_of_table24_that_can_be_computed_is_compared():
    systems = ["bart_samsum_full", "bart_samsum_section", "biobart_full", "biobart_section"]
    systems += ["chatgpt", "gpt4"]
    sections = ("subjective", "objective_exam", "objective_results", "assessment_and_plan")
    metrics = ("rouge1_fmeasure", "rouge2_fmeasure", "rougeL_fmeasure")
    values = {(s, m, a): 0.5 for s in sections for m in metrics for a in systems}
    compared = one("doclens_table24", leaderboard=leaderboard_of(values))
    assert len(cells_of(compared)) == 24 * 3
    assert not cells_of(compared).duplicated(["row", "column"]).any()


def test_the_summary_counts_what_agrees_and_names_the_largest_difference(benabacha):
    assert summary_of(benabacha) == (
        "1 of 7 cells equal the printed digits; the largest difference is -0.100 (ROUGE-1-R,"
        " Factual Precision). 119 published cells of metrics or systems not run here are left out."
    )
    nothing = one("benabacha_table2")
    assert summary_of(nothing) == "None of its 126 cells was computed here."


def test_agreement_is_half_a_unit_of_the_last_printed_digit():
    assert [agrees(d) for d in (0.005, -0.005, 0.00501, None)] == [True, True, False, False]


def test_missing_or_damaged_file_is_bad_input(tmp_path):
    file = tmp_path / "doclens_table24.csv"
    sound = (PUBLISHED / file.name).read_text("utf-8")
    for content, said in (
        (None, r"doclens_table24\.csv does not exist"),
        (b"paper,value\ndoclens,1\n", "lacks the columns"),
        (b"\xff\xfe\x00", "is damaged; restore it"),
        (re.sub(r"\d+\.\d+", "7a", sound).encode(), "`value` is not a number"),
    ):
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(BadInput, match=said):
            one("doclens_table24", folder=tmp_path)


def test_transcriptions_are_whole():
    counts = {"benabacha_table2": 126, "doclens_table20": 64, "doclens_table24": 408}
    counts |= {"acibench_rouge": 6, "maynez_spearman": 10, "fm_table4": 32}
    counts |= {"unieval_topical_chat": 18, "unieval_sfres": 9}
    counts |= {f"doclens_table{n}": 64 for n in (21, 22, 23)}
    counts |= {"doclens_table25": 243, "doclens_table26": 248, "doclens_table27": 243}
    counts |= {"doclens_table1": 27, "doclens_table4": 49, "doclens_table5": 12}
    counts |= {"doclens_table6": 8, "doclens_table7": 7, "doclens_table11": 8}
    counts |= {"adams_table6": 4, "adams_table7": 13, "adams_table9": 18, "adams_table10": 7}
    counts |= {"benabacha_table1": 21, "fm_weights": 5, "fm_fig11": 3}
    for name, count in counts.items():
        with (PUBLISHED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))
        assert len(table) == count
        key = ["dataset", "split_or_section", "system_or_metric", "setting", "evaluator"]
        key += ["quantity"]
        assert len({tuple(row[k] for k in key) for row in table}) == count
        empty = ("dash in paper", "N/A in paper")
        numbers = [row for row in table if not any(said in row["note"] for said in empty)]
        assert all(np.isfinite(float(row["value"])) for row in numbers)
        assert all(row["value"] == "" for row in table if row not in numbers)
    of_judges = {file for c in JUDGE_COMPARISONS.values() for file in c.files}
    of_figures = {file for own in PAPERS.values() for record in own for file in record.printed}
    compared = {file for c in COMPARISONS.values() for file in c.files}
    assert compared | of_judges | of_figures == {file.name for file in PUBLISHED.glob("*.csv")}


def test_an_unknown_comparison_is_told() -> None:
    with pytest.raises(BadInput, match="'table_99' is not known; choose from"):
        one("table_99")
