"""Names that look alike are found, whatever it is that sets them apart."""

import pytest

from metassay.core.naming import normalise


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("v1", "V1"),
        ("caf\u00e9", "cafe\u0301"),  # composed and decomposed
        ("gpt 4", "gpt  4"),
        ("gpt4", "gpt\u00a04"),
        ("a-b", "a\u2013b"),
        ("a-b", "a\u2212b"),
        ("a-b", "a\u2011b"),
        ("ann", "ann\u200b"),
        ("ann", "\ufeffann"),
        ("v1", "\uff561"),  # full width
        ("fit", "\ufb01t"),  # a ligature
        ("stra\u00dfe", "STRASSE"),
    ],
)
def test_they_look_alike(name: str, other: str) -> None:
    assert normalise(name) == normalise(other)


def test_others_do_not() -> None:
    names = ["v1", "v2", "v-1", "v01", "a", "\u00e4", "模型", "系统", ""]
    assert len({*map(normalise, names)}) == len(names)
