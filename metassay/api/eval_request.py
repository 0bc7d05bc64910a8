"""What to do with the two files: directions, criteria and options, from the caller's words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from metassay.api.columns import LISTED, Given, Named
from metassay.core.errors import collect_problems, hint, raise_problems, shown
from metassay.core.options import Criterion, parse
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.meta_evaluation.study import Better
from metassay.scoring.catalogue import descriptions
from metassay.statistics.limits import CRITERIA, LARGEST, TESTED
from metassay.tabular.infer_columns import listed
from metassay.tabular.scales import Direction, Scales, direction, direction_lines

DEFAULTS: dict[str, int | float] = {"resamples": 1000, "confidence": 0.95, "seed": 0}


class Wanted(NamedTuple):
    """The caller's words, before any file is looked at.

    `better`: by `lower` and `higher`, metrics and criteria of which less, or more, is better; a
    name that is both is taken for both. `scale`: of criteria, by name. `compared`: None for all, if
    they are not too many. `confounds`: columns of SCORES that explain, and are not ranked.
    `settings`: the other fields of MetaOptions, and those of CertificationOptions. Messages name
    the options of the command line; metassay/api/arguments.py tells them of Python's arguments.
    """

    named: Named
    better: Mapping[str, Sequence[str]]
    scale: Mapping[str, str]
    compared: Sequence[str] | None
    confounds: Sequence[str]
    settings: Mapping[str, Any]

    @property
    def all_names(self) -> Named:
        """What columns are called, with the metrics and criteria that options name."""
        named = [name for names in self.better.values() for name in names]
        named += [*self.scale, *(self.compared or ()), *self.confounds]
        primary = self.settings.get("primary")
        return self.named._replace(values=(*named, *([primary] if primary else [])))

    @property
    def directions(self) -> dict[str, Sequence[str]]:
        """What the caller says of directions."""
        return {**self.better, "neither": self.confounds}


class Asked(NamedTuple):
    """All that `evaluate` and `certificates` need beside the two tables."""

    better: dict[str, Better]  # of each metric
    criteria: dict[str, Criterion]
    options: MetaOptions
    certification: CertificationOptions
    notes: list[str]  # what was assumed


def asked(scores: Given | None, ratings: Given, wanted: Wanted, scales: Scales) -> Asked:
    """Check the words against the files; raises BadInput with every word that does not fit.

    A criterion's ends are the lowest and highest rating there is, unless they are said.
    """
    metrics = scores.names if scores is not None else []
    problems = _misfits(metrics, ratings, wanted)
    known = {name: one.better for name, one in descriptions().items()}
    found = {name: direction([name], wanted.directions, known) for name in metrics}
    rated = {name: direction([name], wanted.better, {}, criterion=True) for name in ratings.names}
    problems += _unclear(scores, found, wanted) + _unclear(ratings, rated, wanted)
    better = {name: cast(Better, one.better) for name, one in found.items()}
    directed = [name for name in metrics if better[name] != "neither"]
    problems += _unknown("--compared", wanted.compared or [], directed)
    chosen, notes = _compared(scores, directed, wanted)
    if wanted.compared is not None and len(chosen) < len(set(wanted.compared)) and not problems:
        problems += notes
    with collect_problems(problems):
        options, certification = _options(wanted, chosen)
    raise_problems(problems)
    by_criterion = ratings.table.groupby("criterion")["value"]
    low, high = by_criterion.min().to_dict(), by_criterion.max().to_dict()
    words = {name: (1.0, float(len(grades))) for name, grades in scales.words.items()}
    ends = {name: (low[name], high[name]) for name in ratings.names} | scales.ranges | words
    criteria = {
        name: Criterion(
            low=ends[name][0],
            high=ends[name][1],
            better="lower" if rated[name].better == "lower" else "higher",
            scale=cast(Any, scales.kinds.get(name, "ordinal" if name in words else "interval")),
        )
        for name in ratings.names
    }
    notes = [*direction_lines(found, "metrics"), *direction_lines(rated, "criteria"), *notes]
    return Asked(better, criteria, options, certification, notes)


def _options(wanted: Wanted, compared: Sequence[str]) -> tuple[MetaOptions, CertificationOptions]:
    """The caller's settings, each among the options that know it; BadInput names all faults."""
    settings = {**DEFAULTS, **wanted.settings}
    settings |= {"compared": compared, "confounds": list(dict.fromkeys(wanted.confounds))}
    verdicts = {n: settings.pop(n) for n in CertificationOptions.model_fields if n in settings}
    made: list[Any] = []
    problems: list[str] = []
    for kind, mine in ((MetaOptions, settings), (CertificationOptions, verdicts)):
        with collect_problems(problems):
            made.append(parse(kind, mine, where="meta-eval"))
    raise_problems(problems)
    return made[0], made[1]


def _misfits(metrics: Sequence[str], ratings: Given, wanted: Wanted) -> list[str]:
    criteria, problems = ratings.names, list[str]()
    if len(criteria) > CRITERIA or len(criteria) * len(metrics) > TESTED:
        problems.append(
            f"{ratings.name}: has {len(criteria):,} criteria, beside {len(metrics):,} metrics; the"
            f" most are {CRITERIA} criteria, and {TESTED:,} pairs of a metric and a criterion;"
            " leave columns out, or, if these are raters, name them in a column 'rater'"
        )
    for option, names in wanted.better.items():
        problems += _unknown(f"--{option}", names, [*metrics, *criteria])
    problems += _unknown("--scale", wanted.scale, criteria)
    problems += _unknown("--confound", wanted.confounds, metrics)
    problems += _unknown("--primary", filter(None, [wanted.settings.get("primary")]), metrics)
    fix = "a confound is neither better nor worse, so remove one of the two"
    problems += [
        f"--confound {shown(name)}: --{option} names it, too; {fix}"
        for option, names in wanted.better.items()
        for name in wanted.confounds
        if name in names
    ]
    if metrics and not set(metrics) - set(wanted.confounds):
        problems.append("--confound: every column of scores is a confound; leave a metric")
    return problems


def _unknown(option: str, names: Iterable[str], known: Sequence[str]) -> list[str]:
    what = "no metric or criterion is called so; there are"
    there = listed(dict.fromkeys(known), LISTED) or "none"
    each = [name for name in names if name not in known]
    return [f"{option} {shown(name)}: {what}: {there}{hint(name, known)}" for name in each]


def _unclear(given: Given | None, found: Mapping[str, Direction], wanted: Wanted) -> list[str]:
    """What nothing tells, or what is told twice."""
    return [
        f"{given.name}: {what}; {fix}"
        for name, one in found.items()
        if given is not None and one.problem and name not in wanted.confounds
        for what, fix in [one.problem]
    ]


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
    what = "so the tables of significance, ensembles, corrected means and conflicts are empty"
    fix = f"choose up to {LARGEST} with --compared NAME"
    return [], [f"{count} metrics are too many to compare with each other, {what}; {fix}"]
