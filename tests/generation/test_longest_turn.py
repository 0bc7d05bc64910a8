"""The longest passages, in the order of the source."""

from metassay.generation.copied import CopyOptions
from metassay.generation.copied import copy_longest as write

PASSAGES = ["one two", "one", "one two three", "two one", "a b c d"]
SPEAKERS = [""] * 5


def test_the_longest_by_words_in_source_order() -> None:
    # Words: 2, 1, 3, 2, 4. Of passages 0 and 3 the earlier is taken.
    assert write(PASSAGES, SPEAKERS, CopyOptions(passages=3)) == (
        "one two [0]\none two three [2]\na b c d [4]"
    )
    assert write(PASSAGES, SPEAKERS, CopyOptions(passages=1)) == "a b c d [4]"


def test_more_than_there_are_takes_all() -> None:
    text = write(PASSAGES, SPEAKERS, CopyOptions(passages=9))
    assert [line.split()[-1] for line in text.split("\n")] == [f"[{n}]" for n in range(5)]
