"""Sheets as CSV, one file per rater, with instructions and a page to read beside them."""

import csv
import io
from pathlib import Path

from metassay.datasets.decoding import csv_lines, decode, read_bytes
from metassay.datasets.rows import Findings
from metassay.studies.reading import page
from metassay.studies.record import Format, Returned, Sheet
from metassay.studies.sheets import ROW, Line, guide, header, lines, returned

_INSTRUCTIONS = "instructions.txt"
_REMEDY = "send the sheet that came back, with its rows"
_BOM = "\ufeff"  # without it, Excel takes UTF-8 for something else
_SEPARATORS = ",;\t"  # `;` is what Excel writes where the comma is in numbers


def _write(sheet: Sheet, folder: Path) -> list[str]:
    made = io.StringIO(newline="")
    writer = csv.writer(made, lineterminator="\r\n")
    writer.writerow(header(sheet))
    writer.writerows(cells for _, cells in lines(sheet))
    name = f"{sheet.rater}.csv"
    (folder / name).write_bytes((_BOM + made.getvalue()).encode("utf-8"))
    told = "\n\n".join(guide(sheet)) + "\n"
    (folder / _INSTRUCTIONS).write_bytes(told.encode("utf-8"))
    texts = f"{sheet.rater}.html"
    (folder / texts).write_bytes(page(sheet))
    return [name, texts, _INSTRUCTIONS]


def _read(path: Path, problems: Findings) -> list[Returned]:
    data = read_bytes(path, problems, remedy=_REMEDY)
    text = decode(data, path, problems) if data is not None else None
    if text is None:
        return []
    found = csv_lines(text, path.name, problems, _separator(text))
    return returned((Line(*line) for line in found), problems)


def _separator(text: str) -> str:
    """What parts the columns: of the possible ones that by which the first row has most names."""
    first = next((line for line in text.splitlines() if line.strip(_SEPARATORS + " ")), "")
    named = {one: first.split(one) for one in _SEPARATORS}
    return max(
        _SEPARATORS, key=lambda one: (ROW in [n.strip(' "') for n in named[one]], len(named[one]))
    )


KIND = Format(name="csv", endings=(".csv", ".tsv", ".txt"), write=_write, read=_read)
