"""One figure per file; `FIGURES` in `report.py` lists them."""
