"""Spreadsheets: taken whole, or refused with the file and the row; nothing shown holds a text."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from metassay.core import strict_yaml
from metassay.core.params import Benchmark, parse_folder
from metassay.datasets.ingest import ingest
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.project.spreadsheets.summary import command, lines, project_of, settings_of
from tests.fuzz.mutations import ACCIDENTS, damaged
from tests.fuzz.rule import CANARY, FEW, handled
from tests.project.spreadsheets.sheets import LONG, RATINGS, SCORES, put

TEXTS = [LONG[0], *([*row[:2], f"{row[2]} And {CANARY} was seen.", *row[3:]] for row in LONG[1:])]
TABLES = {"texts": TEXTS, "ratings": RATINGS, "scores": SCORES}


def check(name: str, accidents: Any) -> None:
    with tempfile.TemporaryDirectory() as made:
        files = {kind: put(Path(made, f"{kind}.csv"), table) for kind, table in TABLES.items()}
        files[name].write_bytes(damaged(files[name].read_bytes(), accidents))
        asked = Inputs({kind: [path] for kind, path in files.items()})
        ended = handled(lambda: read_all(asked))
        if ended.problems:
            return
        found = ended.value
        shown = [*lines(found, settings_of(found.rows)), command(Path("x"), asked, found, [])]
        assert CANARY not in "\n".join(shown)
        content = project_of("x", found, ["texts.csv"])
        assert CANARY not in content.params + content.benchmark + content.registry
        own = Path(made, "own")
        own.mkdir()
        for file, held in content.data.items():
            (own / Path(file).name).write_bytes(held)
        settings = Path(made, "params.yaml")
        settings.write_text(content.benchmark, encoding="utf-8")
        benchmark = parse_folder(strict_yaml.load(settings), where="x")
        assert isinstance(benchmark, Benchmark)
        again = ingest("files", own, benchmark.criteria)
        rows = found.rows
        counts = (len(again.texts), len(again.ratings), len(again.measurements))
        assert counts == (len(rows.texts), len(rows.ratings), len(rows.scores))


@pytest.mark.parametrize("name", TABLES)
def test_bytes(name: str) -> None:
    @FEW
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        check(name, accidents)

    run()
