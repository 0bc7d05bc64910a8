"""`metassay compare` in a project: what it prints and writes, how it ends, and what it refuses."""

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from metassay.cli.main import main
from metassay.tracking.comparison import words
from metassay.tracking.comparison.differences import ComparisonOptions, compare
from tests.tracking.comparison.states import ROOT, TABLES, Project, scores, side

Said = pytest.CaptureFixture[str]


def ended(said: Said, *words: str) -> tuple[int, str, str]:
    """The exit code, and what was printed to both streams."""
    said.readouterr()
    try:
        code = main(["compare", *words])
    except SystemExit as error:
        code = int(error.code or 0)
    out, err = said.readouterr()
    return code, out, err


@pytest.fixture
def two(made: Project) -> Project:
    """`base`, and `worse` in which one system lost; the latter is what is here."""
    made.state("base", scores())
    made.state("worse", scores(lead=-0.05))
    return made


def test_a_regression_is_told_and_ends_with_its_own_code(two: Project, capsys: Said) -> None:
    code, out, err = ended(capsys, "--before", "base")
    assert code == 4
    assert err == "regressed: sample\n"
    assert "sample: base -> here: 1 regressed, 5 same numbers" in out
    assert "rouge1" in out
    assert "documents behind regressions: d0" in out
    code, out, _ = ended(capsys, "--before", "worse", "--after", "base")
    assert (code, "1 improved" in out) == (0, True)


def test_folders_of_tables_need_neither_git_nor_dvc(
    two: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    for branch in ("base", "worse"):
        two.git("checkout", "-q", branch)
        lock = yaml.safe_load(two.lock.read_text(encoding="utf-8"))
        made = {out["path"]: out["md5"] for s in lock["stages"].values() for out in s["outs"]}
        for name in ("scores", "leaderboard"):
            md5 = made[f"{TABLES}/{name}.parquet"]
            (tmp_path / branch).mkdir(exist_ok=True)
            cached = two.root / ".dvc/cache/files/md5" / md5[:2] / md5[2:]
            shutil.copy(cached, tmp_path / branch / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    code, out, _ = ended(capsys, "--before", "base/", "--after", "./worse")
    assert (code, "1 regressed" in out) == (4, True)
    assert "The cause is unknown: a state has no dvc.lock" in out
    assert "has no scores.parquet" in ended(capsys, "--before", "base", "--after", "project")[2]
    assert "in no git repository" in ended(capsys, "--before", "base", "--after", "main")[2]
    assert "same state" in ended(capsys, "--before", "base", "--after", "./base/../base")[2]
    assert "name only one" in ended(capsys, "a", "b", "--before", "base", "--after", "./worse")[2]


def test_a_folder_of_a_checkout_brings_its_lock(two: Project, tmp_path: Path, capsys: Said) -> None:
    shutil.copytree(two.root, tmp_path / "other")
    two.state("base", scores())
    code, out, _ = ended(capsys, "--before", TABLES, "--after", f"{tmp_path}/other/{TABLES}")
    assert code == 4
    assert "The cause is unknown" not in out
    (two.root / TABLES / "scores.parquet").write_bytes(b"torn")
    assert "is not the one that benchmarks/sample/dvc.lock" in ended(capsys, "--before", "worse")[2]


def test_accepted_numbers_are_a_side(two: Project, capsys: Said) -> None:
    code, _, err = ended(capsys, "sample", "--before", "accepted")
    assert (code, "metassay watch accept sample" in err) == (2, True)
    accepted = two.lock.with_name("accepted.lock")
    accepted.write_text(two.git("show", "base:benchmarks/sample/dvc.lock"), encoding="utf-8")
    assert ended(capsys, "--before", "accepted")[0] == 4
    assert ended(capsys, "--before", "accepted", "--after", "base")[0] == 0


def test_two_systems_of_one_state(two: Project, capsys: Said) -> None:
    code, out, _ = ended(capsys, "--systems", "lead", "longest_turn")
    assert code == 0
    assert "sample: lead -> longest_turn" in out
    assert "why" not in out
    assert ended(capsys, "--after", "base", "--systems", "lead", "longest_turn")[0] == 0
    assert (
        "compares two systems of the state of --after"
        in ended(capsys, "--before", "base", "--systems", "lead", "longest_turn")[2]
    )
    assert "'nobody' has no scores" in ended(capsys, "--systems", "lead", "nobody")[2]


def test_a_state_that_wants_another_run_does_not_end_green(two: Project, capsys: Said) -> None:
    states = ("--before", "base", "--after", "worse")
    assert ended(capsys, *states, "--fail-on", "nothing")[::2] == (0, "regressed: sample\n")
    params = two.root / "params.yaml"
    text = params.read_text(encoding="utf-8")
    assert "style: json\n" in text
    params.write_text(text.replace("style: json\n", "style: cot\n"), encoding="utf-8")
    code, _, err = ended(capsys, "--before", "worse")
    wanted = (
        "here: sample was not run since params.yaml > judges.reader changed; `metassay run sample`"
    )
    assert (code, wanted in err) == (3, True)
    two.git("commit", "-qam", "edited, not run")
    assert ended(capsys, "--before", "base", "--after", "HEAD")[0] == 4
    code, _, err = ended(capsys, "--before", "HEAD~", "--after", "HEAD")
    assert (code, "HEAD: sample was not run since" in err) == (3, True)
    assert (
        ended(capsys, "--before", "HEAD", "--after", "HEAD~")[0] == 0
    )  # of the numbers that were, a note


def test_a_big_change_stays_readable_in_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "ROWS", 1)
    after = side(scores(lead=-0.05, longest_turn=-0.05))
    one = compare(side(scores()), after, ComparisonOptions(permutations=500))
    page = words.markdown([one, one._replace(benchmark="other")])
    assert page.startswith("| benchmark | regressed |")
    assert "| other | 2 | 0 | 0 | 0 | 4 | 0 |" in page
    assert page.count("| regressed | rouge1 |") == 2
    assert page.count("And 1 more rows: `--csv FILE` has all.") == 2


def test_files_have_every_row(two: Project, tmp_path: Path, capsys: Said) -> None:
    files = [tmp_path / f"c.{end}" for end in ("csv", "md", "xml")]
    asked = [f"--{name}={file}" for name, file in zip(("csv", "md", "junit"), files, strict=True)]
    assert ended(capsys, "--before", "base", *asked)[0] == 4
    rows = list(csv.DictReader(files[0].read_text(encoding="utf-8").splitlines()))
    assert [row["verdict"] for row in rows] == ["regressed", *["same numbers"] * 5]
    assert rows[0]["documents"].split()[0].startswith("d0")
    page = files[1].read_text(encoding="utf-8")
    assert page.startswith("## sample: base → here\n\n1 regressed, 5 same numbers.\n")
    assert "| regressed | rouge1 | lead |" in page
    first = [file.read_bytes() for file in files]
    ended(capsys, "--before", "base", *asked)
    assert [file.read_bytes() for file in files] == first


ALLOWED = {  # by the schema that CI services read: attributes (needed, others), and children
    "testsuites": ({"tests", "failures"}, {"name", "errors", "skipped", "time"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"skipped", "time"},
        {"testcase"},
    ),
    "testcase": ({"name", "classname"}, {"time"}, {"failure", "skipped"}),
    "failure": ({"message", "type"}, set(), set()),
    "skipped": (set(), {"message"}, set()),
}


def check_junit(file: Path) -> list[ElementTree.Element]:
    """The test cases, if elements, attributes and sums are as the schema has them."""
    root = ElementTree.parse(file).getroot()
    assert root.tag == "testsuites"
    for element in root.iter():
        needed, more, children = ALLOWED[element.tag]
        assert needed <= set(element.attrib) <= needed | more
        assert {child.tag for child in element} <= children
    for counted in (root, *root.iter("testsuite")):
        cases = list(counted.iter("testcase"))
        assert int(counted.attrib["tests"]) == len(cases)
        for count, tag in (("failures", "failure"), ("skipped", "skipped")):
            assert int(counted.attrib[count]) == sum(case.find(tag) is not None for case in cases)
    return list(root.iter("testcase"))


def test_junit_has_a_case_per_metric_and_system(two: Project, tmp_path: Path, capsys: Said) -> None:
    two.state("few", scores(4, lead=-0.05))
    assert (
        ended(capsys, "--before", "base", "--after", "worse", "--junit", str(tmp_path / "a.xml"))[0]
        == 4
    )
    cases = check_junit(tmp_path / "a.xml")
    names = [(case.attrib["classname"], case.attrib["name"]) for case in cases]
    assert len(set(names)) == 6
    failed = [case for case in cases if case.find("failure") is not None]
    assert [case.attrib["classname"] for case in failed] == ["sample.lead"]
    assert "documents that moved furthest: d0" in str(failed[0].findtext("failure"))
    assert (
        ended(capsys, "--before", "base", "--after", "few", "--junit", str(tmp_path / "b.xml"))[0]
        == 0
    )
    skipped = [case.find("skipped") for case in check_junit(tmp_path / "b.xml")]
    told = [one.attrib["message"] for one in skipped if one is not None]
    assert any(
        "of 4 documents changed; at least 6 are needed to show a difference" in one for one in told
    )


@pytest.mark.usefixtures("two")
def test_a_hyphen_is_stdout_which_one_file_has_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "--before", "base"]
    main([*words, "--md", str(tmp_path / "page.md")])
    told = capfd.readouterr()
    main([*words, "--md", "-"])
    said = capfd.readouterr()
    assert said.out == (tmp_path / "page.md").read_text(encoding="utf-8")
    assert said.err == told.out + told.err
    assert main([*words, "--md", "-", "--csv", "/dev/stdout"]) == 2
    assert "--csv and --md: stdout takes only one" in capfd.readouterr().err


def test_odd_names_break_no_file(made: Project, tmp_path: Path, capsys: Said) -> None:
    odd = {"d000": 'a<b>&"\x1b[31m]]>|', "d001": "=SUM(A1)", "d002": "line\nend\u2028x"}
    for name, change in (("base", 0.0), ("worse", -0.05)):
        rows = scores(7, lead=change)
        rows["doc_id"] = rows["doc_id"].replace(odd)
        made.state(name, rows)
    files = [tmp_path / f"c.{end}" for end in ("csv", "md", "xml")]
    asked = [f"--{name}={file}" for name, file in zip(("csv", "md", "junit"), files, strict=True)]
    assert ended(capsys, "--before", "base", *asked)[0] == 4
    assert len(check_junit(files[2])) == 6
    assert not any("\x1b" in file.read_text(encoding="utf-8") for file in files)


def test_answers_that_are_missing_do_not_end_green(made: Project, capsys: Said) -> None:
    made.state("base", scores())
    after = scores()
    which = (after["doc_id"] < "d003") & (after["metric"] == "rouge1")
    after.loc[which, ["value", "n_failed", "low", "high"]] = [None, 1, 0.0, 1.0]
    made.state("torn", after)
    code, out, err = ended(capsys, "--before", "base")
    assert code == 3
    assert err == "answers are missing: sample\n"
    assert "missing answers or failed texts affect 2 of 6 rows (0 before, 6 after)" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--before", "nowhere"],
            "'nowhere' is not a git revision here, and not a folder with scores.parquet",
        ),
        (
            ["other", "--before", "base"],
            "no benchmark is called 'other'; to compare with a state: ",
        ),
        (["smaple", "--before", "base"], "called 'smaple'; did you mean 'sample'?"),
        (
            ["../sample", "--before", "base"],
            "no benchmark is called '../sample'; did you mean 'sample'?",
        ),
        (
            ["--before", "base", "--after", "refs/heads/base"],
            "base and refs/heads/base are the same state",
        ),
        (["--before", "here"], "here and here are the same state"),
        (
            ["--before", "empty"],
            "no benchmark has scores on every side (empty: none; here: sample)",
        ),
        (
            ["--before", "accepted"],
            "(accepted: none; here: sample); accept one: `metassay watch accept BENCHMARK`",
        ),
        (["--before", "sample"], "'sample' is a benchmark, and --before and --after name states"),
        (["--before", "base", "--after", "gone"], "neither in DVC's cache nor in a remote"),
        (
            ["--before", "base", "--after", "torn"],
            "torn:benchmarks/sample/dvc.lock: is not a dvc.lock with stages",
        ),
        (
            ["--before", "base", "--after", "part"],
            "no benchmark has scores on every side (base: sample; part: none)",
        ),
        (["sample", "--before", "base", "--after", "part"], "to a test, which has none"),
        (["--before", "base", "--after", "disjoint"], "no document of sample in common"),
        (["--before", "data"], "the folder has no scores.parquet"),
        (["--before", ""], "'' is not a git revision"),
        (
            ["--before", "twin"],
            "write refs/heads/twin (or refs/tags/twin) for the revision, or write ./twin",
        ),
        (["--systems", "lead", "lead"], "both systems are 'lead'"),
        (["--before", "base", "--junit", "absent/c.xml", "--fail-on", "nothing"], ""),
        (["--before", "HEAD"], ""),
    ],
)
def test_what_cannot_be_compared_is_told(
    fuzzed: Project, capsys: Said, words: Sequence[str], told: str
) -> None:
    code, _, err = ended(capsys, *words)
    assert told in err
    assert code == (2 if told else 0), err


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with states in which something is wrong."""
    root = tmp_path_factory.mktemp("spoilt")
    project = Project(root)
    project.git("commit", "-q", "--allow-empty", "-m", "empty")
    project.git("branch", "empty")
    other = scores()
    project.state("disjoint", other.assign(doc_id="x" + other["doc_id"]))
    project.state("gone", scores(seed=7))
    for name in ("scores", "leaderboard"):
        _uncached(project, name)
    for branch, text in (("torn", "stages: [\n"), ("part", "stages: {ingest: {outs: []}}\n")):
        project.git("checkout", "-q", "-B", branch)
        project.lock.write_text(text, encoding="utf-8")
        project.git("commit", "-qam", branch)
    project.state("base", scores())
    project.git("branch", "twin")
    project.state("worse", scores(lead=-0.05))
    shutil.copytree(root / TABLES, root / "twin")
    return root


def _uncached(project: Project, name: str) -> None:
    lock = yaml.safe_load(project.lock.read_text(encoding="utf-8"))
    for stage in lock["stages"].values():
        for out in stage["outs"]:
            if out["path"].endswith(f"/{name}.parquet"):
                md5 = out["md5"]
                (project.root / ".dvc/cache/files/md5" / md5[:2] / md5[2:]).unlink()


@pytest.fixture
def fuzzed(spoilt: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spoilt project as the working folder."""
    monkeypatch.chdir(spoilt)
    monkeypatch.setenv("COLUMNS", "120")
    return spoilt


# docs/weekly.md advises to have no default remote; one may be out of reach, or lack the tables.
@pytest.mark.parametrize("default", ["[core]\n    remote = there\n", ""])
def test_what_a_remote_has_is_brought(
    two: Project, tmp_path: Path, capsys: Said, default: str
) -> None:
    cache = two.root / ".dvc/cache"
    shutil.move(cache, tmp_path / "remote")
    places = {
        "bad": "s3://out-of-reach/x",
        "empty": tmp_path / "none",
        "there": tmp_path / "remote",
    }
    remotes = "".join(f"['remote \"{name}\"']\n    url = {at}\n" for name, at in places.items())
    (two.root / ".dvc/config").write_text(default + remotes, encoding="utf-8")
    assert ended(capsys, "--before", "base")[0] == 4
    assert any(cache.rglob("*"))


def test_a_project_may_lie_in_a_folder_of_a_repository(
    tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "whole/inside"
    inside.mkdir(parents=True)
    project = Project(inside)
    shutil.rmtree(inside / ".git")
    subprocess.run(["git", "init", "-q", str(inside.parent)], check=True)
    monkeypatch.chdir(inside)
    project.state("base", scores())
    project.state("worse", scores(lead=-0.05))
    assert ended(capsys, "--before", "base")[0] == 4


def test_the_workflow_for_github_runs_on_a_project(two: Project, tmp_path: Path) -> None:
    """Its steps from `compare` on, as GitHub runs them; those before install and run."""
    clone, programs = tmp_path / "clone", tmp_path / "bin"
    two.git("branch", "-f", "main", "base")
    nothing = two.git("commit-tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "-m", "nothing")
    two.git("branch", "new", nothing.strip())  # of git's empty tree
    subprocess.run(["git", "clone", "-q", str(two.root), str(clone)], check=True)
    for folder in ("data", ".dvc/cache"):  # what the step `run` makes, and the remote has
        shutil.copytree(two.root / folder, clone / folder, dirs_exist_ok=True)
    programs.mkdir()
    command = programs / "metassay"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m metassay.cli "$@"\n')
    command.chmod(0o755)
    workflow = yaml.safe_load((ROOT / "docs/ci/compare.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["compare"]["steps"]
    run = {step["name"]: step["run"] for step in steps if "run" in step}
    assert list(run) == ["install", "run", "compare", "summary"]
    summary = tmp_path / "summary.md"
    more = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    more |= {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary), **workflow["env"]}

    def code(name: str, **other: str) -> int:
        done = subprocess.run(
            ["bash", "-e", "-c", run[name]],
            **{"cwd": clone, "env": os.environ | more | other},
            check=False,
            capture_output=True,
        )
        return done.returncode

    assert code("compare", GITHUB_BASE_REF="new") == 0
    assert "nothing to compare with" in (clone / "compare.md").read_text(encoding="utf-8")
    assert code("compare", GITHUB_BASE_REF="not_fetched") not in (0, 4)
    assert [code("compare"), code("summary")] == [4, 0]
    assert "| regressed | rouge1 | lead |" in summary.read_text(encoding="utf-8")
    (upload,) = [step["with"] for step in steps if "upload" in step.get("uses", "")]
    for name in upload["path"].split():
        assert (clone / name).is_file()
    assert len(check_junit(clone / "compare.xml")) == 6
