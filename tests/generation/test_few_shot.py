"""Examples for few-shot prompts: found by name, read from raw files, cited by overlap."""

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
ROW = f'invented,E{{0}},"{DIALOGUE}","HPI\n\nKnee {{0}}."\n'


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "aci_bench_train"
    folder.mkdir()
    text = HEADER + ROW.format(1) + ROW.format(2)
    (folder / "train.csv").write_text(text, encoding="utf-8", newline="")
    (folder / "valid.csv").write_text(HEADER + ROW.format(3), encoding="utf-8", newline="")
    own = tmp_path / "ward" / "dev"
    own.mkdir(parents=True)
    source = {"doc_id": "a/1", "task": "impression", "passages": ["Lungs are clear.", "No mass."]}
    texts = [
        {"doc_id": "a/1", "author": "reference", "text": "Normal chest."},
        {"doc_id": "a/1", "author": "system", "text": "Abnormal."},
    ]
    (own / "sources.jsonl").write_text(json.dumps(source), encoding="utf-8")
    (own / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")
    return tmp_path


def test_examples_come_in_the_order_of_their_names(raw) -> None:
    names = ["aci_bench_train/valid/E3", "ward/dev/a/1", "aci_bench_train/train/E1"]
    assert read_examples(names, raw) == [
        Example(
            names[0],
            "note",
            ["how is the knee?", "it hurts\nwhen i climb"],
            ["doctor", "patient"],
            "HPI\n\nKnee 3.",
        ),
        Example(
            names[1], "impression", ["Lungs are clear.", "No mass."], ["", ""], "Normal chest."
        ),
        Example(
            names[2],
            "note",
            ["how is the knee?", "it hurts\nwhen i climb"],
            ["doctor", "patient"],
            "HPI\n\nKnee 1.",
        ),
    ]


def test_every_wrong_name_is_told(raw) -> None:
    names = ["aci_bench_train/train/E1"] * 2 + [
        "aci_bench_train/train/E9",
        "aci_bench_train/test/E1",
        "aci_bench_train",
        "../ward/dev",
        "nobody/dev/1",
        "meqsum/train/1",
    ]
    with pytest.raises(BadInput) as raised:
        read_examples(names, raw)
    problems = "\n".join(raised.value.problems)
    assert "'aci_bench_train/train/E1' is named twice" in problems
    assert "aci_bench_train/train has no id 'E9'" in problems
    assert "has no split 'test'" in problems
    assert "example 'aci_bench_train': write dataset/split/id" in problems
    assert "example '../ward/dev': write dataset/split/id" in problems
    assert "example set nobody/dev" in problems
    assert "MeQSum_ACL2019_BenAbacha_Demner-Fushman.xlsx: is not in" in problems


def test_a_file_that_cannot_be_read_is_told_once(raw) -> None:
    (raw / "aci_bench_train" / "train.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BadInput) as raised:
        read_examples(["aci_bench_train/train/E1", "aci_bench_train/train/E2"], raw)
    assert len(raised.value.problems) == 3  # one for each column that is missing
    assert all(problem.startswith("train.csv: ") for problem in raised.value.problems)


def test_meqsum_is_read_from_its_workbook(tmp_path) -> None:
    book = openpyxl.Workbook()
    for row in [
        ("File", "CHQ", "Summary"),
        ("7.txt", "SUBJECT: rash\nMESSAGE: I have a rash. What is it?", "What causes a rash?"),
    ]:
        book.active.append(row)
    (tmp_path / "meqsum").mkdir()
    book.save(tmp_path / "meqsum" / "MeQSum_ACL2019_BenAbacha_Demner-Fushman.xlsx")
    assert read_examples(["meqsum/train/7.txt"], tmp_path) == [
        Example(
            "meqsum/train/7.txt",
            "question",
            ["SUBJECT: rash", "MESSAGE: I have a rash.", "What is it?"],
            ["", "", ""],
            "What causes a rash?",
        )
    ]
    with pytest.raises(BadInput, match="has no split 'test'"):
        read_examples(["meqsum/test/7.txt"], tmp_path)


@pytest.mark.parametrize("file", ["sources.jsonl", "texts.jsonl"])
def test_an_example_that_is_there_twice_is_told(raw, file: str) -> None:
    path = raw / "ward/dev" / file
    path.write_text("\n".join([path.read_text(encoding="utf-8")] * 2), encoding="utf-8")
    with pytest.raises(BadInput, match="ward/dev: doc_id 'a/1' is there twice; keep one source"):
        read_examples(["ward/dev/a/1"], raw)


def test_sentences_cite_the_passage_most_like_them() -> None:
    example = Example(
        "x",
        "note",
        ["hello there", "my left knee hurts on stairs", "take ibuprofen, 400 mg"],
        ["", "", ""],
        "PLAN\n\n- Ibuprofen 400 mg was advised.\n- Left knee hurts\n\nZzz qqq! Stairs hurt?",
    )
    assert add_citations(example).text == (
        "PLAN\n\n- Ibuprofen 400 mg was advised [2].\n- Left knee hurts [1]\n\nZzz qqq!"
        " Stairs hurt [1]?"
    )


def test_an_example_that_cites_stays_as_it_is() -> None:
    example = Example("x", "note", ["knee hurts"], [""], "Knee hurts [0]. It hurts.")
    assert add_citations(example) is example
    bare = Example("x", "note", [], [], "Knee hurts.")
    assert add_citations(bare) is bare


def test_released_examples_can_be_read_and_cited(mirror) -> None:
    names = [
        "aci_bench_train/train/D2N001",
        "aci_bench_train/valid/D2N068",
        "meqsum/train/14348.txt",
    ]
    examples = read_examples(names, mirror)
    assert [example.task for example in examples] == ["note", "note", "question"]
    assert [len(example.passages) for example in examples] == [56, 73, 6]
    for example in examples:
        assert len(example.speakers) == len(example.passages)
        assert all(passage.strip() for passage in example.passages)
        cited = add_citations(example)
        assert strip_citations(cited.text).split() == example.text.split()
        said = [parse(cited.text[start:end]) for start, end in sentences(cited.text)]
        assert sum(bool(one.citations) for one in said) >= 0.9 * len(said)
