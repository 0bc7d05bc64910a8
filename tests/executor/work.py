"""What workers do in tests: they note that they do it, and take a while."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from metassay.core.errors import BadInput


def squares(shard: Sequence[int], seconds: float, log: str) -> list[int]:
    """Squares, each after a while; the log has a line for each, with the process."""
    results = []
    for number in shard:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{number} {os.getpid()}\n")
        time.sleep(seconds)
        results.append(number * number)
    return results


def noted(log: Path) -> list[tuple[int, int]]:
    """Numbers, and the processes that worked on them."""
    if not log.exists():
        return []
    lines = log.read_text(encoding="utf-8").splitlines()
    return [(int(number), int(process)) for number, process in map(str.split, lines)]


def refuse(shard: Sequence[int]) -> None:
    """What bad input comes to."""
    raise BadInput([f"row {shard[0]}: is wrong; correct it"])


def end(shard: Sequence[int]) -> None:
    """What a lack of memory comes to."""
    os._exit(len(shard))
