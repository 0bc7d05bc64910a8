"""Headline numbers to a scripted server that speaks MLflow's REST interface, and to W&B's package.

What is sent is compared whole, so that no text can be in it.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from metassay import __version__
from metassay.cli.main import main
from metassay.core.errors import BadInput, Unfinished
from metassay.tracking import publishing
from metassay.tracking.publishing import headline, send_to_mlflow, send_to_wandb
from tests.stage_setup import CHAT, tiny_project

CANARY = "canary-5e1b"
NUMBERS = {"best/faithful (overall)/global/value": 0.5, "answers/missing": 0.0}
HEADLINE = {
    "best": {
        "faithful (overall)": {
            "global": {
                "metric": "rouge1 (ours)",
                "verdict": "use",
                "advice": CANARY,
                "value": 0.5,
                "corrected": None,
                "trusted": True,
                "low": float("nan"),
            }
        }
    },
    "answers": {"missing": 0},
}


class Tracking:
    """The part of MLflow's server that is used: experiments and runs, and all that came in."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        self.experiments: list[dict[str, str]] = []
        self.status = 200

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.requests.append((path, body))
        if path == "experiments/search":
            return {"experiments": self.experiments} if self.experiments else {}
        if path == "experiments/create":
            self.experiments.append({"experiment_id": "7", "name": body["name"]})
            return {"experiment_id": "7"}
        if path == "runs/create":
            assert body["experiment_id"] == "7"
            return {"run": {"info": {"run_id": "r1"}}}
        assert path in ("runs/log-batch", "runs/update")
        assert body["run_id"] == "r1"
        assert len(body.get("metrics", [])) <= 1000
        return {}


@pytest.fixture
def server(monkeypatch):
    for name in ("TOKEN", "USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)
    tracking = Tracking()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            tracking.headers.append(dict(self.headers))
            assert self.path.startswith("/ml/api/2.0/mlflow/")
            answer = tracking.answer(
                self.path.removeprefix("/ml/api/2.0/mlflow/"), body
            )
            data = json.dumps(answer).encode()
            self.send_response(tracking.status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    yield tracking, f"http://127.0.0.1:{running.server_port}/ml/"
    running.shutdown()
    thread.join()
    running.server_close()


def project(folder: Path) -> Path:
    (folder / "benchmarks/one").mkdir(parents=True)
    (folder / "benchmarks/one/headline.json").write_text(json.dumps(HEADLINE), "utf-8")
    return folder


def test_a_headline_is_numbers_and_names_of_metrics(tmp_path):
    numbers, names = headline("one", project(tmp_path))
    at = "best/faithful _overall_/global"
    assert numbers == {f"{at}/value": 0.5, f"{at}/trusted": 1.0, "answers/missing": 0.0}
    assert names == {f"{at}/metric": "rouge1 (ours)"}
    with pytest.raises(BadInput, match="run: metassay run two"):
        headline("two", tmp_path)


def test_mlflow_gets_a_run_with_the_numbers_and_nothing_else(tmp_path, server):
    tracking, address = server
    values = headline("one", project(tmp_path))
    assert [send_to_mlflow("one", *values, address) for _ in range(2)] == ["r1"] * 2
    run = ("runs/create", "runs/log-batch", "runs/log-batch", "runs/update")
    paths = [path for path, _ in tracking.requests]
    assert paths == [
        "experiments/search",
        "experiments/create",
        *run,
        "experiments/search",
        *run,
    ]
    bodies = [body for _, body in tracking.requests[:6]]
    now = bodies[2]["start_time"]
    assert bodies[0] == {"max_results": 1, "filter": "name = 'metassay'"}
    assert bodies[1] == {"name": "metassay"}
    tags = [("mlflow.runName", "one"), ("metassay.version", __version__)]
    assert bodies[2] == {
        "experiment_id": "7",
        "start_time": now,
        "run_name": "one",
        "tags": [{"key": key, "value": value} for key, value in tags],
    }
    at = "best/faithful _overall_/global"
    sent = {(pair["key"], pair["value"]) for pair in bodies[3]["metrics"]}
    assert sent == {
        (f"{at}/value", 0.5),
        (f"{at}/trusted", 1.0),
        ("answers/missing", 0.0),
    }
    params = [{"key": f"{at}/metric", "value": "rouge1 (ours)"}]
    assert bodies[4] == {"run_id": "r1", "params": params}
    assert bodies[5] == {"run_id": "r1", "status": "FINISHED", "end_time": now}
    assert CANARY not in json.dumps(tracking.requests) + json.dumps(tracking.headers)
    tracking.requests.clear()
    send_to_mlflow("one", {f"n{n}": float(n) for n in range(2500)}, {}, address)
    batches = [
        body["metrics"] for path, body in tracking.requests if path == "runs/log-batch"
    ]
    assert [len(batch) for batch in batches] == [1000, 1000, 500]


def test_credentials_are_those_of_mlflows_own_variables(server, monkeypatch):
    tracking, address = server
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ann")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "word")
    send_to_mlflow("one", {}, {}, address)
    assert tracking.headers[-1]["Authorization"] == "Basic YW5uOndvcmQ="
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "t0")
    send_to_mlflow("one", {}, {}, address)
    assert tracking.headers[-1]["Authorization"] == "Bearer t0"


@pytest.mark.parametrize(
    ("status", "error"), [(403, BadInput), (302, BadInput), (500, Unfinished)]
)
def test_what_the_server_refuses_is_told_without_its_words(server, status, error):
    tracking, address = server
    tracking.status = status
    with pytest.raises(error) as caught:
        send_to_mlflow("one", NUMBERS, {}, address)
    assert "experiments/search" in str(caught.value)
    assert len(tracking.requests) == 1


def test_the_command_sends_numbers_of_any_dataset(
    tmp_path, server, monkeypatch, capsys
):
    tracking, address = server
    access = {"one": "private", "ward": "private"}
    where = tmp_path, "http://127.0.0.1:9/v1", ["Nothing."]
    root = tiny_project(*where, access=access, system=CHAT)
    monkeypatch.chdir(root)
    assert main(["push", "one", "--to", f"mlflow:{address}"]) == 2
    assert "metassay run one" in capsys.readouterr().err
    assert not tracking.requests
    (root / "benchmarks/one/headline.json").write_text(json.dumps(HEADLINE), "utf-8")
    assert main(["push", "one", "--to", f"mlflow:{address}"]) == 0
    assert capsys.readouterr().out == "one: 3 numbers, run r1\n"
    tracking.status = 503
    assert main(["push", "one", "--to", f"mlflow:{address}"]) == 1
    assert capsys.readouterr().err.strip().endswith("HTTPError; try again")


def test_wandb_is_told_to_send_nothing_by_itself(monkeypatch):
    seen: dict[str, Any] = {}
    run = SimpleNamespace(id="w1", log=lambda numbers: seen.update(log=numbers))
    run.finish = lambda: seen.update(finished=True)

    def init(**options: Any) -> Any:
        seen.update(options)
        return run

    there = SimpleNamespace(init=init, Settings=lambda **options: options)
    monkeypatch.setitem(sys.modules, "wandb", there)
    monkeypatch.setattr(publishing.importlib.util, "find_spec", lambda _: object())
    assert send_to_wandb("one", NUMBERS, {"a/metric": "m"}, "lab/notes") == "w1"
    settings = seen.pop("settings")
    assert seen == {
        "entity": "lab",
        "project": "notes",
        "name": "one",
        "finished": True,
        "log": NUMBERS,
        "config": {"metassay": __version__, "a/metric": "m"},
    }
    assert settings["console"] == "off"
    assert all(settings[f"disable_{what}"] for what in ("code", "git", "job_creation"))
    assert settings["x_save_requirements"] is False
    monkeypatch.setattr(publishing.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(BadInput, match="pip install wandb"):
        send_to_wandb("one", NUMBERS, {}, "notes")
