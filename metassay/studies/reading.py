"""A page with the texts of a rater's sheet: cells of spreadsheets show no long text whole."""

from collections.abc import Iterator, Sequence
from html import escape

from metassay.studies.record import Item, Sheet, Shown
from metassay.studies.sheets import guide

_STYLE = (
    "body{font-family:sans-serif;line-height:1.5;max-width:60em;margin:2em auto;padding:0 1em}"
    "section{border-top:2px solid #888;margin-top:2em}"
    "h2{font-family:monospace}h3{margin-bottom:0}p{white-space:pre-wrap;margin-top:.3em}"
)


def page(sheet: Sheet) -> bytes:
    """HTML that asks nothing and loads nothing: instructions, then the items in their order."""
    title = escape(f"{sheet.study}: texts for {sheet.rater}")
    lines = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        *(f"<p>{escape(told)}</p>" for told in guide(sheet)),
        *(line for item in sheet.items for line in _item(item)),
        "</body></html>",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _item(item: Item) -> Iterator[str]:
    yield f'<section id="{item.id}"><h2>{item.id}</h2>'
    yield from _texts(item.shown)
    for row in item.rows:
        if len(item.rows) > 1:
            yield f'<h2 id="{row.id}">{row.id}</h2>'
        yield from _texts(row.shown)
    yield "</section>"


def _texts(shown: Sequence[Shown]) -> Iterator[str]:
    for heading, text in shown:
        yield f"<h3>{escape(heading)}</h3><p>{escape(text)}</p>"
