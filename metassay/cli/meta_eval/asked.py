"""What to do with the two files: directions, criteria and options, from the caller's words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from metassay.cli.meta_eval.arguments import SCALES
from metassay.cli.meta_eval.columns import LISTED
from metassay.cli.meta_eval.given import Given
from metassay.cli.meta_eval.named import Named
from metassay.cli.meta_eval.naming import meant
from metassay.errors import BadInput, shown
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.meta_evaluation.study import Better
from metassay.metrics.catalogue import descriptions
from metassay.options import Criterion, parse
from metassay.statistics.sizes import CRITERIA, LARGEST, TESTED

DEFAULTS: dict[str, int | float] = {"resamples": 1000, "confidence": 0.95, "seed": 0}


class Wanted(NamedTuple):
    """The caller's words, before any file is looked at.

    `lower`: metrics and criteria of which less is better; a name that is both is taken for both.
    `scale`: of criteria, by name. `compared`: None for all, if they are not too many. `confounds`:
    columns of SCORES that explain, and are not ranked. `settings`: the other fields of
    MetaOptions, and those of CertificationOptions. `mark` leads an option's name in messages.
    """

    named: Named
    lower: Sequence[str]
    scale: Mapping[str, str]
    compared: Sequence[str] | None
    confounds: Sequence[str]
    settings: Mapping[str, Any]
    mark: str = ""


class Asked(NamedTuple):
    """All that `evaluate` and `certificates` need beside the two tables."""

    better: dict[str, Better]  # of each metric
    criteria: dict[str, Criterion]
    options: MetaOptions
    certification: CertificationOptions
    notes: list[str]  # what was assumed


def asked(scores: Given | None, ratings: Given, wanted: Wanted) -> Asked:
    """Check the words against the files; raises BadInput with every word that does not fit.

    A criterion's ends are the lowest and highest rating there is.
    """
    metrics = scores.names if scores is not None else []
    problems = [*_too_many(metrics, ratings), *_misfits(metrics, ratings.names, wanted)]
    better = {name: _better(name, wanted) for name in metrics}
    directed = [name for name in metrics if better[name] != "neither"]
    problems += _unknown(f"{wanted.mark}compared", wanted.compared or [], directed)
    chosen, notes = _compared(scores, directed, wanted)
    if wanted.compared is not None and len(chosen) < len(set(wanted.compared)) and not problems:
        problems += notes
    try:
        options, certification = _options(wanted, chosen)
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
            better="lower" if name in wanted.lower else "higher",
            scale=cast(Any, wanted.scale.get(name, "interval")),
        )
        for name in ratings.names
    }
    notes = [*_assumed(better, criteria, wanted), *notes]
    return Asked(better, criteria, options, certification, notes)


def _options(wanted: Wanted, compared: Sequence[str]) -> tuple[MetaOptions, CertificationOptions]:
    """The caller's settings, each among the options that know it; BadInput names all faults."""
    settings = {**DEFAULTS, **wanted.settings}
    settings |= {"compared": compared, "confounds": list(dict.fromkeys(wanted.confounds))}
    verdicts = {n: settings.pop(n) for n in CertificationOptions.model_fields if n in settings}
    made: list[Any] = []
    problems: list[str] = []
    for kind, mine in ((MetaOptions, settings), (CertificationOptions, verdicts)):
        try:
            made.append(parse(kind, mine, where="meta-eval"))
        except BadInput as error:
            problems += error.problems
    if problems:
        raise BadInput(problems)
    return made[0], made[1]


def _misfits(metrics: Sequence[str], criteria: Sequence[str], wanted: Wanted) -> list[str]:
    mark = wanted.mark
    confounds = f"{mark}confound" if mark else "confounds"
    problems = _unknown(f"{mark}lower", wanted.lower, [*metrics, *criteria])
    problems += _unknown(f"{mark}scale", wanted.scale, criteria)
    problems += [
        f"{mark}scale {name}={kind}: no such scale; choose from {', '.join(SCALES)}"
        for name, kind in wanted.scale.items()
        if kind not in SCALES
    ]
    problems += _unknown(confounds, wanted.confounds, metrics)
    primary = wanted.settings.get("primary")
    problems += _unknown(f"{mark}primary", [primary] if primary else [], metrics)
    problems += [
        f"{confounds} {name}: is named in {mark}lower too; a confound is neither better nor worse,"
        " so remove one of the two"
        for name in wanted.confounds
        if name in wanted.lower
    ]
    if metrics and not set(metrics) - set(wanted.confounds):
        problems.append(f"{confounds}: every column of scores is a confound; leave a metric")
    return problems


def _too_many(metrics: Sequence[str], ratings: Given) -> Iterator[str]:
    criteria = len(ratings.names)
    if criteria > CRITERIA or criteria * len(metrics) > TESTED:
        yield (
            f"{ratings.name}: has {criteria:,} criteria, beside {len(metrics):,} metrics; the most"
            f" are {CRITERIA} criteria, and {TESTED:,} pairs of a metric and a criterion; leave"
            " columns out, or, if these are raters, name them in a column 'rater'"
        )


def _unknown(option: str, names: Iterable[str], known: Sequence[str]) -> list[str]:
    listed = list(dict.fromkeys(known))
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    there = (", ".join(map(shown, listed[:LISTED])) or "none") + more
    return [
        f"{option} {shown(name)}: the files have no such name; there are:"
        f" {there}{meant(name, known)}"
        for name in names
        if name not in known
    ]


def _better(metric: str, wanted: Wanted) -> Better:
    if metric in wanted.confounds:
        return "neither"
    if metric in wanted.lower:
        return "lower"
    return descriptions()[metric].better if metric in descriptions() else "higher"


def _compared(
    scores: Given | None, directed: Sequence[str], wanted: Wanted
) -> tuple[list[str], list[str]]:
    """The metrics to compare with each other, and why none if they are too many."""
    names = list(dict.fromkeys(directed if wanted.compared is None else wanted.compared))
    if scores is None:
        return [], []
    mine = scores.table[scores.table["metric"].isin(names)]
    count = len(mine[["metric", "judge"]].drop_duplicates())
    if count <= LARGEST:
        return names, []
    how = "--compared NAME" if wanted.mark else "compared=[...]"
    return [], [
        f"{count} metrics are too many to compare with each other, so nothing is said of"
        f" significance, ensembles, corrected means and conflicts: choose up to {LARGEST} with"
        f" {how}"
    ]


def _assumed(
    better: dict[str, Better], criteria: dict[str, Criterion], wanted: Wanted
) -> list[str]:
    lower, confounds = dict.fromkeys(wanted.lower), dict.fromkeys(wanted.confounds)

    def named(names: Iterable[str]) -> str:
        return ", ".join(names)

    neither = [name for name in better if better[name] == "neither" and name not in confounds]
    known = [name for name in better if name in descriptions()]
    known = [name for name in known if name not in {*lower, *neither, *confounds}]
    more = [name for name in better if name not in descriptions() and better[name] == "higher"]
    people = [name for name, criterion in criteria.items() if criterion.better == "higher"]
    arrows = (f"{name} ({better[name]})" for name in known)
    said = [
        f"{what}: {names}"
        for what, names in (
            ("Metassay knows the direction of", named(arrows)),
            ("not ranked, as neither end is better", named(neither)),
            ("not ranked, as you call them confounds", named(confounds)),
            ("metrics taken for higher is better", named(more)),
            ("criteria taken for higher is better", named(people)),
            ("lower is better, as you say", named(lower)),
        )
        if names
    ]
    if more or people:
        said.append(f"where lower is better, name it: {'--lower NAME' if wanted.mark else 'lower'}")
    return said
