"""Systems by rule: the first or the longest passages, each sentence cited, a row per source."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from metassay import __version__
from metassay.core.kinds import choose
from metassay.generation import SYSTEMS
from metassay.generation.copied import CopyOptions, copy_first, copy_longest
from metassay.generation.record import write_texts
from metassay.llm.needs import Resources
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.parquet import round_trip
from metassay.units.statements import statements

TALK = [
    "hello . how are you ?",
    "\u2026",
    "my knee hurts",
    "it is sore [1]. it swells.\nnow",
    "ok .",
]
# words: 2, 1, 3, 2, 4
TURNS = ["one two", "one", "one two three", "two one", "a b c d"]


@pytest.mark.parametrize(
    ("copy", "passages", "number", "text"),
    [
        # The second passage states nothing, but counts as one of the three.
        (copy_first, TALK, 3, "hello . [0] how are you ? [0]\nmy knee hurts [2]"),
        *((copy_first, passages, 2, "") for passages in ([], ["...", " "])),
        # Of passages 0 and 3 the earlier is taken.
        (copy_longest, TURNS, 3, "one two [0]\none two three [2]\na b c d [4]"),
        (copy_longest, TURNS, 1, "a b c d [4]"),
        (
            copy_longest,
            TURNS,
            9,
            "\n".join(f"{turn} [{n}]" for n, turn in enumerate(TURNS)),
        ),
    ],
)
def test_what_is_copied(copy: Any, passages: list[str], number: int, text: str) -> None:
    assert copy(passages, [""] * len(passages), CopyOptions(passages=number)) == text


def test_what_is_written_is_read_back() -> None:
    text = copy_first(TALK, [""] * 5, CopyOptions(passages=9))
    assert [
        (statement.text, statement.citations) for statement in statements(text)
    ] == [
        # the passage's citation is not to our passages
        ("hello .", (0,)),
        ("how are you ?", (0,)),
        ("my knee hurts", (2,)),
        ("it is sore.", (3,)),
        ("it swells.", (3,)),
        ("now", (3,)),
        ("ok .", (4,)),
    ]


@pytest.mark.parametrize("passages", [0, -1, 2.0, "2", True])
def test_options_are_strict(passages: Any) -> None:
    with pytest.raises(ValidationError):
        CopyOptions(passages=passages)


@pytest.mark.parametrize("kind", ["lead", "longest_turn"])
def test_a_source_is_a_row_as_if_it_were_alone(kind: str) -> None:
    passages = {"b": ["Hi.", "It hurts."], "a": [], "c": ["..."]}
    frame = pd.DataFrame(
        {"doc_id": list(passages), "passages": list(passages.values())}
    )
    frame["speaker"] = [[""] * len(each) for each in passages.values()]
    sources = frame.reindex(columns=list(SOURCES.columns))
    system = choose(SYSTEMS, {"kind": kind, "passages": 2}, where="params")

    def write(rows: pd.DataFrame) -> pd.DataFrame:
        texts, warnings = write_texts(rows, "mine", system, Resources(Path("nowhere")))
        assert not warnings
        return texts

    texts = round_trip(TEXTS, write(sources))
    assert texts[["doc_id", "status"]].to_numpy().tolist() == [
        ["a", "error"],
        ["b", "ok"],
        ["c", "error"],
    ]
    assert texts["text"].isna().tolist() == [True, False, True]
    assert texts["text"][1] == "Hi. [0]\nIt hurts. [1]"
    for column, value in (("author", "mine"), ("part", "full")):
        assert set(texts[column]) == {value}
    assert set(texts["recipe"]) == {f"{kind}|passages:2|metassay:{__version__}"}
    alone = pd.concat([write(sources.iloc[[n]]) for n in range(3)], ignore_index=True)
    pd.testing.assert_frame_equal(texts, round_trip(TEXTS, alone))
