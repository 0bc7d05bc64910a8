"""Labels of more than two values: what is result, asked about, answered and required."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from metassay import JudgeCheck, judge_check
from metassay.core.errors import BadInput

ROWS = 60
CLASSES = ["entailed", "neutral", "contradicted"]


def classes(seed: int, right: float = 0.8) -> list[str]:
    """Labels of one truth, of which `right` are kept."""
    truth = np.random.default_rng(0).choice(CLASSES, ROWS, p=[0.5, 0.3, 0.2])
    draw = np.random.default_rng(seed)
    return list(np.where(draw.random(ROWS) < right, truth, draw.choice(CLASSES, ROWS)))


def grades(seed: int, size: float = 0.5) -> np.ndarray:
    truth = np.random.default_rng(0).integers(1, 6, ROWS)
    step = np.random.default_rng(seed).normal(0, size, ROWS)
    return np.clip(np.round(truth + step), 1, 5).astype(int)


def frame(judge: Any, **people: Any) -> pd.DataFrame:
    columns = {
        "id": [f"r{n}" for n in range(ROWS)],
        "doc_id": [f"d{n // 2}" for n in range(ROWS)],
        "judge": judge,
    }
    return pd.DataFrame(columns | people)


def value(results: JudgeCheck, statistic: str, column: str = "value") -> float:
    card = results.card.set_index(["slice", "statistic"])
    return float(card.loc[("all", statistic), column])


def refused(table: pd.DataFrame, **options: Any) -> str:
    with pytest.raises(BadInput) as caught:
        judge_check(table, **options)
    return "\n".join(caught.value.problems)


def test_classes_get_confusion_agreement_and_numbers_of_each_class() -> None:
    table = frame(classes(1), human=classes(2, 0.9))
    results = judge_check(table)
    assert value(results, "cohen_kappa") == pytest.approx(
        cohen_kappa_score(table["human"], table["judge"])
    )
    counts = results.confusion.groupby(["people", "judged"])["rows"].sum()
    crossed = pd.crosstab(table["human"], table["judge"])
    for people in CLASSES:
        for judged in CLASSES:
            assert counts[people, judged] == crossed.loc[people, judged]
    statistics = {*results.classes["statistic"]}
    assert statistics == {
        "precision",
        "recall",
        "f1",
        "as_judged",
        "corrected",
        "people_alone",
    }
    assert len(results.screen) <= 20
    assert max(map(len, results.screen)) <= 80
    screen = "\n".join(results.screen)
    for words in (
        "kappa",
        "base rate alone",
        "as judged",
        "Always giving people's commonest label",
        "Least found by judge",
        "May it replace a rater?",
        "More labels",
    ):
        assert words in screen


def test_labels_are_equal_whatever_their_case_and_a_tie_of_raters_is_left_out() -> None:
    judge = [word.upper() for word in classes(1)]
    table = frame(judge, human_1=classes(2), human_2=classes(3))
    results = judge_check(table)
    split = int((table["human_1"] != table["human_2"]).sum())
    assert f"{split} split by raters and left out" in results.notes[0]
    assert value(results, "agreement", "n") == ROWS - split
    assert len(results.confusion) == 9


def test_a_word_that_may_be_no_answer_is_asked_about() -> None:
    people = classes(2)
    people[3:6] = ["unsure", "unsure", "n/a"]
    table = frame(classes(1), human=people)
    message = refused(table)
    assert "2 'unsure', 1 'n/a': a label, or no answer?" in message
    assert "missing=['n/a', 'unsure']" in message or "missing=['unsure'" in message
    missing = judge_check(table, missing=["unsure", "n/a"])
    assert value(missing, "agreement", "n") == ROWS - 3
    assert len(missing.confusion) == 9
    with_class = judge_check(table, classes=["unsure"], missing=["n/a"])
    assert value(with_class, "agreement", "n") == ROWS - 1
    assert len(with_class.confusion) == 16


def test_passes_and_fails_with_a_third_class() -> None:
    words = {"entailed": "pass", "neutral": "unsure", "contradicted": "fail"}
    table = frame(classes(1), human=classes(2)).replace(words)
    assert "neither a pass nor a fail" in refused(table) or "unsure" in refused(table)
    results = judge_check(table, classes="unsure")
    assert {*results.confusion["people"]} == {"pass", "fail", "unsure"}


def test_two_spellings_of_a_label_are_asked_about() -> None:
    judge = ["contradiction" if w == "contradicted" else w for w in classes(1)]
    message = refused(frame(judge, human=classes(2)))
    assert "only the judge says 'contradiction'" in message
    assert "only people say 'contradicted'" in message
    results = judge_check(
        frame(judge, human=classes(2)), classes=["contradiction", "contradicted"]
    )
    assert len(results.confusion) == 16


def test_chosen_labels_are_weighted_and_said() -> None:
    people = np.array(classes(2), dtype=object)
    judge = np.array(classes(1))
    hidden = np.flatnonzero(judge == "entailed")[::2]
    people[hidden] = None
    results = judge_check(frame(judge, human=people))
    seen = ~pd.isna(people)
    share = 0.0
    for verdict in CLASSES:
        of_verdict = judge == verdict
        right = people[of_verdict & seen] == "entailed"
        share += of_verdict.mean() * right.mean()
    by_class = results.classes.set_index(["label", "statistic"])["value"]
    assert by_class["entailed", "corrected"] == pytest.approx(share)
    assert "each label is weighted" in results.notes[-1]


def test_a_gate_of_classes() -> None:
    table = frame(classes(1), human=classes(2, 0.9))
    low = value(judge_check(table), "cohen_kappa", "low")
    assert not judge_check(table, require={"kappa": low - 0.01}).unmet
    unmet = judge_check(table, require={"kappa": low + 0.01})
    assert unmet.unmet[0].startswith("NOT MET: judge: cohen_kappa")
    assert "write one of agreement, cohen_kappa" in refused(
        table, require={"sensitivity": 0.5}
    )


def test_grades_get_distances_bias_and_the_test_of_squared_errors() -> None:
    judge = np.clip(grades(1) + (np.arange(ROWS) % 4 == 0), 1, 5)
    table = frame(judge, human_1=grades(2), human_2=grades(3), human_3=grades(4))
    results = judge_check(table)
    people = np.median(table[["human_1", "human_2", "human_3"]].to_numpy(), axis=1)
    assert value(results, "exact") == pytest.approx(np.mean(judge == people))
    assert value(results, "bias") == pytest.approx(np.mean(judge - people))
    assert value(results, "weighted_kappa_quadratic") == pytest.approx(
        cohen_kappa_score(people.astype(int), judge, weights="quadratic")
    )
    levels = results.classes.set_index("label")
    assert levels.loc["2", "value"] == pytest.approx(
        np.mean((judge - people)[people == 2])
    )
    assert results.replacement["advantage"].iloc[0] > 0
    assert len(results.contests) == 3
    screen = "\n".join(results.screen)
    assert "Mean distance to the other raters" in screen
    assert max(map(len, results.screen)) <= 80


def test_grades_in_usual_words_have_their_order() -> None:
    words = np.array(["poor", "fair", "good", "very good", "excellent"])
    by_word = judge_check(frame(words[grades(1) - 1], human=words[grades(2) - 1]))
    by_number = judge_check(frame(grades(1), human=grades(2)))
    for statistic in ("exact", "weighted_kappa_linear", "bias"):
        assert value(by_word, statistic) == value(by_number, statistic)
    note = "grades in order: 'poor' < 'fair' < 'good' < 'very good' < 'excellent'"
    assert any(note in line for line in by_word.notes)


def test_numbers_of_classes_are_classes_where_their_user_says_so() -> None:
    table = frame(grades(1), human=grades(2))
    results = judge_check(table, classes=["1", "2", "3", "4", "5"])
    assert value(results, "cohen_kappa") == pytest.approx(
        cohen_kappa_score(grades(2), grades(1))
    )


def test_a_number_for_no_answer_and_words_among_grades_are_asked_about() -> None:
    people = grades(2)
    people[7] = 99
    table = frame(grades(1), human=people)
    assert "'human' has 99: a value, or no answer?" in refused(table)
    results = judge_check(table, missing="99")
    assert value(results, "exact", "n") == ROWS - 1
    words = people.astype(str).astype(object)
    words[7] = "skip"
    assert "missing='skip'" in refused(frame(grades(1), human=words))


def test_numbers_of_one_scale_have_errors_and_those_of_two_correlations_only() -> None:
    draw = np.random.default_rng(5)
    people = grades(2) * 20 + draw.normal(0, 4, ROWS)
    judge = grades(1) * 20 + draw.normal(0, 4, ROWS)
    results = judge_check(frame(judge, human=people))
    assert value(results, "pearson") == pytest.approx(np.corrcoef(judge, people)[0, 1])
    assert value(results, "mean_absolute_error") == pytest.approx(
        np.mean(np.abs(judge - people))
    )
    other = judge_check(frame(judge / 100, human=people))
    assert {*other.card["statistic"]} == {"pearson", "spearman"}
    assert value(other, "pearson") == pytest.approx(value(results, "pearson"))
    assert any("different ranges" in note for note in other.notes)


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "numbers"])
def test_results_are_saved_with_a_page(kind: str, tmp_path) -> None:
    draw = np.random.default_rng(5)
    labels = {
        "nominal": (classes(1), classes(2)),
        "ordinal": (grades(1), grades(2)),
        "numbers": (draw.normal(size=ROWS), draw.normal(size=ROWS)),
    }
    judge, people = labels[kind]
    results = judge_check(frame(judge, human=people))
    results.save(tmp_path / "results")
    assert (tmp_path / "results" / "index.html").exists()
    assert (tmp_path / "results" / "card.csv").exists()
