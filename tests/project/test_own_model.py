"""`metassay init --model`: one command, and every stage is by a model of one's own."""

import datetime
import json
import re
from collections import Counter
from typing import Any

import pytest
import yaml

from metassay.cli.main import main
from metassay.core.errors import BadInput
from metassay.core.params import load
from metassay.project import make
from metassay.project.own_model import (
    FACETS,
    OwnModel,
    propose_cap,
    use_everywhere,
    write_line,
)
from metassay.reporting.contract_page import TABLES
from metassay.tables.parquet import read
from tests.conftest import ROOT
from tests.dag_setup import lines_of
from tests.judges.llm_setup import asked_in, reply_of, values_in
from tests.llm.scripted_server import Answer, Call, ScriptedServer, answer_with
from tests.project.spreadsheets.sheets import LONG, RATINGS, files

PAGE = (ROOT / "docs" / "language-models.md").read_text("utf-8")
SECTION = PAGE.partition("## Use your own model everywhere\n")[2].partition("\n## ")[0]
DAY = datetime.date(2026, 11, 1)
GPT = OwnModel(
    model="gpt-4o-mini-2024-07-18",
    base_url="https://api.openai.com/v1",
    key_env="OPENAI_API_KEY",
    prices=(0.15, 0.6, "USD"),
)
KEPT_DOCUMENTS = ("note_01", "article_01")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_refresh(monkeypatch):
    monkeypatch.setattr(make, "refresh", lambda _: True)


def answer(call: Call) -> Answer:
    """A model that does as each prompt says, and finds everything right."""
    last = str(call.body["messages"][-1]["content"])
    if "facets of each text" in last:
        (items,) = values_in(last)
        facets = {facet: [items[0]["text"]] for facet in FACETS}
        return answer_with(json.dumps({"items": [{"number": 1, "facets": facets}]}))
    if call.is_claims:
        claims = ["The patient has pain.", "The patient has no fever."]
        return answer_with(json.dumps({"items": [{"number": 1, "claims": claims}]}))
    if call.is_judging:
        return answer_with(judged(last))
    return answer_with("The patient has pain [0]. There is no fever [1].")


def judged(question: str) -> str:
    if "The criteria:" in question:
        criteria = values_in(question)[-1]
        levels = [[*item["levels"]][-1] for item in criteria]
        entries = [
            {
                "number": item["number"],
                "reason": "so",
                "quotes": [],
                "grade": int(level),
            }
            for item, level in zip(criteria, levels, strict=True)
        ]
        return reply_of("json_cot", entries)
    questions = asked_in(question)
    named = {"passages": [1]} if "statement" in questions.items[0] else {}
    entries = [
        {"number": n, "reason": "so", "label": "entailed", **named}
        for n in questions.numbers
    ]
    return reply_of("json_cot", entries)


@pytest.mark.slow
def test_every_stage_that_can_is_by_the_model(here, capsys) -> None:
    with ScriptedServer(answer) as server:
        words = ["--model", "local/tiny-1", "--base-url", server.base_url]
        assert main(["init", "demo", *words, "--prices", "1,2,USD"]) == 0
        printed = capsys.readouterr().out
        assert not server.calls, "the price comes first"
        assert re.search(r"in total about \d+\.\d+ USD, at most", printed)
        project = here / "demo"
        cap = load(project).max_cost
        assert cap is not None
        assert f"cap: {cap.amount:g} USD for all runs of this project" in printed
        for name in ("sources.jsonl", "texts.jsonl", "ratings.csv"):
            file = project / "data/sample" / name
            lines = lines_of(ROOT / "data/sample" / name, KEPT_DOCUMENTS)
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(project)
            assert main(["run", "demo", "--no-prefect"]) == 0
        counts = Counter(kind(call) for call in server.calls)
    assert set(counts) == {"facets", "claims", "grades", "labels", "texts"}
    assert counts["texts"] == len(KEPT_DOCUMENTS)
    assert {call.body["model"] for call in server.calls} == {"local/tiny-1"}
    board = read(
        TABLES["leaderboard"], project / "data/tables/demo/leaderboard.parquet"
    )
    assert set(board["judge"]) == {"tiny-1", "none"}
    assert set(board.loc[board["judge"] == "tiny-1", "metric"]) >= {
        "claim_recall",
        "citation_precision",
        "faithfulness",
        "facets_overall",
        "vanilla_rating",
    }
    assert "tiny-1" in set(board["author"])


@pytest.mark.parametrize(
    ("expected", "at_most", "questions", "cap"),
    [
        (0.7329, 32.5898, 5378, 2),  # 1.4658 and .006
        (4.4, 88, 1000, 9),  # 8.8 and .088
        (0.011, 0.2, 10, 0.05),  # a few questions: .022, and .02 for the next one
        (130, 3000, 5378, 300),
        (50, 0.0, 5, 0),  # free
        (5, 10, 1, 20),
    ],
)
def test_a_cap_is_twice_the_price_and_one_question(
    expected: float, at_most: float, questions: int, cap: float
) -> None:
    assert propose_cap(expected, at_most, questions) == cap


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ([], "without --prices there is no price and no cap"),
        (["--prices", "0,0,EUR"], "no cap: params.yaml > max_cost is null"),
    ],
)
def test_without_a_price_there_is_no_cap(here, capsys, prices, words) -> None:
    address = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    assert main(["init", "new", *address, *prices]) == 0
    assert words in " ".join(capsys.readouterr().out.split())
    assert load(here / "new").max_cost is None


def kind(call: Call) -> str:
    last = str(call.body["messages"][-1]["content"])
    if "facets of each text" in last:
        return "facets"
    if call.is_claims:
        return "claims"
    if call.is_judging:
        return "grades" if "The criteria:" in last else "labels"
    return "texts"


def blocks() -> list[dict[str, Any]]:
    texts = re.findall(r"```yaml[^\n]*\n(.*?)```", SECTION, re.DOTALL)
    return [yaml.safe_load(text) for text in texts]


def test_the_page_shows_what_the_command_writes() -> None:
    content_by_model = use_everywhere(make.example("mine"), GPT, DAY)
    root, benchmark = blocks()
    params = yaml.safe_load(content_by_model.params)
    for key, named in root.items():
        assert named == {GPT.name: params[key][GPT.name]}, key
    written = yaml.safe_load(content_by_model.benchmark)
    assert benchmark == {key: written[key] for key in benchmark}
    example = yaml.safe_load(make.example("mine").benchmark)
    changed = {key for key in written if written[key] != example[key]}
    assert set(benchmark) == changed


def test_both_blocks_are_valid_in_a_clone(here) -> None:
    """One edit in each file of a clone, and `metassay validate` has nothing to say."""
    root, benchmark = blocks()
    main(["init", "clone"])
    for file, block in (
        ("params.yaml", root),
        ("benchmarks/clone/params.yaml", benchmark),
    ):
        path = here / "clone" / file
        content = yaml.safe_load(path.read_text("utf-8"))
        for key, value in block.items():
            merged = {**content[key], **value} if file == "params.yaml" else value
            content[key] = merged
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here / "clone")
        assert main(["validate"]) == 0


@pytest.mark.usefixtures("no_refresh")
def test_texts_of_spreadsheets_are_judged_and_go_only_where_they_may(
    here, capsys
) -> None:
    paths = files(here, texts=LONG, ratings=RATINGS)
    words = [f"--{kind}={path}" for kind, (path,) in paths.items()]
    address = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    assert main(["init", "new", *words, *address, "--yes"]) == 2
    assert "add --sends private" in capsys.readouterr().err
    assert main(["init", "new", *words, *address, "--sends", "private", "--yes"]) == 0
    assert "questions still to ask" in capsys.readouterr().out
    params = load(here / "new")
    assert params.endpoints["m"]["sends"] == ["private"]
    benchmark = params.benchmarks["new"]
    assert benchmark.systems == [], "what these texts are is not known"
    assert benchmark.judges == benchmark.decompositions == ["m"]
    assert benchmark.design.primary == "claim_recall (m)"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o-mini", "gpt-4o-mini"),
        ("llama3.1:8b", "llama3_1_8b"),
        ("Qwen/Qwen3-8B", "Qwen3-8B"),
        ("/models/small/", "small"),
        ("???", "own_model"),
        ("2024", "own_model"),
        ("reference", "own_model"),
    ],
)
def test_blocks_are_named_after_the_model(model: str, name: str) -> None:
    assert OwnModel(model=model, base_url="http://h/v1").name == name


def test_a_primary_metric_of_one_s_own_stays() -> None:
    content = make.example("mine")
    line = "design: {primary: bleu}\n"
    named = content._replace(benchmark=make.set_key(content.benchmark, "design", line))
    written = yaml.safe_load(use_everywhere(named, GPT, DAY).benchmark)
    assert written["design"] == {"primary": "bleu"}


def test_a_model_called_as_a_default_is_refused() -> None:
    lexical = OwnModel(model="lexical", base_url="http://h/v1")
    with pytest.raises(BadInput, match="judges has a block 'lexical'"):
        use_everywhere(make.example("mine"), lexical, DAY)


@pytest.mark.parametrize(
    "value",
    [{"a": "https://h:1/v1"}, {"a": "2026-11-01"}, ["x", "yes"], {"ä": 0.15}, "word"],
)
def test_a_value_in_a_line_reads_back(value: object) -> None:
    line = write_line(value)
    assert "\n" not in line
    assert yaml.safe_load(line) == value


def test_comments_of_the_params_stay() -> None:
    content_by_model = use_everywhere(make.example("mine"), GPT, DAY)
    before = make.example("mine").params.splitlines()
    after = content_by_model.params.splitlines()
    gone = [line for line in before if line not in after]
    assert gone == ["endpoints: {}", "models: {}"]
    assert len(after) == len(before) + 6


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--base-url", "api.example.org", "an address without user"),
        ("--base-url", "https://u:p@api.example.org/v1", "an address without user"),
        (
            "--base-url",
            "https://api.example.org/v1?key=k",
            "a key is named by --key-env",
        ),
        ("--key-env", "sk-proj-123", "never the key"),
        ("--prices", "0.17", "such as 0.15,0.60,USD"),
        ("--prices", "0.15,0.60,dollars", "such as 0.15,0.60,USD"),
    ],
)
def test_a_wrong_option_is_answered_and_never_repeated(
    here, capsys, option: str, value: str, words: str
) -> None:
    options = {"--model": "m", "--base-url": "http://h/v1", option: value}
    typed = [word for pair in options.items() for word in pair]
    with pytest.raises(SystemExit):
        main(["init", "new", *typed])
    error = capsys.readouterr().err
    assert words in " ".join(error.split())
    assert value not in error
    assert not (here / "new").exists()
