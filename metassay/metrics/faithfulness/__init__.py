"""Metrics of statements, each read against the passages aligned with it; the index of kinds."""

FAITHFULNESS: dict[str, str] = {
    "bartscore": "metassay.metrics.bartscore:SOURCE",
    "ctc_consistency": "metassay.metrics.faithfulness.ctc_consistency",
    "summac_zs": "metassay.metrics.faithfulness.summac_zs",
    "summac_conv": "metassay.metrics.faithfulness.summac_conv",
    "entailment_label": "metassay.metrics.faithfulness.entailment_label",
    "factscore_support": "metassay.metrics.faithfulness.factscore_support",
    "redress": "metassay.metrics.faithfulness.redress",
    "bleurt": "metassay.metrics.bleurt:SOURCE",
    "regressor": "metassay.metrics.bleurt:REGRESSOR",
    "bertscore_source": "metassay.metrics.bertscore:SOURCE",
}
