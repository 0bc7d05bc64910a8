"""Comparisons of two correlations as one would reckon them by hand: cell by cell, with scipy alone.

Nothing of metassay is imported here. Matrices are lists of systems' lists over
documents.
"""

import itertools
import math

import scipy.stats

OF = {
    "pearson": lambda x, y: scipy.stats.pearsonr(x, y)[0],
    "spearman": lambda x, y: scipy.stats.spearmanr(x, y)[0],
    "kendall": lambda x, y: scipy.stats.kendalltau(x, y)[0],
}


def coefficient(pairs, name):
    """Of pairs (x, y); NaN with fewer than two, or if either side is constant."""
    xs, ys = [round(x, 10) for x, _ in pairs], [round(y, 10) for _, y in pairs]
    if len(pairs) < 2 or len(set(xs)) < 2 or len(set(ys)) < 2:
        return math.nan
    return float(OF[name](xs, ys))


def cells(*matrices):
    """(system, document) of the cells in which all are there."""
    systems, documents = range(len(matrices[0])), range(len(matrices[0][0]))
    every = itertools.product(systems, documents)
    return [(s, d) for s, d in every if all(math.isfinite(m[s][d]) for m in matrices)]


def of_systems(matrix, there):
    """System -> its mean over the cells."""
    means = {}
    for s, d in there:
        means.setdefault(s, []).append(matrix[s][d])
    return {s: sum(values) / len(values) for s, values in means.items()}


def difference(a, b, human, level, name):
    """How much more a correlates with people than b, on the same cells of the same documents.

    And what that rests on: texts, systems, or the documents in which both have a
    coefficient.
    """
    there = cells(a, b, human)
    if level == "global":
        both = [
            coefficient([(m[s][d], human[s][d]) for s, d in there], name)
            for m in (a, b)
        ]
        return both[0] - both[1], len(there)
    if level == "system":
        people = of_systems(human, there)
        means = [of_systems(m, there) for m in (a, b)]
        both = [coefficient([(m[s], people[s]) for s in people], name) for m in means]
        return both[0] - both[1], len(people)
    gaps = []
    for document in sorted({d for _, d in there}):
        systems = [s for s, d in there if d == document]
        both = [
            coefficient([(m[s][document], human[s][document]) for s in systems], name)
            for m in (a, b)
        ]
        if not any(map(math.isnan, both)):
            gaps.append(both[0] - both[1])
    return (sum(gaps) / len(gaps) if gaps else math.nan), len(gaps)


def against_rater(metric, ratings, level, name):
    """Metric and left-out rater with the mean of the others: both means over raters, and the count.

    At document level a document counts if the rater has a coefficient there; a metric
    without one has 0.
    """
    metrics, raters = [], []
    for number, theirs in enumerate(ratings):
        others = [other for place, other in enumerate(ratings) if place != number]
        known = [
            [
                [other[s][d] for other in others if math.isfinite(other[s][d])]
                for d in range(len(theirs[0]))
            ]
            for s in range(len(theirs))
        ]
        mean = [[sum(c) / len(c) if c else math.nan for c in row] for row in known]
        there = cells(metric, theirs, mean)
        if level == "document":
            means = []
            for document in sorted({d for _, d in there}):
                systems = [s for s, d in there if d == document]
                rater = coefficient(
                    [(theirs[s][document], mean[s][document]) for s in systems], name
                )
                ours = coefficient(
                    [(metric[s][document], mean[s][document]) for s in systems], name
                )
                if not math.isnan(rater):
                    means.append((0.0 if math.isnan(ours) else ours, rater))
            pair = [sum(side) / len(side) for side in zip(*means, strict=True)] or [
                math.nan
            ] * 2
        else:
            pair = []
            for side in (metric, theirs):
                if level == "global":
                    pairs = [(side[s][d], mean[s][d]) for s, d in there]
                else:
                    first, second = of_systems(side, there), of_systems(mean, there)
                    pairs = [(first[s], second[s]) for s in first]
                pair.append(coefficient(pairs, name))
        if not any(map(math.isnan, pair)):
            metrics.append(pair[0])
            raters.append(pair[1])
    if not metrics:
        return math.nan, math.nan, 0
    return sum(metrics) / len(metrics), sum(raters) / len(raters), len(metrics)
