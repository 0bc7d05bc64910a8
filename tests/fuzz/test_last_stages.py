"""meta_evaluate, certify and report: odd tables and params are taken, or named with a remedy."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import strategies as st

from metassay.reporting.contract_page import TABLES
from tests.fuzz.mutations import CHANGES, ODD_NUMBERS, ODD_TEXTS, changed
from tests.fuzz.rule import fuzz
from tests.fuzz.small_project import ROOT, STAGES, declaration, make, run

METRICS = ["claim_recall", "words", "bleu"]  # few, so that it is quick
HERE = Path("data/tables/sample")
BLOCKS = {
    "meta_evaluate": ["meta_evaluation"],
    "certify": ["certification"],
    "report": ["certification", "shown_as", "meta_evaluation"],
}
LAST = tuple(BLOCKS)
OUTS: dict[str, list[str]] = {}
REMEDIES = ("; ", ". ", "must ", "should ")
PARAMS, SAVED = Path("params.yaml"), Path("saved")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The project, run up to the page, as the current folder."""
    root = tmp_path_factory.mktemp("last")
    make(root, documents=3)
    shutil.copytree(ROOT / "reports/published", root / "reports/published")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("metassay.reporting.figures.PNG_DPI", 20)
        params = yaml.safe_load(PARAMS.read_text("utf-8"))
        few = {"resamples": 20, "permutations": 20, "compared": METRICS[:2]}
        params["meta_evaluation"] |= few
        PARAMS.write_text(json.dumps(params), encoding="utf-8")
        SAVED.mkdir()
        for words in (*STAGES, *LAST):
            if words == LAST[0]:
                for file in (HERE / "scores.parquet", HERE / "leaderboard.parquet"):
                    rows = pq.read_table(file)
                    pq.write_table(
                        rows.filter(pc.is_in(rows["metric"], pa.array(METRICS))), file
                    )
            assert run(words, declaration(words).value).problems == ()
            OUTS[words] = sorted(declaration(words).value.outs)
        yield root


def check(stage: str, file: Path, content: bytes) -> None:
    """Taken, and all is written; or refused with file and remedy, and nothing is."""
    sound, outs = file.read_bytes(), [Path(name) for name in OUTS[stage]]
    for number, out in enumerate(outs):
        out.rename(SAVED / str(number))
    try:
        file.write_bytes(content)
        entry = declaration(stage)
        ended = entry if entry.problems else run(stage, entry.value)
        assert file.read_bytes() == content
        assert all(out.exists() is not bool(ended.problems) for out in outs), (
            "half written"
        )
        for line in ended.problems:
            assert file.stem in line or file.parent.name in line, (
                f"names no file: {line}"
            )
            assert any(sign in line for sign in REMEDIES), f"no remedy: {line}"
    finally:
        file.write_bytes(sound)
        for number, out in enumerate(outs):
            if out.is_dir():
                shutil.rmtree(out)
            (SAVED / str(number)).replace(out)


ODD: dict[pa.DataType, tuple[Any, ...]] = {
    pa.int64(): (0, -1, 1, 7, 2**53, 2**63 - 1, -(2**63)),
    pa.float32(): (1.5,),
    pa.null(): (None,),
    pa.float64(): (*map(float, ODD_NUMBERS), 1e-300, -0.0, 0.5, 1e-320),
    pa.bool_(): (True, False),
    pa.binary(): (b"\xff",),
    pa.string(): (*(text for text in ODD_TEXTS if text != "\ud800"), "x" * 70_000),
}
NUMBER = st.integers(0, 999)
KINDS = [
    "cell",
    "cell",
    "cell",
    "column",
    "row",
    "key",
    "twice",
    "rows",
    "gone",
    "more",
    "type",
]
WAYS = st.tuples(st.sampled_from(KINDS), NUMBER, NUMBER, NUMBER)


def odd(kind: pa.DataType, number: int) -> Any:
    """A value of the type that nobody expects."""
    if pa.types.is_list(kind):
        return [odd(kind.value_type, number + more) for more in range(number % 3)]
    if pa.types.is_dictionary(kind):
        return odd(kind.value_type, number)
    return ODD[kind][number % len(ODD[kind])]


def mutated(rows: pa.Table, way: tuple[str, int, int, int]) -> pa.Table:
    """The table after one change; sound Parquet all the same."""
    what, row, place, number = way
    name = rows.column_names[place % rows.num_columns]
    if what == "gone":
        return rows.drop_columns([name])
    if what == "more":
        return rows.append_column(odd(pa.string(), number), rows[name])
    if what == "type":
        other = pa.nulls(len(rows), list(ODD)[number % len(ODD)])
        return rows.set_column(rows.column_names.index(name), name, other)
    if what == "rows":
        return rows.slice(row % (len(rows) or 1), number % 3)
    values = rows.to_pylist()
    new = odd(rows.schema.field(name).type, number) if number % 7 else None
    if what == "row" or not values:
        values.append(invented(rows.schema, number))
    elif what == "column":
        values = [{**each, name: new} for each in values]
    elif what == "cell":
        values[row % len(values)][name] = new
    else:  # a row of another key, or of the same one
        copied = dict(values[row % len(values)])
        if what == "key":
            copied[name] = new
        values.append(copied)
    nullable = pa.schema(field.with_nullable(True) for field in rows.schema)
    return pa.Table.from_pylist(values, nullable)


def invented(schema: pa.Schema, number: int) -> dict[str, Any]:
    """A row of odd values, but for those of which there is a choice."""
    every = [table.columns for table in TABLES.values()]
    columns = max(every, key=lambda columns: len(columns.keys() & set(schema.names)))
    chosen = {
        name: column.choices for name, column in columns.items() if column.choices
    }
    return {
        field.name: odd(field.type, number + place)
        if field.name not in chosen
        else chosen[field.name][number % len(chosen[field.name])]
        for place, field in enumerate(schema)
    }


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("stage", LAST)
def test_rows_columns_and_params(stage: str) -> None:
    deps = [
        Path(name)
        for name in declaration(stage).value.deps
        if name.startswith(str(HERE))
    ]
    files = sorted(
        f for path in deps for f in ([path] if path.suffix else path.iterdir())
    )
    tables = {file: pq.read_table(file) for file in files}
    sound = json.loads(PARAMS.read_text("utf-8"))

    def change_table(file: Path, ways: list[tuple[str, int, int, int]]) -> None:
        rows = tables[file]
        for way in ways:
            rows = mutated(rows, way)
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink)
        check(stage, file, sink.getvalue().to_pybytes())

    def change_params(block: str, changes: Any) -> None:
        value = sound | {block: changed({block: sound[block]}, changes).get(block)}
        content = yaml.safe_dump(value, allow_unicode=False).encode(
            "utf-8", "surrogatepass"
        )
        check(stage, PARAMS, content)

    ways = st.lists(WAYS, min_size=1, max_size=2)
    fuzz(change_table, st.sampled_from(files), ways, few=True)
    fuzz(change_params, st.sampled_from(BLOCKS[stage]), CHANGES, few=True)
