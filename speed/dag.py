"""What DVC and Prefect cost beside the work, in a project of 20 benchmarks x 40 metrics x 6 judges.

`python speed/dag.py` builds that project with our dvc.yaml, where every command only
writes its outs, so that what is left is overhead. It asserts that our runner and plain
`dvc repro` write the same dvc.lock, then prints seconds.
"""

import contextlib
import logging
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from dvc.repo import Repo

from flows.dag import plan
from flows.surroundings import environment
from flows.worker import write_lock_entry
from metassay.core.params import Benchmark
from metassay.core.stages import VERSIONS, files_in
from metassay.core.stages import dag as text_of_dag
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import empty, write
from metassay.tables.responses import RESPONSES

BENCHMARKS, METRICS, JUDGES = 20, 40, 6
QUICK = {"BENCHMARKS": 3, "METRICS": 1, "JUDGES": 1}
ROOT = Path(__file__).resolve().parent.parent
COMMAND = """\
hook=hooks/$1
shift
if [ -f "$hook" ]; then . "$hook"; fi
for out; do
  case $out in
    *.parquet | *.json | *.csv) mkdir -p "${out%/*}"; empty=empty/${out##*/};;
    *) mkdir -p "$out"; out=$out/file; empty=;;
  esac
  if [ -f "$empty" ]; then cat "$empty" > "$out"; else cat seed > "$out"; fi
done
"""
IGNORED = "/.work/\n/data/raw/\n/data/tables/\n/reports/\n!/reports/published/\n"


def build(
    root: Path, *, benchmarks: int = 2, metrics: int = 2, judges: int = 1
) -> list[str]:
    """Write an invented project of that size; returns the names of its benchmarks.

    A stage writes the file `seed` to each of its outs, after what
    `hooks/<benchmark>-<stage>` says.
    """
    names = [f"b{number:02}" for number in range(benchmarks)]
    own = {
        "judges": [f"j{number}" for number in range(judges)],
        "costly_metrics": [f"m{number:02}" for number in range(metrics)],
    }
    shared = _read(ROOT / "params.yaml")
    for block, like in (("judges", "lexical"), ("costly_metrics", "rouge")):
        kind = {**shared["metrics"], **shared[block]}[like]
        shared[block] = {name: dict(kind) for name in own[block]}
    sample = _read(ROOT / "benchmarks/sample/params.yaml")
    whole = Benchmark.model_validate({**sample, **own})
    dag = {"stages": _with_command(yaml.safe_load(text_of_dag(whole))["stages"])}
    _write(root / "params.yaml", shared)
    _write(root / VERSIONS, _versions(shared, dag))
    file = {
        "name": "f",
        "url": "https://127.0.0.1/none/f",
        "sha256": "0" * 64,
        "bytes": 1,
    }
    told = dict.fromkeys(("title", "licence", "upstream", "commit", "mirror"), "none")
    entry = {**told, "reader": "files", "access": "public", "files": [file]}
    _write(root / "data/registry.yaml", {"fetched": ["d"], "datasets": {"d": entry}})
    fetching = _read(ROOT / "dvc.yaml")
    fetch = {"fetch": fetching["stages"]["fetch"]}  # no benchmark waits for training
    _write(root / "dvc.yaml", fetching | {"stages": _with_command(fetch)})
    for name in names:
        params = {**sample, **own, "name": name, "dataset": "d", "raw": "data/raw/d"}
        _write(root / "benchmarks" / name / "params.yaml", params)
        _write(root / "benchmarks" / name / "dvc.yaml", dag)
    for file, content in (
        ("stage.sh", COMMAND),
        ("seed", "0\n"),
        ("reports/published/file", "0\n"),
        (".gitignore", IGNORED),
        (".dvc/config", (ROOT / ".dvc/config").read_text(encoding="utf-8")),
    ):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(content, encoding="utf-8")
    shown = {table.name: table for table in (LEADERBOARD, CERTIFICATES)}
    shown |= dict.fromkeys(files_in(whole, RESPONSES.name), RESPONSES)
    for file, table in shown.items():
        (root / "empty").mkdir(exist_ok=True)
        # Prefect is shown them
        write(table, empty(table), root / f"empty/{file}.parquet")
    return names


def _with_command(stages: dict[str, Any]) -> dict[str, Any]:
    """The stages with a command that writes the outs and nothing else."""
    found = {}
    for name, stage in stages.items():
        body = dict(stage.get("do", stage))
        words = body["cmd"].split()[3:]  # after: python -m stages.x
        entries = [*body["outs"], *body.get("metrics", [])]
        # An out is a path, or a mapping from one to how DVC keeps it.
        outs = [
            entry if isinstance(entry, str) else next(iter(entry)) for entry in entries
        ]
        body["cmd"] = " ".join(["sh stage.sh", "-".join([name, *words]), *outs])
        found[name] = {**stage, "do": body} if "do" in stage else body
    return found


def _versions(params: dict[str, Any], dag: dict[str, Any]) -> dict[str, Any]:
    """versions.yaml: all is of version 1."""
    blocks = {
        block: params[block] or {}
        for block in params
        if isinstance(params[block], dict)
    }
    blocks |= {"stages": [*dag["stages"], "fetch"], "datasets": ["d"]}
    return {block: dict.fromkeys(names, 1) for block, names in blocks.items()}


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def main() -> None:
    logging.getLogger("dvc").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        names = build(root, benchmarks=BENCHMARKS, metrics=METRICS, judges=JUDGES)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        os.environ.update(environment(root))
        built = _seconds(root, "flows", names[0], "--no-prefect", "--jobs", "1")
        for name in names[1:]:
            _copy_built(root, names[0], name)
        reading = [_plan(root, chosen) for chosen in (names, names, names[:1])][1:]
        change = root / "params.yaml"
        change.write_text(
            change.read_text().replace("threshold: 0.6", "threshold: 0.5")
        )
        ours = _seconds(root, "flows", names[0], "--no-prefect", "--jobs", "1")
        theirs = _seconds(root, "dvc", "repro", f"benchmarks/{names[1]}/dvc.yaml")
        first, second = (_lock(root, name).read_text() for name in names[:2])
        if first.replace(names[0], names[1]) != second:
            sys.exit("the runner and dvc repro wrote different locks: no timing")
        single = _seconds(
            root,
            "dvc",
            "repro",
            "--single-item",
            f"benchmarks/{names[2]}/dvc.yaml:judge@j0",
        )
        committing = _commits(root, names[0])
    stages = reading[1][1]
    print(
        f"{BENCHMARKS} benchmarks x {METRICS} metrics x {JUDGES} judges, {reading[0][1]} stages,"
        " commands that cost nothing, equal locks\n"
        f"reading the graph and what is stale: {reading[0][0]:.2f} s, of one benchmark"
        f" {reading[1][0]:.2f} s\n"
        f"building one benchmark: {built:.1f} s, {built / stages:.2f} s per stage;"
        f" a `dvc repro --single-item` {single:.2f} s\n"
        f"after a change of its judges: {ours:.1f} s; `dvc repro` {theirs:.1f} s\n"
        f"writing one entry of its dvc.lock: {committing[0]:.3f} s; DVC's own way"
        f" {committing[1]:.3f} s"
    )


def _seconds(root: Path, *arguments: str) -> float:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr.decode())
    return time.perf_counter() - start


def _plan(root: Path, names: list[str]) -> tuple[float, int]:
    start = time.perf_counter()
    found = plan(root, names)
    if found.stale:
        sys.exit(f"stale: {sorted(found.stale)[:5]}")
    return time.perf_counter() - start, len(found.stages)


def _lock(root: Path, name: str) -> Path:
    return root / "benchmarks" / name / "dvc.lock"


def _copy_built(root: Path, source: str, name: str) -> None:
    """As if this benchmark had been built, too."""
    text = _lock(root, source).read_text(encoding="utf-8")
    _lock(root, name).write_text(text.replace(source, name), encoding="utf-8")
    for tables in ("data/tables", "reports"):
        shutil.copytree(root / tables / source, root / tables / name)
    of_source = root / "benchmarks" / source
    of_name = root / "benchmarks" / name
    for file in ("headline.json", "metrics.json"):
        shutil.copy(of_source / file, of_name / file)
    shutil.copytree(of_source / "plots", of_name / "plots")


def _commits(root: Path, name: str) -> tuple[float, float]:
    """Medians of writing an entry anew, in our way and in DVC's."""
    times: tuple[list[float], list[float]] = ([], [])
    with contextlib.chdir(root), Repo() as repo:
        stage = repo.stage.load_one(f"benchmarks/{name}/dvc.yaml", "segment")
        written = _lock(root, name).read_text(encoding="utf-8")
        ways = (write_lock_entry, lambda one: one.dump(update_pipeline=False))
        for _ in range(7):
            for taken, way in zip(times, ways, strict=True):
                stale = written.replace(
                    "  segment:\n    cmd: sh", "  segment:\n    cmd: another"
                )
                _lock(root, name).write_text(stale, encoding="utf-8")
                start = time.perf_counter()
                way(stage)
                taken.append(time.perf_counter() - start)
                if _lock(root, name).read_text(encoding="utf-8") != written:
                    sys.exit("the entry was not written as it was: no timing")
    return statistics.median(times[0]), statistics.median(times[1])


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
