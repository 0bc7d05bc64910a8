"""A card that `judge-check --out` wrote, beside the labels of other texts."""

import random
from pathlib import Path

import pandas as pd
import pytest

from metassay import judge_check
from metassay.cli.main import main
from metassay.core.errors import BadInput


def verdicts(n, accuracy, seed, *, judge="judge"):
    """Rows of two systems; the judge is right on so many of them."""
    draw = random.Random(seed)
    rows = []
    for number in range(n):
        passes = draw.random() < 0.6
        right = draw.random() < accuracy
        rows.append(
            {
                "id": f"r{number}",
                "system": "alba" if number % 2 else "brise",
                judge: "pass" if passes == right else "fail",
                "human": "pass" if passes else "fail",
            }
        )
    return pd.DataFrame(rows)


@pytest.fixture
def card(tmp_path: Path) -> Path:
    judge_check(verdicts(400, 0.9, 1)).save(tmp_path / "card")
    return tmp_path / "card"


def outcomes(results):
    table = results.table("transfer")
    return table.set_index(["slice", "statistic"])["outcome"]


def test_a_judge_that_stayed_as_good_holds(card):
    results = judge_check(verdicts(600, 0.9, 2), card=card, margin=0.1)
    whole = outcomes(results).loc["all"]
    assert whole.to_dict() == {"sensitivity": "holds", "specificity": "holds"}
    assert not results.unmet
    assert results.answer[0].startswith(
        f"Does the card of {card / 'card.csv'} hold here"
    )
    row = results.table("transfer").iloc[0]
    assert row["difference"] == pytest.approx(row["value"] - row["on_card"])


def test_one_that_got_worse_is_named_with_its_slices(card):
    both = pd.concat([verdicts(600, 0.95, 3), verdicts(600, 0.6, 4)])
    both["id"] = [f"r{number}" for number in range(len(both))]
    both["site"] = ["a"] * 600 + ["b"] * 600
    results = judge_check(both, card=card, margin=0.05, by="site")
    by_slice = outcomes(results)
    assert by_slice["site=a", "sensitivity"] == "holds"
    assert by_slice["site=b", "sensitivity"] == "worse"
    assert any("judge on site=b: sensitivity" in line for line in results.unmet)


def test_without_labels_nothing_is_checked(card):
    unlabelled = verdicts(100, 0.9, 5).assign(human="")
    labelled = verdicts(100, 0.9, 6).assign(system="cleo")
    labelled["id"] = [f"c{number}" for number in range(100)]
    results = judge_check(
        pd.concat([unlabelled.assign(system="dora"), labelled]),
        card=card,
        judge="judge",
        human="human",
        doc="id",
        system="system",
    )
    assert outcomes(results)["system=dora"].unique().tolist() == ["not checked"]
    assert any("Nothing is labelled on system=dora" in line for line in results.answer)


@pytest.mark.parametrize(
    ("n", "accuracy", "code"), [(2000, 0.9, 0), (20, 0.9, 3), (600, 0.6, 4)]
)
def test_the_exit_code_says_whether_it_holds(tmp_path, card, n, accuracy, code):
    verdicts(n, accuracy, 7).to_csv(tmp_path / "new.csv", index=False)
    words = ["judge-check", str(tmp_path / "new.csv"), "--card", str(card)]
    assert main([*words, "--out", str(tmp_path / "out")]) == code
    assert (tmp_path / "out/transfer.csv").exists()


def test_a_card_of_another_judge_is_refused_and_its_judge_named(card):
    new = verdicts(50, 0.9, 8, judge="judge_b")
    with pytest.raises(BadInput, match="no judge called judge_b; it has judge"):
        judge_check(new, card=card)
    results = judge_check(new.rename(columns={"judge_b": "judge"}), card=card)
    assert "transfer" in results.tables


def test_what_is_no_card_is_refused_with_the_command_that_writes_one(tmp_path, capsys):
    new = verdicts(50, 0.9, 8)
    new.to_csv(tmp_path / "new.csv", index=False)
    for place in (tmp_path / "none", tmp_path / "new.csv", tmp_path):
        words = ["judge-check", str(tmp_path / "new.csv"), "--card", str(place)]
        assert main(words) == 2
        assert "metassay judge-check FILE --out FOLDER" in capsys.readouterr().err


def test_a_card_of_chosen_labels_is_as_unsure_as_its_interval(tmp_path):
    """Specificity rests on the few labels of rows that the judge passes."""
    earlier = verdicts(1500, 0.9, 9)
    unlabelled = (earlier["judge"] == "pass") & (earlier.index % 5 != 0)
    earlier.loc[unlabelled, "human"] = ""
    saved = judge_check(earlier)
    saved.save(tmp_path / "chosen")
    rows = saved.card.set_index(["slice", "statistic"])
    of_card = rows.loc[("all", "specificity")]
    later = judge_check(verdicts(6000, 0.9, 10), card=tmp_path / "chosen")
    row = later.table("transfer").set_index(["slice", "statistic"])
    difference = row.loc[("all", "specificity")]
    # The card's own side of the interval alone is as wide as its half.
    assert (
        difference["difference"] - difference["low"]
        >= of_card["high"] - of_card["value"]
    )
    assert (
        difference["high"] - difference["difference"]
        >= of_card["value"] - of_card["low"]
    )


def test_a_card_with_another_pass_is_refused_with_the_option_to_repeat(tmp_path):
    grades = verdicts(200, 0.9, 11)
    for column in ("judge", "human"):
        grades[column] = grades[column].map({"pass": "4", "fail": "2"})
    judge_check(grades, pass_from=3).save(tmp_path / "card")
    with pytest.raises(BadInput, match=r"made with pass_from=3, .* with pass_from=4;"):
        judge_check(grades, pass_from=4, card=tmp_path / "card")
    results = judge_check(grades, pass_from=3, card=tmp_path / "card")
    assert "transfer" in results.tables
