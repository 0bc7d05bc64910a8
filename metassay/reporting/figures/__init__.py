"""One figure per file; `FIGURES` in `sections.py` lists them."""
