"""Comparisons on datasets that bring their own scores: the printed numbers rest on those."""

import pandas as pd

from metassay.reporting.cells import (
    USED,
    Cell,
    Compare,
    Ours,
    as_frame,
    correlation_values,
)
from metassay.reporting.tables import rows
from metassay.tables.names import FULL, NO_JUDGE

_XSUM = {
    "ROUGE-1": "xsum_rouge1",
    "ROUGE-2": "xsum_rouge2",
    "ROUGE-L": "xsum_rougeL",
    "BERTScore": "xsum_bertscore",
    "Entailment": "xsum_entailment",
}
_XSUM_CRITERIA = {"Faithful": "faithful_released", "Factual": "factual_released"}
SCHOLARSUM = {
    ("ROUGE-L", ""): "scholarsum_rougeL",
    ("BERTScore", ""): "scholarsum_bertscore",
    ("DELTA", ""): "scholarsum_delta",
    ("QuestEval", ""): "scholarsum_questeval",
    ("ACU", ""): "scholarsum_acu",
    ("FM", "GPT-3.5"): "scholarsum_fm_gpt35",
    ("FM", "GPT-4"): "scholarsum_fm_gpt4",
    ("Human (facet-aware overall score)", "human"): "overall",
}
SCHOLARSUM_AUTHORS = {
    "GPT-3.5": "gpt35",
    "Llama2": "llama2_70b",
    "FactSum": "factsum",
    "BART-Large": "bart_large",
}
_SAME_DATA = "Unexpected: the released scores gave the printed digits. Look at how rows are joined."
SCHOLARSUM_STUDY = "scholarsum_arxiv"
PRINTED_PAPERS = 44
_SAME_PAPERS = (
    "Expected: of the released scores no number of papers, counted from the first, has this printed"
    " mean."
)
_ERROR = "error"  # the row of the fit's, which is no facet's
_COMPUTED = (
    "Expected: the released overall scores were computed from the facets' with the printed weights,"
    " which leaves no error. The print is of overall scores that one person gave, which were not"
    " released."
)


def compare_maynez(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
    """Spearman over all texts, printed with three decimals."""
    ours = correlation_values(
        tables.correlations, study="xsum_hallucination", coefficient="spearman"
    )
    cells = []
    for _, name, _, quantity, value, note in rows(printed, *USED):
        key = (_XSUM.get(str(name), ""), _XSUM_CRITERIA.get(str(quantity)))
        if key in ours:
            cells.append(Cell(name, quantity, ours[key], float(value), note))
    return as_frame(cells, reason=_SAME_DATA, tolerance=0.0005)


def compare_unieval(study: str) -> Compare:
    """Pearson, Spearman and Kendall over all texts, printed with six decimals."""

    def compare(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
        cells = []
        for _, name, _, quantity, value, note in rows(printed, *USED):
            coefficient = str(quantity).lower()
            ours = correlation_values(tables.correlations, study=study, coefficient=coefficient)
            key = (f"unieval_{name}", name)
            if key in ours:
                cells.append(Cell(name, quantity, ours[key], float(value), note))
        return as_frame(cells, reason=_SAME_DATA, tolerance=5e-7)

    return compare


def compare_scholarsum(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
    """Means of the released scores and ratings over the first 44 papers, printed to four decimals.

    The column `ours_all` has the means over all papers.
    """
    study = tables.ratings[tables.ratings["study"] == SCHOLARSUM_STUDY]
    rated = study.rename(columns={"criterion": "metric"})
    released = tables.scores[tables.scores["judge"] == NO_JUDGE]
    columns = ["doc_id", "author", "metric", "value"]
    values = pd.concat([part.loc[part["part"] == FULL, columns] for part in (released, rated)])
    papers = sorted(study["doc_id"].unique())[:PRINTED_PAPERS]
    every, first = (
        one.groupby(["metric", "author"])["value"].mean().to_dict()
        for one in (values, values[values["doc_id"].isin(papers)])
    )
    cells, ours_all = [], []
    for row in printed.to_dict("records"):
        metric = SCHOLARSUM.get((row["quantity"], row["evaluator"]))
        key = (metric, SCHOLARSUM_AUTHORS.get(row["system_or_metric"]))
        if key in first:
            column = " ".join(filter(None, (row["quantity"], row["evaluator"])))
            cells.append(Cell(row["system_or_metric"], column, first[key], float(row["value"]), ""))
            ours_all.append(every[key])
    found = as_frame(cells, reason=_SAME_PAPERS, tolerance=0.00005)
    return found.assign(ours_all=pd.Series(ours_all, dtype="float64"))


def compare_scholarsum_weights(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
    """Weights fitted to the texts that have every facet, and their mean squared error."""
    fitted = tables.facet_weights
    fitted = fitted[(fitted["study"] == SCHOLARSUM_STUDY) & (fitted["method"] == "complete")]
    ours = dict(zip(fitted["criterion"], fitted["weight"], strict=True))
    if len(fitted):
        ours[_ERROR] = fitted["mse"].iloc[0]
    cells = []
    for facet, _, _, quantity, value, note in rows(printed, *USED):
        row = facet or _ERROR
        if row in ours:
            cells.append(Cell(row, quantity, ours[row], float(value), note))
    return as_frame(cells, reason=_COMPUTED, tolerance=0.0005)
