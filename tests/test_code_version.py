"""Code as a version: what changes a hash and what does not, in an invented project."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.llm.needs import PromptFile
from metassay.versions import closure as code_closure
from metassay.versions.code_yaml import (
    BLOCKS,
    FILE,
    JOINT,
    _join_versions,
    find_stale,
    load_code,
    read_versions,
    refresh,
    split_version,
    versions,
)

ROOT = Path(__file__).parent.parent
VERSIONS = cache(code_closure._versions)

MAIN = "@program\ndef main():\n    print()\n"
PROJECT = {
    "metassay/__init__.py": '"""Root."""\n__version__ = "1"\nLAZY = "metassay.reporting.page"\n',
    **{f"metassay/{room}/__init__.py": "" for room in ("core", "tables", "versions")},
    "metassay/core/errors.py": "class BadInput(Exception):\n    pass\n",
    "metassay/tables/parquet.py": (
        "import yaml\nfrom metassay.core.errors import BadInput\nPLACES = 12\n"
    ),
    "metassay/datasets/__init__.py": "",
    "metassay/datasets/readers.py": (
        'READERS = {"files": "metassay.datasets.files:read"}\nITEM_READERS = {}\n'
        "SENTENCE_READERS = {}\n"
    ),
    "metassay/datasets/files.py": "def read():\n    return 1\n",
    "metassay/units/__init__.py": (
        'SEGMENTATIONS = {"whole": "metassay.units.whole"}\n'
        'DECOMPOSITIONS = {"clauses": "metassay.units.statements"}\n'
    ),
    "metassay/units/whole.py": "X = 1\n",
    "metassay/units/statements.py": "X = 1\n",
    "metassay/units/alignment/__init__.py": (
        'ALIGNMENTS = {"full": "metassay.units.alignment.full"}\n'
    ),
    "metassay/units/alignment/full.py": "X = 1\n",
    "metassay/generation/__init__.py": (
        'SYSTEMS = {\n    "lead": "metassay.generation.lead",\n'
        '    "chat": "metassay.generation.chat",\n}\n'
    ),
    "metassay/generation/lead.py": "X = 1\n",
    "metassay/generation/chat.py": "KIND = System(options=Options, files=prompts)\n",
    "metassay/judges/__init__.py": 'JUDGES = {"lexical": "metassay.judges.lexical"}\n',
    "metassay/judges/lexical.py": "X = 1\n",
    "metassay/metrics/__init__.py": (
        '"""Metrics."""\n\nMETRICS: dict[str, str] = {\n    "rouge": "metassay.metrics.rouge",\n'
        '    "bleu": "metassay.metrics.bleu",\n}\n'
    ),
    "metassay/metrics/rouge.py": (
        '"""ROUGE."""\nimport numpy as np\nfrom metassay.tables.parquet import PLACES\n\n\n'
        'def score(text):\n    """F-measure."""\n    words = text.split()\n    if words:\n'
        '        return len(words) + 1\n    return f"{PLACES + 1}"\n'
    ),
    "metassay/metrics/bleu.py": "def score():\n    from metassay.metrics import counts\n",
    "metassay/metrics/counts.py": "MOST = 4\n",
    "metassay/reporting/__init__.py": "",
    "metassay/reporting/page.py": "import jinja2\nHERE = __file__\n",
    "metassay/reporting/page.css": "p {}\n",
    "stages/__init__.py": "",
    "stages/doorway.py": "from metassay.core.errors import BadInput\n",
    "stages/measure.py": (
        "from typing import TYPE_CHECKING\nfrom metassay.metrics import METRICS\n"
        "from stages.doorway import enter\nif TYPE_CHECKING:\n"
        f"    from metassay.reporting import page\n{MAIN}"
    ),
    "stages/report.py": f"import metassay.reporting.page\nfrom stages.doorway import enter\n{MAIN}",
    "data/registry.yaml": "datasets:\n  invented: {reader: files}\n",
    "prompts/note.yaml": "system: write\n",
}

# What is not of interest here is as in this project.
SHARED = {
    "segmentations": {"whole": {"kind": "whole"}, "unused": {"kind": "whole"}},
    "decompositions": {"clauses": {"kind": "clauses"}},
    "alignments": {"full": {"kind": "full"}},
    "questions": {"all": {}},
    "systems": {"lead": {"kind": "lead"}, "mini": {"kind": "chat"}},
    "judges": {"lexical": {"kind": "lexical"}},
    "metrics": {"rouge": {"kind": "rouge"}, "bleu": {"kind": "bleu"}},
    "costly_metrics": {},
    "combinations": {},
}
BENCHMARK = {
    "name": "one",
    "dataset": "invented",
    "systems": ["lead"],
    "few_shot": {"mini": "data/raw/shown"},
    "segmentation": "whole",
    "decompositions": [],
    "released_claims": {"clauses": "data/raw/claims"},
    "studies": {},
    "rubrics": [],
    "alignments": ["full"],
    "questions": ["all"],
    "judges": ["lexical"],
    "metrics": ["rouge", "bleu"],
    "costly_metrics": [],
    "statement_metrics": [],
    "tuned_metrics": {},
    "tuned_costly_metrics": {},
    "combinations": [],
}

Changed = Callable[..., set[str]]


def prompts(_: Options) -> list[PromptFile]:
    return [PromptFile(Path("prompts/note.yaml"), {})]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in PROJECT.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name, like, content in (
        ("params.yaml", "params.yaml", SHARED),
        ("benchmarks/one/params.yaml", "benchmarks/sample/params.yaml", BENCHMARK),
    ):
        whole = yaml.safe_load((ROOT / like).read_text(encoding="utf-8")) | content
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(yaml.safe_dump(whole), encoding="utf-8")
    chat = ModuleType("metassay.generation.chat")
    kind = SimpleNamespace(options=Options, files=prompts, members=lambda _: {})
    chat.KIND = kind  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, chat.__name__, chat)
    monkeypatch.setattr(code_closure, "_versions", VERSIONS)  # half a second, once
    return tmp_path


@pytest.fixture
def changed(project: Path) -> Changed:
    """Replaces text in a file; says which entries have another version since."""

    def entries() -> dict[str, str]:
        found = versions(project)
        return {f"{block}.{name}": v for block, names in found.items() for name, v in names.items()}

    def change(name: str, old: str, new: str) -> set[str]:
        before = entries()
        path = project / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        assert old in text
        path.write_text(text.replace(old, new) if old else new, encoding="utf-8")
        after = entries()
        found = {one for one in before | after if before.get(one) != after.get(one)}
        return _less_joint(found)

    return change


def _less_joint(found: set[str]) -> set[str]:
    """Without the entry of the one benchmark, which is another exactly if one of its names is."""
    for joint, (block, *_) in JOINT.items():
        assert (f"{joint}.one" in found) == any(name.startswith(f"{block}.") for name in found)
    return {name for name in found if name.split(".")[0] not in JOINT}


def test_names_in_use_have_a_version_and_no_others(project: Path) -> None:
    found = versions(project)
    assert list(found) == ["stages", *BLOCKS, *JOINT]
    assert {block: sorted(names) for block, names in found.items()} == {
        "stages": ["measure", "report"],
        "datasets": ["invented"],
        "segmentations": ["whole"],
        "decompositions": ["clauses"],
        "alignments": ["full"],
        "systems": ["lead", "mini"],
        "judges": ["lexical"],
        "metrics": ["bleu", "rouge"],
        "costly_metrics": [],
        "statement_metrics": [],
        "metrics_of": ["one"],
        "costly_metrics_of": ["one"],
        "statement_metrics_of": ["one"],
        "alignments_of": ["one"],
        "decomposition_of": ["one"],
    }
    every = [version for names in found.values() for version in names.values()]
    hashes = [part for version in every for part in version.split("+")]
    assert all(len(part) == 16 and int(part, 16) >= 0 for part in hashes)
    assert [name for name in found["systems"] if "+" in found["systems"][name]] == ["mini"]


ROUGE = "metassay/metrics/rouge.py"
STAGES = {"stages.measure", "stages.report"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""ROUGE."""', '"""Recall-Oriented\n\nUnderstudy."""'),
        ('"""ROUGE."""\n', ""),
        ('    """F-measure."""\n', "    'Another'\n"),
        ("\n\n\ndef", "  # why\n# what\n\ndef"),
        ("len(words) + 1", "len(words) + 1  # type: ignore"),
        ("len(words) + 1", "len(\n            words\n        ) + 1   "),
        ("len(words) + 1", "len(words) \\\n  +  1"),
        ("text.split()\n", "text.split()\n\n    # no words?\n"),
        ("\n        return len", "\n                return len"),  # deeper, but the same block
        ("\n", "\r\n"),
    ],
)
def test_what_is_not_said_to_the_machine_changes_nothing(
    changed: Changed, old: str, new: str
) -> None:
    assert changed(ROUGE, old, new) == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+ 1\n", "+ 2\n"),
        ("+ 1\n", "- 1\n"),
        ("text.split()", "text.split('a')"),
        ('f"{PLACES + 1}"', 'f"{PLACES + 2}"'),
        ('f"{PLACES + 1}"', 'f"{PLACES +  1}"'),
        ("    return f", "        return f"),
        ("import numpy as np", "import scipy as np"),
        ("    if words:", "    f'{print()}'\n    if words:"),
        ('"""ROUGE."""', 'ABOUT = """ROUGE."""'),
    ],
)
def test_what_is_said_to_the_machine_changes_that_metric_alone(
    changed: Changed, old: str, new: str
) -> None:
    assert changed(ROUGE, old, new) == {"metrics.rouge"}


@pytest.mark.parametrize(
    ("name", "old", "new", "whose"),
    [
        ("metassay/metrics/counts.py", "4", "5", {"metrics.bleu"}),
        ("metassay/tables/parquet.py", "12", "13", {"metrics.rouge"}),
        ("metassay/datasets/files.py", "1", "2", {"datasets.invented"}),
        ("stages/measure.py", "print()", "print(1)", {"stages.measure"}),
        ("stages/doorway.py", "BadInput", "*", STAGES),
        ("metassay/core/errors.py", "pass", "x = 1", {"metrics.rouge", *STAGES}),
        ("metassay/__init__.py", '"1"', '"2"', set()),  # nobody prints the version
        ("metassay/reporting/page.css", "p", "q", {"stages.report"}),
        ("metassay/reporting/templates/card.j2", "", "new", {"stages.report"}),
        ("metassay/reporting/bundle/app.js", "", "new", {"stages.report"}),
        ("metassay/judges/notes.css", "", "p {}", set()),  # nobody there looks for files
        ("prompts/note.yaml", "write", "do", {"systems.mini"}),
        ("metassay/generation/lead.py", "1", "2", {"systems.lead"}),
        ("metassay/generation/lead.py", "X", '"""Doc."""\nX', set()),
        ("metassay/generation/lead.py", "X", '"""Doc."""\n__doc__', {"systems.lead"}),
        ("metassay/versions/code_yaml.py", "", "X = 1", set()),
    ],
)  # fmt: skip
def test_an_edit_changes_the_versions_of_who_runs_it(
    project: Path, changed: Changed, name: str, old: str, new: str, whose: set[str]
) -> None:
    for folder in ("templates", "bundle"):
        (project / "metassay/reporting" / folder).mkdir()
    assert changed(name, old, new) == whose


def test_a_text_file_of_a_module_s_name_is_all_that_it_reads(changed: Changed) -> None:
    assert changed("metassay/reporting/page.txt", "", "a") == {"stages.report"}
    assert changed("metassay/reporting/page.css", "p", "q") == set()
    assert changed("metassay/reporting/page.txt", "a", "b") == {"stages.report"}


def test_a_new_kind_changes_nothing_and_a_chosen_one_its_own(
    project: Path, changed: Changed
) -> None:
    line = '    "bleu": "metassay.metrics.bleu",\n'
    more = line + '    "chars": "metassay.metrics.rouge",\n'
    assert changed("metassay/metrics/__init__.py", line, more) == set()
    assert changed("params.yaml", "kind: bleu", "kind: chars") == {"metrics.bleu"}
    assert changed("params.yaml", "\nmetrics:\n", "\nmetrics:\n  spare: {kind: bleu}\n") == set()
    found = versions(project)
    assert found["metrics"]["bleu"] == found["metrics"]["rouge"]  # DVC watches the kind in params


def test_a_version_tells_code_from_prompts_and_from_what_was_learnt(project: Path) -> None:
    def parts() -> list[str]:
        return versions(project)["systems"]["mini"].split("+")

    before = parts()
    assert len(before) == 2
    (project / "prompts/note.yaml").write_text("system: do\n", encoding="utf-8")
    reworded = parts()
    assert (reworded[0] == before[0], reworded[1] == before[1]) == (True, False)
    with (project / "metassay/generation/chat.py").open("a", encoding="utf-8") as file:
        file.write("X = 1\n")
    edited = parts()
    assert (edited[0] == before[0], edited[1] == reworded[1]) == (False, True)

    (project / "coefficients.json").write_text("{}", encoding="utf-8")
    kind = sys.modules["metassay.generation.chat"].KIND
    kind.files = lambda _: [PromptFile(Path("coefficients.json"), None)]
    learnt = parts()
    assert (learnt[0], learnt[1], len(learnt)) == (edited[0], "", 3)


def test_a_joint_version_has_the_parts_of_its_names() -> None:
    one = _join_versions({"a": "1", "b": "2+3"})
    reworded, edited = (
        _join_versions({"a": "1", "b": "2+4"}),
        _join_versions({"a": "0", "b": "2+3"}),
    )
    assert [x == y for x, y in zip(split_version(one), split_version(reworded), strict=True)] == [
        *(True, False, True)
    ]
    assert [x == y for x, y in zip(split_version(one), split_version(edited), strict=True)] == [
        *(False, True, True)
    ]
    assert split_version(_join_versions({"a": "1"}))[1:] == ("", "")
    assert split_version(_join_versions({}))[0]


def test_a_judge_has_the_code_of_those_inside_it(project: Path, changed: Changed) -> None:
    known = "metassay/judges/__init__.py"
    for kind in ("jury", "nli", "semantic"):
        changed(known, "{", f'{{"{kind}": "metassay.judges.{kind}", ')
        changed(f"metassay/judges/{kind}.py", "", "X = 1\n")
    inner = {"kind": "jury", "members": {"c": {"kind": "nli"}}}
    block = {"kind": "jury", "members": {"a": {"kind": "lexical"}, "b": inner}}
    params = yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8"))
    params["judges"]["lexical"] = block
    (project / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    for kind in ("jury", "lexical", "nli"):
        assert changed(f"metassay/judges/{kind}.py", "1", "2") == {"judges.lexical"}
    assert not changed("metassay/judges/semantic.py", "1", "2")
    with pytest.raises(BadInput, match="judges > lexical > members > b > members > c > kind: 'nl"):
        changed("params.yaml", "kind: nli", "kind: nlii")


def test_who_prints_the_version_depends_on_it(changed: Changed) -> None:
    changed("stages/measure.py", "from stages", "from metassay.tables import parquet\nfrom stages")
    assert changed("metassay/__init__.py", '"1"', '"3"') == set()
    changed("stages/measure.py", "from stages", "from metassay import __version__\nfrom stages")
    assert changed("metassay/__init__.py", '"3"', '"2"') == {"stages.measure"}


def test_a_module_named_in_a_string_is_needed(changed: Changed) -> None:
    changed("stages/measure.py", "from stages", 'N = "metassay.metrics.counts"\nfrom stages')
    assert changed("metassay/metrics/counts.py", "4", "5") == {"stages.measure", "metrics.bleu"}


def test_a_docstring_that_models_read_counts(changed: Changed) -> None:
    grade = 'class Grade(Answer):\n    """How good."""\n'
    assert changed("metassay/judges/lexical.py", "X = 1\n", grade) == {"judges.lexical"}
    assert changed("metassay/judges/lexical.py", "good", "bad") == {"judges.lexical"}


def test_packages_that_make_numbers_are_in_a_version(
    project: Path, changed: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed("metassay/tables/parquet.py", "yaml", "rich") == {
        "metrics.rouge"
    }  # the tokens alone
    installed = load_code(project).package_versions
    version = importlib.metadata.version("numpy")
    assert installed(["numpy"]) == (f"numpy=={version}",)
    assert installed(["not_installed", "numpy"]) == ("not_installed==absent", f"numpy=={version}")
    # What is not here is known by what would be installed: the same whichever extras are there.
    (project / "constraints.txt").write_text("not-installed==1.2\nnumpy==0\n", encoding="utf-8")
    assert installed(["not_installed", "numpy"]) == ("not-installed==1.2", f"numpy=={version}")
    need = load_code(project).dependencies("metassay.metrics.rouge")
    assert need.packages == (f"numpy=={version}",)
    lazily = 'torch = import_module("torch")\n'
    assert "judges.lexical" in changed("metassay/judges/lexical.py", "X = 1\n", lazily)
    (line,) = load_code(project).dependencies("metassay.judges.lexical").packages
    assert line.startswith("torch==")
    assert "+" not in line
    monkeypatch.setattr(code_closure, "_versions", lambda: {"numpy": ["numpy==0"]})
    (project / ".work/code.json").unlink()
    assert load_code(project).dependencies("metassay.metrics.rouge").packages == ("numpy==0",)


def test_the_file_is_the_same_for_the_same_code_and_is_left_alone(project: Path) -> None:
    assert refresh(project)
    first, when = (project / FILE).read_bytes(), (project / FILE).stat().st_mtime_ns
    assert not refresh(project)
    assert (project / FILE).stat().st_mtime_ns == when
    (project / FILE).unlink()
    shutil.rmtree(project / ".work")
    assert refresh(project)
    assert (project / FILE).read_bytes() == first
    assert read_versions(project) == versions(project)
    assert b"costly_metrics: {}\n" in first
    assert sorted(p.name for p in project.iterdir() if p.name.startswith(".")) == [".work"]


def test_a_doorway_hears_of_its_own_entries_alone(project: Path) -> None:
    blocks = [("metrics", "rouge"), ("questions", "all")]
    remedy = "run `metassay update`, then this again"
    assert find_stale(project, "measure", blocks) == [
        f"code.yaml > stages > measure: is not there; {remedy}",
        f"code.yaml > metrics > rouge: is not there; {remedy}",
    ]
    refresh(project)
    assert find_stale(project, "measure", blocks) == []
    bleu = project / "metassay/metrics/counts.py"
    bleu.write_text("MOST = 3\n")
    assert find_stale(project, "measure", blocks) == []
    (line,) = find_stale(project, "measure", [("metrics", "")])
    assert line == f"code.yaml > metrics > bleu: is of other code than is here; {remedy}"
    (project / FILE).write_text("<<<<<<< ours\n=======\n")
    assert len(find_stale(project, "measure", [])) == 1
    assert refresh(project)
    assert find_stale(project, "measure", [("metrics", "")]) == []


def test_what_cannot_be_read_is_told_at_once(project: Path) -> None:
    (project / "metassay/units/whole.py").write_text("X = (\n")
    (project / "metassay/units/alignment/full.py").write_text("X = 'é'\n", encoding="latin-1")
    (project / "prompts/note.yaml").unlink()
    with pytest.raises(BadInput) as raised:
        versions(project)
    whole, full, prompt = sorted(raised.value.problems, key=lambda line: "whole" not in line)
    assert whole.endswith("whole.py: line 1: is not Python; fix it")
    assert "full.py" in full
    expected = (
        "params.yaml > systems > mini: reads prompts/note.yaml, which is not there; add the file"
    )
    assert expected in (full, prompt)


@pytest.mark.parametrize("registry", ["", "- one\n", None])
def test_a_registry_without_blocks_or_that_is_gone_is_no_crash(
    project: Path, registry: str | None
) -> None:
    file = project / "data/registry.yaml"
    if registry is None:
        file.unlink()
    else:
        file.write_text(registry, encoding="utf-8")
    with pytest.raises(BadInput, match=r"registry\.yaml.*; "):
        versions(project)


def test_an_index_must_be_literal_and_have_the_kind(project: Path) -> None:
    index = project / "metassay/metrics/__init__.py"
    index.write_text(index.read_text().replace("rouge", "other"))
    with pytest.raises(
        BadInput, match=r"metrics > rouge > kind: 'rouge' is not known; choose from"
    ):
        versions(project)
    index.write_text("METRICS = dict(rouge=1)\n")
    with pytest.raises(BadInput, match="METRICS must be a literal table from kind to module"):
        versions(project)


# What is kept of files


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of modules that were read, each time one is; files count as settled at once."""
    monkeypatch.setattr(code_closure, "SETTLING_TIME", 0.0)
    names: list[str] = []
    reader = code_closure.read_module

    def counted(path: Path, *rest: object) -> object:
        names.append(path.name)
        return reader(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(code_closure, "read_module", counted)
    return names


def test_nothing_is_read_twice(project: Path, reads: list[str]) -> None:
    first = versions(project)
    assert "rouge.py" in reads
    reads.clear()
    assert versions(project) == first
    assert find_stale(project, "report", [])
    assert reads == []
    path = project / ROUGE
    os.utime(path, ns=(1, time.time_ns() - 10**9))
    assert versions(project) == first
    assert reads == ["rouge.py"]
    path.write_text(path.read_text().replace("+ 1", "+ 2"))  # of the same size
    second = versions(project)
    assert {k for k in first if first[k] != second[k]} == {"metrics", "metrics_of"}


def test_two_edits_within_one_tick_are_both_seen(project: Path) -> None:
    path = project / ROUGE
    state = path.stat()
    first = versions(project)
    path.write_text(path.read_text().replace("+ 1", "+ 2"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert versions(project)["metrics"] != first["metrics"]


@pytest.mark.parametrize("text", ["{", "[]", '{"about": 1}', '{"entries": {}}'])
def test_what_is_kept_may_be_spoilt(project: Path, text: str, reads: list[str]) -> None:
    first = versions(project)
    kept = project / ".work/code.json"
    kept.write_text(text)
    assert versions(project) == first
    assert json.loads(kept.read_text())["entries"]
    kept.unlink()
    kept.mkdir()  # cannot be written to
    assert versions(project) == first


def test_files_that_are_gone_are_kept_no_longer(project: Path, reads: list[str]) -> None:
    versions(project)
    (project / "stages/report.py").unlink()
    (project / ROUGE).write_text("X = 1\n")
    versions(project)
    kept = json.loads((project / ".work/code.json").read_text())["entries"]
    assert not [key for key in kept if key.endswith("report.py")]
    assert [key for key in kept if key.endswith("measure.py")]


def test_processes_may_write_at_once(project: Path, reads: list[str]) -> None:
    versions(project)
    program = (
        "import sys, metassay.versions.closure as c; from pathlib import Path\n"
        "c.SETTLING_TIME = 0\n"
        "code = c.Code(Path(sys.argv[1]), {'metassay.metrics': ['METRICS']})\n"
        "for _ in range(20):\n    code.dependencies('stages.measure'); code.cache.changed = True\n"
        "    code.cache.save()\n"
    )
    command = [sys.executable, "-c", program, str(project)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [one.wait() for one in started] == [0, 0, 0]
    assert json.loads((project / ".work/code.json").read_text())["entries"]
    assert [path.name for path in (project / ".work").iterdir()] == ["code.json"]
