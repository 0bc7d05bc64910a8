"""Numbers and frames as people read them."""

import io
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.format.frames import format_csv, format_markdown, rows
from metassay.format.numbers import (
    counted,
    equals,
    exact,
    probability,
    short,
    short_interval,
    shown,
    shown_interval,
    significant,
)

NAN = math.nan
CASES = {  # what rounds to 0 shows its side
    shown: {
        0.5: "0.500",
        -0.1234: "−0.123",
        -0.0001: ">−0.001",
        0.0004: "<0.001",
        0.0006: "0.001",
    }
    | {
        0.0: "0.000",
        -1e-300: ">−0.001",
        9.9996: "10.000",
        12.345: "12.35",
        415.3: "415.3",
    }
    | {None: "", NAN: ""},
    short: {
        0.5: ".50",
        -0.1234: "−.12",
        1.0: "1.00",
        -10.0: "−10.00",
        0.0: "0",
        0.004: "<.01",
    }
    | {-0.004: ">−.01", None: "", NAN: ""},
    probability: {
        0.0009: "<.001",
        0.001: ".001",
        0.0833: ".083",
        1.0: "1.000",
        None: "",
    },
    equals: {0.012: "p = .012", 0.0001: "p < .001", None: ""},
    significant: {
        0.123456: "0.1235",
        1e-12: "1e-12",
        -0.5: "-0.5",
        1234.567: "1235",
        0.0: "0",
    },
}


@pytest.mark.parametrize("write", CASES)
def test_numbers_by_hand(write):
    assert {value: write(value) for value in CASES[write]} == CASES[write]
    assert shown(-0.0) == "0.000"


def test_intervals_need_both_ends_and_show_the_side_of_a_bound_near_zero():
    assert shown_interval(-0.25, 0.5) == "[−0.250, 0.500]"
    assert shown_interval(-0.0001, 0.0001) == "[>−0.001, <0.001]"
    assert short_interval(-0.0002, 0.5) == "[>−.01, .50]"
    for write in (shown_interval, short_interval):
        assert write(None, 0.5) == write(0.5, NAN) == ""


def test_counted():
    assert (counted(1, "text"), counted(0, "text")) == ("1 text", "0 texts")
    assert counted(1234, "row") == "1,234 rows"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_exact_and_csv_keep_every_digit(value):
    assert float(exact(value)) == value
    assert float(format_csv(pd.DataFrame({"x": [value]})).splitlines()[1]) == value


def test_nulls_of_every_kind_are_none_in_rows_and_empty_in_files():
    frame = pd.DataFrame(
        {
            "text": pd.Series(["a", None], dtype="str"),
            "whole": pd.Series([1, None], dtype="Int64"),
            "real": [0.5, np.nan],
            "list": pd.Series([[1, 2], []], dtype=object),
        }
    )
    assert list(rows(frame, "real", "text", "whole", "list")) == [
        (0.5, "a", 1, [1, 2]),
        (None, None, None, []),
    ]
    frame = frame.drop(columns="list")
    assert format_csv(frame) == "text,whole,real\na,1,0.5\n,,\n"
    assert format_markdown(frame).splitlines()[-1] == "|  |  |  |"
    counts = {
        "n": pd.array([1, None], "Int64"),
        "o": pd.Series([2, None], dtype=object),
    }
    assert format_csv(pd.DataFrame(counts)) == "n,o\n1,2\n,\n"
    nothing = frame[["text", "real"]].head(0)
    assert format_csv(nothing) == "text,real\n"
    assert format_markdown(nothing) == "| text | real |\n| --- | ---: |\n"


def test_markdown_escapes_and_aligns_numbers():
    frame = pd.DataFrame(
        {"author": ["a|b\n*c* <script>[x](y)`"], "macro": [0.123456789]}
    )
    assert format_markdown(frame) == (
        "| author | macro |\n"
        "| --- | ---: |\n"
        "| a\\|b \\*c\\* &lt;script&gt;\\[x\\](y)\\` | 0.1235 |\n"
    )


def test_markdown_lists_recipes_and_long_notes_once_below_and_refers_to_notes_by_number():
    frame = pd.DataFrame(
        {"metric": ["b", "a", "a"], "recipe": ["b|x:1", "a|x:1", "a|x:1"]}
    )
    text = format_markdown(frame)
    assert "recipe |" not in text
    assert text.endswith("\nRecipes:\n\n- a\\|x:1\n- b\\|x:1\n")
    text = format_markdown(
        pd.DataFrame({"ours": [1.0, 2.0, 3.0], "note": ["b, so", None, "a, so"]})
    )
    assert [line.split("|")[2].strip() for line in text.splitlines()[2:5]] == [
        "2",
        "",
        "1",
    ]
    assert text.endswith("Notes:\n\n1. a, so\n2. b, so\n")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-a", "@SUM(A1)", "\t=1", "=a,b"])
def test_a_name_that_a_spreadsheet_would_run_is_quoted_in_csv(name: str) -> None:
    frame = pd.DataFrame(
        {"author": [name, "a-b=c", None], "value": [-0.5, 1e-12, np.nan]}
    )
    frame = frame.astype({"author": "str"})
    back = pd.read_csv(io.StringIO(format_csv(frame), newline=""))
    assert back["author"].tolist()[:2] == [f"'{name}", "a-b=c"]
    assert back["value"].tolist()[:2] == [-0.5, 1e-12]
    assert format_csv(frame).endswith("\n,\n")
    assert frame["author"][0] == name
