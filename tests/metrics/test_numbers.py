"""Numbers of a text: what counts as one, by hand."""

import pytest

from metassay.core.options import Options
from metassay.metrics import copying
from metassay.metrics.describe import Measured


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rose by 3.5% (p < .001)", ["3.5", ".001"]),
        ("1,000 of 12,345.67 patients", ["1,000", "12,345.67"]),
        ("10-20 cases, 10\u201320 days", ["10", "20", "10", "20"]),
        ("a 3D scan, H2O, x_1, x1 and COVID-19 or IL\u20116", []),
        ("on 3/4/2021 at 10:30am, BP 120/80", ["3/4/2021", "10:30am", "120/80"]),
        ("from 2021-03-04 to May 3, 2022.", ["2021-03-04", "3", "2022"]),
        ("20mg, 5 mm, 100MHz, 2x and \u22121.5e-3 m", ["20mg", "5", "100MHz", "2x", "1.5e-3"]),
        ("a 59-year-old, 2-fold; the 1st, the 1990s, twenty", ["59", "2"]),
        ("see [3] and [1,2]; version 3.10.2.", ["3", "1", "2", "3.10.2"]),
        ("Temp 37.5C, 98.6F, 37.5 \u00b0C", ["37.5C", "98.6F", "37.5"]),
        ("3.5D is not a number, nor is 3.5.2b", []),
        ("", []),
    ],
)
def test_by_hand(text: str, expected: list[str]) -> None:
    assert copying.numbers(text) == expected
    measured = copying.measure_numbers([text], [""], Options())
    assert measured == {"numbers": [Measured(float(len(expected)), None)]}
