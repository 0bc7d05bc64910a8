"""The source passages that a statement is read against.

To add an alignment: a module with a KIND (or MODULE:NAME), and a line here.
"""

ALIGNMENTS = {
    "bs_gain": "metassay.units.alignment.vectors:BS_GAIN",
    "bs_topk": "metassay.units.alignment.vectors:BS_TOPK",
    "entity_chain": "metassay.units.alignment.entity_chain",
    "full": "metassay.units.alignment.rouge:FULL",
    "ranked_sections": "metassay.units.alignment.ranked_sections",
    "rouge_gain": "metassay.units.alignment.rouge_gain",
    "rouge_topk": "metassay.units.alignment.rouge:ROUGE_TOPK",
    "top_section": "metassay.units.alignment.rouge:TOP_SECTION",
}
