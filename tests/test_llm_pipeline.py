"""Language models in the whole pipeline: `metassay run` against a scripted server on loopback."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from metassay.cli.main import main
from metassay.cli.run_summary import print_summary as end
from metassay.core.params import load
from metassay.llm import client
from metassay.reporting.contract_page import TABLES
from metassay.tables.parquet import read
from stages.doorway import BAD_INPUT
from tests.conftest import ROOT, copy_project
from tests.judges.llm_setup import asked_in, reply_of
from tests.llm.batch_setup import QUICK
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    answer_with,
    count,
    failed,
    too_long,
)
from tests.reporting import page_data
from tests.stage_setup import READER, refresh_code, run_stage, take_from_run_cache

pytestmark = pytest.mark.slow

KEY = "METASSAY_TEST_KEY"
BENCHMARK = Path("benchmarks/one")
WORDS = (
    "The knee hurts for two weeks.",
    "There is no swelling.",
    "He takes ibuprofen 400 mg.",
)
CLAIMS = ["The knee hurts.", "There is no swelling."]
PRICES = {
    "date": "2026-11-01",
    "input_per_million": 1.0,
    "output_per_million": 2.0,
    "currency": "USD",
}


def claims(number: int = 1) -> str:
    return json.dumps(
        {"items": [{"number": n + 1, "claims": CLAIMS} for n in range(number)]}
    )


def script(call: Call) -> Answer:
    """A model that does as it is told; its notes name the case that the source names."""
    if call.is_claims:
        return answer_with(claims())
    if call.is_judging:
        return answer_with(verdicts(call))
    return answer_with(
        f"The knee hurts [0]. There is no swelling [1]. {case(call)} was seen [2]."
    )


def verdicts(call: Call) -> str:
    """All that a judge is asked holds; a statement rests on the first passage that it is shown."""
    question = asked_in(str(call.body["messages"][-1]["content"]))
    named = {"passages": [1]} if "statement" in question.items[0] else {}
    entries = [
        {"number": n, "label": "entailed", "reason": "as said", **named}
        for n in question.numbers
    ]
    return reply_of("json_cot", entries)


def case(call: Call) -> str:
    """The last `Case x` of the prompt."""
    cases = re.findall(r"Case ([\w-]+)", str(call.body["messages"][-1]["content"]))
    return f"Case {cases[-1]}" if cases else "Nobody"


def data(folder: Path, cases: list[str]) -> None:
    """One document per case, with a reference that does not name it."""
    folder.mkdir(parents=True, exist_ok=True)
    sources, texts = [], []
    for name in cases:
        doc = f"d-{name}"
        passages = [*WORDS, f"Case {name}."]
        sources.append({"doc_id": doc, "task": "note", "passages": passages})
        text = " ".join(WORDS) + f" No. {cases.index(name)}."
        texts.append({"doc_id": doc, "author": "reference", "text": text})
    for file, rows in (("sources", sources), ("texts", texts)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{file}.jsonl").write_text(lines, encoding="utf-8")


def configure(root: Path, base_url: str, **changes: Any) -> None:
    """The project with one benchmark, `one`, which a model writes for and takes apart."""
    path = root / "params.yaml"
    params = yaml.safe_load(path.read_text(encoding="utf-8"))
    writer = {
        "kind": "chat",
        "model": "m",
        "unit": "full",
        "citations": True,
        "shots": 0,
        "examples": [],
        "example_citations": "none",
    }
    apart = {"kind": "llm", "model": "m", "least": 1, "most": 5, "rounds": 1}
    endpoint = {
        "kind": "openai",
        "base_url": base_url,
        "key_env": KEY,
        "concurrency": 8,
        "timeout": 20.0,
        "sends": changes.pop("sends", []),
    }
    model = {"endpoint": "here", "model": "m-1", "max_tokens": 200, "prices": PRICES}
    settings = yaml.safe_load(
        (root / BENCHMARK / "params.yaml").read_text(encoding="utf-8")
    )
    settings |= {
        "name": "one",
        "dataset": "one",
        "raw": "data/one",
        "criteria": {},
        "systems": ["lead", "writer"],
        "decompositions": ["apart"],
        "metrics": ["lengths"],
        "judges": changes.pop("judges", ["lexical"]),
    }
    params |= {
        "endpoints": {"here": endpoint},
        "models": {"m": model},
        "max_cost": changes.pop("max_cost", None),
        "max_missing": changes.pop("max_missing", 0),
    }
    params["systems"]["writer"] = writer
    params["decompositions"]["apart"] = apart
    params["judges"]["reader"] = READER | {"style": "json_cot", "shots": 1}
    path.write_text(yaml.safe_dump(params), encoding="utf-8")
    entry = {
        "reader": "files",
        "title": "tiny",
        "licence": "none",
        "folder": "data/one",
    }
    datasets = {"one": entry | {"access": changes.pop("access", "public")}}
    assert not changes
    registry = yaml.safe_dump({"fetched": [], "datasets": datasets})
    (root / "data/registry.yaml").write_text(registry, encoding="utf-8")
    (root / BENCHMARK / "params.yaml").write_text(
        yaml.safe_dump(settings), encoding="utf-8"
    )
    refresh_code(root)


def one_benchmark(into: Path) -> Path:
    """A copy of this project whose only benchmark is called `one`, and has run never.

    It is one of a user's own: the code that its runs take is not in it, but this
    checkout's.
    """
    root = copy_project(
        into, without=("metassay", "stages", "flows", "tests", "docs", "website")
    )
    for folder in (root / "benchmarks").iterdir():
        if folder.name == "sample":
            folder.rename(root / BENCHMARK)
            (root / BENCHMARK / "dvc.lock").unlink(missing_ok=True)
        else:
            shutil.rmtree(folder)
    return root


def metassay(
    root: Path, *words: str, key: str | None = "k"
) -> subprocess.CompletedProcess[str]:
    environment = {
        k: v for k, v in os.environ.items() if k not in ("METASSAY_MIRROR", KEY)
    }
    if key is not None:
        environment[KEY] = key
    return subprocess.run(
        [sys.executable, "-m", "metassay.cli", *words],
        cwd=root,
        env=environment | {"COLUMNS": "250", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def table(root: Path, name: str) -> pd.DataFrame:
    path = root / "data/tables/one" / name
    return read(TABLES[name], path if path.is_dir() else path.with_suffix(".parquet"))


def built(root: Path) -> dict[str, bytes]:
    """Every table and report file by its path."""
    folders = (root / "data/tables", root / "reports/one")
    files = [f for folder in folders for f in sorted(folder.rglob("*")) if f.is_file()]
    # DVC does not keep what a page says of accepted numbers.
    return {
        str(f.relative_to(root)): f.read_bytes() for f in files if f.name != "since.js"
    }


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs one stage in this process, with a key, and with less patience than stages have."""
    monkeypatch.setenv(KEY, "k")
    monkeypatch.setattr(client, "Policy", lambda: QUICK)

    def run(root: Path, stage: str, item: str = "") -> int:
        refresh_code(root)
        return run_stage(monkeypatch, root, stage, item)

    return run


@pytest.fixture
def inside(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs a command in this process, without a key, to its good end; what it prints."""

    def run(root: Path, *words: str) -> str:
        with monkeypatch.context() as patch:
            patch.chdir(root)
            patch.setenv("COLUMNS", "250")
            patch.delenv(KEY, raising=False)
            patch.delenv("METASSAY_MIRROR", raising=False)
            capsys.readouterr()
            assert main(list(words)) == 0
            return capsys.readouterr().out

    return run


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(script) as running:
        yield running


def check_judged(root: Path, calls: list[Call]) -> None:
    """A call for an author's questions about one text, and one for each cited statement."""
    judged = table(root, "judgments").query("judge == 'reader'")
    assert set(judged["status"]) == {"ok"}
    assert set(judged["explanation"]) == {"as said"}
    pairs = table(root, "pairs").drop_duplicates("pair_id")
    open_ = pairs[pairs["settled"].isna()].astype({"premise": str, "hypothesis": str})
    read = open_.query("instrument == 'entailment'").groupby(
        ["premise", "author", "part"]
    )
    cited = open_.query("instrument == 'attribution'")
    assert len(calls) == read.ngroups + len(cited) == len({call.key for call in calls})
    scores = table(root, "scores").query("part == 'full' and metric == 'claim_recall'")
    recipes = set(scores["recipe"])
    assert all(
        "prompt:claims#" in recipe and "model:m-1" in recipe for recipe in recipes
    )
    by_model = scores.query("judge == 'reader'")
    assert by_model["value"].tolist() == [1.0] * 6
    assert all("|judge:llm(model:m-1|" in recipe for recipe in by_model["recipe"])


def test_a_run_is_estimated_and_a_clone_repeats_it_without_key_ledger_or_request(
    tmp_path, server, inside, monkeypatch, capsys
) -> None:
    root = one_benchmark(tmp_path / "first")
    data(root / "data/one", ["a", "b", "c"])
    configure(root, server.base_url, judges=["lexical", "reader"])
    before = inside(root, "ledger", "cost", "one")
    assert "at most" in before
    assert not server.calls

    done = metassay(root, "run", "one", "--no-prefect")
    assert done.returncode == 0, done.stderr
    assert set(server.requests.values()) == {1}
    page = page_data.everything(root / "reports/one")
    assert "generate-writer" in page
    assert "judge-reader" in page
    check_judged(root, [call for call in server.calls if call.is_judging])

    estimated = {
        cells[0]: cells
        for line in before.splitlines()
        if len(cells := re.split(r"\s{2,}", line.strip())) == 6
    }
    for stage, wanted in (("generate-writer", False), ("decompose", True)):
        written = [call for call in server.calls if not call.is_judging]
        calls = [call for call in written if call.is_claims is wanted]
        read = sum(call.prompt_tokens for call in calls)
        written = sum(count(script(call).text or "") for call in calls)
        paid = (read * 1.0 + written * 2.0) / 1e6
        _, questions, _, to_read, to_write, money = estimated[stage]
        assert int(questions) == len(calls)
        assert numbers(to_read) == [pytest.approx(read, rel=0.1)]
        # How long answers will be is not known yet, but no longer than this.
        expected, most = numbers(to_write)
        assert max(expected, written) <= most == 200 * len(calls) * (2 if wanted else 1)
        about, at_most = numbers(money)
        assert about == pytest.approx(
            (numbers(to_read)[0] + 2 * expected) / 1e6, abs=1e-4
        )
        assert max(about, paid) <= at_most
    assert "no cap" in before

    assert "0.0000 USD" in inside(root, "ledger", "cost", "one")
    assert f"paid: {cost(server):.4f} USD" in inside(root, "ledger", "stats")

    clone = tmp_path / "clone"
    shutil.copytree(
        root, clone, ignore=shutil.ignore_patterns(".work", "tables", "cache")
    )
    shutil.rmtree(clone / "reports/one")
    (clone / "benchmarks/one/dvc.lock").unlink()
    requests = server.requests.total()
    responses = tmp_path / "given"
    shutil.copytree(root / "data/tables/one/responses", responses)
    monkeypatch.delenv(KEY, raising=False)
    assert run_stage(monkeypatch, clone, "ingest") == 0
    capsys.readouterr()
    assert run_stage(monkeypatch, clone, "generate", "writer") == BAD_INPUT
    assert KEY in capsys.readouterr().err
    inside(clone, "ledger", "import", str(responses))
    # What asks no model need not compute the same again: DVC has it if it is given the
    # same.
    take_from_run_cache(root, clone, NO_MODEL)
    again = metassay(clone, "run", "one", "--no-prefect", key=None)
    assert again.returncode == 0, again.stderr
    for stage in ("generate@writer", "decompose@apart", "judge@reader"):
        assert f"✓ one: {stage}" in again.stderr
    assert server.requests.total() == requests
    assert built(clone) == built(root)
    pulled_without_key_and_raw_data(root, tmp_path, server, inside)


def pulled_without_key_and_raw_data(
    root: Path, tmp_path: Path, server: ScriptedServer, inside: Callable[..., str]
) -> None:
    """A second clone makes the page again from tables that were pushed, and reruns judges."""
    requests = server.requests.total()
    remote, clone = tmp_path / "remote", tmp_path / "pulled"
    dvc(root, "remote", "add", "--local", "team", str(remote))
    pushed = metassay(root, "push", "one", "--to", "team")
    assert pushed.returncode == 0, pushed.stderr
    ignored = shutil.ignore_patterns(".work", "tables", "cache", "one", "tmp")
    shutil.copytree(root, clone, ignore=ignored)
    shutil.copytree(root / BENCHMARK, clone / BENCHMARK)
    assert not (clone / "data/one").exists()
    dvc(clone, "pull", "-r", "team", str(BENCHMARK / "dvc.yaml"))
    assert built(clone) == built(root)
    rendered = metassay(clone, "run", "one", "--only", "report", key=None)
    assert rendered.returncode == 0, rendered.stderr
    assert built(clone) == built(root)

    inside(clone, "ledger", "import", "data/tables/one/responses")
    path = clone / "params.yaml"
    params = yaml.safe_load(path.read_text(encoding="utf-8"))
    params["judges"]["lexical"]["threshold"] = 0.3
    # asks the same first; all of it was answered
    params["judges"]["reader"]["rounds"] += 1
    path.write_text(yaml.safe_dump(params), encoding="utf-8")
    edited = metassay(clone, "run", "one", "--no-prefect", key=None)
    assert edited.returncode == 0, edited.stderr
    assert "✓ one: judge@reader" in edited.stderr
    assert "data/one is missing but not needed" in edited.stderr
    assert "one: ingest" not in edited.stderr
    before, after = built(root), built(clone)
    changed = {path for path in after if before[path] != after[path]}
    assert "data/tables/one/judgments/lexical.parquet" in changed
    assert "data/tables/one/responses/judge-reader.parquet" not in changed
    assert server.requests.total() == requests


def dvc(root: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "dvc", "-q", *words], cwd=root, check=True)


def test_the_cap_stops_a_stage_and_raising_it_asks_only_what_is_missing(
    tmp_path, server, here, capsys
) -> None:
    root = one_benchmark(tmp_path / "project")
    data(root / "data/one", [f"c{number}" for number in range(12)])
    # a request reserves about 0.002 and costs 0.0004: some are answered, not all
    cap = 0.004
    configure(root, server.base_url, max_cost={"amount": cap, "currency": "USD"})
    assert here(root, "ingest") == 0
    capsys.readouterr()
    assert here(root, "generate", "writer") == BAD_INPUT
    err = capsys.readouterr().err
    assert "max_cost" in err
    assert "of 12 answers are missing" in err
    assert not (root / "data/tables/one/texts/writer.parquet").exists()
    answered = server.requests.total()
    assert 0 < answered < 12
    assert cost(server) <= cap
    assert main(["ledger", "cost", "one"]) == 0
    left = " ".join(capsys.readouterr().out.split())
    assert f"cap: {cap:g} USD for all runs" in left
    assert (
        f"paid so far: {cost(server):.4f} USD; left: {cap - cost(server):.4f}" in left
    )

    configure(root, server.base_url, max_cost={"amount": 1, "currency": "USD"})
    assert here(root, "generate", "writer") == 0
    assert server.requests.total() == 12
    assert set(server.requests.values()) == {1}


def numbers(cell: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"[\d,.]*\d", cell)]


def cost(server: ScriptedServer) -> float:
    return (server.tokens["prompt"] * 1.0 + server.tokens["completion"] * 2.0) / 1e6


NO_MODEL = (
    "stages.ingest",
    "stages.segment",
    "stages.align",
    "stages.pair",
    "stages.measure",
    "stages.aggregate",
    "stages.meta_evaluate",
    "stages.certify",
    "stages.report",
)
STAGES = (
    ("ingest",),
    ("generate", "lead"),
    ("generate", "writer"),
    ("segment",),
    ("decompose", "apart"),
    ("align", "rouge_topk"),
    ("pair", "all"),
    ("judge", "lexical"),
    ("measure",),
    ("aggregate",),
    ("meta_evaluate",),
    ("certify",),
    ("report",),
)


Counts = tuple[int, int, int]
CASES = [*"abcdefghij"]
ONE_LOST, ALL_LOST = (1, 0, 1), 10 * [(1, 0, 1)]


def thirds(fine: Counts, text_lost: Counts, claims_lost: Counts) -> list[Counts]:
    """Documents a to j: b, e and h lack the writer's text; c, f and i have too long claims."""
    return [*(3 * [fine, text_lost, claims_lost]), fine]


# By hand: expected, judged and failed. Of ten, the writer has no text for three, and
# nobody's claims of three others are known but the reference's, which names no case.
COUNTS = {
    "some": {
        ("claim_precision", "writer"): thirds((2, 2, 0), ONE_LOST, ONE_LOST),
        ("claim_recall", "writer"): thirds((2, 2, 0), (2, 0, 2), (2, 2, 0)),
        ("citation_recall", "writer"): thirds((3, 3, 0), ONE_LOST, (3, 3, 0)),
        ("citation_precision", "writer"): thirds((3, 3, 0), ONE_LOST, (3, 3, 0)),
        ("faithfulness", "writer"): thirds((3, 3, 0), ONE_LOST, (3, 3, 0)),
        ("words", "writer"): thirds((1, 1, 0), ONE_LOST, (1, 1, 0)),
        ("claim_precision", "lead"): thirds((2, 2, 0), (2, 2, 0), ONE_LOST),
        ("claim_recall", "lead"): 10 * [(2, 2, 0)],
    },
    "all": {
        **{
            (metric, "writer"): ALL_LOST
            for metric in ("claim_precision", "claim_recall")
        },
        **{
            (metric, "writer"): ALL_LOST
            for metric in ("citation_recall", "citation_precision")
        },
        **{(metric, "writer"): ALL_LOST for metric in ("faithfulness", "words")},
        **{
            (metric, "lead"): ALL_LOST for metric in ("claim_precision", "claim_recall")
        },
        ("words", "lead"): 10 * [(1, 1, 0)],
    },
}


def check_counts(
    root: Path, expected: dict[tuple[str, str], list[tuple[int, int, int]]]
) -> None:
    """Denominators and bounds of each document, and what the leaderboard makes of them."""
    scores = table(root, "scores").query("part == 'full'")
    board = (
        table(root, "leaderboard")
        .query("part == 'full'")
        .set_index(["metric", "author"])
    )
    for (metric, author), by_document in expected.items():
        rows = scores.query("metric == @metric and author == @author").sort_values(
            "doc_id"
        )
        counts = rows[["n_expected", "n_judged", "n_failed"]]
        assert list(map(tuple, counts.to_numpy().tolist())) == by_document, (
            metric,
            author,
        )
        unknown = rows["n_judged"] == 0
        assert (rows["value"].isna() == unknown).all()
        if metric != "words":  # which has no greatest value
            assert (rows["low"] == rows["value"].fillna(0)).all()
            assert (rows["high"] == rows["value"].fillna(1)).all()
        row = board.loc[(metric, author)]
        sums = tuple(row[["n_documents", "n_undefined", "n_expected", "n_failed"]])
        assert sums == (10, unknown.sum(), *counts[["n_expected", "n_failed"]].sum())
        known = rows["value"].dropna()
        assert (
            row["macro"] == pytest.approx(known.mean())
            if len(known)
            else pd.isna(row["macro"])
        )


def test_missing_answers_are_in_status_terminal_and_page_until_asking_again_has_them(
    tmp_path, here
) -> None:
    """Three of ten texts and, for good, six of 27 lists of claims; then all is as undisturbed."""
    root = one_benchmark(tmp_path / "project")
    data(root / "data/one", CASES)
    (root / "data/one/rating.csv").write_text("doc_id\n", encoding="utf-8")  # misspelt

    def faulty(call: Call) -> Answer:
        lost, fault = ("cfi", too_long()) if call.is_claims else ("beh", failed(403))
        return fault if case(call).removeprefix("Case ") in lost else script(call)

    def run(key: str | None = "k") -> tuple[int, int, str]:
        before = server.requests.total()
        done = metassay(root, "run", "one", "--no-prefect", key=key)
        output = " ".join((done.stdout + done.stderr).split())
        assert "Traceback" not in output
        assert "rating.csv: is not read" in output  # whether its stage runs or not
        return done.returncode, server.requests.total() - before, output

    counted = "Of 37 answers of language models 3 are missing and 6 failed for good"
    lines = (
        "Answers of m-1 (generate-writer): 3 of 10 are missing (http_403 3).",
        "Answers of m-1 (decompose): 6 of 27 failed for good (context_length 6).",
    )
    with ScriptedServer(faulty) as server:
        configure(root, server.base_url, max_missing=0.3)
        code, requests, output = run()
        assert (code, requests) == (3, 10 + 27)
        page = page_data.everything(root / "reports/one")
        assert counted in output
        assert all(line in page for line in lines)
        for text in (output, page):
            assert "model 'm': 3 of 10 answers are missing" in text.replace(
                "&#39;", "'"
            )
            assert "rating.csv: is not read" in text
        assert (
            "every report is up to date, but answers of models are missing: one"
            in output
        )
        check_counts(root, COUNTS["some"])

        code, requests, output = run(key=None)
        assert (code, requests) == (3, 0)
        assert "stage(s) are up to date" in output
        assert "✓" not in output
        assert counted in output

        server.script = script
        code, requests, output = run()
        # the three texts, their claims, and the others
        assert (code, requests) == (0, 3 + 3 + 6)
        assert "answers of language models" not in output
        assert set(server.answered.values()) == {1}
        undisturbed = one_benchmark(tmp_path / "undisturbed")
        shutil.copytree(root / "data/one", undisturbed / "data/one")
        configure(undisturbed, server.base_url)
        assert [here(undisturbed, *stage) for stage in STAGES] == [0] * len(STAGES)
        assert built(undisturbed) == built(root)


def test_an_endpoint_for_which_everything_is_too_long_leaves_every_denominator(
    tmp_path, here, monkeypatch, capsys
) -> None:
    root = one_benchmark(tmp_path / "project")
    data(root / "data/one", CASES)
    with ScriptedServer(lambda call: too_long()) as server:
        configure(root, server.base_url)
        assert [here(root, *stage) for stage in STAGES] == [0] * len(STAGES)
    check_counts(root, COUNTS["all"])
    capsys.readouterr()
    monkeypatch.chdir(root)
    assert end(["one"], load()) == 3
    output = " ".join(capsys.readouterr().out.split())
    page = page_data.everything(root / "reports/one")
    assert (
        "Of 30 answers of language models 0 are missing and 30 failed for good"
        in output
    )
    assert (
        "Answers of m-1 (decompose): 20 of 20 failed for good (context_length 20)."
        in page
    )
    assert (
        "Answers of m-1 (generate-writer): 10 of 10 failed for good (context_length 10)."
        in page
    )
