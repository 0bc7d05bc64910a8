"""LaTeX tables compile, alone and inside another document."""

import shutil
import subprocess
from pathlib import Path

import pytest

from metassay.paper_figures.draw import draw_paper
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
