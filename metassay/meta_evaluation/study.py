"""Turn scores and ratings into matrices of systems and documents, from which all tables start.

Ratings become matrices as scores do. Both are aligned by key.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.core.options import Criterion
from metassay.meta_evaluation.layouts import (
    NO_GROUPS,
    Grouping,
    Groups,
    Raters,
    layout_of,
)
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics.correlation import TIE, tie_near
from metassay.statistics.doubted_raters import (
    NOBODY,
    DoubtedRaters,
    find_doubted_raters,
)
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.layout import Layout, factorize
from metassay.statistics.random_numbers import generator
from metassay.tables.names import (
    REFERENCE,
    STATEMENT,
    base_metric,
    metric_label,
    suffix_of,
)
from metassay.tables.parquet import Table, empty
from metassay.tables.ratings import statement_ratings

VERSUS = "versus:"
UNREAD = "unread"  # the confound: the share of its passages that a model did not read
NAMELESS = "system"  # the author of all texts where the data name none
AS_WRITTEN = 17  # digits that tell any two doubles apart

_STUDIED = ["study", "criterion", "part"]
_TEXT = ["doc_id", "author"]

Better = Literal["higher", "lower", "neither"]


class MetricScores(NamedTuple):
    """One metric's scores of the texts that a study rated."""

    metric: str
    judge: str
    better: Better
    recipe: str
    values: Array  # (systems, documents), as scored; NaN where there is no score

    @property
    def label(self) -> str:
        """The name in tables and pages: the metric, with its judge in brackets if it has one."""
        return metric_label(self.metric, self.judge)

    @property
    def key(self) -> dict[str, str]:
        """The metric's key columns."""
        return {"metric": self.metric, "judge": self.judge}

    @property
    def oriented(self) -> Array:
        """The values with their sign turned where less is better."""
        return -self.values if self.better == "lower" else self.values


class Study(NamedTuple):
    """The ratings of one study by one criterion of one part, and every metric of that part."""

    study: str
    criterion: str
    part: str
    better: Literal["higher", "lower"]
    systems: pd.Index  # rated systems: the rows of `human`
    documents: pd.Index  # rated documents: the columns of `human`
    # (systems, documents): the raters' mean, as rated; NaN where nobody rated
    human: Array
    raters: Array  # (raters, systems, documents): each rater's ratings
    metrics: tuple[MetricScores, ...]  # sorted by metric and judge
    grouping: Grouping  # which systems and documents belong together
    rater_names: tuple[str, ...] = ()
    doubted: DoubtedRaters = NOBODY  # places of raters who are not as the others

    @property
    def key(self) -> dict[str, str]:
        """The first key columns of every table."""
        return {"study": self.study, "criterion": self.criterion, "part": self.part}

    @property
    def shape(self) -> tuple[int, int]:
        """Number of systems and of documents."""
        return len(self.systems), len(self.documents)

    @property
    def layout(self) -> Layout:
        """Which systems and documents belong together."""
        return self.grouping.layout

    @property
    def nested(self) -> bool:
        """Whether no document has texts of two systems."""
        return bool(np.all(np.sum(np.isfinite(self.human), axis=0) <= 1))

    @property
    def design(self) -> str:
        """The design of systems and documents: a value of `evidence.design`."""
        if list(self.systems) == [NAMELESS]:
            return "no systems"
        if len(self.systems) == 1:
            return "one system"
        return "nested" if self.nested else "crossed"

    @property
    def oriented(self) -> Array:
        """`human` with its sign turned where less is better."""
        return -self.human if self.better == "lower" else self.human

    @property
    def directed(self) -> list[MetricScores]:
        """The metrics that say which of two texts is better: not lengths, not coverage."""
        return [self.metrics[place] for place in self.places]

    @property
    def places(self) -> list[int]:
        """The places of the directed metrics among `metrics`."""
        return [
            i for i, metric in enumerate(self.metrics) if metric.better != "neither"
        ]

    def values(
        self, metrics: Sequence[MetricScores], *, oriented: bool = True
    ) -> Array:
        """Stack values (metrics, systems, documents), signs turned where less is better."""
        values = [metric.oriented if oriented else metric.values for metric in metrics]
        return np.array(values, dtype=np.float64).reshape(len(values), *self.shape)

    def rows(
        self, metrics: Sequence[MetricScores], **columns: object
    ) -> Iterator[dict[str, object]]:
        """Yield a row per metric, from columns (metrics,) or values that all rows share."""
        wide = [
            np.broadcast_to(np.asarray(column), len(metrics)).tolist()
            for column in columns.values()
        ]
        for metric, *row in zip(metrics, *wide, strict=True):
            yield {**self.key, **metric.key, **dict(zip(columns, row, strict=True))}

    def leave_out(self, which: Mask, axis: int) -> "Study":
        """Return the study without some systems (`axis` -2) or documents (-1).

        Documents, or systems, of which nobody rated what is left are left out, too.
        """
        remains = ~which[:, None] if axis == -2 else ~which[None, :]
        rated = np.isfinite(self.human) & remains
        rows, columns = (np.flatnonzero(rated.any(axis=other)) for other in (1, 0))
        cells = np.ix_(rows, columns)

        def select(values: Array) -> Array:
            return np.where(remains, values, np.nan)[cells]

        layout = Layout(
            factorize(self.layout.stratum[columns]),
            factorize(self.layout.cluster[columns]),
            factorize(self.layout.family[rows]),
        )
        metrics = [m._replace(values=select(m.values)) for m in self.metrics]
        raters = [select(ratings) for ratings in self.raters]
        return self._replace(
            systems=self.systems[rows],
            documents=self.documents[columns],
            human=select(self.human),
            raters=np.array(raters).reshape(len(raters), len(rows), len(columns)),
            metrics=tuple(metrics),
            grouping=self.grouping._replace(
                layout=layout, owners=factorize(self.grouping.owners[rows])
            ),
        )

    def compared(self, options: MetaOptions) -> list[MetricScores]:
        """The directed metrics to compare with each other, without those that scored no text."""
        return [
            metric
            for metric in self.directed
            if options.compares(metric.metric, metric.label)
            and np.isfinite(metric.values).any()
        ]


def studies(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    better: Mapping[str, Better],
    groups: Groups = NO_GROUPS,
    digits: int = AS_WRITTEN,
) -> list[Study]:
    """Return every study, criterion and part with the metrics of the part, sorted by key.

    Only texts of systems and documents that the study rated by this criterion take
    part, and never the reference. `digits`: significant digits of scores and ratings;
    `AS_WRITTEN` keeps them all. The other arguments are those of `Evaluation`.

    Raises BadInput for ratings by an undeclared criterion, and for scores of several
    recipes under one metric and judge.
    """
    if digits < AS_WRITTEN:
        scores, ratings = (
            table.assign(
                value=table["value"].map(lambda value: float(f"{value:.{digits}g}"))
            )
            for table in (scores, ratings)
        )
    of_raters = _rater_scores(ratings, criteria)
    of_part = dict(list(scores.groupby("part", sort=True)))
    # shared by criteria
    of_texts: dict[tuple[object, ...], tuple[MetricScores, ...]] = {}
    result = []
    for names, group in _average_raters(of_raters).groupby(_STUDIED, sort=True):
        key = str(names[0]), str(names[1]), str(names[2])
        _, criterion, part = key
        systems = pd.Index(sorted(group["author"].unique()))
        documents = pd.Index(sorted(group["doc_id"].unique()))
        rows = of_raters[(of_raters[_STUDIED] == list(names)).all(axis=1)]
        of_rater = {
            str(rater): matrix(r, systems, documents)
            for rater, r in rows.groupby("rater")
        }
        human = matrix(group, systems, documents)
        human = tie_rounding(human) if group["several"].any() else tie_constant(human)
        texts = part, *systems, "", *documents
        if texts not in of_texts:
            scored = of_part.get(part, scores[:0])
            of_texts[texts] = _metric_scores(scored, part, systems, documents, better)
        metrics = of_texts[texts]
        ratings_by = np.stack(list(of_rater.values()))
        if rows["several"].any():
            ratings_by = tie_rounding(ratings_by)
        grouping = layout_of(
            list(systems),
            list(documents),
            human,
            [metric.values for metric in metrics],
            groups,
            generator(0, "layout", *key),
            Raters(tuple(of_rater), ratings_by),
        )
        study = Study(
            study=key[0],
            criterion=criterion,
            part=part,
            better=criteria[criterion].better,
            systems=systems,
            documents=documents,
            human=human,
            raters=ratings_by,
            metrics=metrics,
            grouping=grouping,
            rater_names=tuple(of_rater),
            doubted=find_doubted_raters(ratings_by, grouping.layout),
        )
        result.append(study)
    return result


def human_scores(
    ratings: pd.DataFrame, criteria: Mapping[str, Criterion]
) -> pd.DataFrame:
    """Return one human score per text: columns study, criterion, part, doc_id, author, value.

    It is the mean over raters of each rater's mean over their units (claims,
    comparisons), so that a rater counts once per text. In a comparison the other author
    has the mirrored value (1 - value on a scale of 0 to 1), which makes the mean a rate
    of wins, ties half. Abstentions and the reference's scores are left out. Column
    `several`: whether the value is a mean, not a single rating. Raises BadInput for an
    undeclared criterion.
    """
    return _average_raters(_rater_scores(ratings, criteria))


def _average_raters(raters: pd.DataFrame) -> pd.DataFrame:
    texts = raters.groupby([*_STUDIED, *_TEXT], sort=True)
    scores = texts["value"].mean().to_frame()
    scores["several"] = (texts.size() > 1) | texts["several"].any()
    return scores.reset_index()


def check_criteria(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> None:
    """Raise BadInput that lists every undeclared criterion."""
    raise_problems(
        f"ratings: criterion {shown(name)} is not declared; add it to criteria in the"
        " benchmark's params.yaml"
        for name in sorted(set(ratings["criterion"].unique()) - set(criteria))
    )


def mirror(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    """Return each comparison from the other author's side, without rows that compare nothing."""
    rows = ratings[ratings["unit"].str.startswith(VERSUS)]
    ends = {
        name: criterion.low + criterion.high for name, criterion in criteria.items()
    }
    return rows.assign(
        author=rows["unit"].str.removeprefix(VERSUS),
        unit=VERSUS + rows["author"],
        value=rows["criterion"].map(ends).astype("float64") - rows["value"],
    )


def tie_rounding(values: Array) -> Array:
    """Make values equal that differ by rounding alone, such as means of the same ratings.

    Only for computed values: those that were read are ranked as written.
    """
    if not np.isfinite(values).any():
        return values
    tolerance = TIE * float(np.nanmax(np.abs(values)))
    return tie_near(values.ravel(), tolerance=tolerance).reshape(values.shape)


def tie_constant(values: Array) -> Array:
    """Make values equal if all of them differ by rounding alone; else leave them as written."""
    equal = tie_rounding(values)
    return equal if np.unique(equal[np.isfinite(equal)]).size < 2 else values


def rounding_notes(study: Study) -> Iterator[str]:
    """Yield a note per criterion and metric with values that differ by rounding alone."""
    metrics = ((metric.label, metric.values) for metric in study.metrics)
    for name, values in ((study.criterion, study.human), *metrics):
        known = values[np.isfinite(values)]
        written, distinct = np.unique(known).size, np.unique(tie_rounding(known)).size
        if written > distinct:
            yield (
                f"{name}: {written:,} different values, {distinct:,} if rounded to 12 digits. They"
                " are ranked as they were written; with the option digits 12 they are rounded"
            )


def single_recipe(scores: pd.DataFrame, metric: str, judge: str, part: str) -> str:
    """Return the recipe of the scores; raise BadInput if there are several."""
    recipes = sorted(scores["recipe"].unique())
    if len(recipes) > 1:
        raise BadInput(
            f"scores: {metric} (judge {judge}, part {part}) mixes {len(recipes)} recipes, which"
            f" are never compared: {recipes[0]} and {recipes[1]}; measure all systems with one"
        )
    return str(recipes[0])


def frame_of(rows: Sequence[Any], table: Table) -> pd.DataFrame:
    """Return a frame of rows by column name, or in the order of the table's columns."""
    return pd.DataFrame(rows, columns=list(table.columns)) if rows else empty(table)


def _rater_scores(
    ratings: pd.DataFrame, criteria: Mapping[str, Criterion]
) -> pd.DataFrame:
    check_criteria(ratings, criteria)
    rated = pd.concat([ratings, mirror(ratings, criteria)], ignore_index=True)
    rated = rated[rated["value"].notna() & (rated["author"] != REFERENCE)]
    units = rated.groupby([*_STUDIED, *_TEXT, "rater"], sort=True)
    scores = units["value"].mean().to_frame()
    # Mirrored comparisons are computed values, too.
    scores["several"] = (units.size() > 1) | units["unit"].first().str.startswith(
        VERSUS
    )
    return scores.reset_index()


def _metric_scores(
    scores: pd.DataFrame,
    part: str,
    systems: pd.Index,
    documents: pd.Index,
    better: Mapping[str, Better],
) -> tuple[MetricScores, ...]:
    metrics = []
    for (metric, judge), rows in scores.groupby(["metric", "judge"], sort=True):
        rated = rows[rows["author"].isin(systems) & rows["doc_id"].isin(documents)]
        recipe = single_recipe(
            rated if len(rated) else rows, str(metric), str(judge), part
        )
        values = tie_constant(matrix(rated, systems, documents))
        metrics.append(
            MetricScores(str(metric), str(judge), better[str(metric)], recipe, values)
        )
    return tuple(metrics)


def matrix(rows: pd.DataFrame, systems: pd.Index, documents: pd.Index) -> Array:
    """Return the rows' values (systems, documents), NaN where there is none."""
    values = np.full((len(systems), len(documents)), np.nan)
    system = systems.get_indexer(pd.Index(rows["author"]))
    document = documents.get_indexer(pd.Index(rows["doc_id"]))
    inside = (system >= 0) & (document >= 0)
    values[system[inside], document[inside]] = rows["value"].to_numpy(dtype=np.float64)[
        inside
    ]
    return values


def make_statement_study(
    scores: pd.DataFrame, ratings: pd.DataFrame, groups: Groups
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Better], Groups] | None:
    """Turn `statement_scores` and ratings of units `statement:N` into a study of part statement.

    Returns the scores, ratings, directions and groups that `studies` takes.

    A statement takes the place of a document with a text of one system. The statements
    of a document form a cluster, across systems. Statements that people did not mark
    are left out. Returns None if none is marked or scored.
    """
    marked = statement_ratings(ratings)
    if marked.empty or scores.empty:
        return None
    document, statement = marked["doc_id"], _names(marked)
    marked = marked.assign(doc_id=statement, unit="text", part=STATEMENT)
    scores = scores.assign(doc_id=_names(scores), part=STATEMENT)
    scores = scores[scores["doc_id"].isin(statement)]
    scores = pd.concat([scores, _unread(scores)], ignore_index=True)
    pairs = list(zip(statement, document, strict=True))
    return (
        scores,
        marked.drop(columns="number"),
        dict(zip(scores["metric"], scores["better"], strict=True)),
        Groups(
            {
                name: groups.strata[doc_id]
                for name, doc_id in pairs
                if doc_id in groups.strata
            },
            {name: groups.clusters.get(doc_id, doc_id) for name, doc_id in pairs},
            groups.families,
        ),
    )


def _names(rows: pd.DataFrame) -> pd.Series:
    return (
        rows["doc_id"]
        + " "
        + rows["author"]
        + " "
        + rows["number"].astype(str).str.zfill(4)
    )


def _unread(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a confound for each model that left passages unread: the share that it did not read.

    Metrics of one model read the same passages, and share the confound.
    """
    unread = []
    for (metric, judge), rows in scores.groupby(["metric", "judge"], sort=True):
        if (rows["unread"] > 0).any():
            name = UNREAD + suffix_of(str(metric))
            unread.append(
                rows.assign(metric=name, value=rows["unread"], better="neither")
            )
            unread[-1]["recipe"] = f"{name} of {base_metric(str(metric))} ({judge})"
    rows = pd.concat(unread, ignore_index=True) if unread else scores[:0]
    return rows.drop_duplicates(["doc_id", "author", "metric", "judge"])
