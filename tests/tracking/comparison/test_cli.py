"""`metassay compare` in a project: what it prints and writes, how it ends, and what it refuses."""

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from metassay.cli.main import main
from metassay.tracking.comparison import words as page_words
from metassay.tracking.comparison.differences import ComparisonOptions, compare
from tests.tracking.comparison.states import ROOT, TABLES, Project, scores, side

Run = Callable[..., tuple[int, str, str]]
BASE = ("--before", "base")
SYSTEMS = ("--systems", "lead", "longest_turn")


@pytest.fixture
def run(capsys):
    """Runs `compare`: returns the exit code, and what was printed to both streams."""

    def ended(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["compare", *words])
        return code, *capsys.readouterr()

    return ended


def test_a_regression_is_told_and_ends_with_its_own_code(two, run):
    code, out, err = run(*BASE)
    assert (code, err) == (4, "regressed: sample\n")
    for words in (
        "sample: base -> here: 1 regressed, 5 same numbers",
        "rouge1",
        "documents behind regressions: d0",
    ):
        assert words in out
    code, out, _ = run("--before", "worse", "--after", "base")
    assert (code, "1 improved" in out) == (0, True)
    code, _, err = run("sample", "--before", "accepted")
    assert (code, "metassay watch accept sample" in err) == (2, True)
    accepted = two.lock.with_name("accepted.lock")
    accepted.write_text(
        two.git("show", "base:benchmarks/sample/dvc.lock"), encoding="utf-8"
    )
    assert run("--before", "accepted")[0] == 4
    assert run("--before", "accepted", "--after", "base")[0] == 0
    code, out, _ = run(*SYSTEMS)
    assert (code, "sample: lead -> longest_turn" in out, "why" in out) == (
        0,
        True,
        False,
    )
    assert run("--after", "base", *SYSTEMS)[0] == 0


def test_folders_of_tables_need_neither_git_nor_dvc(two, tmp_path, monkeypatch, run):
    for branch in ("base", "worse"):
        two.git("checkout", "-q", branch)
        (tmp_path / branch).mkdir()
        for name in ("scores.parquet", "leaderboard.parquet"):
            shutil.copy(
                two.cached(two.outs()[f"{TABLES}/{name}"]), tmp_path / branch / name
            )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    code, out, _ = run("--before", "base/", "--after", "./worse")
    assert (code, "1 regressed" in out) == (4, True)
    assert "The cause is unknown: a state has no dvc.lock" in out
    for after, words in (
        ("project", "has no scores.parquet"),
        ("main", "in no git repository"),
        ("./base/../base", "same state"),
    ):
        assert words in run(*BASE, "--after", after)[2]
    assert "name only one" in run("a", "b", *BASE, "--after", "./worse")[2]


def test_a_folder_of_a_checkout_brings_its_lock(two, tmp_path, run):
    shutil.copytree(two.root, tmp_path / "other")
    two.state("base", scores())
    code, out, _ = run("--before", TABLES, "--after", f"{tmp_path}/other/{TABLES}")
    assert (code, "The cause is unknown" in out) == (4, False)
    (two.root / TABLES / "scores.parquet").write_bytes(b"torn")
    words = "is not the one that benchmarks/sample/dvc.lock"
    assert words in run("--before", "worse")[2]


def test_a_state_that_wants_another_run_does_not_end_green(two, run):
    states = (*BASE, "--after", "worse", "--fail-on", "nothing")
    assert run(*states)[::2] == (0, "regressed: sample\n")
    params = two.root / "params.yaml"
    text = params.read_text(encoding="utf-8")
    assert "style: json\n" in text
    params.write_text(text.replace("style: json\n", "style: cot\n"), encoding="utf-8")
    code, _, err = run("--before", "worse")
    lead = "sample was not run since params.yaml > judges.reader changed; `metassay run sample`"
    assert (code, f"here: {lead}" in err) == (3, True)
    two.git("commit", "-qam", "edited, not run")
    assert run(*BASE, "--after", "HEAD")[0] == 4
    code, _, err = run("--before", "HEAD~", "--after", "HEAD")
    assert (code, "HEAD: sample was not run since" in err) == (3, True)
    # of the numbers that were, a note
    assert run("--before", "HEAD", "--after", "HEAD~")[0] == 0


def test_a_big_change_stays_readable_in_markdown(monkeypatch):
    monkeypatch.setattr(page_words, "ROWS", 1)
    after = side(scores(lead=-0.05, longest_turn=-0.05))
    comparison = compare(side(scores()), after, ComparisonOptions(permutations=500))
    page = page_words.markdown([comparison, comparison._replace(benchmark="other")])
    assert page.startswith("| benchmark | regressed |")
    assert "| other | 2 | 0 | 0 | 0 | 4 | 0 |" in page
    assert page.count("| regressed | rouge1 |") == 2
    assert page.count("And 1 more rows: `--csv FILE` has all.") == 2


def paths(folder: Path) -> tuple[list[Path], list[str]]:
    """A file of each format, and the options that name them."""
    files = [folder / f"c.{name}" for name in ("csv", "md", "junit")]
    return files, [f"--{file.suffix[1:]}={file}" for file in files]


def test_files_have_every_row(two, tmp_path, run):
    files, options = paths(tmp_path)
    assert run(*BASE, *options)[0] == 4
    rows = list(csv.DictReader(files[0].read_text(encoding="utf-8").splitlines()))
    assert [row["verdict"] for row in rows] == ["regressed", *["same numbers"] * 5]
    assert rows[0]["documents"].split()[0].startswith("d0")
    page = files[1].read_text(encoding="utf-8")
    assert page.startswith("## sample: base → here\n\n1 regressed, 5 same numbers.\n")
    assert "| regressed | rouge1 | lead |" in page
    first = [file.read_bytes() for file in files]
    run(*BASE, *options)
    assert [file.read_bytes() for file in files] == first


# by the schema that CI services read: attributes (needed, others), and children
ALLOWED = {
    "testsuites": (
        {"tests", "failures"},
        {"name", "errors", "skipped", "time"},
        {"testsuite"},
    ),
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
            assert int(counted.attrib[count]) == sum(
                case.find(tag) is not None for case in cases
            )
    return list(root.iter("testcase"))


def test_junit_has_a_case_per_metric_and_system(two, tmp_path, run):
    two.state("few", scores(4, lead=-0.05))
    first, second = (tmp_path / name for name in ("a.xml", "b.xml"))
    assert run(*BASE, "--after", "worse", "--junit", str(first))[0] == 4
    cases = check_junit(first)
    assert len({(case.attrib["classname"], case.attrib["name"]) for case in cases}) == 6
    (failed,) = [case for case in cases if case.find("failure") is not None]
    assert failed.attrib["classname"] == "sample.lead"
    assert "documents that moved furthest: d0" in str(failed.findtext("failure"))
    assert run(*BASE, "--after", "few", "--junit", str(second))[0] == 0
    skipped = [case.find("skipped") for case in check_junit(second)]
    messages = [element.attrib["message"] for element in skipped if element is not None]
    words = "of 4 documents changed; at least 6 are needed to show a difference"
    assert any(words in message for message in messages)


@pytest.mark.usefixtures("two")
def test_a_hyphen_is_stdout_which_one_file_has_alone(tmp_path, capfd):
    words = ["compare", *BASE]
    main([*words, "--md", str(tmp_path / "page.md")])
    screen = capfd.readouterr()
    main([*words, "--md", "-"])
    output = capfd.readouterr()
    assert output.out == (tmp_path / "page.md").read_text(encoding="utf-8")
    assert output.err == screen.out + screen.err
    assert main([*words, "--md", "-", "--csv", "/dev/stdout"]) == 2
    assert "--csv and --md: only one output can go to stdout" in capfd.readouterr().err


def test_odd_names_break_no_file(two, tmp_path, run):
    odd = {"d000": 'a<b>&"\x1b[31m]]>|', "d001": "=SUM(A1)", "d002": "line\nend\u2028x"}
    for name, change in (("base", 0.0), ("worse", -0.05)):
        rows = scores(7, lead=change)
        two.state(name, rows.assign(doc_id=rows["doc_id"].replace(odd)))
    files, options = paths(tmp_path)
    assert run(*BASE, *options)[0] == 4
    assert len(check_junit(files[2])) == 6
    assert not any("\x1b" in file.read_text(encoding="utf-8") for file in files)


def test_answers_that_are_missing_do_not_end_green(two, run):
    after = scores()
    which = (after["doc_id"] < "d003") & (after["metric"] == "rouge1")
    after.loc[which, ["value", "n_failed", "low", "high"]] = [None, 1, 0.0, 1.0]
    two.state("torn", after)
    code, out, err = run(*BASE)
    assert (code, err) == (3, "answers are missing: sample\n")
    assert (
        "missing answers or failed texts affect 2 of 6 rows (0 before, 6 after)" in out
    )


NO_BENCHMARK, NO_SIDE = (
    "no benchmark is called",
    "no benchmark has scores on every side",
)
REFUSED = [
    (
        "--before nowhere",
        "'nowhere' is not a git revision here, and not a folder with scores",
    ),
    ("other --before base", f"{NO_BENCHMARK} 'other'; to compare with a state: "),
    ("smaple --before base", f"{NO_BENCHMARK} 'smaple'; did you mean 'sample'?"),
    ("../sample --before base", f"{NO_BENCHMARK} '../sample'; did you mean 'sample'?"),
    (
        "--before base --after refs/heads/base",
        "base and refs/heads/base are the same state",
    ),
    ("--before here", "here and here are the same state"),
    ("--before empty", f"{NO_SIDE} (empty: none; here: sample)"),
    ("--before accepted", "sample); accept one: `metassay watch accept BENCHMARK`"),
    (
        "--before sample",
        "'sample' is a benchmark, and --before and --after name states",
    ),
    ("--before base --after gone", "neither in DVC's cache nor in a remote"),
    (
        "--before base --after torn",
        "torn:benchmarks/sample/dvc.lock: is not a dvc.lock with st",
    ),
    ("--before base --after part", f"{NO_SIDE} (base: sample; part: none)"),
    ("sample --before base --after part", "to a test, which has none"),
    ("--before base --after disjoint", "no document of sample in common"),
    ("--before data", "the folder has no scores.parquet"),
    ("--before=", "'' is not a git revision"),
    (
        "--before twin",
        "write refs/heads/twin (or refs/tags/twin) for the revision, or write ./tw",
    ),
    ("--systems lead lead", "both systems are 'lead'"),
    ("--systems lead nobody", "'nobody' has no scores"),
    (
        "--before base --systems lead nobody",
        "compares two systems of the state of --after",
    ),
    ("--before base --junit absent/c.xml --fail-on nothing", ""),
    ("--before HEAD", ""),
]


@pytest.mark.parametrize(("words", "problem"), REFUSED)
def test_what_cannot_be_compared_is_told(spoilt, monkeypatch, run, words, problem):
    monkeypatch.chdir(spoilt)
    code, _, err = run(*words.split(" "))
    assert problem in err
    assert code == (2 if problem else 0), err


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory):
    """A project with states in which something is wrong."""
    project = Project.begin(tmp_path_factory.mktemp("spoilt"))
    project.git("commit", "-q", "--allow-empty", "-m", "empty")
    project.git("branch", "empty")
    other = scores()
    project.state("disjoint", other.assign(doc_id="x" + other["doc_id"]))
    project.state("gone", scores(seed=7))
    for name in ("scores.parquet", "leaderboard.parquet"):
        project.cached(project.outs()[f"{TABLES}/{name}"]).unlink()
    for branch, text in (
        ("torn", "stages: [\n"),
        ("part", "stages: {ingest: {outs: []}}\n"),
    ):
        project.git("checkout", "-q", "-B", branch)
        project.lock.write_text(text, encoding="utf-8")
        project.git("commit", "-qam", branch)
    project.state("base", scores())
    project.git("branch", "twin")
    project.state("worse", scores(lead=-0.05))
    shutil.copytree(project.root / TABLES, project.root / "twin")
    return project.root


# docs/weekly.md advises to have no default remote; one may be out of reach, or lack the
# tables.
@pytest.mark.parametrize("default", ["[core]\n    remote = there\n", ""])
def test_what_a_remote_has_is_brought(two, tmp_path, run, default):
    cache, there = two.root / ".dvc/cache", tmp_path / "remote"
    shutil.move(cache, there)
    places = {"bad": "s3://out-of-reach/x", "empty": tmp_path / "none", "there": there}
    remotes = "".join(
        f"['remote \"{name}\"']\n    url = {at}\n" for name, at in places.items()
    )
    (two.root / ".dvc/config").write_text(default + remotes, encoding="utf-8")
    assert run(*BASE)[0] == 4
    assert any(cache.rglob("*"))


def test_a_project_may_lie_in_a_folder_of_a_repository(tmp_path, run, monkeypatch):
    inside = tmp_path / "whole/inside"
    inside.mkdir(parents=True)
    project = Project.begin(inside)
    shutil.rmtree(inside / ".git")
    subprocess.run(["git", "init", "-q", str(inside.parent)], check=True)
    monkeypatch.chdir(inside)
    project.state("base", scores())
    project.state("worse", scores(lead=-0.05))
    assert run(*BASE)[0] == 4


def test_the_workflow_for_github_runs_on_a_project(two, tmp_path):
    """Its steps from `compare` on, as GitHub runs them; those before install and run."""
    clone, programs, summary = (
        tmp_path / name for name in ("clone", "bin", "summary.md")
    )
    two.git("branch", "-f", "main", "base")
    nothing = two.git(
        "commit-tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "-m", "nothing"
    )
    two.git("branch", "new", nothing.strip())  # of git's empty tree
    subprocess.run(["git", "clone", "-q", str(two.root), str(clone)], check=True)
    # what the step `run` makes, and the remote has
    for folder in ("data", ".dvc/cache"):
        shutil.copytree(two.root / folder, clone / folder, dirs_exist_ok=True)
    programs.mkdir()
    command = programs / "metassay"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m metassay.cli "$@"\n')
    command.chmod(0o755)
    workflow = yaml.safe_load(
        (ROOT / "docs/ci/compare.yml").read_text(encoding="utf-8")
    )
    steps = workflow["jobs"]["compare"]["steps"]
    scripts = {step["name"]: step["run"] for step in steps if "run" in step}
    assert list(scripts) == ["install", "run", "compare", "summary"]
    more = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    more |= {
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(summary),
        **workflow["env"],
    }

    def code(name: str, **other: str) -> int:
        bash = ["bash", "-e", "-c", scripts[name]]
        environment = os.environ | more | other
        return subprocess.run(
            bash, cwd=clone, env=environment, check=False, capture_output=True
        ).returncode

    assert code("compare", GITHUB_BASE_REF="new") == 0
    assert "nothing to compare with" in (clone / "compare.md").read_text(
        encoding="utf-8"
    )
    assert code("compare", GITHUB_BASE_REF="not_fetched") not in (0, 4)
    assert [code("compare"), code("summary")] == [4, 0]
    assert "| regressed | rouge1 | lead |" in summary.read_text(encoding="utf-8")
    (upload,) = [step["with"] for step in steps if "upload" in step.get("uses", "")]
    for name in upload["path"].split():
        assert (clone / name).is_file()
    assert len(check_junit(clone / "compare.xml")) == 6
