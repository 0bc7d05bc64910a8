"""The store of model outputs: what is kept, what is computed, and what a kill costs."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.llm.ledger import Ledger
from metassay.models import outputs as module
from metassay.models.loading import Identity
from metassay.models.outputs import Store, Task, outputs

ROOT = Path(__file__).parents[2]
TASK = Task("length", Identity("tiny#01", "0123"), "cpu", {"unit": "letters"}, ())
TEXTS, BATCH, BLOCK = 60, 4, 12

# Computes the lengths of the texts of two lengths and those between, slowly, in batches, and notes
# each text that it computes. It may be told at which text it stands still.
COMPUTING = f"""
import sys, time
from pathlib import Path
from metassay.models import outputs as module
from metassay.models.loading import Identity
from metassay.models.outputs import Store, Task, outputs
module._INPUTS, module._CHARACTERS = {BLOCK}, 0
first, last, stop = map(int, sys.argv[3:])
task = Task("length", Identity("tiny#01", "0123"), "cpu", {{"unit": "letters"}}, ())
inputs = [("x" * n,) for n in range(first, last)]

def compute(missing):
    for start in range(0, len(missing), {BATCH}):
        batch = {{place: len(inputs[place][0]) for place in missing[start : start + {BATCH}]}}
        with open(sys.argv[2], "a") as log:
            log.writelines(f"{{length}}\\n" for length in batch.values())
        time.sleep(60 if stop in batch.values() else 0.03)
        yield batch

print(outputs(task, inputs, compute, store=Path(sys.argv[1])))
"""


def letters(asked: list[int]) -> Callable[[Sequence[tuple[str, ...]]], Any]:
    """Compute the lengths of texts, noting which were asked for."""

    def over(inputs: Sequence[tuple[str, ...]]) -> Any:
        def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
            asked.extend(missing)
            for place in missing:
                yield {place: [len(text) for text in inputs[place]]}

        return compute

    return over


def test_what_is_there_is_not_computed_again(tmp_path: Path) -> None:
    asked: list[int] = []
    compute, store = letters(asked), tmp_path / "models.sqlite"
    first = [("a", "bb"), ("ccc",), ("a", "bb"), ("bb", "a")]
    assert outputs(TASK, first, compute(first), store=store) == [[1, 2], [3], [1, 2], [2, 1]]
    assert asked == [0, 1, 3]  # equal inputs count once, and their order matters
    second = [("dd",), *first]
    assert outputs(TASK, second, compute(second), store=store)[0] == [2]
    assert asked == [0, 1, 3, 0]
    assert outputs(TASK, [], compute([]), store=store) == []


@pytest.mark.parametrize(
    ("characters", "expected"),
    [
        (0, [[0], [3], [4, 5]]),  # blocks of two texts
        (4, [[0, 3], [4, 5]]),  # the first block has four texts, of which two are there
    ],
)
def test_what_is_there_changes_no_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, characters: int, expected: list[list[int]]
) -> None:
    monkeypatch.setattr(module, "_INPUTS", 2)
    monkeypatch.setattr(module, "_CHARACTERS", characters)
    calls: list[list[int]] = []

    def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        calls.append(list(missing))
        yield dict.fromkeys(missing, 1)

    store = tmp_path / "models.sqlite"
    outputs(TASK, [("b",), ("c",)], compute, store=store)
    outputs(TASK, [(text,) for text in "abcdef"], compute, store=store)
    assert calls == [[0, 1], *expected]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"model": Identity("tiny#01", "4567")},
        {"device": "cuda:0"},
        {"settings": {"unit": "words"}},
        {"packages": ("pytest",)},
    ],
)
def test_all_that_can_change_an_output_is_in_its_key(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    asked: list[int] = []
    inputs, store = [("a",)], tmp_path / "models.sqlite"
    outputs(TASK, inputs, letters(asked)(inputs), store=store)
    outputs(replace(TASK, **change), inputs, letters(asked)(inputs), store=store)
    assert asked == [0, 0]


def test_a_models_name_and_a_devices_number_are_not(tmp_path: Path) -> None:
    asked: list[int] = []
    inputs, store = [("a",)], tmp_path / "models.sqlite"
    first = replace(TASK, device="cuda:0")
    other = replace(TASK, device="cuda:1", model=Identity("moved#01", "0123"))
    outputs(first, inputs, letters(asked)(inputs), store=store)
    outputs(other, inputs, letters(asked)(inputs), store=store)
    assert asked == [0]


def test_a_fresh_output_is_what_a_later_run_reads(tmp_path: Path) -> None:
    inputs, store = [("a",)], tmp_path / "models.sqlite"
    value = (0.1 + 0.2, None, "é", {"n": [1, True]})
    fresh = outputs(TASK, inputs, lambda _: iter([{0: value}]), store=store)
    assert fresh == [[0.1 + 0.2, None, "é", {"n": [1, True]}]]
    assert outputs(TASK, inputs, lambda _: iter(()), store=store) == fresh


def test_no_text_is_in_the_file(tmp_path: Path) -> None:
    store = tmp_path / "models.sqlite"
    inputs = [("the patient's name",)]
    outputs(TASK, inputs, letters([])(inputs), store=store)
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"patient" not in written
    connection = sqlite3.connect(store)
    ((key, model, task, value),) = connection.execute(
        "SELECT key, model, task, value FROM outputs"
    ).fetchall()
    connection.close()
    assert (len(key), model, task, json.loads(value)) == (64, "tiny#01", "length", [18])


def test_an_output_that_was_not_computed_is_a_bug(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="1 of 2 outputs were not computed"):
        outputs(TASK, [("a",), ("b",)], lambda _: iter([{0: 1}]), store=tmp_path / "m.sqlite")


def test_what_was_computed_before_an_error_stays(tmp_path: Path) -> None:
    store = tmp_path / "models.sqlite"

    def breaking(_: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        yield {0: 1}
        raise BadInput("no more memory")

    inputs = [("a",), ("b",)]
    with pytest.raises(BadInput, match="memory"):
        outputs(TASK, inputs, breaking, store=store)
    asked: list[int] = []
    outputs(TASK, inputs, letters(asked)(inputs), store=store)
    assert asked == [1]


def test_the_first_output_stays(tmp_path: Path) -> None:
    with Store(tmp_path / "models.sqlite") as store:
        store.keep({"k": 1}, model="m", task="t")
        assert store.keep({"k": 2, "l": 3}, model="m", task="t") == {"k": 1, "l": 3}
        with pytest.raises(ValueError, match="not JSON compliant"):
            store.keep({"n": float("nan"), "o": 1}, model="m", task="t")
        assert store.lookup(["k", "l", "n", "o"]) == {"k": 1, "l": 3}


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    Ledger(ledger).close()
    before = ledger.read_bytes()
    with pytest.raises(BadInput, match="not a store of model outputs of Metassay"):
        Store(ledger)
    assert ledger.read_bytes() == before


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-50_000])


def overwrite(path: Path) -> None:
    path.write_bytes(b"x" * path.stat().st_size)


def rename_column(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("ALTER TABLE outputs RENAME value TO output")
    connection.close()


@pytest.mark.parametrize("damage", [cut, overwrite, rename_column])
def test_a_damaged_store_is_named_and_left_as_it_is(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "models.sqlite"
    with Store(path) as store:
        store.keep({str(n): "x" * 500 for n in range(300)}, model="m", task="t")
    damage(path)
    before = path.read_bytes()
    with pytest.raises(BadInput, match="move it away"):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("value", ["x'ff'", "'{'", "x'00'", "''", "'NaN]'"])
def test_a_damaged_output_is_computed_again(
    tmp_path: Path, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "models.sqlite"
    inputs = [("one",), ("other",)]
    compute = letters([])(inputs)
    assert outputs(TASK, inputs, compute, store=path) == [[3], [5]]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"UPDATE outputs SET value = {value} WHERE value = '[5]'")
    connection.close()
    asked: list[int] = []
    assert outputs(TASK, inputs, letters(asked)(inputs), store=path) == [[3], [5]]
    assert asked == [1]
    assert "1 damaged outputs are computed again" in caplog.text


def start(
    store: Path, log: Path, first: int = 0, last: int = TEXTS, stop: int = -1
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMPUTING, *map(str, (store, log, first, last, stop))],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def computed(log: Path) -> list[int]:
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def finish(process: subprocess.Popen[str], first: int = 0, last: int = TEXTS) -> None:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out) == list(range(first, last))


@contextlib.contextmanager
def standing(store: Path, log: Path, stop: int) -> Iterator[None]:
    """A process stands still at a text meanwhile; it is killed then."""
    process = start(store, log, stop=stop)
    try:
        while stop not in computed(log):
            assert process.poll() is None
            time.sleep(0.005)
        yield
        assert process.poll() is None
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)


def test_a_kill_loses_at_most_the_batch_in_hand(tmp_path: Path) -> None:
    store, log = tmp_path / "models.sqlite", tmp_path / "computed.txt"
    with standing(store, log, stop=7 * BATCH - 1):
        before = computed(log)
    assert before == list(range(7 * BATCH))
    finish(start(store, log))  # what the killed process held does not stop it
    times = Counter(computed(log))
    assert sorted(times) == list(range(TEXTS))
    twice = {place for place, count in times.items() if count > 1}
    assert twice <= set(before[-BATCH:])
    # The rest was computed in the batches that it would have been in.
    assert computed(log)[len(before) :] == sorted(set(range(TEXTS)) - set(before) | twice)
    assert (len(computed(log)) - len(before)) % BATCH == 0


def test_two_processes_compute_nothing_twice(tmp_path: Path) -> None:
    store, log = tmp_path / "models.sqlite", tmp_path / "computed.txt"
    both = [start(store, log), start(store, log)]
    for process in both:
        finish(process)
    assert sorted(computed(log)) == list(range(TEXTS))


def test_a_process_waits_only_for_the_block_that_another_has_in_hand(tmp_path: Path) -> None:
    store, log = tmp_path / "models.sqlite", tmp_path / "computed.txt"
    with standing(store, log, stop=BLOCK + 1):
        finish(start(store, log, TEXTS, 2 * TEXTS), TEXTS, 2 * TEXTS)  # others
        finish(start(store, log, 3 * BLOCK, TEXTS), 3 * BLOCK, TEXTS)  # that the first would reach
        finish(start(store, log, 0, BLOCK), 0, BLOCK)  # that the first has left behind
        waiting = start(store, log, BLOCK, 3 * BLOCK)
        while 3 * BLOCK - 1 not in computed(log):  # the next block is computed before
            assert waiting.poll() is None
            time.sleep(0.005)
    finish(waiting, BLOCK, 3 * BLOCK)
    times = Counter(computed(log))
    assert sorted(times) == list(range(2 * TEXTS))
    # Only the batch that was killed is computed again.
    assert {length for length, n in times.items() if n > 1} == set(range(BLOCK, BLOCK + BATCH))
