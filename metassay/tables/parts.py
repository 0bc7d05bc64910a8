"""Texts divided into sections or facets."""

from metassay.tables.columns import AUTHOR, DOC_ID, INTEGER_LIST, PART, TEXT, TEXT_LIST
from metassay.tables.parquet import Column, Table

PARTS = Table(
    name="parts",
    says="the text of each section or facet, and of the whole (`full`)",
    key=("doc_id", "author", "part"),
    columns={
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "part": PART,
        "text": Column(
            TEXT,
            "the part's text; null exactly where status is not ok",
            null=True,
        ),
        "starts": Column(
            INTEGER_LIST,
            "where each piece of the part starts in the full text, in characters",
        ),
        "ends": Column(
            INTEGER_LIST,
            "where each piece ends; a section that recurs has several pieces",
        ),
        "leaf": Column(
            TEXT,
            "yes if no other part of this text lies inside it",
            choices=(
                "yes",
                "no",
            ),
        ),
        "status": Column(
            TEXT,
            "the text's status; of a facet also why nobody knows what it is",
            choices=(
                "ok",
                "unparsed",
                "refused",
                "truncated",
                "error",
            ),
        ),
        "made_up": Column(
            TEXT_LIST,
            "what a model returned as this facet and is not in the text; mostly none",
        ),
        "repeats": Column(
            TEXT_LIST,
            "datasets that it may repeat: its source's, and its writer's examples'",
        ),
    },
)

SEGMENTS = Table(
    name="segments",
    says="facets of texts that the dataset itself brings, as it has them",
    key=("doc_id", "author", "part"),
    columns={
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "part": Column(TEXT, "the facet"),
        "text": Column(
            TEXT,
            "what the data say the facet is; it need not be in the text word by word",
        ),
    },
)
