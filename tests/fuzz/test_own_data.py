"""Data of all readers: taken whole, or refused with file and line; files stay as they are."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metassay.core.options import Criterion
from metassay.datasets.annotations import FACT_CRITERIA, SHARES
from metassay.datasets.consultations import LISTS, SECONDS
from metassay.datasets.ingest import ingest
from metassay.datasets.scored_texts import FRANK_CRITERIA
from metassay.labelled.segmentations import ingest_sentences
from metassay.labelled.types import SegmentTestOptions
from metassay.tables import parquet
from metassay.tables.criteria import CRITERIA as CRITERIA_TABLE
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.parts import SEGMENTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import MEASUREMENTS
from metassay.tables.sentences import SENTENCES
from metassay.units.statements import statements
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import CANARY, fuzz, handled
from tests.support.frank_files import put, records

TEXT = {"doc_id": "d1", "author": "alpha"}
RATED = TEXT | {"rater": "ann"}
REFERENCE = {"doc_id": "d1", "author": "reference"}
SOURCE = {"doc_id": "d1", "task": "note", "passages": [f"Any {CANARY}?"]}
FACT = {"subject": CANARY, "predicate": "is", "object": "é", "status": "correct"}
LINES: dict[tuple[str, str], list[Any]] = {
    ("files", "sources.jsonl"): [
        SOURCE
        | {"passages": [{"text": f"Any {CANARY}?", "speaker": "doctor"}, "None."]}
        | {"attributes": {"b": 1, "a": "é"}},
        {
            "doc_id": "d2",
            "task": "impression",
            "passages": [{"text": "No mass.", "group": "f"}],
        },
    ],
    ("files", "texts.jsonl"): [
        REFERENCE | {"text": f"No {CANARY}."},
        TEXT | {"text": f"No {CANARY} [1].\r\nSecond line."},
        {"doc_id": "d2", "author": "reference", "text": "No mass."},
        {"doc_id": "d2", "author": "alpha", "status": "refused"},
        {"doc_id": "d1", "author": "beta", "part": "plan", "text": "Rest."},
    ],
    ("files", "segments.jsonl"): [
        REFERENCE | {"part": "finding", "text": f"No {CANARY}."},
        TEXT | {"part": "finding", "text": "no cough"},
    ],
    ("fact_annotations", "sources.jsonl"): [SOURCE],
    ("fact_annotations", "texts.jsonl"): [
        REFERENCE | {"text": f"No {CANARY}. It was é."},
        TEXT | {"text": f"No {CANARY} at all."},
    ],
    ("fact_annotations", "facts.jsonl"): [
        RATED
        | {
            "facts": [FACT, FACT | {"object": "", "status": "omitted"}],
            "reference_facts": 2,
        },
        RATED | {"rater": "bo", "facts": [FACT | {"status": None}]},
    ],
    ("fact_annotations", "phrases.jsonl"): [
        RATED | {"hallucinated": [{"start": 0, "end": 2, "text": "No"}], "omitted": []},
        RATED
        | {"rater": "bo", "hallucinated": [], "omitted": [{"start": 3, "end": 9}]},
    ],
    ("element_labels", "sources.jsonl"): [SOURCE | {"task": "other"}],
    ("element_labels", "summaries.jsonl"): [
        TEXT | {"sentences": [f"No {CANARY}.", "It was é."]}
    ],
    ("element_labels", "labels.jsonl"): [
        RATED | {"sentence": 0, "elements": [{"label": "correct", "text": CANARY}]},
        RATED | {"sentence": 1, "elements": []},
        RATED
        | {
            "sentence": 1,
            "rater": "bo",
            "elements": [{"label": "missing", "severity": "minor"}],
        },
    ],
    ("sentences", "a.jsonl"): [
        {
            "doc_id": "d1",
            "sentences": [f"A {CANARY}.", "é."],
            "labels": ["result", "none"],
        },
        {"doc_id": "d2", "sentences": ["Two."], "labels": ["method"], "confs": [0.5]},
    ],
    ("csabstruct", "a.jsonl"): [
        {
            "abstract_id": 0,
            "sentences": [f"A {CANARY}."],
            "labels": ["other"],
            "confs": [0.5],
        },
        {"abstract_id": 0, "sentences": ["B."], "labels": ["result"]},
    ],
}
RATINGS_CSV = """study,doc_id,author,rater,criterion,value,unit,part
s,d1,alpha,ann,usefulness,4,,
s,d1,alpha,ben,usefulness,,text,full
s,d1,beta,ann,usefulness,1.5,text,plan
s,d1,alpha,ann,preference,0.5,versus:beta,
s,d1,alpha,ann,coverage,1,claim:0,
"""
CONTENT = {
    ("files", "ratings.csv"): RATINGS_CSV,
    ("files", "scores.csv"): "doc_id,author,metric,value,better\n"
    "d1,alpha,ter,0.5,lower\nd2,alpha,own,,\n",
    (
        "fact_annotations",
        "fact_counts.csv",
    ): "doc_id,author,rater,correct,incorrect,hallucinated,"
    "omitted,reference_facts\nd1,alpha,cy,6,1,1,2,9\nd1,alpha,di,6,,1,2,\n",
    (
        "fact_annotations",
        "errors.csv",
    ): "doc_id,author,rater,critical,non_critical,spelling\n"
    "d1,alpha,ann,1,2,4\nd1,alpha,bo,,0,0\n",
    (
        "primock57",
        "results.csv",
    ): "Evaluator,Consultation,Model,Evaluator Note,Model Note,"
    "Post-edited note,Post-edit time,Incorrect Statements,Omissions\n"
    f'1,c1,m1,Own {CANARY}.,Noted.,Edited.,30,"! {CANARY}\n- b",\n'
    f"2,c1,m1,Other.,Noted.,,,,- {CANARY}\n",
    ("pubmed_rct", "a.txt"): f"###1\nMETHODS\tA {CANARY} .\r\nRESULTS\té .\n\n"
    "###2\nOBJECTIVE\tTo see .\n",
}
LOWER = Criterion(low=-1e9, high=1e9, better="lower")
COUNTED = [*LISTS.values(), *(f"critical_{name}" for name in LISTS.values()), SECONDS]
CRITERIA = {
    "usefulness": Criterion(low=1, high=5, better="higher"),
    "preference": Criterion(low=0, high=1, better="higher", scale="ordinal"),
    "coverage": Criterion(low=0, high=1, better="higher", scale="nominal"),
}
SCALES = FACT_CRITERIA | dict.fromkeys(
    ("hallucination_count", "omission_count", "quality", *COUNTED), LOWER
)
SCALES |= {
    name: Criterion(low=0, high=1, better="lower")
    for name in (*SHARES, *FRANK_CRITERIA.values())
}


def written(lines: list[object]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode("ascii")


def _frank() -> dict[tuple[str, str], bytes]:
    with tempfile.TemporaryDirectory() as folder:
        files = put(Path(folder), *records(articles=2)).iterdir()
        return {("frank", path.name): path.read_bytes() for path in files}


SOUND = {key: written(lines) for key, lines in LINES.items()}
SOUND |= {key: text.encode() for key, text in CONTENT.items()} | _frank()


def check(reader: str, name: str, content: bytes) -> bool:
    """Whether it was taken."""
    files = {file: sound for (of, file), sound in SOUND.items() if of == reader} | {
        name: content
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for file, file_content in files.items():
            (folder / file).write_bytes(file_content)
        if reader in ("sentences", "csabstruct", "pubmed_rct"):
            return check_sentences(reader, folder)
        scales = CRITERIA if reader == "files" else SCALES
        ended = handled(lambda: ingest(reader, folder, scales))
        assert (folder / name).read_bytes() == content
        assert {path.name for path in folder.iterdir()} == files.keys()
        if ended.problems:
            places = (".json", ".csv", ".txt", "does not hold what was released")
            assert all(
                any(place in line for place in places) for line in ended.problems
            )
            return False
        data = ended.value
        assert not any(CANARY in warning for warning in data.warnings)
        frames = (
            data.sources,
            data.texts,
            data.segments,
            data.ratings,
            data.measurements,
        )
        tables = (SOURCES, TEXTS, SEGMENTS, RATINGS, MEASUREMENTS, CRITERIA_TABLE)
        for table, frame in zip(tables, (*frames, data.criteria), strict=True):
            if reader == "files" or len(frame):
                check_table(table, frame, folder)
        if reader == "files":
            order = (
                "sources.jsonl",
                "texts.jsonl",
                "segments.jsonl",
                "ratings.csv",
                "scores.csv",
            )
            for rows, file in zip(frames, order, strict=True):
                lines = [line for line in _lines(folder / file) if line.strip()]
                assert len(rows) == len(lines) - (file.endswith(".csv")), (
                    f"{file}: a line vanished"
                )
        if reader in ("element_labels", "frank"):
            for text in data.texts["text"]:
                assert [statement.text for statement in statements(text)] == text.split(
                    "\n"
                )
        return True


def check_table(table: parquet.Table, frame: Any, folder: Path) -> None:
    path = folder / f"{table.name}.parquet"
    parquet.write(table, frame, path)
    assert len(parquet.read(table, path)) == len(frame)


def check_sentences(reader: str, folder: Path) -> bool:
    """A label never moves."""
    options = SegmentTestOptions(labels={}, sample=None)
    ended = handled(lambda: ingest_sentences(reader, folder, options))
    if ended.problems:
        return False
    rows = ended.value.sentences
    check_table(TEXTS, ended.value.texts, folder)
    check_table(SENTENCES, rows, folder)
    texts = dict(
        zip(ended.value.texts["doc_id"], ended.value.texts["text"], strict=True)
    )
    for doc_id, start, end in zip(
        rows["doc_id"], rows["start"], rows["end"], strict=True
    ):
        sentence = texts[doc_id][start:end]
        assert sentence == sentence.strip() != ""
    return True


def _lines(file: Path) -> list[str]:
    # As the readers count them: a quoted cell may hold a line's end, which no case here
    # has.
    return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").split("\n")


@pytest.mark.parametrize(("reader", "name"), SOUND)
def test_bytes(reader: str, name: str) -> None:
    sound = SOUND[reader, name]
    assert check(reader, name, sound)
    fuzz(lambda accidents: check(reader, name, damaged(sound, accidents)), ACCIDENTS)


@pytest.mark.parametrize(
    ("reader", "name"), [key for key in SOUND if ".json" in key[1]]
)
def test_values(reader: str, name: str) -> None:
    def run(changes: Any) -> None:
        if reader == "frank":
            value = changed(json.loads(SOUND[reader, name]), changes)
            check(reader, name, json.dumps(value).encode("ascii"))
        else:
            check(reader, name, written(changed(LINES[reader, name], changes)))

    fuzz(run, CHANGES)


@given(
    st.integers(0, 5),
    st.integers(0, 7),
    st.sampled_from(["", "=x", "nan", "inf", "1e400", "é"]),
)
@example(1, 5, "1e400")
def test_cells(line: int, column: int, value: str) -> None:
    rows = [row.split(",") for row in RATINGS_CSV.splitlines()]
    rows[line][column] = value
    check("files", "ratings.csv", "\n".join(",".join(row) for row in rows).encode())
