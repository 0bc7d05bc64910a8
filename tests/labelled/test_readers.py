"""Readers of test sets for judges and segmentations, on invented files and on released ones."""

import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.params import load as load_params
from metassay.datasets.readers import ITEM_READERS, SENTENCE_READERS, reader_of
from metassay.labelled.ingest import ingest_items
from metassay.labelled.readers import entailment, sentences
from metassay.labelled.records import DocumentRow, ItemRow, Items
from metassay.labelled.types import NliOptions, choose_items, chosen_test, half_of
from metassay.statistics.classification import auroc
from metassay.tabular.rows import Place
from tests.support.labelled import SECRET, ingested, problems, put, sound


@pytest.mark.parametrize("name", sorted(ITEM_READERS | SENTENCE_READERS))
def test_an_empty_folder_is_told_by_every_reader(tmp_path: Path, name: str) -> None:
    read = reader_of(name, ITEM_READERS | SENTENCE_READERS)
    assert problems(read(tmp_path))


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
    made = sound(entailment.read_snli(tmp_path)).items
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
    made = sound(entailment.read_anli(tmp_path)).items
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
    assert (
        first
        == "R3/test.jsonl: line 1: must have exactly one of 'context' and 'premise'; write one"
    )
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
    made = sound(entailment.read_llm_aggrefact(tmp_path)).items
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
    read = entailment.read_wice(tmp_path)
    made = sound(read).items
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
    assert problems(entailment.read_wice(tmp_path)) == [
        "oracle_claim_dev.jsonl: line 2: 'claim' is not that of the claim's first record (meta.id"
        " 'd1'); fetch the file again",
        "oracle_claim_dev.jsonl: line 2: 'label' is not that of the claim's first record (meta.id"
        " 'd1'); fetch the file again",
        "oracle_claim_dev.jsonl: line 3: 'label' is wrong: input should be 'supported',"
        " 'partially_supported' or 'not_supported'; correct it",
        "t5.entailment_score.json: 2 scores: a score is not a number (first: score 1, claim 'd1');"
        " fetch the file again",
    ]
    put(tmp_path / "t5.entailment_score.json", "[]")
    assert "is not an object of scores by claim" in "\n".join(
        problems(entailment.read_wice(tmp_path))
    )


def test_wice_as_released(mirror: Path) -> None:
    """Counts of the released split, and the published judge's AUROC as recomputed: .81."""
    made = ingested("wice", mirror / "wice_dev", "wice_dev")
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
    whole = entailment.read_wice(mirror / "wice_dev").items
    held = set(made.gold["item"])
    assert (own.options["halves"], len(held), len(whole)) == (21, 187, 349)
    assert Counter(made.gold["label"]) == {"entailed": 61, "not_entailed": 126}
    assert set(made.gold["subset"]) == {"dev_held_out"}
    titles = {one.cluster for one in whole if one.item in held}
    assert titles.isdisjoint(one.cluster for one in whole if one.item not in held)
    assert len(made.verdicts) == 53
    names = "\n".join(sorted(held)).encode()
    assert hashlib.sha256(names).hexdigest()[:16] == "b00b59387c73ddca"


# ---- labelled sentences ----------------------------------------------------------------------


def written(one: DocumentRow) -> list[tuple[str, str, float | None]]:
    return [
        (one.text[said.span.start : said.span.end], said.label, said.confidence)
        for said in one.sentences
    ]


# ---- JSON Lines ------------------------------------------------------------------------------

ABSTRACT = {
    "abstract_id": 0,
    "sentences": ["Bees dance.", " Why is unknown. "],
    "labels": ["background", "objective"],
    "confs": [1, 0.6],
}


def test_csabstruct(tmp_path: Path) -> None:
    put(tmp_path / "dev.jsonl", ABSTRACT, "", ABSTRACT | {"confs": [0.2, 0.3]})
    first, second = sound(sentences.read_csabstruct(tmp_path)).documents
    assert (first.doc_id, second.doc_id) == ("dev:1", "dev:3")
    assert first.text == "Bees dance. Why is unknown."
    assert written(first) == [
        ("Bees dance.", "background", 1.0),
        ("Why is unknown.", "objective", 0.6),
    ]


def test_ones_own_sentences_have_ids_and_any_labels(tmp_path: Path) -> None:
    own = {"doc_id": "trial-7", "sentences": ["40 adults.", "A spoon."], "labels": ["who", "what"]}
    put(tmp_path / "mine.jsonl", own)
    (one,) = sound(sentences.read(tmp_path)).documents
    assert (one.doc_id, one.author) == ("trial-7", "reference")
    assert [said.label for said in one.sentences] == ["who", "what"]
    assert [said.confidence for said in one.sentences] == [None, None]


def test_what_is_wrong_with_json_is_told_at_once(tmp_path: Path) -> None:
    put(
        tmp_path / "dev.jsonl",
        ABSTRACT | {"labels": ["background"]},
        ABSTRACT | {"labels": ["background", "purpose"]},
        ABSTRACT | {"confs": [0.5, 1.5]},
        ABSTRACT | {"confs": [0.5]},
        ABSTRACT | {"sentences": [SECRET, " "]},
        ABSTRACT | {"sentences": []},
        '{"sentences": [',
        [SECRET],
    )
    found = problems(sentences.read_csabstruct(tmp_path))
    assert len(found) == 8
    said = "\n".join(found)
    assert "dev.jsonl: line 1: 'labels' is not as long as 'sentences' (1 for 2 sentences)" in said
    assert "line 2: 'labels' is wrong: input should be 'background', 'objective'" in said
    assert "line 3: 'confs' is wrong: input should be less than or equal to 1" in said
    assert "line 4: 'confs' is not as long as 'sentences'" in said
    assert "line 5: 'sentences' is empty (sentence 1); fill it in" in said
    assert "line 6: 'sentences' has no item; add at least one" in said
    assert "line 7: is not valid JSON" in said
    assert "line 8: is not an object with named values" in said


def test_csabstruct_itself(tmp_path: Path, mirror: Path) -> None:
    shutil.copy(mirror / "csabstruct/dev.jsonl", tmp_path)
    found = sound(sentences.read_csabstruct(tmp_path)).documents
    counted = Counter(said.label for one in found for said in one.sentences)
    assert len(found) == 295
    assert counted == {
        **{"background": 681, "method": 624, "result": 410, "objective": 244},
        "other": 67,
    }


# ---- PubMed RCT ------------------------------------------------------------------------------


def test_pubmed_rct(tmp_path: Path) -> None:
    put(
        tmp_path / "test.txt",
        "###101",
        "OBJECTIVE\tTo see if @ spoons help .",
        "METHODS\tWe gave @ adults a spoon .",
        "",
        "###102",
        "BACKGROUND\tSalt is everywhere .",
        "RESULTS\tIntake fell by @ % .",
        "CONCLUSIONS\tSpoons may help .",
    )
    first, second = sound(sentences.read_pubmed_rct(tmp_path)).documents
    assert (first.doc_id, second.doc_id) == ("101", "102")
    assert first.text == "To see if @ spoons help . We gave @ adults a spoon ."
    assert [label for _, label, _ in written(first)] == ["objective", "method"]
    assert [label for _, label, _ in written(second)] == ["background", "result", "conclusion"]
    assert second.at == ("test.txt", 5, "line")


def test_what_is_wrong_with_text_is_told_at_once(tmp_path: Path) -> None:
    put(
        tmp_path / "test.txt",
        f"METHODS\t{SECRET}",
        "###101",
        f"METHODS {SECRET}",
        "RESULTS\t ",
        f"FINDINGS\t{SECRET}",
    )
    found = problems(sentences.read_pubmed_rct(tmp_path))
    assert found == [
        "test.txt: line 1: a sentence is before the first abstract; begin each abstract with a line"
        " ### and its id; docs/benchmarks.md has the format",
        "test.txt: 2 lines: is not a label and sentence with a tab between them (first: line 3);"
        " write LABEL, a tab and the sentence; docs/benchmarks.md has the format",
        "test.txt: line 5: the label is not known ('FINDINGS'); write one of BACKGROUND, OBJECTIVE,"
        " METHODS, RESULTS, CONCLUSIONS",
    ]
