"""Pages on tests: their files are taken from the page and ingested, their examples are tables."""

import re
from pathlib import Path

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.core.params import JudgeTest, SegmentTest, load
from metassay.datasets.readers import ITEM_READERS, SENTENCE_READERS
from metassay.datasets.registry import Dataset
from metassay.labelled.ingest import ingest_items
from metassay.labelled.segmentations import ingest_sentences
from metassay.labelled.types import MinimalPairsOptions, reader_problem, segment_options
from metassay.labelled.types import chosen_test as type_of
from metassay.tables.segment_scores import SEGMENT_SCORES
from metassay.text.edits.make import FLIPS, KEEPS, KINDS
from metassay.text.vocabulary import SPLIT, groups, words

ROOT = Path(__file__).parents[2]
PAGE = (
    (ROOT / "docs/benchmarks.md")
    .read_text(encoding="utf-8")
    .partition("\n## Test a judge")[2]
)
JUDGES = PAGE.partition("\n## Test a segmentation")[0]
SEGMENTATIONS = (ROOT / "docs/segmentations.md").read_text(encoding="utf-8")
DATASETS = (ROOT / "docs/datasets.md").read_text(encoding="utf-8")
KINDS_PAGE = DATASETS.partition("\n## Kinds of minimal pairs")[2].partition("\n## ")[0]
FILES = ("claims", "labels", "verdicts")


def blocks(page: str, language: str) -> list[str]:
    code = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [text for name, text in code if name == language]


def put_example(folder: Path) -> Path:
    folder.mkdir()
    for name, content in zip(FILES, blocks(JUDGES, "csv"), strict=True):
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return folder


def test_the_example_is_ingested(tmp_path: Path) -> None:
    registered, params, *_ = map(yaml.safe_load, blocks(JUDGES, "yaml"))
    dataset = parse(Dataset, registered["datasets"]["mine"], where="the page")
    block = parse(JudgeTest, params, where="the page")
    assert reader_problem(block.test, str(dataset.reader)) is None
    test = type_of(block.test, block.options, where="the page")
    tables = ingest_items(
        test,
        str(dataset.reader),
        put_example(tmp_path / "mine"),
        dataset="mine",
        judges=block.judges,
    )
    gold = tables.gold.set_index("item")
    assert gold["label"].tolist()[:3] == ["entailed", "not_entailed", "not_entailed"]
    assert gold.loc["c4", "unlabelled"] == "split"
    assert tables.verdicts["status"].tolist() == ["ok", "ok", "ok", "refused"]
    assert (len(tables.pairs), len(tables.ratings)) == (4, 12)


def test_the_example_of_a_credentialed_set_is_sound() -> None:
    registered, params = map(yaml.safe_load, blocks(JUDGES, "yaml")[2:4])
    dataset = parse(Dataset, registered["datasets"]["mednli"], where="the page")
    block = parse(JudgeTest, params, where="the page")
    assert (block.dataset, block.raw) == ("mednli", dataset.folder)
    assert dataset.access == "credentialed"
    assert reader_problem(block.test, str(dataset.reader)) is None
    assert type_of(block.test, block.options, where="the page")


def test_the_messages_on_the_page_are_the_real_ones(tmp_path: Path) -> None:
    folder = put_example(tmp_path / "mine")
    labels = (folder / "labels.csv").read_text(encoding="utf-8")
    labels = labels.replace("c1,ben,entailed", "c1,ben,yes").replace("c2,ann", "C2,ann")
    (folder / "labels.csv").write_text(labels, encoding="utf-8")
    verdicts = (
        (folder / "verdicts.csv").read_text(encoding="utf-8").replace("0.08", "8")
    )
    (folder / "verdicts.csv").write_text(verdicts, encoding="utf-8")
    test = type_of("claim_labels", {"subsets": [], "sample": None}, where="the page")
    with pytest.raises(BadInput) as caught:
        ingest_items(test, "claim_labels", folder, dataset="mine", judges=["lexical"])
    (messages,) = blocks(JUDGES, "")
    assert messages.splitlines() == list(caught.value.problems)


def test_the_page_counts_the_words_as_they_are() -> None:
    rows = re.findall(
        r"^\| `(\w+)`[^|]* \| (\d+) \| (\d+) \| (.+); (.+) \|$",
        (ROOT / "docs/datasets.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert [kind for kind, *_ in rows] == list(SPLIT)
    for kind, every, tests, trained, tested in rows:
        assert (int(every), int(tests)) == (
            len(groups(kind)),
            len(groups(kind, "test")),
        ), kind
        assert set(trained.split(" and ")) <= words(kind, "train"), kind
        assert set(tested.split(" and ")) <= words(kind, "test"), kind


def test_the_examples_of_kinds_are_made_by_the_rules() -> None:
    rows = re.findall(
        r"^\| (?:`(\w+)`)? ?\| (.+\.) \| (.+\.) \|$", KINDS_PAGE, re.MULTILINE
    )
    named = [kind for kind, *_ in rows if kind]
    assert named == list(KINDS)
    kind = ""
    for name, sentence, edited in rows:
        kind = name or kind
        assert edited in list((FLIPS | KEEPS)[kind](sentence, "test")), kind
    (options,) = [
        yaml.safe_load(text) for text in blocks(JUDGES, "yaml") if "sentences:" in text
    ]
    assert (
        parse(MinimalPairsOptions, options["options"], where="the page").sentences
        == 200
    )


def test_the_example_is_ingested_and_its_problem_is_told(tmp_path: Path) -> None:
    registered, params, _ = map(yaml.safe_load, blocks(SEGMENTATIONS, "yaml"))
    dataset = parse(Dataset, registered["datasets"]["mine"], where="the page")
    block = parse(SegmentTest, params, where="the page")
    assert reader_problem(block.test, str(dataset.reader)) is None
    assert set(block.segmentations) <= set(load(ROOT).segmentations)
    options = segment_options(block.options, where="the page")
    lines = blocks(SEGMENTATIONS, "json")[0]
    (tmp_path / "abstracts.jsonl").write_text(lines, encoding="utf-8")
    tables = ingest_sentences(str(dataset.reader), tmp_path, options)
    assert list(tables.sentences["label"])[:3] == [
        "population",
        "intervention",
        "outcome",
    ]
    assert tables.sentences["confidence"].tolist()[3:] == [1.0, 0.67]
    (tmp_path / "abstracts.jsonl").write_text(
        lines.replace(', "outcome"], "confs"', '], "confs"')
    )
    with pytest.raises(BadInput) as caught:
        ingest_sentences(str(dataset.reader), tmp_path, options)
    assert blocks(SEGMENTATIONS, "")[0].splitlines() == list(caught.value.problems)


def test_the_example_of_pubmed_rct_is_ingested(tmp_path: Path) -> None:
    entries = yaml.safe_load(blocks(SEGMENTATIONS, "yaml")[2])["datasets"]
    dataset = parse(Dataset, entries["pubmed_rct_test"], where="the page")
    (tmp_path / "test.txt").write_text(blocks(SEGMENTATIONS, "")[1], encoding="utf-8")
    options = segment_options({"labels": {}, "sample": None}, where="the page")
    tables = ingest_sentences(str(dataset.reader), tmp_path, options)
    roles = ["objective", "method", "result", "conclusion"]
    assert tables.sentences["label"].tolist() == roles


def test_the_page_names_every_reader_and_number() -> None:
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert not [name for name in ITEM_READERS if f"`{name}`" not in page]
    assert not [name for name in SENTENCE_READERS if f"`{name}`" not in SEGMENTATIONS]
    numbers = SEGMENT_SCORES.columns["statistic"].choices
    assert not [name for name in numbers if f"`{name}`" not in SEGMENTATIONS]
