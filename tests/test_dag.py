"""dvc.yaml and the doorways say the same: what a stage declares is what it reads and writes.

A tiny project of two benchmarks and a test of each sort has an instance of every form
of stage. Each instance runs where nothing lies but what it declares.
"""

import contextlib
import hashlib
import importlib
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.params import AttackTest, Benchmark, Folder, JudgeTest, SegmentTest
from metassay.core.stages import files_in
from metassay.core.versions import FILE
from metassay.core.versions import read as read_versions
from metassay.datasets.fetch import FetchError
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.notes import NOTES as TABLE_OF_NOTES
from metassay.tables.parquet import empty, read
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from stages import declared, doorway
from stages.declared import Entry
from stages.doorway import BAD_INPUT, UNFINISHED, StageIO
from tests.dag_setup import (
    FORMS,
    FORMS_OF_ATTACKS,
    FORMS_OF_SEGMENTING,
    FORMS_OF_TESTS,
    PARAMS_OF_OURS,
    answer,
    make_project,
    write_yaml,
)
from tests.golden_outputs import COMMAND, WRITE, record, recorded
from tests.llm.scripted_server import ScriptedServer
from tests.locks import SAME_VERSION, unversioned_changes, value_at
from tests.stage_setup import KEY, ROOT, refresh_code

# ---- dvc.yaml --------------------------------------------------------------------------------


# In the order of the data, those of tests among the others.
EVERY_FORM = [
    "fetch",
    "ingest_items",
    *list(FORMS)[:-1],
    "examine",
    "compare_attacks",
    *list(FORMS_OF_SEGMENTING)[:-1],
    "report",
]
SORTS = ["benchmarks", "judge tests", "attack tests", "segment tests"]


@pytest.mark.parametrize(
    "forms",
    [FORMS, FORMS_OF_TESTS, FORMS_OF_ATTACKS, FORMS_OF_SEGMENTING],
    ids=SORTS,
)
def test_stages_stand_in_the_order_of_the_data(forms: dict[str, Any]) -> None:
    """What a stage reads of the tables, a stage before it has written."""
    tables = "data/tables/${name}/"
    written: set[str] = set()
    for name, entry in forms.items():
        form = entry.get("do", entry)
        folders = {Path(out).parent.as_posix() for out in written}
        needed = {dep for dep in form["deps"] if dep.startswith(tables)}
        assert needed <= written | folders, name
        written |= {out for out in form["outs"] if isinstance(out, str)}


@pytest.mark.parametrize(
    ("forms", "folder_type"),
    [
        (FORMS, Benchmark),
        (FORMS_OF_TESTS, JudgeTest),
        (FORMS_OF_ATTACKS, AttackTest),
        (FORMS_OF_SEGMENTING, SegmentTest),
    ],
)
def test_every_list_that_stages_repeat_over_is_one_of_a_benchmark(
    forms: dict[str, Any], folder_type: type[Folder]
) -> None:
    lists = {entry["foreach"] for entry in forms.values() if "foreach" in entry}
    assert lists
    assert lists <= {f"${{{name}}}" for name in folder_type.model_fields}


def test_a_table_of_several_stages_has_a_file_of_each_as_the_data_goes() -> None:
    lists = {
        "systems": ["a"],
        "few_shot": {"b": "x"},
        "studies": {"s": "f"},
        "questions": ["q"],
        "rubrics": ["r"],
        "judges": ["j"],
        "costly_metrics": ["m"],
        "statement_metrics": ["s"],
        "tuned_metrics": {"t": "x"},
        "tuned_costly_metrics": {"n": "x"},
    }
    benchmark = PARAMS_OF_OURS.benchmarks["sample"].model_copy(update=lists)
    asking = ["generate-a", "generate-b", "segment", "decompose", "judge-j"]
    for table, files in {
        "texts": ["given", "a", "b"],
        "ratings": ["given", "s"],
        "criteria": ["given", "r"],
        "pairs": ["given", "q", "rubric-r"],
        "judgments": ["given", "j"],
        "measurements": ["given", "metrics", "m", "n", "statements-s", "statements-t"],
        "statement_scores": ["s", "t", "judged"],
        "responses": asking,
        "notes": [
            "ingest",
            "generate-a",
            "generate-b",
            "ingest_study-s",
            "segment",
            "decompose",
            "align-rouge_topk",
            "judge-j",
            "measure",
            "measure-m",
            "measure-n",
            "score_statements-s",
            "score_statements-t",
            "meta_evaluate",
        ],
    }.items():
        assert files_in(benchmark, table) == files
    test = PARAMS_OF_OURS.judge_tests["wice_dev"].model_copy(update={"judges": ["j"]})
    assert files_in(test, "responses") == ["given", "judge-j"]
    assert files_in(test, "notes") == ["ingest_items", "judge-j", "examine"]
    other = PARAMS_OF_OURS.segment_tests["sample_facets"]
    other = other.model_copy(update={"segmentations": ["s"]})
    assert files_in(other, "responses") == ["segment-s"]
    assert files_in(other, "notes") == [
        "ingest_sentences",
        "segment-s",
        "examine_segmentations",
    ]


# ---- a tiny project --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(answer) as running:
        yield running


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, server: ScriptedServer) -> Path:
    """Nothing is built in it."""
    return make_project(tmp_path_factory.mktemp("dag") / "project", server.base_url)


# ---- what DVC makes of dvc.yaml --------------------------------------------------------------

Resolved = dict[str, tuple[str, frozenset[str], frozenset[str], dict[str, set[str]]]]


def by_dvc(root: Path, *files: str) -> Resolved:
    """Stages by address: command, deps, outs, params by file; of these dvc.yaml, or of all."""
    from dvc.dependency import ParamsDependency
    from dvc.repo import Repo

    with contextlib.chdir(root), Repo() as repo:
        stages: Resolved = {}
        chosen = [stage for file in files for stage in repo.stage.load_all(file)]
        for stage in chosen or repo.index.stages:
            read = [dep for dep in stage.deps if isinstance(dep, ParamsDependency)]
            stages[stage.addressing.removeprefix("dvc.yaml:")] = (
                stage.cmd,
                frozenset(dep.def_path for dep in stage.deps if dep not in read),
                frozenset(out.def_path for out in stage.outs),
                {dep.def_path: set(dep.params) for dep in read},
            )
    return stages


# One of each sort: that all have the same stages is tested above.
OURS = [
    "dvc.yaml",
    *(f"benchmarks/{name}/dvc.yaml" for name in ("sample", "sample_facets")),
]
OURS += [f"benchmarks/{name}/dvc.yaml" for name in ("aci_bench", "sample_claims")]
OURS += ["benchmarks/attacks_facts/dvc.yaml"]


@pytest.mark.parametrize("files", [OURS, []], ids=["ours", "invented"])
def test_declared_is_what_dvc_resolves(files: list[str], project: Path) -> None:
    root = ROOT if files else project
    for address, (cmd, deps, outs, keys) in by_dvc(root, *files).items():
        entry = entry_of(root, cmd)
        assert entry.name == address.rpartition(":")[2]
        assert (entry.deps, entry.outs) == (deps, outs), address
        assert {file: set(names) for file, names in entry.params.items()} == keys, (
            address
        )


def entry_of(root: Path, cmd: str) -> Entry:
    module, *arguments = shlex.split(cmd.removeprefix("python -m "))
    with contextlib.chdir(root):
        return declared.find_entry(module.removeprefix("stages."), arguments)


# ---- what doorways read and write ------------------------------------------------------------


class Ran(NamedTuple):
    """An instance that was run alone: what it says that it used, and the files that it wrote.

    With the hashes of what it read and wrote, and the versions that it was run under.
    """

    entry: Entry
    used: set[str | tuple[str, str]]
    wrote: set[str]
    read_hashes: dict[str, str]
    written_hashes: dict[str, str]
    versions: dict[str, Any]


CONFIGURATION = (
    "params.yaml",
    "dvc.yaml",
    FILE,
    "data/registry.yaml",
    "benchmarks",
    "prompts",
)


@pytest.fixture(scope="module")
def ran(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Ran]]:
    """Every instance of the tiny project by its address, each run in a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY, "k")
        patch.setenv("METASSAY_MIRROR", str(project / "mirror"))
        home = Path(shutil.copytree(project, tmp_path_factory.mktemp("ran") / "home"))
        resolved = sorted(
            by_dvc(project).items(), key=lambda item: EVERY_FORM.index(form_of(item[0]))
        )
        yield {address: run_alone(patch, home, cmd) for address, (cmd, *_) in resolved}


def form_of(address: str) -> str:
    return address.rpartition(":")[2].partition("@")[0]


def run_alone(patch: pytest.MonkeyPatch, home: Path, cmd: str) -> Ran:
    """Run an instance where only what it declares lies, then take home what it has written."""
    entry = entry_of(home, cmd)
    room = home.with_name("room")
    for name in (*CONFIGURATION, "lab", *entry.deps):
        copy(home / name, room / name)
    before = files_below(room)
    read_hashes = {dep: hash_of(room / dep) for dep in entry.deps}
    io = run(patch, room, cmd)
    wrote = files_below(room) - before
    written_hashes = {out: hash_of(room / out) for out in entry.outs}
    versions = read_versions(room)
    for name in wrote:
        copy(room / name, home / name)
    shutil.rmtree(room)
    return Ran(entry, io.used, wrote, read_hashes, written_hashes, versions)


def hash_of(path: Path) -> str:
    """The MD5 of a file, or of the files of a folder and their names."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    digest = hashlib.md5(usedforsecurity=False)
    for file in files:
        if file.is_file():
            digest.update(file.relative_to(path.parent).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, to)
    else:
        shutil.copy(path, to)


def files_below(room: Path) -> set[str]:
    """All but what is kept of the code, answers and locks."""
    files = {file.relative_to(room) for file in room.rglob("*") if file.is_file()}
    return {file.as_posix() for file in files if file.parts[0] != ".work"}


def run(patch: pytest.MonkeyPatch, room: Path, cmd: str) -> StageIO:
    """Run a command of dvc.yaml in this process; what its doorway was handed."""
    module, *arguments = shlex.split(cmd.removeprefix("python -m "))
    main = importlib.import_module(module).main
    handed: list[StageIO] = []

    def keep_and_run(io: StageIO) -> None:
        handed.append(io)
        main(io)

    patch.setattr(sys, "argv", [f"{module.removeprefix('stages.')}.py", *arguments])
    with contextlib.chdir(room):
        doorway.enter(keep_and_run)
    return handed[0]


def test_every_form_of_stage_is_run(ran: Mapping[str, Ran]) -> None:
    assert {form_of(address) for address in ran} == {*EVERY_FORM}


@pytest.mark.parametrize("form", EVERY_FORM)
def test_a_doorway_reads_and_writes_what_dvc_yaml_declares(
    form: str, ran: Mapping[str, Ran]
) -> None:
    """The code's versions are read by who checks them, not by the doorway."""
    for address in ran:
        if form_of(address) == form:
            entry, used, wrote, *_ = ran[address]
            keys = {
                (file, key)
                for file, of in entry.params.items()
                for key in of
                if file != FILE
            }
            assert used - keys - entry.deps - entry.outs == set(), (
                f"{address}: not declared"
            )
            assert (keys | entry.deps | entry.outs) - used == set(), (
                f"{address}: not used"
            )
            written = {
                out
                for out in entry.outs
                for file in wrote
                if Path(file).is_relative_to(out)
            }
            assert written == entry.outs, f"{address}: not written"
            assert all(
                any(Path(f).is_relative_to(o) for o in entry.outs) for f in wrote
            )


def test_every_stage_writes_what_its_version_promises(ran: Mapping[str, Ran]) -> None:
    """What is fetched is checked by its hash, so nothing of that is recorded."""
    now = {
        address: lock_entry(its)
        for address, its in ran.items()
        if form_of(address) != "fetch"
    }
    before = recorded("stages")
    changes = list(unversioned_changes("the tiny project", before, now, COMMAND))
    if WRITE:
        assert [line for line in changes if SAME_VERSION in line] == []
        record("stages", now)
    else:
        assert changes == []
        assert before.keys() == now.keys()


def lock_entry(ran: Ran) -> dict[str, Any]:
    """An instance as a dvc.lock has it, with the versions alone."""
    sides = {"deps": ran.read_hashes, "outs": ran.written_hashes}
    entry: dict[str, Any] = {
        side: [{"path": path, "md5": md5} for path, md5 in sorted(hashes.items())]
        for side, hashes in sides.items()
    }
    watched = ran.entry.params[str(FILE)]
    versions = {key: plain_version(value_at(ran.versions, key)) for key in watched}
    return {**entry, "params": {str(FILE): versions}}


def plain_version(version: Any) -> Any:
    """The version of a kind, without the model and prompts of this project."""
    return version["version"] if isinstance(version, dict) else version


def test_only_permissions_are_read_beside_what_is_declared() -> None:
    """Doorways have what they were handed; stages/declared.py says what else they may ask."""
    beside = re.compile(
        r"strict_yaml|load_registry|parquet\.read|read_table|\bopen\(|read_text"
    )
    files = (ROOT / "stages").glob("*.py")
    reading = {
        file.stem for file in files if beside.search(file.read_text(encoding="utf-8"))
    }
    assert reading == {"declared", "doorway"}


# ---- where they differ -----------------------------------------------------------------------


@pytest.fixture
def copied(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the tiny project to change, and the working folder."""
    root = Path(shutil.copytree(project, tmp_path / "project"))
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda io: io.param("judges"), "benchmarks/one/params.yaml: judges"),
        (lambda io: io.shared("aggregation"), "params.yaml: aggregation"),
        (lambda io: io.dataset("ward"), "data/registry.yaml: datasets.ward"),
        (lambda io: io.read(UNITS), "data/tables/one/units.parquet"),
        (lambda io: io.read_each(JUDGMENTS), "data/tables/one/judgments"),
        (lambda io: io.write(PARTS, empty(PARTS)), "data/tables/one/parts.parquet"),
        (lambda io: io.path("data/raw/ward"), "data/raw/ward"),
    ],
)
def test_a_doorway_that_asks_for_what_is_not_declared_stops(
    copied: Path, ask: Callable[[StageIO], object], named: str
) -> None:
    entry = entry_of(copied, "python -m stages.generate one lead")
    with pytest.raises(
        RuntimeError, match=r"generate@lead: dvc\.yaml does not declare"
    ) as stopped:
        ask(StageIO(entry, ["one", "lead"]))
    assert str(stopped.value).endswith(named)


def test_a_command_that_no_dvc_yaml_has_is_refused(copied: Path) -> None:
    with pytest.raises(BadInput, match=r"no dvc\.yaml has the command"):
        entry_of(copied, "python -m stages.judge one nobody")


def test_a_stage_of_which_dvc_yaml_says_something_else_is_refused(copied: Path) -> None:
    """But for `meta`, which is for who runs it, and the order of lists; an update writes it."""
    file = copied / "benchmarks/one/dvc.yaml"
    whole = yaml.safe_load(file.read_text("utf-8"))
    whole["stages"]["align"]["do"] |= {"meta": {"retries": 9}}
    whole["stages"]["align"]["do"]["deps"].reverse()
    whole["stages"]["segment"]["deps"].pop()
    write_yaml(file, whole)
    assert (
        entry_of(copied, "python -m stages.align one rouge_topk").name
        == "align@rouge_topk"
    )
    with pytest.raises(
        BadInput, match=r"dvc.yaml > stages > segment: is not what this version"
    ):
        entry_of(copied, "python -m stages.segment one")
    refresh_code(copied)
    assert entry_of(copied, "python -m stages.segment one").name == "segment"
    after = yaml.safe_load(file.read_text("utf-8"))["stages"]
    assert after["align"]["do"]["meta"] == {"retries": 9}
    owners = {"stages": {"align": {"cmd": "cp a b", "deps": ["a"], "outs": ["b"]}}}
    write_yaml(file, owners)
    refresh_code(copied)
    assert yaml.safe_load(file.read_text("utf-8")) == owners, "its owner's"


def test_the_file_of_a_name_that_was_struck_off_is_set_aside(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("METASSAY_MIRROR", str(copied / "mirror"))
    stages = [
        "fetch notes",
        "ingest two",
        "generate two lead",
        "generate two longest_turn",
    ]
    for stage in stages:
        run(monkeypatch, copied, f"python -m stages.{stage}")
    texts = copied / "data/tables/two/texts"
    segment = "python -m stages.segment two"
    whole = authors_after(monkeypatch, copied, segment)
    assert {"lead", "longest_turn"} <= whole
    capsys.readouterr()

    left = (texts / "longest_turn.parquet").read_bytes()
    settings_file = copied / "benchmarks/two/params.yaml"
    write_yaml(
        settings_file,
        yaml.safe_load(settings_file.read_text(encoding="utf-8"))
        | {"systems": ["lead"]},
    )
    refresh_code(copied)
    assert authors_after(monkeypatch, copied, segment) == whole - {"longest_turn"}
    assert [file.name for file in sorted(texts.iterdir())] == [
        "given.parquet",
        "lead.parquet",
    ]
    aside = ".work/left_over/two/texts/longest_turn.parquet"
    assert (copied / aside).read_bytes() == left
    assert capsys.readouterr().err == (
        "note: data/tables/two/texts/longest_turn.parquet is of nothing that"
        f" benchmarks/two/params.yaml names; it is now {aside}\n"
    )


def test_what_a_stage_notes_is_kept_and_said_at_once(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of these notes one has a citation past the end."""
    monkeypatch.setenv("METASSAY_MIRROR", str(copied / "mirror"))
    run(monkeypatch, copied, "python -m stages.fetch notes")
    capsys.readouterr()
    run(monkeypatch, copied, "python -m stages.ingest one")
    notes = read(TABLE_OF_NOTES, copied / "data/tables/one/notes/ingest.parquet")
    (note,) = notes["note"]
    assert "a citation names a passage that does not exist" in note
    assert capsys.readouterr().err == f"note: {note}\n"
    io = StageIO(entry_of(copied, "python -m stages.aggregate one"), ["one"])
    with pytest.raises(
        RuntimeError, match=r"aggregate: dvc\.yaml does not declare its notes"
    ):
        io.note(["nothing"])


def authors_after(patch: pytest.MonkeyPatch, root: Path, cmd: str) -> set[str]:
    """Whose texts are divided by then."""
    run(patch, root, cmd)
    return set(read(PARTS, root / "data/tables/two/parts.parquet")["author"])


def test_a_stage_under_stale_versions_is_refused(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing but what the stage is declared to run counts."""
    versions = yaml.safe_load((copied / FILE).read_text(encoding="utf-8"))
    versions["stages"] |= {"align": 0, "report": 0}
    versions["alignments"] = {}
    write_yaml(copied / FILE, versions)
    monkeypatch.setattr(sys, "argv", ["align.py", "one", "rouge_topk"])
    with pytest.raises(SystemExit) as ended:
        doorway.enter(lambda _: pytest.fail("the doorway was entered"))
    assert ended.value.code == BAD_INPUT
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(
        "versions.yaml, line 3 > stages > align: is not the version here;"
    )
    assert re.match(
        r"versions\.yaml, line \d+ > alignments > rouge_topk: is missing;", second
    )
    assert "`metassay update`" in first
    assert "`metassay update`" in second


def test_a_network_that_fails_is_one_line_and_may_be_tried_again(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise FetchError("notes: texts.jsonl: ConnectionError; try again")

    monkeypatch.setattr("stages.fetch.fetch", failing)
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, copied, "python -m stages.fetch notes")
    assert ended.value.code == UNFINISHED
    assert capsys.readouterr().err == "notes: texts.jsonl: ConnectionError; try again\n"
