"""What `validate` refuses of params files and prompts: with the line, and before anything runs."""

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.__main__ import _check_packages
from flows.dag import Plan, Stage
from metassay.cli.main import main
from metassay.core.errors import BadInput
from metassay.core.exit_codes import REFUSED

ROOT = Path(__file__).parent.parent
SAMPLE = "benchmarks/sample/params.yaml"
FILES = ("params.yaml", "data/registry.yaml", SAMPLE)
HERE = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"}
PRICES = {
    "date": "2026-11-22", "input_per_million": 1, "output_per_million": 2, "currency": "USD",
}  # fmt: skip
MODEL = {"endpoint": "here", "model": "m-1", "max_tokens": 9, "prices": PRICES}
CHAT = {
    "kind": "chat",
    "model": "m",
    "unit": "section",
    "citations": True,
    "shots": 0,
    "examples": [],
    "example_citations": "none",
}
APART = {"kind": "llm", "model": "m", "least": 1, "most": 5, "rounds": 1}
LEXICAL = {"kind": "lexical", "threshold": 0.6, "window": 60}
LLM = {
    "kind": "llm",
    "model": "m",
    "style": "json",
    "per_call": "part",
    "shots": 0,
    "rounds": 1,
}
NLI = {
    "kind": "nli",
    "form": "classification",
    "model": "models/own",
    "device": "cpu",
    "dtype": "float32",
    "window": 350,
}


def panel(member: Any) -> dict[str, Any]:
    return {"kind": "jury", "by": "majority", "members": {"a": LEXICAL, "b": member}}


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """The project is the working folder; returns the lines that `validate` refuses it with."""
    for name in (*FILES, "dvc.yaml", "benchmarks/sample/dvc.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("prompts", "rubrics"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "data/sample").symlink_to(ROOT / "data/sample")
    monkeypatch.chdir(tmp_path)

    def lines() -> list[str]:
        capsys.readouterr()
        assert main(["validate"]) == REFUSED
        return capsys.readouterr().err.splitlines()

    return lines


def put(at: str, value: Any, name: str = "params.yaml") -> None:
    """Write a value into a YAML file, one key a line; a `!` before it stands as it is."""
    path = Path(name)
    content = block = yaml.safe_load(path.read_text("utf-8"))
    *steps, last = at.split(" > ")
    for step in steps:
        block = block[step]
    block[last] = "PUT HERE" if isinstance(value, str) and value[:1] == "!" else value
    text = json.dumps(content, indent=1)
    path.write_text(text.replace('"PUT HERE"', str(value)[1:]), encoding="utf-8")


def put_models() -> None:
    put("endpoints", {"here": HERE})
    put("models", {"m": MODEL})
    put("max_cost", {"amount": 1, "currency": "USD"})
    put("systems > writer", CHAT)
    put("decompositions > apart", APART)


@pytest.mark.usefixtures("refused")
def test_what_is_put_is_otherwise_sound():
    put_models()
    assert main(["validate"]) == 0


def test_statement_metrics_that_cannot_be_are_refused(refused):
    model = {"model": "none", "device": "cpu", "dtype": "float64"}
    blocks = {
        "bart": {
            "kind": "bartscore",
            "checkpoints": {"tiny": model},
            "alignments": ["gain"],
        },
        "same": {"kind": "bartscore", "checkpoints": {"tiny": model, "other": model}},
        "zs": {"kind": "summac_zs", "checkpoints": {"tiny": model}, "by": "text"},
    }
    put("statement_metrics", blocks)
    put("questions > all > alignments", ["gain"])
    put("statement_metrics", [*blocks], SAMPLE)
    problems = "\n".join(refused())
    for words in (
        "bartscore_source (tiny) is measured by statement_metrics > bart and statement_metrics > s",
        "statement_metrics > bart: reads alignment 'gain', which is not among",
        "questions > all: reads alignment 'gain', which is not among",
        "statement_metrics > zs > by: this kind reads statements one by one",
    ):
        assert words in problems
    trained = {"tiny": {**model, "model": "data/models/bart-gain"}}
    put("statement_metrics > bart > checkpoints", trained)
    words = "statement_metrics > bart: data/models/bart-gain is trained here;"
    assert words in "\n".join(refused())
    put("statement_metrics", ["same", "zs"], SAMPLE)
    put("tuned_metrics", {"bart": "data/models"}, SAMPLE)
    assert "is trained here" not in "\n".join(refused())
    put("alignments", [], SAMPLE)
    assert "alignments: List should have at least 1 item" in "\n".join(refused())


def test_a_combination_needs_what_it_combines(refused):
    """Its judges' scores are told when they are there; what nobody measures is told before."""
    put("combinations", ["mist_comb1"], SAMPLE)
    problems = "\n".join(refused())
    names = ("mist", "bertscore_f1", "rouge1_recall")
    assert [problems.count(f"measures '{metric}'") for metric in names] == [1, 1, 0]
    put("combinations > mist_comb1 > metrics", ["rouge1_recall", "bleu"])
    put("combinations > bleu", {"metrics": ["rouge1_recall"]})
    problems = "\n".join(refused())
    assert "combinations > bleu: is one of Metassay's own metrics" in problems
    assert "combinations > bleu > metrics: List should have at least 2" in problems


FINITE, NO_LINE = (
    "must be a finite number",
    "read differently by readers of YAML",
)
MILLION = "less than or equal to 1000000"
PARAMS = [
    ("max_cost > amount", "!.inf", FINITE),
    ("max_cost > amount", 10_000_000, "less than or equal to 4000000"),
    ("models > m > prices > input_per_million", "!.inf", FINITE),
    ("models > m > prices > output_per_million", "!1.0e+300", MILLION),
    (
        "models > m > prices > date",
        "2026-02-30",
        "this day does not exist; correct it",
    ),
    ("models > m > prices > date", "!2026-02-30", NO_LINE),
    ("models > m > prices > date", 86400, 'write the day as "2026-11-21", in quotes'),
    ("models > m > max_tokens", 20_000_000, MILLION),
    ("models > m > model", "a\nb", "use printable characters"),
    ("models > m > tokenizer", "nowhere", "has no tokenizer.json"),
    ("models > m > seed", "!1e3", NO_LINE),
    ("systems > writer > max_tokens", 20_000_000, MILLION),
    (
        "systems > writer > prompts",
        {"note": "../prompts/claims"},
        "use letters, digits",
    ),
    ("decompositions > apart > rounds", 10**12, "less than or equal to 20"),
    (
        "endpoints > here > proxy",
        "proxy.example.org:3128",
        "String should match pattern",
    ),
    ("endpoints > here > proxy", "http://:3128", "its host or port is none"),
    (
        "endpoints > here > base_url",
        "api.example.org/v1",
        "String should match pattern",
    ),
    ("endpoints > here > base_url", "http://[::1/v1", "its host or port is none"),
    (
        "endpoints > here > base_url",
        "http://here/v1?a=b",
        "String should match pattern",
    ),
    ("endpoints > here > key_env", "sk-secret", "String should match pattern"),
    ("endpoints > here > timeout", "!.nan", FINITE),
    ("judges > lexical > threshold", "!.nan", FINITE),
    ("judges > lexical > window", 10**400, NO_LINE),
    ("judges > lexical > kind", ["lexical"], "['lexical'] is not known; choose from"),
    ("judges > lexical", {"threshold": 0.5}, "kind: missing; choose from"),
    ("judges > panel", "lexical", "must be a mapping of keys to values"),
    (
        "judges > panel",
        panel({"kind": "lexcal"}),
        "members > b > kind: 'lexcal' is not known",
    ),
    (
        "judges > panel",
        panel("lexical"),
        "members > b: is a name; write the judge's own block",
    ),
    (
        "judges > panel",
        panel(LLM | {"model": "gpt"}),
        "members > b: model 'gpt' is not in",
    ),
    (
        "judges > panel",
        panel(LLM | {"style": "table"}),
        "members > b > style: must be",
    ),
    (
        "judges > panel",
        panel(LLM | {"shots": 9}),
        "examples: has 3, but shots is 9; add some",
    ),
    ("aggregation > resamples", 0, "greater than or equal to 1"),
    ("meta_evaluation > resamples", 10**12, "less than or equal to 100000"),
    ("meta_evaluation > permutations", 10**12, "less than or equal to 100000"),
    ("meta_evaluation > seed", -1, "greater than or equal to 0"),
    ("meta_evaluation > confidence", 1, "less than or equal to 0.9999"),
    ("meta_evaluation > confidence", "!.nan", FINITE),
    ("meta_evaluation > threshold", "!0.00001", "greater than or equal to 0.001"),
    ("certification > useful", "!0.00001", "greater than or equal to 0.01"),
    ("metrics", ["rouge"], "must be a mapping of keys to values"),
    (
        "shown_as",
        {"lead": "Reference"},
        "looks like reference, which is of systems too",
    ),
    ("shown_as", {"lead": "longest_turn"}, "looks like longest_turn"),
    ("shown_as", {"lead": "a\x1b[2J"}, "use printable characters"),
    ("shown_as", {"leed": "Lead-3"}, "is neither a system nor a judge"),
]


@pytest.mark.parametrize(("at", "value", "words"), PARAMS)
def test_params_are_refused_with_the_line(refused, at, value, words):
    put_models()
    put(at, value)
    problem = next(line for line in refused() if at in line)
    file, _, rest = problem.partition(" > ")
    number = int(file.removeprefix("params.yaml, line "))
    assert rest.startswith(at)
    assert words in rest
    names = {at.rpartition(" > ")[2], rest.partition(": ")[0].rpartition(" > ")[2]}
    line = Path("params.yaml").read_text("utf-8").splitlines()[number - 1]
    assert any(f'"{key}"' in line for key in names)
    assert "sk-secret" not in problem


@pytest.mark.parametrize(
    ("at", "value", "words"),
    [
        ("criteria > completeness > low", "!.nan", FINITE),
        ("criteria > completeness > high", "!.inf", FINITE),
        ("segmentation", ["soap"], "must be a valid string"),
        ("systems", "lead", "must be a valid list"),
        ("judges", [["lexical"]], "must be a valid string"),
        ("judges", ["Lexical"], "'Lexical' is not in params.yaml > judges"),
    ],
)
def test_params_of_a_benchmark_are_refused_with_the_line(refused, at, value, words):
    put(at, value, SAMPLE)
    problem = next(line for line in refused() if at in line)
    assert problem.startswith(f"{SAMPLE}, line ")
    assert f" > {at}" in problem
    assert words in problem


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"judges": ["lexical_strict"]},
            "'claim_recall (lexical)' is of judge 'lexical'",
        ),
        ({"design": {"primary": "claim_recal"}}, "no metric is called 'claim_recal'"),
        ({"design": {"primary": "claim_recall (lexcal)"}}, "'claim_recall (lexical)'?"),
        ({"design": {"primary": "bleu"}, "metrics": ["lengths"]}, "makes 'bleu'"),
        ({"design": {"strata": "ward"}}, "no source has"),
        ({"design": {"families": {"x": "y"}}}, "'x' is not a rated"),
    ],
)
def test_what_a_late_stage_would_refuse_by_names_is_refused_before_it_costs(
    refused, changes, words
):
    for key, value in changes.items():
        put(key, value, SAMPLE)
    lines = refused()
    assert any(words in line for line in lines), lines


@pytest.mark.usefixtures("refused")
@pytest.mark.parametrize(
    "primary",
    [
        "claim_recall",
        "claim_recall (lexical_strict)",
        "rouge1_fmeasure",
        "claim_recall (whose verdicts come with the data)",
        "frank_rougeL",  # released with data
    ],
)
def test_a_metric_that_is_made_or_may_come_with_the_data_can_be_the_primary_one(
    primary, capsys
):
    put("design", {"primary": primary}, SAMPLE)
    assert main(["validate"]) == 0, capsys.readouterr().err


@pytest.mark.usefixtures("refused")
def test_packages_that_are_not_installed_are_told_and_refused_before_a_run(
    monkeypatch, capsys
):
    real = importlib.util.find_spec
    absent = lambda name, *rest: None if name == "torch" else real(name, *rest)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", absent)
    put("judges > far", NLI | {"form": "classification"})
    put("judges", ["lexical", "far"], SAMPLE)
    assert main(["validate"]) == 0
    assert "judges > far needs torch, which is not installed" in capsys.readouterr().err
    stages = {"judge": Stage("b:judge", (), 0, 0.0, (), blocks=("judges.far",))}
    with pytest.raises(BadInput, match=r'judges > far: torch .* "metassay\[models\]"'):
        _check_packages(Path(), Plan(stages, frozenset(stages)))
    _check_packages(Path(), Plan(stages, frozenset()))  # nothing of it will run


def test_questions_that_a_judge_cannot_answer_are_told(refused):
    put("questions > all > measures", ["claim_recall", "preference"])
    put("judges > lexical", panel(LEXICAL))
    words = (
        "judges > lexical: cannot answer instrument 'preference', which preference asks"
    )
    assert any(words in line for line in refused())


def test_a_test_of_three_labels_refuses_a_judge_of_two(refused):
    """Before its run would, after it has ingested the items."""
    settings = Path("benchmarks/three/params.yaml")
    settings.parent.mkdir()
    shutil.copy(ROOT / "papers/benchmarks/mednli_3way/params.yaml", settings)
    put("name", "three", str(settings))
    put("judges", ["lexical"], str(settings))
    words = (
        "judges > lexical: cannot answer instrument 'three_way', which this test asks"
    )
    assert any(words in line for line in refused())


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "must be a mapping of keys to values"),
        (b"- a\n- b\n", "must be a mapping of keys to values"),
        (b"metrics:\n\trouge: {}\n", "line 2: found character"),
        (b"a: \0\n", "control characters are not allowed"),
        (b"a: \xff\n", "not UTF-8 at byte 3"),
        (b"judges: {}\njudges: {}\n", "occurs twice, in lines 1 and 2; keep one"),
    ],
    ids=lambda content: str(content)[:20],
)
def test_files_that_hold_no_params(refused, file, content, words):
    Path(file).write_bytes(content)
    problem = next(line for line in refused() if line.startswith(file))
    assert words in problem
    assert len(problem) < 200


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        (
            "claims",
            "  items: data\n",
            "",
            "line 25 > user: {{items}} is not in variables",
        ),
        (
            "claims",
            "items",
            "things",
            "line 4 > variables > things: is never filled in",
        ),
        (
            "claims",
            "items: data",
            "items: text",
            "line 4 > variables > items: is filled with data",
        ),
        (
            "write-section-cited",
            "purpose:",
            "purpos:",
            "prompts/write-section-cited.yaml",
        ),
        (
            "write-section-cited",
            "",
            "",
            "prompts/write-section-cited.yaml does not exist",
        ),
    ],
)
def test_prompts_that_kinds_use_without_naming_them(refused, name, old, new, words):
    put_models()
    path = Path(f"prompts/{name}.yaml")
    text = path.read_text("utf-8")
    path.unlink()
    if old:
        path.write_text(text.replace(old, new), encoding="utf-8")
    problems = refused()
    assert any(words in problem for problem in problems), problems
    assert all(problem.startswith("params.yaml, line ") for problem in problems)


TONE = """\
title: Tone
source: Invented
overall: none
criteria:
  recall: {kind: scale, asks: How warm is it?, reads: full, against: nothing, value: grade, \
levels: {"1": Cold., "2": Warm.}}
"""


@pytest.mark.parametrize(
    ("name", "rubric", "judges", "words"),
    [
        (
            "tone",
            "",
            ["lexical"],
            "rubrics: there is no rubrics/tone.yaml; known: ['bmrc'",
        ),
        (
            "claim",
            TONE,
            ["lexical"],
            "claim makes claim_recall, which is one of Metassay's own",
        ),
        (
            "tone",
            TONE,
            ["nli"],
            "judges > nli: cannot answer instrument 'scale', which recall of",
        ),
        (
            "tone",
            TONE.replace("reads: full", "reads: every facet"),
            ["lexical"],
            "has no facets",
        ),
    ],
)
def test_rubrics_that_a_benchmark_cannot_use_are_refused(
    refused, name, rubric, judges, words
):
    if rubric:
        Path(f"rubrics/{name}.yaml").write_text(rubric, encoding="utf-8")
    put("judges > nli", NLI)
    put("rubrics", [name], SAMPLE)
    put("judges", judges, SAMPLE)
    problem = next(line for line in refused() if words in line)
    assert problem.startswith(f"{SAMPLE}, line ")


def test_a_rubric_is_checked_and_its_metrics_compared_though_no_benchmark_names_it(
    refused,
):
    file = Path("rubrics/tone.yaml")
    file.write_text(TONE.replace("overall: none", "overall: sum"), encoding="utf-8")
    (problem,) = refused()
    assert problem.startswith(
        "rubrics/tone.yaml, line 3 > overall: must be 'renormalised'"
    )
    file.write_text(TONE, encoding="utf-8")
    put("meta_evaluation > compared", ["words", "tone_warmth (lexical)"])
    (problem,) = refused()
    assert "no metric is called 'tone_warmth (lexical)'" in problem
    put("meta_evaluation > compared", ["words", "tone_recall (lexical)"])
    assert main(["validate"]) == 0
