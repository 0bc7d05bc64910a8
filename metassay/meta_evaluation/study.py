"""Scores and ratings brought to system x document matrices: what every table here starts from.

People are scorers too: a rating becomes a matrix as a metric does. All alignment is by key.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.core.options import Criterion
from metassay.meta_evaluation.layouts import NO_GROUPS, Found, Groups, layout_of
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics.correlation import TIE, tied
from metassay.statistics.exact_sums import Array
from metassay.statistics.layout import Layout
from metassay.tables.names import REFERENCE, metric_label
from metassay.tables.parquet import Table, empty

VERSUS = "versus:"
NAMELESS = "system"  # who wrote all texts, where nobody says who did

AS_WRITTEN = 17  # digits that tell any two doubles apart

_STUDIED = ["study", "criterion", "part"]
_TEXT = ["doc_id", "author"]

Better = Literal["higher", "lower", "neither"]


class Measured(NamedTuple):
    """One metric's scores of what one study rated."""

    metric: str
    judge: str
    better: Better
    recipe: str
    values: Array  # (systems, documents), as scored; NaN where there is no score

    @property
    def label(self) -> str:
        """The name in tables and pages: the metric, and its judge in brackets if it has one."""
        return metric_label(self.metric, self.judge)

    @property
    def key(self) -> dict[str, str]:
        """Its key columns."""
        return {"metric": self.metric, "judge": self.judge}

    @property
    def tells_apart(self) -> bool:
        """Whether any two texts have different scores."""
        return bool(np.unique(self.values[np.isfinite(self.values)]).size > 1)

    @property
    def oriented(self) -> Array:
        """The values with their sign turned where less is better."""
        return -self.values if self.better == "lower" else self.values


class Study(NamedTuple):
    """What people said in one study by one criterion of one part, and every metric of the same."""

    study: str
    criterion: str
    part: str
    better: Literal["higher", "lower"]
    systems: pd.Index  # who was rated; the rows of `human`
    documents: pd.Index  # on what; the columns of `human`
    human: Array  # the raters' mean, as rated; NaN where nobody rated
    raters: Array  # (raters, systems, documents): each rater's own
    metrics: tuple[Measured, ...]  # sorted by metric and judge
    found: Found  # which systems and documents belong together

    @property
    def key(self) -> dict[str, str]:
        """The key columns that every table here begins with."""
        return {"study": self.study, "criterion": self.criterion, "part": self.part}

    @property
    def shape(self) -> tuple[int, int]:
        """Systems and documents."""
        return len(self.systems), len(self.documents)

    @property
    def layout(self) -> Layout:
        """Which systems and documents belong together."""
        return self.found.layout

    @property
    def nested(self) -> bool:
        """Whether no document has texts of two systems, so that nothing is crossed."""
        return bool(np.all(np.sum(np.isfinite(self.human), axis=0) <= 1))

    @property
    def design(self) -> str:
        """How systems and documents meet: a value of `evidence.design`."""
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
    def oriented_raters(self) -> Array:
        """`raters` with their sign turned where less is better."""
        return -self.raters if self.better == "lower" else self.raters

    @property
    def directed(self) -> list[Measured]:
        """The metrics that say which of two texts is better: not lengths, not coverage."""
        return [one for one in self.metrics if one.better != "neither"]

    def values(self, metrics: Sequence[Measured], *, oriented: bool = True) -> Array:
        """(metrics, systems, documents): their values, signs turned where less is better."""
        each = [one.oriented if oriented else one.values for one in metrics]
        return np.array(each, dtype=np.float64).reshape(len(each), *self.shape)

    def rows(self, metrics: Sequence[Measured], **columns: object) -> Iterator[dict[str, object]]:
        """A row per metric, of columns (metrics,) or what all rows share."""
        wide = [np.broadcast_to(np.asarray(one), len(metrics)).tolist() for one in columns.values()]
        for one, *row in zip(metrics, *wide, strict=True):
            yield {**self.key, **one.key, **dict(zip(columns, row, strict=True))}

    def compared(self, options: MetaOptions) -> list[Measured]:
        """Those of `directed` that are to be compared with each other, if they scored any text."""
        named = [one for one in self.directed if options.compares(one.metric, one.label)]
        return [one for one in named if np.isfinite(one.values).any()]


def studies(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    better: Mapping[str, Better],
    groups: Groups = NO_GROUPS,
    digits: int = AS_WRITTEN,
) -> list[Study]:
    """Every (study, criterion, part) with the metrics of the same part, in the order of its key.

    Only texts of systems and documents that the study rated by this criterion take part, and never
    the reference. `digits`: the significant digits that scores and ratings have; by `AS_WRITTEN`
    all that they were read with. The rest is as in `Evaluation`.

    Raises BadInput for ratings by an undeclared criterion, and for scores of several recipes under
    one metric and judge.
    """
    if digits < AS_WRITTEN:
        scores, ratings = (
            table.assign(value=table["value"].map(lambda value: float(f"{value:.{digits}g}")))
            for table in (scores, ratings)
        )
    of_raters = _rater_scores(ratings, criteria)
    of_part = dict(list(scores.groupby("part", sort=True)))
    known: dict[tuple[object, ...], tuple[Measured, ...]] = {}  # criteria of the same texts
    found = []
    for names, group in _of_texts(of_raters).groupby(_STUDIED, sort=True):
        key = str(names[0]), str(names[1]), str(names[2])
        _, criterion, part = key
        systems = pd.Index(sorted(group["author"].unique()))
        documents = pd.Index(sorted(group["doc_id"].unique()))
        mine = of_raters[(of_raters[_STUDIED] == list(names)).all(axis=1)]
        each = np.stack([matrix(r, systems, documents) for _, r in mine.groupby("rater")])
        human = matrix(group, systems, documents)
        human = even(human) if group["several"].any() else steady(human)
        texts = part, *systems, "", *documents
        if texts not in known:
            scored = of_part.get(part, scores[:0])
            known[texts] = _measured(scored, part, systems, documents, better)
        metrics = known[texts]
        layout = layout_of(
            *(list(systems), list(documents), human, [one.values for one in metrics], groups),
            generator(0, "layout", *key),
        )
        raters = even(each) if mine["several"].any() else each
        which = criteria[criterion].better
        found.append(Study(*key, which, systems, documents, human, raters, metrics, layout))
    return found


def human_scores(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    """One human score per text: columns study, criterion, part, doc_id, author, value.

    Each rater's mean over the units they rated (claims, comparisons), then the mean of the raters:
    so that a rater counts once per text, however many of its claims they got through. In a
    comparison the other author has the mirrored value (1 - value on a scale of 0 to 1), which
    makes the mean a rate of wins, ties half. Abstentions and the reference's own scores are left
    out. Column `several`: whether the value is a mean, and not one rating as it was given. Raises
    BadInput for an undeclared criterion.
    """
    return _of_texts(_rater_scores(ratings, criteria))


def _of_texts(raters: pd.DataFrame) -> pd.DataFrame:
    each = raters.groupby([*_STUDIED, *_TEXT], sort=True)
    found = each["value"].mean().to_frame()
    found["several"] = (each.size() > 1) | each["several"].any()
    return found.reset_index()


def check_criteria(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> None:
    """Raises BadInput, for all of them at once, where a criterion is not declared."""
    raise_problems(
        f"ratings: criterion {shown(name)} is not declared; add it to criteria in the"
        " benchmark's params.yaml"
        for name in sorted(set(ratings["criterion"].unique()) - set(criteria))
    )


def mirrored(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    """Each comparison as the other author has it; rows that compare nothing are left out."""
    rows = ratings[ratings["unit"].str.startswith(VERSUS)]
    ends = {name: criterion.low + criterion.high for name, criterion in criteria.items()}
    return rows.assign(
        author=rows["unit"].str.removeprefix(VERSUS),
        unit=VERSUS + rows["author"],
        value=rows["criterion"].map(ends).astype("float64") - rows["value"],
    )


def generator(seed: int, *key: str) -> np.random.Generator:
    """The random numbers of one study or purpose: another key has others, always the same."""
    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, len(digest), 4)]
    return np.random.default_rng([seed, *words])


def even(values: Array) -> Array:
    """Means of the same ratings in another order, or mirrored, tied: not a rounding error apart.

    What was read and not computed is ranked as it was written.
    """
    if not np.isfinite(values).any():
        return values
    tolerance = TIE * float(np.nanmax(np.abs(values)))
    return tied(values.ravel(), tolerance=tolerance).reshape(values.shape)


def steady(values: Array) -> Array:
    """Numbers as written, but those that are all the same but for rounding made equal."""
    tied_values = even(values)
    same = np.unique(tied_values[np.isfinite(tied_values)]).size < 2
    return tied_values if same else values


def rounding(study: Study) -> Iterator[str]:
    """What differs by no more than computers round, and counts as different all the same."""
    for name, values in (
        (study.criterion, study.human),
        *((one.label, one.values) for one in study.metrics),
    ):
        known = values[np.isfinite(values)]
        written, apart = np.unique(known).size, np.unique(even(known)).size
        if written > apart:
            yield (
                f"{name}: {written:,} different values, {apart:,} if rounded to 12 digits. They are"
                " ranked as they were written; with the option digits 12 they are rounded"
            )


def one_recipe(scores: pd.DataFrame, metric: str, judge: str, part: str) -> str:
    """The recipe of these scores; BadInput if there are several."""
    recipes = sorted(scores["recipe"].unique())
    if len(recipes) > 1:
        raise BadInput(
            f"scores: {metric} (judge {judge}, part {part}) mixes {len(recipes)} recipes, which"
            f" are never compared: {recipes[0]} and {recipes[1]}; measure all systems with one"
        )
    return str(recipes[0])


def frame_of(rows: Sequence[Mapping[str, object]], table: Table) -> pd.DataFrame:
    """Rows as a frame with the table's columns."""
    return pd.DataFrame(rows, columns=list(table.columns)) if rows else empty(table)


def _rater_scores(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    check_criteria(ratings, criteria)
    seen = pd.concat([ratings, mirrored(ratings, criteria)], ignore_index=True)
    seen = seen[seen["value"].notna() & (seen["author"] != REFERENCE)]
    by = [*_STUDIED, *_TEXT, "rater"]
    units = seen.groupby(by, sort=True)
    found = units["value"].mean().to_frame()
    # A comparison that is mirrored is computed, too.
    found["several"] = (units.size() > 1) | units["unit"].first().str.startswith(VERSUS)
    return found.reset_index()


def _measured(
    scores: pd.DataFrame,
    part: str,
    systems: pd.Index,
    documents: pd.Index,
    better: Mapping[str, Better],
) -> tuple[Measured, ...]:
    found = []
    for (metric, judge), mine in scores.groupby(["metric", "judge"], sort=True):
        rated = mine[mine["author"].isin(systems) & mine["doc_id"].isin(documents)]
        recipe = one_recipe(rated if len(rated) else mine, str(metric), str(judge), part)
        values = steady(matrix(rated, systems, documents))
        found.append(Measured(str(metric), str(judge), better[str(metric)], recipe, values))
    return tuple(found)


def matrix(rows: pd.DataFrame, systems: pd.Index, documents: pd.Index) -> Array:
    """(systems, documents): the rows' values, NaN where there is none."""
    found = np.full((len(systems), len(documents)), np.nan)
    system = systems.get_indexer(pd.Index(rows["author"]))
    document = documents.get_indexer(pd.Index(rows["doc_id"]))
    wanted = (system >= 0) & (document >= 0)
    found[system[wanted], document[wanted]] = rows["value"].to_numpy(dtype=np.float64)[wanted]
    return found
