"""Examples for few-shot prompts: by name, read from raw files, cited by overlap."""

import json
from pathlib import Path

import openpyxl
import pytest

from metassay.core.errors import BadInput
from metassay.generation.prompted import Example, add_citations, read_examples
from metassay.text.citations import parse, strip_citations
from metassay.text.sentences import sentences

HEADER = "dataset,encounter_id,dialogue,note\n"
DIALOGUE = "[doctor] how is the knee?\n[patient] it hurts\nwhen i climb"
ACI, WARD, MEQSUM = "aci_bench_train", "ward/dev/a/1", "meqsum/train/7.txt"
BOOK = "MeQSum_ACL2019_BenAbacha_Demner-Fushman.xlsx"


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    for name in (ACI, "meqsum", "ward/dev"):
        (tmp_path / name).mkdir(parents=True)
    rows = [f'invented,E{n},"{DIALOGUE}","HPI\n\nKnee {n}."\n' for n in (1, 2, 3)]
    for name, part in (("train", rows[:2]), ("valid", rows[2:])):
        path = tmp_path / ACI / f"{name}.csv"
        path.write_text(HEADER + "".join(part), encoding="utf-8", newline="")
    source = {"doc_id": "a/1", "task": "impression", "passages": ["Lungs are clear.", "No mass."]}
    (tmp_path / "ward/dev/sources.jsonl").write_text(json.dumps(source), encoding="utf-8")
    texts = [("reference", "Normal chest."), ("system", "Abnormal.")]
    lines = [json.dumps({"doc_id": "a/1", "author": a, "text": text}) for a, text in texts]
    (tmp_path / "ward/dev/texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    book = openpyxl.Workbook()
    book.active.append(("File", "CHQ", "Summary"))
    question = "SUBJECT: rash\nMESSAGE: I have a rash. What is it?"
    book.active.append(("7.txt", question, "What causes a rash?"))
    book.save(tmp_path / "meqsum" / BOOK)
    return tmp_path


def test_examples_come_in_the_order_of_their_names(raw: Path) -> None:
    names = [f"{ACI}/valid/E3", WARD, f"{ACI}/train/E1", MEQSUM]
    talk = ["how is the knee?", "it hurts\nwhen i climb"], ["doctor", "patient"]
    question = ["SUBJECT: rash", "MESSAGE: I have a rash.", "What is it?"]
    assert read_examples(names, raw) == [
        Example(names[0], "note", *talk, "HPI\n\nKnee 3."),
        Example(WARD, "impression", ["Lungs are clear.", "No mass."], [""] * 2, "Normal chest."),
        Example(names[2], "note", *talk, "HPI\n\nKnee 1."),
        Example(MEQSUM, "question", question, [""] * 3, "What causes a rash?"),
    ]


def test_every_wrong_name_is_listed(raw: Path) -> None:
    (raw / "meqsum" / BOOK).unlink()
    wrong = {
        **{"train/E1": "is named twice", "train/E9": f"{ACI}/train has no id 'E9'"},
        "test/E1": "has no split 'test'",
    }
    names = {f"{ACI}/{name}": problem for name, problem in wrong.items()} | {
        **{ACI: f"example '{ACI}': write dataset/split/id", MEQSUM: f"{BOOK}: is not in"},
        "../ward/dev": "example '../ward/dev': write dataset/split/id",
        **{"nobody/dev/1": "example set nobody/dev", "meqsum/test/1": "has no split 'test'"},
    }
    with pytest.raises(BadInput) as raised:
        read_examples([f"{ACI}/train/E1", *names], raw)
    for problem in names.values():
        assert any(problem in line for line in raised.value.problems), problem


def test_a_file_that_cannot_be_read_is_named_once(raw: Path) -> None:
    (raw / ACI / "train.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BadInput) as raised:
        read_examples([f"{ACI}/train/E1", f"{ACI}/train/E2"], raw)
    assert len(raised.value.problems) == 3  # one for each column that is missing
    assert all(problem.startswith("train.csv: ") for problem in raised.value.problems)


@pytest.mark.parametrize("file", ["sources.jsonl", "texts.jsonl"])
def test_an_example_that_is_there_twice_is_named(raw: Path, file: str) -> None:
    path = raw / "ward/dev" / file
    path.write_text("\n".join([path.read_text(encoding="utf-8")] * 2), encoding="utf-8")
    with pytest.raises(BadInput, match="ward/dev: doc_id 'a/1' is there twice; keep one source"):
        read_examples([WARD], raw)


def test_sentences_cite_the_passage_most_like_them() -> None:
    passages = ["hello there", "my left knee hurts on stairs", "take ibuprofen, 400 mg"]
    text = "PLAN\n\n- Ibuprofen 400 mg was advised.\n- Left knee hurts\n\nZzz qqq! Stairs hurt?"
    assert add_citations(Example("x", "note", passages, [""] * 3, text)).text == (
        "PLAN\n\n- Ibuprofen 400 mg was advised [2].\n- Left knee hurts [1]\n\nZzz qqq!"
        " Stairs hurt [1]?"
    )
    cites = Example("x", "note", ["knee hurts"], [""], "Knee hurts [0]. It hurts.")
    for example in (cites, Example("x", "note", [], [], "Knee hurts.")):
        assert add_citations(example) is example


def test_released_examples_can_be_read_and_cited(mirror: Path) -> None:
    names = [f"{ACI}/train/D2N001", f"{ACI}/valid/D2N068", "meqsum/train/14348.txt"]
    examples = read_examples(names, mirror)
    shapes = [(example.task, len(example.passages)) for example in examples]
    assert shapes == [("note", 56), ("note", 73), ("question", 6)]
    for example in examples:
        assert len(example.speakers) == len(example.passages)
        assert all(passage.strip() for passage in example.passages)
        cited = add_citations(example)
        assert strip_citations(cited.text).split() == example.text.split()
        parts = [parse(cited.text[start:end]) for start, end in sentences(cited.text)]
        assert sum(bool(part.citations) for part in parts) >= 0.9 * len(parts)
