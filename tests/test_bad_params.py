"""What `validate` refuses of params files and prompts: with the line, and before anything runs."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.cli.main import main
from metassay.core.exit_codes import REFUSED

ROOT = Path(__file__).parent.parent
FILES = ("params.yaml", "data/registry.yaml", "benchmarks/sample/params.yaml")
HERE = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"}
PRICES = {
    "date": "2026-11-22", "input_per_million": 1, "output_per_million": 2, "currency": "USD",
}  # fmt: skip
MODEL = {"endpoint": "here", "model": "m-1", "max_tokens": 9, "prices": PRICES}
CHAT = {
    **{"kind": "chat", "model": "m", "unit": "section", "citations": True, "shots": 0},
    **{"examples": [], "example_citations": "none"},
}
LEXICAL = {"kind": "lexical", "threshold": 0.6, "window": 60}
LLM = {"kind": "llm", "model": "m", "style": "json", "per_call": "part", "shots": 0, "rounds": 1}


def panel(member: Any) -> dict[str, Any]:
    return {"kind": "jury", "by": "majority", "members": {"a": LEXICAL, "b": member}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (*FILES, "dvc.yaml", "benchmarks/sample/dvc.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts")
    shutil.copytree(ROOT / "rubrics", tmp_path / "rubrics")
    (tmp_path / "data/sample").symlink_to(ROOT / "data/sample")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: Path, at: str, value: Any) -> None:
    """Write a value into a YAML file, one key a line; a `!` before it stands as it is."""
    content = yaml.safe_load(path.read_text("utf-8"))
    block = content
    *steps, last = at.split(" > ")
    for step in steps:
        block = block[step]
    block[last] = "PUT HERE" if isinstance(value, str) and value[:1] == "!" else value
    text = json.dumps(content, indent=1)
    path.write_text(text.replace('"PUT HERE"', str(value)[1:]), encoding="utf-8")


def asking(here: Path) -> None:
    path = here / "params.yaml"
    put(path, "endpoints", {"here": HERE})
    put(path, "models", {"m": MODEL})
    put(path, "max_cost", {"amount": 1, "currency": "USD"})
    put(path, "systems > writer", CHAT)
    put(path, "decompositions > apart", {
        "kind": "llm", "model": "m", "least": 1, "most": 5, "rounds": 1,
    })  # fmt: skip


Capsys = pytest.CaptureFixture[str]


def refused(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["validate"]) == REFUSED
    return capsys.readouterr().err.splitlines()


def test_what_is_put_is_otherwise_sound(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asking(here)
    assert main(["validate"]) == 0


def test_statement_metrics_that_cannot_be_are_refused(here: Path, capsys: Capsys) -> None:
    model = {"model": "none", "device": "cpu", "dtype": "float64"}
    blocks = {
        "bart": {"kind": "bartscore", "checkpoints": {"tiny": model}, "alignments": ["gain"]},
        "same": {"kind": "bartscore", "checkpoints": {"tiny": model, "other": model}},
        "zs": {"kind": "summac_zs", "checkpoints": {"tiny": model}, "by": "text"},
    }
    put(here / "params.yaml", "statement_metrics", blocks)
    put(here / "params.yaml", "questions > all > alignments", ["gain"])
    put(here / "benchmarks/sample/params.yaml", "statement_metrics", [*blocks])
    problems = "\n".join(refused(capsys))
    assert (
        "bartscore_source (tiny) is measured by statement_metrics > bart and"
        " statement_metrics > same" in problems
    )
    assert "statement_metrics > bart: reads alignment 'gain', which is not among" in problems
    assert "questions > all: reads alignment 'gain', which is not among" in problems
    assert "statement_metrics > zs > by: this kind reads statements one by one" in problems
    trained = {"tiny": {**model, "model": "data/models/bart-gain"}}
    put(here / "params.yaml", "statement_metrics > bart > checkpoints", trained)
    assert "statement_metrics > bart: data/models/bart-gain is trained here;" in "\n".join(
        refused(capsys)
    )
    put(here / "benchmarks/sample/params.yaml", "statement_metrics", ["same", "zs"])
    put(here / "benchmarks/sample/params.yaml", "tuned_metrics", {"bart": "data/models"})
    assert "is trained here" not in "\n".join(refused(capsys))
    put(here / "benchmarks/sample/params.yaml", "alignments", [])
    assert "alignments: List should have at least 1 item" in "\n".join(refused(capsys))


def test_a_combination_needs_what_it_combines(here: Path, capsys: Capsys) -> None:
    """Its judges' scores are told when they are there; what nobody measures is told before."""
    put(here / "benchmarks/sample/params.yaml", "combinations", ["mist_comb1"])
    problems = refused(capsys)
    assert [
        sum(f"measures '{metric}'" in line for line in problems)
        for metric in ("mist", "bertscore_f1", "rouge1_recall")
    ] == [1, 1, 0]
    put(here / "params.yaml", "combinations > mist_comb1 > metrics", ["rouge1_recall", "bleu"])
    put(here / "params.yaml", "combinations > bleu", {"metrics": ["rouge1_recall"]})
    problems = refused(capsys)
    assert any("combinations > bleu: is one of Metassay's own metrics" in line for line in problems)
    assert any(
        "combinations > bleu > metrics: List should have at least 2" in line for line in problems
    )


FINITE = "Input should be a finite number"
PARAMS = [
    ("max_cost > amount", "!.inf", FINITE),
    ("models > m > prices > input_per_million", "!.inf", FINITE),
    ("models > m > prices > output_per_million", "!1.0e+300", "less than or equal to 1000000"),
    ("models > m > max_tokens", 20_000_000, "less than or equal to 1000000"),
    ("systems > writer > max_tokens", 20_000_000, "less than or equal to 1000000"),
    ("max_cost > amount", 10_000_000, "less than or equal to 4000000"),
    ("models > m > prices > date", "2026-02-30", "no calendar has this day; correct it"),
    ("models > m > prices > date", "!2026-02-30", "read differently by readers of YAML"),
    ("models > m > prices > date", 86400, 'write the day as "2026-11-21", in quotes'),
    ("models > m > model", "a\nb", "use printable characters"),
    ("models > m > tokenizer", "nowhere", "has no tokenizer.json"),
    ("models > m > seed", "!1e3", "read differently by readers of YAML"),
    ("endpoints > here > proxy", "proxy.example.org:3128", "String should match pattern"),
    ("endpoints > here > proxy", "http://:3128", "its host or port is none"),
    ("endpoints > here > base_url", "api.example.org/v1", "String should match pattern"),
    ("endpoints > here > base_url", "http://[::1/v1", "its host or port is none"),
    ("endpoints > here > base_url", "http://here/v1?a=b", "String should match pattern"),
    ("endpoints > here > key_env", "sk-secret", "String should match pattern"),
    ("endpoints > here > timeout", "!.nan", FINITE),
    ("judges > lexical > threshold", "!.nan", FINITE),
    ("judges > lexical > window", 10**400, "read differently by readers of YAML"),
    ("judges > lexical > kind", ["lexical"], "['lexical'] is not known; choose from"),
    ("judges > lexical", {"threshold": 0.5}, "kind: missing; choose from"),
    ("judges > panel", "lexical", "must be a mapping of keys to values"),
    ("judges > panel", panel({"kind": "lexcal"}), "members > b > kind: 'lexcal' is not known"),
    ("judges > panel", panel("lexical"), "members > b: is a name; write the judge's own block"),
    ("judges > panel", panel(LLM | {"model": "gpt"}), "members > b: model 'gpt' is not in"),
    ("judges > panel", panel(LLM | {"style": "table"}), "members > b > style: Input should be"),
    ("judges > panel", panel(LLM | {"shots": 9}), "examples: has 3, but shots is 9; add some"),
    ("aggregation > resamples", 0, "greater than or equal to 1"),
    ("meta_evaluation > resamples", 10**12, "less than or equal to 100000"),
    ("meta_evaluation > permutations", 10**12, "less than or equal to 100000"),
    ("meta_evaluation > seed", -1, "greater than or equal to 0"),
    ("meta_evaluation > confidence", 1, "less than or equal to 0.9999"),
    ("meta_evaluation > confidence", "!.nan", FINITE),
    ("meta_evaluation > threshold", "!0.00001", "greater than or equal to 0.001"),
    ("certification > useful", "!0.00001", "greater than or equal to 0.01"),
    ("systems > writer > prompts", {"note": "../prompts/claims"}, "use letters, digits"),
    ("decompositions > apart > rounds", 10**12, "less than or equal to 20"),
    ("metrics", ["rouge"], "must be a mapping of keys to values"),
    ("shown_as", {"lead": "Reference"}, "looks like reference, which is of systems too"),
    ("shown_as", {"lead": "longest_turn"}, "looks like longest_turn"),
    ("shown_as", {"lead": "a\x1b[2J"}, "use printable characters"),
    ("shown_as", {"leed": "Lead-3"}, "is neither a system nor a judge"),
]


@pytest.mark.parametrize(("at", "value", "said"), PARAMS)
def test_params_are_refused_with_the_line(
    here: Path, capsys: pytest.CaptureFixture[str], at: str, value: Any, said: str
) -> None:
    asking(here)
    put(here / "params.yaml", at, value)
    problem = next(line for line in refused(capsys) if at in line)
    file, _, rest = problem.partition(" > ")
    number = int(file.removeprefix("params.yaml, line "))
    assert rest.startswith(at)
    assert said in rest
    inner = rest.partition(": ")[0].rpartition(" > ")[2]
    lines = (here / "params.yaml").read_text("utf-8").splitlines()
    named = {at.rpartition(" > ")[2], inner}
    assert any(f'"{key}"' in lines[number - 1] for key in named)
    assert "sk-secret" not in problem


OWN = [
    ("criteria > completeness > low", "!.nan", FINITE),
    ("criteria > completeness > high", "!.inf", FINITE),
    ("segmentation", ["soap"], "Input should be a valid string"),
    ("systems", "lead", "Input should be a valid list"),
    ("judges", [["lexical"]], "Input should be a valid string"),
    ("judges", ["Lexical"], "'Lexical' is not in params.yaml > judges"),
]


@pytest.mark.parametrize(("at", "value", "said"), OWN)
def test_params_of_a_benchmark_are_refused_with_the_line(
    here: Path, capsys: pytest.CaptureFixture[str], at: str, value: Any, said: str
) -> None:
    put(here / "benchmarks/sample/params.yaml", at, value)
    problem = next(line for line in refused(capsys) if at in line)
    assert problem.startswith("benchmarks/sample/params.yaml, line ")
    assert f" > {at}" in problem
    assert said in problem


def test_questions_that_a_judge_cannot_answer_are_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(here / "params.yaml", "questions > all > measures", ["claim_recall", "preference"])
    put(here / "params.yaml", "judges > lexical", panel(LEXICAL))
    said = "judges > lexical: cannot answer instrument 'preference', which preference asks"
    assert any(said in line for line in refused(capsys))


WHOLE = [
    (b"", "must be a mapping of keys to values"),
    (b"- a\n- b\n", "must be a mapping of keys to values"),
    (b"metrics:\n\trouge: {}\n", "line 2: found character"),
    (b"a: \0\n", "control characters are not allowed"),
    (b"a: \xff\n", "not UTF-8 at byte 3"),
    (b"a: " + b"[" * 100_000, "line 1: more than 40 nested blocks"),
    (b"judges: {}\njudges: {}\n", "is there twice, in lines 1 and 2; keep one"),
]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("content", "said"), WHOLE, ids=lambda given: str(given)[:20])
def test_files_that_hold_no_params(
    here: Path, capsys: pytest.CaptureFixture[str], file: str, content: bytes, said: str
) -> None:
    (here / file).write_bytes(content)
    problem = next(line for line in refused(capsys) if line.startswith(file))
    assert said in problem
    assert len(problem) < 200


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("claims", "  items: data\n", "", "line 25 > user: {{items}} is not in variables"),
        ("claims", "items", "things", "line 4 > variables > things: is never filled in"),
        ("claims", "items: data", "items: text", "line 4 > variables > items: is filled with data"),
        ("write-section-cited", "purpose:", "purpos:", "prompts/write-section-cited.yaml"),
        ("write-section-cited", None, None, "prompts/write-section-cited.yaml does not exist"),
    ],
)
def test_prompts_that_kinds_use_without_naming_them(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    old: str | None,
    new: str | None,
    said: str,
) -> None:
    asking(here)
    path = here / f"prompts/{name}.yaml"
    if old is None or new is None:
        path.unlink()
    else:
        path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")
    problems = refused(capsys)
    assert any(said in problem for problem in problems), problems
    assert all(problem.startswith("params.yaml, line ") for problem in problems)


NLI = {
    **{"kind": "nli", "form": "classification", "model": "models/own", "device": "cpu"},
    **{"dtype": "float32", "window": 350},
}
TONE = """\
title: Tone
source: Invented
overall: none
criteria:
  recall: {kind: scale, asks: How warm is it?, reads: full, against: nothing, value: grade, \
levels: {"1": Cold., "2": Warm.}}
"""


@pytest.mark.parametrize(
    ("name", "rubric", "judges", "said"),
    [
        ("tone", None, ["lexical"], "rubrics: there is no rubrics/tone.yaml; known: ['bmrc'"),
        ("claim", TONE, ["lexical"], "claim makes claim_recall, which is one of Metassay's own"),
        ("tone", TONE, ["nli"], "judges > nli: cannot answer instrument 'scale', which recall of"),
        ("tone", TONE.replace("reads: full", "reads: every facet"), ["lexical"], "has no facets"),
    ],
)
def test_rubrics_that_a_benchmark_cannot_use_are_refused(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    rubric: str | None,
    judges: list[str],
    said: str,
) -> None:
    if rubric is not None:
        (here / f"rubrics/{name}.yaml").write_text(rubric, encoding="utf-8")
    put(here / "params.yaml", "judges > nli", NLI)
    put(here / "benchmarks/sample/params.yaml", "rubrics", [name])
    put(here / "benchmarks/sample/params.yaml", "judges", judges)
    problem = next(line for line in refused(capsys) if said in line)
    assert problem.startswith("benchmarks/sample/params.yaml, line ")


def test_a_rubric_that_is_not_sound_is_named_with_its_line(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = TONE.replace("overall: none", "overall: sum")
    (here / "rubrics/tone.yaml").write_text(bad, encoding="utf-8")
    (problem,) = refused(capsys)
    assert problem.startswith("rubrics/tone.yaml, line 3 > overall: Input should be 'renormalised'")


def test_a_metric_of_a_rubric_can_be_compared_whether_a_benchmark_names_it_or_not(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "rubrics/tone.yaml").write_text(TONE, encoding="utf-8")
    put(here / "params.yaml", "meta_evaluation > compared", ["words", "tone_warmth (lexical)"])
    (problem,) = refused(capsys)
    assert "no metric is called 'tone_warmth (lexical)'" in problem
    put(here / "params.yaml", "meta_evaluation > compared", ["words", "tone_recall (lexical)"])
    assert main(["validate"]) == 0
