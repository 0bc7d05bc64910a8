"""Rankings of a document's texts: found, asked about, answered, and converted to preferences."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from metassay import judge_check
from metassay.cli.main import main
from metassay.core.errors import BadInput

SYSTEMS = ["alpaca", "gpt-4", "llama", "vicuna"]
STRENGTH = np.array([-0.5, 1.2, -1.0, 0.3])


def rank(values: np.ndarray) -> np.ndarray:
    """The largest value has rank 1."""
    return scipy.stats.rankdata(-values, method="min").astype(int)


def table(documents: int = 30, raters: int = 1, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    rows = []
    for n in range(documents):
        quality = STRENGTH + draw.normal(size=len(SYSTEMS))
        columns = {"judge": rank(quality + draw.normal(0, 0.7, len(SYSTEMS)))}
        for rater in range(raters):
            name = "human" if raters == 1 else f"human_{rater + 1}"
            columns[name] = rank(quality + draw.normal(0, 0.5, len(SYSTEMS)))
        for place, system in enumerate(SYSTEMS):
            values = {name: ranks[place] for name, ranks in columns.items()}
            rows.append({"doc_id": f"d{n}", "system": system, **values})
    return pd.DataFrame(rows)


def number(results, statistic: str, column: str = "value") -> float:
    return float(results.card.set_index("statistic").loc[statistic, column])


def mean_tau(frame: pd.DataFrame, human: str = "human") -> float:
    taus = [
        scipy.stats.kendalltau(of_doc["judge"], of_doc[human]).statistic
        for _, of_doc in frame.dropna().groupby("doc_id")
    ]
    return float(np.nanmean(taus))


def refused(frame: pd.DataFrame, **options: Any) -> str:
    with pytest.raises(BadInput) as caught:
        judge_check(frame, **options)
    return "\n".join(caught.value.problems)


def test_ranks_are_compared_within_documents_and_pair_by_pair() -> None:
    frame = table()
    results = judge_check(frame)
    assert results.choices["kind"] == "rankings"
    assert number(results, "kendall") == pytest.approx(mean_tau(frame))
    assert number(results, "kendall", "n") == 30
    alike = []
    for _, of_doc in frame.groupby("doc_id"):
        left, right = np.triu_indices(len(SYSTEMS), 1)
        judge, human = of_doc["judge"].to_numpy(), of_doc["human"].to_numpy()
        alike += [
            *(
                np.sign(judge[left] - judge[right])
                == np.sign(human[left] - human[right])
            )
        ]
    assert number(results, "agreement") == pytest.approx(np.mean(alike))
    assert number(results, "agreement", "n") == 30 * 6
    strengths = results.strengths.set_index(["by", "system"])["value"]
    for who in ("people", "judge"):
        assert strengths[who].idxmax() == "gpt-4"
        assert strengths[who].idxmin() == "llama"
    # The documents that are ranked least alike come first.
    assert results.rankings["kendall"].is_monotonic_increasing
    assert len(results.rankings) == 30


def test_the_screen_says_how_ranks_were_read() -> None:
    results = judge_check(table(raters=3))
    screen = "\n".join(results.screen)
    assert "120 texts of 30 documents (doc_id); 3 raters ranked 30 documents" in screen
    assert "of which 1 is the best" in "\n".join(results.notes)
    for words in ("Kendall's tau", "rater to rater", "better system", "beats average"):
        assert words in screen
    assert len(results.screen) <= 20
    assert max(map(len, results.screen)) <= 80
    assert number(results, "kendall_among_raters") > 0.3
    assert len(results.contests) == 3


def test_a_row_per_rater_says_the_same_as_a_column_per_rater() -> None:
    wide = table(raters=2)
    long = wide.melt(
        ["doc_id", "system", "judge"],
        ["human_1", "human_2"],
        var_name="rater",
        value_name="human",
    )
    cards = [judge_check(frame).card.set_index("statistic") for frame in (wide, long)]
    pd.testing.assert_frame_equal(*cards)


def test_ties_and_missing_ranks_are_counted_and_not_the_last() -> None:
    frame = table()
    frame["judge_rank"] = frame.pop("judge").astype(float)
    frame.loc[frame["judge_rank"] == 2, "judge_rank"] = 1  # two share the first rank
    frame.loc[frame.index[:2], "judge_rank"] = np.nan
    frame.loc[frame["doc_id"] == "d9", "human"] = np.nan
    results = judge_check(frame)
    notes = "\n".join(results.notes)
    assert "tied pairs: 28 by judge_rank" in notes
    assert "lists with a text without a rank: 1 by judge_rank" in notes
    assert "1 document that no person ranked: left out" in notes
    assert number(results, "kendall", "n") == 29
    as_judge = frame.rename(columns={"judge_rank": "judge"})
    assert number(results, "kendall") == pytest.approx(mean_tau(as_judge))


def test_the_better_system_is_compared_on_the_documents_that_the_judge_ranked() -> None:
    frame = table()
    frame["judge"] = frame["judge"].astype(float)
    unranked = frame["doc_id"].isin([f"d{n}" for n in range(20)])
    frame.loc[unranked, "judge"] = np.nan
    by_strength = scipy.stats.rankdata(-STRENGTH)
    known = frame.assign(judge=np.tile(by_strength, 30))
    card = judge_check(frame).card.set_index("statistic")
    assert card.loc["kendall", "n"] == 10
    assert card.loc["kendall", "base_rate"] == pytest.approx(mean_tau(known[~unranked]))
    assert mean_tau(known[~unranked]) != pytest.approx(mean_tau(known))


def test_documents_whose_texts_are_all_tied_are_said_to_be_out_of_the_mean() -> None:
    frame = table().rename(columns={"judge": "judge_rank"})
    frame.loc[frame["doc_id"].isin(["d3", "d4"]), "judge_rank"] = 1
    answer = " ".join(judge_check(frame).answer)
    assert "mean of 28 documents" in answer
    assert "2 more documents that judge_rank ranks have no tau" in answer
    assert "no tau" not in " ".join(judge_check(table()).answer)


def test_without_systems_nothing_is_said_of_them() -> None:
    results = judge_check(table().drop(columns="system"))
    assert "strengths" not in results.tables
    assert "strength_correlation" not in set(results.card["statistic"])
    assert not any("systems" in line for line in results.answer)
    assert number(results, "kendall") == pytest.approx(mean_tau(table()))


def test_scores_of_a_judge_rank_the_texts_that_people_ranked() -> None:
    frame = table()
    as_scores = frame.assign(judge=90 - 7.5 * frame["judge"])
    results = judge_check(as_scores)
    assert number(results, "kendall") == pytest.approx(mean_tau(frame))
    assert "more is better: 'judge'" in "\n".join(results.notes)


def test_a_name_that_says_otherwise_is_asked_about_and_the_answer_followed() -> None:
    frame = table().rename(columns={"judge": "judge_quality", "human": "human_quality"})
    problems = refused(frame)
    assert "lower='judge_quality'" in problems
    results = judge_check(frame, lower=["judge_quality", "human_quality"])
    assert number(results, "kendall") == pytest.approx(mean_tau(table()))
    turned = judge_check(frame, higher=["judge_quality", "human_quality"])
    strengths = turned.strengths.set_index(["by", "system"])["value"]
    assert strengths["people"].idxmax() == "llama"


def test_ranks_with_many_ties_are_asked_about() -> None:
    frame = table()
    tied = frame["doc_id"].isin([f"d{n}" for n in range(10)]) & (frame["human"] == 2)
    frame.loc[tied, "human"] = 1
    frame["judge"] = 7.5 * frame["judge"]
    problems = refused(frame)
    assert "as ranks with ties have" in problems
    assert "lower='human'" in problems
    results = judge_check(frame, lower=["human", "judge"])
    assert results.choices["kind"] == "rankings"
    graded = judge_check(frame, higher=["human"])
    assert graded.choices["kind"] == "ordinal"


def test_a_judge_that_ranks_the_other_way_round_is_warned_of() -> None:
    frame = table()
    frame["judge"] = 5 - frame["judge"]
    results = judge_check(frame)
    assert any("the other way round" in line for line in results.warnings)
    again = judge_check(frame, higher="judge")
    assert not any("the other way round" in line for line in again.warnings)
    assert number(again, "kendall") == -number(results, "kendall")


def test_the_remedy_for_scores_that_rank_the_other_way_round_turns_them() -> None:
    frame = table()
    frame["judge"] = 7.5 * frame["judge"]
    (warning,) = judge_check(frame).warnings
    assert "lower='judge'" in warning
    turned = judge_check(frame, lower=["judge"])
    assert not turned.warnings
    assert number(turned, "kendall") == pytest.approx(mean_tau(table()))


def test_a_score_that_is_called_a_ranking_is_asked_about() -> None:
    frame = table()
    frame["ranking_score"] = 1 / frame.pop("judge")
    assert "has numbers that are no ranks of these texts" in refused(
        frame, judge="ranking_score"
    )
    results = judge_check(frame, judge="ranking_score", higher="ranking_score")
    assert number(results, "kendall") == pytest.approx(mean_tau(table()))


@pytest.mark.parametrize("documents", [10, 25])
def test_ranks_with_ties_beside_ranks_without_are_asked_about(documents: int) -> None:
    frame = table()
    tied = frame["doc_id"].isin([f"d{n}" for n in range(documents)])
    frame.loc[tied & (frame["human"] == 2), "human"] = 1
    assert "as ranks with ties have" in refused(frame)
    results = judge_check(frame, lower="human")
    assert number(results, "kendall") == pytest.approx(mean_tau(frame))
    assert number(results, "kendall") > 0.5


def test_a_required_tau_that_is_not_reached_is_unmet() -> None:
    results = judge_check(table(), require={"kendall": 0.9})
    assert any("kendall" in line for line in results.unmet)
    assert not judge_check(table(), require={"kendall": 0.1}).unmet


def test_slices_are_of_documents() -> None:
    frame = table()
    frame["topic"] = np.where(frame["doc_id"].isin(["d1", "d2", "d3"]), "x", "y")
    card = judge_check(frame, by="topic").card.set_index(["slice", "statistic"])
    assert card.loc[("topic=x", "kendall"), "n"] == 3
    frame["side"] = np.where(frame["system"] == "llama", "x", "y")
    assert "slice rankings by a column of documents" in refused(frame, by="side")


def test_other_labels_take_no_ends() -> None:
    frame = pd.DataFrame({"judge": ["pass", "fail"] * 4, "human": ["pass"] * 8})
    assert "labels here are of another kind" in refused(frame, lower="judge")


def test_the_command_writes_the_page_and_all_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table(raters=2).to_csv("ranks.csv", index=False)
    assert main(["check", "ranks.csv", "--out", "results"]) == 0
    assert "understood: rankings" in capsys.readouterr().out
    assert (tmp_path / "results" / "rankings.csv").exists()
    assert (tmp_path / "results" / "index.html").exists()


# ---- orders in one cell


def write_orders(frame: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """A row per document, with cells such as `gpt-4 > vicuna = llama`."""
    rows = []
    for doc, texts in frame.groupby("doc_id", sort=False):
        row = {"doc_id": doc}
        for column in (c for c in frame if c.startswith(("judge", "human"))):
            groups = texts.groupby(column, sort=True)["system"]
            equals = [" = ".join(names.get(s, s) for s in group) for _, group in groups]
            row[column] = " > ".join(equals)
        rows.append(row)
    return pd.DataFrame(rows)


def test_orders_in_one_cell_are_the_same_rankings() -> None:
    frame = table(raters=2)
    columns: dict[str, Any] = {"judge": "judge", "human": ["human_1", "human_2"]}
    expected = judge_check(frame, **columns)
    orders = write_orders(frame, {})
    results = judge_check(orders, **columns)
    pd.testing.assert_frame_equal(results.card, expected.card)
    pd.testing.assert_frame_equal(results.strengths, expected.strengths)
    assert any("orders are read as ranks" in note for note in results.notes)
    # Letters are not systems: A may be another system's text in each row.
    letters = dict(zip(SYSTEMS, "ABCD", strict=True))
    of_letters = judge_check(write_orders(frame, letters).drop(columns="doc_id"))
    assert number(of_letters, "kendall") == pytest.approx(number(expected, "kendall"))
    assert "strengths" not in of_letters.tables
    assert of_letters.disagreements["pair"].str.fullmatch("[ABCD]/[ABCD]").all()


def test_equal_names_and_names_that_a_judge_leaves_out() -> None:
    frame = table()
    orders = write_orders(frame, {})
    orders.loc[0, "judge"] = "gpt-4 > vicuna = llama"
    results = judge_check(orders)
    notes = " ".join(results.notes)
    assert "tied pairs: 1 by judge" in notes
    assert "lists with a text without a rank: 1 by judge" in notes


def test_a_label_of_the_whole_row_beside_orders_is_refused() -> None:
    orders = write_orders(table(raters=2), {}).assign(human_2=1)
    message = refused(orders, judge="judge", human=["human_1", "human_2"])
    assert (
        "'human_2' does not; write these in the same way, or name other columns"
        in message
    )


def test_a_cell_that_is_no_order_is_named_and_may_be_missing() -> None:
    orders = write_orders(table(), {})
    orders.loc[3, "judge"] = "none of them"
    message = refused(orders)
    assert "has 'none of them', which is no order such as A > B" in message
    assert "missing='none of them'" in message
    results = judge_check(orders, missing="none of them")
    assert number(results, "kendall", "n") == 29


def test_signs_in_other_columns_are_no_orders() -> None:
    frame = table().assign(config="temperature=0 > default")
    assert judge_check(frame).choices["kind"] == "rankings"
    assert len(judge_check(frame).disagreements) == len(
        judge_check(table()).disagreements
    )
