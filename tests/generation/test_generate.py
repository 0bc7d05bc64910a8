"""generate.py: one row per source, with recipe and status."""

from pathlib import Path

import pandas as pd
import pytest

from metassay import __version__
from metassay.generation.generate import RULES, generate
from metassay.generation.lead import LeadOptions
from metassay.generation.longest_turn import LongestTurnOptions
from metassay.params import Options, options_of
from metassay.parquet import read, write
from metassay.tables import SOURCES, TEXTS


def sources(**passages: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame({"doc_id": list(passages), "passages": list(passages.values())})
    frame["speaker"] = [[""] * len(one) for one in passages.values()]
    return frame.reindex(columns=list(SOURCES.columns))


def test_rows_statuses_and_recipe(tmp_path: Path) -> None:
    options = LeadOptions(passages=2)
    texts = generate(sources(b=["Hi.", "It hurts."], a=[], c=["..."]), "my_lead", options)
    write(TEXTS, texts, tmp_path / "texts.parquet")
    stored = read(TEXTS, tmp_path / "texts.parquet")
    assert stored["doc_id"].tolist() == ["a", "b", "c"]
    assert stored["status"].tolist() == ["error", "ok", "error"]
    assert stored["text"].isna().tolist() == [True, False, True]
    assert stored["text"][1] == "Hi. [0]\nIt hurts. [1]"
    assert set(stored["author"]) == {"my_lead"}
    assert set(stored["part"]) == {"full"}
    assert set(stored["recipe"]) == {f"lead|passages:2|metassay:{__version__}"}


@pytest.mark.parametrize("options", [LeadOptions(passages=1), LongestTurnOptions(passages=1)])
def test_a_document_is_written_as_if_it_were_alone(options: Options) -> None:
    together = generate(sources(a=["One.", "Two two."], b=["Three."]), "s", options)
    alone = [generate(sources(a=["One.", "Two two."]), "s", options)]
    alone += [generate(sources(b=["Three."]), "s", options)]
    pd.testing.assert_frame_equal(together, pd.concat(alone, ignore_index=True))


def test_every_kind_is_found_by_its_options() -> None:
    kinds = {kind: system.options for kind, system in RULES.items()}
    for kind in ("lead", "longest_turn"):
        options = options_of({"kind": kind, "passages": 3}, kinds, where="params")
        recipe = generate(sources(a=["One."]), "s", options)["recipe"][0]
        assert recipe == f"{kind}|passages:3|metassay:{__version__}"
