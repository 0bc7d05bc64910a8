"""The form `reading`: how long does an answer take, with and without marked facets?"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import BadInput, raise_problems
from metassay.core.options import Criterion
from metassay.studies import form_words as words
from metassay.studies.export import lot
from metassay.studies.form_items import (
    Drafts,
    draft_items,
    find_starts,
    make_question,
    read_parts,
    read_texts,
)
from metassay.studies.record import (
    Answer,
    Choice,
    Draft,
    DraftRow,
    Options,
    Question,
    ReadTable,
    SheetText,
    StudyDraft,
    Target,
)
from metassay.tables.parts import PARTS
from metassay.tabular.decoding import csv_records
from metassay.tabular.rows import Findings

_QUESTION_COLUMNS = ("doc_id", "question", "right", "wrong")


class _Multiple(NamedTuple):
    """A question about a document: its right answer, and wrong ones."""

    asks: str
    right: str
    wrong: tuple[str, ...]


def _read_questions(path: Path | None) -> dict[str, list[_Multiple]]:
    """Read questions by document; further wrong answers stand in columns wrong_2, wrong_3, ..."""
    remedy = f"write a CSV with the columns {', '.join(_QUESTION_COLUMNS)}"
    if path is None:
        raise BadInput(f"--questions: is not given; {remedy}, and name it")
    problems = Findings()
    questions: dict[str, list[_Multiple]] = defaultdict(list)
    for record in csv_records(
        path, problems, required=_QUESTION_COLUMNS, remedy=remedy
    ):
        cells = {name: cell.strip() for name, cell in record.fields.items()}
        wrong = tuple(
            cell for name, cell in cells.items() if name.startswith("wrong") and cell
        )
        answers = (cells["right"], *wrong)
        if not all((cells["doc_id"], cells["question"], cells["right"], wrong)):
            problems.add(record.at, "a cell is empty", "fill it in or remove the row")
        elif len(set(answers)) < len(answers):
            problems.add(record.at, "two answers are the same", "change one of them")
        else:
            multiple = _Multiple(cells["question"], cells["right"], wrong)
            questions[cells["doc_id"]].append(multiple)
    raise_problems(f"{path.parent}/{line}" for line in problems.lines())
    return questions


def draft_reading(read: ReadTable, options: Options) -> StudyDraft:
    """Make an item of each text, and a row of each question about its document.

    Half of the texts, drawn by lot, are shown with their facets marked. Texts whose
    document has no question, or whose facets are not known, are left out.
    """
    texts, facets = read_texts(read), read_parts(read)
    starts = find_starts(read(PARTS))
    questions = _read_questions(options.questions)
    by_lot = sorted(texts.system_keys, key=lambda key: lot(options.seed, "marks", *key))
    marked = set(by_lot[::2])

    def draft(doc: str, author: str) -> Drafts:
        of_text = facets.get((doc, author), {})
        known = {name: text for name, text in of_text.items() if text is not None}
        if not questions.get(doc):
            yield "their document has no question"
            return
        if not known or len(known) < len(of_text):
            yield "their facets are not known"
            return
        way = "marked" if (doc, author) in marked else "plain"
        whole = texts.whole[doc, author]
        if way == "marked":
            order = sorted(known, key=lambda name: starts[doc, author, name])
            whole = _mark({name: known[name] for name in order})
        rows = []
        for number, multiple in enumerate(questions[doc]):
            offered = _offer(multiple, f"{doc} {number}", options.seed)
            answers = "\n".join(choice.word for choice in offered.choices)
            seconds = words.SECONDS
            rows.append(
                DraftRow(
                    (
                        SheetText("question", multiple.asks),
                        SheetText("answers", answers),
                    ),
                    (
                        make_question(
                            offered, doc, author, "text", f"right_{way} {number}"
                        ),
                        make_question(
                            seconds, doc, author, "text", f"seconds_{way} {number}"
                        ),
                    ),
                )
            )
        yield Draft((doc, author), (author,), (SheetText("text", whole),), tuple(rows))

    criteria = {}
    for way in ("marked", "plain"):
        criteria[f"seconds_{way}"] = Criterion(
            low=0, high=words.MOST_SECONDS, better="lower"
        )
        criteria[f"right_{way}"] = Criterion(low=0, high=1, better="higher")
    return draft_items(texts, draft, criteria, words.READING_INSTRUCTIONS)


def _mark(facets: Mapping[str, str]) -> str:
    """Return a text's facets in its order, each below its name."""
    return "\n\n".join(f"[{name.upper()}]\n{text}" for name, text in facets.items())


def _offer(multiple: _Multiple, place: str, seed: int) -> Question:
    """Offer a question's answers in an order by lot."""
    answers = sorted(
        (multiple.right, *multiple.wrong),
        key=lambda answer: lot(seed, "answer", place, answer),
    )
    choices = [Choice(answer, float(answer == multiple.right)) for answer in answers]
    return Question(
        name=f"answer {place}",
        column="answer",
        kind="choice",
        asks=multiple.asks,
        choices=tuple(choices),
    )


def rate_reading(answers: Sequence[Answer]) -> list[Answer]:
    """Return the mean seconds per question of a text, and the share of right answers.

    Both are missing if one of the text's questions has no such answer.
    """
    values: dict[Target, list[float | None]] = {}
    for target, value in answers:
        criterion, _, _ = target.criterion.rpartition(" ")
        values.setdefault(target._replace(criterion=criterion), []).append(value)
    ratings = []
    for target, of_text in values.items():
        known = [value for value in of_text if value is not None]
        complete = len(known) == len(of_text)
        ratings.append(Answer(target, sum(known) / len(known) if complete else None))
    return ratings
