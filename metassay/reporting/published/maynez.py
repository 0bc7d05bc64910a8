"""Maynez et al. 2020."""

from functools import partial

from metassay.reporting.published.cells import (
    CellComparison,
    Place,
    Row,
    read_correlations,
)

METRICS = {
    "ROUGE-1": "xsum_rouge1",
    "ROUGE-2": "xsum_rouge2",
    "ROUGE-L": "xsum_rougeL",
    "BERTScore": "xsum_bertscore",
    "Entailment": "xsum_entailment",
}
CRITERIA = {
    "Faithful": "faithful_released",
    "Factual": "factual_released",
}


def place(row: Row) -> Place:
    """Rows are metrics, and columns are what people said."""
    metric, quantity = row["system_or_metric"], row["quantity"]
    key = ("spearman", METRICS.get(metric), CRITERIA.get(quantity))
    return Place(row=metric, column=quantity, key=key)


SPEARMAN = CellComparison(
    title="Maynez et al.: metrics against faithfulness and factuality on XSum",
    files=["maynez_spearman.csv"],
    says="""
        Spearman correlation over the 1,992 summaries that have released scores, with the
        means over raters that were released beside them (faithful_released,
        factual_released). What the raters' own spans and answers give is among the
        correlations (faithfulness, factuality); the page on datasets says why it differs.
    """,
    reason="""
        Unexpected: the released scores gave the printed digits. Look at how rows are
        joined.
    """,
    numbers=partial(read_correlations, study="xsum_hallucination"),
    place=place,
    decimals=3,
)
