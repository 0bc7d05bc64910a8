"""Tables and ledgers with damaged bytes: read as they are, or named; never lost."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metassay.core.params import load
from metassay.datasets.ingest import ingest
from metassay.llm.ledger import Entry, Ledger, export, import_
from metassay.models.outputs import Store
from metassay.tables import parquet
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.responses import RESPONSES
from tests.fuzz.mutations import ACCIDENTS, ODD_TEXTS, damaged
from tests.fuzz.rule import Ended, fuzz, handled
from tests.llm.batch_setup import request

INTEGERS = [0, 1, -1, 2**31, 2**53, 2**63 - 1, -(2**63)]
ROOT = Path(__file__).parents[2]


def fill(path: Path, each: Callable[[int, Ledger], None] = lambda *_: None) -> None:
    with Ledger(path) as ledger:
        for number in range(40):
            question = request(number)
            entry = Entry(question.key, "ok", "stop", 5, 7, f"answer {number}" * 20)
            ledger.store(question.canonical, entry, model="m-1", endpoint_kind="openai")
            each(number, ledger)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "ledger.sqlite"
    fill(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory, ledger: bytes) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("tables")
    criteria = dict(load(ROOT).benchmarks["sample"].criteria)
    data = ingest("files", ROOT / "data/sample", criteria)
    parquet.write(SOURCES, data.sources, folder / "sources.parquet")
    parquet.write(TEXTS, data.texts, folder / "texts.parquet")
    (folder / "ledger.sqlite").write_bytes(ledger)
    with Ledger(folder / "ledger.sqlite") as opened:
        export(opened, folder / "responses.parquet")
    return {path.stem: path.read_bytes() for path in folder.glob("*.parquet")}


@contextmanager
def file_of(name: str, content: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path


@pytest.mark.parametrize(
    "table", [SOURCES, TEXTS, RESPONSES], ids=lambda table: table.name
)
def test_tables(table: parquet.Table, tables: dict[str, bytes]) -> None:
    def run(accidents: Any) -> None:
        content = damaged(tables[table.name], accidents)
        with file_of(f"{table.name}.parquet", content) as path:
            ended = handled(lambda: parquet.read(table, path))
            assert path.read_bytes() == content
            if ended.problems:
                assert all(table.name in line for line in ended.problems)
            else:  # what was read can be written again
                parquet.write(table, ended.value, path.with_name("again.parquet"))

    fuzz(run, ACCIDENTS)


def use(path: Path) -> None:
    with Ledger(path) as opened:
        opened.lookup([request(number).key for number in range(50)])
        opened.holdings()
        opened.attempts()
        export(opened, path.with_name("out.parquet"))


def test_ledger(ledger: bytes) -> None:
    def run(accidents: Any) -> None:
        content = damaged(ledger, accidents)
        with file_of("ledger.sqlite", content) as path:
            ended = handled(lambda: use(path))
            if ended.problems:
                assert path.read_bytes() == content, "a damaged ledger is left as it is"
                assert all("ledger" in line for line in ended.problems)

    fuzz(run, ACCIDENTS)


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A ledger as a killed process leaves it: half of its answers are in its log alone."""
    path = tmp_path_factory.mktemp("killed") / "ledger.sqlite"
    copies = path.with_name("copies")

    def stop(number: int, ledger: Ledger) -> None:
        if number == 20:
            ledger.checkpoint()
        if number == 39:
            copies.mkdir()
            for end in ("", "-wal"):
                shutil.copy(f"{path}{end}", copies)

    fill(path, stop)
    return {file.name: file.read_bytes() for file in copies.iterdir()}


@pytest.mark.parametrize("end", ["", "-wal"])
def test_ledger_of_a_killed_process(end: str, unfinished: dict[str, bytes]) -> None:
    """What is damaged in the log is not there for SQLite; all before it is, and as it was."""
    name = f"ledger.sqlite{end}"

    def run(accidents: Any) -> None:
        files = unfinished | {name: damaged(unfinished[name], accidents)}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ledger.sqlite"
            for file, content in files.items():
                path.with_name(file).write_bytes(content)
            if handled(lambda: Ledger(path).close()).problems:
                after = {file: path.with_name(file).read_bytes() for file in files}
                assert after == files, (
                    "a damaged ledger is left as it is, and so is its log"
                )
                return
            ended = handled(lambda: use(path))
            assert all("ledger" in line for line in ended.problems)
            if end:
                assert not ended.problems
                with Ledger(path) as opened:
                    answers = opened.lookup(
                        [request(number).key for number in range(40)]
                    )
                assert len(answers) >= 21
                assert {len(entry.text) for entry in answers.values()} <= {160, 180}

    fuzz(run, ACCIDENTS)


def test_store_of_models(tmp_path: Path) -> None:
    """What is damaged is computed again, and never refused: the file takes outputs afterwards."""
    keys = [f"key {n}" for n in range(99)]
    with Store(tmp_path / "models.sqlite") as opened:
        opened.keep({key: [n] * 99 for n, key in enumerate(keys)}, model="m", task="t")
    sound = (tmp_path / "models.sqlite").read_bytes()

    def again(path: Path) -> None:
        with Store(path) as opened:
            opened.lookup(keys)
            assert opened.keep({"new": [1]}, model="m", task="t") == {"new": [1]}
        with Store(path) as opened:
            assert opened.lookup(["new"]) == {"new": [1]}

    def run(accidents: Any) -> None:
        content = damaged(sound, accidents)
        with file_of("models.sqlite", content) as path:
            ended = handled(lambda: again(path))
            if ended.problems:  # a number of another version, or of another program
                assert "left as it is" in ended.problems[0]
                assert path.read_bytes() == content

    fuzz(run, ACCIDENTS)


def imported(file: Path, ledger: Path) -> Ended:
    """Import answers: all of them are in the ledger, or none."""
    with Ledger(ledger) as opened:
        ended = handled(lambda: import_(opened, [file]))
        n = sum(answers for _, _, answers, _, _ in opened.holdings()) + len(
            opened.failures()
        )
        assert n == (0 if ended.problems else ended.value.added), "half imported"
    return ended


def test_imported_responses(tables: dict[str, bytes]) -> None:
    def run(accidents: Any) -> None:
        with file_of(
            "responses.parquet", damaged(tables["responses"], accidents)
        ) as file:
            imported(file, file.with_name("ledger.sqlite"))

    fuzz(run, ACCIDENTS)


def test_imported_cells(tables: dict[str, bytes]) -> None:
    """Sound files of rows that cannot be, or can."""
    sound = pq.read_table(pa.BufferReader(tables["responses"]))
    rows, schema = sound.to_pylist(), sound.schema
    odd = {
        pa.string(): [text for text in ODD_TEXTS if text.isascii()],
        pa.int64(): INTEGERS,
    }
    loose = pa.schema([pa.field(field.name, field.type) for field in schema])

    @given(
        st.integers(0, len(rows) - 1),
        st.sampled_from(schema.names),
        st.integers(0, 99),
        st.booleans(),
    )
    # 2**63 - 1: sums overflow
    @example(row=0, name="prompt_tokens", number=6, again=False)
    def run(row: int, name: str, number: int, again: bool) -> None:
        values = [
            None,
            *odd[schema.field(name).type],
            *(some[name] for some in rows[:3]),
        ]
        changed = [dict(some) for some in rows]
        changed[row][name] = values[number % len(values)]
        changed += [rows[row]] if again else []
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(changed, loose), sink)
        with file_of("responses.parquet", sink.getvalue().to_pybytes()) as file:
            path = file.with_name("ledger.sqlite")
            if not imported(file, path).problems:
                assert not handled(lambda: use(path)).problems, (
                    "what was taken can be used"
                )

    run()
