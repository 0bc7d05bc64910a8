"""params, registry, prompts, versions.yaml and DVC's files: each problem is named before a run.

What is not named goes through the stages, over two documents of the sample.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import strategies as st

from metassay.core.merges import dvc_problems
from metassay.core.params import load as load_params
from metassay.core.versions import find_stale
from metassay.llm.prompts import load, render
from metassay.project.validation import configuration_problems
from tests.fuzz.mutations import (
    ACCIDENTS,
    CHANGES,
    ODD_NUMBERS,
    changed,
    damaged,
    paths,
)
from tests.fuzz.rule import check_line, fuzz, handled
from tests.fuzz.small_project import STAGES, declaration, make, run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The project as the current folder."""
    root = tmp_path_factory.mktemp("fuzzed")
    make(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        yield root


def check_config() -> None:
    """Named by `validate`; what is not named goes through the stages."""
    ended = handled(configuration_problems)
    for line in (*ended.problems, *(ended.value or ())):
        check_line(line)
    assert not ended.problems, "validate gathers problems, and raises none"
    if not ended.value:
        run_stages()


def run_stages() -> None:
    """As their doorways run them; what a benchmark no longer names is nobody's."""
    for words in STAGES:
        entry = declaration(words)
        if entry.problems:
            assert " " in words or words == "measure", entry.problems
            return
        if run(words, entry.value).problems:
            return


def check_prompt() -> None:
    """What is taken can be filled in."""
    filled: Any = {"items": "data", "least": "text", "most": "text"}
    ended = handled(lambda: load("claims", Path("prompts"), filled=filled))
    if not ended.problems:
        handled(lambda: render(ended.value, items=[1], least=1, most=2))


def check_dvc() -> None:
    """Problems are gathered, none is raised."""
    ended = handled(lambda: dvc_problems(Path(), ["sample"]))
    assert not ended.problems
    for line in ended.value:
        check_line(line)
        assert "dvc." in line
        assert ";" in line


ALIGNED = ["stages.align", "alignments.rouge_topk"]
CHECKS: dict[str, Callable[[], object]] = {
    **dict.fromkeys(
        ("params.yaml", "benchmarks/sample/params.yaml", "data/registry.yaml"),
        check_config,
    ),
    "prompts/claims.yaml": check_prompt,
    "versions.yaml": lambda: handled(
        lambda: find_stale(Path(), load_params(), ALIGNED)
    ),
    **dict.fromkeys(
        ("dvc.lock", "benchmarks/sample/dvc.lock", "benchmarks/sample/dvc.yaml"),
        check_dvc,
    ),
}


def check(name: str, content: bytes) -> None:
    file = Path(name)
    sound = file.read_bytes()
    try:
        file.write_bytes(content)
        CHECKS[name]()
        assert file.read_bytes() == content
    finally:
        file.write_bytes(sound)


def test_what_is_sound_is_taken(home: Path) -> None:
    """Otherwise all that follows would be refused for another reason."""
    assert configuration_problems() == []
    assert dvc_problems(Path(), ["sample"]) == []
    assert load_params().benchmarks
    run_stages()
    assert Path("data/tables/sample/leaderboard.parquet").exists()


@pytest.mark.parametrize("name", CHECKS)
def test_bytes_and_values(name: str, home: Path) -> None:
    sound = (home / name).read_bytes()
    values = json.loads(json.dumps(yaml.safe_load(sound)))

    def change(changes: Any) -> None:
        dumped = yaml.safe_dump(changed(values, changes), allow_unicode=False)
        check(name, dumped.encode("utf-8", "surrogatepass"))

    fuzz(lambda accidents: check(name, damaged(sound, accidents)), ACCIDENTS, few=True)
    fuzz(change, CHANGES, few=True)


NUMBERS = (
    *ODD_NUMBERS,
    2,
    3,
    60,
    10**5,
    10**6,
    10**9,
    2**63,
    0.999999,
    1e-300,
    -0.0,
    1e16,
)


@pytest.mark.parametrize("name", ["params.yaml", "benchmarks/sample/params.yaml"])
def test_one_number(name: str, home: Path) -> None:
    """One number alone is another one, so that many are taken."""
    sound = yaml.safe_load((home / name).read_text("utf-8"))
    places = [at for at in paths(sound) if type(_at(sound, at)) in (int, float)]

    def run(at: tuple[Any, ...], number: float) -> None:
        value = json.loads(json.dumps(sound))
        _at(value, at[:-1])[at[-1]] = number
        check(name, yaml.safe_dump(value).encode())

    fuzz(run, st.sampled_from(places), st.sampled_from(NUMBERS), few=True)


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value
