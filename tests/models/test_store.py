"""The store of model outputs: what stays, what is computed, and what a kill costs."""

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

# Computes the lengths of the texts of two lengths and those between, slowly, in
# batches, and notes each text that it computes. It may stand still at a text.
COMPUTING = f"""
import sys, time
from pathlib import Path
from metassay.models import outputs as module
from metassay.models.loading import Identity
module._INPUTS, module._CHARACTERS = {BLOCK}, 0
first, last, stop = map(int, sys.argv[3:])
inputs = [("x" * n,) for n in range(first, last)]

def compute(missing):
    for start in range(0, len(missing), {BATCH}):
        batch = {{place: len(inputs[place][0]) for place in missing[start : start + {BATCH}]}}
        with open(sys.argv[2], "a") as log:
            log.writelines(f"{{length}}\\n" for length in batch.values())
        time.sleep(60 if stop in batch.values() else 0.03)
        yield batch

task = module.Task("length", Identity("tiny#01", "0123"), "cpu", {{"unit": "letters"}}, ())
print(module.outputs(task, inputs, compute, store=Path(sys.argv[1])))
"""


class Letters:
    """Computes the lengths of texts into a store; notes which places it computed."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.computed: list[int] = []

    def __call__(self, *inputs: tuple[str, ...], task: Task = TASK) -> list[Any]:
        def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
            self.computed.extend(missing)
            for place in missing:
                yield {place: [len(text) for text in inputs[place]]}

        return outputs(task, inputs, compute, store=self.store)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "models.sqlite"


@pytest.fixture
def letters(path: Path) -> Letters:
    return Letters(path)


def test_what_is_there_is_not_computed_again(letters: Letters) -> None:
    first = [("a", "bb"), ("ccc",), ("a", "bb"), ("bb", "a")]
    assert letters(*first) == [[1, 2], [3], [1, 2], [2, 1]]
    # equal inputs count once, and their order matters
    assert letters.computed == [0, 1, 3]
    assert letters(("dd",), *first)[0] == [2]
    assert letters.computed == [0, 1, 3, 0]
    assert letters() == []


@pytest.mark.parametrize(
    ("characters", "expected"),
    [
        (0, [[0], [3], [4, 5]]),  # blocks of two texts
        (4, [[0, 3], [4, 5]]),  # the first block has four texts, of which two are there
    ],
)
def test_what_is_there_changes_no_block(
    path: Path, monkeypatch, characters, expected
) -> None:
    monkeypatch.setattr(module, "_INPUTS", 2)
    monkeypatch.setattr(module, "_CHARACTERS", characters)
    calls: list[list[int]] = []

    def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        calls.append(list(missing))
        yield dict.fromkeys(missing, 1)

    for texts in ("bc", "abcdef"):
        outputs(TASK, [(text,) for text in texts], compute, store=path)
    assert calls == [[0, 1], *expected]


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({"name": "other"}, True),
        ({"model": Identity("tiny#01", "4567")}, True),
        ({"device": "cpu"}, True),
        ({"settings": {"unit": "words"}}, True),
        ({"packages": ("pytest",)}, True),
        ({"device": "cuda:1", "model": Identity("moved#01", "0123")}, False),
    ],
)
def test_all_that_can_change_an_output_is_in_its_key(
    letters, change, again: bool
) -> None:
    task = replace(TASK, device="cuda:0")
    letters(("a",), task=task)
    letters(("a",), task=replace(task, **change))
    assert letters.computed == [0] * (1 + again)


def test_a_fresh_output_is_what_a_later_run_reads(path: Path) -> None:
    value = (0.1 + 0.2, None, "é", {"n": [1, True]})
    fresh = outputs(TASK, [("a",)], lambda _: iter([{0: value}]), store=path)
    assert fresh == [[0.1 + 0.2, None, "é", {"n": [1, True]}]]
    assert outputs(TASK, [("a",)], lambda _: iter(()), store=path) == fresh
    with pytest.raises(RuntimeError, match="1 of 2 outputs were not computed"):
        outputs(TASK, [("b",), ("c",)], lambda _: iter([{0: 1}]), store=path)


def test_no_text_is_in_the_file(letters: Letters) -> None:
    letters(("the patient's name",))
    written = b"".join(file.read_bytes() for file in letters.store.parent.iterdir())
    assert b"patient" not in written
    connection = sqlite3.connect(letters.store)
    query = "SELECT key, model, task, value FROM outputs"
    ((key, model, task, value),) = connection.execute(query).fetchall()
    connection.close()
    assert (len(key), model, task, json.loads(value)) == (64, "tiny#01", "length", [18])


def test_what_was_computed_before_an_error_stays(letters: Letters) -> None:
    def breaking(_: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        yield {0: 1}
        raise BadInput("no more memory")

    with pytest.raises(BadInput, match="memory"):
        outputs(TASK, [("a",), ("b",)], breaking, store=letters.store)
    letters(("a",), ("b",))
    assert letters.computed == [1]


def test_the_first_output_stays(path: Path) -> None:
    with Store(path) as store:
        store.keep({"k": 1}, model="m", task="t")
        assert store.keep({"k": 2, "l": 3}, model="m", task="t") == {"k": 1, "l": 3}
        with pytest.raises(ValueError, match="not JSON compliant"):
            store.keep({"n": float("nan"), "o": 1}, model="m", task="t")
        assert store.lookup(["k", "l", "n", "o"]) == {"k": 1, "l": 3}


def by_sql(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()


def ledger(path: Path) -> None:
    path.unlink()
    Ledger(path).close()


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "half": lambda path: path.write_bytes(path.read_bytes()[:-50_000]),
    "overwritten": lambda path: path.write_bytes(b"x" * path.stat().st_size),
    "another column": lambda path: by_sql(
        path, "ALTER TABLE outputs RENAME value TO output"
    ),
    "not a store of model outputs of Metassay": ledger,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_store_is_named_and_left_as_it_is(path: Path, damage: str) -> None:
    with Store(path) as store:
        store.keep({str(n): "x" * 500 for n in range(300)}, model="m", task="t")
    DAMAGES[damage](path)
    before = path.read_bytes()
    with pytest.raises(
        BadInput, match=damage if damage.startswith("not") else "move it away"
    ):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("value", ["x'ff'", "'{'", "x'00'", "''", "'NaN]'"])
def test_a_damaged_output_is_computed_again(
    letters: Letters, value: str, caplog
) -> None:
    assert letters(("one",), ("other",)) == [[3], [5]]
    by_sql(letters.store, f"UPDATE outputs SET value = {value} WHERE value = '[5]'")
    assert letters(("one",), ("other",)) == [[3], [5]]
    assert letters.computed == [0, 1, 1]
    assert "1 damaged outputs are computed again" in caplog.text


class Program:
    """The program above: processes that share a store and a log."""

    def __init__(self, folder: Path) -> None:
        self.store, self.log = folder / "models.sqlite", folder / "computed.txt"

    @property
    def computed(self) -> list[int]:
        return (
            [int(line) for line in self.log.read_text().split()]
            if self.log.exists()
            else []
        )

    def start(
        self, first: int = 0, last: int = TEXTS, stop: int = -1
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                sys.executable,
                "-c",
                COMPUTING,
                *map(str, (self.store, self.log, first, last, stop)),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(
        self, process: subprocess.Popen[str], first: int = 0, last: int = TEXTS
    ) -> None:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert json.loads(out) == list(range(first, last))

    def run(self, first: int, last: int) -> None:
        self.finish(self.start(first, last), first, last)

    def wait(self, process: subprocess.Popen[str], length: int) -> None:
        while length not in self.computed:
            assert process.poll() is None
            time.sleep(0.005)

    @contextlib.contextmanager
    def standing(self, stop: int) -> Iterator[None]:
        """A process stands still at a text meanwhile; it is killed then."""
        process = self.start(stop=stop)
        try:
            self.wait(process, stop)
            yield
            assert process.poll() is None
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate(timeout=60)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def test_a_kill_loses_at_most_the_batch_in_hand(program: Program) -> None:
    with program.standing(stop=7 * BATCH - 1):
        before = program.computed
    assert before == list(range(7 * BATCH))
    program.run(0, TEXTS)  # what the killed process had claimed does not stop it
    times = Counter(program.computed)
    assert sorted(times) == list(range(TEXTS))
    twice = {place for place, count in times.items() if count > 1}
    assert twice <= set(before[-BATCH:])
    # The rest was computed in the batches that it would have been in.
    after = program.computed[len(before) :]
    assert after == sorted(set(range(TEXTS)) - set(before) | twice)
    assert len(after) % BATCH == 0


def test_two_processes_compute_nothing_twice(program: Program) -> None:
    for process in [program.start(), program.start()]:
        program.finish(process)
    assert sorted(program.computed) == list(range(TEXTS))


def test_a_process_waits_only_for_the_block_that_another_has_in_hand(
    program: Program,
) -> None:
    with program.standing(stop=BLOCK + 1):
        program.run(TEXTS, 2 * TEXTS)  # others
        program.run(3 * BLOCK, TEXTS)  # that the first would reach
        program.run(0, BLOCK)  # that the first has left behind
        waiting = program.start(BLOCK, 3 * BLOCK)
        program.wait(waiting, 3 * BLOCK - 1)  # the next block is computed before
    program.finish(waiting, BLOCK, 3 * BLOCK)
    times = Counter(program.computed)
    assert sorted(times) == list(range(2 * TEXTS))
    # Only the batch that was killed is computed again.
    assert {length for length, n in times.items() if n > 1} == set(
        range(BLOCK, BLOCK + BATCH)
    )
