"""The source passages that a statement is read against.

To add an alignment: a module with a KIND, and a line here.
"""

ALIGNMENTS = {
    "bs_gain": "metassay.units.alignment.bs_gain",
    "bs_topk": "metassay.units.alignment.bs_topk",
    "entity_chain": "metassay.units.alignment.entity_chain",
    "full": "metassay.units.alignment.full",
    "rouge_gain": "metassay.units.alignment.rouge_gain",
    "rouge_topk": "metassay.units.alignment.rouge_topk",
    "top_section": "metassay.units.alignment.top_section",
}
