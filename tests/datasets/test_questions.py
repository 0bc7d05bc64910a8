"""MeQSum: which questions are held out, and what a copy that is not the released one does."""

from pathlib import Path

import openpyxl
import pytest

from metassay.core.errors import BadInput
from metassay.datasets import questions
from metassay.datasets.ingest import ingest


def put_book(folder: Path, header: tuple[str, ...], n: int) -> Path:
    """A file of MeQSum's form with invented questions."""
    folder.mkdir(parents=True, exist_ok=True)
    book = openpyxl.Workbook()
    book.active.append(header)
    for number in range(n):
        question = f"SUBJECT: drug {number}\nMy leg hurts. May I take drug {number}?"
        book.active.append((f"{number}.txt", question, f"May I take drug {number}?"))
    book.save(folder / questions.MEQSUM)
    return folder


HEADER = ("File", "CHQ", "Summary")


def test_100_questions_are_held_out_and_adding_others_moves_few(tmp_path: Path) -> None:
    tables = ingest("meqsum", put_book(tmp_path / "a", HEADER, 150), {})
    assert len(tables.sources) == questions.HELD_OUT == 100
    assert set(tables.sources["task"]) == {"question"}
    first = tables.sources.iloc[0]
    number = first["doc_id"].removesuffix(".txt")
    assert list(first["passages"]) == [
        f"SUBJECT: drug {number}",
        "My leg hurts.",
        f"May I take drug {number}?",
    ]
    texts = tables.texts
    assert set(texts["author"]) == {"reference"}
    by_doc = texts.set_index("doc_id")["text"]
    assert by_doc[first["doc_id"]] == f"May I take drug {number}?"

    more = ingest("meqsum", put_book(tmp_path / "b", HEADER, 151), {})
    assert len(set(tables.sources["doc_id"]) - set(more.sources["doc_id"])) <= 1


def test_another_file_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 1 must name the columns File, CHQ, Sum"):
        ingest("meqsum", put_book(tmp_path / "a", ("File", "Question", "x"), 3), {})
    (tmp_path / "b").mkdir()
    with pytest.raises(BadInput, match=r"MeQSum_ACL2019.*\.xlsx: is not in"):
        ingest("meqsum", tmp_path / "b", {})


def test_the_released_file_has_1000_questions(mirror: Path) -> None:
    every = questions.read_questions(mirror / "meqsum")
    assert len(every) == 1000
    names = {question.name for question in questions.held_out(every)}
    assert len(names) == 100
    # The examples of docs/language-models.md are not among them.
    assert "1-131188152.xml.txt" not in names
    words = [len(question.summary.split()) for question in every]
    assert sum(words) / len(words) == pytest.approx(10.04, abs=0.005)
