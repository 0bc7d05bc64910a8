"""Judges, given verdicts and raters beside right answers: cards worked by hand."""

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.labelled.examine import examine, reduce_verdicts
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD, VERDICTS
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty, round_trip
from metassay.tables.ratings import RATINGS

OPTIONS = MetaOptions(resamples=20, confidence=0.95, seed=1)
ENTAILED, NOT, NEUTRAL, AGAINST = "entailed", "not_entailed", "neutral", "contradicted"


def gold_of(*labels, subset="test", kind="full", start=0):
    """Items of one subset and kind; `split` and None are without a right answer."""
    without = {"split": "split", None: "no_label"}
    rows = [
        {
            "item": f"i{number:02}",
            "subset": subset,
            "kind": kind,
            "cluster": f"c{number}",
            "label": None if label in without else label,
            "unlabelled": without.get(label),
        }
        for number, label in enumerate(labels, start=start)
    ]
    return pd.DataFrame(rows, columns=list(GOLD.columns))


def answered(gold, answers, *, judge="j", instrument="entailment"):
    """One premise an item; an answer is a label, a status without one, or (label, probability)."""
    pairs, judgments = [], []
    for item, answer in zip(gold["item"], answers, strict=True):
        label, probability = answer if isinstance(answer, tuple) else (answer, None)
        known = label in (ENTAILED, NOT, NEUTRAL, AGAINST)
        pairs.append(
            {
                **dict.fromkeys(PAIRS.columns),
                "pair_id": f"p{item}",
                "instrument": instrument,
                "measure": "verdict",
                "doc_id": item,
                "author": "item",
                "part": "full",
                "position": 0,
                "citation": -1,
                "premise": "A",
                "hypothesis": "B",
                "repeats": "",
            }
        )
        judgments.append(
            {
                **dict.fromkeys(JUDGMENTS.columns),
                "pair_id": f"p{item}",
                "judge": judge,
                "status": "ok" if known else label,
                "label": label if known else None,
                "probability": probability,
                "attempts": 1,
                "recipe": "sig",
            }
        )
    return pd.DataFrame(pairs), pd.DataFrame(judgments).astype(
        {"probability": "float64"}
    )


def examined(
    gold, answers=None, *, ratings=None, released=None, instrument="entailment"
):
    pairs, judgments = answered(
        gold, answers or [NOT] * len(gold), instrument=instrument
    )
    results = examine(
        pairs,
        judgments if answers else empty(JUDGMENTS),
        round_trip(GOLD, gold),
        empty(RATINGS) if ratings is None else ratings,
        empty(GIVEN_VERDICTS) if released is None else released,
        OPTIONS,
    )
    round_trip(VERDICTS, results.verdicts)
    round_trip(JUDGE_CARDS, results.cards)
    round_trip(CALIBRATION, results.bins)
    return results


def card(results, judge="j", *, study="test", part="full"):
    """Value, or n, of each statistic of one card."""
    rows = results.cards
    of_card = rows[
        (rows["judge"] == judge) & (rows["study"] == study) & (rows["part"] == part)
    ]
    return of_card.set_index("statistic")


def test_unknown_is_counted_and_never_wrong_or_right():
    # Of eight items with an answer the judge gets four of six right; it abstains of one
    # and fails on another. What is split is in no number.
    gold = gold_of(ENTAILED, ENTAILED, ENTAILED, ENTAILED, NOT, NOT, NOT, NOT, "split")
    answers = [
        ENTAILED,
        ENTAILED,
        NOT,
        "abstained",
        NOT,
        NOT,
        ENTAILED,
        "refused",
        NOT,
    ]
    results = examined(gold, answers)
    of_judge = card(results)
    value = of_judge["value"].to_dict()
    cells = [
        value[name] for name in ("true_pass", "false_fail", "false_pass", "true_fail")
    ]
    assert cells == [2, 1, 1, 2]
    assert value["agreement"] == pytest.approx(4 / 6)
    assert value["f1"] == pytest.approx(2 / 3)
    assert value["abstained"] == value["failed"] == pytest.approx(1 / 8)
    assert value["agreement_at_least"] == pytest.approx(4 / 8)
    assert value["agreement_at_most"] == pytest.approx(6 / 8)
    counts = of_judge.loc["agreement", ["n", "n_judged", "n_missing", "n_split"]]
    assert counts.tolist() == [6, 7, 2, 1]
    assert "auroc" not in of_judge.index
    assert "accuracy_3way" not in of_judge.index
    assert results.notes == [
        f"j: 1 of 9 items have no verdict (status {status}): accuracy is given without them, and"
        " in bounds with them"
        for status in ("abstained", "refused")
    ]


def test_probabilities_give_auroc_and_calibration_of_the_unsure_too():
    gold = gold_of(ENTAILED, ENTAILED, NOT, NOT)
    answers = [(ENTAILED, 0.9), ("abstained", 0.4), ("abstained", 0.6), (NOT, 0.1)]
    results = examined(gold, answers)
    of_judge = card(results)
    assert of_judge.loc["auroc", "value"] == pytest.approx(3 / 4)
    assert of_judge.loc["auroc", "n"] == 4
    assert of_judge.loc["agreement", "n"] == 2
    assert of_judge.loc["brier", "value"] == pytest.approx(
        (0.01 + 0.36 + 0.36 + 0.01) / 4
    )
    assert results.bins["n"].sum() == 4
    assert of_judge["threshold"].isna().all()  # the judge gave the labels itself


def test_three_labels_are_counted_in_three_and_in_two():
    gold = gold_of(ENTAILED, ENTAILED, NEUTRAL, NEUTRAL, AGAINST, AGAINST)
    answers = [ENTAILED, NEUTRAL, NEUTRAL, AGAINST, AGAINST, AGAINST]
    value = card(examined(gold, answers, instrument="three_way"))["value"]
    # neutral for contradicted is not entailed
    assert value["agreement"] == pytest.approx(5 / 6)
    assert value["accuracy_3way"] == pytest.approx(4 / 6)
    assert value["balanced_accuracy_3way"] == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert value["macro_f1_3way"] == pytest.approx((2 / 3 + 1 / 2 + 4 / 5) / 3)
    # Judges that were asked in two are held against the same answers, in two.
    value = card(examined(gold, [ENTAILED, NOT, NOT, NOT, NOT, NOT]))["value"]
    assert value["agreement"] == pytest.approx(5 / 6)
    assert "accuracy_3way" not in value


def test_labels_of_three_stand_for_the_items_with_their_verdict():
    """Of 20 items judged entailed 10 have an answer, 8 of them right; all 10 others do."""
    labelled = [ENTAILED] * 8 + [NEUTRAL] * 2
    gold = gold_of(*labelled, *[None] * 10, *[NEUTRAL] * 5, *[AGAINST] * 5)
    answers = [ENTAILED] * 20 + [NEUTRAL] * 5 + [AGAINST] * 5
    value = card(examined(gold, answers, instrument="three_way"))["value"]
    # 8 of 10 stand for 16 of 20; so people call 16 of 30 items entailed, and 9 neutral.
    assert value["accuracy_3way"] == pytest.approx((16 + 10) / 30)
    assert value["majority_baseline_3way"] == pytest.approx(16 / 30)
    assert value["balanced_accuracy_3way"] == pytest.approx((1 + 5 / 9 + 1) / 3)


def test_two_labels_have_no_numbers_of_three_where_all_items_of_a_kind_are_entailed():
    gold = gold_of(ENTAILED, ENTAILED, NOT, NOT)
    gold.loc[:1, "kind"] = "easy"
    results = examined(gold, [ENTAILED, ENTAILED, NOT, ENTAILED])
    assert not results.cards["statistic"].str.endswith("_3way").any()


def test_subsets_have_cards_and_a_plain_mean():
    first = gold_of(ENTAILED, NOT, subset="R1")
    second = gold_of(*[ENTAILED, NOT] * 4, subset="R2", start=2)
    gold = pd.concat([first, second], ignore_index=True)
    answers = [ENTAILED, NOT, *[ENTAILED, ENTAILED] * 4]
    results = examined(gold, answers)
    values = {
        study: card(results, study=study).loc["agreement", "value"]
        for study in ("R1", "R2", "all subsets", "mean of subsets")
    }
    assert values == pytest.approx(
        {"R1": 1.0, "R2": 0.5, "all subsets": 0.6, "mean of subsets": 0.75}
    )
    cards = [card(results, study=study).loc["agreement"] for study in ("R1", "R2")]
    mean = card(results, study="mean of subsets").loc["agreement"]
    below = np.hypot(*(c["value"] - c["low"] for c in cards)) / 2
    assert mean["low"] == pytest.approx(0.75 - below)
    assert (mean["n"], mean["n_judged"]) == (10, 10)
    assert "labels_sensitivity" not in card(results, study="mean of subsets").index
    single = examined(first, answers[:2])
    assert set(single.cards["study"]) == {"R1"}
    nothing = examined(gold_of(None, None), [NOT, ENTAILED])
    assert (len(nothing.cards), len(nothing.verdicts)) == (0, 2)


def test_kinds_have_cards_of_what_is_detected_and_of_false_alarms():
    edits = gold_of(NOT, NOT, NOT, NOT, kind="negation")
    same = gold_of(ENTAILED, ENTAILED, kind="paraphrase", start=4)
    gold = pd.concat([edits, same], ignore_index=True)
    results = examined(gold, [NOT, NOT, NOT, ENTAILED, ENTAILED, NOT])
    assert card(results, part="negation").loc["specificity", "value"] == pytest.approx(
        3 / 4
    )
    assert np.isnan(card(results, part="negation").loc["sensitivity", "value"])
    assert card(results, part="paraphrase").loc[
        "sensitivity", "value"
    ] == pytest.approx(1 / 2)
    assert card(results).loc["agreement", "value"] == pytest.approx(4 / 6)


def given_verdicts(rows):
    of_judge = pd.DataFrame(rows, columns=["item", "judge", "label", "probability"])
    return round_trip(
        GIVEN_VERDICTS, of_judge.assign(status="ok", recipe="given|reader:x")
    )


def test_given_verdicts_are_cards_of_their_items_which_all_judges_have_too():
    gold = gold_of(ENTAILED, ENTAILED, NOT, NOT)
    released = given_verdicts(
        [("i00", "paper", None, 0.5), ("i02", "paper", None, 0.49)]
    )
    results = examined(gold, [NOT, ENTAILED, NOT, NOT], released=released)
    verdicts = results.verdicts.set_index(["judge", "item"])["label"]
    assert verdicts["paper"].to_dict() == {"i00": ENTAILED, "i02": NOT}  # from .5 on
    of_paper = card(results, "paper", study="items of paper")
    assert of_paper.loc["agreement", ["value", "n", "threshold"]].tolist() == [
        1.0,
        2,
        0.5,
    ]
    assert card(results, study="items of paper").loc[
        "agreement", "value"
    ] == pytest.approx(1 / 2)
    assert card(results).loc["agreement", "value"] == pytest.approx(3 / 4)
    # A judge is asked for no more than it was given: nothing is missing.
    assert card(results, "paper").loc["agreement", "n_missing"] == 0
    whole = given_verdicts([(item, "paper", NOT, None) for item in gold["item"]])
    assert set(examined(gold, released=whole).cards["study"]) == {"test"}


def test_a_rater_is_held_against_most_of_the_others():
    # Items by raters a, b, c. Of item 2 the others of `a` are split; item 3 has nobody
    # else.
    labels = {"a": [1, 0, 1, 1], "b": [1, 1, 1, None], "c": [1, 1, 0, None]}
    ratings = pd.DataFrame(
        [
            {
                "study": "s",
                "doc_id": f"i{number:02}",
                "author": "item",
                "part": "full",
                "unit": "claim:0",
                "rater": rater,
                "criterion": "entailed",
                "value": value,
            }
            for rater, values in labels.items()
            for number, value in enumerate(values)
            if value is not None
        ]
    )
    gold = gold_of(ENTAILED, ENTAILED, ENTAILED, ENTAILED)
    results = examined(gold, ratings=round_trip(RATINGS, ratings))
    assert set(results.cards["judge"]) == {"a", "b", "c"}
    # Item 3 waits for another rater, and two labels are too few to speak for it.
    a = card(results, "a").loc["agreement"]
    assert (a["n"], a["n_judged"], a["n_split"]) == (2, 4, 1)
    assert np.isnan(a["value"])
    of_all = round_trip(RATINGS, ratings[ratings["doc_id"] != "i03"])
    a = card(examined(gold, ratings=of_all), "a").loc["agreement"]
    assert (a["value"], a["n"], a["n_split"]) == (0.5, 2, 1)
    assert card(results, "c").loc[
        "agreement", ["value", "n"]
    ].tolist() == pytest.approx([1 / 2, 2])
    assert results.verdicts.empty
    abstained = of_all.assign(value=of_all["value"].where(of_all["rater"] != "b"))
    results = examined(gold, ratings=round_trip(RATINGS, abstained))
    assert card(results, "b").loc["abstained", "value"] == 1
    assert card(results, "a").loc[
        "agreement", ["value", "n"]
    ].tolist() == pytest.approx([1 / 3, 3])


def test_a_single_rater_is_held_against_nobody_and_no_label_is_asked_for():
    """The one author of a set has nobody beside; more labels of items cannot change this."""
    rating = {
        "study": "s",
        "author": "item",
        "part": "full",
        "unit": "claim:0",
        "rater": "author",
        "criterion": "entailed",
    }
    rows = [{**rating, "doc_id": f"i{n:02}", "value": float(n < 2)} for n in range(4)]
    gold = gold_of(ENTAILED, ENTAILED, AGAINST, AGAINST)
    results = examined(gold, ratings=round_trip(RATINGS, pd.DataFrame(rows)))
    assert results.notes == []


def test_items_without_a_gold_label_are_spoken_for_by_those_with_the_same_verdict():
    # The judge says entailed of 12 items, 6 of them with gold labels, 5 right; of 8
    # others, all with labels, 6 right. So people say entailed of 10 + 2 of 20 items.
    labels = [ENTAILED] * 5 + [NOT] + [None] * 6 + [ENTAILED] * 2 + [NOT] * 6
    results = examined(gold_of(*labels), [ENTAILED] * 12 + [NOT] * 8)
    value = card(results)["value"].to_dict()
    assert value["true_pass"] == 5  # counted, not weighed
    assert value["sensitivity"] == pytest.approx(10 / 12)
    assert value["specificity"] == pytest.approx(6 / 8)
    assert value["agreement"] == pytest.approx(16 / 20)
    rates = [value[f"{name}_pass_rate"] for name in ("judge", "prediction_powered")]
    assert rates == pytest.approx([12 / 20, 12 / 20])


def test_the_order_of_rows_changes_no_number():
    gold = pd.concat([gold_of(ENTAILED, NOT, ENTAILED), gold_of(NOT, "split", start=3)])
    answers = [
        (ENTAILED, 0.8),
        (NOT, 0.3),
        ("abstained", 0.5),
        (ENTAILED, 0.7),
        (NOT, 0.2),
    ]
    pairs, judgments = answered(gold, answers)
    none = empty(RATINGS), empty(GIVEN_VERDICTS), OPTIONS
    first = examine(pairs, judgments, gold.reset_index(drop=True), *none)
    mixed = gold.sample(frac=1, random_state=3).reset_index(drop=True)
    second = examine(pairs[::-1], judgments[::-1], mixed, *none)
    key = list(JUDGE_CARDS.key)
    a, b = (r.cards.sort_values(key).reset_index(drop=True) for r in (first, second))
    pd.testing.assert_frame_equal(a, b)


# ---- from judgments of premises to the verdict on an item

NONE = None


def tables(*items, instrument="entailment"):
    """Pairs and judgments of items: each a list of (status, label, probability), one a premise."""
    pairs, judgments = [], []
    for number, premises in enumerate(items):
        for position, (status, label, probability) in enumerate(premises):
            pair = f"i{number}p{position}"
            pairs.append((f"i{number}", position, pair, instrument))
            judgments.append((pair, "j", status, label, probability, "sig"))
    names = ["pair_id", "judge", "status", "label", "probability", "recipe"]
    return (
        pd.DataFrame(pairs, columns=["doc_id", "position", "pair_id", "instrument"]),
        pd.DataFrame(judgments, columns=names).astype({"probability": "float64"}),
    )


def verdict(*premises, instrument="entailment"):
    """Status, label, probability and deciding premise of one item."""
    row = reduce_verdicts(*tables(premises, instrument=instrument)).iloc[0]
    values = row[["status", "label", "probability", "position"]]
    return tuple(None if pd.isna(value) else value for value in values)


YES, NO = ("ok", "entailed", 0.9), ("ok", "not_entailed", 0.2)
UNSURE, FAILED, CUT = (
    ("abstained", NONE, 0.5),
    ("refused", NONE, NONE),
    ("truncated", NONE, NONE),
)


@pytest.mark.parametrize(
    ("premises", "expected"),
    [
        ([YES], ("ok", "entailed", 0.9, 0)),
        ([NO], ("ok", "not_entailed", 0.2, 0)),
        ([NO, YES, ("ok", "entailed", 0.95)], ("ok", "entailed", 0.95, 2)),
        ([NO, ("ok", "not_entailed", 0.4)], ("ok", "not_entailed", 0.4, 1)),
        # One that entails it decides, whatever came of the others; but then the largest
        # probability is not known.
        ([FAILED, YES], ("ok", "entailed", NONE, 1)),
        ([UNSURE, YES], ("ok", "entailed", 0.9, 1)),
        # None does, and one might have.
        ([NO, FAILED], ("refused", NONE, NONE, NONE)),
        ([NO, UNSURE], ("abstained", NONE, 0.5, NONE)),
        ([UNSURE, UNSURE], ("abstained", NONE, 0.5, NONE)),
        # A failure says more than an abstention; the first one is told.
        ([UNSURE, CUT, FAILED], ("truncated", NONE, NONE, NONE)),
        # Of equal premises the first decides; a judge without probabilities decides,
        # too.
        ([YES, YES], ("ok", "entailed", 0.9, 0)),
        (
            [("ok", "not_entailed", NONE), ("ok", "entailed", NONE)],
            ("ok", "entailed", NONE, 1),
        ),
    ],
)
def test_two_labels(premises, expected):
    assert verdict(*premises) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["neutral"], "neutral"),
        (["neutral", "contradicted"], "contradicted"),
        (["contradicted", "entailed", "neutral"], "entailed"),
        (["contradicted", "neutral", "neutral"], "contradicted"),
    ],
)
def test_three_labels(labels, expected):
    premises = [("ok", label, NONE) for label in labels]
    assert verdict(*premises, instrument="three_way") == (
        "ok",
        expected,
        NONE,
        labels.index(expected),
    )
    # What might still be entailed is not known to be contradicted.
    assert verdict(*premises, FAILED, instrument="three_way")[1] == (
        "entailed" if expected == "entailed" else NONE
    )


def test_one_row_per_item_and_judge_counts_premises():
    pairs, judgments = tables([NO, YES], [NO, FAILED, UNSURE])
    again = judgments.assign(judge="k", status="error", label=None, probability=None)
    both = pd.concat([judgments, again], ignore_index=True)
    verdicts = reduce_verdicts(pairs, both)
    mixed = reduce_verdicts(pairs[::-1], both.sample(frac=1, random_state=2))
    pd.testing.assert_frame_equal(verdicts, mixed)
    assert list(verdicts.columns) == list(VERDICTS.columns)
    rows = verdicts[["item", "judge", "n_premises", "n_judged"]].to_numpy().tolist()
    assert rows == [
        ["i0", "j", 2, 2],
        ["i1", "j", 3, 1],
        ["i0", "k", 2, 0],
        ["i1", "k", 3, 0],
    ]
    assert set(verdicts["recipe"]) == {"verdict|sig|over premises: any entailed"}
    assert set(verdicts.loc[verdicts["judge"] == "k", "status"]) == {"error"}

    match = r"judgments: j has none for 3 pair\(s\).*item 'i1'; run the judge"
    with pytest.raises(BadInput, match=match):
        reduce_verdicts(pairs, judgments[judgments["pair_id"].str.startswith("i0")])
    assert reduce_verdicts(pairs, judgments.iloc[:0]).equals(empty(VERDICTS))
