"""Readers of labelled sentences, on invented files and, with a mirror, on CSAbstruct itself."""

import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from metassay.labelled.readers import sentences
from metassay.labelled.records import DocumentRow, Documents

SECRET = "what nobody may read"


def put(folder: Path, name: str, *lines: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def documents(read: Documents) -> list[DocumentRow]:
    assert not read.problems, read.problems.lines()
    return read.documents


def problems(read: Documents) -> list[str]:
    found = read.problems.lines()
    assert SECRET not in "\n".join(found)
    return found


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
    put(tmp_path, "dev.jsonl", ABSTRACT, "", ABSTRACT | {"confs": [0.2, 0.3]})
    first, second = documents(sentences.read_csabstruct(tmp_path))
    assert (first.doc_id, second.doc_id) == ("dev:1", "dev:3")
    assert first.text == "Bees dance. Why is unknown."
    assert written(first) == [
        ("Bees dance.", "background", 1.0),
        ("Why is unknown.", "objective", 0.6),
    ]


def test_ones_own_sentences_have_ids_and_any_labels(tmp_path: Path) -> None:
    own = {"doc_id": "trial-7", "sentences": ["40 adults.", "A spoon."], "labels": ["who", "what"]}
    put(tmp_path, "mine.jsonl", own)
    (one,) = documents(sentences.read(tmp_path))
    assert (one.doc_id, one.author) == ("trial-7", "reference")
    assert [said.label for said in one.sentences] == ["who", "what"]
    assert [said.confidence for said in one.sentences] == [None, None]


def test_what_is_wrong_with_json_is_told_at_once(tmp_path: Path) -> None:
    put(
        tmp_path,
        "dev.jsonl",
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
    assert "line 5: 'sentences' is empty; fill it in" in said.replace(" (passage 1)", "")
    assert "line 6: 'sentences' has no item; add at least one" in said
    assert "line 7: is not valid JSON" in said
    assert "line 8: is not an object with named values" in said


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    for read in (sentences.read, sentences.read_csabstruct, sentences.read_pubmed_rct):
        assert len(problems(read(tmp_path))) == 1


def test_csabstruct_itself(tmp_path: Path) -> None:
    mirror = os.environ.get("METASSAY_MIRROR")
    if not mirror:
        pytest.skip("METASSAY_MIRROR names no copy of the public datasets")
    shutil.copy(Path(mirror) / "csabstruct/dev.jsonl", tmp_path)
    found = documents(sentences.read_csabstruct(tmp_path))
    counted = Counter(said.label for one in found for said in one.sentences)
    assert len(found) == 295
    assert counted == {
        **{"background": 681, "method": 624, "result": 410, "objective": 244},
        "other": 67,
    }


# ---- PubMed RCT ------------------------------------------------------------------------------


def test_pubmed_rct(tmp_path: Path) -> None:
    put(
        tmp_path,
        "test.txt",
        "###101",
        "OBJECTIVE\tTo see if @ spoons help .",
        "METHODS\tWe gave @ adults a spoon .",
        "",
        "###102",
        "BACKGROUND\tSalt is everywhere .",
        "RESULTS\tIntake fell by @ % .",
        "CONCLUSIONS\tSpoons may help .",
    )
    first, second = documents(sentences.read_pubmed_rct(tmp_path))
    assert (first.doc_id, second.doc_id) == ("101", "102")
    assert first.text == "To see if @ spoons help . We gave @ adults a spoon ."
    assert [label for _, label, _ in written(first)] == ["objective", "method"]
    assert [label for _, label, _ in written(second)] == ["background", "result", "conclusion"]
    assert second.at == ("test.txt", 5, "line")


def test_what_is_wrong_with_text_is_told_at_once(tmp_path: Path) -> None:
    put(
        tmp_path,
        "test.txt",
        f"METHODS\t{SECRET}",
        "###101",
        f"METHODS {SECRET}",
        "RESULTS\t ",
        f"FINDINGS\t{SECRET}",
    )
    found = problems(sentences.read_pubmed_rct(tmp_path))
    assert found == [
        "test.txt: line 1: a sentence is before the first abstract; begin each abstract with a line"
        " ### and its id; docs/segmentation-tests.md has the format",
        "test.txt: 2 lines: is no label and sentence with a tab between them (first: line 3);"
        " write LABEL, a tab and the sentence; docs/segmentation-tests.md has the format",
        "test.txt: line 5: the label is not known ('FINDINGS'); write one of BACKGROUND, OBJECTIVE,"
        " METHODS, RESULTS, CONCLUSIONS",
    ]
