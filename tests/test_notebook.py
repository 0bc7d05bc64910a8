"""The notebook runs, and gives the outputs that it was committed with.

After a change: `PYTHONPATH=. python tests/test_notebook.py` runs its cells and writes
it again.
"""

import ast
import io
import json
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pandas as pd

NOTEBOOK = Path(__file__).parent.parent / "docs/notebook.ipynb"


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook after its code cells ran in one namespace, in order, as Jupyter runs them.

    An output is what a cell printed, and the text of its last line if that is an
    expression.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    # Options of pandas that the notebook sets end with it.
    with pd.option_context("display.width", 80, "display.max_columns", 0):
        for number, cell in enumerate(notebook["cells"]):
            ran = {**cell, "id": f"cell-{number}"}
            if cell["cell_type"] == "code":
                count += 1
                ran |= {
                    "execution_count": count,
                    "outputs": outputs("".join(cell["source"]), namespace, count),
                }
            cells.append(ran)
    return {**notebook, "cells": cells}


def outputs(source: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What Jupyter would store below a code cell."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), namespace)
        if last is not None:
            value = eval(
                compile(ast.Expression(last.value), f"cell {count}", "eval"), namespace
            )
    shown: list[dict[str, Any]] = []
    if printed.getvalue():
        shown.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue()}
        )
    if value is not None:
        text = {"text/plain": repr(value)}
        result = {"data": text, "execution_count": count, "metadata": {}}
        shown.append({**result, "output_type": "execute_result"})
    return shown


def written(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def test_the_notebook_gives_what_it_shows() -> None:
    committed = NOTEBOOK.read_text("utf-8")
    ran = run(json.loads(committed))
    assert written(ran) == committed, "PYTHONPATH=. python tests/test_notebook.py"


def test_another_number_or_a_warning_would_be_seen() -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": "x = 2\nprint(x)\nx + 1"}
    after = {**cell, "source": "x * 3"}
    (first, second) = run({"cells": [cell, after]})["cells"]
    assert [
        output.get("text") or output["data"]["text/plain"]
        for output in first["outputs"]
    ] == [
        "2\n",
        "3",
    ]
    assert second["outputs"][0]["data"] == {"text/plain": "6"}


if __name__ == "__main__":
    warnings.simplefilter("error")
    ran = run(json.loads(NOTEBOOK.read_text("utf-8")))
    NOTEBOOK.write_text(written(ran), "utf-8")
