"""params, registry, prompts, code.yaml and DVC's files: each problem is named before a run.

What is not named goes through the stages, over two documents of the sample.
"""

import importlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from metassay.code_version import stale
from metassay.llm.prompts import load, render
from metassay.merges import dvc_problems
from metassay.params import load as load_params
from metassay.validation import configuration_problems
from stages.declared import declared
from stages.doorway import Given
from tests.fuzz.mutations import ACCIDENTS, CHANGES, ODD_NUMBERS, changed, damaged, paths
from tests.fuzz.rule import FEW, check_line, handled

ROOT = Path(__file__).parents[2]
LLM = """
endpoints:
  here: {kind: openai, base_url: "http://127.0.0.1:9/v1", key_env: KEY, concurrency: 4,
         structured: true, sends: [private], proxy: null, timeout: 5.0}
models:
  mini: {endpoint: here, model: m-1, max_tokens: 200,
         prices: {date: "2026-11-01", input_per_million: 0.5, output_per_million: 1.0,
                  currency: USD}}
max_cost: {amount: 5, currency: USD}
"""


BLOCKS: dict[str, dict[str, Any]] = {
    "decompositions": {
        "mini": {"kind": "llm", "model": "mini", "least": 1, "most": 30, "rounds": 2}
    },
    "systems": {
        "talker": {
            **{"kind": "chat", "model": "mini", "unit": "full", "citations": True},
            **{"shots": 0, "examples": [], "example_citations": "none"},
        }
    },
}
DOCUMENTS = 2
# In the order of the data; those behind them take a second or more.
STAGES = (
    *("ingest", "generate lead", "generate longest_turn", "segment", "decompose clauses", "align"),
    *("pair all", "judge lexical", "measure", "aggregate"),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project of one small benchmark, with a model in its params, as the current folder."""
    root = tmp_path_factory.mktemp("fuzzed")
    for name in ("data/registry.yaml", "dvc.yaml", "dvc.lock", "code.yaml"):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    for name in ("prompts", "rubrics", "benchmarks/sample", "data/sample"):
        shutil.copytree(ROOT / name, root / name)
    shorten(root / "data/sample")
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8")) | yaml.safe_load(LLM)
    for block, more in BLOCKS.items():
        params[block] |= more
    params["aggregation"] |= {"resamples": 20}
    params["shown_as"] = {"lead": "The first five"}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        yield root


def shorten(folder: Path) -> None:
    """Leave the shortest documents of own data."""
    sources = (folder / "sources.jsonl").read_text("utf-8").splitlines(keepends=True)
    sources = sorted(sources, key=len)[:DOCUMENTS]
    (folder / "sources.jsonl").write_text("".join(sources), encoding="utf-8")
    kept = {json.loads(line)["doc_id"] for line in sources}
    texts = (folder / "texts.jsonl").read_text("utf-8").splitlines(keepends=True)
    texts = [line for line in texts if json.loads(line)["doc_id"] in kept]
    (folder / "texts.jsonl").write_text("".join(texts), encoding="utf-8")
    header, *rows = (folder / "ratings.csv").read_text("utf-8").splitlines(keepends=True)
    place = header.split(",").index("doc_id")
    rows = [row for row in rows if row.split(",")[place] in kept]
    (folder / "ratings.csv").write_text("".join([header, *rows]), encoding="utf-8")


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
    for stage, item in (f"{words} ".split(" ")[:2] for words in STAGES):
        arguments = ["sample", item] if item else ["sample"]
        entry = handled(lambda s=stage, a=arguments: declared(s, a))
        if entry.problems:
            assert item or stage == "measure", entry.problems
            return
        main = importlib.import_module(f"stages.{stage}").main
        if handled(lambda m=main, e=entry.value, a=arguments: m(Given(e, a))).problems:
            return


def check_prompt() -> None:
    """What is taken can be filled in."""
    ended = handled(lambda: load("claims", Path("prompts"), filled=FILLED))
    if not ended.problems:
        handled(lambda: render(ended.value, items=[1], least=1, most=2))


FILLED: Any = {"items": "data", "least": "text", "most": "text"}


def check_dvc() -> None:
    """Problems are gathered, none is raised."""
    ended = handled(lambda: dvc_problems(Path(), ["sample"]))
    assert not ended.problems
    for line in ended.value:
        check_line(line)
        assert "dvc." in line
        assert ";" in line


CHECKS: dict[str, Callable[[], object]] = {
    "params.yaml": check_config,
    "benchmarks/sample/params.yaml": check_config,
    "data/registry.yaml": check_config,
    "prompts/claims.yaml": check_prompt,
    "code.yaml": lambda: handled(lambda: stale(Path(), "align", [("alignments", "rouge_topk")])),
    "dvc.lock": check_dvc,
    "benchmarks/sample/dvc.lock": check_dvc,
    "benchmarks/sample/dvc.yaml": check_dvc,
}


def tried(file: Path, content: bytes) -> None:
    sound = file.read_bytes()
    try:
        file.write_bytes(content)
        CHECKS[file.as_posix()]()
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
def test_bytes(name: str, home: Path) -> None:
    sound = (home / name).read_bytes()

    @FEW
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        content = damaged(sound, accidents)
        tried(Path(name), content)

    run()


@pytest.mark.parametrize("name", CHECKS)
def test_values(name: str, home: Path) -> None:
    sound = json.loads(json.dumps(yaml.safe_load((home / name).read_text("utf-8"))))

    @FEW
    @given(CHANGES)
    def run(changes: Any) -> None:
        value = changed(sound, changes)
        dumped = yaml.safe_dump(value, allow_unicode=False)
        tried(Path(name), dumped.encode("utf-8", "surrogatepass"))

    run()


NUMBERS = (*ODD_NUMBERS, 2, 3, 60, 10**5, 10**6, 10**9, 2**63, 0.999999, 1e-300, -0.0, 1e16)


@pytest.mark.parametrize("name", ["params.yaml", "benchmarks/sample/params.yaml"])
def test_one_number(name: str, home: Path) -> None:
    """One number alone is another one, so that many are taken."""
    sound = yaml.safe_load((home / name).read_text("utf-8"))
    places = [at for at in paths(sound) if type(_at(sound, at)) in (int, float)]

    @FEW
    @given(st.sampled_from(places), st.sampled_from(NUMBERS))
    def run(at: tuple[Any, ...], number: float) -> None:
        value = json.loads(json.dumps(sound))
        _at(value, at[:-1])[at[-1]] = number
        tried(Path(name), yaml.safe_dump(value).encode())

    run()


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value
