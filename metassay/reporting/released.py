"""Comparisons on datasets that bring their own scores: the printed numbers rest on those."""

import pandas as pd

from metassay.reporting.cells import (
    USED,
    Cell,
    Compare,
    as_frame,
    correlation_values,
    macro_values,
)
from metassay.reporting.tables import rows
from metassay.tables import FULL

_XSUM = {
    "ROUGE-1": "xsum_rouge1",
    "ROUGE-2": "xsum_rouge2",
    "ROUGE-L": "xsum_rougeL",
    "BERTScore": "xsum_bertscore",
    "Entailment": "xsum_entailment",
}
_XSUM_CRITERIA = {"Faithful": "faithful_released", "Factual": "factual_released"}
_SCHOLARSUM = {
    ("ROUGE-L", ""): "scholarsum_rougeL",
    ("BERTScore", ""): "scholarsum_bertscore",
    ("DELTA", ""): "scholarsum_delta",
    ("QuestEval", ""): "scholarsum_questeval",
    ("ACU", ""): "scholarsum_acu",
    ("FM", "GPT-3.5"): "scholarsum_fm_gpt35",
    ("FM", "GPT-4"): "scholarsum_fm_gpt4",
}
_SCHOLARSUM_AUTHORS = {
    "GPT-3.5": "gpt35",
    "Llama2": "llama2_70b",
    "FactSum": "factsum",
    "BART-Large": "bart_large",
}
_SAME_DATA = "Unexpected: the released scores gave the printed digits. Look at how rows are joined."
_FIRST_44 = "Expected: all 50 papers here, the first 44 in print."


def compare_maynez(
    printed: pd.DataFrame, _leaderboard: pd.DataFrame, correlations: pd.DataFrame
) -> pd.DataFrame:
    """Spearman over all texts, printed with three decimals."""
    ours = correlation_values(correlations, study="xsum_hallucination", coefficient="spearman")
    cells = []
    for _, name, _, quantity, value, note in rows(printed, *USED):
        key = (_XSUM.get(str(name), ""), _XSUM_CRITERIA.get(str(quantity)))
        if key in ours:
            cells.append(Cell(name, quantity, ours[key], float(value), note))
    return as_frame(cells, reason=_SAME_DATA, tolerance=0.0005)


def compare_unieval(study: str) -> Compare:
    """Pearson, Spearman and Kendall over all texts, printed with six decimals."""

    def compare(
        printed: pd.DataFrame, _leaderboard: pd.DataFrame, correlations: pd.DataFrame
    ) -> pd.DataFrame:
        cells = []
        for _, name, _, quantity, value, note in rows(printed, *USED):
            coefficient = str(quantity).lower()
            ours = correlation_values(correlations, study=study, coefficient=coefficient)
            key = (f"unieval_{name}", name)
            if key in ours:
                cells.append(Cell(name, quantity, ours[key], float(value), note))
        return as_frame(cells, reason=_SAME_DATA, tolerance=5e-7)

    return compare


def compare_scholarsum(
    printed: pd.DataFrame, leaderboard: pd.DataFrame, _correlations: pd.DataFrame
) -> pd.DataFrame:
    """Macro values of the released scores, printed with four decimals."""
    ours = macro_values(leaderboard)
    cells = []
    for row in printed.to_dict("records"):
        metric = _SCHOLARSUM.get((row["quantity"], row["evaluator"]))
        key = (FULL, metric, _SCHOLARSUM_AUTHORS.get(row["system_or_metric"]))
        if key in ours:
            column = " ".join(filter(None, (row["quantity"], row["evaluator"])))
            cell = Cell(row["system_or_metric"], column, ours[key], float(row["value"]), "")
            cells.append(cell)
    return as_frame(cells, reason=_FIRST_44, tolerance=0.00005)
