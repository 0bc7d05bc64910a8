"""Kinds by dotted path: docs/own-kinds.md is true, and what is wrong with one is told in a line."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from metassay.cli.main import main
from metassay.core.errors import BadInput
from metassay.core.kinds import choose, is_path
from metassay.core.params import load
from metassay.core.versions import find_stale, versions
from metassay.metrics import METRICS
from metassay.project import kit
from metassay.project.refresh import refresh
from tests.conftest import ROOT
from tests.stage_setup import run_stage

PAGE = (ROOT / "docs/own-kinds.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r'^```\w+ title="([^"]+)"\n(.*?)^```', PAGE, flags=re.MULTILINE | re.DOTALL
)
VISITS = """\
visit,dialogue,reference,terse,rating
v1,How is the cough?|It is gone.,The cough is gone.,Cough gone; no fever. [1],4
v2,Any fever?|None for a week.,There is no fever.,No fever. [1],5
"""
SETTINGS = Path("benchmarks/one/params.yaml")
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch, tmp_path):
    """One stands in an empty folder; nobody has imported a module of a project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    forget()


def forget() -> None:
    for name in [
        name for name in sys.modules if name.split(".")[0].startswith("mylab")
    ]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The example that `metassay init` makes; not to be changed."""
    folder = tmp_path_factory.mktemp("once") / "example"
    assert main(["init", str(folder), "--name", "one"]) == 0
    return folder


@pytest.fixture
def project(example, tmp_path, monkeypatch):
    """That project, to change; one stands in it."""
    shutil.copytree(example, tmp_path / "example")
    monkeypatch.chdir(tmp_path / "example")
    return tmp_path / "example"


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def problems(capsys: Capsys) -> str:
    capsys.readouterr()
    forget()
    assert main(["validate"]) == 2
    output = capsys.readouterr().err
    assert "Traceback" not in output
    return re.sub(r"(?m)^(\S+\.yaml), line \d+", r"\1", output)


def test_the_page_shows_what_init_writes():
    shown = {name: text.encode() for name, text in BLOCKS if name.endswith(".py")}
    content = kit.example_files().items()
    written = {name: text for name, text in content if re.match(r"mylab/(?!__)", name)}
    assert written
    assert {name: shown[name] for name in written} == written


def test_every_kind_of_the_page_runs(project, monkeypatch, capsys):
    add_all_of_the_page()
    (project / "data/visits").mkdir()
    (project / "data/visits/notes.csv").write_text(VISITS, encoding="utf-8")
    assert main(["validate"]) == 0, capsys.readouterr().err
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert "mylab.readers:read" in listed
    assert "mylab.alignments:WORDS" in listed
    refresh(project)
    for stage, item in (
        ("ingest", ""),
        ("generate", "last"),
        ("segment", ""),
        ("decompose", "semicolons"),
        ("align", "words"),
        ("pair", "all"),
        ("judge", "verbatim"),
        ("measure", ""),
        ("score_statements", "numbers_found"),
        ("aggregate", ""),
    ):
        assert run_stage(monkeypatch, project, stage, item) == 0, (
            capsys.readouterr().err
        )

    def read(table: str) -> pd.DataFrame:
        return pd.read_parquet(project / f"data/tables/one/{table}.parquet")

    units = read("units")
    claims = units[(units["author"] == "terse") & (units["kind"] == "claim")]
    assert list(claims["text"]) == ["Cough gone", "no fever.", "No fever."]
    assert list(read("texts/last")["text"]) == [
        "It is gone. [1]",
        "None for a week. [1]",
    ]
    aligned = read("alignments/words").set_index("author").loc["last", "passages"]
    assert list(map(list, aligned)) == [[1, 0], [1]]
    statements = read("statement_scores/numbers_found")
    assert set(statements[["metric", "judge"]].to_numpy().ravel()) == {
        "numbers_found",
        "none",
    }
    assert set(read("judgments/verbatim")["label"]) == {"entailed", "not_entailed"}
    board = read("leaderboard").set_index(["metric", "author"])
    assert board.loc[("negations", "terse"), "macro"].item() == pytest.approx(
        (1 / 4 + 1 / 2) / 2
    )
    assert set(board.loc["negations", "better"]) == {"neither"}


def add_all_of_the_page() -> None:
    """Take every block of the page into the project, and let its benchmark use them."""
    params: Any = yaml.safe_load(Path("params.yaml").read_text(encoding="utf-8"))
    registry: Any = yaml.safe_load(
        Path("data/registry.yaml").read_text(encoding="utf-8")
    )
    for name, text in BLOCKS:
        if name.endswith(".py"):
            Path(name).write_text(text, encoding="utf-8")
        else:
            whole = params if name == "params.yaml" else registry
            for block, entries in yaml.safe_load(text).items():
                whole[block] |= entries
    settings = yaml.safe_load(SETTINGS.read_text(encoding="utf-8")) | {
        "dataset": "visits",
        "raw": "data/visits",
        "systems": ["last"],
        "metrics": ["negations"],
        "statement_metrics": ["numbers_found"],
        "segmentation": "lines",
        "decompositions": ["semicolons"],
        "design": {},
        "alignments": ["words"],
        "judges": ["verbatim"],
        "criteria": {"fit": {"low": 1, "high": 5, "better": "higher"}},
    }
    files = {"params.yaml": params, "data/registry.yaml": registry, SETTINGS: settings}
    for file, content in files.items():
        Path(file).write_text(
            yaml.safe_dump(content, sort_keys=False), encoding="utf-8"
        )


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("mylab.nothing:X", "params.yaml > metrics > negations > kind: 'mylab.nothing:X' is not"
         " known: there is no module 'mylab.nothing' in the project's folder"),
        ("nowhere.metrics", "there is no module 'nowhere' in the project's folder"),
        ("mylab.metrics", "module 'mylab.metrics' has no KIND; define it there"),
        ("mylab.metrics:OTHER", "module 'mylab.metrics' has no OTHER; define it there"),
        ("mylab.judges:VERBATIM", "is of type JudgeKind, and Metric is wanted here"),
        ("mylab.metrics:measure", "is of type function, and Metric is wanted here"),
        ("mylab", "'mylab' is not known; choose from"),
        ("mylab..metrics", "'mylab..metrics' is not known; choose from"),
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_told(project, capsys, kind, problem):
    change(project / "params.yaml", '"mylab.metrics:NEGATIONS"', f'"{kind}"')
    assert problem in problems(capsys)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("NEGATIONS = ", "NEGATIONS == ", "mylab/metrics.py, line 27: NameError: name 'NEGATIONS'"),
        ("def measure(", "def measure((", "mylab/metrics.py, line 14: SyntaxError: "),
        ("from metassay", "import no_such_package\nfrom metassay",
         "mylab/metrics.py, line 5: ModuleNotFoundError: No module named 'no_such_package'"),
        ("class Neg", "raise SystemExit(3)\nclass Neg", "mylab/metrics.py, line 8: SystemExit: 3"),
        ("options=NegationOptions", "options=dict", "are no class of options; derive it from"),
        ('name="negations"', 'name="bleu"', "gives a metric 'bleu', which is one of Metassay's"),
    ],
)  # fmt: skip
def test_a_fault_in_a_module_is_told_in_one_line(project, capsys, old, new, problem):
    change(project / "mylab/metrics.py", old, new)
    (line,) = [line for line in problems(capsys).splitlines() if problem in line]
    assert "params.yaml" in line
    assert "metrics > negations > kind" in line


def test_a_reader_that_is_none_is_told(project, capsys):
    (project / "mylab/readers.py").write_text(
        "read = 3\ndef rows(raw):\n    return []\n"
    )
    change(project / "data/registry.yaml", "reader: files", "reader: mylab.readers")
    where = "data/registry.yaml > datasets > sample > reader: "
    assert f"{where}'mylab.readers' is not a function of a folder" in problems(capsys)
    change(project / "data/registry.yaml", "mylab.readers", "mylab.readers:rows")
    message = "reader 'mylab.readers:rows' returned list, and metassay.kinds.Rows is needed here"
    assert message in problems(capsys)
    change(project / "params.yaml", "never, without]", "never], least: 3")
    assert "metrics > negations > least: unknown key; remove it" in problems(capsys)


def test_a_metric_that_gives_too_few_values_is_told(project, monkeypatch, capsys):
    change(
        project / "mylab/metrics.py",
        "in zip(counts, tokens, strict=True)",
        "in [(1, [2])]",
    )
    text = SETTINGS.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^metrics: .*", "metrics: [negations]", text)
    SETTINGS.write_text(
        re.sub(r"(?m)^systems: .*", "systems: []", text), encoding="utf-8"
    )
    refresh(project)
    codes = [
        run_stage(monkeypatch, project, name)
        for name in ("ingest", "segment", "measure")
    ]
    assert codes == [0, 0, 78]
    words = "mylab.metrics:NEGATIONS: returned {'negations': 1} values, not"
    assert words in capsys.readouterr().err


def test_an_edit_makes_stale_what_depends_on_it_and_nothing_else(project, monkeypatch):
    """The file of its module counts, or the version that it declares."""
    # Compiled modules are known by the second: these edits are closer to each other.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    refresh(project)
    before = versions(project, load(project))

    def changed() -> set[str]:
        forget()
        after = versions(project, load(project))
        return {
            f"{block}.{name}"
            for block, named in after.items()
            for name, version in named.items()
            if before[block][name] != version
        }

    change(
        project / "mylab/metrics.py",
        "def measure(",
        "def late():\n    pass\n\n\ndef measure(",
    )
    assert changed() == {"metrics.negations"}
    assert find_stale(project, load(project), ["metrics.negations"])
    change(project / "mylab/metrics.py", "class Neg", "VERSION = 2\n\n\nclass Neg")
    assert changed() == {"metrics.negations"}
    refresh(project)
    before = versions(project, load(project))
    change(project / "mylab/metrics.py", "def late", "def later")
    assert changed() == set(), "its owner says when results change"
    change(project / "mylab/metrics.py", "VERSION = 2", "VERSION = 3")
    assert changed() == {"metrics.negations"}
    (project / "mylab/metrics.py").unlink()
    with pytest.raises(
        BadInput, match=r"'mylab\.metrics:NEGATIONS' is not known: there is no module"
    ):
        changed()


def test_a_plain_name_is_never_imported(monkeypatch, tmp_path):
    (tmp_path / "words.py").write_text("raise SystemExit", encoding="utf-8")
    assert all(is_path(word) for word in ("a.b", "a:B", "a.b:C"))
    assert not any(is_path(word) for word in ("words", "1.5", "a:b:c", "a/b"))
    with pytest.raises(BadInput, match="'words' is not known; choose from"):
        choose(METRICS, {"kind": "words"}, where="params.yaml > metrics > w")
