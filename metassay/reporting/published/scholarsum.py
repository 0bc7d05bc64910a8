"""The facet-aware metric and ScholarSum (Guo et al. 2024)."""

from functools import partial

import pandas as pd

from metassay.reporting.published.cells import (
    CellComparison,
    Numbers,
    Ours,
    Place,
    Row,
)
from metassay.tables.names import FULL, NO_JUDGE

STUDY = "scholarsum_arxiv"
# The first of the 50 released papers, which give most of the printed means.
PRINTED_PAPERS = 44

# By quantity and evaluator.
METRICS = {
    "ROUGE-L": "scholarsum_rougeL",
    "BERTScore": "scholarsum_bertscore",
    "DELTA": "scholarsum_delta",
    "QuestEval": "scholarsum_questeval",
    "ACU": "scholarsum_acu",
    "FM GPT-3.5": "scholarsum_fm_gpt35",
    "FM GPT-4": "scholarsum_fm_gpt4",
    "Human (facet-aware overall score) human": "overall",
}
SYSTEMS = {
    "GPT-3.5": "gpt35",
    "Llama2": "llama2_70b",
    "FactSum": "factsum",
    "BART-Large": "bart_large",
}


def average(ours: Ours, n_papers: int | None) -> Numbers:
    """Return mean scores and ratings by metric and system, of the first papers or of all."""
    ratings = ours.ratings[ours.ratings["study"] == STUDY]
    released = ours.scores[ours.scores["judge"] == NO_JUDGE]
    both = pd.concat([released, ratings.rename(columns={"criterion": "metric"})])
    both = both[both["part"] == FULL]
    if n_papers is not None:
        first_papers = sorted(ratings["doc_id"].unique())[:n_papers]
        both = both[both["doc_id"].isin(first_papers)]
    return dict(both.groupby(["metric", "author"])["value"].mean())


def place_mean(row: Row) -> Place:
    """Rows are systems, and columns are metrics."""
    system = row["system_or_metric"]
    metric = f"{row['quantity']} {row['evaluator']}".strip()
    key = (METRICS.get(metric), SYSTEMS.get(system))
    return Place(row=system, column=metric, key=key)


def read_weights(ours: Ours) -> Numbers:
    """Return weights fitted to the texts that have every facet, and their mean squared error."""
    weights = ours.facet_weights
    weights = weights[(weights["study"] == STUDY) & (weights["method"] == "complete")]
    if weights.empty:
        return {}
    numbers = dict(zip(weights["criterion"], weights["weight"], strict=True))
    return {**numbers, "error": weights["mse"].iloc[0]}


def place_weight(row: Row) -> Place:
    """Rows are facets; the error has none."""
    facet = row["split_or_section"] or "error"
    return Place(row=facet, column=row["quantity"], key=facet)


TABLE_4 = CellComparison(
    title="ScholarSum, table 4: mean scores of 4 systems on arXiv",
    files=["fm_table4.csv"],
    says="""
        Means over the first 44 of the 50 released papers, which give 26 of the 32 printed
        means to four digits; below each stands ours over all 50, which the rest of this
        page is about. Correlations on this page rest on numbers of 12 digits, in which .5
        and .49999999999999994, both released, are tied: the Spearman correlation of
        scholarsum_rougeL with `overall` is .262, and .258 with the released digits.
    """,
    reason="""
        Expected: of the released scores no number of papers, counted from the first, has
        this printed mean.
    """,
    numbers=partial(average, n_papers=PRINTED_PAPERS),
    place=place_mean,
    decimals=4,
    all_numbers=partial(average, n_papers=None),
)
WEIGHTS = CellComparison(
    title="ScholarSum, section 4.2: weights of the facets in the overall score",
    files=["fm_weights.csv"],
    says="""
        Ours: least squares of the released overall scores on the released scores of the
        facets, over the texts that have all four.
    """,
    reason="""
        Expected: the released overall scores were computed from the facets' with the
        printed weights, which leaves no error. The print is of overall scores that one
        person gave, which were not released.
    """,
    numbers=read_weights,
    place=place_weight,
    decimals=3,
)
