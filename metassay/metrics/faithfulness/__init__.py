"""Metrics of statements, each read against the passages aligned with it; the index of kinds."""

FAITHFULNESS: dict[str, str] = {
    "bartscore": "metassay.metrics.faithfulness.bartscore",
    "ctc_consistency": "metassay.metrics.faithfulness.ctc_consistency",
}
