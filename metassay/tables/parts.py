"""Texts divided into sections or facets."""

from metassay.tables.columns import AUTHOR, DOC, PART, STATUSES
from metassay.tables.parquet import Table, choice, integers, text, texts

PARTS = Table(
    "parts",
    "the text of each section or facet, and of the whole (`full`)",
    ("doc_id", "author", "part"),
    {
        "doc_id": DOC,
        "author": AUTHOR,
        "part": PART,
        "text": text("the part's text; null exactly where status is not ok", null=True),
        "starts": integers("where each piece of the part starts in the full text, in characters"),
        "ends": integers("where each piece ends; a section that recurs has several pieces"),
        "leaf": choice("yes", "no", meaning="yes if no other part of this text lies inside it"),
        "status": choice(
            *STATUSES, meaning="the text's status; of a facet also why nobody knows what it is"
        ),
        "made_up": texts("what a model returned as this facet and is not in the text; mostly none"),
        "repeats": texts("datasets that it may repeat: its source's, and its writer's examples'"),
    },
)

SEGMENTS = Table(
    "segments",
    "facets of texts that the dataset itself brings, as it has them",
    ("doc_id", "author", "part"),
    {
        "doc_id": DOC,
        "author": AUTHOR,
        "part": text("the facet"),
        "text": text("what the data say the facet is; it need not be in the text word by word"),
    },
)
