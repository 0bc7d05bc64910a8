"""Readers of test sets for judges and segmentations, on invented files and on released ones."""

import csv
import hashlib
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
def test_an_empty_folder_is_a_problem_for_every_reader(
    tmp_path: Path, name: str
) -> None:
    assert problems(reader_of(name, ITEM_READERS | SENTENCE_READERS)(tmp_path))


def labels(rows: list[ItemRow]) -> list[tuple[str, str | None, str]]:
    return [(row.item, row.label, row.subset) for row in rows]


# ---- SNLI, MultiNLI, MedNLI; ANLI


def pair(premise: str, hypothesis: str, label: str, key: str = "") -> dict[str, str]:
    line = {
        "sentence1": premise,
        "sentence2": hypothesis,
        "gold_label": label,
        "unknown": "x",
    }
    return {**line, "pairID": key} if key else line


def test_snli_files_are_subsets_and_undecided_items_have_no_gold(
    tmp_path: Path,
) -> None:
    put(
        tmp_path / "test.jsonl",
        pair("It rains.", "It is wet.", "entailment", "7e"),
        pair("It rains.", "It is cold.", "neutral", "7n"),
        pair("It snows.", "It is hot.", "contradiction"),
        pair("It snows.", "It is white.", "-"),
    )
    put(tmp_path / "dev.jsonl", pair("It rains.", "It is wet.", "entailment", "7e"))
    rows = sound(entailment.read_snli(tmp_path)).items
    assert labels(rows) == [
        ("dev:7e", "entailed", "dev"),
        ("test:7e", "entailed", "test"),
        ("test:7n", "neutral", "test"),
        ("test:3", "contradicted", "test"),
        ("test:4", None, "test"),
    ]
    clusters = [row.cluster for row in rows]
    assert clusters[0] == clusters[1] == clusters[2]
    assert clusters[3] == clusters[4] != clusters[0]
    assert (rows[1].premises, rows[1].hypothesis) == (["It rains."], "It is wet.")
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


def test_anli_rounds_are_subsets(tmp_path: Path) -> None:
    put(
        tmp_path / "R1/test.jsonl",
        {
            "uid": "u1",
            "context": "A.",
            "hypothesis": "B.",
            "label": "e",
            "reason": "none",
        },
        {"uid": "u2", "context": "A.", "hypothesis": "C.", "label": "n"},
    )
    put(tmp_path / "R2/test.jsonl", {"premise": "A.", "hypothesis": "B.", "label": 2})
    rows = sound(entailment.read_anli(tmp_path)).items
    assert labels(rows) == [
        ("R1_test:u1", "entailed", "R1_test"),
        ("R1_test:u2", "neutral", "R1_test"),
        ("R2_test:1", "contradicted", "R2_test"),
    ]
    assert len({row.cluster for row in rows}) == 1
    wrong = (
        {"hypothesis": "B.", "label": "e"},
        {"context": SECRET, "hypothesis": "B.", "label": "x"},
    )
    put(tmp_path / "R3/test.jsonl", *wrong)
    first, second = problems(entailment.read_anli(tmp_path))
    lead = "R3/test.jsonl: line"
    assert (
        first
        == f"{lead} 1: must have exactly one of 'context' and 'premise'; write one"
    )
    assert second.startswith(f"{lead} 2: the label is not known ('x');")


# ---- LLM-AggreFact

CLAIMS = [
    {"dataset": "Wice", "doc": "A.", "claim": "B.", "label": 1},
    {"dataset": "Wice", "doc": "A.", "claim": "C.", "label": 0},
    {"dataset": "RAGTruth", "doc": "D.", "claim": "B.", "label": 0},
]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_llm_aggrefact_in_every_format(tmp_path: Path, kind: str) -> None:
    frame, path = (
        pd.DataFrame(CLAIMS).assign(contamination_identifier="x"),
        tmp_path / f"test.{kind}",
    )
    if kind == "jsonl":
        put(path, *frame.to_dict("records"))
    elif kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    rows = sound(entailment.read_llm_aggrefact(tmp_path)).items
    assert [(row.subset, row.premises, row.hypothesis, row.label) for row in rows] == [
        ("Wice", ["A."], "B.", "entailed"),
        ("Wice", ["A."], "C.", "not_entailed"),
        ("RAGTruth", ["D."], "B.", "not_entailed"),
    ]
    first = 2 if kind == "csv" else 1  # the line or row
    assert [row.item for row in rows] == [f"test:{first + n}" for n in range(3)]
    assert rows[0].cluster == rows[1].cluster != rows[2].cluster


def test_what_is_wrong_in_llm_aggrefact(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", {**CLAIMS[0], "doc": SECRET, "label": 2})
    put(tmp_path / "b.csv", "dataset,doc,label", f"x,{SECRET},1")
    put(tmp_path / "c.parquet", SECRET)
    pd.DataFrame(CLAIMS).drop(columns="claim").to_parquet(tmp_path / "d.parquet")
    lines = problems(entailment.read_llm_aggrefact(tmp_path))
    assert lines[0].startswith(
        "a.jsonl: line 1: 'label' is wrong: input should be 0 or 1"
    )
    assert lines[1].startswith("b.csv: line 1: column 'claim' is missing;")
    assert lines[2] == "c.parquet: is damaged or is not a Parquet file; fetch it again"
    assert lines[3].startswith("d.parquet: column 'claim' is missing;")


# ---- WiCE


def chunk(
    key: str, label: str, *evidence: str, claim: str = "It rained."
) -> dict[str, object]:
    meta = {"id": key, "claim_title": "Rain", "claim_section": "x", "oracle_idx": [1]}
    return {"label": label, "claim": claim, "evidence": evidence, "meta": meta}


def test_chunks_of_a_claim_are_its_premises(tmp_path: Path) -> None:
    put(
        tmp_path / "oracle_claim_dev.jsonl",
        chunk("d1", "supported", "It was wet. ", "It rained."),
        chunk("d2", "partially_supported", "It was wet."),
        chunk("d1", "supported", "It was May."),
        chunk("d3", "not_supported", "It was May."),
    )
    put(tmp_path / "t5-3b-anli__dev.entailment_score.json", {"d1": 0.75, "d3": 0})
    read = sound(entailment.read_wice(tmp_path))
    assert [(row.item, row.label, row.premises) for row in read.items] == [
        ("d1", "entailed", ["It was wet. It rained.", "It was May."]),
        ("d2", "not_entailed", ["It was wet."]),
        ("d3", "not_entailed", ["It was May."]),
    ]
    assert {(row.subset, row.cluster) for row in read.items} == {("dev", "Rain")}
    assert [(row.item, row.judge, row.probability) for row in read.verdicts] == [
        ("d1", "t5_3b_anli", 0.75),
        ("d3", "t5_3b_anli", 0.0),
    ]


def test_what_is_wrong_in_wice(tmp_path: Path) -> None:
    put(
        tmp_path / "oracle_claim_dev.jsonl",
        chunk("d1", "supported", "It rained."),
        chunk("d1", "not_supported", "It rained.", claim=SECRET),
        chunk("d2", "maybe", SECRET),
    )
    put(tmp_path / "t5.entailment_score.json", {"d1": True, "d2": SECRET})
    lead, fix = "oracle_claim_dev.jsonl: line", "fetch the file again"
    assert problems(entailment.read_wice(tmp_path)) == [
        f"{lead} 2: 'claim' is not that of the claim's first record (meta.id 'd1'); {fix}",
        f"{lead} 2: 'label' is not that of the claim's first record (meta.id 'd1'); {fix}",
        f"{lead} 3: 'label' is wrong: input should be 'supported', 'partially_supported' or"
        " 'not_supported'; correct it",
        "t5.entailment_score.json: 2 scores: a score is not a number (first: score 1, claim 'd1');"
        f" {fix}",
    ]
    put(tmp_path / "t5.entailment_score.json", "[]")
    lines = problems(entailment.read_wice(tmp_path))
    assert any("is not an object of scores by claim" in line for line in lines)


def test_wice_as_released(mirror: Path) -> None:
    """Counts of the released split, and the published judge's AUROC as recomputed: .81."""
    tables = ingested("wice", mirror / "wice_dev", "wice_dev")
    assert len(tables.pairs) == 1043
    assert Counter(tables.gold["label"]) == {"entailed": 114, "not_entailed": 192 + 43}
    assert not tables.warnings
    both = tables.verdicts.merge(tables.gold, on="item", suffixes=("", "_gold"))
    assert len(both) == 100
    right = both["label_gold"] == "entailed"
    value = auroc(both["probability"], right, confidence=0.95).value
    assert value == pytest.approx(0.81, abs=0.005)
    # The seed of the half is kept: another half would be one that something was fitted
    # to.
    block = load_params().judge_tests["wice_heldout"]
    test = chosen_test(block.test, block.options, where="x")
    half = ingest_items(test, "wice", mirror / "wice_dev", dataset="wice_dev")
    whole, items = (
        entailment.read_wice(mirror / "wice_dev").items,
        set(half.gold["item"]),
    )
    assert (block.options["halves"], len(items), len(whole)) == (21, 187, 349)
    assert Counter(half.gold["label"]) == {"entailed": 61, "not_entailed": 126}
    assert set(half.gold["subset"]) == {"dev_held_out"}
    titles = {row.cluster for row in whole if row.item in items}
    assert titles.isdisjoint(row.cluster for row in whole if row.item not in items)
    assert len(half.verdicts) == 53
    names = hashlib.sha256("\n".join(sorted(items)).encode()).hexdigest()
    assert names[:16] == "b00b59387c73ddca"


def crc(data: bytes) -> int:
    """CRC-32 bit by bit, as its polynomial defines it."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def test_halves_are_cut_by_article_whatever_else_is_there() -> None:
    rows = [
        ItemRow(
            Place("f", n), f"{title}{n}", ["P."], "H.", "entailed", "dev", cluster=title
        )
        for n, title in enumerate(["A", "A", "B", "C", "D", "", "Émile"])
    ]
    halves = NliOptions(ways=2, subsets=[], sample=None, halves=21)
    cut = choose_items(Items(rows), halves).items
    odd = [bool(crc(f"21 {row.cluster or row.item}".encode()) % 2) for row in rows]
    assert [row.subset for row in cut] == [
        "dev_held_out" if o else "dev_fitted" for o in odd
    ]
    assert {True, False} == set(odd)
    assert choose_items(Items(rows[::-1]), halves).items == cut[::-1]
    assert {half_of("A", seed) for seed in range(8)} == {"fitted", "held_out"}


# ---- MEDEC

HEAD = (
    "Text ID",
    "Text",
    "Sentences",
    "Error Flag",
    "Error Type",
    "Error Sentence ID",
    "Error Sentence",
    "Corrected Sentence",
    "Corrected Text",
)
RIGHT = ["The man coughs.", "His pulse is", "90/min and he is well.", "He has gout."]
WRONG = [*RIGHT[:3], "He has lupus."]


def case(
    name: str, parts: list[str], error: int = -1, kind: str = "", corrected: str = ""
) -> dict[str, str]:
    """A row as MEDEC has it; `corrected` is what the sentence number `error` should say."""
    right = [corrected if n == error else part for n, part in enumerate(parts)]
    listed = "\n".join(f"{n} {part}" for n, part in enumerate(parts))
    cells = [
        name,
        "  ".join(parts) + " ",
        listed,
        str(int(error >= 0)),
        kind,
        str(error),
    ]
    cells += [parts[error], corrected, " ".join(right)] if error >= 0 else ["", "", ""]
    return dict(zip(HEAD, cells, strict=True))


def read_medec(folder: Path, *rows: dict[str, str]) -> Items:
    with (folder / "set-with-types.csv").open(
        "w", encoding="utf-8", newline=""
    ) as file:
        writer = csv.DictWriter(file, HEAD)
        writer.writeheader()
        writer.writerows(rows)
    return entailment.read_medec(folder)


def by_item(read: Items) -> dict[str, ItemRow]:
    return {row.item: row for row in sound(read).items}


def test_errors_their_corrections_and_what_nobody_changed(tmp_path: Path) -> None:
    rows = by_item(
        read_medec(tmp_path, case("t1", WRONG, 3, "causalOrganism", "He has gout."))
    )
    assert set(rows) == {"t1:corrected:error", "t1:corrected:corrected", "t1:unchanged"}
    error, correction = rows["t1:corrected:error"], rows["t1:corrected:corrected"]
    premise = "The man coughs. His pulse is 90/min and he is well. He has gout."
    assert {tuple(row.premises) for row in rows.values()} == {(premise,)}
    assert (error.hypothesis, error.label) == ("He has lupus.", "not_entailed")
    assert (correction.hypothesis, correction.label) == ("He has gout.", "entailed")
    assert error.kind == correction.kind == "causal_organism"
    # Sentences 1 and 2 are cut in the middle, and 3 is the error: the first is left.
    same = rows["t1:unchanged"]
    assert (same.hypothesis, same.kind) == ("The man coughs.", "unchanged")
    assert {row.subset for row in rows.values()} == {"corrected"}
    # A line without the next number goes on with its sentence; "Fine." is no sentence
    # to read.
    (row,) = by_item(
        read_medec(
            tmp_path, case("t1", ["Labs:\n7 sodium 140\npotassium is 4.", "Fine."])
        )
    ).values()
    assert row.hypothesis == "Labs: 7 sodium 140 potassium is 4."


def test_a_case_s_other_text_is_a_premise_where_it_has_other_words(
    tmp_path: Path,
) -> None:
    """t1 has the error, t2 is its case in other words; t3 and t4 are another case, t4 a copy."""
    lone = ["A girl fell here.", "Her arm is sore."]
    rows = by_item(
        read_medec(
            tmp_path,
            case("t1", WRONG, 3, "diagnosis", "He has gout."),
            case("t2", [*RIGHT[:3], "Gout was found in him."]),
            case(
                "t3",
                [*lone, "It was splinted."],
                2,
                "management",
                "It was put in plaster.",
            ),
            case("t4", [*lone, "It was put in plaster."]),
        )
    )
    reworded = {key: row for key, row in rows.items() if row.subset == "reworded"}
    assert {key: row.label for key, row in reworded.items()} == {
        "t1:reworded:error": "not_entailed",
        "t1:reworded:corrected": "entailed",
    }
    premise = (
        "The man coughs. His pulse is 90/min and he is well. Gout was found in him."
    )
    assert {tuple(row.premises) for row in reworded.values()} == {(premise,)}
    clusters = {key.partition(":")[0]: row.cluster for key, row in rows.items()}
    assert clusters == {"t1": "t1", "t2": "t1", "t3": "t3", "t4": "t3"}
    assert {"t2:unchanged", "t4:unchanged"} < set(rows)
    for shared in (0, 1):  # texts of a case share a quarter of their sentences
        first = [f"This is number {n}." for n in range(4)]
        second = [
            *first[:shared],
            *(f"That was number {n}." for n in range(4 - shared)),
        ]
        two = by_item(read_medec(tmp_path, case("t1", first), case("t2", second)))
        assert len({row.cluster for row in two.values()}) == 2 - shared


def test_what_is_wrong_in_medec(tmp_path: Path) -> None:
    bad = case("t1", [SECRET + " is so."], 0, "diagnosis", "He is well.")
    changes = [{"Error Flag": "2"}, {"Sentences": SECRET}]
    changes += [{"Error Sentence ID": number} for number in ("1", "x")]
    corrected = ("", SECRET + " is so. He is well.", "He is ill.")
    changes += [{"Corrected Text": text} for text in corrected]
    lines = problems(read_medec(tmp_path, *(bad | change for change in changes)))
    start, end = "set-with-types.csv: ", " (Text ID 't1'); fetch the file again"
    assert lines == [
        f"{start}line 2: 'Error Flag' is neither 0 nor 1{end}",
        f"{start}line 3: has no text, or its sentences are not numbered from 0{end}",
        f"{start}2 lines: the erroneous sentence is not the one that 'Error Sentence ID' names"
        " (first: line 4, Text ID 't1'); fetch the file again",
        f"{start}line 6: has an error, but some of its columns are empty{end}",
        f"{start}line 7: the erroneous sentence is in the corrected text{end}",
        f"{start}line 8: the corrected sentence is not in the corrected text{end}",
    ]


def test_medec_as_released(mirror: Path) -> None:
    tables = ingested("medec", mirror / "medec_ms_validation", "medec_validation")
    assert not tables.warnings
    gold = tables.gold
    assert gold.groupby(["subset", "label"]).size().to_dict() == {
        ("corrected", "not_entailed"): 319,
        ("corrected", "entailed"): 319 + 574,
        ("reworded", "not_entailed"): 164,
        ("reworded", "entailed"): 164,
    }
    types = Counter(gold.loc[gold["item"].str.endswith(":corrected:error"), "kind"])
    assert types == {
        "management": 168,
        "diagnosis": 86,
        "pharmacotherapy": 27,
        "treatment": 25,
        "causal_organism": 13,
    }
    assert gold["cluster"].nunique() == 319
    both = tables.pairs.merge(gold, left_on="doc_id", right_on="item")
    copies = [h in p for h, p in zip(both["hypothesis"], both["premise"], strict=True)]
    wanted = (both["subset"] == "corrected") & (both["label"] == "entailed")
    assert copies == wanted.tolist()


# ---- labelled sentences


def labelled(document: DocumentRow) -> list[tuple[str, str, float | None]]:
    return [
        (document.text[slice(*s.span)], s.label, s.confidence)
        for s in document.sentences
    ]


ABSTRACT = {
    "abstract_id": 0,
    "sentences": ["Bees dance.", " Why is unknown. "],
    "labels": ["background", "objective"],
    "confs": [1, 0.6],
}


def test_sentences_of_json_lines(tmp_path: Path) -> None:
    put(tmp_path / "dev.jsonl", ABSTRACT, "", ABSTRACT | {"confs": [0.2, 0.3]})
    first, second = sound(sentences.read_csabstruct(tmp_path)).documents
    assert (first.doc_id, second.doc_id) == ("dev:1", "dev:3")
    assert first.text == "Bees dance. Why is unknown."
    assert labelled(first) == [
        ("Bees dance.", "background", 1.0),
        ("Why is unknown.", "objective", 0.6),
    ]
    line = {
        "doc_id": "trial-7",
        "sentences": ["40 adults.", "A spoon."],
        "labels": ["who", "what"],
    }
    (document,) = sound(sentences.read(put(tmp_path / "mine/x.jsonl", line))).documents
    assert (document.doc_id, document.author) == ("trial-7", "reference")
    assert [row[1:] for row in labelled(document)] == [("who", None), ("what", None)]


def test_csabstruct_as_released(tmp_path: Path, mirror: Path) -> None:
    put(
        tmp_path / "real/dev.jsonl",
        (mirror / "csabstruct/dev.jsonl").read_text("utf-8"),
    )
    documents = sound(sentences.read_csabstruct(tmp_path / "real")).documents
    assert len(documents) == 295
    assert Counter(label for d in documents for _, label, _ in labelled(d)) == {
        "background": 681,
        "method": 624,
        "result": 410,
        "objective": 244,
        "other": 67,
    }


def test_what_is_wrong_with_json_comes_at_once(tmp_path: Path) -> None:
    changes: list[dict[str, object]] = [{"labels": ["background"]}, {"confs": [0.5]}]
    changes += [{"labels": ["background", "purpose"]}, {"sentences": [SECRET, " "]}]
    put(tmp_path / "dev.jsonl", *(ABSTRACT | change for change in changes))
    lines = problems(sentences.read_csabstruct(tmp_path))
    for start in (
        "line 1: 'labels' is not as long as 'sentences' (1 for 2 sentences)",
        "line 2: 'confs' is not as long as 'sentences'",
        "line 3: 'labels' is wrong: input should be 'background', 'objective'",
        "line 4: 'sentences' is empty (sentence 1); fill it in",
    ):
        assert any(line.startswith(f"dev.jsonl: {start}") for line in lines)


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
    assert [label for _, label, _ in labelled(first)] == ["objective", "method"]
    assert [label for _, label, _ in labelled(second)] == [
        "background",
        "result",
        "conclusion",
    ]
    assert second.at == ("test.txt", 5, "line")
    lines = (
        f"METHODS\t{SECRET}",
        "###101",
        f"METHODS {SECRET}",
        "RESULTS\t ",
        f"FINDINGS\t{SECRET}",
    )
    put(tmp_path / "test.txt", *lines)
    assert problems(sentences.read_pubmed_rct(tmp_path)) == [
        "test.txt: line 1: a sentence is before the first abstract; begin each abstract with a line"
        " ### and its id; docs/segmentations.md has the format",
        "test.txt: 2 lines: is not a label and sentence with a tab between them (first: line 3);"
        " write LABEL, a tab and the sentence; docs/segmentations.md has the format",
        "test.txt: line 5: the label is not known ('FINDINGS'); write one of BACKGROUND, OBJECTIVE,"
        " METHODS, RESULTS, CONCLUSIONS",
    ]
