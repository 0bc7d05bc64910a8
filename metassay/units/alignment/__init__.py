"""The source passages that a statement is read against.

To add an alignment: a module with a KIND, and a line here.
"""

ALIGNMENTS = {"rouge_topk": "metassay.units.alignment.rouge_topk"}
