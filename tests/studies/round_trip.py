"""The way of docs/studies.md on a built sample: its commands, with simulated raters between."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from metassay.tables.certificates import CERTIFICATES
from metassay.tables.data_warnings import WARNINGS
from metassay.tables.parquet import read
from metassay.tables.ratings import RATINGS
from tests.studies.raters import fill_in

PAGE = Path(__file__).parents[2] / "docs/studies.md"
MANNERS = {"anna": "careful", "ben": "lenient", "carla": "careless"}


def study_to_certificate(project: Path, environment: Mapping[str, str]) -> None:
    """Export, fill in, import, run again: the careless rater is named, and metrics certified."""
    _, export, draw_next, _export_for_card, _check_card, import_back, again = (
        _commands()
    )
    printed = _run(export, project, environment)
    assert "KEEP studies/sample/pilot/key.json TO YOURSELF" in printed
    fill_in(project / "studies/sample/pilot", "vanilla_rating", MANNERS)
    printed = _run(import_back, project, environment)
    assert "240 ratings by 3 raters" in printed
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    seen = subprocess.run(
        status, cwd=project, capture_output=True, text=True, check=True
    ).stdout
    assert seen == "?? studies/sample/pilot/ratings.csv\n", (
        "no sheet, key or comment is for git"
    )
    _declare(project / "benchmarks/sample/params.yaml", printed)
    _draw_less(project / "params.yaml")
    _run([*again, "--no-prefect"], project, environment)
    tables = project / "data/tables/sample"
    ratings = read(RATINGS, tables / "ratings/pilot.parquet")
    assert ratings.groupby("rater").size().to_dict() == dict.fromkeys(MANNERS, 80)
    assert ratings.groupby("author").size().to_dict() == dict.fromkeys(
        set(ratings["author"]), 24
    )
    certificates = read(CERTIFICATES, tables / "certificates.parquet")
    pilot = certificates[certificates["criterion"] == "vanilla_rating"]
    assert set(pilot["study"]) == {"pilot"}
    assert "claim_recall" in set(pilot["metric"])
    rater_warnings = read(WARNINGS, tables / "warnings.parquet")
    rater_warnings = rater_warnings[
        (rater_warnings["kind"] == "raters") & (rater_warnings["study"] == "pilot")
    ]
    assert list(rater_warnings["criterion"]) == ["vanilla_rating"]
    assert rater_warnings["finding"].str.startswith("Rater carla agrees less").all()
    page = (project / "reports/sample/page/data/head.js").read_text("utf-8")
    assert "Rater carla agrees less" in page
    _run(draw_next, project, environment)
    key = json.loads((project / "studies/sample/next/key.json").read_text("utf-8"))
    assert key["drawn_by"], "the chances by which texts were drawn"


def _commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def _run(command: list[str], project: Path, environment: Mapping[str, str]) -> str:
    program, *rest = command
    assert program == "metassay"
    done = subprocess.run(
        [sys.executable, "-m", "metassay.cli", *rest],
        cwd=project,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def _draw_less(file: Path) -> None:
    """Fewer resamples and permutations, and two metrics against each other: enough for this."""
    params = yaml.safe_load(file.read_text("utf-8"))
    compared = ["claim_recall", "rouge1_fmeasure"]
    params["meta_evaluation"] |= {
        "resamples": 100,
        "permutations": 500,
        "compared": compared,
    }
    file.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")


def _declare(file: Path, printed: str) -> None:
    """Put the lines that import prints where it says that they belong."""
    lines = yaml.safe_load(printed[printed.index("studies:\n") :])
    params = yaml.safe_load(file.read_text("utf-8"))
    for name, block in lines.items():
        params[name] = params[name] | block
    file.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
