"""Tests of segmentations: how often the labels given are right."""

from metassay.tables.columns import table

SEGMENT_SCORES = table(
    "segment_scores",
    "how often a segmentation gives sentences their right label",
    "segmentation of name statistic",
    """
    segmentation
    of all|label|place|confidence|above: which sentences: all; those of one label; those in one
      third of their text; those of whose label people were less or more sure than of the median
      one. `above`: of all sentences that both labelled, by how much it is above another
      segmentation
    name text: the label, the third, `lower` or `higher`, the other segmentation; `all` of all
    statistic accuracy|macro_f1|weighted_f1|cohen_kappa|majority_guess|precision|recall|f1|failed|
      accuracy_at_least|accuracy_at_most: the number; docs/benchmarks.md explains each
    value real?: its value; null if undefined
    low real?: lower end of the interval for other documents; null with one document
    high
    n integer: sentences that it rests on; of precision, recall and f1 those that have the label
    n_failed integer: sentences without a label because the segmentation failed: left out
    n_documents integer: the documents that these sentences are of
    """,
)

CONFUSIONS = table(
    "confusions",
    "how many sentences of each label a segmentation gives which label; without those it failed on",
    "segmentation label given",
    """
    segmentation
    label text: the right label
    given text: the label that they are given
    n integer: how many; pairs of labels without a sentence are there, too
    """,
)
