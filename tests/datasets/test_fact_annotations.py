"""Counts of facts, phrases and errors: the page's example, values by hand, and faults."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.datasets.annotations import ANNOTATIONS, COUNTS, FACT_CRITERIA
from metassay.datasets.ingest import Tables, ingest

PAGE = (Path(__file__).parents[2] / "docs/own-data.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATA = [text for name, text in BLOCK.findall(PAGE) if name == "json"][:2]
OURS = PAGE.partition("## Counts of facts")[2].partition("## Kinds of")[0]
*ANNOTATED, DECLARED = [text for _, text in BLOCK.findall(OURS)]
CRITERIA = {k: Criterion(**v) for k, v in yaml.safe_load(DECLARED)["criteria"].items()}
RATES = [
    *["factual_precision", "factual_recall", "factual_f1"],
    *["hallucination_rate", "omission_rate"],
]
KEY: dict[str, Any] = {"doc_id": "visit-1", "author": "terse", "rater": "ann"}
SECRET = "what nobody may read"
HEADER = "doc_id,author,rater,correct,incorrect,hallucinated,omitted,reference_facts,system_facts\n"


def put(folder: Path, **contents: str) -> Path:
    """The page's sources and texts, and annotations by the file's name without its ending."""
    for name, block in zip(("sources.jsonl", "texts.jsonl"), DATA, strict=True):
        (folder / name).write_text(block, encoding="utf-8")
    for name in ANNOTATIONS:
        if (content := contents.get(Path(name).stem)) is not None:
            (folder / name).write_text(content, encoding="utf-8")
    return folder


def read(folder: Path) -> Tables:
    return ingest("fact_annotations", folder, CRITERIA, dataset="d")


def problems(folder: Path, **contents: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(put(folder, **contents))
    assert all(SECRET not in line for line in caught.value.problems)
    return list(caught.value.problems)


def values(of: Tables, *key: str) -> list[float | None]:
    """Counts and rates that a rater gave a text."""
    rated = of.ratings.set_index(["doc_id", "author", "rater", "criterion"])["value"]
    found = [rated[(*key, name)] for name in (*COUNTS, *RATES)]
    return [None if pd.isna(one) else round(float(one), 6) for one in found]


def test_the_example_of_the_page(tmp_path: Path) -> None:
    stems = [Path(name).stem for name in ANNOTATIONS]
    made = read(put(tmp_path, **dict(zip(stems, ANNOTATED, strict=True))))
    assert made.warnings == ()
    assert set(made.ratings["study"]) == {"facts"}
    assert set(made.ratings["unit"]) == {"text"}
    scores = [0.75, 0.666667, 0.705882, 0.125, 0.222222]
    assert values(made, "visit-1", "terse", "ann") == [6, 1, 1, 2, *scores]
    of_ben = [6, 1, 1, None, 0.75, None, None, 0.125, None]
    assert values(made, "visit-1", "terse", "ben") == of_ben
    assert values(made, "visit-1", "chatty", "ann") == [0, 0, 0, 4, None, 0, None, None, 1]
    assert values(made, "visit-2", "terse", "ann") == [1, 1, 0, 1, 0.5, 0.5, 0.5, 0, 0.5]
    chatty = made.ratings[made.ratings["author"] == "chatty"].set_index(["criterion", "rater"])
    # One phrase among 23 words, citations left out. 1 + 2/3 + 4/12 = 2 errors in four sentences,
    # as many as the reference has.
    assert chatty.loc[("hallucination_count", "ann"), "value"] == pytest.approx(1 / 23)
    assert chatty.loc[("omission_count", "ann"), "value"] == 0
    assert chatty.loc[("quality", "ann"), "value"] == pytest.approx(0.5)
    assert pd.isna(chatty.loc[("quality", "ben"), "value"])


def line(changes: Mapping[str, Any], **more: Any) -> str:
    return json.dumps({**KEY, **more, **changes}) + "\n"


FACT = {"subject": "cough", "predicate": "is", "object": "gone", "status": "correct"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("6,1,1,2,7,", "the reference has fewer facts than are correct or omitted (doc_id"),
        ("6,1,1,2,10,", "the reference has more facts than are correct, incorrect or omitted"),
        ("6,1,1,2,9,9", "correct, incorrect and hallucinated facts are not the facts of the text"),
        ("6,-1,1,2,9,", "'incorrect' is not a count; write a whole number from 0"),
        ("6,1.5,1,2,9,", "'incorrect' is not a count; write a whole number from 0"),
        (f"6,{SECRET},1,2,9,", "'incorrect' is not a finite number; write a whole number from 0"),
    ],
)
def test_faults_of_counts(tmp_path: Path, row: str, expected: str) -> None:
    (found,) = problems(tmp_path, fact_counts=f"{HEADER}visit-1,terse,ann,{row}\n")
    assert found.startswith(f"fact_counts.csv: line 2: {expected}")


def test_every_fault_in_one_go(tmp_path: Path) -> None:
    rows = ("visit-1,terse,ann,6,1,1,2,7,", "visit-1,gpt4,ann,1,0,0,0,,")
    found = problems(
        tmp_path,
        fact_counts=HEADER + "\n".join((*rows, "visit-2,terse,ann,1,0,0,0,,")),
        facts=line({"facts": []}, doc_id="visit-2") + line({"facts": [FACT, FACT]}),
        phrases=line({"hallucinated": [{"start": 3, "end": 3}], "omitted": []}),
        errors="doc_id,author,rater,critical,non_critical\nvisit-1,terse,ann,1,2\n",
    )
    assert [re.sub(r"\(.*?\)", "()", one) for one in found] == [
        "fact_counts.csv: line 2: the reference has fewer facts than are correct or omitted ();"
        " count again, or leave out what nobody counted",
        "facts.jsonl: line 2: holds a fact twice under 'facts'; keep one of the two",
        "phrases.jsonl: line 1: a phrase does not lie in the text (); count characters of the text"
        " from 0; the end is the one after the last",
        "errors.csv: line 1: column 'spelling' is missing; line 1 must name the columns:"
        " doc_id,author,rater,critical,non_critical,spelling",
        "facts.jsonl: line 1: the key () is there twice (); keep one of the two",
        "fact_counts.csv: line 3: system 'gpt4' is not in texts.jsonl (); rename it or add its"
        " texts",
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"facts": [FACT | {"status": SECRET}]}, "'facts > status' is wrong: input should be"),
        ({"facts": [FACT | {"subject": " "}]}, "'facts > subject' is empty (fact 0); fill it in"),
        ({"facts": [FACT], "reference_facts": 2}, "the reference has more facts than are"),
        ({"facts": [FACT], "reference_facts": -1}, "'reference_facts' is wrong: input should be"),
        ({}, "'facts' is missing; add it"),
    ],
)
def test_faults_of_lists(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    found = problems(tmp_path, facts=line(changes))
    assert found[0].startswith(f"facts.jsonl: line 1: {expected}")


def test_a_fact_without_a_status_leaves_all_unknown(tmp_path: Path) -> None:
    made = read(put(tmp_path, facts=line({"facts": [FACT, FACT | {"object": "", "status": None}]})))
    assert values(made, "visit-1", "terse", "ann") == [None] * 9


@pytest.mark.parametrize(
    ("side", "span", "expected"),
    [
        ("hallucinated", (20, 900), "a phrase does not lie in the text"),
        ("omitted", (0, 900), "a phrase does not lie in the reference"),
        ("omitted", (11, 16, "cough"), "a phrase is not what the reference has there"),
    ],
)
def test_faults_of_phrases(tmp_path: Path, side: str, span: tuple[Any, ...], expected: str) -> None:
    marked = dict(zip(("start", "end", "text"), span, strict=False))
    (found,) = problems(tmp_path, phrases=line({"hallucinated": [], "omitted": [], side: [marked]}))
    assert f"line 1: {expected} (doc_id 'visit-1', author 'terse', {side} 0); " in found


def test_a_phrase_is_marked_once_and_needs_its_reference(tmp_path: Path) -> None:
    marked = [{"start": 0, "end": 5}] * 2
    lines = line({"hallucinated": marked, "omitted": []})
    (found,) = problems(tmp_path, phrases=lines)
    assert "a phrase is marked twice (doc_id 'visit-1', author 'terse', hallucinated 1)" in found
    put(tmp_path, phrases=line({"hallucinated": [], "omitted": marked[:1]}))
    texts = DATA[1].split("\n", 1)[1]
    (tmp_path / "texts.jsonl").write_text(texts, encoding="utf-8")
    with pytest.raises(BadInput, match="phrases are omitted, but the reference is not in texts"):
        read(tmp_path)


def test_a_text_that_failed_has_no_quality_and_no_phrases(tmp_path: Path) -> None:
    of = "visit-2,chatty,ann"
    counted = f"doc_id,author,rater,critical,non_critical,spelling\n{of},0,0,0\n"
    marked = line({"hallucinated": [], "omitted": []}, doc_id="visit-2", author="chatty")
    made = read(put(tmp_path, errors=counted, phrases=marked))
    values = made.ratings.set_index("criterion")["value"]
    assert pd.isna(values["quality"])
    assert pd.isna(values["hallucination_count"])
    assert values["omission_count"] == 0


def test_the_scales_are_those_of_the_page() -> None:
    assert {name: CRITERIA[name] for name in FACT_CRITERIA} == FACT_CRITERIA


def test_a_folder_without_annotations(tmp_path: Path) -> None:
    (found,) = problems(tmp_path)
    assert "has no annotations; add one of fact_counts.csv, facts.jsonl, phrases.jsonl" in found
    with pytest.raises(BadInput, match="is not a folder; create it"):
        read(tmp_path / "none")
