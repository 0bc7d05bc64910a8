"""`python -m flows NAME... [--jobs N] [--no-prefect | --prefect-api URL]`: of `metassay run`.

`--ask-again` runs stages that lack answers of language models, although nothing changed.

`--only report` is of `metassay run --only report`: that stage alone, although nothing changed.
`--figures` is what `metassay figures` starts: names are of papers then.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from flows.ending import Ending
from flows.surroundings import CREDENTIALS, exit_code, set_up
from metassay.core import parent_watch
from metassay.core.errors import BadInput
from metassay.core.exit_codes import FAILED
from metassay.core.options import BENCHMARKS, PARAMS

if TYPE_CHECKING:
    from flows.dag import Plan
    from flows.prefect_server import Server, Way
    from flows.workers import Workers

# What follows the stages, while no other run may begin: what was chosen, the plan, and the stages
# that did not succeed; the exit code.
Then = Callable[[argparse.Namespace, "Plan", list[str]], int]


class _Stopped(Exception):  # noqa: N818 - reads as what happened
    """The run ends before its time; its Ending says why."""


def _end(chosen: argparse.Namespace, plan: "Plan", failed: list[str]) -> int:  # noqa: ARG001
    return FAILED if failed else 0


def main(then: Then = _end) -> int:
    """Run; 0 if every report is up to date, 1 if a stage failed, 2 if the project cannot be run as
    it is or there is no Prefect to run with, 130 if it was interrupted.
    """
    parser = argparse.ArgumentParser(prog="python -m flows", description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-prefect", action="store_true")
    parser.add_argument("--prefect-api", metavar="URL")
    parser.add_argument("--ask-again", action="store_true")
    parser.add_argument("--only", choices=["report"], help="without Prefect")
    parser.add_argument("--figures", action="store_true", help="of papers, which NAME names")
    parser.add_argument("--wait", action="store_true", help="until a byte comes on stdin")
    ending = Ending()
    ending.listen()
    parent_watch.watch(ending.interrupt)
    chosen = parser.parse_args()
    try:
        return exit_code(lambda: _run(Path.cwd(), chosen, ending, then))
    except _Stopped:
        ending.leave()
        raise


def _run(root: Path, chosen: argparse.Namespace, ending: Ending, then: Then) -> int:
    # What takes seconds to import is imported while others work, or not at all.
    if not chosen.wait:
        _looking(chosen)
    from flows.recovery import alone, guarded, leave_to_mend, seems_stale, up_to_date

    theirs = set_up(root, kept=CREDENTIALS if chosen.prefect_api else ())
    names = () if chosen.figures else chosen.names
    with guarded(root) as held, ExitStack() as stack:
        server: Callable[[], Server] = cache(lambda: _server(root, held, theirs, ending, stack))
        if early := seems_stale(root, names) and _has_server(chosen):
            server()
        from dvc.repo.index import Index  # noqa: F401 - which `dag.plan` needs

        from flows.watch import Watch
        from flows.workers import Workers
        from stages.doorway import close_all

        if chosen.wait:
            os.read(0, 1)
            _looking(chosen)
        workers = Workers(root, [*held, *stack.enter_context(alone(root, names))], chosen.jobs)
        if early:
            workers.start()
        elif seems_stale(root, names) and _has_server(chosen):
            server()  # since code.yaml was saved meanwhile
        plan = _plan(root, chosen)
        for name in {stage.benchmark for stage in plan.stages.values() if stage.closed} - {""}:
            close_all(name)  # plain DVC may have brought what lies there
        with Watch(plan) as watch:
            failed: list[str] = []
            if plan.stale:
                with _way(chosen, server) as way:
                    failed = _stopped_by(
                        ending, workers, partial(way, root, workers, watch, jobs=chosen.jobs)
                    )
        workers.close()
        code = then(chosen, plan, failed)
        if not failed and not chosen.only:
            up_to_date(root, names)
    if workers.lost:
        leave_to_mend(root)
    return code


def _stopped_by(ending: Ending, workers: "Workers", way: "Way") -> list[str]:
    ending.in_order(workers)
    # In a thread, so that this one is there for signals: Prefect takes SIGTERM.
    with ThreadPoolExecutor(max_workers=1) as thread:
        running = thread.submit(way)
    if ending.code:
        raise _Stopped
    return running.result()


def _looking(chosen: argparse.Namespace) -> None:
    print(f"looking for what changed in {', '.join(chosen.names)}", file=sys.stderr, flush=True)


def _plan(root: Path, chosen: argparse.Namespace) -> "Plan":
    from flows import dag

    if chosen.figures:
        _tell_behind(root, chosen.names)
        return dag.plan(root, [], more=[f"figures_{paper}" for paper in chosen.names])
    whole = dag.plan(root, chosen.names, ask=not chosen.only, again=chosen.ask_again)
    if not chosen.only:
        return whole
    plan = dag.only(root, whole, chosen.only)
    behind = len(whole.stale - plan.stale)
    if behind:  # it would show today's names beside yesterday's numbers
        names = " ".join(chosen.names)
        raise BadInput(
            f"{behind} stage(s) before it are not up to date; run `metassay run {names}`, which"
            " brings all of them up to date, the report too"
        )
    return plan


def _tell_behind(root: Path, papers: Iterable[str]) -> None:
    """Say which benchmarks have tables that these papers show and that are not up to date.

    No table is made anew for a figure, since that may take hours or money.
    """
    from flows import dag
    from metassay.paper_figures.derived_tables import needed
    from metassay.paper_figures.draw import absent
    from metassay.paper_figures.inputs import inputs_in
    from metassay.paper_figures.papers import PAPERS

    inputs = inputs_in(root)
    drawn = [one for paper in papers for one in PAPERS[paper] if not absent(one, inputs)]
    read = {benchmark for record in drawn for benchmark, _ in needed(record)}
    there = sorted(one for one in read if (root / BENCHMARKS / one / PARAMS.name).exists())
    found = dag.plan(root, there, ask=False) if there else None
    stale = sorted({found.stages[one].benchmark for one in found.stale} - {""}) if found else []
    if stale:
        print(
            f"drawn from tables that are not up to date: {', '.join(stale)};"
            f" `metassay run {' '.join(stale)}` brings them up to date",
            file=sys.stderr,
        )


def _has_server(chosen: argparse.Namespace) -> bool:
    """Whether the run has a server of Prefect's for itself."""
    return not (chosen.no_prefect or chosen.only or chosen.prefect_api)


def _server(
    root: Path, held: list[int], theirs: list[str], ending: Ending, stack: ExitStack
) -> "Server":
    """Start it; it is gone when the stack is closed."""
    from flows import prefect_server

    if theirs:
        print(
            f"not used: {', '.join(theirs)}; a run has a Prefect server of its own"
            " (another one: --prefect-api URL)",
            file=sys.stderr,
        )
    server = prefect_server.Server(root, held, lambda: ending.end(FAILED, prefect_server.LOST))
    stack.callback(server.drop)
    return server


def _way(
    chosen: argparse.Namespace, server: Callable[[], "Server"]
) -> "AbstractContextManager[Way]":
    """How the stages are run: a function of the root, the workers, the watch and `jobs`."""
    from flows import plain, prefect_server

    if chosen.prefect_api and not (chosen.no_prefect or chosen.only):
        return prefect_server.of_others(chosen.prefect_api)
    return prefect_server.own(server()) if _has_server(chosen) else nullcontext(plain.run)


if __name__ == "__main__":
    sys.exit(main())
