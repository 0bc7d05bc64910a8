"""Every metric's value for every text."""

from dataclasses import replace

from metassay.tables.columns import contracts

(MEASUREMENTS,) = contracts(__file__)

SCORES = replace(
    MEASUREMENTS,
    name="scores",
    says="every metric's value for every text. Metrics that need no judge (ROUGE, BLEU, lengths,"
    " ...) read texts without their citation marks, such as [3]",
)
