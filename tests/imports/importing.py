"""Run `metassay import` on files that a test writes, and read back what it wrote."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from metassay.cli.main import main


class Imported(NamedTuple):
    """What the command printed, and its tables by name."""

    lines: list[str]
    tables: dict[str, list[dict[str, str]]]
    folder: Path

    def column(self, table: str, *names: str) -> list[tuple[str, ...]]:
        return [tuple(row[name] for name in names) for row in self.tables[table]]


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, rows: Iterable[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Importer:
    """The command in a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys, self.runs = folder, capsys, 0

    def __call__(self, kind: str, *words: object) -> Imported:
        self.runs += 1
        out = self.folder / f"out{self.runs}"
        code = main(["import", kind, *map(str, words), "--out", str(out)])
        printed = self.capsys.readouterr()
        assert code == 0, printed.err
        tables: dict[str, Any] = {}
        for path in out.rglob("*.*"):
            lines = path.read_text("utf-8").splitlines()
            rows = (
                csv.DictReader(lines)
                if path.suffix == ".csv"
                else map(json.loads, lines)
            )
            tables[path.name] = list(rows)
        return Imported(printed.out.splitlines(), tables, out)

    def refused(self, kind: str, *words: object) -> list[str]:
        """The lines of a refusal, which leaves nothing behind."""
        out = self.folder / "refused"
        assert main(["import", kind, *map(str, words), "--out", str(out)]) == 2
        assert not [path for path in self.folder.iterdir() if "refused" in path.name]
        return self.capsys.readouterr().err.splitlines()
