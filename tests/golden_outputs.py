"""Outputs that a version promises: recorded, and compared with what the code gives now.

    METASSAY_GOLDEN=write python -m pytest tests/test_golden.py tests/test_dag.py

records them anew. It refuses an output that changed under the same version: raise that
first.
"""

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"
WRITE = os.environ.get("METASSAY_GOLDEN") == "write"
COMMAND = (
    "METASSAY_GOLDEN=write python -m pytest tests/test_golden.py tests/test_dag.py"
)


def recorded(name: str) -> dict[str, Any]:
    """What is recorded in a file of tests/golden/, by key."""
    file = FOLDER / f"{name}.json"
    content: dict[str, Any] = {}
    if file.exists():
        content = json.loads(file.read_text(encoding="utf-8"))
    return content


def record(name: str, entries: dict[str, Any]) -> None:
    """Record entries in a file of tests/golden/; others stay."""
    content = recorded(name) | entries
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def plain(value: Any) -> Any:
    """A value as JSON has it; of a number six significant digits.

    More digits differ between machines where a model computes them.
    """
    if isinstance(value, bool) or value is None or isinstance(value, int | str):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return [plain(item) for item in value]
