"""Figures of reports, by what they show; `FIGURES` in `meta_page.py` lists them."""
