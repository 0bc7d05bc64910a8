"""Tables of scorers for figures alone: each two in both orders; metrics alone and in ensembles."""

from collections.abc import Mapping

import pandas as pd


def both_ways(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Table `metric_correlations`, its two scorers as `row` and `column`, and again swapped."""
    pairs = frames["metric_correlations"]
    one = pairs.rename(columns={"first": "row", "second": "column"})
    other = pairs.rename(columns={"second": "row", "first": "column"})
    columns = ["study", "part", "coefficient", "row", "column", "value", "n"]
    return pd.concat([one[columns], other[columns]], ignore_index=True)


ALONE, WITHIN = "alone", "in ensembles"
BEST, LARGEST = "best ensemble", "largest of all subsets"


def in_ensembles(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Table `ensembles` by its single members: alone, and the mean of all ensembles with them.

    `what` is ALONE or WITHIN. The two further members of WITHIN are BEST, the best ensemble on
    texts that it was not chosen on, and LARGEST, the largest correlation of any subset: what papers
    print of the best one, too good since it is the winner on its own texts.
    """
    ensembles = frames["ensembles"]
    kind, size = ensembles["kind"], ensembles["size"]
    subsets = ensembles[(kind == "subset") & ensembles["value"].notna()]
    largest = subsets.groupby(["study", "criterion", "part", "coefficient"])["value"].idxmax()
    best = pd.concat(
        [
            ensembles[kind == "best"].assign(members=BEST),
            subsets.loc[largest].assign(members=LARGEST),
        ]
    )
    made = [
        ensembles[(kind == "subset") & (size == 1)].assign(what=ALONE),
        ensembles[kind == "containing"].assign(what=WITHIN),
        best.assign(what=WITHIN, low=float("nan"), high=float("nan")),
    ]
    columns = ["criterion", "part", "coefficient", "members", "what", "value", "low", "high", "n"]
    return pd.concat([one[columns] for one in made], ignore_index=True)
