"""Declared versions: all are declared, and versions.yaml says what a named block stands for."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from dvc.utils.serialize import parse_yaml  # type: ignore[import-untyped]

from metassay.core import versions as core
from metassay.core.errors import BadInput
from metassay.core.params import Params, load
from metassay.core.stages import (
    SORTS,
    TRAINING,
    dag,
    differing_stages,
    has_own_dag,
    root_dag,
    stage_versions,
    stages_of,
    used_blocks,
)
from metassay.core.versions import (
    FILE,
    KINDS,
    declared_version,
    find_stale,
    format_yaml,
    index_of,
    read,
    version_of,
    versions,
)
from metassay.judges import jury, lexical
from metassay.project.refresh import refresh
from tests.conftest import ROOT

PARAMS = load(ROOT)
LEXICAL = {"kind": "lexical", "threshold": 0.6, "window": 60}
LLM = {
    "kind": "llm",
    "model": "mini",
    "style": "json",
    "per_call": "part",
    "shots": 0,
    "rounds": 1,
}
MODEL = {
    "endpoint": "here",
    "model": "mini-1",
    "max_tokens": 200,
    "prices": {"date": "2026-01-01"},
}
ENDPOINT = {"kind": "openai", "base_url": "http://localhost:1/v1", "concurrency": 8}


def test_the_committed_files_are_true() -> None:
    assert refresh(ROOT) == [], "run `metassay update` and commit what it writes"
    assert (ROOT / "dvc.yaml").read_text(encoding="utf-8") == root_dag(TRAINING)


def test_every_kind_declares_a_version() -> None:
    for block in KINDS:
        for kind, path in index_of(block).items():
            module = importlib.import_module(path.partition(":")[0])
            assert type(getattr(module, "VERSION", None)) is int, f"{kind}: {path}"


def test_stages_that_share_a_module_share_its_version() -> None:
    for stages, _, _ in SORTS.values():
        for stage in stages:
            assert stage.version == stage_versions()[stage.module], stage.name


# ---- what an entry of versions.yaml has ----------------------------------------------------------


def with_judge(judge: dict[str, Any], **blocks: Any) -> Params:
    """This project's params, with a judge `tested`, a model `mini` and an endpoint `here`."""
    blocks = {
        "judges": {"tested": judge},
        "models": {"mini": MODEL},
        "endpoints": {"here": ENDPOINT},
        **blocks,
    }
    return PARAMS.model_copy(update=blocks)


def test_a_kind_that_reads_nothing_has_a_number() -> None:
    assert version_of(ROOT, with_judge(LEXICAL), "judges", "tested") == lexical.VERSION
    assert version_of(ROOT, PARAMS, "stages", "judge") == 1
    assert version_of(ROOT, PARAMS, "datasets", "sample") == 1


def test_members_prompts_and_models_are_part_of_a_version() -> None:
    block = {
        "kind": "jury",
        "by": "majority",
        "members": {"first": LEXICAL, "second": LLM},
    }
    version: Any = version_of(ROOT, with_judge(block), "judges", "tested")
    assert version["version"] == jury.VERSION
    assert version["members"]["first"] == lexical.VERSION
    second = version["members"]["second"]
    assert second["models"] == {
        "mini": {
            "model": "mini-1",
            "max_tokens": 200,
            "endpoint": {"kind": "openai", "base_url": "http://localhost:1/v1"},
        }
    }
    prompts = second["prompts"]
    assert all(
        file.startswith("prompts/") and len(prompts[file]) == 16 for file in prompts
    )


@pytest.mark.parametrize(
    ("changed", "is_other"),
    [
        ({"models": {"mini": {**MODEL, "prices": {"date": "2027-01-01"}}}}, False),
        (
            {"endpoints": {"here": {**ENDPOINT, "concurrency": 2, "timeout": 5.0}}},
            False,
        ),
        ({"endpoints": {"here": ENDPOINT, "there": ENDPOINT}}, False),
        ({"models": {"mini": MODEL, "maxi": MODEL}}, False),
        ({"models": {"mini": {**MODEL, "temperature": 0.5}}}, True),
        (
            {"endpoints": {"here": {**ENDPOINT, "base_url": "http://localhost:2/v1"}}},
            True,
        ),
    ],
)
def test_only_what_an_answer_depends_on_counts(
    changed: dict[str, Any], is_other: bool
) -> None:
    before = version_of(ROOT, with_judge(LLM), "judges", "tested")
    after = version_of(ROOT, with_judge(LLM, **changed), "judges", "tested")
    assert (before != after) == is_other


def test_a_prompt_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"judges > tested: reads prompts/\S+, which does not exist"
    ):
        version_of(tmp_path, with_judge(LLM), "judges", "tested")


# ---- kinds of a user's own -----------------------------------------------------------------------


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a user's module `mykinds`, in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mykinds", raising=False)
    return tmp_path / "mykinds.py"


def declared_in(file: Path, text: str) -> int | str:
    file.write_text(text, encoding="utf-8")
    sys.modules.pop("mykinds", None)
    return declared_version("mykinds:KIND", "params.yaml > metrics > own")


def test_a_module_without_a_version_has_the_hash_of_its_file(own_module: Path) -> None:
    first = declared_in(own_module, "KIND = 1\n")
    assert isinstance(first, str)
    assert declared_in(own_module, "KIND = 2\n") != first
    own_module.write_bytes(b"KIND = 1\r\n")  # as git writes it on Windows
    assert declared_version("mykinds:KIND", "here") == first
    assert declared_in(own_module, "VERSION = 3\nKIND = 1\n") == 3


@pytest.mark.parametrize("value", ["'3'", "1.5", "True"])
def test_a_version_is_a_whole_number(own_module: Path, value: str) -> None:
    with pytest.raises(
        BadInput, match=r"own: mykinds\.VERSION is .*; write a whole number"
    ):
        declared_in(own_module, f"VERSION = {value}\nKIND = 1\n")


# ---- the file ------------------------------------------------------------------------------------


def test_dvc_and_we_read_what_is_written() -> None:
    """Also a hash that looks like a number."""
    collected: core.Versions = {
        "stages": {"judge": 2},
        "judges": {
            "own": "12345678901234e5",
            "no": 1,
            "12": {"version": 1, "prompts": {"a": "0"}},
        },
    }
    text = format_yaml(collected)
    assert parse_yaml(text, "versions.yaml") == yaml.safe_load(text) == collected


def test_a_file_that_a_merge_broke_has_no_versions(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("<<<<<<< HEAD\nstages: {}\n", encoding="utf-8")
    assert read(tmp_path) == {}
    assert read(tmp_path / "nowhere") == {}


def test_entries_that_are_missing_or_old_are_told(tmp_path: Path) -> None:
    collected = versions(ROOT, PARAMS)
    collected["stages"]["measure"] = 0
    del collected["metrics"]["rouge"]
    (tmp_path / FILE).write_text(format_yaml(collected), encoding="utf-8")
    remedy = "run `metassay update`, then this again"
    keys = ["stages.measure", "metrics.rouge", "metrics.bleu"]
    assert find_stale(tmp_path, PARAMS, keys) == [
        f"versions.yaml > stages > measure: is not the version here; {remedy}",
        f"versions.yaml > metrics > rouge: is missing; {remedy}",
    ]


# ---- dvc.yaml ------------------------------------------------------------------------------------


def test_a_stage_watches_the_names_of_its_lists_alone() -> None:
    sample = PARAMS.benchmarks["sample"]
    stages = yaml.safe_load(dag(sample))["stages"]
    named = [f"metrics.{name}" for name in sample.metrics]
    measured = stages["measure"]["params"]
    assert [key for key in measured if str(key).startswith("metrics")] == named
    (of_versions,) = (
        block["versions.yaml"] for block in measured if "versions.yaml" in block
    )
    assert of_versions == ["stages.measure", *named, "segmentations.${segmentation}"]
    assert used_blocks(sample)["metrics"] == sorted(sample.metrics)


def test_what_its_owner_wrote_into_a_dvc_yaml_stays() -> None:
    sample = PARAMS.benchmarks["sample"]
    whole = yaml.safe_load(dag(sample))
    whole["stages"]["measure"]["meta"]["retries"] = 9
    whole["stages"]["judge"]["do"]["meta"] = {"retries": 0}
    whole["stages"]["plot"] = {
        "cmd": "python plot.py",
        "deps": ["data"],
        "outs": ["plot.svg"],
    }
    whole["stages"]["former"] = {"cmd": "python -m stages.former one", "outs": ["x"]}
    less = sample.model_copy(update={"metrics": ["rouge"]})
    assert differing_stages(whole, stages_of(less), less) == ["measure", "aggregate"]
    after = yaml.safe_load(dag(less, whole))
    assert differing_stages(after, stages_of(less), less) == []
    assert after["stages"]["measure"]["meta"]["retries"] == 9
    assert after["stages"]["judge"]["do"]["meta"] == {"retries": 0}
    assert after["stages"]["plot"] == whole["stages"]["plot"]
    assert "former" not in after["stages"]


def test_a_dvc_yaml_without_our_stages_is_its_owners() -> None:
    owners = {"stages": {"align": {"cmd": "cp a b", "deps": ["a"], "outs": ["b"]}}}
    assert has_own_dag(owners)
    assert not has_own_dag(yaml.safe_load(dag(PARAMS.benchmarks["sample"])))
    assert not has_own_dag({})
    assert not has_own_dag(None)
