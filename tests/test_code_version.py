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
from metassay.versions import closure
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
VERSIONS = cache(closure._versions)
MAIN = "@program\ndef main():\n    print()\n"
METRICS, ROUGE = "metassay/metrics/__init__.py", "metassay/metrics/rouge.py"
EMPTY = ("core", "tables", "versions", "datasets", "reporting")
PLAIN = ("units/whole", "units/statements", "units/alignment/full", "generation/lead")
PROJECT = {
    **{f"metassay/{room}/__init__.py": "" for room in EMPTY},
    **{f"metassay/{name}.py": "X = 1\n" for name in (*PLAIN, "judges/lexical")},
    "metassay/__init__.py": '"""Root."""\n__version__ = "1"\nLAZY = "metassay.reporting.page"\n',
    "metassay/core/errors.py": "class BadInput(Exception):\n    pass\n",
    "metassay/tables/parquet.py": "import yaml\nfrom metassay.core.errors import X\nPLACES = 12\n",
    "metassay/datasets/readers.py": (
        'READERS = {"files": "metassay.datasets.files:read"}\n'
        "ITEM_READERS = {}\nSENTENCE_READERS = {}\n"
    ),
    "metassay/datasets/files.py": "def read():\n    return 1\n",
    "metassay/units/__init__.py": (
        'SEGMENTATIONS = {"whole": "metassay.units.whole"}\n'
        'DECOMPOSITIONS = {"clauses": "metassay.units.statements"}\n'
    ),
    "metassay/units/alignment/__init__.py": (
        'ALIGNMENTS = {"full": "metassay.units.alignment.full"}\n'
    ),
    "metassay/generation/__init__.py": (
        'SYSTEMS = {\n    "lead": "metassay.generation.lead",\n'
        '    "chat": "metassay.generation.chat",\n}\n'
    ),
    "metassay/generation/chat.py": "KIND = System(options=Options, files=prompts)\n",
    "metassay/judges/__init__.py": 'JUDGES = {"lexical": "metassay.judges.lexical"}\n',
    METRICS: (
        '"""Metrics."""\n\nMETRICS: dict[str, str] = {\n    "rouge": "metassay.metrics.rouge",\n'
        '    "bleu": "metassay.metrics.bleu",\n}\n'
    ),
    ROUGE: (
        '"""ROUGE."""\nimport numpy as np\nfrom metassay.tables.parquet import PLACES\n\n\n'
        'def score(text):\n    """F-measure."""\n    words = text.split()\n    if words:\n'
        '        return len(words) + 1\n    return f"{PLACES + 1}"\n'
    ),
    "metassay/metrics/bleu.py": "def score():\n    from metassay.metrics import counts\n",
    "metassay/metrics/counts.py": "MOST = 4\n",
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
    "segmentation": "whole",
    "few_shot": {"mini": "data/raw/shown"},
    "released_claims": {"clauses": "data/raw/claims"},
    "alignments": ["full"],
    "questions": ["all"],
    "judges": ["lexical"],
    "metrics": ["rouge", "bleu"],
    "decompositions": [],
    "rubrics": [],
    "studies": {},
    "costly_metrics": [],
    "statement_metrics": [],
    "combinations": [],
    "tuned_metrics": {},
    "tuned_costly_metrics": {},
}
Changed = Callable[..., set[str]]


@pytest.fixture
def project(tmp_path, monkeypatch):
    texts = dict(PROJECT)
    for name, like, content in (
        ("params.yaml", "params.yaml", SHARED),
        ("benchmarks/one/params.yaml", "benchmarks/sample/params.yaml", BENCHMARK),
    ):
        texts[name] = yaml.safe_dump(
            yaml.safe_load((ROOT / like).read_text("utf-8")) | content
        )
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    chat = ModuleType("metassay.generation.chat")
    prompts = [PromptFile(Path("prompts/note.yaml"), {})]
    chat.KIND = SimpleNamespace(  # type: ignore[attr-defined]
        options=Options, files=lambda _: prompts, members=lambda _: {}
    )
    monkeypatch.setitem(sys.modules, chat.__name__, chat)
    monkeypatch.setattr(closure, "_versions", VERSIONS)  # half a second, once
    return tmp_path


@pytest.fixture
def changed(project):
    """Replaces text in a file; returns the entries that have another version since.

    The joint entry of the benchmark must be among them exactly if one of its names is.
    """

    def entries() -> dict[str, str]:
        blocks = versions(project).items()
        return {
            f"{block}.{name}": v for block, names in blocks for name, v in names.items()
        }

    def change(name: str, old: str, new: str) -> set[str]:
        before, path = entries(), project / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        assert old in text
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace(old, new) if old else new, encoding="utf-8")
        after = entries()
        moved = {key for key in before | after if before.get(key) != after.get(key)}
        for joint, (block, *_) in JOINT.items():
            assert (f"{joint}.one" in moved) == any(
                key.startswith(f"{block}.") for key in moved
            )
        return {key for key in moved if key.split(".")[0] not in JOINT}

    return change


def test_names_in_use_have_a_version_and_no_others(project):
    blocks = versions(project)
    assert list(blocks) == ["stages", *BLOCKS, *JOINT]
    assert {block: sorted(names) for block, names in blocks.items()} == {
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
        **{joint: ["one"] for joint in JOINT},
    }
    every = [version for names in blocks.values() for version in names.values()]
    hashes = [part for version in every for part in version.split("+")]
    assert all(len(part) == 16 and int(part, 16) >= 0 for part in hashes)
    assert [name for name, version in blocks["systems"].items() if "+" in version] == [
        "mini"
    ]


STAGES = {"stages.measure", "stages.report"}
UNSPOKEN = [  # what is not for the machine
    ('"""ROUGE."""', '"""Recall-Oriented\n\nUnderstudy."""'),
    ('"""ROUGE."""\n', ""),
    ('    """F-measure."""\n', "    'Another'\n"),
    ("\n\n\ndef", "  # why\n# what\n\ndef"),
    ("len(words) + 1", "len(words) + 1  # type: ignore"),
    ("len(words) + 1", "len(\n            words\n        ) + 1   "),
    ("len(words) + 1", "len(words) \\\n  +  1"),
    ("text.split()\n", "text.split()\n\n    # no words?\n"),
    # deeper, but the same block
    ("\n        return len", "\n                return len"),
    ("\n", "\r\n"),
]
SPOKEN = [
    ("+ 1\n", "+ 2\n"),
    ("+ 1\n", "- 1\n"),
    ("text.split()", "text.split('a')"),
    ('f"{PLACES + 1}"', 'f"{PLACES + 2}"'),
    ('f"{PLACES + 1}"', 'f"{PLACES +  1}"'),
    ("    return f", "        return f"),
    ("import numpy as np", "import scipy as np"),
    ("    if words:", "    f'{print()}'\n    if words:"),
    ('"""ROUGE."""', 'ABOUT = """ROUGE."""'),
]
EDITS: list[tuple[str, str, str, set[str]]] = [
    *((ROUGE, old, new, set()) for old, new in UNSPOKEN),
    *((ROUGE, old, new, {"metrics.rouge"}) for old, new in SPOKEN),
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
]


@pytest.mark.parametrize(("name", "old", "new", "whose"), EDITS)
def test_an_edit_changes_the_versions_of_who_runs_it(changed, name, old, new, whose):
    assert changed(name, old, new) == whose


def test_what_else_is_in_a_version(changed):
    """A text file of a module's name; the version that is printed; names in strings; docstrings."""
    page, measure = "metassay/reporting/page.txt", "stages/measure.py"
    assert changed(page, "", "a") == {"stages.report"}
    assert changed("metassay/reporting/page.css", "p", "q") == set(), (
        "the text file is all"
    )
    assert changed(page, "a", "b") == {"stages.report"}
    changed(measure, "from stages", "from metassay.tables import parquet\nfrom stages")
    assert changed("metassay/__init__.py", '"1"', '"3"') == set()
    changed(measure, "from stages", "from metassay import __version__\nfrom stages")
    assert changed("metassay/__init__.py", '"3"', '"2"') == {"stages.measure"}
    changed(measure, "from stages", 'N = "metassay.metrics.counts"\nfrom stages')
    assert changed("metassay/metrics/counts.py", "4", "5") == {
        "stages.measure",
        "metrics.bleu",
    }
    lexical, grade = (
        "metassay/judges/lexical.py",
        'class Grade(Answer):\n    """How good."""\n',
    )
    assert changed(lexical, "X = 1\n", grade) == {"judges.lexical"}
    assert changed(lexical, "good", "bad") == {"judges.lexical"}, (
        "language models read it"
    )


def test_a_new_kind_changes_nothing_and_a_chosen_one_its_own(project, changed):
    line = '    "bleu": "metassay.metrics.bleu",\n'
    assert (
        changed(METRICS, line, line + '    "chars": "metassay.metrics.rouge",\n')
        == set()
    )
    assert changed("params.yaml", "kind: bleu", "kind: chars") == {"metrics.bleu"}
    assert (
        changed("params.yaml", "\nmetrics:\n", "\nmetrics:\n  spare: {kind: bleu}\n")
        == set()
    )
    metrics = versions(project)["metrics"]
    assert metrics["bleu"] == metrics["rouge"]  # DVC watches the kind in params


def test_a_version_tells_code_from_prompts_and_from_what_was_learnt(project):
    def parts() -> list[str]:
        return versions(project)["systems"]["mini"].split("+")

    code, prompts = parts()
    (project / "prompts/note.yaml").write_text("system: do\n", encoding="utf-8")
    assert parts()[0] == code
    assert (reworded := parts()[1]) != prompts
    with (project / "metassay/generation/chat.py").open("a", encoding="utf-8") as file:
        file.write("X = 1\n")
    assert (edited := parts())[1] == reworded
    assert edited[0] != code
    (project / "coefficients.json").write_text("{}", encoding="utf-8")
    learnt = [PromptFile(Path("coefficients.json"), None)]
    sys.modules["metassay.generation.chat"].KIND.files = lambda _: learnt
    assert (parts()[:2], len(parts())) == ([edited[0], ""], 3)


def test_a_joint_version_has_the_parts_of_its_names():
    whole = split_version(_join_versions({"a": "1", "b": "2+3"}))
    for others, same in (({"b": "2+4"}, [True, False]), ({"a": "0"}, [False, True])):
        other = split_version(_join_versions({"a": "1", "b": "2+3"} | others))
        assert [x == y for x, y in zip(whole, other, strict=True)] == [*same, True]
    assert split_version(_join_versions({"a": "1"}))[1:] == ("", "")
    assert split_version(_join_versions({}))[0]


def test_a_judge_has_the_code_of_those_inside_it(project, changed):
    for kind in ("jury", "nli", "semantic"):
        changed(
            "metassay/judges/__init__.py",
            "{",
            f'{{"{kind}": "metassay.judges.{kind}", ',
        )
        changed(f"metassay/judges/{kind}.py", "", "X = 1\n")
    inner = {"kind": "jury", "members": {"c": {"kind": "nli"}}}
    params = yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8"))
    members = {"a": {"kind": "lexical"}, "b": inner}
    params["judges"]["lexical"] = {"kind": "jury", "members": members}
    (project / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    for kind in ("jury", "lexical", "nli"):
        assert changed(f"metassay/judges/{kind}.py", "1", "2") == {"judges.lexical"}
    assert not changed("metassay/judges/semantic.py", "1", "2")
    with pytest.raises(
        BadInput, match="judges > lexical > members > b > members > c > kind: 'nl"
    ):
        changed("params.yaml", "kind: nli", "kind: nlii")


def test_packages_that_make_numbers_are_in_a_version(project, changed, monkeypatch):
    rouge = "metassay.metrics.rouge"
    # tokens only
    assert changed("metassay/tables/parquet.py", "yaml", "rich") == {"metrics.rouge"}
    installed, numpy = (
        load_code(project).package_versions,
        importlib.metadata.version("numpy"),
    )
    assert installed(["numpy"]) == (f"numpy=={numpy}",)
    assert installed(["not_installed", "numpy"]) == (
        "not_installed==absent",
        f"numpy=={numpy}",
    )
    # What is not here is known by what would be installed: the same whichever extras
    # are there.
    (project / "constraints.txt").write_text(
        "not-installed==1.2\nnumpy==0\n", encoding="utf-8"
    )
    assert installed(["not_installed", "numpy"]) == (
        "not-installed==1.2",
        f"numpy=={numpy}",
    )
    assert load_code(project).dependencies(rouge).packages == (f"numpy=={numpy}",)
    lazily = 'torch = import_module("torch")\n'
    assert "judges.lexical" in changed("metassay/judges/lexical.py", "X = 1\n", lazily)
    (line,) = load_code(project).dependencies("metassay.judges.lexical").packages
    assert line.startswith("torch==")
    assert "+" not in line
    monkeypatch.setattr(closure, "_versions", lambda: {"numpy": ["numpy==0"]})
    (project / ".work/code.json").unlink()
    assert load_code(project).dependencies(rouge).packages == ("numpy==0",)


def test_the_file_is_the_same_for_the_same_code_and_is_left_alone(project):
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
    assert [p.name for p in project.iterdir() if p.name.startswith(".")] == [".work"]


def test_a_doorway_hears_of_its_own_entries_alone(project):
    blocks = [("metrics", "rouge"), ("questions", "all")]
    remedy = "run `metassay update`, then this again"
    assert find_stale(project, "measure", blocks) == [
        f"code.yaml > stages > measure: is not there; {remedy}",
        f"code.yaml > metrics > rouge: is not there; {remedy}",
    ]
    refresh(project)
    assert find_stale(project, "measure", blocks) == []
    (project / "metassay/metrics/counts.py").write_text("MOST = 3\n")
    assert find_stale(project, "measure", blocks) == []
    (line,) = find_stale(project, "measure", [("metrics", "")])
    assert (
        line == f"code.yaml > metrics > bleu: is of other code than is here; {remedy}"
    )
    (project / FILE).write_text("<<<<<<< ours\n=======\n")
    assert len(find_stale(project, "measure", [])) == 1
    assert refresh(project)
    assert find_stale(project, "measure", [("metrics", "")]) == []


def test_what_cannot_be_read_is_told_at_once(project):
    (project / "metassay/units/whole.py").write_text("X = (\n")
    (project / "metassay/units/alignment/full.py").write_text(
        "X = 'é'\n", encoding="latin-1"
    )
    (project / "prompts/note.yaml").unlink()
    with pytest.raises(BadInput) as raised:
        versions(project)
    assert len(raised.value.problems) == 3
    for words in (
        "whole.py: line 1: is not Python; fix it",
        "full.py: is not Python; fix it",
        "params.yaml > systems > mini: reads prompts/note.yaml, which is not there; add the file",
    ):
        assert words in "\n".join(raised.value.problems)


@pytest.mark.parametrize("registry", ["", "- one\n", None])
def test_a_registry_without_blocks_or_that_is_gone_is_no_crash(project, registry):
    file = project / "data/registry.yaml"
    file.unlink()
    if registry is not None:
        file.write_text(registry, encoding="utf-8")
    with pytest.raises(BadInput, match=r"registry\.yaml.*; "):
        versions(project)


def test_an_index_must_be_literal_and_have_the_kind(project):
    index = project / METRICS
    index.write_text(index.read_text().replace("rouge", "other"))
    with pytest.raises(
        BadInput, match="metrics > rouge > kind: 'rouge' is not known; choose from"
    ):
        versions(project)
    index.write_text("METRICS = dict(rouge=1)\n")
    with pytest.raises(
        BadInput, match="METRICS must be a literal table from kind to module"
    ):
        versions(project)


@pytest.fixture
def reads(monkeypatch):
    """The names of modules that were read, each time one is; files count as settled at once."""
    monkeypatch.setattr(closure, "SETTLING_TIME", 0.0)
    names: list[str] = []
    reader = closure.read_module

    def counting(path: Path, *rest: object) -> object:
        names.append(path.name)
        return reader(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(closure, "read_module", counting)
    return names


def test_nothing_is_read_twice_and_what_is_gone_is_forgotten(project, reads):
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
    (project / "stages/report.py").unlink()
    path.write_text("X = 1\n")
    versions(project)
    entries = json.loads((project / ".work/code.json").read_text())["entries"]
    assert not [key for key in entries if key.endswith("report.py")]
    assert [key for key in entries if key.endswith("measure.py")]


def test_two_edits_within_one_tick_are_both_seen(project):
    path = project / ROUGE
    state, first = path.stat(), versions(project)
    path.write_text(path.read_text().replace("+ 1", "+ 2"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert versions(project)["metrics"] != first["metrics"]


@pytest.mark.usefixtures("reads")
def test_the_file_of_what_was_read_may_be_damaged_or_written_by_several(project):
    first, file = versions(project), project / ".work/code.json"
    for text in ("{", "[]", '{"about": 1}', '{"entries": {}}'):
        file.write_text(text)
        assert versions(project) == first
        assert json.loads(file.read_text())["entries"]
    program = (
        "import sys, metassay.versions.closure as c; from pathlib import Path\n"
        "c.SETTLING_TIME = 0\n"
        "code = c.Code(Path(sys.argv[1]), {'metassay.metrics': ['METRICS']})\n"
        "for _ in range(20):\n    code.dependencies('stages.measure'); code.cache.changed = True\n"
        "    code.cache.save()\n"
    )
    command = [sys.executable, "-c", program, str(project)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert json.loads(file.read_text())["entries"]
    assert [path.name for path in file.parent.iterdir()] == ["code.json"]
    file.unlink()
    file.mkdir()  # cannot be written to
    assert versions(project) == first
