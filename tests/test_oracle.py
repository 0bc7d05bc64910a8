"""oracle.py: what is drawn, and when two values are the same."""

from metassay.oracle import MOST, WORK, same, sample

KEYS = [[f"d{n}", "a", "full"] for n in range(200)]


def test_the_same_keys_give_the_same_sample_whatever_else_there_is() -> None:
    drawn = sample(KEYS, [1] * 200)
    assert len(set(drawn)) == MOST
    assert [KEYS[at] for at in drawn] == [KEYS[::-1][at] for at in sample(KEYS[::-1], [1] * 200)]
    fewer = [KEYS[at] for at in sorted(drawn)]
    assert {fewer[at][0] for at in sample(fewer, [1] * MOST)} == {KEYS[at][0] for at in drawn}


def test_what_would_take_long_is_passed_over_but_something_is_drawn() -> None:
    work = [WORK] * 200
    assert len(sample(KEYS, work)) == 1
    work = [WORK + 1] * 199 + [1]
    assert sample(KEYS, work) == [199]
    assert sample(KEYS[:2], [WORK + 2, WORK + 1]) == [1]
    assert sample([], []) == []


def test_values_are_the_same_up_to_rounding_and_null_is_no_number() -> None:
    assert same(0.5, 0.5 + 1e-12)
    assert same(None, None)
    assert not same(0.5, 0.5 + 1e-8)
    assert not same(None, 0.0)
