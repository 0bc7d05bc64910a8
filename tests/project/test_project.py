"""Projects for one's own data: made whole or not at all, brought up to date without a loss."""

import os
import shlex
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml

from metassay.cli.main import main
from metassay.core.errors import BadInput
from metassay.core.params import load
from metassay.core.versions import read as read_versions
from metassay.core.versions import versions
from metassay.datasets.own_data import score_metrics
from metassay.datasets.registry import load_registry
from metassay.project import kit, make
from metassay.project.make import name_of
from tests.conftest import ROOT
from tests.project.spreadsheets.sheets import LONG, RATINGS, SCORES, files, put
from tests.project.wheel import wheel

IDENTITY = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


@pytest.fixture(autouse=True)
def _nobody(monkeypatch, tmp_path):
    """git knows nobody, and what is asked has no terminal."""
    for name, value in IDENTITY.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_refresh(monkeypatch):
    monkeypatch.setattr(make, "refresh", lambda _: True)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A project from three spreadsheets; not to be changed."""
    folder = tmp_path_factory.mktemp("once")
    paths = files(folder, texts=LONG, ratings=RATINGS, scores=SCORES)
    words = [f"--{kind}={path}" for kind, (path,) in paths.items()]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in IDENTITY.items():
            patch.setenv(name, value)
        assert main(["init", str(folder / "Köln Süd"), *words, "--yes"]) == 0
    return folder / "Köln Süd"


@pytest.fixture
def here(example, tmp_path, monkeypatch):
    """That project, to change; one stands in it."""
    shutil.copytree(example, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def git(folder: Path, *words: str) -> str:
    return subprocess.check_output(["git", *words], cwd=folder, text=True)


def test_a_project_from_spreadsheets_is_valid_and_private(here):
    assert main(["validate"]) == 0
    params = load()
    (benchmark,) = params.benchmarks.values()
    assert benchmark.name == "Koeln_Sued"
    assert score_metrics(Path(benchmark.raw)) == ["TER", "align_score", "own_bleu"]
    assert params.meta_evaluation["compared"][:3] == ["TER", "align_score", "own_bleu"]
    registry = yaml.safe_load(Path("data/registry.yaml").read_text("utf-8"))
    assert registry["datasets"]["Koeln_Sued"]["access"] == "private"
    staged = git(here, "ls-files").splitlines()
    assert {"benchmarks/Koeln_Sued/params.yaml", "versions.yaml"} <= {*staged}
    assert not [name for name in staged if name.startswith(("data/Koeln", ".work"))]
    workflow = yaml.safe_load(Path(".github/workflows/metassay.yml").read_text("utf-8"))
    last = workflow["jobs"]["reports"]["steps"][-1]
    assert last["with"]["path"] == "benchmarks/*/headline.json", "a page holds texts"


def test_others_of_the_machine_see_no_data_and_reach_no_cache(tmp_path, example):
    def modes(root: Path, *names: str) -> set[int]:
        return {(root / name).stat().st_mode & 0o777 for name in names}

    data = [*(example / "data" / name_of(example)).rglob("*")]
    assert modes(example, *map(str, data)) == {0o600}
    assert modes(example, str(data[0].parent), ".work", ".work/dvc", ".dvc/cache") == {
        0o700
    }
    before = os.umask(0o022)
    assert main(["init", str(tmp_path / "example")]) == 0
    os.umask(before)
    assert modes(tmp_path / "example", ".", "data") == {0o755}, "is public"


def test_the_wheel_has_what_a_project_is_made_of(here, tmp_path, monkeypatch):
    """The same of it as a checkout, to the byte, and the same versions."""
    assert read_versions(here) == versions(here, load(here))
    both = shutil.copytree(here, tmp_path / "both")
    with zipfile.ZipFile(wheel(tmp_path)) as packed:
        packed.extractall(both)  # as they would lie in site-packages, but found first
    assert (both / "metassay/project/files/params.yaml").exists()
    folders = ["a", "b"]
    from_checkout = {**kit.files(folders), **kit.example_files()}
    monkeypatch.setattr(kit, "_HERE", both / "metassay/project")
    assert {**kit.files(folders), **kit.example_files()} == from_checkout
    for name in (*kit.LINES, ".dvc/config", "params.yaml", "data/registry.yaml"):
        assert kit.file(name) == (ROOT / name).read_bytes()


def test_without_confirmation_nothing_is_made_and_the_command_is_told(tmp_path, capsys):
    paths = files(tmp_path, texts=LONG)
    assert main(["init", "new", f"--texts={paths['texts'][0]}"]) == 2
    output = capsys.readouterr()
    assert "3 documents; 2 systems" in output.out
    assert "metassay init new --texts" in output.err
    assert "--columns texts.doc=visit_id" in output.err
    assert output.err.strip().endswith("--yes")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts.csv"]


@pytest.mark.parametrize("answer", ["y", "n"])
@pytest.mark.usefixtures("no_refresh")
def test_one_question_is_asked(tmp_path, monkeypatch, answer):
    questions: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(
        "builtins.input", lambda words: questions.append(words) or answer
    )
    paths = files(tmp_path, texts=LONG)
    assert main(["init", "new", f"--texts={paths['texts'][0]}"]) == (
        0 if answer == "y" else 2
    )
    assert questions == ["Is all of this right? [y/n] "]
    assert (tmp_path / "new").exists() == (answer == "y")


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path, capsys):
    there = tmp_path / "there"
    there.mkdir()
    (there / "thesis.txt").write_text("years of work", encoding="utf-8")
    assert main(["init", "there"]) == 2
    assert "holds something already, and nothing was changed" in capsys.readouterr().err
    assert [path.name for path in there.iterdir()] == ["thesis.txt"]
    ratings = put(tmp_path / "r.csv", RATINGS)
    assert main(["init", "new", f"--ratings={ratings}"]) == 2
    assert "--texts is missing" in capsys.readouterr().err


def test_what_fails_half_way_leaves_nothing(tmp_path, monkeypatch):
    def full(_: Path) -> bool:
        raise BadInput("no space left")

    monkeypatch.setattr(make, "refresh", full)
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        assert main(["init", name]) == 2
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]


@pytest.mark.usefixtures("no_refresh")
def test_a_project_whose_last_step_was_killed_is_whole_at_the_next_try(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "there"]) == 0
    # Into a folder that exists the parts of a project are moved: here half of them are.
    whole = tmp_path / "mine/.new"
    whole.mkdir(parents=True)
    names = sorted(path.name for path in (tmp_path / "there").iterdir())
    for number, name in enumerate(names):
        (tmp_path / "there" / name).rename((whole.parent, whole)[number % 2] / name)
    capsys.readouterr()
    assert main(["init", "mine"]) == 2
    assert "so the project is whole" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == names


def test_the_example_in_the_folder_where_one_stands(tmp_path, monkeypatch, capsys):
    """Also without git, which is said, and DVC is told."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    (tmp_path / "demo").mkdir()
    monkeypatch.chdir(tmp_path / "demo")
    inode = Path().stat().st_ino
    assert main(["init", "."]) == 0
    assert "git is not installed" in capsys.readouterr().out
    assert Path().stat().st_ino == inode
    assert "no_scm = true" in Path(".dvc/config").read_text("utf-8")
    assert main(["validate"]) == 0
    assert list(load().benchmarks) == ["demo"]


@pytest.mark.usefixtures("no_refresh")
def test_what_git_gets(tmp_path, monkeypatch, capsys):
    """Nothing within another repository; a first commit by whom git knows."""
    git(tmp_path, "init", "--quiet", "paper")
    assert main(["init", "paper/study"]) == 0
    assert "lies in the git repository" in capsys.readouterr().out
    assert not (tmp_path / "paper/study/.git").exists()
    assert git(tmp_path / "paper", "ls-files") == ""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_DATE", "2026-01-01T00:00:00Z")
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n name = A\n email = a@localhost\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    assert main(["init", "demo"]) == 0
    assert git(tmp_path / "demo", "log", "--format=%an %s").startswith(
        "A A Metassay project"
    )
    assert git(tmp_path / "demo", "status", "--porcelain") == ""
    # though the template has room for both words
    assert main(["init", "MYDATA_NAME"]) == 0
    readme = Path("MYDATA_NAME/README.md").read_text(encoding="utf-8")
    assert readme.startswith("# MYDATA_NAME\n")


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        # reports/changes/ is of all benchmarks
        ("Prüfung 2026", "Pruefung_2026"),
        ("a.b", "a_b"),
        ("日本", "mine"),
        ("12", "mine"),
        ("changes", "mine"),
    ],
)
def test_a_benchmark_is_called_after_its_folder(tmp_path, folder, name):
    assert name_of(tmp_path / folder) == name


@pytest.mark.usefixtures("no_refresh")
def test_odd_names_of_files_and_criteria_come_through_the_command_that_confirms(
    tmp_path, capsys
):
    texts = put(tmp_path / "texts \N{GRINNING FACE}.csv", LONG)
    odd = [[*RATINGS[0][:3], "-x", "=1"], *RATINGS[1:]]
    words = ["init", "odd", "--texts", texts.name, "--lower=-x"]
    words += ["--ratings", put(tmp_path / "ratings.csv", odd).name]
    assert main(words) == 2
    command = capsys.readouterr().err.partition("run it:\n  metassay ")[2]
    assert main(shlex.split(command)) == 0
    criteria = load(tmp_path / "odd").benchmarks["odd"].criteria
    assert {name: c.better for name, c in criteria.items()} == {
        "-x": "lower",
        "=1": "higher",
    }
    assert (
        "\N{GRINNING FACE}"
        in load_registry(Path("odd/data/registry.yaml"))["odd"].title
    )


def test_an_upgrade_of_what_is_up_to_date_does_nothing(here, capsys):
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert main(["update"]) == 0
    assert capsys.readouterr().out.startswith("up to date with Metassay")
    after = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert not changed


def test_a_hash_that_looks_like_a_number_is_read_back(tmp_path):
    hashes = {"a": "1234567e12345678", "b": "0123456789012345", "c": "0000000000000000"}
    for files_of in (hashes, {}):
        (tmp_path / kit.RECORD).write_bytes(kit.record(files_of))
        assert kit.read_record(tmp_path) == (kit.__version__, files_of)


def test_an_upgrade_replaces_what_is_ours_and_keeps_what_is_not(here, capsys):
    """The kit of an older version is played by other bytes in the project and in its record."""
    contents = {
        name: Path(name).read_bytes() for name in ("data/registry.yaml", "README.md")
    }
    hashes = dict(kit.read_record(here).files)  # type: ignore[union-attr]
    for name in ("prompts/claims.yaml", "prompts/facets.yaml", "dvc.yaml"):
        Path(name).write_bytes(Path(name).read_bytes() + b"# of an older version\n")
        hashes[name] = kit.hash_of(Path(name).read_bytes())
    edited = Path("prompts/claims.yaml").read_bytes() + b"# and my own words\n"
    Path("prompts/claims.yaml").write_bytes(edited)
    Path("rubrics/bmrc.yaml").unlink()
    del hashes["prompts/judge-scale.yaml"]  # as if it were new
    Path("prompts/judge-scale.yaml").unlink()
    kit.RECORD.write_bytes(kit.record(hashes))
    ignored = Path(".gitignore")
    ignored.write_text(
        "/mine/\n" + ignored.read_text("utf-8").replace("/dist/\n", ""), "utf-8"
    )
    params, facets = Path("params.yaml"), ROOT / "benchmarks/sample_facets"
    text = params.read_text("utf-8").replace("threshold: 0.6", "threshold: 0.7")
    params.write_text(text, encoding="utf-8")
    sort = Path("benchmarks/tried")
    for folder in (sort, here / "data/sample_facets"):
        folder.mkdir()
    settings = (facets / "params.yaml").read_text("utf-8")
    settings = settings.replace("name: sample_facets", "name: tried")
    (sort / "params.yaml").write_text(settings, "utf-8")
    contents["data/registry.yaml"] += (
        b"  sample_facets: {reader: sentences, title: t, licence: l, access: public,"
        b" folder: data/sample_facets}\n"
    )
    Path("data/registry.yaml").write_bytes(contents["data/registry.yaml"])
    assert main(["update"]) == 0
    output = capsys.readouterr().out
    ours = kit.files([])
    for name in ("prompts/facets.yaml", "dvc.yaml", "prompts/judge-scale.yaml"):
        assert Path(name).read_bytes() == ours[name]
    assert Path("prompts/claims.yaml").read_bytes() == edited
    assert Path("prompts/claims.yaml.new").read_bytes() == ours["prompts/claims.yaml"]
    assert not Path("rubrics/bmrc.yaml").exists()
    assert ignored.read_text("utf-8").startswith("/mine/\n")
    assert "\n/dist/\n" in ignored.read_text("utf-8")
    assert "threshold: 0.7" in params.read_text("utf-8")
    assert (sort / "dvc.yaml").read_bytes() == (
        facets / "dvc.yaml"
    ).read_bytes()  # by its sort
    assert {name: Path(name).read_bytes() for name in contents} == contents
    for line in (
        "kept as you edited it: prompts/claims.yaml; the new version is prompts/claims.yaml.new",
        "updated: prompts/facets.yaml",
        "benchmarks/tried/dvc.yaml: updated",
        "1 lines added: .gitignore",
        "not restored, since you removed it: rubrics/bmrc.yaml",
    ):
        assert line in output, output
    assert read_versions(here) == versions(here, load(here))
    assert main(["update"]) == 0
    again = capsys.readouterr().out.splitlines()
    assert [
        line for line in again if not line.startswith(("not restored", "up to date"))
    ] == []


def test_an_upgrade_writes_nothing_where_it_is_refused(
    here, tmp_path, monkeypatch, capsys
):
    odd, workflow = (
        here / "benchmarks/$(touch x)",
        here / ".github/workflows/metassay.yml",
    )
    odd.mkdir()
    shutil.copy(ROOT / "benchmarks/sample/params.yaml", odd)
    kit.RECORD.unlink()
    before = sorted(here.rglob("*")), workflow.read_bytes()
    assert main(["update"]) == 2
    assert "benchmarks/$(touch x): " in capsys.readouterr().err
    assert (sorted(here.rglob("*")), workflow.read_bytes()) == before
    monkeypatch.chdir(tmp_path)
    assert main(["update"]) == 2
    assert "run this in a project's folder" in capsys.readouterr().err


def test_an_update_says_which_dvc_yaml_it_left_since_a_merge_broke_it(here, capsys):
    (file,) = here.glob("benchmarks/*/dvc.yaml")
    broken = f"<<<<<<< HEAD\n{file.read_text('utf-8')}"
    file.write_text(broken, encoding="utf-8")
    assert main(["update"]) == 2
    assert str(file.relative_to(here)) in capsys.readouterr().err
    assert file.read_text("utf-8") == broken
