"""Our claim scores beside the printed ones: invented scores, printed digits, ranks by hand."""

import pandas as pd
import pytest

from metassay.meta_evaluation.correlations import CORRELATIONS
from metassay.paper_figures.published import compare_all
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import empty
from tests.reporting.invented_report import PUBLISHED, left_out, ours_of

SYSTEMS = ("bart_samsum_full", "bart_samsum_section", "biobart_full", "biobart_section")


def leaderboard_of(values):
    """`values`: macro by part, metric, judge and author; micro puts the authors the other way."""
    made = [
        {
            **{"part": part, "metric": metric, "judge": judge, "author": author, "macro": macro},
            **{"low": macro - 0.1, "high": macro + 0.1, "micro": 1 - macro},
            **{"n_documents": 40, "n_undefined": 8 if part == "objective_results" else 0},
            **{"n_expected": 1287, "n_failed": 0 if part == "full" else 3},
        }
        for (part, metric, judge, author), macro in values.items()
    ]
    return pd.DataFrame(made)


def compared_with(values):
    board = leaderboard_of(values)
    found = compare_all(["doclens_claims"], PUBLISHED, ours_of(board, empty(CORRELATIONS)))
    return found


@pytest.fixture(scope="module")
def compared():
    # printed by GPT-4 for whole notes: 20.30, 33.59, 16.53, 29.37; ours swaps the first two
    ours = dict(zip(SYSTEMS, (0.9, 0.8, 0.1, 0.7), strict=True))
    values = {("full", "claim_recall", "word", a): v for a, v in ours.items()}
    values |= {("subjective", "claim_recall", "word", a): v for a, v in ours.items()}
    values["full", "claim_precision", "word", "bart_samsum_full"] = 0.5
    values["full", "claim_recall", "word", "chatgpt"] = 0.5  # not the printed notes of GPT-3.5
    values["full", "claim_recall", "none", "biobart_full"] = 0.5
    values["full", "citation_recall", "word", "biobart_full"] = 0.5
    return compared_with(values)


def test_the_same_texts_stand_beside_the_printed_shares(compared):
    scores = compared.tables["published_doclens_claims"].set_index(["metric", "section", "author"])
    assert list(scores.index.get_level_values("metric")) == ["claim_recall"] * 8 + [
        "claim_precision"
    ]
    assert list(scores.index.get_level_values("author"))[:4] == list(SYSTEMS)
    first = scores.loc["claim_recall", "full", "bart_samsum_full"]
    assert (first["macro"], first["judge"], first["system"]) == (
        0.9,
        "word",
        "BART + SAMSum FT, full",
    )
    assert (first["GPT-4 (printed)"], first["TRUE (printed)"]) == (0.2030, 0.1995)
    unread = scores.loc["claim_recall", "subjective", "biobart_full"]
    assert pd.isna(unread["GPT-4 (printed)"])  # could not be read in table 25
    assert unread["Mistral (printed)"] == 0.4433


def test_what_has_no_row_of_ours_is_counted(compared):
    # tables 21 to 23 and 25 to 27 print 810 numbers; here are 3 x 4 whole notes, of subjective
    # sections 4 + 4 and 1 of GPT-4's (3 of its could not be read), and 3 of precision
    assert left_out(compared) == 3 * 56 + 215 + 216 + 211 - (12 + 9 + 3)
    assert left_out(compared_with({("full", "claim_recall", "w", "x"): 0.5})) == 810


def test_rank_correlations_by_hand(compared):
    key = ["metric", "section", "judge", "mean", "evaluator"]
    ranks = compared.tables["published_doclens_claims_ranks"].set_index(key)
    ours = ranks.loc["claim_recall", "full", "word", "macro", "GPT-4"]
    # ranks 4 3 1 2 of ours, 2 4 1 3 of theirs: rho = 1 - 6 x 6 / 60 = .4; 4 of 6 pairs: tau 1/3
    assert (ours["n"], ours["spearman"], ours["kendall"]) == (4, 0.4, pytest.approx(1 / 3))
    assert ours["smallest_p"] == pytest.approx(2 / 24)
    micro = ranks.loc["claim_recall", "full", "word", "micro", "GPT-4"]
    assert micro["spearman"] == -0.4
    yardstick = ranks.loc["claim_recall", "full", "TRUE (printed)", "printed", "GPT-4"]
    assert (yardstick["spearman"], yardstick["n"]) == (1, 4)
    too_few = ranks.loc["claim_recall", "subjective", "word", "macro", "GPT-4"]
    assert too_few["n"] == 1
    assert pd.isna(too_few["spearman"])


def test_few_systems_are_warned_of_and_what_is_left_out_is_counted(compared):
    scores, ranks = compared.blocks.values()
    assert list(compared.blocks) == list(compared.tables)
    assert ranks["says"][0].startswith("Only 4 systems can be compared, so that no p can be below")
    assert "below .083" in ranks["says"][0]
    assert scores["says"][1] == "786 printed values of other texts or measures are left out."


def test_nothing_of_ours_is_said():
    found = compare_all(
        ["doclens_claims"], PUBLISHED, ours_of(empty(LEADERBOARD), empty(CORRELATIONS))
    )
    assert found.tables["published_doclens_claims"].empty
    assert found.blocks["published_doclens_claims_ranks"]["says"][0].startswith("Too few systems")
