"""Questions that people wrote about their health, and short ones that sum them up: MeQSum."""

import contextlib
import hashlib
import itertools
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import BadInput
from metassay.datasets.own_data import release_reader
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.rows import AGAIN, Place, Rows, TextRow, source_row
from metassay.text.boundaries import boundaries

VERSION = 1  # raised by whoever changes results of this module's kinds
MEQSUM = "MeQSum_ACL2019_BenAbacha_Demner-Fushman.xlsx"
HELD_OUT = 100  # questions of the benchmark; the others may serve as examples
_COLUMNS = ("File", "CHQ", "Summary")


class Question(NamedTuple):
    """A question in sentences, and the short one that an expert wrote of it."""

    name: str
    line: int
    passages: list[str]
    summary: str


@release_reader
def read_meqsum(folder: Path) -> Rows:
    """Read the 100 questions of MeQSum (Ben Abacha, Demner-Fushman 2019) that are held out.

    Documents are named as in the column File. A passage is a sentence of a line. Only
    the reference has a text.
    """
    rows = Rows()
    for question in held_out(read_questions(folder)):
        at = Place(MEQSUM, question.line)
        rows.sources.append(
            source_row(at, question.name, "question", question.passages)
        )
        rows.texts.append(
            TextRow(
                at=at,
                doc_id=question.name,
                author=REFERENCE,
                part=FULL,
                text=question.summary,
            )
        )
    return rows


def held_out(questions: list[Question]) -> list[Question]:
    """Return the HELD_OUT questions whose names have the smallest SHA-256, in file order.

    The file has one split only. A hash draws as good as at random, and the same
    questions everywhere.
    """
    chosen = sorted(questions, key=lambda question: _digest(question.name))[:HELD_OUT]
    names = {question.name for question in chosen}
    return [question for question in questions if question.name in names]


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def read_questions(folder: Path) -> list[Question]:
    """Read all questions of MeQSum; BadInput without the file, or with other columns."""
    path = folder / MEQSUM
    if not path.exists():
        raise BadInput(f"{path.name}: is not in {path.parent}; {AGAIN}")
    import openpyxl  # slow, and each command that checks a project imports this module

    with contextlib.closing(
        openpyxl.load_workbook(path, read_only=True, data_only=True)
    ) as book:
        header, *lines = book.worksheets[0].iter_rows(max_col=3, values_only=True)
    if header != _COLUMNS:
        raise BadInput(
            f"{path.name}: line 1 must name the columns {', '.join(_COLUMNS)}; {AGAIN}"
        )
    return [
        Question(
            name=str(name),
            line=number,
            passages=split_question(str(question)),
            summary=str(summary).strip(),
        )
        for number, (name, question, summary) in enumerate(lines, start=2)
    ]


def split_question(question: str) -> list[str]:
    """Return the sentences of a question; a line break ends one, too.

    >>> split_question("SUBJECT: rash\\nMESSAGE: I have a rash. What is it?")
    ['SUBJECT: rash', 'MESSAGE: I have a rash.', 'What is it?']
    """
    passages = []
    for line in question.splitlines():
        ends = [0, *boundaries(line), len(line)]
        passages += [line[start:end].strip() for start, end in itertools.pairwise(ends)]
    return [passage for passage in passages if passage]
