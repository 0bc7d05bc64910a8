"""What every doorway shares: its key, its lock, its exit code, and where the tables lie."""

import fcntl
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from metassay.errors import BadInput, Unfinished

BAD_INPUT = 78  # EX_CONFIG of sysexits.h: running the stage again cannot help
UNFINISHED = 1
TABLES = Path("data/tables")
WORK = Path(".work")


def table(benchmark: str, name: str) -> Path:
    """The file of a table, or its folder where the DAG fans out: `texts`, `judgments/lexical`."""
    path = TABLES / benchmark / name
    return path if name in FANNED_OUT else path.with_suffix(".parquet")


FANNED_OUT = ("texts", "responses", "judgments", "measurements")


def enter(main: Callable[[str], None]) -> None:
    """Run `main(key)` for the key on the command line; bad input is told and exits with 78, what
    may be mended by running again with 1.

    The lock keeps a second run of the same stage from starting beside one that a killed DVC left
    behind; it waits for it instead.
    """
    (key,) = sys.argv[1:]
    lock = WORK / "locks" / f"{Path(sys.argv[0]).stem}@{key}"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            main(key)
        except BadInput as error:
            for problem in error.problems:
                print(problem, file=sys.stderr)
            sys.exit(BAD_INPUT)
        except Unfinished as error:
            print(error, file=sys.stderr)
            sys.exit(UNFINISHED)


def warn(messages: Sequence[str]) -> None:
    """Say what was done about the data that its owner should know; not an error."""
    for message in messages:
        print(f"note: {message}", file=sys.stderr)
