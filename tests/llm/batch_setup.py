"""Short ways to ask a scripted server; run as a program it asks from a process of its own.

A program (`serve`) reads a JSON line per run, and runs it in a child that can be killed
without paying for its imports again. It writes two lines: the child's process id when
it starts, and what the run came to (`null` for a killed child) when it ended.
"""

import datetime
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metassay.llm.budget import Budget, open_budget
from metassay.llm.client import asker
from metassay.llm.endpoints import EndpointOptions, ModelOptions, Prices, clear
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from metassay.llm.messages import Ask, ChatRequest, Message, Reply
from tests.llm.scripted_server import ScriptedServer

ROOT = Path(__file__).parent.parent.parent
PRICES = Prices(
    date=datetime.date(2026, 11, 1),
    input_per_million=2.5,
    output_per_million=10.0,
    currency="USD",
)
QUICK = Policy(first_wait=0.01, longest_wait=0.2)


def request(number: int | str, **changes: Any) -> ChatRequest:
    settings: dict[str, Any] = {
        "schema": None,
        "temperature": 0.0,
        "seed": None,
        "max_tokens": 40,
    }
    messages = (Message("system", "Answer."), Message("user", f"Question {number}?"))
    return ChatRequest("m-1", messages, **(settings | changes))


def requests(count: int) -> list[ChatRequest]:
    return [request(number) for number in range(count)]


def endpoint(base_url: str, **changes: Any) -> EndpointOptions:
    return EndpointOptions(
        **({"kind": "openai", "base_url": base_url, "timeout": 20.0} | changes)
    )


def model(**changes: Any) -> ModelOptions:
    return ModelOptions(
        **({"endpoint": "here", "model": "m-1", "max_tokens": 40} | changes)
    )


def budget_of(ledger: Ledger, max_cost: float | None = None, **changes: Any) -> Budget:
    options = model(**({"prices": PRICES} | changes))
    return open_budget(
        ledger, "study", options, max_cost, where="params.yaml > models > m"
    )


def asking(
    server: ScriptedServer | str,
    ledger: Ledger,
    policy: Policy = QUICK,
    *,
    max_cost: float | None = None,
    of: ModelOptions | None = None,
    **changes: Any,
) -> Ask:
    """What asks a server, or whatever is at a URL; `of` is the model, if it is not `model()`."""
    url = server if isinstance(server, str) else server.base_url
    cleared = clear(
        {"invented": "public"}, ["invented"], "here", endpoint(url, **changes)
    )
    options = of or model(prices=PRICES)
    budget = open_budget(
        ledger, "study", options, max_cost, where="params.yaml > models > m"
    )
    return asker(cleared, options, ledger, budget, policy)


def missing(replies: Iterable[Reply]) -> dict[str, int]:
    """How many questions have no answer, by error code; empty if all have one."""
    by_key = {reply.key: reply.error for reply in replies if reply.status == "error"}
    return dict(sorted(Counter(str(code) for code in by_key.values()).items()))


class Asker:
    """A program of this sort, running."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout

    def start(self, **settings: Any) -> int:
        """Start a run; returns its process id. With `begin` it waits for `go`."""
        self._write(json.dumps(settings))
        return int(self._out.readline())

    def go(self) -> None:
        self._write("go")

    def result(self) -> Any:
        """Wait for the end of the run; what it came to, or None if it was killed."""
        return json.loads(self._out.readline())

    def _write(self, line: str) -> None:
        self._in.write(f"{line}\n")
        self._in.flush()


@contextmanager
def another_process(module: str = "tests.llm.batch_setup") -> Iterator[Asker]:
    """A process that asks."""
    with subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Asker(process)
        assert process.stdin is not None
        process.stdin.close()


def _run(settings: dict[str, Any]) -> dict[str, int]:
    policy = Policy(first_wait=0.01, longest_wait=0.2, lease=settings["lease"])
    with Ledger(Path(settings["ledger"])) as ledger:
        at_once = settings.get("concurrency", 8)
        ask = asking(settings["base_url"], ledger, policy, concurrency=at_once)
        return Counter(reply.status for reply in ask(requests(settings["count"])))


def serve(run: Callable[[dict[str, Any]], Any]) -> None:
    from metassay.llm import http

    # A shell that starts the tests in the background has interrupts ignored, and so
    # would we.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # loaded once, before the children are made, like the openai package
    http._certificates()
    for line in sys.stdin:
        settings = json.loads(line)
        reading, writing = os.pipe()
        waiting, going = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.close(going)
            os.read(waiting, 1)  # until the server knows whom to kill
            with os.fdopen(writing, "w") as result:
                json.dump(run(settings), result)
            os._exit(0)
        os.close(writing)
        os.close(waiting)
        print(child, flush=True)
        if settings.get("begin"):
            sys.stdin.readline()
        os.close(going)
        with os.fdopen(reading) as result:
            statuses = result.read()
        os.waitpid(child, 0)
        print(statuses or "null", flush=True)


if __name__ == "__main__":
    serve(_run)
