"""Ben Abacha et al. 2023."""

from metassay.reporting.published.cells import (
    CellComparison,
    Numbers,
    Ours,
    Place,
    Row,
    read_correlations,
)

AGGREGATE = "Aggregate Score"
CRITERIA = {
    "Factual Precision": "factual_precision",
    "Factual Recall": "factual_recall",
    "Factual F1": "factual_f1",
    "Hallucination Rate": "hallucination_rate",
    "Omission Rate": "omission_rate",
    AGGREGATE: AGGREGATE,
}
METRICS = {
    "ROUGE-1-P": "rouge1_precision",
    "ROUGE-1-R": "rouge1_recall",
    "ROUGE-1-F": "rouge1_fmeasure",
    "ROUGE-2-P": "rouge2_precision",
    "ROUGE-2-R": "rouge2_recall",
    "ROUGE-2-F": "rouge2_fmeasure",
    "ROUGE-L-P": "rougeL_precision",
    "ROUGE-L-R": "rougeL_recall",
    "ROUGE-L-F": "rougeL_fmeasure",
}


def correlate_with_aggregate(ours: Ours) -> Numbers:
    """Return our correlations, and (2F - H - O) / 4 of each metric's (section 5)."""
    numbers = read_correlations(ours, "mts_dialog")
    for metric in METRICS.values():
        f1_key = ("pearson", metric, "factual_f1")
        hallucination_key = ("pearson", metric, "hallucination_rate")
        omission_key = ("pearson", metric, "omission_rate")
        keys = [f1_key, hallucination_key, omission_key]
        if not all(key in numbers for key in keys):
            continue
        f1 = numbers[f1_key]
        hallucination = numbers[hallucination_key]
        omission = numbers[omission_key]
        if f1 is None or hallucination is None or omission is None:
            aggregate = None
        else:
            aggregate = (2 * f1 - hallucination - omission) / 4
        numbers["pearson", metric, AGGREGATE] = aggregate
    return numbers


def place(row: Row) -> Place:
    """Rows are metrics, and columns are what people counted."""
    metric, quantity = row["system_or_metric"], row["quantity"]
    key = ("pearson", METRICS.get(metric), CRITERIA.get(quantity))
    return Place(row=metric, column=quantity, key=key)


TABLE_2 = CellComparison(
    title="Ben Abacha et al., table 2: metrics against annotators on MTS-Dialog",
    files=["benabacha_table2.csv"],
    says="""
        Pearson correlation over all 400 summaries; the aggregate is (2F - H - O) / 4 of a
        metric's correlations with factual F1, hallucination and omission.
    """,
    reason="""
        Another ROUGE: ours is the rouge-score package, lower-cased words and counted
        n-grams. The authors' own was not released and no variant we know of gives their
        whole table; theirs seems to keep case and punctuation and to compare sets of
        n-grams. Ours is never tuned towards it.
    """,
    numbers=correlate_with_aggregate,
    place=place,
)
