"""Answering 100,000 questions from a full ledger, hashing included.

`python speed/ledger_replay.py` fills a ledger once, asserts that every answer comes
back as it was stored, then prints the seconds that a replay of all takes, over several
rounds.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from metassay.llm.client import replayer
from metassay.llm.ledger import Entry, Ledger
from metassay.llm.messages import ChatRequest, Message

ANSWERS, WORDS, ROUNDS = 100_000, 400, 7
QUICK = {"ANSWERS": 50, "ROUNDS": 1}


def questions() -> list[ChatRequest]:
    text = "word " * WORDS
    system = Message("system", "Say whether the passages support the claim.")
    return [
        ChatRequest(
            "m", (system, Message("user", f"{number} {text}")), None, 0.0, None, 300
        )
        for number in range(ANSWERS)
    ]


def answer(number: int) -> str:
    return f'{{"number":{number},"reason":"{"because " * 20}","label":"supported"}}'


def fill(ledger: Ledger, requests: list[ChatRequest]) -> None:
    with ledger.transaction():
        for number, request in enumerate(requests):
            entry = Entry(request.key, "ok", "stop", 500, 60, answer(number))
            ledger.store(request.canonical, entry, model="m", endpoint_kind="openai")


def main() -> None:
    requests = questions()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        with Ledger(path) as ledger:
            fill(ledger, requests)
        times, opening = [], []
        for _ in range(ROUNDS):
            # new ones, since a request keeps its key once it is hashed
            requests = questions()
            start = time.perf_counter()
            with Ledger(path) as ledger:
                opened = time.perf_counter()
                replies = replayer(ledger)(requests)
                times.append(time.perf_counter() - opened)
                opening.append(opened - start)
            if any(
                reply.text != answer(number) for number, reply in enumerate(replies)
            ):
                sys.exit("an answer came back changed: no timing")
        size = path.stat().st_size / 1e6
    print(
        f"{ANSWERS:,} answers from a ledger of {size:.0f} MB, {ROUNDS} rounds, equal texts:"
        f" {statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f}) with hashing;"
        f" opening and checking the file {statistics.median(opening):.2f} s"
    )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
