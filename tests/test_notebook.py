"""The notebook runs, gives the outputs that it was committed with, and is the page of the site.

After a change: `PYTHONPATH=. python tests/test_notebook.py` runs its cells and writes both again.
"""

import ast
import io
import json
import textwrap
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pandas as pd

NOTEBOOK = Path(__file__).parent.parent / "docs/notebook.ipynb"
PAGE = NOTEBOOK.with_suffix(".md")
LEAD = "<!-- Made of notebook.ipynb by tests/test_notebook.py; change that. -->\n"


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook after its code cells ran in one namespace, in order, as Jupyter runs them.

    An output is what a cell printed, and the text of its last line if that is an expression.
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
                    "outputs": outputs(cell["source"], namespace, count),
                }
            cells.append(ran)
    return {**notebook, "cells": cells}


def outputs(source: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What Jupyter would store below a code cell."""
    tree, printed, found = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), namespace)
        if last is not None:
            found = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), namespace)
    shown: list[dict[str, Any]] = []
    if printed.getvalue():
        shown.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue()})
    if found is not None:
        text = {"text/plain": repr(found)}
        result = {"data": text, "execution_count": count, "metadata": {}}
        shown.append({**result, "output_type": "execute_result"})
    return shown


def page(notebook: dict[str, Any]) -> str:
    """The notebook as Markdown: code, and below it what it gave."""
    parts = [LEAD]
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(f"{cell['source']}\n")
            continue
        parts.append(f"```python\n{cell['source']}\n```\n")
        for one in cell["outputs"]:
            text = one["text"] if "text" in one else one["data"]["text/plain"]
            parts.append(f"```text\n{textwrap.dedent(text).rstrip()}\n```\n")
    return "\n".join(parts)


def written(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def test_the_notebook_gives_what_it_shows_and_the_page_shows_the_same() -> None:
    committed = NOTEBOOK.read_text("utf-8")
    ran = run(json.loads(committed))
    assert written(ran) == committed, "PYTHONPATH=. python tests/test_notebook.py"
    assert page(ran) == PAGE.read_text("utf-8"), "PYTHONPATH=. python tests/test_notebook.py"


def test_another_number_or_a_warning_would_be_seen() -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": "x = 2\nprint(x)\nx + 1"}
    after = {**cell, "source": "x * 3"}
    (first, second) = run({"cells": [cell, after]})["cells"]
    assert [one.get("text") or one["data"]["text/plain"] for one in first["outputs"]] == [
        "2\n",
        "3",
    ]
    assert second["outputs"][0]["data"] == {"text/plain": "6"}


if __name__ == "__main__":
    warnings.simplefilter("error")
    ran = run(json.loads(NOTEBOOK.read_text("utf-8")))
    NOTEBOOK.write_text(written(ran), "utf-8")
    PAGE.write_text(page(ran), "utf-8")
