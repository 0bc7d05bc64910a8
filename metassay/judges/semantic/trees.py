"""Boosted trees as plain numbers: what they say of features, and how they are taken from a fit."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from metassay.core.options import Options
from metassay.models import extra

LEAVES = 8
_FIT = {
    **{"max_iter": 150, "learning_rate": 0.06, "max_leaf_nodes": LEAVES, "min_samples_leaf": 40},
    **{"l2_regularization": 5.0, "early_stopping": False, "random_state": 0},
}


class Tree(Options):
    """Nodes by number, the root first; a leaf has feature -1.

    Where a node's feature is at most its threshold `left` is next, else `right`.
    """

    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    value: list[float]


class Trees(Options):
    """What all trees begin with, and the trees; their sum is a logit."""

    constant: float
    trees: list[Tree]


def logits(trees: Trees, features: Any) -> Any:
    """The logit of each row of features (n x k): n values."""
    total = np.full(len(features), trees.constant)
    rows = np.arange(len(features))
    for tree in trees.trees:
        feature, threshold = np.array(tree.feature), np.array(tree.threshold)
        left, right = np.array(tree.left), np.array(tree.right)
        at: Any = np.zeros(len(features), int)
        for _ in range(LEAVES):  # no path is longer
            goes = features[rows, feature[at]] <= threshold[at]
            at = np.where(feature[at] < 0, at, np.where(goes, left[at], right[at]))
        total += np.array(tree.value)[at]
    return total


def fit(features: Any, labels: Any, weights: Any, signs: Any, digits: int) -> Trees:
    """Trees by gradient boosting (scikit-learn), numbers rounded to so many significant digits.

    `signs`: 1 for a feature of which more never lowers the logit, -1 for one of which more never
    raises it.
    """
    boosting = extra.module("sklearn.ensemble").HistGradientBoostingClassifier
    model = boosting(monotonic_cst=list(signs), **_FIT)
    model.fit(features, labels, sample_weight=weights)
    nodes = [step[0].nodes for step in model._predictors]
    return Trees(
        constant=_rounded([float(np.ravel(model._baseline_prediction)[0])], digits)[0],
        trees=[
            Tree(
                feature=[-1 if leaf else int(at) for leaf, at in _pairs(tree, "feature_idx")],
                threshold=_rounded(
                    [0.0 if leaf else at for leaf, at in _pairs(tree, "num_threshold")], digits
                ),
                left=[int(at) for at in tree["left"]],
                right=[int(at) for at in tree["right"]],
                value=_rounded([at if leaf else 0.0 for leaf, at in _pairs(tree, "value")], digits),
            )
            for tree in nodes
        ],
    )


def _pairs(nodes: Any, name: str) -> Any:
    return zip(nodes["is_leaf"].tolist(), nodes[name].tolist(), strict=True)


def _rounded(values: Sequence[float], digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]
