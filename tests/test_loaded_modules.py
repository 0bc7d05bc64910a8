"""Commands import what they use: each import here would add a tenth of a second or more."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.api.small_study import study
from tests.architecture import PIPELINE as ROOMS_OF_PIPELINE

ROOT = Path(__file__).parent.parent
# No small study needs these: they are for long tables, curves, figures, Excel files and
# the pipeline.
SLOW = (
    "anyio",
    "dask",
    "dvc",
    "jinja2",
    "jsonschema",
    "matplotlib",
    "networkx",
    "nltk",
    "openai",
    "openpyxl",
    "prefect",
    "requests",
    "sacrebleu",
    "scipy.optimize",
    "scipy.stats",
    "sqlalchemy",
    "torch",
    "transformers",
)
# Names of metrics on pages still come from the rooms of measures and rubrics.
PIPELINE = tuple(
    f"metassay.{room}" for room in ROOMS_OF_PIPELINE if room not in ("scoring", "llm")
)
OF_JUDGE_CHECK = (*SLOW, "pydantic", "rapidfuzz", "scipy.cluster")
API = """
import pandas as pd, metassay
metassay.meta_eval(
    pd.read_csv("scores.csv"), pd.read_csv("ratings.csv"), resamples=20, permutations=20
)
"""
COMMAND = """
import sys
from metassay.cli.main import main
assert main({words}) == 0
"""


def words(line: str) -> str:
    return COMMAND.format(words=line.split())


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        (
            words(
                "meta-eval scores.csv ratings.csv --out results --resamples 20"
                " --permutations 20"
            ),
            SLOW,
        ),
        (words("judge-check verdicts.csv"), OF_JUDGE_CHECK),
        (API, (*SLOW, *PIPELINE)),
        # before it reads its tables
        ("import stages.meta_evaluate", (*SLOW, "rich.console")),
        ("import stages.report", (*SLOW, "rich.console")),
    ],
    ids=["meta-eval", "judge-check", "meta_eval", "meta_evaluate", "report"],
)
def test_only_what_is_used_is_imported(
    tmp_path: Path, program: str, unwanted: tuple[str, ...]
) -> None:
    # 13 documents: enough that groups of them are looked for
    scores, ratings = study(("alba", "brise", "carme"), 13)
    scores.to_csv(tmp_path / "scores.csv", index=False)
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    verdicts = [("fail", "fail"), *[("pass", "pass")] * 11, ("pass", "fail")] * 5
    table = pd.DataFrame(verdicts, columns=["judge", "human"])
    table.insert(0, "item", range(len(table)))
    table.to_csv(tmp_path / "verdicts.csv", index=False)
    shown = f"{program}\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", shown],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split("\n")[-2].split())
    assert "pandas" in loaded
    assert sorted(loaded & set(unwanted)) == []
