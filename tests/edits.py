"""Which stages run after an edit: only those whose results it can change.

    python -m tests.edits [WORD ...]

Builds a small project once, makes each edit by itself, runs the benchmark, and prints
the stages that ran. WORD chooses edits by what they are called.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvc.utils.serialize import dumps_yaml, load_yaml  # type: ignore[import-untyped]

from tests.conftest import copy_project
from tests.fuzz.small_project import shorten
from tests.judges.llm_setup import asked_in, reply_of
from tests.llm.scripted_server import Answer, Call, ScriptedServer, answer_with
from tests.stage_setup import KEY

NAME = "sample"
OWN_METRIC = """\
from metassay.kinds import Description, Measured, Metric


def measure(candidates, evidence, options):
    return {"letters": [Measured(float(len(text)), None) for text in candidates]}


KIND = Metric(
    measure=measure,
    recipe=lambda options: "letters",
    descriptions=(
        Description(
            name="letters",
            meaning="letters",
            better="neither",
            range=(0, None),
            missing="never",
            source="a count",
            family="Copying and length",
        ),
    ),
    against="nothing",
)
"""


@dataclass(frozen=True)
class Edit:
    """An edit of the project in a folder, and the stages that depend on what it changes.

    Stages downstream run only if these write something else. `of_code`: it edits a file
    of Metassay, which only another process sees.
    """

    name: str
    make: Callable[[Path], None]
    stages: frozenset[str]
    of_code: bool = False


def change(file: str, path: str, value: object) -> Callable[[Path], None]:
    """Set one key of a YAML file: `metrics.rouge.stemmer`."""

    def make(root: Path) -> None:
        content: Any = load_yaml(root / file)
        *steps, last = path.split(".")
        block = content
        for step in steps:
            block = block[step]
        block[last] = value
        (root / file).write_text(dumps_yaml(content), encoding="utf-8")

    return make


def replace(file: str, old: str, new: str) -> Callable[[Path], None]:
    """Replace a text that the file has once."""

    def make(root: Path) -> None:
        text = (root / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, (
            f"{file}: {old!r} stands there {text.count(old)} times"
        )
        (root / file).write_text(text.replace(old, new), encoding="utf-8")

    return make


def append(file: str, text: str) -> Callable[[Path], None]:
    """Add a line at the end."""

    def make(root: Path) -> None:
        with (root / file).open("a", encoding="utf-8") as opened:
            opened.write(text)

    return make


def edit(name: str, make: Callable[[Path], None], *stages: str) -> Edit:
    return Edit(name, make, frozenset(stages))


def of_code(name: str, make: Callable[[Path], None], *stages: str) -> Edit:
    return Edit(name, make, frozenset(stages), of_code=True)


SHARED = "params.yaml"
SETTINGS = f"benchmarks/{NAME}/params.yaml"
MODEL = {"endpoint": "here", "model": "m-1", "max_tokens": 200}
READER = {
    "kind": "llm",
    "model": "mini",
    "style": "json",
    "per_call": "part",
    "shots": 0,
    "rounds": 1,
}
EDITS = (
    # What changes no result.
    edit("a comment in params.yaml", append(SHARED, "# a remark\n")),
    edit("the timeout of an endpoint", change(SHARED, "endpoints.here.timeout", 9.0)),
    edit(
        "the concurrency of an endpoint",
        change(SHARED, "endpoints.here.concurrency", 2),
    ),
    edit(
        "another endpoint",
        change(
            SHARED,
            "endpoints.there",
            {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"},
        ),
    ),
    edit(
        "the share of answers that may be missing", change(SHARED, "max_missing", 0.5)
    ),
    edit("a metric that is not used", change(SHARED, "metrics.bleu.lowercase", True)),
    edit("an alignment that is not used", change(SHARED, "alignments.bs_topk.k", 2)),
    edit(
        "questions that are not used",
        change(SHARED, "questions.claims.measures", ["claim_recall"]),
    ),
    edit(
        "a prompt that is not used",
        append("prompts/facets.yaml", "# a remark\n"),
    ),
    of_code(
        "a comment in the code of meta_evaluate",
        append("metassay/meta_evaluation/evaluate.py", "# a remark\n"),
    ),
    # What only a page shows.
    edit(
        "the price of a model",
        change(
            SHARED,
            "models.mini.prices",
            {
                "date": "2026-01-01",
                "input_per_million": 1.0,
                "output_per_million": 2.0,
                "currency": "USD",
            },
        ),
        "report",
    ),
    edit(
        "what a page calls a system",
        change(SHARED, "shown_as", {"lead": "Lead"}),
        "report",
    ),
    edit(
        "the title of a dataset",
        change("data/registry.yaml", f"datasets.{NAME}.title", "Another title"),
        "report",
    ),
    # What changes results.
    edit(
        "another server behind an endpoint",
        replace(SHARED, "http://127.0.0.1:", "http://localhost:"),
        "judge@reader",
    ),
    edit(
        "the temperature of a model",
        change(SHARED, "models.mini.temperature", 0.5),
        "judge@reader",
        "report",
    ),
    edit(
        "a prompt of a judge",
        append("prompts/judge-entailment.yaml", "# a remark\n"),
        "judge@reader",
    ),
    edit(
        "another judge's settings",
        change(SHARED, "judges.lexical.threshold", 0.7),
        "judge@lexical",
    ),
    edit(
        "one more judge",
        change(SETTINGS, "judges", ["lexical", "reader", "lexical_strict"]),
        "judge@lexical_strict",
        "aggregate",
        "report",
    ),
    edit(
        "a metric's settings", change(SHARED, "metrics.rouge.stemmer", True), "measure"
    ),
    edit(
        "an alignment's settings",
        change(SHARED, "alignments.rouge_topk.k", 3),
        "align@rouge_topk",
        "aggregate",
    ),
    edit(
        "the number of permutations",
        change(SHARED, "meta_evaluation.permutations", 40),
        "meta_evaluate",
    ),
    edit(
        "the least useful correlation",
        change(SHARED, "certification.useful", 0.4),
        "certify",
        "report",
    ),
    edit(
        "the file of a metric of one's own",
        append("edited_metric.py", "# a remark\n"),
        "measure",
        "aggregate",
    ),
    of_code(
        "the version of a metric",
        replace("metassay/metrics/rouge.py", "\nVERSION = ", "\nVERSION = 9"),
        "measure",
        "aggregate",
    ),
    of_code(
        "the version of a stage",
        replace(
            "metassay/core/stage_table.py",
            'name="certify",\n        version=',
            'name="certify",\n        version=9',
        ),
        "certify",
    ),
)


def answer(call: Call) -> Answer:
    """All that is asked is entailed."""
    items = asked_in(str(call.body["messages"][-1]["content"])).items
    entries = [{"number": item["number"], "label": "entailed"} for item in items]
    return answer_with(reply_of("json", entries))


def make_settings(root: Path, base_url: str) -> None:
    """Give a project a judge that is a language model, and a metric of its own."""
    (root / "edited_metric.py").write_text(OWN_METRIC, encoding="utf-8")
    shared: Any = load_yaml(root / SHARED)
    here = {"kind": "openai", "base_url": base_url, "key_env": KEY}
    shared["endpoints"] = {"here": here}
    shared["models"] = {"mini": MODEL}
    shared["judges"]["reader"] = READER
    shared["metrics"]["own"] = {"kind": "edited_metric:KIND"}
    shared["aggregation"]["resamples"] = 20
    shared["meta_evaluation"] |= {"resamples": 20, "permutations": 20}
    (root / SHARED).write_text(dumps_yaml(shared), encoding="utf-8")
    settings: Any = load_yaml(root / SETTINGS)
    settings["judges"] = ["lexical", "reader"]
    settings["metrics"] = ["rouge", "lengths", "own"]
    (root / SETTINGS).write_text(dumps_yaml(settings), encoding="utf-8")


def run(root: Path) -> set[str]:
    """The stages that a run of the benchmark runs."""
    command = [sys.executable, "-m", "metassay.cli", "run", "--no-prefect", NAME]
    done = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), KEY: "k"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(
        re.findall(rf"^✓ {NAME}: (\S+)", done.stdout + done.stderr, re.MULTILINE)
    )


def main(words: list[str]) -> int:
    """Print a table of the edits; 1 if other stages ran than were expected to."""
    n_wrong = 0
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(answer) as server:
        built = Path(folder) / "built"
        copy_project(built)
        shorten(built / "data/sample", 4)
        make_settings(built, server.base_url)
        every = run(built)
        print(f"{len(every)} stages, of a project that was just made")
        for case in EDITS:
            if words and not any(word in case.name for word in words):
                continue
            root = Path(folder) / "edited"
            shutil.copytree(built, root, symlinks=True)
            case.make(root)
            ran = run(root)
            shutil.rmtree(root)
            # A stage downstream runs if what it reads has changed.
            is_right = case.stages <= ran if case.stages else not ran
            n_wrong += not is_right
            listed = ", ".join(sorted(ran)) or "none"
            print(f"{case.name}: {listed}{'' if is_right else ' (WRONG)'}", flush=True)
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
