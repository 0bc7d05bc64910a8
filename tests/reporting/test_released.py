"""Comparisons that rest on scores which a dataset brings."""

import pandas as pd
import pytest

from metassay.parquet import empty
from metassay.reporting.published import compare_all
from metassay.reporting.views.published import published_view
from metassay.tables import CORRELATIONS, LEADERBOARD, NO_JUDGE
from tests.reporting.invented_report import PUBLISHED


def correlations(study: str, *values: tuple[str, str, str, float]) -> pd.DataFrame:
    columns = ["study", "criterion", "part", "metric", "judge", "level", "coefficient", "value"]
    rows = [
        [study, criterion, "full", metric, NO_JUDGE, "global", coefficient, value]
        for metric, criterion, coefficient, value in values
    ]
    return pd.DataFrame(rows, columns=columns)


def test_maynez_takes_spearman_with_the_released_means() -> None:
    ours = correlations(
        "xsum_hallucination",
        ("xsum_rouge1", "faithful_released", "spearman", 0.1968),
        ("xsum_rouge1", "faithful_released", "pearson", 0.5),
        ("xsum_rouge1", "faithfulness", "spearman", 0.5),
        ("xsum_entailment", "factual_released", "spearman", 0.2646),
    )
    (found,) = compare_all(["maynez_spearman"], PUBLISHED, empty(LEADERBOARD), ours)
    first, last = found.cells.to_dict("records")
    assert (first["row"], first["column"], first["published"]) == ("ROUGE-1", "Faithful", 0.197)
    assert first["note"] == ""  # .1968 is printed .197
    assert last["note"].startswith("Unexpected")  # .2646 would be .265, not .264
    assert found.n_not_run == 8
    view = published_view(found)
    assert view.rows[0][1][0] == ("0.1968", "0.197", "−0.0002", True, "")
    assert view.n_agreeing == 1


@pytest.mark.parametrize(("study", "printed"), [("topical_chat", 18), ("sfres", 9)])
def test_unieval_takes_each_dimension_with_itself(study: str, printed: int) -> None:
    ours = correlations(
        study,
        ("unieval_overall", "overall", "kendall", 0.25),
        ("unieval_overall", "naturalness", "kendall", 0.5),
        ("unieval_naturalness", "naturalness", "pearson", 0.5),
    )
    (found,) = compare_all([f"unieval_{study}"], PUBLISHED, empty(LEADERBOARD), ours)
    assert found.cells[["row", "column", "ours"]].to_numpy().tolist() == [
        ["naturalness", "Pearson", 0.5],
        ["overall", "Kendall", 0.25],
    ]
    assert found.n_not_run == printed - 2


def test_scholarsum_takes_means_by_evaluator() -> None:
    board = pd.DataFrame(
        [
            ["full", "scholarsum_fm_gpt4", NO_JUDGE, "gpt35", 0.61925],
            ["full", "scholarsum_acu", NO_JUDGE, "llama2_70b", 0.0],
            ["full", "scholarsum_gpt4", NO_JUDGE, "gpt35", 0.5],
        ],
        columns=["part", "metric", "judge", "author", "macro"],
    )
    (found,) = compare_all(["fm_table4"], PUBLISHED, board, empty(CORRELATIONS))
    gpt4, acu = found.cells.to_dict("records")
    assert (gpt4["row"], gpt4["column"], gpt4["published"]) == ("GPT-3.5", "FM GPT-4", 0.6193)
    assert gpt4["note"] == ""  # .61925 is half a unit of the fourth decimal away
    assert (acu["row"], acu["published"], acu["difference"]) == ("Llama2", 0, 0)
    assert found.n_not_run == 30
