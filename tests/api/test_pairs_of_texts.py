"""Preferences between two texts: read, answered, and a planted position bias recovered."""

import numpy as np
import pandas as pd
import pytest

from metassay import judge_check
from metassay.core.errors import BadInput

SYSTEMS = ["alpaca", "claude", "gpt-4", "llama", "vicuna"]
STRENGTH = np.array([-0.8, 0.8, 1.4, -1.4, 0.0])
OTHER = {"A": "B", "B": "A", "tie": "tie", "": ""}


def prefer(gap: float) -> str:
    if abs(gap) < 0.3:
        return "tie"
    return "A" if gap > 0 else "B"


def pairs(n: int = 120, *, bias: float = 0.0, seed: int = 0, both: bool = True):
    """Pairs of a judge in both orders, that says the first text in `bias` of the games."""
    draw = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        a, b = draw.choice(len(SYSTEMS), 2, replace=False)
        better = STRENGTH[a] - STRENGTH[b] + draw.logistic() * 0.5

        def vote(better=better) -> str:
            return prefer(better + draw.logistic() * 0.3)

        games = [vote(), OTHER[vote()]]
        shown = ["A" if draw.random() < bias else word for word in games]
        people = {f"human_{k}": vote() for k in (1, 2, 3)}
        systems = {"system_a": SYSTEMS[a], "system_b": SYSTEMS[b]}
        swapped = {"system_a": SYSTEMS[b], "system_b": SYSTEMS[a]}
        rows.append({"document": f"q{number}", **systems, "judge": shown[0], **people})
        if both:
            blank = dict.fromkeys(people, "")
            rows.append(
                {"document": f"q{number}", **swapped, "judge": shown[1], **blank}
            )
    return pd.DataFrame(rows)


def number(results, statistic: str, column: str = "value") -> float:
    return float(results.card.set_index("statistic").loc[statistic, column])


def test_a_planted_position_bias_is_recovered():
    result = judge_check(pairs(300, bias=0.3))
    plain = judge_check(pairs(300))
    # A game goes to the first text in .3 of the cases whatever it says.
    assert number(result, "position_bias", "low") > 0.15
    assert (
        number(plain, "position_bias", "low")
        < 0
        < number(plain, "position_bias", "high")
    )
    assert any("it favours the text shown first" in line for line in result.answer)
    assert any("no position bias is shown" in line for line in plain.answer)
    assert number(result, "consistency") < number(plain, "consistency")


def test_the_answer_has_agreement_systems_and_raters():
    results = judge_check(pairs())
    assert "preferences between 5 systems (system_a, system_b)" in results.notes[2]
    strengths = results.strengths.set_index(["by", "system"])["value"]
    for who in ("people", "judge"):
        assert strengths[who].idxmax() == "gpt-4"
        assert strengths[who].idxmin() == "llama"
        assert strengths[who].sum() == pytest.approx(0, abs=1e-6)
    assert number(results, "strength_correlation") > 0.9
    assert len(results.contests) == 3
    assert len(results.screen) <= 20
    assert max(map(len, results.screen)) <= 80
    assert "beats average" in "\n".join(results.screen)


def test_the_names_of_systems_and_other_words_say_the_same():
    table = pairs(both=False)
    words = {"A": "model_a", "B": "model_b", "tie": "tie (bothbad)"}
    named = table.copy()
    for row in named.index:
        word = named.loc[row, "judge"]
        if word != "tie":
            named.loc[row, "judge"] = named.loc[row, f"system_{word.lower()}"]
    expected = judge_check(table)
    for other in (table.replace(words), named):
        result = judge_check(other)
        pd.testing.assert_frame_equal(result.card, expected.card)


def test_a_judge_in_one_order_has_no_position_bias_but_stands_beside_people():
    results = judge_check(pairs(both=False, bias=0.4))
    assert "position_bias" not in {*results.card["statistic"]}
    assert number(results, "first_beside_people", "low") > 0
    assert any("it saw each pair in one order" in line for line in results.answer)


def test_what_names_neither_text_is_asked_about():
    table = pairs(both=False)
    table.loc[3, "judge"] = "unclear"
    with pytest.raises(BadInput) as caught:
        judge_check(table)
    (line,) = caught.value.problems
    assert (
        "column 'judge' has 1 cell that names neither text nor a tie: 1 'unclear'"
        in line
    )
    assert "missing='unclear'" in line
    results = judge_check(table, missing="unclear")
    assert "1 without a verdict" in results.notes[0]


def test_a_pass_makes_passes_and_fails_of_preferences():
    results = judge_check(pairs(both=False), passes="A", missing="tie")
    assert "sensitivity" in {*results.card["statistic"]}


def test_a_gate_of_preferences():
    results = judge_check(pairs(), require={"kappa": 0.99, "agreement": 0.1})
    assert len(results.unmet) == 1
    assert "cohen_kappa" in results.unmet[0]


def test_two_systems_have_no_correlation_and_results_have_a_page(tmp_path):
    table = pairs(300)
    two = table[
        table["system_a"].isin(["claude", "gpt-4"])
        & table["system_b"].isin(["claude", "gpt-4"])
    ]
    results = judge_check(two)
    assert np.isnan(number(results, "strength_correlation"))
    assert any("from 4 systems on" in line for line in results.answer)
    results.save(tmp_path / "results")
    assert (tmp_path / "results/strengths.csv").exists()
