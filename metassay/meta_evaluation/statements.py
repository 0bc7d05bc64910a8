"""Studies of single statements: people's marks of each beside its scores.

A statement takes the place of a document that has the text of one system, and the statements of a
document are a cluster, whichever system wrote them.
"""

from typing import NamedTuple

import pandas as pd

from metassay.meta_evaluation.layouts import Groups
from metassay.meta_evaluation.study import Better
from metassay.tables.names import STATEMENT, base_metric, suffix_of
from metassay.tables.ratings import of_statements

UNREAD = "unread"  # the share of its passages that a model did not read, as a confound


class ByStatement(NamedTuple):
    """What `study.studies` takes: scores and ratings whose documents are statements."""

    scores: pd.DataFrame
    ratings: pd.DataFrame
    better: dict[str, Better]
    groups: Groups


def by_statement(scores: pd.DataFrame, ratings: pd.DataFrame, groups: Groups) -> ByStatement | None:
    """Table `statement_scores` and the ratings of units `statement:N` as a study of part statement.

    Statements that people did not mark take no part. None where they marked none.
    """
    marked = of_statements(ratings)
    if marked.empty or scores.empty:
        return None
    marked = marked.assign(document=marked["doc_id"], doc_id=_named(marked), unit="text")
    marked["part"] = STATEMENT
    scores = scores.assign(doc_id=_named(scores), part=STATEMENT)
    scores = scores[scores["doc_id"].isin(marked["doc_id"])]
    scores = pd.concat([scores, _unread(scores)], ignore_index=True)
    of = dict(zip(marked["doc_id"], marked["document"], strict=True))
    return ByStatement(
        scores,
        marked.drop(columns=["document", "number"]),
        dict(zip(scores["metric"], scores["better"], strict=True)),
        Groups(
            {one: groups.strata[doc] for one, doc in of.items() if doc in groups.strata},
            {one: groups.clusters.get(doc, doc) for one, doc in of.items()},
            groups.families,
        ),
    )


def _named(rows: pd.DataFrame) -> pd.Series:
    return rows["doc_id"] + " " + rows["author"] + " " + rows["number"].astype(str).str.zfill(4)


def _unread(scores: pd.DataFrame) -> pd.DataFrame:
    """What each model did not read, where it left anything unread: it confounds its scores."""
    found = []
    for (metric, judge), rows in scores.groupby(["metric", "judge"], sort=True):
        if (rows["unread"] > 0).any():
            name = UNREAD + suffix_of(str(metric))
            found.append(rows.assign(metric=name, value=rows["unread"], better="neither"))
            found[-1]["recipe"] = f"{name} of {base_metric(str(metric))} ({judge})"
    # Metrics of one model read the same of the same passages.
    every = pd.concat(found, ignore_index=True) if found else scores[:0]
    return every.drop_duplicates(["doc_id", "author", "metric", "judge"])
