"""Spreadsheets: taken whole, or refused with the file and the row; nothing shown holds a text."""

import tempfile
from pathlib import Path
from typing import Any

import pytest

from metassay.core import strict_yaml
from metassay.core.params import Benchmark, parse_folder
from metassay.datasets.ingest import ingest
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.project.spreadsheets.summary import (
    command,
    lines,
    project_of,
    settings_of,
)
from tests.fuzz.mutations import ACCIDENTS, damaged
from tests.fuzz.rule import CANARY, fuzz, handled
from tests.project.spreadsheets.sheets import LONG, RATINGS, SCORES, put

TEXTS = [
    LONG[0],
    *([*row[:2], f"{row[2]} And {CANARY} was seen.", *row[3:]] for row in LONG[1:]),
]
TABLES = {"texts": TEXTS, "ratings": RATINGS, "scores": SCORES}


def check(name: str, accidents: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = {
            kind: put(Path(folder, f"{kind}.csv"), table)
            for kind, table in TABLES.items()
        }
        files[name].write_bytes(damaged(files[name].read_bytes(), accidents))
        inputs = Inputs({kind: [path] for kind, path in files.items()})
        ended = handled(lambda: read_all(inputs))
        if ended.problems:
            return
        read = ended.value
        shown = [
            *lines(read, settings_of(read.rows)),
            command(Path("x"), inputs, read, []),
        ]
        assert CANARY not in "\n".join(shown)
        content = project_of("x", read, ["texts.csv"])
        assert CANARY not in content.params + content.benchmark + content.registry
        data = Path(folder, "data")
        data.mkdir()
        for file, data_bytes in content.data.items():
            (data / Path(file).name).write_bytes(data_bytes)
        settings = Path(folder, "params.yaml")
        settings.write_text(content.benchmark, encoding="utf-8")
        benchmark = parse_folder(strict_yaml.load(settings), where="x")
        assert isinstance(benchmark, Benchmark)
        again = ingest("files", data, benchmark.criteria)
        counts = (len(again.texts), len(again.ratings), len(again.measurements))
        assert counts == (
            len(read.rows.texts),
            len(read.rows.ratings),
            len(read.rows.scores),
        )


@pytest.mark.parametrize("name", TABLES)
def test_bytes(name: str) -> None:
    fuzz(lambda accidents: check(name, accidents), ACCIDENTS, few=True)
