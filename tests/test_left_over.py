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

OWN = Path("benchmarks/one/params.yaml")
MORE = {
    "systems": ["lead", "longest_turn"],
    "few_shot": {"writer": "data/raw/ward"},
    "decompositions": [],
    "released_claims": {"doclens_claims": "data/raw/doclens_aci_claims"},
    "studies": {"pilot": "studies/one/pilot/ratings.csv"},
    "questions": ["all", "precision"],
    "rubrics": ["vanilla"],
    "judges": ["lexical", "strict"],
    "metrics": ["lengths", "extractiveness"],
    "costly_metrics": ["edit_distance"],
}
LESS = {
    "systems": ["first"],
    "few_shot": {},
    "decompositions": ["clauses"],
    "released_claims": {},
    "studies": {},
    "questions": ["all"],
    "rubrics": [],
    "judges": ["lexical"],
    "metrics": ["lengths"],
    "costly_metrics": [],
}
GONE = (
    *("longest_turn", "writer", "strict", "claim_precision", "edit_distance"),
    *("vanilla_rating", "pilot"),
)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "k")


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(answer) as running:
        yield running


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, server: ScriptedServer) -> Path:
    """A project of which nothing is built, and which knows all blocks of both lists."""
    root = make_project(tmp_path_factory.mktemp("left") / "project", server.base_url)
    with edited(root / "params.yaml") as params:
        params["judges"]["strict"] = params["judges"]["lexical"] | {"threshold": 0.9}
        asked = params["questions"]["all"]
        params["questions"]["precision"] = asked | {"measures": ["claim_precision"]}
        params["systems"]["first"] = params["systems"]["lead"]  # the same under another name
    return root


@contextlib.contextmanager
def edited(file: Path) -> Iterator[dict[str, Any]]:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    yield content
    write_yaml(file, content)


def name(root: Path, lists: dict[str, Any]) -> None:
    with edited(root / OWN) as own:
        own.update(lists)
    refresh_code(root)


def build(patch: pytest.MonkeyPatch, root: Path, *, last: str = "meta_evaluate") -> None:
    """Every stage of the benchmark, up to the last that is wanted."""
    own = yaml.safe_load((root / OWN).read_text(encoding="utf-8"))
    fanned = {
        "generate": [*own["systems"], *own["few_shot"]],
        "decompose": [*own["decompositions"], *own["released_claims"]],
        "ingest_study": list(own["studies"]),
        "align": own["alignments"],
        "pair": own["questions"],
        "pair_rubric": own["rubrics"],
        "judge": own["judges"],
        "measure": ["", *own["costly_metrics"], *own["tuned_costly_metrics"]],
        "score_statements": [*own["statement_metrics"], *own["tuned_metrics"]],
    }
    writing = "ingest generate ingest_study segment decompose align"
    scoring = (
        "pair pair_rubric judge measure score_statements aggregate meta_evaluate certify report"
    )
    for stage in f"{writing} {scoring}".split():
        for item in fanned.get(stage, [""]):
            assert run_stage(patch, root, stage, item) == 0, (stage, item)
        if stage == last:
            return


def built(root: Path) -> dict[str, bytes]:
    """All tables, and the report, by path."""
    files = [*root.glob("data/tables/one/**/*"), *root.glob("reports/one/**/*")]
    return {str(f.relative_to(root)): f.read_bytes() for f in files if f.is_file()}


@pytest.fixture
def more(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which everything is named and built."""
    root = Path(shutil.copytree(bare, tmp_path / "more"))
    raw = root / "data/raw/notes"
    shutil.copytree(root / "mirror/notes", raw)
    name(root, MORE)
    build(monkeypatch, root, last="aggregate")
    return root


@pytest.mark.slow  # every stage, three times: any of them might read what is left over
def test_all_that_can_be_struck_off_leaves_the_tables_of_a_project_without_it(
    more: Path, bare: Path, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems, one renamed and one with examples, a judge, questions, metrics, released claims."""
    full = built(more)
    less = Path(shutil.copytree(bare, tmp_path / "less"))
    shutil.copytree(less / "mirror/notes", less / "data/raw/notes")
    for root in (less, more):
        name(root, LESS)
        build(monkeypatch, root, last="certify")
    stale = built(more)
    assert run_stage(monkeypatch, more, "report") == 0
    shown = {path: data for path, data in built(more).items() if path.startswith("reports")}
    assert any(path.endswith("index.html") for path in shown)
    said = b"".join([*shown.values(), *map(str.encode, shown)])
    # The list of a text's claims is called that, whether or not anybody is asked about them.
    said = said.replace(b'"id":"claim_precision"', b"")
    assert not [gone for gone in GONE if gone.encode() in said]
    assert {path for path in stale if "responses/" in path} - built(more).keys()  # by report
    assert {path: data for path, data in built(more).items() if path not in shown} == built(less)
    # Put back, everything is as it was, and nobody was asked a second time.
    name(more, MORE)
    build(monkeypatch, more, last="aggregate")
    assert {path: data for path, data in built(more).items() if path in full} == full
    assert set(server.requests.values()) == {1}
    aside = {file.name for file in (more / WORK / "left_over/one").rglob("*.parquet")}
    assert aside >= {"longest_turn.parquet", "writer.parquet", "strict.parquet", "first.parquet"}


def test_a_benchmark_that_is_gone_is_nobody_s_though_its_tables_and_report_are_there(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
