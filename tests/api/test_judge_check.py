"""One table of verdicts and labels: how it is read, and what is said of it."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from sklearn.metrics import cohen_kappa_score

from metassay.api.judge_check import JudgeCheck, judge_check
from metassay.core.errors import BadInput

PEOPLE = ["ann", "ben", "cleo"]


def sixty(**columns):
    """60 rows, 20 documents; judge and person disagree in 6."""
    row = np.arange(60)
    people = row % 5 != 0
    judge = people ^ np.isin(row, (3, 10, 21, 33, 45, 57))
    judge, human = (np.where(passed, "pass", "fail") for passed in (judge, people))
    documents = [f"d{i // 3}" for i in row]
    return pd.DataFrame(
        {"doc_id": documents, "judge": judge, "human": human, **columns}
    )


def value(results, statistic, part="all", column="value"):
    rows = results.card.set_index(["slice", "statistic"])
    return rows.loc[(part, statistic), column]


def fits(results) -> bool:
    """The card is that of `sixty`: at 3, 21, 33, 57 people pass; at 10 and 45 they fail."""
    numbers = [value(results, name) for name in ("sensitivity", "specificity")]
    return numbers == pytest.approx([44 / 48, 10 / 12])


def test_sixty_rows_in_three_lines():
    results, frame = judge_check(sixty()), sixty()
    assert isinstance(results, JudgeCheck)
    assert fits(results)
    kappa = cohen_kappa_score(frame["judge"], frame["human"])
    by_chance = 2 * (p := (46 + 48) / 120) * (1 - p)  # p: the mean share of passes
    expected = {
        ("cohen_kappa", "value"): kappa,
        ("gwet_ac1", "value"): (0.9 - by_chance) / (1 - by_chance),
        ("sensitivity", "base_rate"): 1,
        ("specificity", "base_rate"): 0,
        ("agreement", "base_rate"): 0.8,
        ("gwet_ac1", "base_rate"): (0.8 - 0.18) / 0.82,
    }
    for (name, column), number in expected.items():
        assert value(results, name, column=column) == pytest.approx(number), (
            name,
            column,
        )
    rates = results.table("pass_rates").set_index("method")["value"]
    assert rates["as judged"] == pytest.approx(46 / 60)
    assert rates["people alone"] == pytest.approx(48 / 60)
    assert "columns guessed: judge=judge; human=human; doc=doc_id" in results.notes
    assert "20 documents (doc_id), whose rows count as alike" in results.notes[0]
    screen = "\n".join(results.screen)
    for words in (
        "sensitivity",
        "specificity",
        "kappa",
        "AC1",
        "base rate alone",
        "as judged",
        "corrected",
        "people alone",
        "May it replace a rater?",
        "More labels",
        "Disagreements of judge: 6 of 60, the surest first: row 3",
    ):
        assert words in screen
    with pytest.raises(
        AttributeError, match="no table is called 'cards' here; there are: card,"
    ):
        results.table("cards")
    assert results._repr_html_().startswith("<pre>the table: 60 rows")


def test_the_first_screen_has_twenty_lines_of_eighty_columns_at_most():
    rng = np.random.default_rng(1)
    many = {
        f"gpt_{n}_with_a_very_long_name_judge": rng.integers(2, size=60)
        for n in range(3)
    }
    people = {f"rater_{n}": rng.integers(2, size=60) for n in range(4)}
    frame = sixty(**many, **people, topic=[f"t{i % 5}" for i in range(60)])
    require = {"sensitivity": 0.9, "specificity": 0.9, "kappa": 0.5}
    gate = judge_check(frame, by="topic", require=require)
    assert any(line.startswith("NOT MET: judge: sensitivity") for line in gate.screen)
    for results in (
        judge_check(sixty()),
        judge_check(frame, by="topic"),
        judge_check(frame.drop(columns=list(many)), by="topic"),
        gate,
    ):
        assert len(results.screen) <= 20
        assert max(map(len, results.screen)) <= 80
        if results is not gate:
            starts = {"base ", "pass ", "May i", "More ", "Disag"}
            assert starts <= {line[:5] for line in results.screen}
        assert repr(results).startswith(results.screen[0])


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
    results = judge_check(sixty().rename(columns={"judge": judge, "human": human}))
    assert (
        results.notes[1] == f"columns guessed: judge={judge}; human={human}; doc=doc_id"
    )
    assert fits(results)


def test_people_are_compared_with_their_own_scorer():
    frame = sixty().rename(columns={"judge": "facts", "human": "facts_human_ann"})
    frame["llm-rubric"] = ["pass", "fail"] * 30
    notes = judge_check(frame).notes
    assert notes[1] == "columns guessed: judge=facts; human=facts_human_ann; doc=doc_id"
    two = frame.assign(tone=frame["facts"], tone_human_ann=frame["facts_human_ann"])
    with pytest.raises(
        BadInput, match="no column is clearly that of people's labels; say which"
    ):
        judge_check(two)
    assert "human=tone_human_ann" in judge_check(two, judge="tone").notes[1]
    both = two.rename(columns={"tone": "tone_judge_gpt"}).assign(
        tone_judge_mini=frame["facts"]
    )
    card = judge_check(both, human="tone_human_ann").card
    assert [*card["judge"].unique()] == ["tone_judge_gpt", "tone_judge_mini"]


def test_what_names_do_not_tell_is_asked_for():
    frame = sixty().rename(columns={"judge": "a", "human": "b"})
    with pytest.raises(BadInput) as caught:
        judge_check(frame)
    assert [problem.partition("; ")[2] for problem in caught.value.problems] == [
        "say which: judge=COLUMN, of 'a', 'b'",
        "say which: human=COLUMN, of 'a', 'b'",
    ]
    assert fits(judge_check(frame, judge="a", human="b"))


@pytest.mark.parametrize(
    ("good", "bad"),
    [("yes", "no"), ("True", "False"), ("C", "I"), ("correct", "incorrect"), (1, 0)],
)
def test_labels_in_words_numbers_and_truth_values(good, bad):
    words = {"pass": good, "fail": bad}
    assert fits(judge_check(sixty().replace({"judge": words, "human": words})))


def test_words_and_grades_of_ones_own():
    frame = sixty().replace({"human": {"pass": "faithful", "fail": "made up"}})
    with pytest.raises(
        BadInput, match="column 'human' holds 'faithful', 'made up'; name those"
    ):
        judge_check(frame)
    results = judge_check(frame, passes=["faithful", "pass"])
    assert fits(results)
    assert "'faithful' is a pass, 'made up' a fail (1 column: 'human')" in results.notes
    graded = sixty().replace({"human": {"pass": 4, "fail": 2}})
    with pytest.raises(BadInput, match=r"has numbers from 2 to 4; .* pass_from=NUMBER"):
        judge_check(graded)
    assert fits(judge_check(graded, pass_from=3))
    # a column that names somebody holds no verdicts
    named = sixty(model=["a", "b"] * 30)
    assert {*judge_check(named).card["slice"]} == {"all", "model=a", "model=b"}
    with pytest.raises(
        BadInput, match="column 'judge' holds 'bad', 'good'; name those"
    ):
        judge_check(sixty().replace({"pass": "good", "fail": "bad"}))


@pytest.mark.parametrize(
    ("passed", "failed", "unsure"),
    [("pass", "fail", "Unsure"), ("ok", "bad", "?"), (1, 0, -1)],
)
def test_a_third_word_is_asked_about_and_is_missing_where_its_user_says_so(
    passed, failed, unsure
):
    words = {"pass": passed, "fail": failed}
    frame = sixty().replace({"judge": words, "human": words})
    blank = frame.astype({"human": "object"})
    blank.loc[[0, 3, 7], "human"] = None
    third = blank.fillna({"human": unsure})
    named = {"judge": "judge", "human": "human"}
    if isinstance(passed, int):
        with pytest.raises(
            BadInput, match=r"column 'human' has numbers from -1 to 1; .* missing="
        ):
            judge_check(third, **named)
        options = {}
    else:
        known = passed == "pass"
        words_of_pass = r"those that are a pass: passes=WORD; .* missing=WORD"
        unsure_alone = r"3 cells that are neither .* say missing='Unsure'"
        with pytest.raises(BadInput, match=unsure_alone if known else words_of_pass):
            judge_check(third, **named)
        options = {} if known else {"passes": passed}
    results = judge_check(third, missing=str(unsure).casefold(), **options)
    assert f"taken as missing in column 'human': 3 {str(unsure)!r}" in results.notes
    assert "60 rows, 57 labelled by 1 rater, 3 judged only" in results.notes[0]
    assert_frame_equal(results.card, judge_check(blank, **named, **options).card)


def test_a_missing_word_may_be_an_id():
    frame = sixty(id=["unsure", *(f"t{n}" for n in range(59))])
    assert fits(judge_check(frame, missing=["unsure"]))
    frame.loc[3, "judge"] = "unsure"
    results = judge_check(frame, missing=["unsure"])
    assert "taken as missing in column 'judge': 1 'unsure'" in results.notes
    assert "1 without a verdict" in results.notes[0]
    assert results.disagreements["id"].iloc[0] == "t9"


def test_a_blank_label_is_judged_only():
    frame = sixty()
    frame.loc[40:, "human"] = ""
    results = judge_check(frame)
    assert "60 rows, 40 labelled by 1 rater, 20 judged only" in results.notes[0]
    n = results.pass_rates.set_index("method")["n"]
    assert (n["as judged"], n["people alone"], n["corrected"]) == (60, 40, 40)
    assert value(results, "agreement", column="n") == 40
    none = judge_check(sixty(human=[""] * 60))
    assert np.isnan(value(none, "sensitivity"))
    assert any("Unknown" in line for line in none.answer)


def queue(**columns):
    """300 rows of 100 documents; of those that the judge fails all are labelled, of the
    others every seventh. Of 240 that it passes, people pass 3 in 4 of those that they
    see; of 60 that it fails, 1 in 4.
    """
    row = np.arange(300)
    fails = row % 5 == 4
    nth = np.where(fails, row // 5, (row // 5) * 4 + row % 5)  # of its verdict
    passed = np.where(fails, nth % 4 == 0, nth // 7 % 4 != 0)
    human = np.where(fails | (nth % 7 == 0), np.where(passed, "pass", "fail"), "")
    judge = np.where(fails, "fail", "pass")
    document = [f"d{i // 3}" for i in row]
    return pd.DataFrame({"doc_id": document, "judge": judge, "human": human, **columns})


def rates_of(results, part="all"):
    rates = results.pass_rates
    return rates[rates["slice"] == part].set_index("method")


def test_labels_chosen_by_the_verdict_are_weighted_and_said():
    results, frame = judge_check(queue()), queue()
    labelled = frame[frame["human"] != ""]
    seen = labelled[labelled["judge"] == "pass"]["human"] == "pass"
    a, c = seen.mean(), 0.25
    rate = 0.8 * a + 0.2 * c
    assert value(results, "sensitivity") == pytest.approx(0.8 * a / rate)
    assert value(results, "specificity") == pytest.approx(0.2 * 0.75 / (1 - rate))
    assert value(results, "agreement", column="base_rate") == pytest.approx(rate)
    rates = rates_of(results)
    assert rates.loc["corrected", "value"] == pytest.approx(rate)
    assert rates.loc["corrected", "low"] < rate < rates.loc["corrected", "high"]
    assert rates.loc["as judged", "value"] == pytest.approx(0.8)
    # The share of the labelled rows that pass would speak for nobody.
    assert np.isnan(rates.loc["people alone", "value"])
    assert rates.loc["people alone", "why_blank"].startswith("labels were chosen")
    (line,) = results.warnings
    assert line.startswith(
        "Labels were chosen. People labelled 100% of the rows that judge fails (60 of 60) and"
        " 15% of the others (35 of 240). All numbers are weighted by this."
    )
    screen = " ".join(" ".join(results.screen).split())
    assert f"WARNING: {line}" in screen
    assert results.table("warnings")["kind"].tolist() == ["labels"]
    # A requirement is met, or not, by the weighted number.
    low = value(results, "sensitivity", column="low")
    assert not judge_check(queue(), require={"sensitivity": low - 0.01}).unmet
    assert judge_check(queue(), require={"sensitivity": low + 0.01}).unmet


def test_a_system_that_nobody_labelled_is_in_no_corrected_rate():
    frame = queue(system=["a", "a", "b", "c", "c"] * 60)
    frame.loc[frame["system"] == "b", "human"] = ""
    results = judge_check(frame)
    rates = rates_of(results)
    corrected = ["corrected", "corrected by sensitivity and specificity"]
    assert rates.loc[corrected, "value"].isna().all()
    assert set(rates.loc[corrected, "why_blank"]) == {"no row of system b is labelled"}
    assert np.isfinite(rates.loc["as judged", "value"])
    assert rates_of(results, "system=a").loc["corrected", "why_blank"] == ""
    of_b = rates_of(results, "system=b").loc["corrected"]
    assert np.isnan(of_b["value"])
    assert of_b["why_blank"] == "no row is labelled"
    assert value(results, "agreement", column="n") == (frame["human"] != "").sum()
    assert "not given" in "\n".join(results.screen)
    (line,) = [line for line in results.warnings if "None of the rows" in line]
    assert line.endswith("Label rows of system b.")
    # The card is that of the other systems.
    others = judge_check(frame[frame["system"] != "b"])
    assert value(others, "cohen_kappa") == value(results, "cohen_kappa")


def test_a_slice_that_nobody_labelled_leaves_the_total_uncorrected():
    topic = np.repeat(["x", "y"], [200, 100])
    frame = queue(topic=topic)
    frame.loc[frame["topic"] == "y", "human"] = ""
    results = judge_check(frame, by="topic")
    assert rates_of(results).loc["corrected", "why_blank"] == (
        "none of the rows of topic y is labelled"
    )
    assert np.isfinite(rates_of(results, "topic=x").loc["corrected", "value"])
    assert any("100 of" in line or "(0 of 100)" in line for line in results.warnings)


def test_a_verdict_with_few_labels_leaves_blank_cells_and_says_what_to_label():
    frame = queue()
    passes = np.flatnonzero((frame["judge"] == "pass") & (frame["human"] != ""))
    frame.loc[passes[3:], "human"] = ""
    results = judge_check(frame)
    assert np.isnan(value(results, "sensitivity"))
    assert value(results, "negative_predictive_value") == pytest.approx(0.75)
    (line,) = [line for line in results.warnings if "blank" in line]
    assert line == (
        "People labelled 3 of the 240 rows that judge passes. Numbers that rest on these are"
        " blank. Label 2 more rows that judge passes."
    )
    assert "too few labels" in "\n".join(results.screen)
    reason = results.card.set_index("statistic").loc["cohen_kappa", "why_blank"]
    assert reason == "too few labels for what the judge passes"
    gate = judge_check(frame, require={"kappa": 0.1})
    assert any(
        line.startswith("cohen_kappa: is undefined, as too few") for line in gate.answer
    )
    # The remedy helps.
    frame.loc[passes[:5], "human"] = ["pass", "pass", "pass", "fail", "pass"]
    assert np.isfinite(value(judge_check(frame), "sensitivity"))


def test_kappa_and_labels_for_specificity_are_undefined_where_people_pass_all_rows():
    judge = ["pass"] * 38 + ["fail"] * 2
    results = judge_check(pd.DataFrame({"judge": judge, "human": ["pass"] * 40}))
    assert np.isnan(
        [value(results, name) for name in ("cohen_kappa", "specificity")]
    ).all()
    needed = results.labels.set_index("for")["needed"]
    assert np.isnan(needed["specificity"])
    assert np.isfinite(needed["sensitivity"])
    screen = "\n".join(results.screen)
    assert screen.count("undefined") == 3  # twice in the card, and in the warning
    assert "specificity." not in screen.partition("More labels")[2]
    assert [*results.warnings] == [
        "People pass all 40 labelled rows: specificity, balanced accuracy, kappa and MCC are"
        " undefined. Add rows that people fail."
    ]
    reason = results.card.set_index("statistic").loc["cohen_kappa", "why_blank"]
    assert reason == "people fail no labelled row"


def test_labels_chosen_by_one_judge_are_weighted_in_the_card_of_another():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"judge_a": rng.random(4000) < 0.8})
    people = np.where(rng.random(4000) < 0.85, frame["judge_a"], ~frame["judge_a"])
    frame["judge_b"] = np.where(rng.random(4000) < 0.9, people, ~people)
    whole = judge_check(frame.assign(human=people * 1))
    has_label = ~frame["judge_a"] | (rng.random(4000) < 0.2)
    results = judge_check(frame.assign(human=np.where(has_label, people * 1.0, np.nan)))
    for judge in ("judge_a", "judge_b"):
        cards = [
            of.card[of.card["judge"] == judge].set_index("statistic")
            for of in (whole, results)
        ]
        for name in ("sensitivity", "specificity", "cohen_kappa"):
            expected, number = (card.loc[name, "value"] for card in cards)
            assert number == pytest.approx(expected, abs=0.05), (judge, name)


def test_the_test_beside_raters_weighs_labels_too():
    wide = raters(300)
    has_label = (wide["judge"] == 0) | (np.arange(300) % 5 == 0)
    some = wide.astype({name: float for name in PEOPLE})
    some.loc[~has_label, PEOPLE] = np.nan
    results = judge_check(some, human=PEOPLE)
    weight = np.where(some["judge"] == 0, 1.0, (some["judge"] == 1).sum() / np.sum(
        has_label & (some["judge"] == 1)
    ))  # fmt: skip
    contest = results.contests.set_index("rater").loc["ann"]
    others = wide[["ben", "cleo"]].to_numpy()
    nearer = [
        (others == wide[name].to_numpy()[:, None]).sum(axis=1)
        for name in ("judge", "ann")
    ]
    expected = np.average(
        (nearer[0] >= nearer[1])[has_label], weights=weight[has_label]
    )
    assert contest["advantage"] == pytest.approx(expected)


def raters(n=90):
    rng = np.random.default_rng(3)
    truth = rng.random(n) < 0.7
    shares = {"judge": 0.95, **dict.fromkeys(PEOPLE, 0.85)}
    labels = {
        name: (truth == (rng.random(n) < share)).astype(int)
        for name, share in shares.items()
    }
    return pd.DataFrame({"id": [f"t{i}" for i in range(n)], **labels})


def one_row_per_rater(wide, people=PEOPLE):
    return wide.melt(
        [*wide.columns.difference(PEOPLE)], people, var_name="rater", value_name="label"
    )


def test_several_columns_and_a_column_of_raters_say_the_same():
    wide, order = raters(), {"key": lambda c: c.str[1:].astype(int), "kind": "stable"}
    long = (
        one_row_per_rater(wide)
        .sample(frac=1, random_state=1)
        .sort_values("id", **order)
    )
    a, b = judge_check(wide, human=PEOPLE), judge_check(long)
    for name in ("card", "contests", "by_agreement", "replacement"):
        assert_frame_equal(a.table(name), b.table(name))
    assert "rater=rater" in b.notes[1]
    assert bool(a.replacement["passes"][0])
    answer = "May it replace a rater? judge: yes, as good as 3 of 3"
    assert any(line.startswith(answer) for line in a.answer)
    assert {*a.latent["identified"]} == {"by three verdicts an item"}


def test_documents_are_told_from_items_where_each_rater_has_a_row():
    wide = raters().assign(doc_id=[f"d{i // 5}" for i in range(90)])
    long = one_row_per_rater(wide)
    long["row_id"] = range(len(long))
    expected, results = judge_check(wide, human=PEOPLE), judge_check(long)
    assert "doc=doc_id" in results.notes[1]
    for name in ("card", "contests"):
        assert_frame_equal(results.table(name), expected.table(name))
    # Where each item has one rater of several, its id is in one row alone.
    single = long[long["id"].str[1:].astype(int) % 3 == long["rater"].map(PEOPLE.index)]
    note = judge_check(single.drop(columns="row_id")).notes[0]
    assert "90 rows, 90 labelled by 3 raters; 18 documents (doc_id)" in note


def test_rows_of_raters_that_cannot_be_are_refused():
    long = one_row_per_rater(raters(4), ["ann", "ben"])
    with pytest.raises(BadInput, match="the same item a second time by the same rater"):
        judge_check(pd.concat([long, long.iloc[[2]]], ignore_index=True))
    long.loc[5, "judge"] = 1 - long.loc[5, "judge"]
    with pytest.raises(BadInput, match="differs between rows of the same item"):
        judge_check(long)
    with pytest.raises(BadInput, match="no column that names the item"):
        judge_check(long.drop(columns="id"), judge="judge", human="label")


def test_a_split_item_is_left_out_and_counted():
    labels = {"judge": [1, 1, 0, 0], "expert_1": [1, 1, 0, 0], "expert_2": [1, 0, 0, 0]}
    results = judge_check(pd.DataFrame(labels))
    assert "1 split by raters and left out of the card" in results.notes[0]
    assert value(results, "agreement", column="n") == 3


def test_probabilities_have_a_sureness():
    frame = sixty()
    frame["judge"] = np.where(frame["judge"] == "pass", 0.8, 0.3)
    frame.loc[33, "judge"] = 0.01
    results = judge_check(frame)
    assert results.disagreements[["id", "probability"]].iloc[0].tolist() == [
        "row 33",
        0.01,
    ]
    assert fits(results)


def test_a_requirement_is_about_the_lower_end():
    results = judge_check(sixty(), require={"sensitivity": 0.9, "kappa": 0.1})
    (line,) = results.unmet
    assert re.match(
        r"NOT MET: judge: sensitivity .92 has the lower end .8\d, not .90 or", line
    )
    rates = results.pass_rates.set_index("method")
    corrected = ["corrected", "corrected by sensitivity and specificity"]
    assert rates.index[rates["refused"]].tolist() == corrected
    assert rates.loc[corrected, "value"].isna().all()
    assert not judge_check(sixty(), require={"sensitivity": 0.5}).unmet
    (row,) = results.labels[results.labels["aim"] == "lower end 0.9"].to_dict("records")
    ratio = (44 / 48 - value(results, "sensitivity", column="low")) / (44 / 48 - 0.9)
    assert row["more"] == pytest.approx(np.ceil(60 * ratio**2) - 60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"require": {"charm": 0.5}},
            "require={'charm': 0.5}: write one of sensitivity, ",
        ),
        ({"epsilon": 1.0}, "epsilon=1: write a number between 0 and 1"),
        ({"width": 0.0}, "width=0: write a number between 0 and 1"),
        ({"judge": "nobody"}, "there is no column 'nobody'"),
        ({"judge": "judge", "human": "judge"}, "is named as judge and as human"),
        ({"doc": "nothing"}, "there is no column 'nothing'"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        judge_check(sixty(), **options)


def test_slices_systems_and_files(tmp_path):
    frame = sixty(system=["x", "y"] * 30, topic=["a"] * 45 + ["b"] * 15)
    results = judge_check(frame, by="topic")
    slices = ["all", "system=x", "system=y", "topic=a", "topic=b"]
    assert [*results.card["slice"].unique()] == slices
    assert value(results, "agreement", "topic=b", "n") == 15
    contents = []
    for place in ("a/out", "b/out"):
        judge_check(frame, by="topic").save(tmp_path / place)
        files = [file for file in (tmp_path / place).rglob("*") if file.is_file()]
        contents.append(
            {str(f.relative_to(tmp_path / place)): f.read_bytes() for f in files}
        )
    assert contents[0] == contents[1]
    assert {"card.csv", "pass_rates.csv", "labels.csv", "disagreements.csv"} <= {
        *contents[0]
    }
    assert json.loads(contents[0]["choices.json"])["doc"] == "doc_id"
    call = contents[0]["page/data/head.js"].decode().strip()
    head = json.loads(call.removeprefix('metassay("head",').removesuffix(")"))
    (card,) = [row for row in head["answer"] if row.startswith("judge: sensitivity ")]
    assert f" {value(results, 'specificity'):.2f}".replace("0.", ".") in card
    assert (
        "Pass rate: as judged .77 [" in card
    )  # of all 60 rows, 46 of which the judge passes
    assert {table["name"] for table in head["tables"]} == {*results.tables}


def test_a_label_of_few_documents_is_warned_of():
    documents = [f"d{i // 10}" for i in range(60)]
    few = sixty(doc_id=documents, human=["fail"] * 12 + ["pass"] * 48)
    results, finding = judge_check(few), "People fail rows of 2 documents only"
    assert results.warnings == (f"{finding}: each document counts once.",)
    assert any(line.startswith(f"WARNING: {finding}") for line in results.screen)
    assert not any(line.startswith("WARNING") for line in judge_check(sixty()).answer)


def test_what_programs_export_is_read():
    frame = sixty().drop(columns="doc_id")
    people, judge = frame["human"] == "pass", frame["judge"] == "pass"
    questions = [f"What is the answer to question {n}?" for n in range(60)]
    marks = {True: "C", False: "I"}
    exports = {
        "ragas": {
            "user_input": questions,
            "faithfulness": judge * 0.8,
            "human": people,
        },
        "DeepEval": {
            "name": [f"test_{n}" for n in range(60)],
            "success": judge,
            "gold": people,
        },
        "promptfoo": {
            "vars.q": questions,
            "pass": judge.map(str),
            "expert": people.map(str),
        },
        "Inspect": {
            "id": range(60),
            "score": judge.map(marks),
            "label": people.map(marks),
        },
        "Langfuse": {
            "traceId": questions,
            "llm-judge": judge * 1.0,
            "manual": people * 1.0,
        },
        "MLflow": {"correctness/score": frame["judge"], "human/value": frame["human"]},
    }
    for name, columns in exports.items():
        results = judge_check(pd.DataFrame(columns))
        assert fits(results), name
        assert "each row by itself" in results.notes[0], name
