"""Sheets as CSV, one file per rater, with instructions and a page to read beside them."""

import csv
import io
from pathlib import Path

from metassay.studies.record import Format, Returned, Sheet
from metassay.studies.sheets import Line, guide, header, lines, page, returned
from metassay.tabular.decoding import csv_lines, decode, read_bytes
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import separator_of

_INSTRUCTIONS = "instructions.txt"
_REMEDY = "send the sheet that came back, with its rows"
_BOM = "\ufeff"  # without it, Excel takes UTF-8 for something else


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
    found = csv_lines(text, path.name, problems, separator_of(text))
    return returned((Line(*line) for line in found), problems)


KIND = Format(name="csv", endings=(".csv", ".tsv", ".txt"), write=_write, read=_read)
