"""tests/reliability.md names a test for every fault, and the tests are there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "tests/reliability.md"


def rows() -> list[list[str]]:
    lines = [
        line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")
    ]
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines
    ]
    return [row for row in cells if row[0] != "fault" and not set(row[0]) <= {"-"}]


def test_every_fault_has_a_test_that_is_there() -> None:
    problems = []
    for fault, happens, tests in rows():
        named = re.findall(r"`([^`]+)`", tests)
        if not fault or not happens or not named:
            problems.append(f"{fault}: say what happens and name a test")
        for name in named:
            file, _, function = name.partition("::")
            path = ROOT / "tests" / file
            known = (
                {
                    node.name
                    for node in ast.walk(ast.parse(path.read_text("utf-8")))
                    if isinstance(node, ast.FunctionDef)
                }
                if path.exists()
                else set()
            )
            if function not in known:
                problems.append(f"{fault}: tests/{name} is not there")
    assert not problems
