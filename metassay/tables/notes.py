"""What stages did about the data."""

from metassay.tables.columns import table

NOTES = table(
    "notes",
    "what stages did about the data that its owner should know: counts, keys and remedies, never"
    " a text",
    "stage position",
    """
    stage text: the stage, with its system or metric: `generate-lead`
    position integer: the order in which the stage said it, from 0
    note text: what it did, how often, and what you can do
    """,
)
