"""A table with one row per system: about systems, with doubt, and never about texts."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from metassay import judge_check
from metassay.cli.main import main
from metassay.core.errors import BadInput

HUMAN = [4.2, 3.9, 3.7, 2.4, 2.9, 3.1, 3.3]
BLEU = [30.1, 27.0, 28.2, 20.5, 22.5, 24.0, 25.1]


def board(**columns: Any) -> pd.DataFrame:
    systems = ["gpt4", "llama", "mistral", "flan", "t5", "pegasus", "bart"]
    noise = [0.2, -0.4, 0.3, 0.1, 0.9, -0.8, 0.05]
    return pd.DataFrame(
        {"system": systems, "bleu": BLEU, "rouge": noise, **columns, "human": HUMAN}
    )


def only_row(results, score: str = "bleu") -> pd.Series:
    return results.systems.set_index("score").loc[score]


def test_every_score_is_compared_over_systems() -> None:
    results = judge_check(board())
    assert results.choices["kind"] == "systems"
    assert {*results.systems["score"]} == {"bleu", "rouge"}
    row = only_row(results)
    assert row["pearson"] == pytest.approx(scipy.stats.pearsonr(BLEU, HUMAN)[0])
    assert row["spearman"] == pytest.approx(scipy.stats.spearmanr(BLEU, HUMAN)[0])
    assert row["kendall"] == pytest.approx(scipy.stats.kendalltau(BLEU, HUMAN)[0])
    assert row["n_systems"] == 7
    assert (row["pairs_right"], row["pairs_wrong"]) == (20, 1)
    assert row["verdict"] == "related"
    assert only_row(results, "rouge")["verdict"] == "not shown"


def test_p_is_that_of_all_orders_and_of_the_best_of_all_scores() -> None:
    results = judge_check(board())

    def statistic(x):
        return np.corrcoef(x, HUMAN)[0, 1]

    exact = scipy.stats.permutation_test(
        (BLEU,), statistic, permutation_type="pairings", n_resamples=np.inf
    )
    row = only_row(results)
    assert row["p"] == pytest.approx(exact.pvalue, abs=1e-3)
    assert row["p_of_best"] >= row["p"]
    alone = only_row(judge_check(board().drop(columns="rouge")))
    assert alone["p_of_best"] == alone["p"]


def test_nothing_is_said_about_texts() -> None:
    results = judge_check(board())
    screen = "\n".join(results.screen)
    assert "7 systems (system), one row each" in screen
    assert "Nothing here is about single" in screen
    assert "pairs in order" in screen
    assert "labelled" not in screen
    assert "More labels" not in screen
    assert len(results.screen) <= 20
    assert max(map(len, results.screen)) <= 80
    assert "use" not in {*results.systems["verdict"]}


@pytest.mark.parametrize("n", [2, 3])
def test_two_or_three_systems_have_no_interval(n: int) -> None:
    row = only_row(judge_check(board().head(n)))
    assert row["verdict"] == "too few systems"
    assert np.isnan(row["pearson_low"])
    assert np.isnan(row["p"])


def test_four_systems_with_one_pair_in_another_order_show_nothing() -> None:
    row = only_row(judge_check(board().head(4)))
    assert row["verdict"] == "not shown"
    assert row["p"] >= 2 / 24


def test_p_of_exactly_the_level_shows_nothing() -> None:
    human, score = [13, 14, 20, 24, 28], [14, 5, 17, 21, 25]
    frame = pd.DataFrame({"system": list("abcde"), "bleu": score, "human": human})
    as_large = [
        abs(np.corrcoef(score, order)[0, 1])
        >= abs(np.corrcoef(score, human)[0, 1]) - 1e-9
        for order in itertools.permutations(human)
    ]
    assert sum(as_large) == 6
    row = only_row(judge_check(frame))
    assert row["p"] == 6 / 120
    assert row["verdict"] == "not shown"


def test_a_named_column_without_numbers_is_refused() -> None:
    frame = board(words=list("abcdefg"))
    with pytest.raises(BadInput, match="column 'words' has no numbers"):
        judge_check(frame, judge=["bleu", "words"])


def test_a_column_whose_less_and_more_is_better_is_refused() -> None:
    with pytest.raises(BadInput, match=r"'bleu' is named by lower=.* and by higher="):
        judge_check(board(), lower="bleu", higher="bleu")


def test_several_columns_of_people_are_said_to_be_tested_one_by_one() -> None:
    results = judge_check(board(human_fluency=HUMAN[::-1]))
    assert "Each of the 2 columns of people's scores" in " ".join(results.answer)


def test_a_score_that_is_better_the_less_is_turned() -> None:
    results = judge_check(board(ter=[-value for value in BLEU]))
    assert only_row(results, "ter")["pearson"] == pytest.approx(
        only_row(results)["pearson"]
    )
    assert "less is better: 'ter'" in "\n".join(results.notes)
    worse = judge_check(board(grade=[-value for value in BLEU]))
    assert only_row(worse, "grade")["verdict"] == "reversed"
    assert any("Reversed" in line for line in worse.answer)
    turned = judge_check(board(grade=[-value for value in BLEU]), lower="grade")
    assert only_row(turned, "grade")["verdict"] == "related"


def test_systems_that_people_set_apart_are_told() -> None:
    draw = np.random.default_rng(0)
    human = [1.0, 1.02, 1.04, 1.05, 1.07, 5.0, 5.03]
    frame = board(sees_class=np.array(human) + draw.normal(0, 0.3, 7))
    frame["human"] = human
    results = judge_check(frame)
    row = only_row(results, "sees_class")
    assert row["pearson"] > 0.95
    assert row["n_apart"] == 2
    assert row["pearson_without"] < 0.8
    assert any("2 systems stand apart" in line for line in results.answer)


def test_columns_of_several_people_are_each_compared() -> None:
    frame = board(human_fluency=HUMAN[::-1])
    results = judge_check(frame)
    assert {*results.systems["human"]} == {"human", "human_fluency"}


def test_missing_scores_and_unread_columns_are_said() -> None:
    frame = board(length=range(7), team=list("abcdefg"))
    frame.loc[0, "bleu"] = np.nan
    results = judge_check(frame)
    notes = "\n".join(results.notes)
    assert "systems without a score: 1 in 'bleu'" in notes
    assert "not compared: 'length'" in notes
    assert "columns that are not read: 'team'" in notes
    assert only_row(results)["n_systems"] == 6


@pytest.mark.parametrize(
    "frame",
    [
        board().assign(doc_id=list("abcdefg")),
        pd.concat([board(), board()]),
        board().assign(
            bleu=[1, 0, 1, 0, 1, 0, 1], human=[1, 0, 1, 1, 1, 0, 1], rouge=0
        ),
    ],
    ids=["documents", "two rows of a system", "passes and fails"],
)
def test_tables_of_texts_are_none(frame: pd.DataFrame) -> None:
    results = judge_check(frame, judge="bleu", human="human")
    assert results.choices["kind"] != "systems"


def test_rows_of_one_split_are_a_leaderboard() -> None:
    splits = [board().assign(split="test"), board(bleu=BLEU[::-1]).assign(split="dev")]
    results = judge_check(pd.concat(splits), rows={"split": ["test"]})
    assert results.choices["kind"] == "systems"
    assert only_row(results)["pearson"] == only_row(judge_check(board()))["pearson"]
    assert "rows with 'split' = 'test' count; 7 rows left out" in results.notes


def test_what_takes_texts_is_refused() -> None:
    with pytest.raises(BadInput, match="takes labels of texts"):
        judge_check(board(), require={"kappa": 0.5})


def test_check_says_what_it_understood(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    board().to_csv("board.csv", index=False)
    assert main(["check", "board.csv", "--out", "results"]) == 0
    assert "understood: a leaderboard: one row per system" in capsys.readouterr().out
    assert (tmp_path / "results" / "systems.csv").exists()
    assert (tmp_path / "results" / "index.html").exists()


def test_systems_under_another_name_are_named_by_an_option() -> None:
    frame = board().rename(columns={"system": "entry"})
    as_texts = judge_check(frame, judge="bleu")
    assert "if each row is a system, say system='COLUMN'" in "\n".join(as_texts.notes)
    results = judge_check(frame, system="entry")
    assert results.choices["kind"] == "systems"
    assert {*results.systems["score"]} == {"bleu", "rouge"}


@pytest.mark.parametrize("option", ["lower", "higher", "judge", "human"])
def test_a_column_that_is_not_there_is_refused(option: str) -> None:
    with pytest.raises(BadInput, match="there is no column 'bleuu'"):
        judge_check(board(), **{option: ["bleu", "bleuu"]})
