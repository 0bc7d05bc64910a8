"""Private text in a whole run: neither sent, logged nor told where it may not be."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from tests.llm.scripted_server import Answer, Call, ScriptedServer, failed
from tests.stage_setup import prefect
from tests.test_llm_pipeline import (
    BENCHMARK,
    configure,
    data,
    metassay,
    one_benchmark,
    script,
)

pytestmark = pytest.mark.slow

CANARY = "canary-7f3a9e"


def test_private_text_stays_where_it_may_be(tmp_path) -> None:
    root = one_benchmark(tmp_path / "project")
    data(root / "data/one", ["a", CANARY])

    def faulty(call: Call) -> Answer:  # its errors repeat the prompt
        return (
            failed(400)
            if CANARY in call.prompt and not call.is_claims
            else script(call)
        )

    with ScriptedServer(faulty) as server:
        configure(root, server.base_url, access="private")
        stopped = metassay(root, "run", "one", "--no-prefect")
        assert stopped.returncode == 1
        assert "one: generate@writer (exit 78)" in stopped.stderr
        assert "endpoints > here > sends" in " ".join(stopped.stderr.split())
        assert not server.calls

        configure(root, server.base_url, access="private", sends=["private"])
        done = metassay(root, "run", "one")
        assert done.returncode == 3, done.stderr  # for its answer is missing
        assert any(CANARY in call.prompt for call in server.calls)
    lacking = "Answers of m-1 (generate-writer): 1 of 2 failed for good (http_400 1)."
    ((message,),) = prefect(
        root, "select message from flow_run_state where type = 'COMPLETED'"
    )
    assert f"\none: {lacking}\n" in message
    rows = dict(prefect(root, "select key, data from artifact"))
    answers = json.loads(json.loads(rows["one-answers"]))
    assert [row["failed"] for row in answers] == [0, 1]
    paid = [
        (row["prompt_tokens"] + 2 * row["completion_tokens"]) / 1e6 for row in answers
    ]
    assert [row["cost"] for row in answers] == pytest.approx(paid)
    assert {row["currency"] for row in answers} == {"USD"}
    with ScriptedServer(
        script
    ) as elsewhere:  # who wrote is struck off, and the data are relabelled
        configure(root, elsewhere.base_url, access="private")
        relabel(root)
        relabelled = metassay(root, "run", "one", "--no-prefect")
        assert relabelled.returncode == 1
        assert (
            "data/open/sources.jsonl: lies in the folder of 'open'" in relabelled.stderr
        )
        assert not elsewhere.calls
    for run in (stopped, done, relabelled):
        assert "knee" not in run.stdout + run.stderr
        assert "canary" not in run.stdout + run.stderr.replace(f"d-{CANARY}", "")
    # these hold texts, and so does the ledger
    tables = ("cache", "tables", "left_over")
    files = [
        f
        for place in (".work", ".dvc", "benchmarks")
        for f in (root / place).rglob("*")
    ]
    logs = [
        f
        for f in [*files, root / "versions.yaml"]
        if f.is_file() and "ledger" not in f.name
    ]
    logs = [f for f in logs if not set(tables).intersection(f.relative_to(root).parts)]
    assert any(f.suffix == ".db" for f in logs), (
        "Prefect's database is looked through, too"
    )
    passage = f"Case {CANARY}".encode()
    assert not [
        f for f in logs if passage in f.read_bytes() or b"knee" in f.read_bytes()
    ]


def relabel(root: Path) -> None:
    """The private files lie in another folder, too, which is called public; `writer` is gone."""
    shutil.copytree(root / "data/one", root / "data/open")
    for file, change in (
        ("data/registry.yaml", {"folder": "data/open", "access": "public"}),
        (
            BENCHMARK / "params.yaml",
            {"dataset": "open", "raw": "data/open", "systems": ["lead"]},
        ),
    ):
        content = yaml.safe_load((root / file).read_text(encoding="utf-8"))
        if "datasets" in content:
            content["datasets"]["open"] = content["datasets"]["one"] | change
        else:
            content |= change
        (root / file).write_text(yaml.safe_dump(content), encoding="utf-8")
