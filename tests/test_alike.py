"""Names that look alike are found, whatever it is that sets them apart."""

import time

import pytest

from metassay.core.confusables import finder, look_alikes, spelt


@pytest.mark.parametrize(
    ("one", "other"),
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
def test_they_look_alike(one: str, other: str) -> None:
    assert look_alikes([one, "other", other, one]) == [[one, other]]
    assert finder([one, "other"])(other) == one
    assert spelt(one) != spelt(other), "a message has to tell them apart"


def test_others_do_not() -> None:
    assert look_alikes(["v1", "v2", "v-1", "v01", "a", "\u00e4", "模型", "系统", ""]) == []
    assert finder(["v1"])("v2") is None


def test_400_000_keys_take_a_moment() -> None:
    names = [f"Document-{number:06}" for number in range(400_000)]
    start = time.process_time()
    assert look_alikes([*names, "document-000007"]) == [["Document-000007", "document-000007"]]
    assert time.process_time() - start < 20
