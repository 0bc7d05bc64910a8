"""The page shows numbers with Python's digits: both sides hold page/tests/numbers.json."""

import json
from pathlib import Path

from metassay.format.numbers import probability, short, shown

FILE = Path(__file__).parents[2] / "page/tests/numbers.json"
# Ties of rounding, ends of ranges, signs, and what rounds to nothing.
VALUES = (
    0.0,
    -0.0,
    0.0004,
    -0.0004,
    0.0005,
    0.0625,
    -0.0625,
    0.1875,
    0.125,
    0.375,
    -0.125,
    0.005,
    0.001,
    0.00099999,
    0.9995,
    0.99949999,
    0.5,
    1.0,
    1.0005,
    -1.5,
    2.5,
    9.9994,
    9.9995,
    9.99951,
    10.0,
    10.125,
    10.375,
    12.345,
    99.994,
    99.995,
    100.0,
    100.25,
    100.75,
    1234.05,
    123456.789,
    -12.345,
    -100.25,
    1e-300,
    1e15,
    0.1 + 0.2,
    1 / 3,
    2 / 3,
    0.045,
    0.055,
    0.615,
    1.005,
)


def rows() -> list[dict[str, object]]:
    return [
        {
            "value": v,
            "shown": shown(v),
            "short": short(v),
            "probability": probability(v),
        }
        for v in VALUES
    ]


def test_the_page_has_what_python_writes() -> None:
    assert json.loads(FILE.read_text("utf-8")) == rows()
