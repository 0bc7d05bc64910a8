"""One table of verdicts and labels: how it is read, and what is said of it."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from metassay.api.judge_check import JudgeCheck, judge_check
from metassay.core.errors import BadInput


def sixty(**columns):
    """60 rows, 20 documents; judge and person disagree in 6."""
    people = np.array([i % 10 != 0 and i % 10 != 5 for i in range(60)])
    judge = people ^ np.isin(np.arange(60), (3, 10, 21, 33, 45, 57))
    words = {True: "pass", False: "fail"}
    frame = {
        "doc_id": [f"d{i // 3}" for i in range(60)],
        "judge": [words[bool(v)] for v in judge],
        "human": [words[bool(v)] for v in people],
    }
    return pd.DataFrame({**frame, **columns})


def value(found, statistic, part="all", column="value"):
    card = found.card
    return card[(card["slice"] == part) & (card["statistic"] == statistic)][column].iloc[0]


def test_sixty_rows_in_three_lines():
    found = judge_check(sixty())
    frame = sixty()
    # 48 pass: of the 6 errors, at 3, 21, 33, 57 people pass; at 10 and 45 they fail.
    assert value(found, "sensitivity") == pytest.approx(44 / 48)
    assert value(found, "specificity") == pytest.approx(10 / 12)
    assert value(found, "cohen_kappa") == pytest.approx(
        cohen_kappa_score(frame["judge"], frame["human"])
    )
    p = (46 + 48) / 120  # the mean share of passes
    assert value(found, "gwet_ac1") == pytest.approx(
        (0.9 - 2 * p * (1 - p)) / (1 - 2 * p * (1 - p))
    )
    assert value(found, "sensitivity", column="base_rate") == 1
    assert value(found, "specificity", column="base_rate") == 0
    assert value(found, "agreement", column="base_rate") == pytest.approx(0.8)
    assert value(found, "gwet_ac1", column="base_rate") == pytest.approx((0.8 - 0.18) / 0.82)
    rates = found.table("pass_rates").set_index("method")["value"]
    assert rates["as judged"] == pytest.approx(46 / 60)
    assert rates["people alone"] == pytest.approx(48 / 60)
    assert "columns guessed: judge=judge; human=human; doc=doc_id" in found.notes
    assert "20 documents (doc_id), whose rows count as alike" in found.notes[0]
    assert isinstance(found, JudgeCheck)


def test_the_first_screen_has_twenty_lines_of_eighty_columns_at_most():
    rng = np.random.default_rng(1)
    many = {f"gpt_{n}_with_a_very_long_name_judge": rng.integers(2, size=60) for n in range(3)}
    raters = {f"rater_{n}": rng.integers(2, size=60) for n in range(4)}
    frame = sixty(**many, **raters, topic=[f"t{i % 5}" for i in range(60)])
    require = {"sensitivity": 0.9, "specificity": 0.9, "kappa": 0.5}
    starts = ("base ", "pass ", "May i", "More ", "Disag")
    for found in (
        judge_check(sixty()),
        judge_check(frame, by="topic"),
        judge_check(frame.drop(columns=list(many)), by="topic"),
    ):
        assert len(found.screen) <= 20
        assert max(map(len, found.screen)) <= 80
        assert {*starts} <= {line[:5] for line in found.screen}
        assert repr(found).startswith(found.screen[0])
    gate = judge_check(frame, by="topic", require=require)
    assert len(gate.screen) <= 20
    assert any(line.startswith("NOT MET: judge: sensitivity") for line in gate.screen)
    screen = "\n".join(judge_check(sixty()).screen)
    for said in ("sensitivity", "specificity", "kappa", "AC1", "base rate alone", "as judged",
                 "corrected", "people alone", "May it replace a rater?", "More labels",
                 "Disagreements of judge: 6 of 60, the surest first: row 3"):  # fmt: skip
        assert said in screen


@pytest.mark.parametrize(
    ("judge", "human"),
    [
        ("verdict", "human_label"),
        ("prediction", "label"),
        ("llm_score", "expert"),
        ("anything", "annotator_1"),
        ("judge", "whoever"),
    ],
)
def test_columns_are_guessed_where_names_leave_one_choice(judge, human):
    frame = sixty().rename(columns={"judge": judge, "human": human})
    found = judge_check(frame)
    assert found.notes[1] == f"columns guessed: judge={judge}; human={human}; doc=doc_id"
    assert value(found, "sensitivity") == pytest.approx(44 / 48)


def test_people_are_held_against_their_own_scorer():
    frame = sixty().rename(columns={"judge": "facts", "human": "facts_human_ann"})
    frame["llm-rubric"] = ["pass", "fail"] * 30
    found = judge_check(frame)
    assert found.notes[1] == "columns guessed: judge=facts; human=facts_human_ann; doc=doc_id"
    two = frame.assign(tone=frame["facts"], tone_human_ann=frame["facts_human_ann"])
    with pytest.raises(BadInput, match="no column is clearly that of people's labels; say which"):
        judge_check(two)
    assert "human=tone_human_ann" in judge_check(two, judge="tone").notes[1]
    both = two.rename(columns={"tone": "tone_judge_gpt"}).assign(tone_judge_mini=frame["facts"])
    found = judge_check(both, human="tone_human_ann")
    assert [*found.card["judge"].unique()] == ["tone_judge_gpt", "tone_judge_mini"]


def test_what_names_do_not_tell_is_asked_for():
    frame = sixty().rename(columns={"judge": "a", "human": "b"})
    with pytest.raises(BadInput) as caught:
        judge_check(frame)
    assert caught.value.problems == (
        "the table: no column is clearly that of a judge's verdicts; say which: judge=COLUMN, of"
        " 'a', 'b'",
        "the table: no column is clearly that of people's labels; say which: human=COLUMN, of"
        " 'a', 'b'",
    )
    assert value(judge_check(frame, judge="a", human="b"), "sensitivity") == pytest.approx(44 / 48)


@pytest.mark.parametrize(
    ("good", "bad"),
    [("yes", "no"), ("True", "False"), ("C", "I"), ("correct", "incorrect"), (1, 0)],
)
def test_labels_in_words_numbers_and_truth_values(good, bad):
    words = {"pass": good, "fail": bad}
    frame = sixty().replace({"judge": words, "human": words})
    assert value(judge_check(frame), "specificity") == pytest.approx(10 / 12)


def test_words_and_grades_of_ones_own():
    frame = sixty().replace({"human": {"pass": "faithful", "fail": "made up"}})
    with pytest.raises(BadInput, match="column 'human' holds 'faithful', 'made up'; name those"):
        judge_check(frame)
    found = judge_check(frame, passes=["faithful", "pass"])
    assert value(found, "specificity") == pytest.approx(10 / 12)
    assert "'faithful' is a pass, 'made up' a fail (1 column: 'human')" in found.notes
    graded = sixty().replace({"human": {"pass": 4, "fail": 2}})
    with pytest.raises(BadInput, match=r"has numbers from 2 to 4; .* pass_from=NUMBER"):
        judge_check(graded)
    assert value(judge_check(graded, pass_from=3), "specificity") == pytest.approx(10 / 12)


def test_a_blank_label_is_judged_only():
    frame = sixty()
    frame.loc[40:, "human"] = ""
    found = judge_check(frame)
    assert "60 rows, 40 labelled by 1 rater, 20 judged only" in found.notes[0]
    rates = found.pass_rates.set_index("method")
    assert rates.loc["as judged", "n"] == 60
    assert rates.loc["people alone", "n"] == rates.loc["corrected", "n"] == 40
    assert value(found, "agreement", column="n") == 40


def test_no_label_at_all_is_no_fault():
    found = judge_check(sixty(human=[""] * 60))
    assert np.isnan(value(found, "sensitivity"))
    assert any("Unknown" in line for line in found.answer)


def raters(n=90, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.7
    return pd.DataFrame(
        {
            "id": [f"t{i}" for i in range(n)],
            "judge": (truth == (rng.random(n) < 0.95)).astype(int),
            **{
                name: (truth == (rng.random(n) < 0.85)).astype(int)
                for name in ("ann", "ben", "cleo")
            },
        }
    )


def test_several_columns_and_a_column_of_raters_say_the_same():
    wide = raters()
    people = ["ann", "ben", "cleo"]
    long = wide.melt(["id", "judge"], people, var_name="rater", value_name="label")
    a = judge_check(wide, human=people)
    b = judge_check(
        long.sample(frac=1, random_state=1).sort_values(
            "id", key=lambda c: c.str[1:].astype(int), kind="stable"
        )
    )
    for name in ("card", "contests", "by_agreement", "replacement"):
        pd.testing.assert_frame_equal(a.table(name), b.table(name))
    assert "rater=rater" in b.notes[1]
    assert bool(a.replacement["passes"][0])
    assert any(line.startswith("May it replace a rater? judge: yes, as good as 3 of 3")
               for line in a.answer)  # fmt: skip
    assert {*a.latent["identified"]} == {"by three verdicts an item"}


def test_documents_are_told_from_items_where_each_rater_has_a_row():
    wide = raters().assign(doc_id=[f"d{i // 5}" for i in range(90)])
    people = ["ann", "ben", "cleo"]
    long = wide.melt(["id", "doc_id", "judge"], people, var_name="rater", value_name="label")
    long["row_id"] = range(len(long))
    expected, found = judge_check(wide, human=people), judge_check(long)
    assert "doc=doc_id" in found.notes[1]
    for name in ("card", "contests"):
        pd.testing.assert_frame_equal(found.table(name), expected.table(name))
    # Where each item has one rater of several, its id is in one row alone.
    single = long[long["id"].str[1:].astype(int) % 3 == long["rater"].map(people.index)]
    found = judge_check(single.drop(columns="row_id"))
    assert "90 rows, 90 labelled by 3 raters; 18 documents (doc_id)" in found.notes[0]


def test_rows_of_raters_that_cannot_be_are_refused():
    wide = raters(4)
    long = wide.melt(["id", "judge"], ["ann", "ben"], var_name="rater", value_name="label")
    twice = pd.concat([long, long.iloc[[2]]], ignore_index=True)
    with pytest.raises(BadInput, match="the same item a second time by the same rater"):
        judge_check(twice)
    long.loc[5, "judge"] = 1 - long.loc[5, "judge"]
    with pytest.raises(BadInput, match="differs between rows of the same item"):
        judge_check(long)
    with pytest.raises(BadInput, match="no column that names the item"):
        judge_check(long.drop(columns="id"), judge="judge", human="label")


def test_a_split_item_is_left_out_and_counted():
    frame = pd.DataFrame(
        {"judge": [1, 1, 0, 0], "expert_1": [1, 1, 0, 0], "expert_2": [1, 0, 0, 0]}
    )
    found = judge_check(frame)
    assert "1 split by raters and left out of the card" in found.notes[0]
    assert value(found, "agreement", column="n") == 3


def test_probabilities_have_a_sureness():
    frame = sixty()
    frame["judge"] = np.where(frame["judge"] == "pass", 0.8, 0.3)
    frame.loc[33, "judge"] = 0.01
    found = judge_check(frame)
    assert found.disagreements["id"][0] == "row 33"
    assert found.disagreements["probability"][0] == 0.01
    assert value(found, "sensitivity") == pytest.approx(44 / 48)


def test_a_requirement_is_held_against_the_lower_end():
    found = judge_check(sixty(), require={"sensitivity": 0.9, "kappa": 0.1})
    (line,) = found.unmet
    assert re.match(r"NOT MET: judge: sensitivity .92 has the lower end .8\d, not .90 or", line)
    rates = found.pass_rates.set_index("method")
    assert rates["refused"].to_dict() == {
        "as judged": False,
        "people alone": False,
        "corrected": True,
        "corrected by sensitivity and specificity": True,
    }
    assert np.isnan(rates.loc["corrected", "value"])
    assert not judge_check(sixty(), require={"sensitivity": 0.5}).unmet
    (row,) = found.labels[found.labels["aim"] == "lower end 0.9"].to_dict("records")
    low = value(found, "sensitivity", column="low")
    ratio = (44 / 48 - low) / (44 / 48 - 0.9)
    assert row["more"] == pytest.approx(np.ceil(60 * ratio**2) - 60)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"require": {"charm": 0.5}}, "require charm=0.5: write one of sensitivity, "),
        ({"epsilon": 1.0}, "epsilon 1: write a number between 0 and 1"),
        ({"width": 0.0}, "width 0: write a number between 0 and 1"),
        ({"judge": "nobody"}, "there is no column 'nobody'"),
        ({"judge": "judge", "human": "judge"}, "is named as judge and as human"),
        ({"doc": "nothing"}, "there is no column 'nothing'"),
    ],
)
def test_what_cannot_be_is_said(options, said):
    with pytest.raises(BadInput, match=re.escape(said)):
        judge_check(sixty(), **options)


def test_slices_and_systems():
    frame = sixty(system=["x", "y"] * 30, topic=["a"] * 45 + ["b"] * 15)
    found = judge_check(frame, by="topic")
    assert [*found.card["slice"].unique()] == ["all", "system=x", "system=y", "topic=a", "topic=b"]
    assert value(found, "agreement", "topic=b", "n") == 15


def test_equal_tables_give_equal_files(tmp_path):
    contents = []
    for place in ("a/out", "b/out"):
        judge_check(sixty()).save(tmp_path / place)
        files = [one for one in (tmp_path / place).rglob("*") if one.is_file()]
        contents.append({str(f.relative_to(tmp_path / place)): f.read_bytes() for f in files})
    assert contents[0] == contents[1]
    assert {"card.csv", "pass_rates.csv", "labels.csv", "disagreements.csv"} <= {*contents[0]}
    assert json.loads(contents[0]["choices.json"])["doc"] == "doc_id"


def test_the_page_has_the_card_in_words_and_every_table(tmp_path):
    found = judge_check(sixty(topic=["a"] * 45 + ["b"] * 15), by="topic")
    found.save(tmp_path / "out")
    (call,) = (tmp_path / "out/page/data/head.js").read_text("utf-8").splitlines()
    head = json.loads(call.removeprefix('metassay("head",').removesuffix(")"))
    (card,) = [row for row in head["answer"] if row.startswith("judge: sensitivity ")]
    assert f" {value(found, 'specificity'):.2f}".replace("0.", ".") in card
    assert "Pass rate: .77 [" in card  # of all 60 rows, 46 of which the judge passes
    assert {table["name"] for table in head["tables"]} == {*found.tables}


def test_a_table_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match="no table is called 'cards' here; there are: card,"):
        judge_check(sixty()).table("cards")
    assert judge_check(sixty())._repr_html_().startswith("<pre>the table: 60 rows")


def test_a_label_of_few_documents_is_warned_of():
    frame = sixty()
    frame["doc_id"] = [f"d{i // 10}" for i in range(60)]
    frame["human"] = ["fail" if i < 12 else "pass" for i in range(60)]
    warned = [line for line in judge_check(frame).answer if line.startswith("WARNING")]
    assert warned == ["WARNING: people fail rows of 2 documents only: each document counts once."]
    assert not any(line.startswith("WARNING") for line in judge_check(sixty()).answer)


def test_what_programs_export_is_read():
    frame = sixty().drop(columns="doc_id")
    people, judge = frame["human"] == "pass", frame["judge"] == "pass"
    questions = [f"What is the answer to question {n}?" for n in range(60)]
    marks = {True: "C", False: "I"}
    exports = {
        "ragas": {"user_input": questions, "faithfulness": judge * 0.8, "human": people},
        "DeepEval": {"name": [f"test_{n}" for n in range(60)], "success": judge, "gold": people},
        "promptfoo": {"vars.q": questions, "pass": judge.map(str), "expert": people.map(str)},
        "Inspect": {"id": range(60), "score": judge.map(marks), "label": people.map(marks)},
        "Langfuse": {"traceId": questions, "llm-judge": judge * 1.0, "manual": people * 1.0},
        "MLflow": {"correctness/score": frame["judge"], "human/value": frame["human"]},
    }
    for name, columns in exports.items():
        found = judge_check(pd.DataFrame(columns))
        assert value(found, "sensitivity") == pytest.approx(44 / 48), name
        assert "each row by itself" in found.notes[0], name


def test_a_column_that_names_somebody_holds_no_verdicts():
    frame = sixty(model=["a", "b"] * 30)
    assert judge_check(frame).card["slice"].unique().tolist() == ["all", "model=a", "model=b"]
    worded = sixty().replace({"pass": "good", "fail": "bad"})
    with pytest.raises(BadInput, match="column 'judge' holds 'bad', 'good'; name those"):
        judge_check(worded)
