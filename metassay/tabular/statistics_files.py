"""Files of Stata (.dta) and SPSS (.sav), whose numbers can have labels in words."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import quoted
from metassay.tabular.rows import Findings, Place

_SHOWN = 4  # labels that a note names


class Labelled(NamedTuple):
    """Columns with labels as cells where a number has one, and the number of each label."""

    columns: dict[str, list[Any]]
    n_rows: int
    codes: dict[str, dict[str, float]]
    notes: list[str]


def read_labelled(path: Path, problems: Findings) -> Labelled | None:
    """Read a file of Stata or SPSS; None, with a problem, if it cannot be read."""
    spss = path.suffix.lower() != ".dta"
    if spss and find_spec("pyreadstat") is None:
        fix = (
            'install what reads it: pip install "metassay[formats]"; or save it as CSV'
        )
        problems.add(Place(path.name), "is a file of SPSS", fix)
        return None
    try:
        frame, labels = _read_spss(path) if spss else _read_stata(path)
    except Exception:  # noqa: BLE001 - damaged files raise errors of many types
        program = "SPSS" if spss else "Stata"
        fix = "write it again, or save it as CSV"
        problems.add(
            Place(path.name), f"is damaged, or is not a file of {program}", fix
        )
        return None
    cells = {n: _apply(frame[n], labels.get(n, {})) for n in map(str, frame)}
    labels = {name: of_column for name, of_column in labels.items() if of_column}
    codes = {name: {text: n for n, text in labels[name].items()} for name in labels}
    notes = [
        f"column {quoted(name)} has labels: {_some(labels[name])}" for name in labels
    ]
    return Labelled(cells, len(frame), codes, notes)


_Labels = dict[str, dict[float, str]]  # by column: the label of each number


def _read_stata(path: Path) -> tuple[pd.DataFrame, _Labels]:
    numbers = pd.read_stata(path, convert_categoricals=False)
    try:
        texts = pd.read_stata(path)
    except ValueError:  # two numbers have the same label
        return numbers, {}
    labels = {
        column: dict(zip(numbers[column], texts[column], strict=True))
        for column in map(str, numbers)
        if isinstance(texts[column].dtype, pd.CategoricalDtype)
    }
    return numbers, _clean(labels)


def _read_spss(path: Path) -> tuple[pd.DataFrame, _Labels]:
    import pyreadstat

    frame, meta = pyreadstat.read_sav(path)
    return frame, _clean(meta.variable_value_labels)


def _clean(labels: Mapping[str, Mapping[Any, str]]) -> _Labels:
    """Return the labels in words of numbers, in the order of the numbers."""
    clean = {}
    for column, of_column in labels.items():
        if not any(isinstance(n, str) for n in of_column):
            clean[column] = {
                float(n): text.strip()
                for n, text in sorted(of_column.items())
                if isinstance(text, str)
            }
    return clean


def _apply(column: "pd.Series[Any]", labels: Mapping[float, str]) -> list[Any]:
    """Return the cells of a column, a number with a label as this label."""
    if not labels:
        return list(column)
    return [labels.get(cell, cell) for cell in column]


def _some(labels: Mapping[float, str]) -> str:
    pairs = [f"{n:g} = {quoted(text)}" for n, text in labels.items()]
    more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
    return ", ".join(pairs[:_SHOWN]) + more
