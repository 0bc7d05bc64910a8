"""A benchmark's tables, invented: three documents, a reference and three systems."""

import json
from functools import cache
from itertools import product

import pandas as pd

from metassay.core.options import Criterion
from metassay.studies.export import Design, Study, build_study
from metassay.studies.record import (
    Choice,
    Draft,
    DraftRow,
    Form,
    Question,
    SheetText,
    StudyDraft,
    Target,
    TargetQuestion,
)
from metassay.tables.documents import SOURCES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL
from metassay.tables.parquet import empty, round_trip
from metassay.tables.parts import PARTS
from metassay.tables.scores import SCORES
from metassay.tables.units import UNITS

DOCUMENTS = ("d1", "d2", "d3")
SYSTEMS = ("alpha", "beta", "gamma")


@cache
def every_table():
    return {"sources": sources(), "parts": parts(), "units": units(), **ranked()}


def tables(**changes):
    """What forms read, by table; a form's `read` takes a table."""
    by_name = {**every_table(), **changes}
    return lambda table: by_name[table.name]


def sources(attributes=None):
    more = {"group": ["", ""], "dataset": "one"}
    more |= {"attributes": None if attributes is None else json.dumps(attributes)}
    rows = [
        {
            "doc_id": doc,
            "task": "note",
            "passages": [f"What is {doc}?", "A cough."],
            "speaker": ["doctor", "patient"],
            **more,
        }
        for doc in DOCUMENTS
    ]
    return round_trip(SOURCES, pd.DataFrame(rows))


def parts(failed=("d3", "gamma"), without=()):
    rows = []
    for doc, author in product(DOCUMENTS, ("reference", *SYSTEMS)):
        ok, whole = (doc, author) != failed, f"It healed. {author} did {doc} [1]."
        for part, text in (
            ("method", f"{author} did {doc} [1]."),
            ("result", "It healed."),
        ):
            if ok and (doc, author, part) not in without:
                at = whole.index(text)
                rows.append(
                    (doc, author, part, text, [at], [at + len(text)], "yes", "ok")
                )
        status, text = ("ok", whole) if ok else ("error", None)
        rows.append(
            (doc, author, FULL, text, [0] * ok, [len(whole)] * ok, "no", status)
        )
    names = ["doc_id", "author", "part", "text", "starts", "ends", "leaf", "status"]
    frame = pd.DataFrame(rows, columns=names)
    frame["made_up"] = [[] for _ in rows]
    frame["repeats"] = [["one"] for _ in rows]
    return round_trip(PARTS, frame)


def units():
    """Each section one statement, two claims in `method`, which comes second in texts."""
    rows, claims_of = [], {"method": ["did", "did so"], "result": ["healed"]}
    for *key, part in product(DOCUMENTS, ("reference", *SYSTEMS), claims_of):
        doc, author = key
        rows.append((*key, part, "statement", 0, f"{author} {part}.", None))
        for n, claim in enumerate(claims_of[part]):
            rows.append((*key, part, "claim", n, f"{author} {claim} in {doc}.", 0))
    columns = ["doc_id", "author", "part", "kind", "position", "text", "statement"]
    frame = pd.DataFrame(rows, columns=columns)
    frame = frame.assign(
        status="ok", citations=[[] for _ in rows], start=None, end=None
    )
    return round_trip(UNITS, frame)


def ranked():
    """Scores by two metrics that disagree on alpha and beta in d1 alone, and on nothing else."""
    rows = [
        (
            doc,
            author,
            metric,
            5 - value if (metric, doc) == ("near", "d1") and value > 1 else value,
        )
        for metric, doc in product(("long", "near"), DOCUMENTS)
        for author, value in (("alpha", 3.0), ("beta", 2.0), ("gamma", 1.0))
    ]
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "metric", "value"])
    frame = frame.assign(part=FULL, judge="none", n_expected=1, n_judged=1, n_failed=0)
    frame = frame.assign(
        low=frame["value"], high=frame["value"], recipe="r", statistics=None
    )
    board = pd.DataFrame({"metric": ["long", "near"], "better": "higher"})
    board = board.reindex(columns=list(empty(LEADERBOARD).columns))
    return {"scores": round_trip(SCORES, frame), "leaderboard": board}


GRADE = Question(
    "g", "grade", "choice", "How good?", tuple(Choice(str(n), n) for n in (1, 2, 3))
)
FAULTS = Question(
    "f", "faults", "number", "How many?", low=0, high=4, whole=True, capped=True
)
SCALES = {
    "grade": Criterion(low=1, high=3, better="higher", scale="ordinal"),
    "faults": Criterion(low=0, high=4, better="lower", scale="count"),
}
PLAIN = Form("plain", lambda read, options: None)


def drafts(
    documents=DOCUMENTS, systems=SYSTEMS, text="=SUM(A1) of {author}, {doc}\nNext; line"
):
    """An item of each text, which is of its author backwards: a grade and a count of faults."""
    items = []
    for doc, author in product(documents, systems):
        targets = [Target(doc, author, FULL, "text", name) for name in SCALES]
        pairs = tuple(map(TargetQuestion, (GRADE, FAULTS), targets))
        texts = (SheetText("text", text.format(author=author[::-1], doc=doc)),)
        items.append(Draft((doc, author), (author,), texts, (DraftRow((), pairs),)))
    return items


def study(
    raters=("anna", "ben", "carla"), per_item=None, items=None, seed=1, **of_drafts
) -> Study:
    """A study with a grade and a count of faults for each text."""
    plan = StudyDraft(drafts(**of_drafts), SCALES, ("Read, then grade.",))
    design = Design(raters, per_item or len(raters), items, seed)
    return build_study("one", "pilot", PLAIN, plan, design)


QUESTIONS = """\
doc_id,question,right,wrong,wrong_2
d1,Who healed?,it,nobody,
d1,What was it?,a cough,a knee,a rash
d2,Who did it?,the author,the reader,
"""


def write_questions(folder, content=QUESTIONS):
    """Write questions about the documents, for the form `reading`."""
    path = folder / "questions.csv"
    path.write_text(content, encoding="utf-8")
    return path
