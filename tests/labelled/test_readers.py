"""Readers of test sets for judges, on invented files and, with a mirror, on WiCE itself."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.params import load as load_params
from metassay.labelled.ingest import ingest_items
from metassay.labelled.readers import entailment, wice
from metassay.labelled.records import ItemRow, Items
from metassay.labelled.types import NliOptions, choose_items, chosen_test, half_of
from metassay.statistics.classification import auroc
from metassay.tabular.rows import Place

SECRET = "what nobody may read"


def put(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path.parent


def items(read: Items) -> list[ItemRow]:
    assert not read.problems, read.problems.lines()
    return read.items


def problems(read: Items) -> list[str]:
    found = read.problems.lines()
    assert SECRET not in "\n".join(found)
    return found


# ---- SNLI, MultiNLI, MedNLI ------------------------------------------------------------------


def pair(premise: str, hypothesis: str, label: str, **more: str) -> dict[str, str]:
    return {"sentence1": premise, "sentence2": hypothesis, "gold_label": label, **more}


def test_snli_files_are_subsets_and_undecided_items_have_no_gold(tmp_path: Path) -> None:
    put(
        tmp_path / "test.jsonl",
        pair("It rains.", "It is wet.", "entailment", pairID="7e", annotator_labels="x"),
        pair("It rains.", "It is cold.", "neutral", pairID="7n"),
        pair("It snows.", "It is hot.", "contradiction"),
        pair("It snows.", "It is white.", "-"),
    )
    put(tmp_path / "dev.jsonl", pair("It rains.", "It is wet.", "entailment", pairID="7e"))
    made = items(entailment.read_snli(tmp_path))
    assert [(one.item, one.label, one.subset) for one in made] == [
        ("dev:7e", "entailed", "dev"),
        ("test:7e", "entailed", "test"),
        ("test:7n", "neutral", "test"),
        ("test:3", "contradicted", "test"),
        ("test:4", None, "test"),
    ]
    clusters = [one.cluster for one in made]
    assert clusters[0] == clusters[1] == clusters[2]
    assert clusters[3] == clusters[4] != clusters[0]
    assert made[1].premises == ["It rains."]
    assert made[1].hypothesis == "It is wet."


def test_what_is_wrong_in_snli_files_is_told_by_line(tmp_path: Path) -> None:
    put(
        tmp_path / "set/test.jsonl",
        pair(SECRET, "B.", "maybe"),
        '{"sentence1": ',
        pair(SECRET, " ", "neutral"),
        {"sentence1": SECRET, "gold_label": "neutral"},
    )
    assert problems(entailment.read_snli(tmp_path / "set")) == [
        "set/test.jsonl: line 1: the label is not known ('maybe'); write one of entailment,"
        " neutral, contradiction, e, n, c, 0, 1, 2",
        "test.jsonl: line 2: is not valid JSON (expecting value at column 15); correct it",
        "set/test.jsonl: line 3: 'sentence2' is empty; fill it in",
        "set/test.jsonl: line 4: 'sentence2' is missing; add it",
    ]


# ---- ANLI ------------------------------------------------------------------------------------


def test_anli_rounds_are_subsets(tmp_path: Path) -> None:
    put(
        tmp_path / "R1/test.jsonl",
        {"uid": "u1", "context": "A.", "hypothesis": "B.", "label": "e", "reason": "none"},
        {"uid": "u2", "context": "A.", "hypothesis": "C.", "label": "n"},
    )
    put(tmp_path / "R2/test.jsonl", {"premise": "A.", "hypothesis": "B.", "label": 2})
    made = items(entailment.read_anli(tmp_path))
    assert [(one.item, one.label, one.subset) for one in made] == [
        ("R1_test:u1", "entailed", "R1_test"),
        ("R1_test:u2", "neutral", "R1_test"),
        ("R2_test:1", "contradicted", "R2_test"),
    ]
    assert len({one.cluster for one in made}) == 1
    put(
        tmp_path / "R3/test.jsonl",
        {"hypothesis": "B.", "label": "e"},
        {"context": SECRET, "hypothesis": "B.", "label": "entailed"},
    )
    first, second = problems(entailment.read_anli(tmp_path))
    assert first == "R3/test.jsonl: line 1: has not one premise; write 'context' or 'premise'"
    assert second.startswith("R3/test.jsonl: line 2: the label is not known ('entailed');")


# ---- LLM-AggreFact ---------------------------------------------------------------------------

CLAIMS = [
    {"dataset": "Wice", "doc": "A.", "claim": "B.", "label": 1},
    {"dataset": "Wice", "doc": "A.", "claim": "C.", "label": 0},
    {"dataset": "RAGTruth", "doc": "D.", "claim": "B.", "label": 0},
]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_llm_aggrefact_in_every_format(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame(CLAIMS).assign(contamination_identifier="x")
    path = tmp_path / f"test.{kind}"
    if kind == "jsonl":
        put(path, *frame.to_dict("records"))
    elif kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    made = items(entailment.read_llm_aggrefact(tmp_path))
    assert [(one.subset, one.premises, one.hypothesis, one.label) for one in made] == [
        ("Wice", ["A."], "B.", "entailed"),
        ("Wice", ["A."], "C.", "not_entailed"),
        ("RAGTruth", ["D."], "B.", "not_entailed"),
    ]
    assert len({one.item for one in made}) == 3
    assert made[0].cluster == made[1].cluster != made[2].cluster


def test_what_is_wrong_in_llm_aggrefact_is_told(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", {**CLAIMS[0], "doc": SECRET, "label": 2})
    put(tmp_path / "b.csv", "dataset,doc,label", f"x,{SECRET},1")
    put(tmp_path / "c.parquet", SECRET)
    pd.DataFrame(CLAIMS).drop(columns="claim").to_parquet(tmp_path / "d.parquet")
    found = problems(entailment.read_llm_aggrefact(tmp_path))
    assert found[0].startswith("a.jsonl: line 1: 'label' is wrong: input should be 0 or 1")
    assert found[1].startswith("b.csv: line 1: column 'claim' is missing;")
    assert found[2] == "c.parquet: is damaged or no Parquet file; fetch it again"
    assert found[3].startswith("d.parquet: column 'claim' is missing;")


# ---- WiCE ------------------------------------------------------------------------------------


def chunk(key: str, label: str, evidence: list[str], **more: object) -> dict[str, object]:
    meta = {"id": key, "claim_title": "Rain", "claim_section": "x", "oracle_idx": [1]}
    return {"label": label, "claim": "It rained.", "evidence": evidence, "meta": meta, **more}


def test_chunks_of_a_claim_are_its_premises(tmp_path: Path) -> None:
    put(
        tmp_path / "oracle_claim_dev.jsonl",
        chunk("d1", "supported", ["It was wet. ", "It rained."]),
        chunk("d2", "partially_supported", ["It was wet."]),
        chunk("d1", "supported", ["It was May."]),
        chunk("d3", "not_supported", ["It was May."]),
    )
    scores = json.dumps({"d1": 0.75, "d3": 0})
    put(tmp_path / "t5-3b-anli__dev.entailment_score.json", scores)
    read = wice.read(tmp_path)
    made = items(read)
    assert [(one.item, one.label, one.premises) for one in made] == [
        ("d1", "entailed", ["It was wet. It rained.", "It was May."]),
        ("d2", "not_entailed", ["It was wet."]),
        ("d3", "not_entailed", ["It was May."]),
    ]
    assert {(one.subset, one.cluster) for one in made} == {("dev", "Rain")}
    assert [(one.item, one.judge, one.probability) for one in read.verdicts] == [
        ("d1", "t5_3b_anli", 0.75),
        ("d3", "t5_3b_anli", 0.0),
    ]


def test_what_is_wrong_in_wice_is_told(tmp_path: Path) -> None:
    put(
        tmp_path / "oracle_claim_dev.jsonl",
        chunk("d1", "supported", ["It rained."]),
        chunk("d1", "not_supported", ["It rained."], claim=SECRET),
        chunk("d2", "maybe", [SECRET]),
    )
    put(tmp_path / "t5.entailment_score.json", json.dumps({"d1": True, "d2": SECRET}))
    assert problems(wice.read(tmp_path)) == [
        "oracle_claim_dev.jsonl: line 2: 'claim' is not that of the claim's first record (meta.id"
        " 'd1'); fetch the file again",
        "oracle_claim_dev.jsonl: line 2: 'label' is not that of the claim's first record (meta.id"
        " 'd1'); fetch the file again",
        "oracle_claim_dev.jsonl: line 3: 'label' is wrong: input should be 'supported',"
        " 'partially_supported' or 'not_supported'; correct it",
        "t5.entailment_score.json: 2 scores: a score is no number (first: score 1, claim 'd1');"
        " fetch the file again",
    ]
    put(tmp_path / "t5.entailment_score.json", "[]")
    assert "is not an object of scores by claim" in "\n".join(problems(wice.read(tmp_path)))


def test_wice_as_released(mirror: Path) -> None:
    """Counts of the released split, and the published judge's AUROC as recomputed: .81."""
    test = chosen_test("nli", {"ways": 2, "subsets": [], "sample": None}, where="x")
    made = ingest_items(test, "wice", mirror / "wice_dev", dataset="wice_dev")
    assert len(made.pairs) == 1043
    assert Counter(made.gold["label"]) == {"entailed": 114, "not_entailed": 192 + 43}
    assert not made.warnings
    both = made.verdicts.merge(made.gold, on="item", suffixes=("", "_gold"))
    assert len(both) == 100
    right = both["label_gold"] == "entailed"
    found = auroc(both["probability"], right, confidence=0.95)
    assert found.value == pytest.approx(0.81, abs=0.005)


def crc(data: bytes) -> int:
    """CRC-32 bit by bit, as its polynomial defines it."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def test_halves_are_cut_by_article_whatever_else_is_there() -> None:
    made = [
        ItemRow(Place("f", n), f"{title}{n}", ["P."], "H.", "entailed", "dev", cluster=title)
        for n, title in enumerate(["A", "A", "B", "C", "D", "", "Émile"])
    ]
    halves = NliOptions(ways=2, subsets=[], sample=None, halves=21)
    cut = choose_items(Items(made), halves).items
    odd = [bool(crc(f"21 {one.cluster or one.item}".encode()) % 2) for one in made]
    assert [one.subset for one in cut] == ["dev_held_out" if one else "dev_fitted" for one in odd]
    assert {True, False} == set(odd)
    assert choose_items(Items(made[::-1]), halves).items == cut[::-1]
    assert {half_of("A", seed) for seed in range(8)} == {"fitted", "held_out"}


def test_the_held_out_half_of_wice_is_the_same_on_every_machine(mirror: Path) -> None:
    """The seed is kept: another half would be one that something was fitted to."""
    own = load_params().judge_tests["wice_heldout"]
    test = chosen_test(own.test, own.options, where="x")
    made = ingest_items(test, "wice", mirror / "wice_dev", dataset="wice_dev")
    whole = wice.read(mirror / "wice_dev").items
    held = set(made.gold["item"])
    assert (own.options["halves"], len(held), len(whole)) == (21, 187, 349)
    assert Counter(made.gold["label"]) == {"entailed": 61, "not_entailed": 126}
    assert set(made.gold["subset"]) == {"dev_held_out"}
    titles = {one.cluster for one in whole if one.item in held}
    assert titles.isdisjoint(one.cluster for one in whole if one.item not in held)
    assert len(made.verdicts) == 53
    names = "\n".join(sorted(held)).encode()
    assert hashlib.sha256(names).hexdigest()[:16] == "b00b59387c73ddca"
