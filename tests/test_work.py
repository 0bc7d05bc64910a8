"""What other users of the machine may read and write of a project."""

import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml

from flows import dag
from flows.recovery import lock_project
from flows.workers import Workers
from metassay.cli.main import main
from metassay.core.work import restrict_work
from metassay.datasets.registry import is_closed, load_registry
from metassay.llm.ledger import Ledger
from metassay.llm.session import LEDGER
from speed.dag import build
from tests.stage_setup import run_stage, tiny_project
from tests.support.invented_project import change

NOWHERE = "http://127.0.0.1:1/v1"
OTHER = 65534  # nobody, by name
AS_ANOTHER = pytest.mark.skipif(
    os.getuid() != 0, reason="only root can try it as another user"
)
TRIES = """
for path in "$@"; do
    cat "$path" > /dev/null && echo "read $path"
    cp /dev/null "$path" && echo "emptied $path"
    touch "$path/new" && echo "wrote into $path"
    mv "$path" "$path.away" && echo "moved $path"
    find "$path" -mindepth 1 -readable
done 2> /dev/null
true
"""


@pytest.fixture(autouse=True)
def _umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def shared():
    """A folder that all users of this machine may enter, as pytest's own are not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def built(root: Path) -> None:
    """Bring raw files and the first tables up to date, as a run does."""
    shutil.rmtree(root / "data/raw", ignore_errors=True)
    shutil.rmtree(root / "data/tables", ignore_errors=True)
    with lock_project(root) as locks:
        plan, workers = dag.plan(root, ["b00"]), Workers(root, locks)
        for address, stage in plan.stages.items():
            if stage.dvc_name in ("fetch@d", "ingest"):
                assert address in plan.stale
                workers.run(stage)
        workers.close()


def tried(*paths: Path) -> list[str]:
    """What another user could do with these, as lines."""
    return subprocess.run(
        ["sh", "-c", TRIES, "sh", *map(str, paths)],
        user=OTHER,
        group=OTHER,
        extra_groups=[],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()


@AS_ANOTHER
@pytest.mark.slow
def test_another_user_can_neither_read_nor_replace_what_is_not_public(shared):
    """Nor what `.work` and DVC's cache have, whatever it is of."""
    root = shared / "project"
    build(root)
    with Ledger(root / LEDGER):
        pass
    tables, raw, cache = (
        root / "data/tables/b00",
        root / "data/raw/d",
        root / ".dvc/cache",
    )
    built(root)
    public = (tables / "sources.parquet", raw / "file")
    assert tried(*public) == [f"read {path}" for path in public]
    cached = next(path for path in (cache / "files").rglob("*") if path.is_file())
    links = next((root / ".work/dvc/repo").iterdir())
    closed = [root / LEDGER, cached, links, cache, *links.parents[:2], root / ".work"]
    assert tried(*closed) == []

    change(root / "data/registry.yaml", "datasets.d.access", "private")
    built(root)
    theirs = [tables / "sources.parquet", tables / "texts/given.parquet", raw / "file"]
    assert {mode(path) for path in theirs} == {0o600}
    assert {mode(raw), mode(tables / "texts")} == {0o700}
    assert tried(*theirs, *closed, tables, raw) == []
    assert mode(root / "data/tables") == 0o755, "what else is there may be public"


def test_what_others_put_where_dvc_unpickles_goes(shared):
    repo = shared / ".work/dvc/repo"
    for name in ("ours", "theirs"):
        (repo / name).mkdir(parents=True)
    for path in (shared / ".work", repo.parent, repo):
        path.chmod(0o777)  # as plain DVC makes them
    if os.getuid() == 0:
        os.chown(repo / "theirs", OTHER, OTHER)
    restrict_work(shared)
    assert {mode(path) for path in (shared / ".work", repo.parent, repo)} == {0o700}
    assert (repo / "ours").exists()
    assert (repo / "theirs").exists() == (os.getuid() != 0)


@pytest.mark.parametrize(
    ("config", "expected"),
    [("", 0o700), ("[cache]\n  shared = group", 0o775), ("no UTF-8: \udc9f", 0o700)],
)
def test_the_cache_is_its_owners_unless_dvc_is_told_to_share_it(
    tmp_path, config, expected
):
    (tmp_path / ".dvc/cache").mkdir(parents=True)
    (tmp_path / ".dvc/cache").chmod(0o775)
    (tmp_path / ".dvc/config").write_text(config, "utf-8", "surrogateescape")
    restrict_work(tmp_path)
    assert mode(tmp_path / ".dvc/cache") == expected


@pytest.mark.parametrize(
    ("access", "file", "folder"), [("private", 0o600, 0o700), ("public", 0o644, 0o755)]
)
def test_a_stage_leaves_others_nothing_of_what_is_not_public(
    tmp_path, monkeypatch, access, file, folder
):
    lead = {"kind": "lead", "passages": 2}
    root = tiny_project(tmp_path, NOWHERE, ["A."], system=lead, access={"one": access})
    (root / "reports/one").mkdir(parents=True)  # of before
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    texts = root / "data/tables/one/texts"
    assert (mode(texts / "writer.parquet"), mode(texts)) == (file, folder)
    assert {mode(root / name) for name in ("data/tables/one", "reports/one")} == {
        folder
    }
    assert mode(root / ".work") == 0o700
    assert os.umask(0o022) == 0o022, "nothing else is hidden"


def test_what_the_ledger_exports_is_its_owners_alone(tmp_path, monkeypatch, capfd):
    """It has prompts, whosever text they quote; to stdout it goes alone."""
    monkeypatch.chdir(tmp_path)
    assert main(["ledger", "export", "answers.parquet"]) == 0
    assert mode(tmp_path / "answers.parquet") == 0o600
    assert capfd.readouterr().out.startswith("answers.parquet: 0 answers")
    with (tmp_path / "piped").open("wb") as piped:
        out = os.dup(1)
        os.dup2(piped.fileno(), 1)
        code = main(["ledger", "export", "-"])
        os.dup2(out, 1)
        os.close(out)
    assert code == 0
    assert (tmp_path / "piped").read_bytes() == (
        tmp_path / "answers.parquet"
    ).read_bytes()


CLAIMS = {"released_claims": {"apart": "data/raw/shown/deep"}, "decompositions": []}


@pytest.mark.parametrize(
    ("access", "changes", "expected"),
    [
        ("public", {}, False),
        ("credentialed", {}, True),
        ("public", {"systems": [], "few_shot": {"writer": "data/raw"}}, True),
        ("public", CLAIMS, True),
    ],
)
def test_what_may_repeat_a_text_that_is_not_public_is_closed(
    tmp_path, monkeypatch, access, changes, expected
):
    classes = {"one": access, "shown": "private"}
    root = tiny_project(tmp_path, NOWHERE, ["A."], access=classes)
    monkeypatch.chdir(root)
    file = root / "benchmarks/one/params.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8")) | changes
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    datasets = load_registry()
    assert is_closed("one", datasets) is expected
    assert is_closed("shown", datasets), "a dataset"
    assert not is_closed("doclens", datasets), "neither"
