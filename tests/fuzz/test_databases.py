"""Tables and ledgers with damaged bytes: read as they are, or named; never lost."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metassay.datasets.ingest import ingest
from metassay.llm.ledger import Entry, Ledger, export, import_
from metassay.models.outputs import Store
from metassay.tables import parquet
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.responses import RESPONSES
from tests.fuzz.mutations import ACCIDENTS, ODD_TEXTS, damaged
from tests.fuzz.rule import handled
from tests.llm.batch_setup import request

INTEGERS = [0, 1, -1, 2**31, 2**53, 2**63 - 1, -(2**63)]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "ledger.sqlite"
    with Ledger(path) as made:
        for number in range(40):
            asked = request(number)
            entry = Entry(asked.key, "ok", "stop", 5, 7, f"answer {number}" * 20)
            made.store(asked.canonical, entry, model="m-1", endpoint_kind="openai")
    return path


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory, ledger: Path) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("tables")
    found = ingest("files", ROOT / "data/sample", _criteria())
    parquet.write(SOURCES, found.sources, folder / "sources.parquet")
    parquet.write(TEXTS, found.texts, folder / "texts.parquet")
    with Ledger(ledger) as opened:
        export(opened, folder / "responses.parquet")
    return {path.stem: path.read_bytes() for path in folder.glob("*.parquet")}


def _criteria() -> dict[str, object]:
    from metassay.core.params import load

    return dict(load(ROOT).benchmarks["sample"].criteria)


@pytest.mark.parametrize("table", [SOURCES, TEXTS, RESPONSES], ids=lambda table: table.name)
def test_tables(table: parquet.Table, tables: dict[str, bytes]) -> None:
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        content = damaged(tables[table.name], accidents)
        with tempfile.TemporaryDirectory() as made:
            path = Path(made) / f"{table.name}.parquet"
            path.write_bytes(content)
            ended = handled(lambda: parquet.read(table, path))
            assert path.read_bytes() == content
            if ended.problems:
                assert all(table.name in line for line in ended.problems)
            else:  # what was read can be written again
                parquet.write(table, ended.value, path.with_name("again.parquet"))

    run()


def test_ledger(ledger: Path) -> None:
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        content = damaged(ledger.read_bytes(), accidents)
        with tempfile.TemporaryDirectory() as made:
            path = Path(made) / "ledger.sqlite"
            path.write_bytes(content)
            ended = handled(lambda: _use(path))
            if ended.problems:
                assert path.read_bytes() == content, "a damaged ledger is left as it is"
                assert all("ledger" in line for line in ended.problems)

    run()


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A ledger as a killed process leaves it: half of its answers are in its log alone."""
    path = tmp_path_factory.mktemp("killed") / "ledger.sqlite"
    with Ledger(path) as made:
        for number in range(40):
            asked = request(number)
            entry = Entry(asked.key, "ok", "stop", 5, 7, f"answer {number}" * 20)
            made.store(asked.canonical, entry, model="m-1", endpoint_kind="openai")
            if number == 20:
                made.checkpoint()
        kept = path.with_name("kept")
        kept.mkdir()
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", kept)
    return {file.name: file.read_bytes() for file in kept.iterdir()}


@pytest.mark.parametrize("end", ["", "-wal"])
def test_ledger_of_a_killed_process(end: str, unfinished: dict[str, bytes]) -> None:
    """What is damaged in the log is not there for SQLite; all before it is, and as it was."""
    name = f"ledger.sqlite{end}"

    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        with tempfile.TemporaryDirectory() as made:
            path = Path(made) / "ledger.sqlite"
            for file, content in unfinished.items():
                path.with_name(file).write_bytes(content)
            path.with_name(name).write_bytes(damaged(unfinished[name], accidents))
            before = {file: path.with_name(file).read_bytes() for file in unfinished}
            if handled(lambda: Ledger(path).close()).problems:
                after = {file: path.with_name(file).read_bytes() for file in unfinished}
                assert after == before, "a damaged ledger is left as it is, and so is its log"
                return
            ended = handled(lambda: _use(path))
            assert all("ledger" in line for line in ended.problems)
            if end:
                assert not ended.problems
                with Ledger(path) as opened:
                    found = opened.lookup([request(number).key for number in range(40)])
                    assert len(found) >= 21
                assert {len(entry.text) for entry in found.values()} <= {160, 180}

    run()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("store") / "models.sqlite"
    with Store(path) as made:
        made.keep({f"key {n}": [n] * 99 for n in range(99)}, model="m", task="t")
    return path.read_bytes()


def test_store_of_models(store: bytes) -> None:
    """What is damaged is made again, and never refused: the same file takes outputs afterwards."""

    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        with tempfile.TemporaryDirectory() as made:
            path = Path(made) / "models.sqlite"
            path.write_bytes(damaged(store, accidents))
            ended = handled(lambda: _kept(path))
            if ended.problems:  # a number of another version, or of another program
                assert "left as it is" in ended.problems[0]
                assert path.read_bytes() == damaged(store, accidents)

    run()


def _kept(path: Path) -> None:
    keys = [f"key {n}" for n in range(99)]
    with Store(path) as opened:
        opened.lookup(keys)
        assert opened.keep({"new": [1]}, model="m", task="t") == {"new": [1]}
    with Store(path) as opened:
        assert opened.lookup(["new"]) == {"new": [1]}


def _use(path: Path) -> None:
    with Ledger(path) as opened:
        opened.lookup([request(number).key for number in range(50)])
        opened.holdings()
        opened.attempts()
        export(opened, path.with_name("out.parquet"))


def test_imported_responses(tables: dict[str, bytes]) -> None:
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        content = damaged(tables["responses"], accidents)
        with tempfile.TemporaryDirectory() as made:
            file = Path(made) / "responses.parquet"
            file.write_bytes(content)
            with Ledger(Path(made) / "ledger.sqlite") as opened:
                ended = handled(lambda: import_(opened, [file]))
                held = sum(answers for _, _, answers, _, _ in opened.holdings())
                assert held == (0 if ended.problems else ended.value.added), "half imported"

    run()


def test_imported_cells(tables: dict[str, bytes], tmp_path: Path) -> None:
    """Sound files of rows that cannot be, or can: all of it is in the ledger, or nothing."""
    sound = pq.read_table(pa.BufferReader(tables["responses"]))
    rows, schema, file = sound.to_pylist(), sound.schema, tmp_path / "responses.parquet"
    odd = {pa.string(): [one for one in ODD_TEXTS if one.isascii()], pa.int64(): INTEGERS}

    @given(
        st.integers(0, len(rows) - 1),
        st.sampled_from(schema.names),
        st.integers(0, 99),
        st.booleans(),
    )
    @example(row=0, name="prompt_tokens", number=6, again=False)  # 2**63 - 1: sums overflow
    def run(row: int, name: str, number: int, again: bool) -> None:
        values = [None, *odd[schema.field(name).type], *(one[name] for one in rows[:3])]
        changed = [dict(one) for one in rows]
        changed[row][name] = values[number % len(values)]
        changed += [rows[row]] if again else []
        loose = pa.schema([pa.field(one.name, one.type) for one in schema])
        pq.write_table(pa.Table.from_pylist(changed, loose), file)
        with tempfile.TemporaryDirectory() as made:
            path = Path(made) / "ledger.sqlite"
            with Ledger(path) as opened:
                ended = handled(lambda: import_(opened, [file]))
                held = sum(answers for _, _, answers, _, _ in opened.holdings())
                assert held + len(opened.failures()) == (0 if ended.problems else ended.value.added)
            if not ended.problems:
                assert not handled(lambda: _use(path)).problems, "what was taken can be used"

    run()
