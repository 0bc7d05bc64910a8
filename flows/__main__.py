"""`python -m flows NAME... [--jobs N] [--no-prefect | --prefect-api URL]`: for `metassay run`.

`--ask-again` runs stages that lack answers of language models, although nothing
changed. `--only report` is for `metassay run --only report`: that stage alone, although
nothing changed. With `--dag FILE`, names are of stages in this dvc.yaml, which belong to no
benchmark; what they need is not run.
"""

import argparse
import gc
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from flows.ending import Ending
from flows.surroundings import CREDENTIALS, exit_code, set_up
from metassay.core import parent_watch
from metassay.core.errors import BadInput, raise_problems
from metassay.core.exit_codes import FAILED
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.stages import TABLES

if TYPE_CHECKING:
    from flows.dag import Plan
    from flows.prefect_server import RunStages, Server
    from flows.workers import Workers

# Follows the stages while no other run can start: arguments, plan, failed stages ->
# exit code.
Then = Callable[[argparse.Namespace, "Plan", list[str]], int]


class _Stopped(Exception):  # noqa: N818 - reads as what happened
    """The run ends early; its Ending has the reason."""


def main(then: Then = lambda _args, _plan, failed: FAILED if failed else 0) -> int:
    """Run; return 0 if all is up to date, 1 if a stage failed, 2 if refused, 130 if interrupted."""
    # Imports leave no garbage, and looking for it often takes a tenth of a short run.
    gc.set_threshold(50_000, 20, 100)
    parser = argparse.ArgumentParser(prog="python -m flows", description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-prefect", action="store_true")
    parser.add_argument("--prefect-api", metavar="URL")
    parser.add_argument("--ask-again", action="store_true")
    parser.add_argument("--only", choices=["report"], help="without Prefect")
    parser.add_argument(
        "--dag", metavar="FILE", help="a dvc.yaml whose stages NAME names"
    )
    parser.add_argument(
        "--wait", action="store_true", help="until a byte comes on stdin"
    )
    ending = Ending()
    ending.listen()
    parent_watch.watch(ending.interrupt)
    chosen = parser.parse_args()
    try:
        return ending.finish(exit_code(lambda: _run(Path.cwd(), chosen, ending, then)))
    except _Stopped:
        ending.leave()
        raise


def _run(root: Path, chosen: argparse.Namespace, ending: Ending, then: Then) -> int:
    # Slow imports come late, while other processes work, or not at all.
    if not chosen.wait:
        _print_start(chosen)
    from flows.recovery import (
        UNFINISHED,
        lock_benchmarks,
        lock_project,
        mark_up_to_date,
        seems_stale,
    )

    unused = set_up(root, keep=CREDENTIALS if chosen.prefect_api else ())
    names = () if chosen.dag else chosen.names
    with lock_project(root) as locks, ExitStack() as stack:
        server: Callable[[], Server] = cache(
            lambda: _server(root, locks, unused, ending, stack)
        )
        if early := seems_stale(root, names) and _has_server(chosen):
            server()
        from dvc.repo.index import Index  # noqa: F401 - for `dag.plan`

        from flows.watch import Watch
        from flows.workers import Workers

        if chosen.wait:
            os.read(0, 1)
            _print_start(chosen)
        more = stack.enter_context(lock_benchmarks(root, names))
        workers = Workers(root, [*locks, *more], chosen.jobs)
        if early:
            workers.start()
        elif seems_stale(root, names) and _has_server(chosen):
            server()  # versions.yaml was saved since
        plan = _plan(root, chosen)
        _close_tables(plan)
        with Watch(plan) as watch:
            failed: list[str] = []
            if plan.stale:
                _check_packages(root, plan)
                with _runner(chosen, server, ending) as run:
                    failed = _run_stages(
                        ending,
                        workers,
                        partial(run, root, workers, watch, jobs=chosen.jobs),
                    )
        workers.close()
        code = then(chosen, plan, failed)
        if not failed and not chosen.only:
            mark_up_to_date(root, names)
    if workers.lost:
        (root / UNFINISHED).touch()  # the next run repairs
    return code


def _close_tables(plan: "Plan") -> None:
    """Give tables of datasets that are not public to their owner only.

    Plain DVC may have fetched files there.
    """
    closed = {stage.benchmark for stage in plan.stages.values() if stage.closed}
    for name in closed - {""}:
        from stages.doorway import close_all  # imports pandas, and few runs need it

        close_all(name)


def _run_stages(ending: Ending, workers: "Workers", run: "RunStages") -> list[str]:
    ending.end_first(workers)
    # In a thread, so that this one can take signals: Prefect catches SIGTERM.
    with ThreadPoolExecutor(max_workers=1) as thread:
        running = thread.submit(run)
    if ending.code:
        raise _Stopped
    return running.result()


def _print_start(chosen: argparse.Namespace) -> None:
    print(
        f"looking for what changed in {', '.join(chosen.names)}",
        file=sys.stderr,
        flush=True,
    )


def _plan(root: Path, chosen: argparse.Namespace) -> "Plan":
    from flows import dag

    if chosen.dag:
        more = [f"{chosen.dag}:{name}" for name in chosen.names]
        plan = dag.plan(root, [], more=more)
        _warn_of_stale(root, plan)
        return plan
    full = dag.plan(root, chosen.names, ask=not chosen.only, again=chosen.ask_again)
    if not chosen.only:
        return full
    plan = dag.only(root, full, chosen.only)
    behind = len(full.stale - plan.stale)
    if behind:  # it would show new names beside old numbers
        names = " ".join(chosen.names)
        raise BadInput(
            f"{behind} stage(s) before it are not up to date; run `metassay run {names}`, which"
            " brings all of them up to date, the report too"
        )
    return plan


def _check_packages(root: Path, plan: "Plan") -> None:
    """Raise BadInput if a stage that will run needs a package that is not installed.

    Else it would say so after hours, when the stages before it have been paid for.
    """
    from metassay.core.kinds import choose
    from metassay.core.params import load
    from metassay.llm.needs import packages_lacking
    from metassay.project.validation import KINDS

    params = load(root)
    keys: set[str] = set()
    for stage in (plan.stages[address] for address in plan.stale):
        keys.update(stage.blocks)
        if "metrics" in stage.blocks:  # all cheap ones are measured in one stage
            names = getattr(params.every.get(stage.benchmark), "metrics", ())
            keys.update(f"metrics.{name}" for name in names)
    problems: list[str] = []
    for key in sorted(keys):
        block, _, name = key.partition(".")
        if block in KINDS and name in getattr(params, block):
            where = f"{PARAMS} > {block} > {name}"
            chosen = choose(KINDS[block], getattr(params, block)[name], where=where)
            problems += [
                f"{where}: {package} is not installed; {remedy}"
                for package, remedy in packages_lacking(chosen).items()
            ]
    raise_problems(problems)


def _warn_of_stale(root: Path, plan: "Plan") -> None:
    """Name the benchmarks whose tables these stages read and that are not up to date.

    No table is made for such a stage, since that may take hours or money.
    """
    from flows import dag

    tables = Path(TABLES)
    paths = [Path(path) for stage in plan.stages.values() for path in stage.reads]
    read = {
        path.relative_to(tables).parts[0] for path in paths if tables in path.parents
    }
    names = sorted(
        name for name in read if (root / BENCHMARKS / name / PARAMS.name).exists()
    )
    if not names:
        return
    of_benchmarks = dag.plan(root, names, ask=False)
    stale = {of_benchmarks.stages[address].benchmark for address in of_benchmarks.stale}
    shown = " ".join(sorted(stale - {""}))
    if shown:
        print(
            f"drawn from tables that are not up to date: {shown.replace(' ', ', ')};"
            f" `metassay run {shown}` brings them up to date",
            file=sys.stderr,
        )


def _has_server(chosen: argparse.Namespace) -> bool:
    return not (chosen.no_prefect or chosen.only or chosen.prefect_api)


def _server(
    root: Path, locks: list[int], unused: list[str], ending: Ending, stack: ExitStack
) -> "Server":
    """Start the server; closing the stack ends it."""
    from flows import prefect_server

    if unused:
        print(
            f"not used: {', '.join(unused)}; a run has its own Prefect server"
            " (another: --prefect-api URL)",
            file=sys.stderr,
        )
    server = prefect_server.Server(
        root, locks, lambda: ending.end(FAILED, prefect_server.LOST)
    )
    stack.callback(server.drop)
    return server


def _runner(
    chosen: argparse.Namespace, server: Callable[[], "Server"], ending: Ending
) -> "AbstractContextManager[RunStages]":
    """Return what runs the stages: a function of the root, the workers, the watch and `jobs`."""
    from flows import plain, prefect_server

    if chosen.prefect_api and not (chosen.no_prefect or chosen.only):
        return prefect_server.run_at(chosen.prefect_api, ending.drop_reports)
    return (
        prefect_server.run_with(server())
        if _has_server(chosen)
        else nullcontext(plain.run)
    )


if __name__ == "__main__":
    sys.exit(main())
