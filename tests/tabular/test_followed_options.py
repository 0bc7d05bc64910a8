"""Options that messages propose do what they say, whatever the words and names look like."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metassay
from metassay.cli.values import names
from metassay.core.errors import BadInput
from metassay.tabular.far_ratings import check_ratings
from metassay.tabular.numbers import find_format, order_grades
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings, Place

FEW = {"resamples": 20, "permutations": 20}


@pytest.mark.parametrize(
    "words",
    [["skip"], ["-skip-"], ["a, b", "c"], ['"skip"'], ["it's", "so"], ["--"]],
)
def test_what_is_written_is_what_is_read(words: list[str]) -> None:
    option, *rest = shlex.split(Caller.TERMINAL.option("missing", *words))
    value = option.partition("=")[2] if "=" in option else rest[0]
    assert names(value) == words
    assert not value.startswith("-") or "=" in option


@pytest.mark.parametrize("word", ["-9", "-9.0", "-9.00"])
def test_a_number_that_means_no_answer_is_one_however_it_is_written(word: str) -> None:
    cells = ["1", "2", "-9.0", "3"]
    read_as = find_format(cells, semicolons=False, missing=frozenset((word,)))
    assert [read_as.is_missing(cell) for cell in cells] == [False, False, True, False]


def test_none_is_a_grade_where_it_stands_among_grades() -> None:
    assert order_grades(["mild", "none", "severe"]) == ["none", "mild", "severe"]
    assert find_format(["1", "--", "2"], semicolons=False).is_missing("--")


def test_a_proposed_scale_has_all_digits() -> None:
    values = [0.12466876543, *np.linspace(0.2, 0.9, 30).tolist(), 98.7654321]
    problems = Findings()
    check_ratings("it", values, lambda n: Place("r.csv", n), problems, problems)
    assert "--scale it=0.12466876543..98.7654321" in problems.lines()[0]


def judged(cells: list[str], people: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"judge": cells, "human_1": people})


def test_none_may_be_a_pass() -> None:
    cells = ["none", "mild", "severe", "none"] * 6
    results = metassay.judge_check(judged(cells, cells), passes=["none"])
    card = results.card.set_index("statistic")["value"]
    assert (card["true_pass"], card["true_fail"]) == (12, 12)


def ratings(**columns: list[object]) -> pd.DataFrame:
    size = 24
    frame = pd.DataFrame(
        {
            "doc_id": [f"d{n // 3}" for n in range(size)],
            "system": ["a", "b", "c"] * (size // 3),
            "fluency": [n % 5 + 1 for n in range(size)],
        }
    )
    return frame.assign(**columns)


def test_rows_may_be_chosen_by_a_value_with_a_comma() -> None:
    yes, no = "Strongly agree, yes", "no"
    frame = ratings(attention_check=[no if n % 8 == 0 else yes for n in range(24)])
    with pytest.raises(BadInput) as refused:
        metassay.meta_eval(ratings=frame, **FEW)
    assert f"rows={{'attention_check': ['{yes}']}}" in str(refused.value)
    results = metassay.meta_eval(ratings=frame, rows={"attention_check": [yes]}, **FEW)
    assert any("3 rows left out" in note for note in results.notes)


def test_the_named_column_of_parts_goes_before_one_that_is_called_so() -> None:
    frame = ratings(part=["x"] * 24, sentence=[f"s{n // 12}" for n in range(24)])
    results = metassay.meta_eval(ratings=frame, part="sentence", **FEW)
    assert any("'part'" in note and "not read" in note for note in results.notes)


def test_all_rows_of_one_rater_may_be_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from metassay.cli.main import main

    files = []
    for rater, status in (
        ("ann", "APPROVED"),
        ("ben", "APPROVED"),
        ("cat", "REJECTED"),
    ):
        frame = ratings(Status=[status] * 24)
        files.append(str(tmp_path / f"{rater}.csv"))
        frame.to_csv(files[-1], index=False)
    words = ["meta-eval", "--ratings", *files, "--rows", "Status=APPROVED"]
    assert main([*words, "--resamples", "20"]) == 0
    assert "24 rows left out" in " ".join(capsys.readouterr().out.split())


def test_a_preview_shows_no_remark(tmp_path: Path) -> None:
    remark = "Mr Miller has HIV and was treated in May by Dr Smith"
    frame = ratings().drop(columns="fluency")
    for n in (1, 2, 3):
        frame[f"fluency{n}"] = [str(row % 5 + 1) for row in range(24)]
    frame.loc[[0, 3, 6, 9], "fluency2"] = remark
    with pytest.raises(BadInput) as refused:
        metassay.meta_eval(ratings=frame, **FEW)
    assert "Miller" not in str(refused.value)
