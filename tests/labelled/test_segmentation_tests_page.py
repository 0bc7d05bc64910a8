"""docs/segmentation-tests.md: its files are taken from the page and ingested."""

import re
from pathlib import Path

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.core.params import SegmentTest, load
from metassay.datasets.readers import SENTENCE_READERS
from metassay.datasets.registry import Dataset
from metassay.labelled.ingest import ingest_sentences
from metassay.labelled.types import reader_problem, segment_options
from metassay.tables.segment_scores import SEGMENT_SCORES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/segmentation-tests.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def test_the_example_is_ingested_and_its_problem_is_told(tmp_path: Path) -> None:
    registered, params, _ = map(yaml.safe_load, blocks("yaml"))
    dataset = parse(Dataset, registered["datasets"]["mine"], where="the page")
    own = parse(SegmentTest, params, where="the page")
    assert reader_problem(own.test, str(dataset.reader)) is None
    assert set(own.segmentations) <= set(load(ROOT).segmentations)
    options = segment_options(own.options, where="the page")
    lines = blocks("json")[0]
    (tmp_path / "abstracts.jsonl").write_text(lines, encoding="utf-8")
    made = ingest_sentences(str(dataset.reader), tmp_path, options)
    assert list(made.sentences["label"])[:3] == ["population", "intervention", "outcome"]
    assert made.sentences["confidence"].tolist()[3:] == [1.0, 0.67]
    (tmp_path / "abstracts.jsonl").write_text(lines.replace(', "outcome"], "confs"', '], "confs"'))
    with pytest.raises(BadInput) as caught:
        ingest_sentences(str(dataset.reader), tmp_path, options)
    assert blocks("")[0].splitlines() == list(caught.value.problems)


def test_the_example_of_pubmed_rct_is_ingested(tmp_path: Path) -> None:
    dataset = parse(
        Dataset, yaml.safe_load(blocks("yaml")[2])["datasets"]["pubmed_rct_test"], where="the page"
    )
    (tmp_path / "test.txt").write_text(blocks("")[1], encoding="utf-8")
    options = segment_options({"labels": {}, "sample": None}, where="the page")
    made = ingest_sentences(str(dataset.reader), tmp_path, options)
    roles = ["objective", "method", "result", "conclusion"]
    assert made.sentences["label"].tolist() == roles


def test_the_page_names_every_reader_and_number() -> None:
    assert not [name for name in SENTENCE_READERS if f"`{name}`" not in PAGE]
    numbers = SEGMENT_SCORES.columns["statistic"].choices
    assert not [name for name in numbers if f"`{name}`" not in PAGE]
