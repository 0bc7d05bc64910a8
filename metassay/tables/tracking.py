"""Values over time: differences, runs of `metassay watch check`, and the drift sentinel."""

from metassay.tables.columns import contracts

CHANGES, CHANGED_DOCUMENTS, HISTORY, HISTORY_MEANS, ANCHORS, DRIFT = contracts(__file__)
