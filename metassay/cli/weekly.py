"""The commands of every week: `watch`, `sentinel` and `push`; flows/ does most of their work."""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

from metassay.cli.project import check_project, datasets_in, load_params
from metassay.cli.running import refresh_project, run_flows, words_of
from metassay.cli.terminal import folded
from metassay.core.errors import BadInput, Unfinished, collect_problems, raise_problems
from metassay.core.exit_codes import DONE, DRIFTED, FAILED, INCOMPLETE, WORSE
from metassay.core.kinds import choose
from metassay.core.options import PARAMS
from metassay.core.params import Params, load
from metassay.core.versions import DATASETS
from metassay.datasets.labels import label_problems
from metassay.datasets.registry import REGISTRY, Dataset, load_registry
from metassay.llm.endpoints import PUBLIC
from metassay.llm.needs import all_datasets
from metassay.project.validation import KINDS
from metassay.tracking.comparison.sides import Lock, has_scores, lock_text, parse_lock
from metassay.tracking.publishing import SERVERS, headline
from metassay.tracking.reevaluation import outcome
from metassay.tracking.reevaluation.outcome import accepted_file
from metassay.tracking.sentinel import anchors, checking
from metassay.tracking.sentinel.checking import DriftResult, FixedAnchors

_ACCEPT = "accept what is there now: `metassay watch accept {}`"


def reevaluate(args: argparse.Namespace) -> int:
    """Bring benchmarks up to date and compare them with their accepted numbers."""
    _require_scores(args.names, check_project(args.names))
    # Raise BadInput before hours of work whose numbers could not be compared or stored,
    # as after a merge, or where a benchmark was renamed.
    problems: list[str] = []
    for name in args.names:
        file = accepted_file(name)
        with collect_problems(problems):
            if file.exists() and not has_scores(lock_text(file), name, str(file)):
                problems.append(
                    f"{file}: has no scores of {name}; if the benchmark was renamed,"
                    f" delete the file, `metassay run {name}` and `metassay watch accept {name}`"
                )
            outcome.load(Path(), name)
    raise_problems(problems)
    refresh_project()
    words, environment = words_of(args)
    passed_on = (INCOMPLETE, WORSE, DRIFTED)
    return run_flows(words, environment, module="flows.reevaluate", passed_on=passed_on)


def accept(args: argparse.Namespace) -> int:
    """Accept the present numbers: later ones are compared with them."""
    _require_scores(args.names, check_project(args.names))
    words = list(args.names)
    if args.anyway:
        words.append("--anyway")
    return run_flows(words, dict(os.environ), module="flows.accept")


def schedule(args: argparse.Namespace) -> int:
    """Serve a schedule in place of this process: Ctrl-C must reach Prefect's runner itself."""
    _require_scores(args.names, check_project(args.names))
    when = (
        ["--interval", str(args.interval)]
        if args.cron is None
        else ["--cron", args.cron]
    )
    words, environment = words_of(args)
    words += [*when, "--timezone", args.timezone]
    sys.stdout.flush()
    command = [sys.executable, "-m", "flows.schedule", *words]
    os.execve(sys.executable, command, environment)


def _require_scores(names: list[str], params: Params) -> None:
    raise_problems(
        f"{Path('benchmarks', name)}: is a test, whose items have right answers; its numbers are"
        " compared with those; run it with `metassay run`"
        for name in names
        if name not in params.benchmarks
    )


# ---- the sentinel of LLM judges ----------------------------------------------------------------


def fix(args: argparse.Namespace) -> int:
    """Draw anchors, and measure how steady the judge's answers are."""
    params = load()
    console = Console()
    folder = checking.find_folder(params, args.name)
    for judge in checking.watchable_judges(params, folder, args.judge):
        options = {
            name: getattr(args, name)
            for name in ("anchors", "repeats", "seed", "replace")
        }
        _print_baseline(console, checking.fix(args.name, judge, **options))
    return 0


def check(args: argparse.Namespace) -> int:
    """Ask the anchors again, and print the result of each judge."""
    results = checking.check(Path(), args.name, args.judge)
    console = Console()
    heads = (
        "judge",
        "state",
        "answered",
        "failed",
        "changed",
        "expected",
        "shift",
        "at most",
    )
    table = folded(*heads, title=f"{args.name}: judges against their anchors")
    for result in results:
        table.add_row(*map(Text, _cells(result)))
    console.print(table)
    for result in results:
        console.print(result.sentence, markup=False, soft_wrap=True, highlight=False)
    console.print(
        f"every check so far: {anchors.drift_file(args.name)}", soft_wrap=True
    )
    if any(result.alarm for result in results):
        return DRIFTED
    return DONE if all(result.state == "no alarm" for result in results) else INCOMPLETE


def _print_baseline(console: Console, fixed: FixedAnchors) -> None:
    table = folded(
        "stored verdict", "answers", "other than stored", title=f"judge {fixed.judge}"
    )
    for verdict, answers, differ in fixed.baseline:
        share = f"{differ} ({100 * differ / answers:.1f} %)"
        table.add_row(*map(Text, (verdict, str(answers), share)))
    console.print(table)
    spent = fixed.spent
    paid = (
        f"paid at most {spent.at_most:.4f} {spent.currency}"
        if spent.currency
        else "no prices"
    )
    questions = f"{fixed.file}: {len(fixed.anchors)} questions; commit it"
    console.print(f"{questions}. {spent.calls} requests, {paid}", soft_wrap=True)


def _cells(drift: DriftResult) -> tuple[str, ...]:
    def shown(value: float | None, form: str = "d") -> str:
        return "" if value is None else format(value, form)

    bounds = f"{drift.high}; {drift.shift_low:+d} to {drift.shift_high:+d}"
    return (
        drift.judge,
        drift.state,
        f"{drift.answered} of {drift.anchors}",
        str(drift.failed),
        shown(drift.changed),
        shown(drift.expected, ".1f"),
        shown(drift.shift, "+d"),
        "" if drift.high is None else bounds,
    )


# ---- push: tables to a DVC remote, if their texts may go there, or numbers to a server ----------


def push(args: argparse.Namespace) -> int:
    """Push the named benchmarks, or raise BadInput with all that forbids it; or publish numbers."""
    names = list(dict.fromkeys(args.names))
    server, _, place = args.to.partition(":")
    if server in SERVERS and place:
        return _publish(names, server, place)
    params, registry = check_project(names), load_registry()
    raise_problems(
        p for name in names for p in _problems(name, args.to, params, registry)
    )
    words = [args.to, *names]
    return run_flows(words, dict(os.environ), module="flows.push", passed_on=(FAILED,))


def _publish(names: list[str], server: str, place: str) -> int:
    """Send headline numbers, if those of every benchmark exist."""
    load_params(names)
    try:
        for name, numbers in {name: headline(name, Path()) for name in names}.items():
            run = SERVERS[server](name, *numbers, place)
            print(f"{name}: {len(numbers[0])} numbers, run {run}")
    except Unfinished as error:
        print(error, file=sys.stderr)
        return FAILED
    return 0


def _problems(
    name: str, remote: str, params: Params, registry: dict[str, Dataset]
) -> Iterable[str]:
    folder = params.data_of(name)
    datasets = datasets_in(folder, params)
    allowed = {PUBLIC, *params.remotes.get(remote, [])}

    def refusal(tables: str, dataset: str, access: str) -> str:
        return (
            f"{name}: its {tables} hold text of dataset {dataset!r}, which is {access}: they do not"
            f" go to DVC's remote {remote!r}. If they may, add {access!r} to {PARAMS} > remotes >"
            f" {remote}"
        )

    today = [(dataset, str(registry[dataset].access)) for dataset in datasets]
    yield from (refusal("tables", *pair) for pair in today if pair[1] not in allowed)
    yield from label_problems(registry, datasets, [(folder.dataset, Path(folder.raw))])
    for dataset, access in _accepted_classes(name, registry):
        if access not in allowed and (dataset, access) not in today:
            yield f"{refusal('accepted tables', dataset, access)}; else {_ACCEPT.format(name)}"


def _accepted_classes(
    name: str, registry: Mapping[str, Dataset]
) -> list[tuple[str, str]]:
    """Return the datasets whose texts the accepted tables may hold, with their access
    classes: of the time of acceptance, and of today. A dataset with neither is private.
    """
    file = accepted_file(name)
    if not file.is_file():
        return []
    try:
        recorded = classes_in(parse_lock(lock_text(file), str(file)))
        raise_problems([] if recorded else [f"{file}: names no dataset"])
    except BadInput as error:
        unknown = f"so it is not known whose texts the tables of {file} hold"
        remedy = f"{unknown}; {_ACCEPT.format(name)}"
        raise BadInput(f"{line}; {remedy}" for line in error.problems) from error
    classes = []
    for dataset, stored in recorded.items():
        today = {str(registry[dataset].access)} if dataset in registry else set()
        classes += [
            (dataset, access) for access in sorted(stored | today or {"private"})
        ]
    return classes


def classes_in(lock: Lock) -> dict[str, set[str]]:
    """Return the datasets whose texts the tables of a lock may hold, with their access
    classes at that time, if the lock has them. Raises BadInput for unknown blocks.
    """
    params = [stage.get("params") or {} for stage in lock["stages"].values()]
    datasets: dict[str, set[str]] = {}
    kinds = []
    for files in params:
        for key, entry in files.get(str(REGISTRY), {}).items():
            classes = datasets.setdefault(key.removeprefix(f"{DATASETS}."), set())
            if isinstance(entry, dict) and "access" in entry:
                classes.add(str(entry["access"]))
        for key, options in files.get(str(PARAMS), {}).items():
            block, _, name = key.partition(".")
            if name and block in KINDS:
                where = f"{PARAMS} > {block} > {name}"
                kinds.append(choose(KINDS[block], options, where=where))
    names = dict.fromkeys([*all_datasets(kinds), *datasets])
    return {name: datasets.get(name, set()) for name in names}
