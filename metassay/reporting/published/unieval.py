"""UniEval (Zhong et al. 2022)."""

from functools import partial

from metassay.reporting.published.cells import (
    CellComparison,
    Place,
    Row,
    read_correlations,
)

REASON = """
    Unexpected: the released scores gave the printed digits. Look at how rows are joined.
"""


def place(row: Row) -> Place:
    """Rows are dimensions, each beside the same one by people; columns are coefficients."""
    dimension, coefficient = row["system_or_metric"], row["quantity"]
    key = (coefficient.lower(), f"unieval_{dimension}", dimension)
    return Place(row=dimension, column=coefficient, key=key)


TOPICAL_CHAT = CellComparison(
    title="UniEval: its scores against people on Topical-Chat",
    files=["unieval_topical_chat.csv"],
    says="""
        Correlation over all 360 turns, each dimension with the same one by people, as
        printed in the authors' repository.
    """,
    reason=REASON,
    numbers=partial(read_correlations, study="topical_chat"),
    place=place,
    decimals=6,
)
SFRES = CellComparison(
    title="UniEval: its scores against people on SFRES",
    files=["unieval_sfres.csv"],
    says="""
        Correlation over all 1,181 sentences, each dimension with the same one by people,
        as printed in the authors' repository.
    """,
    reason=REASON,
    numbers=partial(read_correlations, study="sfres"),
    place=place,
    decimals=6,
)
