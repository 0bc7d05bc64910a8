"""Metrics of statements, each read against the passages aligned with it; the index of kinds."""

FAITHFULNESS: dict[str, str] = {
    "bartscore": "metassay.metrics.faithfulness.bartscore",
    "ctc_consistency": "metassay.metrics.faithfulness.ctc_consistency",
    "summac_zs": "metassay.metrics.faithfulness.summac_zs",
    "summac_conv": "metassay.metrics.faithfulness.summac_conv",
    "entailment_label": "metassay.metrics.faithfulness.entailment_label",
    "factscore_support": "metassay.metrics.faithfulness.factscore_support",
    "redress": "metassay.metrics.faithfulness.redress",
    "bleurt": "metassay.metrics.faithfulness.regressor:BLEURT",
    "regressor": "metassay.metrics.faithfulness.regressor",
    "bertscore_source": "metassay.metrics.faithfulness.bertscore_source",
}
