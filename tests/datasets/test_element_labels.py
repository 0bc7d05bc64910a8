"""Labels of sentences' elements: the page's example, shares worked out by hand, and faults."""

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
from metassay.datasets.annotations import LABELS, SHARES, SUMMARIES, label_shares
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.own_data import SOURCES_FILE as SOURCES
from metassay.meta_evaluation.study import human_scores
from metassay.units.statements import statements

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/own-data.md").read_text(encoding="utf-8").partition("## Labels of what")[2]
BLOCKS = re.findall(r"^```\w*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CRITERIA = {
    name: Criterion(**scale) for name, scale in yaml.safe_load(BLOCKS[3])["criteria"].items()
}
SECRET = "what nobody may read"
SUMMARY = {
    "doc_id": "stay-1",
    "author": "terse",
    "sentences": ["It rained.", "It was wet."],
}
LABEL = {
    **{"doc_id": "stay-1", "author": "terse", "sentence": 1, "rater": "ann"},
    "elements": [],
}


def put_example(folder: Path) -> Path:
    for name, block in zip((SOURCES, SUMMARIES, LABELS), BLOCKS, strict=False):
        (folder / name).write_text(block, encoding="utf-8")
    return folder


def read(folder: Path) -> Tables:
    return ingest("element_labels", folder, CRITERIA, dataset="d")


def problems(folder: Path, name: str, *lines: Mapping[str, Any]) -> list[str]:
    text = "\n".join(json.dumps(line) for line in lines)
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read(folder)
    assert SECRET not in str(caught.value)
    return list(caught.value.problems)


def test_the_pages_example(tmp_path: Path) -> None:
    made = read(put_example(tmp_path))
    assert not made.warnings
    (source,) = made.sources.to_dict("records")
    assert source["group"] == ["Admission note", "Discharge summary"]
    (text,) = made.texts["text"]
    said = json.loads(BLOCKS[1])["sentences"]
    assert [one.text for one in statements(text)] == said
    ratings = made.ratings.pivot_table(
        index=["unit", "rater"], columns="criterion", values="value", dropna=False
    )[list(SHARES)]
    assert list(CRITERIA) == list(SHARES)
    assert ratings.loc["statement:0", "ann"].tolist() == [0.5, 0.5, 0, 0, 0.5]
    assert ratings.loc["statement:1", "ann"].tolist() == [0.5, 0, 0, 0.5, 0]
    assert made.ratings[made.ratings["rater"] == "ben"]["value"].isna().sum() == 10
    assert set(made.ratings["study"]) == {"elements"}


def test_a_text_is_rated_by_the_mean_over_its_sentences(tmp_path: Path) -> None:
    made = read(put_example(tmp_path))
    of_texts = human_scores(made.ratings, CRITERIA).set_index("criterion")["value"]
    assert of_texts.to_dict() == {
        **{"error": 0.5, "incorrect": 0.25, "missing": 0, "not_in_notes": 0.25, "critical": 0.25}
    }


def test_shares_by_hand() -> None:
    labels = [("correct", False), ("incorrect", True), ("missing", False), ("correct", False)]
    assert list(label_shares(labels).values()) == [0.5, 0.25, 0.25, 0, 0.25]
    assert list(label_shares([("not_in_notes", True)]).values()) == [1, 0, 0, 1, 1]
    assert list(label_shares([]).values()) == [None] * 5
    assert list(label_shares([*labels, None]).values()) == [None] * 5


@pytest.mark.parametrize(
    ("said", "first"),
    [
        (["It rained.", "It was wet. It was cold."], 1),
        (["It rained.", "- It was wet."], 1),
        (["ASSESSMENT", "It rained."], 0),
        (["It rained.", "It was\nwet."], 1),
        (["It rained.", "It was wet.", "..."], 2),
        ([" It rained."], 0),
    ],
)
def test_sentences_are_those_of_metassay(tmp_path: Path, said: list[str], first: int) -> None:
    found = problems(put_example(tmp_path), SUMMARIES, SUMMARY | {"sentences": said})
    assert (
        f"{SUMMARIES}: line 1: the sentences are not those that Metassay finds (doc_id 'stay-1',"
        f" author 'terse', sentence {first}); divide the text as docs/own-data.md says, and count"
        " its sentences again"
    ) in found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"sentence": 2}, "the text has no such sentence (doc_id 'stay-1', author 'terse',"),
        ({"sentence": -1}, "'sentence' is wrong: input should be greater than or equal to 0"),
        ({"elements": [{"label": SECRET}]}, "'elements > label' is wrong: input should be"),
        ({"elements": [{"label": "correct", "severity": "minor"}]}, "severity that does not fit"),
        (
            {"elements": [{"label": "correct"}, {"label": "missing"}]},
            "'elements' hold a severity that does not fit (element 1); write minor or critical",
        ),
        (
            {"author": "Terse"},
            "line 1: system 'Terse' is not in",
        ),
        ({"text": SECRET}, "'text' is unknown; remove it"),
    ],
)
def test_faults_of_labels(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    found = problems(put_example(tmp_path), LABELS, LABEL | changes)
    assert expected in found[0]
    assert len(found) == 1


def test_a_sentence_has_one_line_of_each_rater(tmp_path: Path) -> None:
    (found,) = problems(put_example(tmp_path), LABELS, LABEL, LABEL | {"rater": "ben"}, LABEL)
    assert found == (
        f"{LABELS}: line 3: a rater has labelled the sentence before (doc_id 'stay-1', author"
        " 'terse', sentence 1, rater 'ann'); put its elements into one line"
    )


def test_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / SOURCES).write_text(BLOCKS[0], encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read(tmp_path)
    assert [line.split(":")[0] for line in caught.value.problems] == [SUMMARIES, LABELS]
    with pytest.raises(BadInput, match="is not a folder; create it"):
        read(tmp_path / "none")


def test_numbers_do_not_depend_on_the_order_of_lines(tmp_path: Path) -> None:
    put_example(tmp_path)
    before = read(tmp_path).ratings
    lines = (tmp_path / LABELS).read_text(encoding="utf-8").splitlines()
    (tmp_path / LABELS).write_text("\n".join(reversed(lines)), encoding="utf-8")
    key = ["unit", "rater", "criterion"]
    pd.testing.assert_frame_equal(
        before.sort_values(key, ignore_index=True),
        read(tmp_path).ratings.sort_values(key, ignore_index=True),
    )
