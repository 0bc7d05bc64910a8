"""Whether the texts that people rated were chosen by a metric's scores, in words.

A correlation over chosen texts is not that over all. Where a metric scored texts that
nobody rated, of the same systems, `statistics.selection` compares both.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.format.numbers import counted, short
from metassay.meta_evaluation.study import Study
from metassay.statistics.exact_sums import Mask
from metassay.statistics.selection import compare_rated, is_chosen
from metassay.tables.data_warnings import DataWarning
from metassay.tables.names import metric_label

LEVEL = 0.01  # of both comparisons, of all metrics of a study together
_SHOWN = 3  # metrics that are written out
_REMEDY = (
    "Rate a random sample of the other texts, too. If you know which texts were chosen by"
    " scores, leave them out."
)


class Chosen(NamedTuple):
    """A metric by whose scores rated texts seem to have been chosen."""

    p: float
    sentence: str


def warn_of_selection(study: Study, scores: pd.DataFrame) -> Iterator[DataWarning]:
    """Yield a warning if rated texts differ from others in a metric's scores.

    `scores`: the table, of the study's part. Scores of two values, such as a judge's
    pass or fail, are left to `label_warnings`.
    """
    systems = study.systems.get_indexer(pd.Index(scores["author"]))
    known = scores[(systems >= 0) & scores["value"].notna()]
    by_metric = known.groupby(["metric", "judge"], sort=True)
    groups = [(metric_label(*map(str, key)), rows) for key, rows in by_metric]
    level = LEVEL / 2 / max(1, len(groups))
    metrics = [
        chosen
        for label, rows in groups
        if (chosen := _chosen_by(label, rows, study, level)) is not None
    ]
    if not metrics:
        return
    metrics.sort(key=lambda chosen: chosen.p)
    sentences = [chosen.sentence for chosen in metrics[:_SHOWN]]
    if len(metrics) > _SHOWN:
        more = counted(len(metrics) - _SHOWN, "other metric")
        sentences.append(f"The same holds for {more}.")
    finding = (
        f"The rated texts seem to be chosen by scores. {' '.join(sentences)} A correlation"
        " over rated texts is not that over all."
    )
    yield DataWarning(kind="selected", finding=finding, remedy=_REMEDY, **study.key)


def _chosen_by(
    label: str, rows: pd.DataFrame, study: Study, level: float
) -> Chosen | None:
    values = rows["value"].to_numpy(dtype=np.float64)
    if np.unique(values).size < 3:
        return None
    system = study.systems.get_indexer(pd.Index(rows["author"]))
    column = study.documents.get_indexer(pd.Index(rows["doc_id"]))
    rated = (column >= 0) & np.isfinite(study.human[system, column])
    document = pd.factorize(rows["doc_id"])[0]
    by_system = np.unique(system, return_inverse=True)[1]
    selection = compare_rated(values, rated, by_system, document)
    if selection is None:
        return None
    moved, spread = is_chosen(selection, level)
    if moved and (not spread or selection.p_higher <= selection.p_wider):
        how = "higher" if selection.higher > 0 else "lower"
        sentence = (
            f"They have {how} scores of {label} than the {_rest(rated)}:"
            f" {short(values[rated].mean())} against {short(values[~rated].mean())} on average."
        )
        return Chosen(selection.p_higher, sentence)
    if spread:
        how = "more" if selection.wider > 0 else "less"
        sentence = (
            f"Their scores of {label} are {how} extreme than those of the {_rest(rated)}:"
            f" the standard deviation is {short(values[rated].std())} against"
            f" {short(values[~rated].std())}."
        )
        return Chosen(selection.p_wider, sentence)
    return None


def _rest(rated: Mask) -> str:
    return f"{np.count_nonzero(~rated):,} other texts of the same systems"
