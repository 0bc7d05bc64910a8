"""LaTeX tables compile, alone and inside another document."""

import shutil
import subprocess
from pathlib import Path

import pytest

from metassay.paper_figures.cells import Cell, Cells
from metassay.paper_figures.draw import draw_paper, to_latex
from metassay.paper_figures.papers import Record
from tests.paper_figures.invented import every_form, project

PDFLATEX = shutil.which("pdflatex")
_OTHER = r"""\documentclass{article}
\usepackage{booktabs,graphicx}
\begin{document}
Before.
\input{table1}
\input{table2}
After.
\end{document}
"""


@pytest.mark.skipif(
    PDFLATEX is None,
    reason="no pdflatex here, so no .tex file is compiled; Debian: texlive-latex-recommended",
)
def test_tables_compile_alone_and_inside_another_document(tmp_path: Path) -> None:
    """Compiled with all characters that LaTeX reads as commands in titles and captions."""
    inputs = project(tmp_path)
    out = tmp_path / "out"
    draw_paper(every_form()[:2], inputs, out, store=tmp_path / "store", version="1")
    compile_tex(out, "table1")
    (out / "other.tex").write_text(_OTHER, encoding="utf-8")
    compile_tex(out, "other")


def test_a_number_its_interval_and_the_printed_one_stand_in_a_row() -> None:
    made = tuple(Cell("", "One", name, 0.25, 0.125, 0.5, 9, 0.25) for name in ("A", "B"))
    found = Cells(made, ("",), ("One",), ("A", "B"))
    page = to_latex(Record("invented", "table1", "Two", "table", decimals=3), found)
    assert r"\begin{tabular}{lrrrrrr}" in page
    assert r"One & 0.250 {\scriptsize [0.125, 0.500]} & 0.250 & 0.000 & 0.250 {" in page


def compile_tex(folder: Path, name: str) -> None:
    """Raises with the last lines of the log."""
    assert PDFLATEX is not None
    made = subprocess.run(
        [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert made.returncode == 0, made.stdout[-1500:]
    assert (folder / f"{name}.pdf").stat().st_size > 5000
