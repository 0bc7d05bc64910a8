"""`python -m flows.push REMOTE NAME...`: of `metassay push`, which has asked what may go there."""

import sys
from pathlib import Path
from typing import Any

from dvc_data.hashfile.hash_info import HashInfo
from dvc_data.hashfile.tree import Tree

from flows import dag
from flows.reasons import refused, repository
from flows.recovery import guarded
from flows.surroundings import exit_code
from metassay.core import parent_watch
from metassay.core.errors import BadInput, shown
from metassay.core.options import BENCHMARKS


def main() -> int:
    """Push; 0 if the remote has it all, 2 if it can't be done."""
    parent_watch.watch()
    remote, *names = sys.argv[1:]

    def pushed() -> None:
        with guarded(Path.cwd()):
            print(f"{push(Path.cwd(), remote, names)} file(s) pushed to {remote}")

    return exit_code(pushed)


def push(root: Path, remote: str, names: list[str]) -> int:
    """Push what dvc.lock and accepted.lock of each benchmark name; returns how many files the
    remote lacked.

    Raises BadInput where one is not up to date: its dvc.lock may then name tables of other data
    than its params.yaml, which was asked whether they may go.
    """
    plan = dag.plan(root, names, ask=False)
    stale = {plan.stages[address].benchmark for address in plan.stale} - {""}
    if stale:
        behind = " ".join(sorted(stale))
        raise BadInput(f"not up to date: {behind}; `metassay run {behind}`, then push")
    with refused(), repository() as repo:
        known = sorted(repo.config["remote"])
        if remote not in known:
            raise BadInput(
                f"DVC has no remote {shown(remote)} here; `dvc remote add {remote} PLACE` names one"
                f" (docs/weekly.md); there are: {', '.join(known) or 'none'}"
            )
        if default := repo.config["core"].get("remote"):
            print(
                f"note: DVC's default remote is {default!r}: a plain `dvc push` sends the tables of"
                " all benchmarks there, private ones too; `dvc remote default --unset` ends that",
                file=sys.stderr,
            )
        files = [str(BENCHMARKS / name / "dvc.yaml") for name in names]
        pushed = int(repo.push(targets=files, remote=remote))
        return pushed + sum(_push_accepted(repo, remote, root, name) for name in names)


def _push_accepted(repo: Any, remote: str, root: Path, name: str) -> int:
    """Push the files that accepted.lock names and DVC's cache has: the state is an earlier one, of
    which DVC itself knows nothing. What cannot be compared with elsewhere for want of a table is
    told."""
    from metassay.tracking.comparison.sides import lock_text, outs_of, parse_lock, tables_of
    from metassay.tracking.reevaluation.outcome import accepted_file

    file = accepted_file(name)
    if not (root / file).is_file():
        return 0
    lock = parse_lock(lock_text(root / file), str(file))
    cache, there = repo.cache.local, repo.cloud.get_remote_odb(remote, "push")
    hashes = {path: HashInfo("md5", md5) for path, md5 in outs_of(lock).items() if md5}
    had = [one for one in hashes.values() if cache.exists(one.value)]
    folders = [Tree.load(cache, one) for one in had if one.isdir]
    inside = [info for folder in folders for _, _, info in folder]
    done = repo.cloud.push({*had, *(one for one in inside if cache.exists(one.value))}, odb=there)
    if done.failed:
        raise BadInput(f"{name}: {len(done.failed)} accepted file(s) did not reach {remote}; again")
    lost = [p for p in tables_of(name) if p in hashes and not there.exists(hashes[p].value)]
    if lost:
        print(
            f"note: {name}: of the accepted numbers {', '.join(lost)} are neither here nor in"
            f" {remote}; push where they were accepted, or `metassay watch accept {name}` anew",
            file=sys.stderr,
        )
    return len(done.transferred)


if __name__ == "__main__":
    sys.exit(main())
