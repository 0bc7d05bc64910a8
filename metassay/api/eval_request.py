"""Check the caller's options against the two files: directions, criteria, settings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from metassay.api.columns import LISTED, ONLY, InputTable, Roles
from metassay.core.errors import hint, quoted, raise_problems
from metassay.core.options import (
    Criterion,
    OptionFault,
    find_contradictions,
    find_option_faults,
)
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.meta_evaluation.study import Better
from metassay.statistics.limits import CRITERIA, LARGEST, TESTED
from metassay.tables import known_metrics
from metassay.tabular.columns import directions_in
from metassay.tabular.guess import listed
from metassay.tabular.option_words import Caller
from metassay.tabular.rankings import find_rankings
from metassay.tabular.rows import Findings
from metassay.tabular.scales import (
    Direction,
    Scales,
    direction,
    direction_lines,
    directions_of_cells,
)

DEFAULTS: dict[str, int | float] = {"resamples": 1000, "confidence": 0.95, "seed": 0}


class EvalRequest(NamedTuple):
    """The caller's options, before any file is read.

    `better`: metrics and criteria by `lower` and `higher`; a name that is both is taken
    for both. `scale`: by criterion. `compared`: None for all, if they are not too many.
    `confounds`: columns of SCORES that may explain a metric and are not ranked.
    `settings`: the other fields of MetaOptions, and those of CertificationOptions.
    `caller`: who reads messages.
    """

    roles: Roles
    better: Mapping[str, Sequence[str]]
    scale: Mapping[str, str]
    compared: Sequence[str] | None
    confounds: Sequence[str]
    settings: Mapping[str, Any]
    caller: Caller = Caller.TERMINAL

    @property
    def all_names(self) -> Roles:
        """The names of columns, with the metrics and criteria that options name."""
        names = [name for names in self.better.values() for name in names]
        names += [*self.scale, *(self.compared or ()), *self.confounds]
        names += [*self.named("primary"), *self.named("primary_criterion")]
        names += self.named("fitted")
        return self.roles._replace(values=tuple(names))

    def named(self, setting: str) -> list[str]:
        """Return the names that a setting gives."""
        value = self.settings.get(setting) or []
        return [value] if isinstance(value, str) else list(value)


class EvalSettings(NamedTuple):
    """What `evaluate` and `certificates` need beside the two tables."""

    better: dict[str, Better]  # of each metric
    criteria: dict[str, Criterion]
    options: MetaOptions
    certification: CertificationOptions
    notes: list[str]  # what was assumed


def check_request(
    scores: InputTable | None, ratings: InputTable, request: EvalRequest, scales: Scales
) -> EvalSettings:
    """Check the options against the files; raises BadInput with every option that does not fit.

    A criterion ranges from its lowest to its highest rating, unless `scale` gives the
    ends.
    """
    metrics = scores.names if scores is not None else []
    problems = _check_names(metrics, ratings, request)
    usual = known_metrics.METRICS | known_metrics.RELEASED
    better_or_none = {**request.better, "neither": request.confounds}
    by_file = _directions_of(scores, problems)
    caller = request.caller
    cells = {} if scores is None else _guess_directions(scores, "metric", ["judge"])
    scored = {
        name: direction(
            [name],
            better_or_none,
            usual,
            by_file=by_file,
            by_cells=cells,
            caller=caller,
        )
        for name in metrics
    }
    of_people = _guess_directions(ratings, "criterion", ["study", "rater"])
    rated = {
        name: direction(
            [name],
            request.better,
            {},
            by_cells=of_people,
            criterion=True,
            caller=caller,
        )
        for name in ratings.names
    }
    problems += [
        f"{file.name}: {'; '.join(value.problem)}"
        for file, directions in ((scores, scored), (ratings, rated))
        for name, value in directions.items()
        if file is not None and value.problem and name not in request.confounds
    ]
    better = {name: cast(Better, scored[name].better) for name in metrics}
    directed = [name for name in metrics if better[name] != "neither"]
    problems += _find_unknown(caller, "compared", request.compared or [], directed)
    chosen, notes = _compared(scores, directed, request)
    if (
        request.compared is not None
        and len(chosen) < len(set(request.compared))
        and not problems
    ):
        problems += notes
    settings = {**DEFAULTS, **request.settings, "compared": chosen}
    settings["confounds"] = list(dict.fromkeys(request.confounds))
    fields = [name for name in CertificationOptions.model_fields if name in settings]
    certifying = {name: settings.pop(name) for name in fields}
    faults = find_option_faults(MetaOptions, settings)
    if not faults:
        options = MetaOptions.model_validate(settings)
        faults += find_contradictions(options.primary, options.tried, options.fitted)
    faults += find_option_faults(CertificationOptions, certifying)
    problems += [_describe(fault, caller) for fault in faults]
    raise_problems(problems)
    certification = CertificationOptions.model_validate(certifying)
    by_criterion = ratings.table.groupby("criterion")["value"]
    low, high = by_criterion.min().to_dict(), by_criterion.max().to_dict()
    words = {name: (1.0, float(len(grades))) for name, grades in scales.words.items()}
    ends = (
        {name: (low[name], high[name]) for name in ratings.names}
        | scales.ranges
        | words
    )
    criteria = {
        name: Criterion(
            low=ends[name][0],
            high=ends[name][1],
            better="lower" if rated[name].better == "lower" else "higher",
            scale=cast(
                Any, scales.kinds.get(name, "ordinal" if name in words else "interval")
            ),
        )
        for name in ratings.names
    }
    notes = [
        *direction_lines(scored, "metrics"),
        *direction_lines(rated, "criteria"),
        *notes,
    ]
    return EvalSettings(better, criteria, options, certification, notes)


def _describe(fault: OptionFault, caller: Caller) -> str:
    """Write what is wrong with a setting as a problem of the option that sets it."""
    setting, *inner = fault.keys
    option = caller.option(setting.replace("_", "-"))
    return f"{' '.join([option, *inner])}: {fault.text}"


def _guess_directions(
    file: InputTable, name: str, scorer: Sequence[str]
) -> dict[str, Direction]:
    """Return the directions that the cells of a file tell: passes, and ranks."""
    rankings, likely = find_rankings(file.table, name, ["doc_id", "part", *scorer])
    unnamed = {ONLY} - {*file.cells.columns, *file.table.get("metric", ())}
    return directions_of_cells(
        file.verdicts, rankings, unnamed, likely, file.cells.caller
    )


def _directions_of(scores: InputTable | None, problems: list[str]) -> dict[str, str]:
    if scores is None:
        return {}
    faults = Findings()
    directions = directions_in(scores.cells, scores.keys.get("metric"), faults)
    problems += faults.lines()
    return directions


def _check_names(
    metrics: Sequence[str], ratings: InputTable, request: EvalRequest
) -> list[str]:
    criteria, problems, caller = ratings.names, list[str](), request.caller
    if len(criteria) > CRITERIA or len(criteria) * len(metrics) > TESTED:
        problems.append(
            f"{ratings.name}: has {len(criteria):,} criteria, beside {len(metrics):,} metrics; the"
            f" most are {CRITERIA} criteria, and {TESTED:,} pairs of a metric and a criterion;"
            " leave columns out, or, if these are raters, name them in a column 'rater'"
        )
    for option, names in request.better.items():
        problems += _find_unknown(caller, option, names, [*metrics, *criteria])
    for option, names, known in (
        ("scale", list(request.scale), criteria),
        ("confound", request.confounds, metrics),
        ("primary", request.named("primary"), metrics),
        ("primary-criterion", request.named("primary_criterion"), criteria),
        ("fitted", request.named("fitted"), metrics),
    ):
        problems += _find_unknown(caller, option, names, known)
    fix = "a confound is neither better nor worse, so remove one of the two"
    problems += [
        f"{caller.option('confound', blank=quoted(name))}: {caller.option(option)} names"
        f" it, too; {fix}"
        for option, names in request.better.items()
        for name in request.confounds
        if name in names
    ]
    if metrics and not set(metrics) - set(request.confounds):
        option = caller.option("confound")
        problems.append(
            f"{option}: every column of scores is a confound; leave a metric"
        )
    return problems


def _find_unknown(
    caller: Caller, option: str, names: Iterable[str], known: Sequence[str]
) -> list[str]:
    what = "no metric or criterion has this name; there are"
    all_known = listed(dict.fromkeys(known), LISTED) or "none"
    return [
        f"{caller.option(option, blank=quoted(name))}: {what}: {all_known}{hint(name, known)}"
        for name in names
        if name not in known
    ]


def _compared(
    scores: InputTable | None, directed: Sequence[str], request: EvalRequest
) -> tuple[list[str], list[str]]:
    """Return the metrics to compare with each other, and a note if they are too many."""
    names = list(
        dict.fromkeys(directed if request.compared is None else request.compared)
    )
    if scores is None:
        return [], []
    rows = scores.table[scores.table["metric"].isin(names)]
    count = len(rows[["metric", "judge"]].drop_duplicates())
    if count <= LARGEST:
        return names, []
    what = "so the tables of significance, ensembles, corrected means and conflicts are empty"
    option = request.caller.option("compared", blank="NAME")
    fix = f"choose up to {LARGEST} with {option}"
    return [], [
        f"{count} metrics are too many to compare with each other, {what}; {fix}"
    ]
