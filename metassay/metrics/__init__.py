"""Metrics of a text, or of a text and its evidence; and the index of their kinds."""

METRICS = {
    "rouge": "metassay.metrics.rouge",
    "bleu": "metassay.metrics.bleu",
    "meteor": "metassay.metrics.meteor",
    "edit_distance": "metassay.metrics.edit_distance",
    "extractiveness": "metassay.metrics.copying:EXTRACTIVENESS",
    "lengths": "metassay.metrics.copying:LENGTHS",
    "numbers": "metassay.metrics.copying:NUMBERS",
    "bertscore": "metassay.metrics.bertscore",
    "moverscore": "metassay.metrics.moverscore",
    "bartscore": "metassay.metrics.bartscore",
    "bleurt": "metassay.metrics.bleurt",
    "clinical_bleurt": "metassay.metrics.bleurt:CLINICAL",
    "ctc_relevance": "metassay.metrics.faithfulness.ctc_consistency:RELEVANCE",
    "medcon": "metassay.metrics.medcon",
    "mist": "metassay.metrics.mist",
    "med_bertscore": "metassay.metrics.med_bertscore",
    "med_bertscore_window": "metassay.metrics.med_bertscore:WINDOW",
    "med_bartscore": "metassay.metrics.med_bertscore:BARTSCORE",
    "f1_radgraph": "metassay.metrics.f1_radgraph",
}
