"""The scale that is guessed of what people rated, by hand."""

import pytest

from metassay.tabular.scales import guess_scale

ENDS = [  # values, ends that were said, and the scale with its ends
    ([1, 2, 5], None, ("ordinal", 1, 5)),
    ([0, 10], None, ("ordinal", 0, 10)),
    ([0, 11], None, ("interval", 0, 11)),
    ([1, 2.5], None, ("interval", 1, 2.5)),
    ([0, 1, 1], None, ("nominal", 0, 1)),
    ([0, 0.5, 1], None, ("interval", 0, 1)),
    ([2, 3], (1, 5), ("ordinal", 1, 5)),
    ([1, 1], None, ("nominal", 0, 1)),
    ([0, 0], None, ("nominal", 0, 1)),
    ([4, 4], None, ("ordinal", 3, 4)),
    ([], None, ("nominal", 0, 1)),
]


@pytest.mark.parametrize(("values", "ends", "expected"), ENDS)
@pytest.mark.parametrize("lower", [False, True])
def test_a_scale_by_its_values(
    values: list[float], ends: tuple[float, float] | None, expected: tuple[object, ...], lower: bool
) -> None:
    said = (float(ends[0]), float(ends[1])) if ends else None
    found = guess_scale([float(value) for value in values], said, lower=lower)
    assert (found.scale, found.low, found.high) == expected
    assert found.better == ("lower" if lower else "higher")
