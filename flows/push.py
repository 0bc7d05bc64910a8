"""`python -m flows.push REMOTE NAME...`: of `metassay push`, which has asked what may go there."""

import sys
from pathlib import Path

from flows import dag
from flows.reasons import refused, repository
from flows.recovery import guarded
from metassay.errors import BadInput
from metassay.options import BENCHMARKS

REFUSED = 2


def main() -> int:
    """Push; 0 if the remote has it all, 2 if it can't be done."""
    remote, *names = sys.argv[1:]
    try:
        with guarded(Path.cwd()):
            print(f"{push(Path.cwd(), remote, names)} file(s) pushed to {remote}")
    except BadInput as error:
        print("\n".join(error.problems), file=sys.stderr)
        return REFUSED
    return 0


def push(root: Path, remote: str, names: list[str]) -> int:
    """Push what the dvc.lock of each benchmark names; returns how many files the remote lacked.

    Raises BadInput where one is not up to date: its dvc.lock may then name tables of other data
    than its params.yaml, which was asked whether they may go.
    """
    plan = dag.plan(root, names, ask=False)
    stale = {plan.stages[address].benchmark for address in plan.stale} - {""}
    if stale:
        behind = " ".join(sorted(stale))
        raise BadInput(f"not up to date: {behind}; `metassay run {behind}`, then push")
    with refused(), repository() as repo:
        if default := repo.config["core"].get("remote"):
            print(
                f"note: DVC's default remote is {default!r}: a plain `dvc push` sends the tables of"
                " all benchmarks there, private ones too; `dvc remote default --unset` ends that",
                file=sys.stderr,
            )
        files = [str(BENCHMARKS / name / "dvc.yaml") for name in names]
        return int(repo.push(targets=files, remote=remote))


if __name__ == "__main__":
    sys.exit(main())
