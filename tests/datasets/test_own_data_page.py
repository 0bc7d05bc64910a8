"""docs/own-data.md: its example is taken from the page and ingested as it stands."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.core.params import load
from metassay.datasets.ingest import ingest
from metassay.datasets.readers import reader_problems
from metassay.datasets.registry import load_registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/own-data.md").read_text(encoding="utf-8").partition("## Files, and")[2]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def block(language: str, number: int) -> str:
    return [text for name, text in BLOCKS if name == language][number]


def put_example(folder: Path) -> Path:
    folder.mkdir()
    (folder / "sources.jsonl").write_text(block("json", 0), encoding="utf-8")
    (folder / "texts.jsonl").write_text(block("json", 1), encoding="utf-8")
    (folder / "ratings.csv").write_text(block("csv", 0), encoding="utf-8")
    (folder / "scores.csv").write_text(block("csv", 1), encoding="utf-8")
    (folder / "segments.jsonl").write_text(block("json", 2), encoding="utf-8")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """This project's shared params and registry, with the page's entry and its benchmark."""
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "benchmarks/mine").mkdir(parents=True)
    shutil.copy(ROOT / "params.yaml", folder)
    registry = yaml.safe_load((ROOT / "data/registry.yaml").read_text(encoding="utf-8"))
    registry["datasets"] |= yaml.safe_load(block("yaml", 0))["datasets"]
    registry_file = folder / "data/registry.yaml"
    registry_file.write_text(yaml.safe_dump(registry, sort_keys=False), encoding="utf-8")
    (folder / "benchmarks/mine/params.yaml").write_text(block("yaml", 1), encoding="utf-8")
    put_example(tmp_path / "mine")
    return folder


def test_the_example_is_ingested(project: Path) -> None:
    benchmark = load(project).benchmarks["mine"]
    registry = load_registry(project / "data/registry.yaml")
    assert not reader_problems(registry)
    dataset = registry[benchmark.dataset]
    assert dataset.access == "private"
    raw = (project / benchmark.raw).resolve()
    before = {path.name: path.read_bytes() for path in raw.iterdir()}
    ingested = ingest(dataset.reader, raw, benchmark.criteria)
    assert ingested.warnings == ()
    assert (len(ingested.sources), len(ingested.texts), len(ingested.ratings)) == (2, 6, 10)
    assert len(ingested.segments) == 2
    assert set(ingested.measurements["metric"]) == {"our_recall", "ter"}
    assert set(ingested.texts["author"]) == {"reference", "terse", "chatty"}
    assert set(ingested.ratings["criterion"]) == set(benchmark.criteria)
    # Read in place: nothing is added, changed or taken away.
    assert {path.name: path.read_bytes() for path in raw.iterdir()} == before


def test_the_messages_on_the_page_are_the_real_ones(tmp_path: Path) -> None:
    folder = put_example(tmp_path / "mine")
    texts = (folder / "texts.jsonl").read_text(encoding="utf-8")
    texts = texts.replace('"status": "truncated"', '"text": ""')
    (folder / "texts.jsonl").write_text(texts, encoding="utf-8")
    header, *ratings = (folder / "ratings.csv").read_text(encoding="utf-8").splitlines()
    strangers = [f"pilot,visit-1,gpt4,r{n},usefulness,3,text" for n in range(12)]
    lines = [header, ratings[0], *strangers]
    (folder / "ratings.csv").write_text("\n".join(lines), encoding="utf-8")
    criteria = load(ROOT).benchmarks["sample"].criteria
    with pytest.raises(BadInput) as caught:
        ingest("files", folder, {"usefulness": criteria["usefulness"]})
    assert block("", 0).splitlines() == list(caught.value.problems)


@pytest.mark.parametrize("reader", ["note", "impression", "question", "abstract"])
def test_the_doclens_example_is_ingested(tmp_path: Path, reader: str) -> None:
    (tmp_path / "terse.json").write_text(block("json", 3), encoding="utf-8")
    assert f"doclens_{reader}" in PAGE
    ingested = ingest(f"doclens_{reader}", tmp_path, {})
    assert ingested.warnings == ()
    assert ingested.sources["passages"].map(len).tolist() == [3]
    assert set(ingested.texts["author"]) == {"reference", "terse"}


def test_sheets_of_raters_are_ingested(tmp_path: Path) -> None:
    for rater in ("ann", "ben"):
        (tmp_path / f"{rater}.csv").write_text(block("csv", 2), encoding="utf-8")
    written = yaml.safe_load(block("yaml", 3))["criteria"]
    criteria = {name: Criterion.model_validate(scale) for name, scale in written.items()}
    found = ingest("simsum", tmp_path, criteria)
    assert len(found.ratings) == 2 * 2 * 6
    assert found.ratings["value"].isna().sum() == 2
