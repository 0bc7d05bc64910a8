"""People's counts of facts and labels of elements: examples of the page, values by hand, faults."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from metassay.core.options import Criterion
from metassay.datasets.annotations import (
    ANNOTATIONS,
    COUNTS,
    FACT_CRITERIA,
    LABELS,
    SHARES,
    SUMMARIES,
    label_shares,
)
from metassay.datasets.ingest import Tables, ingest
from metassay.meta_evaluation.study import human_scores
from metassay.units.statements import statements
from tests.datasets import reading
from tests.datasets.reading import ROOT, put_lines

PAGE = (ROOT / "docs/datasets.md").read_text(encoding="utf-8")
SECRET = "what nobody may read"


FILES = (ROOT / "docs/data-files.md").read_text(encoding="utf-8")


def blocks(heading: str) -> list[str]:
    """The code of a section of docs/datasets.md."""
    section = PAGE.partition(f"\n## {heading}")[2].partition("\n## ")[0]
    return code(section)


def code(section: str) -> list[str]:
    return re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def scales(block: str) -> dict[str, Criterion]:
    return {
        n: Criterion(**scale) for n, scale in yaml.safe_load(block)["criteria"].items()
    }


def problems(reader: str, folder: Path, criteria: Mapping[str, Criterion]) -> list[str]:
    lines = reading.problems(reader, folder, criteria)
    assert SECRET not in "".join(lines)
    return lines


# ---- counts of facts, phrases and errors

*ANNOTATED, DECLARED = blocks("Counts of facts")
DATA = [block for block in code(FILES) if block.startswith("{")][:2]
CRITERIA = scales(DECLARED)
RATES = (
    "factual_precision",
    "factual_recall",
    "factual_f1",
    "hallucination_rate",
    "omission_rate",
)
KEY: dict[str, Any] = {"doc_id": "visit-1", "author": "terse", "rater": "ann"}
HEADER = "doc_id,author,rater,correct,incorrect,hallucinated,omitted,reference_facts,system_facts\n"
FACT = {"subject": "cough", "predicate": "is", "object": "gone", "status": "correct"}


def put(folder: Path, **contents: str) -> Path:
    """The page's sources and texts, and annotations by the file's name without its ending."""
    names = {Path(name).stem: name for name in ANNOTATIONS}
    files = dict(zip(("sources.jsonl", "texts.jsonl"), DATA, strict=True))
    for name, content in {
        **files,
        **{names[stem]: c for stem, c in contents.items()},
    }.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def read(folder: Path, **contents: str) -> Tables:
    return ingest("fact_annotations", put(folder, **contents), CRITERIA, dataset="d")


def faults(folder: Path, **contents: str) -> list[str]:
    return problems("fact_annotations", put(folder, **contents), CRITERIA)


def line(changes: Mapping[str, Any], **more: Any) -> str:
    return json.dumps({**KEY, **more, **changes}) + "\n"


def marks(**spans: object) -> dict[str, object]:
    return {"hallucinated": [], "omitted": [], **spans}


def values(tables: Tables, *key: str) -> list[float | None]:
    """Counts and rates that a rater gave a text."""
    rated = tables.ratings.set_index(["doc_id", "author", "rater", "criterion"])[
        "value"
    ]
    numbers = [rated[(*key, name)] for name in (*COUNTS, *RATES)]
    return [None if pd.isna(number) else round(float(number), 6) for number in numbers]


def test_facts_of_the_page(tmp_path: Path) -> None:
    stems = [Path(name).stem for name in ANNOTATIONS]
    tables = read(tmp_path, **dict(zip(stems, ANNOTATED, strict=True)))
    assert tables.warnings == ()
    assert set(tables.ratings["study"]) == {"facts"}
    assert set(tables.ratings["unit"]) == {"text"}
    scores = [0.75, 0.666667, 0.705882, 0.125, 0.222222]
    assert values(tables, "visit-1", "terse", "ann") == [6, 1, 1, 2, *scores]
    of_ben = [6, 1, 1, None, 0.75, None, None, 0.125, None]
    assert values(tables, "visit-1", "terse", "ben") == of_ben
    assert values(tables, "visit-1", "chatty", "ann") == [
        0,
        0,
        0,
        4,
        None,
        0,
        None,
        None,
        1,
    ]
    assert values(tables, "visit-2", "terse", "ann") == [
        1,
        1,
        0,
        1,
        0.5,
        0.5,
        0.5,
        0,
        0.5,
    ]
    chatty = tables.ratings[tables.ratings["author"] == "chatty"]
    value = chatty.set_index(["criterion", "rater"])["value"]
    # One phrase among 23 words, citations left out. 1 + 2/3 + 4/12 = 2 errors in four
    # sentences, as many as the reference has.
    assert value["hallucination_count", "ann"] == pytest.approx(1 / 23)
    assert value["omission_count", "ann"] == 0
    assert value["quality", "ann"] == pytest.approx(0.5)
    assert pd.isna(value["quality", "ben"])
    assert {name: CRITERIA[name] for name in FACT_CRITERIA} == FACT_CRITERIA


def test_what_is_unknown_of_facts(tmp_path: Path) -> None:
    """A fact without a status, and a text that failed."""
    facts = line({"facts": [FACT, FACT | {"object": "", "status": None}]})
    counts = (
        "doc_id,author,rater,critical,non_critical,spelling\nvisit-2,chatty,ann,0,0,0\n"
    )
    phrases = line(marks(), doc_id="visit-2", author="chatty")
    tables = read(tmp_path, facts=facts, errors=counts, phrases=phrases)
    assert values(tables, "visit-1", "terse", "ann") == [None] * 9
    failed = tables.ratings[tables.ratings["doc_id"] == "visit-2"].set_index(
        "criterion"
    )["value"]
    assert failed.isna().to_dict() == {
        "quality": True,
        "hallucination_count": True,
        "omission_count": False,
    }


@pytest.mark.parametrize(
    ("file", "entry", "start"),
    [
        (
            "fact_counts",
            "6,1,1,2,7,",
            "the reference has fewer facts than are correct or omitted (",
        ),
        (
            "fact_counts",
            "6,1,1,2,10,",
            "the reference has more facts than are correct, incorrect",
        ),
        (
            "fact_counts",
            "6,1,1,2,9,9",
            "correct, incorrect and hallucinated facts are not the fact",
        ),
        (
            "fact_counts",
            "6,-1,1,2,9,",
            "'incorrect' is not a count; write a whole number from 0",
        ),
        (
            "fact_counts",
            "6,1.5,1,2,9,",
            "'incorrect' is not a count; write a whole number from 0",
        ),
        (
            "fact_counts",
            f"6,{SECRET},1,2,9,",
            "'incorrect' is not a finite number; write a whole",
        ),
        (
            "facts",
            {"facts": [FACT | {"status": SECRET}]},
            "'facts > status' is wrong: input should",
        ),
        (
            "facts",
            {"facts": [FACT | {"subject": " "}]},
            "'facts > subject' is empty (fact 0); fill",
        ),
        (
            "facts",
            {"facts": [FACT], "reference_facts": 2},
            "the reference has more facts than are",
        ),
        (
            "facts",
            {"facts": [FACT], "reference_facts": -1},
            "'reference_facts' is wrong: input",
        ),
        (
            "facts",
            {"facts": [FACT, FACT]},
            "holds a fact twice under 'facts'; keep one of the two",
        ),
        ("facts", {}, "'facts' is missing; add it"),
        (
            "phrases",
            marks(hallucinated=[{"start": 20, "end": 900}]),
            "a phrase does not lie in the text (doc_id 'visit-1', author 'terse', hallucinated 0);",
        ),
        (
            "phrases",
            marks(hallucinated=[{"start": 3, "end": 3}]),
            "a phrase does not lie in the te",
        ),
        (
            "phrases",
            marks(omitted=[{"start": 0, "end": 900}]),
            "a phrase does not lie in the refer",
        ),
        (
            "phrases",
            marks(omitted=[{"start": 11, "end": 16, "text": "cough"}]),
            "a phrase is not what the reference has there (doc_id 'visit-1', author 'terse', omitt",
        ),
        (
            "phrases",
            marks(hallucinated=[{"start": 0, "end": 5}] * 2),
            "a phrase is marked twice (doc_id 'visit-1', author 'terse', hallucinated 1)",
        ),
    ],
)
def test_faults_of_facts(tmp_path: Path, file: str, entry: Any, start: str) -> None:
    counted = isinstance(entry, str)
    content = f"{HEADER}visit-1,terse,ann,{entry}\n" if counted else line(entry)
    first = faults(tmp_path, **{file: content})[0]
    assert first.startswith(
        f"{file}.csv: line 2: {start}" if counted else f"{file}.jsonl: line 1: {start}"
    )


def test_files_of_facts_that_are_not_there(tmp_path: Path) -> None:
    (text,) = faults(tmp_path)
    assert (
        "has no annotations; add one of fact_counts.csv, facts.jsonl, phrases.jsonl"
        in text
    )
    put(tmp_path, phrases=line(marks(omitted=[{"start": 0, "end": 5}])))
    put_lines(tmp_path / "texts.jsonl", *DATA[1].splitlines()[1:])
    lines = problems("fact_annotations", tmp_path, CRITERIA)
    assert any(
        "phrases are omitted, but the reference is not in texts" in text
        for text in lines
    )
    (text,) = problems("fact_annotations", tmp_path / "none", CRITERIA)
    assert "is not a folder; create it" in text


# ---- labels of each sentence's elements

BLOCKS = blocks("Labels of what")
SCALES = scales(BLOCKS[3])
SUMMARY = {
    "doc_id": "stay-1",
    "author": "terse",
    "sentences": ["It rained.", "It was wet."],
}
LABEL = {
    "doc_id": "stay-1",
    "author": "terse",
    "sentence": 1,
    "rater": "ann",
    "elements": [],
}


@pytest.fixture
def example(tmp_path: Path) -> Path:
    for name, block in zip(("sources.jsonl", SUMMARIES, LABELS), BLOCKS, strict=False):
        (tmp_path / name).write_text(block, encoding="utf-8")
    return tmp_path


def test_labels_of_the_page(example: Path) -> None:
    tables = ingest("element_labels", example, SCALES)
    assert not tables.warnings
    assert tables.sources["group"].tolist() == [["Admission note", "Discharge summary"]]
    (text,) = tables.texts["text"]
    assert [unit.text for unit in statements(text)] == json.loads(BLOCKS[1])[
        "sentences"
    ]
    assert list(SCALES) == list(SHARES)
    value = tables.ratings.pivot(
        index=["unit", "rater"], columns="criterion", values="value"
    )
    assert value.loc[("statement:0", "ann"), [*SHARES]].tolist() == [
        0.5,
        0.5,
        0,
        0,
        0.5,
    ]
    assert value.loc[("statement:1", "ann"), [*SHARES]].tolist() == [0.5, 0, 0, 0.5, 0]
    assert value.xs("ben", level="rater").isna().to_numpy().sum() == 10
    assert set(tables.ratings["study"]) == {"elements"}
    # A text's rating is the mean over its sentences.
    of_texts = human_scores(tables.ratings, SCALES).set_index("criterion")["value"]
    assert of_texts[[*SHARES]].tolist() == [0.5, 0.25, 0, 0.25, 0.25]
    put_lines(example / LABELS, *reversed(BLOCKS[2].splitlines()))
    again = ingest("element_labels", example, SCALES).ratings
    again = again.pivot(index=["unit", "rater"], columns="criterion", values="value")
    pd.testing.assert_frame_equal(value, again)


def test_shares_by_hand() -> None:
    labels = [
        ("correct", False),
        ("incorrect", True),
        ("missing", False),
        ("correct", False),
    ]
    assert list(label_shares(labels).values()) == [0.5, 0.25, 0.25, 0, 0.25]
    assert list(label_shares([("not_in_notes", True)]).values()) == [1, 0, 0, 1, 1]
    assert list(label_shares([]).values()) == [None] * 5
    assert list(label_shares([*labels, None]).values()) == [None] * 5


@pytest.mark.parametrize(
    ("parts", "first"),
    [
        (["It rained.", "It was wet. It was cold."], 1),
        (["It rained.", "- It was wet."], 1),
        (["ASSESSMENT", "It rained."], 0),
        (["It rained.", "It was\nwet."], 1),
        (["It rained.", "It was wet.", "..."], 2),
        ([" It rained."], 0),
    ],
)
def test_sentences_are_those_of_metassay(
    example: Path, parts: list[str], first: int
) -> None:
    put_lines(example / SUMMARIES, SUMMARY | {"sentences": parts})
    assert (
        f"{SUMMARIES}: line 1: the sentences are not those that Metassay finds (doc_id 'stay-1',"
        f" author 'terse', sentence {first}); divide the text as docs/datasets.md says, and count"
        " its sentences again"
    ) in problems("element_labels", example, SCALES)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"sentence": 2},
            "the text has no such sentence (doc_id 'stay-1', author 'terse',",
        ),
        (
            {"sentence": -1},
            "'sentence' is wrong: input should be greater than or equal to 0",
        ),
        (
            {"elements": [{"label": SECRET}]},
            "'elements > label' is wrong: input should be",
        ),
        (
            {"elements": [{"label": "correct", "severity": "minor"}]},
            "severity that does not fit",
        ),
        (
            {"elements": [{"label": "correct"}, {"label": "missing"}]},
            "'elements' hold a severity that does not fit (element 1); write minor or critical",
        ),
        ({"author": "Terse"}, "line 1: system 'Terse' is not in"),
        ({"text": SECRET}, "'text' is unknown; remove it"),
    ],
)
def test_faults_of_labels(example: Path, changes: dict[str, Any], text: str) -> None:
    put_lines(example / LABELS, LABEL | changes)
    (problem,) = problems("element_labels", example, SCALES)
    assert text in problem


def test_a_sentence_has_a_line_of_each_rater(example: Path) -> None:
    put_lines(example / LABELS, LABEL, LABEL | {"rater": "ben"}, LABEL)
    assert problems("element_labels", example, SCALES) == [
        f"{LABELS}: line 3: a rater has labelled the sentence before (doc_id 'stay-1', author"
        " 'terse', sentence 1, rater 'ann'); put its elements into one line"
    ]
    (example / SUMMARIES).unlink()
    (example / LABELS).unlink()
    lines = problems("element_labels", example, SCALES)
    assert [problem.split(":")[0] for problem in lines] == [SUMMARIES, LABELS]
    (problem,) = problems("element_labels", example / "none", SCALES)
    assert "is not a folder; create it" in problem
