"""Every place in the code of the four commands that refuses has a remedy that was followed."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from metassay.cli import init
from metassay.core.errors import BadInput
from metassay.tabular.rows import Findings
from tests.remedies import (
    test_of_cards,
    test_of_import,
    test_of_init,
    test_of_judge_check,
    test_of_meta_eval,
    test_of_rankings,
    test_of_tables,
)
from tests.remedies.following import Refusal, Terminal

ROOT = Path(__file__).parents[2]
FOLDERS = ("api", "tabular", "imports", "project/spreadsheets")
FILES = (
    "cli/importing.py",
    "cli/init.py",
    "cli/meta_eval.py",
    "cli/parsing.py",
    "cli/tool_files.py",
    "core/atomic.py",
    "project/make.py",
    "project/own_model.py",
)
OTHERS = ("api/benchmark.py", "api/scoring.py", "api/statistics.py")  # of Python alone
CASES: dict[str, dict[str, Refusal]] = {
    "files": test_of_tables.FILES,
    "meta-eval": test_of_meta_eval.REFUSALS,
    "judge-check": test_of_judge_check.REFUSALS,
    "cards": test_of_cards.REFUSALS,
    "rankings": test_of_rankings.REFUSALS,
    "init": test_of_init.REFUSALS,
    "import": test_of_import.REFUSALS,
}


# Places that no command line of the four leads to, by file and function.
ELSEWHERE = {
    # Of Python alone: tests/api/test_frames.py.
    "api/meta_eval.py:meta_eval",
    "tabular/sheet.py:_arrow",
    "tabular/sheet.py:_read_frame",
    "tabular/sheet.py:columns_sheet",
    # Of `metassay improve`, which needs a project: tests/project/test_claim_labels.py.
    "api/verdict_table.py:read_passes",
    # Readers of benchmarks' own files, which are strict, and of sheets of a study.
    "tabular/decoding.py:json_list",
    "tabular/decoding.py:decode",
    "tabular/decoding.py:csv_records",
    "tabular/decoding.py:check_header",
    "tabular/rows.py:split_turns",
    "tabular/numbers.py:read",
    "tabular/workbook.py:check",
    # A file larger than any table may be, which a test would have to write.
    "tabular/json_tables.py:read_json",
    "imports/inspect_logs.py:_archive",
    "imports/records.py:_parquet",
    "tabular/decoding.py:csv_lines",
    "tabular/files.py:_read_parquet",
    # A file without permission, a package that is not installed, a killed command.
    "tabular/decoding.py:is_readable",
    "tabular/statistics_files.py:read_labelled",
    "tabular/workbook.py:_read_others",
    "api/meta_eval.py:check_drawing",
    "project/make.py:check_place",
    "core/atomic.py:whole_folder",
}


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions in which the four commands may refuse, with their files."""
    files = [
        file for folder in FOLDERS for file in (ROOT / "metassay" / folder).glob("*.py")
    ]
    files += [ROOT / "metassay" / file for file in FILES]
    for file in sorted(files):
        name = str(file.relative_to(ROOT / "metassay"))
        if name in OTHERS:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield name, node


def sites() -> Iterator[tuple[str, int]]:
    """The file and line of each call that refuses, except ELSEWHERE."""
    for name, function in functions():
        if f"{name}:{function.name}" in ELSEWHERE:
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and _refuses(node):
                yield name, node.lineno


def _refuses(call: ast.Call) -> bool:
    called = ast.unparse(call.func)
    method = called.rpartition(".")[2]
    texts = [argument for argument in call.args if not isinstance(argument, ast.Name)]
    if method == "BadInput":
        return bool(texts) and "problems" not in ast.unparse(call)
    findings = method in ("add", "ask", "wrong") and len(call.args) >= 2
    return findings and "notes" not in called and "warnings" not in called


def provoked(
    terminal: Terminal, folder: Path, monkeypatch: Any
) -> set[tuple[str, int]]:
    places: set[tuple[str, int]] = set()

    def note(frame: FrameType | None) -> None:
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(ROOT / "metassay"):
                places.add((str(path.relative_to(ROOT / "metassay")), frame.f_lineno))
            frame = frame.f_back

    add, refuse = Findings.add, BadInput.__init__

    def noted_add(self: Findings, *arguments: Any) -> None:
        note(sys._getframe(1))
        add(self, *arguments)

    def noted_refusal(self: BadInput, *arguments: Any) -> None:
        note(sys._getframe(1))
        refuse(self, *arguments)

    monkeypatch.setattr(Findings, "add", noted_add)
    monkeypatch.setattr(BadInput, "__init__", noted_refusal)
    for group, cases in CASES.items():
        for number, refusal in enumerate(cases.values()):
            place = folder / group / str(number)
            place.mkdir(parents=True)
            monkeypatch.chdir(place)
            refusal.provoke(terminal, place)
    return places


def test_every_refusal_is_provoked(terminal, tmp_path, monkeypatch) -> None:
    """A new refusal needs a case: what a person types, reads, and does to succeed."""
    monkeypatch.setattr(init, "make", lambda folder, content: [])
    monkeypatch.setattr(init, "_print_price", lambda *_: None)
    places = provoked(terminal, tmp_path, monkeypatch)
    untested = [
        f"{file}:{line}" for file, line in sites() if (file, line) not in places
    ]
    assert not untested, "\n".join(untested)


def test_places_that_are_left_out_are_there() -> None:
    assert {f"{name}:{function.name}" for name, function in functions()} >= ELSEWHERE
