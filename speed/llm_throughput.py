"""Asking an endpoint that takes 200 ms, at concurrency 1, 8, 32 and 128, ledger included.

`python speed/llm_throughput.py` starts the scripted server of the tests in a process of
its own, asserts that every concurrency gets the same answers, then alternates the
concurrencies and prints requests per second and the processor time of this process per
call. The server shares the machine's processors: on two of them it takes about one, so
the rates are those of a busy machine. The limit is concurrency / 0.2 s.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from metassay.llm.budget import open_budget
from metassay.llm.client import asker
from metassay.llm.endpoints import EndpointOptions, ModelOptions, clear
from metassay.llm.ledger import Ledger
from metassay.llm.messages import Ask, ChatRequest, Message

LATENCY, WORDS, ROUNDS = 0.2, 800, 7
SERVER = Path(__file__).parent.parent / "tests" / "llm" / "scripted_server.py"
CALLS = {1: 10, 8: 80, 32: 320, 128: 1280}  # about two seconds each at the limit
QUICK = {"CALLS": {1: 2, 8: 8}, "ROUNDS": 1}
MODEL = ModelOptions(endpoint="stub", model="stub", max_tokens=100)


def questions(count: int, first: int) -> list[ChatRequest]:
    text = "word " * WORDS
    return [
        ChatRequest(
            "stub", (Message("user", f"{number} {text}"),), None, 0.0, None, 100
        )
        for number in range(first, first + count)
    ]


def asking(port: int, concurrency: int, ledger: Ledger) -> Ask:
    endpoint = EndpointOptions(
        kind="openai", base_url=f"http://127.0.0.1:{port}/v1", concurrency=concurrency
    )
    budget = open_budget(ledger, "benchmark", MODEL, None, where="models > stub")
    return asker(
        clear({"invented": "public"}, ["invented"], "stub", endpoint),
        MODEL,
        ledger,
        budget,
    )


def one(port: int, concurrency: int, first: int, folder: Path) -> tuple[float, float]:
    """Requests per second and processor milliseconds per call, into an empty ledger."""
    requests = questions(CALLS[concurrency], first)
    with Ledger(folder / f"{concurrency}-{first}.sqlite") as ledger:
        ask = asking(port, concurrency, ledger)
        processor, start = time.process_time(), time.perf_counter()
        replies = ask(requests)
        seconds, used = time.perf_counter() - start, time.process_time() - processor
    if any(reply.status != "ok" for reply in replies):
        sys.exit("not every request was answered: no timing")
    return len(requests) / seconds, 1e3 * used / len(requests)


def same_answers(port: int, folder: Path) -> bool:
    requests, seen = questions(16, -16), []
    for concurrency in CALLS:
        with Ledger(folder / f"same-{concurrency}.sqlite") as ledger:
            seen.append(
                [reply.text for reply in asking(port, concurrency, ledger)(requests)]
            )
    return all(texts == seen[0] for texts in seen) and None not in seen[0]


def main() -> None:
    command = [sys.executable, str(SERVER), "--latency", str(LATENCY)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if not same_answers(port, folder):
                sys.exit("the answers differ: no timing")
            rounds = [
                {c: one(port, c, 10_000 * number, folder) for c in CALLS}
                for number in range(ROUNDS)
            ]
        assert server.stdin is not None
        server.stdin.close()
    print(
        f"{1e3 * LATENCY:.0f} ms endpoint, prompts of {WORDS} words, {ROUNDS} rounds:"
    )
    for concurrency in CALLS:
        rates = sorted(each[concurrency][0] for each in rounds)
        ratios = sorted(each[concurrency][0] / each[1][0] for each in rounds)
        used = sorted(each[concurrency][1] for each in rounds)
        print(
            f"  concurrency {concurrency:3d}: {statistics.median(rates):5.0f} requests/s"
            f" ({rates[0]:.0f} to {rates[-1]:.0f}), {statistics.median(ratios):.1f}x one at a time"
            f" ({ratios[0]:.1f} to {ratios[-1]:.1f}), processor"
            f" {statistics.median(used):.2f} ms per call ({used[0]:.2f} to {used[-1]:.2f})"
        )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
