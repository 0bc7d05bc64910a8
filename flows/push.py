"""`python -m flows.push REMOTE NAME...`: for `metassay push`, which checks what may go there."""

import sys
from pathlib import Path
from typing import Any

from dvc_data.hashfile.hash_info import HashInfo
from dvc_data.hashfile.tree import Tree

from flows import dag
from flows.reasons import explain_dvc_errors, repository
from flows.recovery import lock_project
from flows.surroundings import exit_code
from metassay.core import parent_watch
from metassay.core.errors import BadInput, shown
from metassay.core.options import BENCHMARKS


def main() -> int:
    """Push; return 0 if the remote has everything, 2 if it cannot be done."""
    parent_watch.watch()
    remote, *names = sys.argv[1:]

    def push_all() -> None:
        with lock_project(Path.cwd()):
            print(f"{push(Path.cwd(), remote, names)} file(s) pushed to {remote}")

    return exit_code(push_all)


def push(root: Path, remote: str, names: list[str]) -> int:
    """Push the files of each benchmark's dvc.lock and accepted.lock; return how many were missing.

    Raises BadInput if a benchmark is not up to date: its dvc.lock may then name tables
    of other data than its params.yaml, by which they may be pushed.
    """
    plan = dag.plan(root, names, ask=False)
    stale = {plan.stages[address].benchmark for address in plan.stale} - {""}
    if stale:
        behind = " ".join(sorted(stale))
        raise BadInput(f"not up to date: {behind}; `metassay run {behind}`, then push")
    with explain_dvc_errors(), repository() as repo:
        remotes = sorted(repo.config["remote"])
        if remote not in remotes:
            raise BadInput(
                f"DVC has no remote {shown(remote)} here; `dvc remote add {remote} PLACE` names one"
                f" (docs/weekly.md); there are: {', '.join(remotes) or 'none'}"
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
    """Push the files of accepted.lock that DVC's cache has: DVC itself does not know that state.

    Warns of tables that the remote then lacks: nobody else can compare with these.
    """
    from metassay.tracking.comparison.sides import (
        lock_text,
        outs_of,
        parse_lock,
        tables_of,
    )
    from metassay.tracking.reevaluation.outcome import accepted_file

    file = accepted_file(name)
    if not (root / file).is_file():
        return 0
    lock = parse_lock(lock_text(root / file), str(file))
    cache, odb = repo.cache.local, repo.cloud.get_remote_odb(remote, "push")
    hashes = {path: HashInfo("md5", md5) for path, md5 in outs_of(lock).items() if md5}
    cached = [info for info in hashes.values() if cache.exists(info.value)]
    folders = [Tree.load(cache, info) for info in cached if info.isdir]
    members = {
        info for folder in folders for _, _, info in folder if cache.exists(info.value)
    }
    done = repo.cloud.push({*cached, *members}, odb=odb)
    if done.failed:
        raise BadInput(
            f"{name}: {len(done.failed)} accepted file(s) did not reach {remote}; again"
        )
    lost = [
        p for p in tables_of(name) if p in hashes and not odb.exists(hashes[p].value)
    ]
    if lost:
        print(
            f"note: {name}: of the accepted numbers {', '.join(lost)} are neither here nor in"
            f" {remote}; push where they were accepted, or `metassay watch accept {name}` anew",
            file=sys.stderr,
        )
    return len(done.transferred)


if __name__ == "__main__":
    sys.exit(main())
