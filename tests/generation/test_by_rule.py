"""record.py and generate.py: one row per source, with recipe and status."""

from pathlib import Path

import pandas as pd
import pytest

from metassay import __version__
from metassay.core.kinds import choose
from metassay.generation import SYSTEMS
from metassay.generation.record import write_texts
from metassay.llm.needs import Resources
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.parquet import read, write


def sources(**passages: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame({"doc_id": list(passages), "passages": list(passages.values())})
    frame["speaker"] = [[""] * len(one) for one in passages.values()]
    return frame.reindex(columns=list(SOURCES.columns))


def written(kind: str, passages: int, given: pd.DataFrame) -> pd.DataFrame:
    system = choose(SYSTEMS, {"kind": kind, "passages": passages}, where="params")
    texts, warnings = write_texts(given, "mine", system, Resources(Path("nowhere")))
    assert not warnings
    return texts


def test_rows_statuses_and_recipe(tmp_path) -> None:
    texts = written("lead", 2, sources(b=["Hi.", "It hurts."], a=[], c=["..."]))
    write(TEXTS, texts, tmp_path / "texts.parquet")
    stored = read(TEXTS, tmp_path / "texts.parquet")
    assert stored["doc_id"].tolist() == ["a", "b", "c"]
    assert stored["status"].tolist() == ["error", "ok", "error"]
    assert stored["text"].isna().tolist() == [True, False, True]
    assert stored["text"][1] == "Hi. [0]\nIt hurts. [1]"
    assert set(stored["author"]) == {"mine"}
    assert set(stored["part"]) == {"full"}
    assert set(stored["recipe"]) == {f"lead|passages:2|metassay:{__version__}"}


@pytest.mark.parametrize("kind", ["lead", "longest_turn"])
def test_a_document_is_written_as_if_it_were_alone(kind: str) -> None:
    together = written(kind, 1, sources(a=["One.", "Two two."], b=["Three."]))
    alone = [written(kind, 1, sources(a=["One.", "Two two."]))]
    alone += [written(kind, 1, sources(b=["Three."]))]
    pd.testing.assert_frame_equal(together, pd.concat(alone, ignore_index=True))
    assert set(together["recipe"]) == {f"{kind}|passages:1|metassay:{__version__}"}
