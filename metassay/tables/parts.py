"""Texts divided into sections or facets."""

from metassay.tables.columns import STATUSES, table

PARTS = table(
    "parts",
    "the text of each section or facet, and of the whole (`full`)",
    "doc_id author part",
    f"""
    doc_id author part
    text text?: the part's text; null exactly where status is not ok
    starts integers: where each piece of the part starts in the full text, in characters
    ends integers: where each piece ends; a section that recurs has several pieces
    leaf yes|no: yes if no other part of this text lies inside it
    status {"|".join(STATUSES)}: the text's status; of a facet also why nobody knows what it is
    made_up texts: what a model returned as this facet and is not in the text; mostly none
    repeats texts: datasets that it may repeat: its source's, and its writer's examples'
    """,
)

SEGMENTS = table(
    "segments",
    "facets of texts that the dataset itself brings, as it has them",
    "doc_id author part",
    """
    doc_id author
    part text: the facet
    text text: what the data say the facet is; it need not be in the text word by word
    """,
)
