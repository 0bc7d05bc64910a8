"""Data that nobody may pass on: each benchmark of papers/benchmarks runs on an invented set.

The set has the form of the real one. The figures that wait for the benchmark are drawn.
"""

import importlib
import json
import random
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.core.params import load
from metassay.core.stages import instances, stages_of
from metassay.datasets.consultations import SIMSUM_CRITERIA
from metassay.datasets.registry import load_registry
from metassay.project.refresh import refresh
from papers.draw import Outcome, draw_paper, inputs_in
from papers.index import find_records
from stages.doorway import enter
from tests.datasets.invented_reports import put_notes

COPIES = Path("papers/benchmarks")
WITHOUT = ("certify", "report")  # which no figure reads
SHORT: dict[str, Any] = {"judges": ["lexical"], "costly_metrics": []}  # seconds


def put_mednli(folder: Path) -> None:
    hypotheses = ["There is a fever.", "The knee hurts.", "There is no fever."]
    labels = ["entailment", "neutral", "contradiction"]
    lines = [
        {
            "sentence1": f"Patient {number} has a fever.",
            "sentence2": hypotheses[number % 3],
            "gold_label": labels[number % 3],
            "pairID": f"p{number}",
        }
        for number in range(12)
    ]
    put_lines(folder / "mli_test_v1.jsonl", lines)


def put_anli(folder: Path) -> None:
    hypotheses = ["It lies at a river.", "It is old.", "It lies in a desert."]
    for part in ("R1", "R2", "R3"):
        lines = [
            {
                "uid": f"{part}-{number}",
                "context": f"Town {number} lies at a river.",
                "hypothesis": hypotheses[number % 3],
                "label": "enc"[number % 3],
            }
            for number in range(12)
        ]
        put_lines(folder / part / "test.jsonl", lines)


SYSTEMS = ("gpt35", "llama2_70b", "longt5", "longt5_block")
SYSTEMS += ("bigbird_pegasus", "bigbird_pegasus_block")
SCORES = ("gpt4_fm", "gpt35_fm", "llama", "gpt4", "newrougel", "bert", "delta")
SCORES += ("questeval", "acu3")


def put_pubmed(folder: Path) -> None:
    """Ten invented papers; the last one is the first again, as one of the release is."""
    draw = random.Random(20261128)
    papers = [invented_paper(number, draw) for number in range(9)]
    put_lines(folder / "pubmed.json", [*papers, papers[0]])


def invented_paper(number: int, draw: random.Random) -> dict[str, Any]:
    facets = {
        "background": f"Pain {number} is common.",
        "method": f"We tried drug {number}.",
        "result": f"It helped {number} people.",
        "conclusion": "It is good.",
    }
    record: dict[str, Any] = {
        "article": f"This is article {number}.",
        "human": " ".join(facets.values()),
        "human_aspect": json.dumps(facets),
    }
    for system in SYSTEMS:
        grades = [draw.choice([0.25, 0.5, 0.75, 1.0]) for _ in facets]
        record[system] = facets["method"]
        record[f"{system}_aspect"] = json.dumps(
            {**dict.fromkeys(facets, ""), "method": facets["method"]}
        )
        record[f"{system}_human_list"] = grades
        record[f"{system}_human"] = 0.1 * grades[0] + 0.3 * sum(grades[1:])
        for name in SCORES:
            record[f"{system}_{name}"] = draw.random()
    return record


def put_simsum(folder: Path) -> None:
    """Five invented sheets of 30 notes."""
    draw = random.Random(20261128)
    folder.mkdir(parents=True)
    for number in range(1, 6):
        rows = [
            ",".join([str(draw.randint(3, 5)) for _ in SIMSUM_CRITERIA])
            for _ in range(30)
        ]
        text = "\n".join([",".join(SIMSUM_CRITERIA), *rows])
        (folder / f"evaluator_{number}.csv").write_text(text + "\n", encoding="utf-8")


def put_reports(folder: Path) -> None:
    put_notes(folder, n_head=6, n_mr=3)


def put_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def run_stages(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Run a benchmark's stages in this process, without DVC, but for those `WITHOUT`."""
    folder = load().every[name]
    values = folder.model_dump(by_alias=True)
    for stage in stages_of(folder):
        if stage.name in WITHOUT:
            continue
        for _, block in instances(stage, folder, values):
            module, *arguments = shlex.split(block["cmd"])[2:]
            path = f"{module.rpartition('.')[2]}.py"
            monkeypatch.setattr(sys, "argv", [path, *arguments])
            enter(importlib.import_module(module).main)


@pytest.fixture(scope="module")
def every_copy(tmp_path_factory: pytest.TempPathFactory, clone: Path) -> Path:
    """A copy of the repository with all of these benchmarks and their invented data."""
    root = tmp_path_factory.mktemp("copies") / "project"
    shutil.copytree(clone, root, symlinks=True)
    raw = root / "data/raw"
    put_mednli(raw / "mednli")
    put_anli(raw / "anli")
    put_reports(raw / "mimic_reports")
    put_pubmed(raw / "scholarsum_pubmed")
    put_simsum(raw / "simsum")
    shutil.copytree(root / COPIES, root / "benchmarks", dirs_exist_ok=True)
    for folder in (root / COPIES).iterdir():
        path = root / "benchmarks" / folder.name / "params.yaml"
        params = yaml.safe_load(path.read_text(encoding="utf-8"))
        for key in SHORT.keys() & params.keys():
            params[key] = SHORT[key] if params[key] else []
        path.write_text(yaml.safe_dump(params), encoding="utf-8")
    refresh(root)
    return root


def draw_open(root: Path, paper: str, benchmark: str, out: Path) -> Outcome:
    """Draw the records of a paper that only this benchmark and its like feed."""
    names = {folder.name for folder in (root / COPIES).iterdir()}
    records = [
        record
        for record in find_records(root)[paper]
        if record.all_numbers
        and {numbers.benchmark for numbers in record.all_numbers} <= names
        and benchmark in {numbers.benchmark for numbers in record.all_numbers}
    ]
    assert records
    return draw_paper(records, inputs_in(root), out, store=out / "store", version="1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "paper", "figures"),
    [
        (["mednli", "anli"], "doclens", ["table1_nli", "table4"]),
        (
            ["mimic_reports"],
            "doclens",
            ["fig5", "table28", "table29", "table30", "table31", "table36"],
        ),
        (["scholarsum_pubmed"], "fm", ["fig3", "table2"]),
        (["simsum"], "simsum", ["summary"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_a_copy_of_ones_own_is_read_and_its_figures_are_drawn(
    every_copy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: list[str],
    paper: str,
    figures: list[str],
) -> None:
    monkeypatch.chdir(every_copy)
    for name in names:
        run_stages(monkeypatch, name)
    outcome = draw_open(every_copy, paper, names[0], tmp_path)
    assert sorted(outcome.drawn) == figures
    assert not outcome.damaged


def test_every_copy_has_its_entry_and_reads_its_folder() -> None:
    """What docs/datasets.md says to complete: a folder, which both files name."""
    registry = load_registry()
    folders = sorted(folder.name for folder in COPIES.iterdir())
    assert folders == [
        "anli",
        "mednli",
        "mednli_3way",
        "mimic_reports",
        "scholarsum_pubmed",
        "simsum",
    ]
    for name in folders:
        params = yaml.safe_load(
            (COPIES / name / "params.yaml").read_text(encoding="utf-8")
        )
        dataset = registry[params["dataset"]]
        assert params["name"] == name
        assert params["raw"] == (dataset.folder or f"data/raw/{name}")
    closed = {name: registry[name].access for name in ("mednli", "mimic_reports")}
    assert set(closed.values()) == {"credentialed"}
