"""Notes of stages about the data."""

from metassay.tables.columns import INTEGER, TEXT
from metassay.tables.parquet import Column, Table

NOTES = Table(
    name="notes",
    says=(
        "what stages did about the data that its owner should know: counts, keys and "
        "remedies, never a text"
    ),
    key=("stage", "position"),
    columns={
        "stage": Column(TEXT, "the stage, with its system or metric: `generate-lead`"),
        "position": Column(INTEGER, "the order in which the stage said it, from 0"),
        "note": Column(TEXT, "what it did, how often, and what you can do"),
    },
)
