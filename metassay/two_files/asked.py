"""What to do with the two files: directions, criteria and options, from the command's words."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_args

import pandas as pd

from metassay.datasets.rows import shown
from metassay.errors import BadInput
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Better
from metassay.metrics import DESCRIPTIONS
from metassay.params import Criterion, parse
from metassay.statistics.ensembles import LARGEST
from metassay.tables import REFERENCE
from metassay.two_files.reading import TEXT, Given

SCALES: tuple[str, ...] = get_args(Criterion.model_fields["scale"].annotation)

_EXAMPLES = 3  # ids shown of each file where nothing is in both


class Asked(NamedTuple):
    """All that `evaluate` needs beside the two tables."""

    better: dict[str, Better]  # of each metric
    criteria: dict[str, Criterion]
    options: MetaOptions
    notes: list[str]  # what was assumed


class Overlap(NamedTuple):
    """Texts (document, system, part) with a score and a rating, and with one of the two alone."""

    both: int
    scored_only: int
    rated_only: int


def asked(
    scores: Given,
    ratings: Given,
    *,
    lower: Sequence[str],
    scales: Sequence[str],
    compared: Sequence[str] | None,
    settings: dict[str, Any],
) -> Asked:
    """Check the words against the files; raises BadInput with every word that does not fit.

    `lower`: metrics and criteria of which less is better; a name that is both is taken for both.
    `scales`: CRITERION=SCALE. `compared`: None for all, if they are not too many. `settings`: the
    other fields of MetaOptions. A criterion's ends are the lowest and highest rating there is.
    """
    problems = _unknown("--lower", lower, [*scores.names, *ratings.names])
    problems += [f"--scale {one}: write CRITERION=SCALE" for one in scales if "=" not in one]
    scale = dict(one.rpartition("=")[::2] for one in scales if "=" in one)
    problems += _unknown("--scale", scale, ratings.names)
    problems += [
        f"--scale {name}={kind}: no such scale; choose from {', '.join(SCALES)}"
        for name, kind in scale.items()
        if kind not in SCALES
    ]
    better = {name: _better(name, lower) for name in scores.names}
    directed = [name for name in scores.names if better[name] != "neither"]
    problems += _unknown("--compared", compared or [], directed)
    chosen, notes = _compared(scores, directed, compared)
    if compared is not None and len(chosen) < len(compared) and not problems:
        problems += notes
    try:
        options = parse(MetaOptions, {**settings, "compared": chosen}, where="meta-eval")
    except BadInput as error:
        problems += error.problems
    if problems:
        raise BadInput(problems)
    by_criterion = ratings.table.groupby("criterion")["value"]
    low, high = by_criterion.min().to_dict(), by_criterion.max().to_dict()
    criteria = {
        name: Criterion(
            low=low[name],
            high=high[name],
            better="lower" if name in lower else "higher",
            scale=scale.get(name, "interval"),  # type: ignore[arg-type] # checked above
        )
        for name in ratings.names
    }
    return Asked(better, criteria, options, [*_assumed(better, criteria, lower), *notes])


def overlap(scores: Given, ratings: Given) -> Overlap:
    """Count the systems' texts; raises BadInput, with ids of each file, if none is in both."""
    scored, rated = _texts(scores.table), _texts(ratings.table)
    both = len(scored.intersection(rated))
    if not both:
        raise BadInput(
            f"nothing to compare: no text (doc_id, system, part) is in both files."
            f" {scores.name} has {_examples(scored)}; {ratings.name} has {_examples(rated)};"
            " write them alike in both"
        )
    return Overlap(both, len(scored) - both, len(rated) - both)


def _texts(table: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table.loc[table["author"] != REFERENCE, TEXT]).unique()


def _examples(texts: pd.MultiIndex) -> str:
    shown_ones = ("/".join(shown(key) for key in text) for text in texts[:_EXAMPLES])
    return ", ".join(shown_ones) or "none by a system"


def _unknown(option: str, names: Iterable[str], known: Sequence[str]) -> list[str]:
    there = ", ".join(dict.fromkeys(known))
    return [
        f"{option} {name}: the files have no such name; there are: {there}"
        for name in names
        if name not in known
    ]


def _better(metric: str, lower: Sequence[str]) -> Better:
    if metric in lower:
        return "lower"
    return DESCRIPTIONS[metric].better if metric in DESCRIPTIONS else "higher"


def _compared(
    scores: Given, directed: Sequence[str], names: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """The metrics to compare with each other, and why none if they are too many."""
    wanted = list(dict.fromkeys(directed if names is None else names))
    mine = scores.table[scores.table["metric"].isin(wanted)]
    count = len(mine[["metric", "judge"]].drop_duplicates())
    if count <= LARGEST:
        return wanted, []
    return [], [
        f"{count} metrics are too many to compare with each other (significance, ensembles,"
        f" corrected means, conflicts): choose up to {LARGEST} with --compared NAME ..."
    ]


def _assumed(
    better: dict[str, Better], criteria: dict[str, Criterion], lower: Sequence[str]
) -> list[str]:
    def named(names: Iterable[str]) -> str:
        return ", ".join(names)

    neither = [name for name in better if better[name] == "neither"]
    known = [name for name in better if name in DESCRIPTIONS and name not in {*lower, *neither}]
    more = [name for name in better if name not in DESCRIPTIONS and better[name] == "higher"]
    people = [name for name, criterion in criteria.items() if criterion.better == "higher"]
    said = []
    if known:
        arrows = (f"{name} ({better[name]})" for name in known)
        said.append(f"direction known to Metassay: {named(arrows)}")
    if neither:
        said.append(f"neither better nor worse, so not ranked: {named(neither)}")
    if more:
        said.append(f"metrics taken for higher is better: {named(more)}")
    if people:
        said.append(f"criteria taken for higher is better: {named(people)}")
    if lower:
        said.append(f"lower is better, as you say: {named(dict.fromkeys(lower))}")
    if more or people:
        said.append("where lower is better, name it: --lower NAME ...")
    return said
