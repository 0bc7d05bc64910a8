"""The graph, what is stale in it, and a flow over it: on a copy of the project with tiny data."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from flows import dag

NONE = "data/none.txt"
SENTENCES = ("The knee hurts for two weeks.", "There is no swelling.", "He takes ibuprofen 400 mg.")


def tiny_data(folder: Path, *, rating: float = 80) -> None:
    """Two documents, two systems, two raters."""
    folder.mkdir(parents=True)
    sources, texts, ratings = [], [], ["study,doc_id,author,rater,criterion,value"]
    for doc in ("d1", "d2"):
        sources.append({"doc_id": doc, "task": "note", "passages": list(SENTENCES)})
        for author, count in (("reference", 3), ("long", 2), ("short", 1)):
            text = " ".join(SENTENCES[:count])
            texts.append({"doc_id": doc, "author": author, "text": text})
        for rater in ("r1", "r2"):
            ratings.append(f"s,{doc},long,{rater},completeness,{rating}")
            ratings.append(f"s,{doc},short,{rater},completeness,30")
    for name, rows in (("sources", sources), ("texts", texts)):
        lines = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(lines + "\n", encoding="utf-8")
    (folder / "ratings.csv").write_text("\n".join(ratings) + "\n", encoding="utf-8")


def benchmark(name: str) -> dict[str, object]:
    return {
        "dataset": name,
        "raw": f"data/{name}",
        "segmentation": "soap",
        "decomposition": "clauses",
        "alignment": "rouge_topk",
        "pairing": "all",
        "criteria": {"completeness": {"low": 0, "high": 100, "better": "higher"}},
        "published": [],
        "claims": NONE,
    }


@pytest.fixture
def tiny(project: Path) -> Path:
    """The project with two tiny benchmarks, `one` and `two`, and nothing else."""
    names = ("one", "two")
    params = yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8"))
    params |= {
        "fetching": [],
        "benchmarks": {name: benchmark(name) for name in names},
        "generating": {"one-lead": {"benchmark": "one", "system": "lead", "reads": NONE}},
        "judging": {f"{n}-lexical": {"benchmark": n, "judge": "lexical"} for n in names},
        "measuring": {
            f"{n}-{m}": {"benchmark": n, "metric": m} for n in names for m in ("lengths", "rouge")
        },
    }
    (project / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    entry = {"reader": "files", "title": "tiny", "licence": "none", "access": "private"}
    registry = {"datasets": dict.fromkeys(names, entry)}
    (project / "data/registry.yaml").write_text(yaml.safe_dump(registry), encoding="utf-8")
    (project / "dvc.lock").unlink(missing_ok=True)
    for name in names:
        tiny_data(project / "data" / name)
    return project


def metassay(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "METASSAY_MIRROR"}
    return subprocess.run(
        [sys.executable, "-m", "metassay.cli", *arguments],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def change(root: Path, path: str, value: object) -> None:
    """Set one key of params.yaml: `metrics.rouge.stemmer`."""
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    *steps, last = path.split(".")
    block = params
    for step in steps:
        block = block[step]
    assert last in block
    block[last] = value
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


AFTER_SCORES = {"aggregate@one", "meta_evaluate@one", "report@one"}
AFTER_UNITS = {"align@one", "pair@one", "judge@one-lexical"} | AFTER_SCORES
AFTER_PARTS = {"decompose@one", "measure@one-lengths", "measure@one-rouge"} | AFTER_UNITS

DEPENDENTS = {
    "metrics.rouge.stemmer": (True, {"measure@one-rouge"} | AFTER_SCORES),
    "judges.lexical.threshold": (0.5, {"judge@one-lexical"} | AFTER_SCORES),
    "alignments.rouge_topk.k": (2, AFTER_UNITS),
    "systems.lead.passages": (1, {"generate@one-lead", "segment@one"} | AFTER_PARTS),
    "pairings.all.borrow": (True, {"pair@one", "judge@one-lexical"} | AFTER_SCORES),
    "aggregation.seed": (1, AFTER_SCORES),
    "meta_evaluation.resamples": (10, {"meta_evaluate@one", "report@one"}),
    "metrics.bleu.lowercase": (True, set()),
    "benchmarks.two.published": (["doclens_table20"], set()),
}


@pytest.mark.slow
def test_what_is_stale_and_what_a_parameter_reruns(tiny: Path) -> None:
    stages = dag.graph(tiny, ["one"])
    assert dag.stale(tiny, stages) == set(stages)
    first = metassay(tiny, "run", "one", "--no-prefect")
    assert first.returncode == 0, first.stderr
    assert dag.stale(tiny, stages) == set()

    again = metassay(tiny, "run", "one", "--no-prefect")
    assert again.returncode == 0
    assert f"{len(stages)} stage(s) are up to date" in again.stderr
    assert "✓" not in again.stderr

    original = (tiny / "params.yaml").read_text(encoding="utf-8")
    for path, (value, expected) in DEPENDENTS.items():
        change(tiny, path, value)
        stale = dag.stale(tiny, stages)
        assert stale == expected, path
        (tiny / "params.yaml").write_text(original, encoding="utf-8")

    change(tiny, "metrics.rouge.stemmer", True)
    changed = metassay(tiny, "run", "one", "--no-prefect")
    ran = {line.split()[1] for line in changed.stderr.splitlines() if line.startswith("✓")}
    assert ran == DEPENDENTS["metrics.rouge.stemmer"][1]


@pytest.mark.slow
def test_raw_files_of_examples_and_released_claims_are_watched_by_who_reads_them(
    tiny: Path,
) -> None:
    """Only by them: the other benchmark neither needs the folders nor notices a change."""
    change(tiny, "generating.one-lead.reads", "data/raw/ward")
    change(tiny, "benchmarks.one.claims", "data/raw/released")
    files = [tiny / "data/raw" / name for name in ("ward/dev/texts.jsonl", "released/claims.json")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("first", encoding="utf-8")
    readers = ["generate@one-lead", "decompose@one"]
    stages = dag.graph(tiny, ["one", "two"])
    for name in [*readers, "decompose@two"]:
        repro(tiny, name)

    def stale() -> set[str]:
        # One by one, since all together would name what is downstream, too.
        return {
            name for name in [*readers, "decompose@two"] if dag.stale(tiny, {name: stages[name]})
        }

    assert stale() == set()
    for file, reader in zip(files, readers, strict=True):
        file.write_text("second", encoding="utf-8")
        assert stale() == {reader}
        file.write_text("first", encoding="utf-8")
        assert stale() == set()
    shutil.rmtree(tiny / "data/raw")
    assert stale() == set(readers)
    repro(tiny, "decompose@two", force=True)


def repro(root: Path, stage: str, *, force: bool = False) -> None:
    command = [sys.executable, "-m", "dvc", "repro", *(["--force"] if force else []), stage]
    done = subprocess.run(
        command, cwd=root, env=dag.environment(root), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_failed_branch_stops_only_itself_and_is_named(tiny: Path) -> None:
    """Bad input in one benchmark: no retry, the other benchmark is finished, exit code 1."""
    bad = tiny / "data/two"
    for file in bad.iterdir():
        file.unlink()
    bad.rmdir()
    tiny_data(bad, rating=800)
    done = metassay(tiny, "run", "one", "two")
    assert done.returncode == 1, done.stderr
    said = " ".join(done.stderr.split())
    assert said.count("✗ ingest@two (exit 78)") == 1
    assert "ratings.csv" in said
    assert "line 2" in said
    assert "completeness" in said
    assert "report@two was not run" in said
    assert (tiny / "reports/one/index.html").exists()
    assert not (tiny / "reports/two").exists()
    assert not list((tiny / "data/tables").glob("two/*"))
    assert "The knee hurts" not in done.stderr + done.stdout

    for file in bad.iterdir():
        file.unlink()
    bad.rmdir()
    tiny_data(bad)
    mended = metassay(tiny, "run", "one", "two", "--no-prefect")
    assert mended.returncode == 0, mended.stderr
    assert "one: mean score" in mended.stdout


def test_bad_input_is_not_retried_and_other_failures_are() -> None:
    assert not dag.StageFailed("judge@x", dag.BAD_INPUT, "").retryable
    assert dag.StageFailed("judge@x", 1, "").retryable


def test_graph_carries_what_meta_says() -> None:
    root = Path(__file__).parent.parent
    stages = dag.graph(root, ["mts_dialog"])
    assert stages["fetch@mts_dialog"].retries == 4
    assert stages["fetch@mts_dialog"].tags == ("network",)
    assert "fetch@aci_bench" not in stages
    assert stages["ingest@mts_dialog"].needs == ("fetch@mts_dialog",)
    names = list(stages)
    for position, stage in enumerate(stages.values()):
        assert set(stage.needs) <= set(names[:position]), "a stage stands before what it needs"


def test_a_crash_tells_where_but_not_the_text_it_stumbled_over() -> None:
    crash = (
        "Running stage 'judge@x':\n> python -m stages.judge x\n"
        "Traceback (most recent call last):\n"
        '  File "stages/judge.py", line 21, in main\n    judge()\n'
        "ValueError: cannot read 'CANARY of a patient'\nCANARY again: second line\n"
        "ERROR: failed to reproduce 'judge@x': failed to run: python, exited with 1\n"
    )
    said = dag._last_words(crash)
    assert "CANARY" not in said
    assert 'File "stages/judge.py", line 21, in main' in said
    assert "ValueError" in said
