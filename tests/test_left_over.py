"""What was struck off a benchmark is nowhere: its tables are those of one that never had it."""

import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.cli.main import main
from stages.doorway import WORK
from tests.dag_setup import answer, make_project, write_yaml
from tests.llm.scripted_server import ScriptedServer
from tests.stage_setup import KEY, refresh_code, run_stage

SETTINGS = Path("benchmarks/one/params.yaml")
MORE = {
    "systems": ["lead", "longest_turn"],
    "decompositions": [],
    "rubrics": ["vanilla"],
    "questions": ["all", "precision"],
    "judges": ["lexical", "strict"],
    "metrics": ["lengths", "extractiveness"],
    "costly_metrics": ["edit_distance"],
    "few_shot": {"writer": "data/raw/ward"},
    "released_claims": {"doclens_claims": "data/raw/doclens_aci_claims"},
    "studies": {"pilot": "studies/one/pilot/ratings.csv"},
}
LESS = {
    "systems": ["first"],
    "decompositions": ["clauses"],
    "questions": ["all"],
    "judges": ["lexical"],
    "metrics": ["lengths"],
    "rubrics": [],
    "costly_metrics": [],
    "few_shot": {},
    "released_claims": {},
    "studies": {},
}
GONE = (
    "longest_turn",
    "writer",
    "strict",
    "claim_precision",
    "edit_distance",
    "vanilla_rating",
    "pilot",
)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv(KEY, "k")


@pytest.fixture(scope="module")
def server():
    with ScriptedServer(answer) as running:
        yield running


@pytest.fixture(scope="module")
def bare(tmp_path_factory, server):
    """A project of which nothing is built, and which knows all blocks of both lists."""
    root = make_project(tmp_path_factory.mktemp("left") / "project", server.base_url)
    with edited(root / "params.yaml") as params:
        params["judges"]["strict"] = params["judges"]["lexical"] | {"threshold": 0.9}
        whole = params["questions"]["all"]
        params["questions"]["precision"] = whole | {"measures": ["claim_precision"]}
        # the same under another name
        params["systems"]["first"] = params["systems"]["lead"]
    return root


@contextlib.contextmanager
def edited(file: Path) -> Iterator[dict[str, Any]]:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    yield content
    write_yaml(file, content)


def name(root: Path, lists: dict[str, Any]) -> None:
    with edited(root / SETTINGS) as settings:
        settings.update(lists)
    refresh_code(root)


def build(
    patch: pytest.MonkeyPatch, root: Path, *, last: str = "meta_evaluate"
) -> None:
    """Every stage of the benchmark, up to the last that is wanted."""
    lists = yaml.safe_load((root / SETTINGS).read_text(encoding="utf-8"))
    stages = {  # by the lists of what they repeat over
        "ingest": "",
        "generate": "systems few_shot",
        "ingest_study": "studies",
        "segment": "",
        "decompose": "decompositions released_claims",
        "align": "alignments",
        "pair": "questions",
        "pair_rubric": "rubrics",
        "judge": "judges",
        "measure": "costly_metrics tuned_costly_metrics",
        "score_statements": "statement_metrics tuned_metrics",
        **dict.fromkeys(("aggregate", "meta_evaluate", "certify", "report"), ""),
    }
    for stage, keys in stages.items():
        alone = [""] if not keys or stage == "measure" else []
        for item in [*alone, *(name for key in keys.split() for name in lists[key])]:
            assert run_stage(patch, root, stage, item) == 0, (stage, item)
        if stage == last:
            return


def built(root: Path) -> dict[str, bytes]:
    """All tables, and the report, by path."""
    files = [*root.glob("data/tables/one/**/*"), *root.glob("reports/one/**/*")]
    return {str(f.relative_to(root)): f.read_bytes() for f in files if f.is_file()}


@pytest.fixture
def more(bare, tmp_path, monkeypatch):
    """A project in which everything is named and built."""
    root = Path(shutil.copytree(bare, tmp_path / "more"))
    shutil.copytree(root / "mirror/notes", root / "data/raw/notes")
    name(root, MORE)
    build(monkeypatch, root, last="aggregate")
    return root


@pytest.mark.slow  # every stage, three times: any of them might read what is left over
def test_all_that_can_be_struck_off_leaves_the_tables_of_a_project_without_it(
    more, bare, server, tmp_path, monkeypatch
):
    """Systems, one renamed and one with examples, a judge, questions, metrics, released claims."""
    full = built(more)
    less = Path(shutil.copytree(bare, tmp_path / "less"))
    shutil.copytree(less / "mirror/notes", less / "data/raw/notes")
    for root in (less, more):
        name(root, LESS)
        build(monkeypatch, root, last="certify")
    stale = built(more)
    assert run_stage(monkeypatch, more, "report") == 0
    shown = {
        path: data for path, data in built(more).items() if path.startswith("reports")
    }
    assert any(path.endswith("index.html") for path in shown)
    report = b"".join([*shown.values(), *map(str.encode, shown)])
    # The list of a text's claims is called that, whether or not anybody is asked about
    # them.
    report = report.replace(b'"id":"claim_precision"', b"")
    assert not [gone for gone in GONE if gone.encode() in report]
    # by report
    assert {path for path in stale if "responses/" in path} - built(more).keys()
    assert {
        path: data for path, data in built(more).items() if path not in shown
    } == built(less)
    # Put back, everything is as it was, and nobody was asked a second time.
    name(more, MORE)
    build(monkeypatch, more, last="aggregate")
    assert {path: data for path, data in built(more).items() if path in full} == full
    assert set(server.requests.values()) == {1}
    aside = {file.name for file in (more / WORK / "left_over/one").rglob("*.parquet")}
    assert aside >= {
        "longest_turn.parquet",
        "writer.parquet",
        "strict.parquet",
        "first.parquet",
    }


def test_a_benchmark_that_is_gone_is_nobody_s_though_its_tables_and_report_are_there(
    bare, tmp_path, monkeypatch, capsys
):
    root = Path(shutil.copytree(bare, tmp_path / "project"))
    monkeypatch.chdir(root)
    for place in ("data/tables/two", "reports/two"):
        (root / place).mkdir(parents=True)
    (root / "reports/two/index.html").write_text("<p>old</p>", encoding="utf-8")
    shutil.rmtree(root / "benchmarks/two")
    assert main(["list"]) == 0
    assert not re.findall(r"\btwo\b", capsys.readouterr().out)
    for command in (["run"], ["ledger", "cost"]):
        assert main([*command, "two"]) == 2
        assert "no 'two'; there are:" in capsys.readouterr().err
