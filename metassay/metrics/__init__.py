"""Metrics of a text, or of a text and its evidence; and the index of their kinds."""

METRICS = {
    "rouge": "metassay.metrics.rouge",
    "bleu": "metassay.metrics.bleu",
    "edit_distance": "metassay.metrics.edit_distance",
    "extractiveness": "metassay.metrics.extractiveness",
    "lengths": "metassay.metrics.lengths",
    "numbers": "metassay.metrics.lengths:NUMBERS",
    "bertscore": "metassay.metrics.bertscore",
    "bartscore": "metassay.metrics.bartscore",
    "bleurt": "metassay.metrics.bleurt",
    "clinical_bleurt": "metassay.metrics.bleurt:CLINICAL",
    "ctc_relevance": "metassay.metrics.ctc_relevance",
    "medcon": "metassay.metrics.medcon",
    "mist": "metassay.metrics.mist",
    "med_bertscore": "metassay.metrics.med_bertscore",
    "med_bertscore_window": "metassay.metrics.med_bertscore:WINDOW",
    "med_bartscore": "metassay.metrics.med_bartscore",
    "f1_radgraph": "metassay.metrics.f1_radgraph",
}
