"""Labels by annotator and item as JSON, in the form of the alternative annotator test.

A file is an object by annotator, or by language model, of objects by item: `{"ann": {"i1":
"A", "i2": "B"}}`. Calderon, Reichart and Dror 2025 publish ten data sets as
human_annotations.json and llm_annotations.json, and prompts.json with the text of each
item (`text_id`).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet, columns_sheet, values_column

_LABELS = str | int | float | bool | None


class Annotations(NamedTuple):
    """A file of labels, and whose they are: "human" or "judge"."""

    path: Path
    side: str
    labels: Mapping[str, Mapping[str, Any]]  # by annotator and item


def read_annotations(path: Path) -> Annotations | None:
    """Read a file of labels by annotator and item; None if it is none."""
    if path.suffix.lower() != ".json" or path.stem == "prompts":
        return None
    value = _load(path)
    if not isinstance(value, dict) or not value:
        return None
    for labels in value.values():
        if not isinstance(labels, dict) or not labels:
            return None
        if not all(isinstance(label, _LABELS) for label in labels.values()):
            return None
    is_of_people = any(word in path.stem.casefold() for word in ("human", "people"))
    side = "human" if is_of_people else "judge"
    return Annotations(path=path, side=side, labels=value)


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def annotation_sheet(
    annotations: Sequence[Annotations], problems: Findings
) -> Sheet | None:
    """Return labels of people and judges as one sheet, a row per item.

    Columns: item, judge_NAME and human_NAME; document, where prompts.json beside a file
    says which text an item is about. None with the problems added.
    """
    sides = {file.side for file in annotations}
    if sides != {"human", "judge"}:
        missing = "people" if "human" not in sides else "language models"
        what = f"labels by {missing} are missing"
        fix = "name both files: human_annotations.json llm_annotations.json"
        problems.add(Place(annotations[0].path.name), what, fix)
        return None
    cells: dict[str, Mapping[str, Any]] = {}
    for file in sorted(annotations, key=lambda file: file.side, reverse=True):
        for name, labels in file.labels.items():
            cells[f"{file.side}_{name}"] = labels
    items = list(dict.fromkeys(item for labels in cells.values() for item in labels))
    columns: dict[str, list[Any]] = {"item": items}
    texts = _texts_of(annotations[0].path.with_name("prompts.json"))
    if texts:
        columns["document"] = [texts.get(item, item) for item in items]
    for name, labels in cells.items():
        columns[name] = [labels.get(item) for item in items]
    values = {name: values_column(column) for name, column in columns.items()}
    lines = np.arange(1, len(items) + 1)
    name = " and ".join(file.path.name for file in annotations)
    return columns_sheet(values, lines, "item", name, problems, "name another file")


def _texts_of(path: Path) -> dict[str, str]:
    """Return the text that each item is about, by a file of prompts; {} without one."""
    prompts = _load(path) if path.is_file() else None
    if not isinstance(prompts, dict):
        return {}
    return {
        item: str(prompt["text_id"])
        for item, prompt in prompts.items()
        if isinstance(prompt, dict) and "text_id" in prompt
    }
