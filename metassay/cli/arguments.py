"""What a command and its arguments are, and the arguments of several commands."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metassay.cli.values import count, names, url
from metassay.core.atomic import out_file


@dataclass(frozen=True, kw_only=True)
class Argument:
    """An argument of a command, as argparse has them.

    `read` makes a value of a word. One that is `several` takes several words and may be
    repeated; a `flag` takes none. Arguments of a `group` exclude each other; one of the
    group `when` must be given.
    """

    help: str | None = None
    read: Callable[[str], Any] | None = None
    several: bool = False
    flag: bool = False
    group: str = ""
    metavar: str | tuple[str, ...] | None = None
    choices: Sequence[str] | None = None
    nargs: str | int | None = None
    default: Any = None
    const: Any = None
    dest: str | None = None
    required: bool = False
    action: str | None = None


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command: what runs it, what its help says, and its arguments by name.

    `run` is `module.function` of this folder; a command without it has subcommands.
    `core`: the core install is enough.
    """

    summary: str
    run: str = ""
    about: str | None = None
    usage: str | None = None
    core: bool = False
    arguments: Mapping[str, Argument] = field(default_factory=dict)


# ---- arguments of several commands

LOWER = Argument(
    metavar="NAME,...",
    read=names,
    help="metrics and criteria for which lower values are better",
)

HIGHER = Argument(
    metavar="NAME,...",
    read=names,
    help="metrics and criteria for which higher values are better",
)

SCALE = Argument(
    metavar="CRITERION=SCALE,...",
    read=names,
    help=(
        "nominal, ordinal, interval, count (default interval); or its ends, 1..5; or "
        "its grades in words, poor<fair<good"
    ),
)

ROWS = Argument(
    metavar="COLUMN=VALUE,...",
    read=names,
    help="count only rows with these values of a column, as Status=APPROVED",
)

MISSING = Argument(
    metavar="WORD,...",
    read=names,
    help="words that mean that nobody answered, such as skip: the cell counts as empty",
)

PRIMARY = Argument(
    metavar="METRIC",
    help=(
        "the one metric named before anybody saw results, which is not adjusted for "
        "the others"
    ),
)

PRIMARY_CRITERION = Argument(
    metavar="CRITERION",
    help=(
        "the one criterion named before anybody saw results, which is not adjusted for "
        "the others"
    ),
)

TRIED = Argument(
    metavar="N",
    read=count,
    default=1,
    help=(
        "each metric is the best of N that were tried on these ratings elsewhere, such "
        "as prompts (default 1)"
    ),
)

FITTED = Argument(
    metavar="NAME,...",
    read=names,
    help=(
        "metrics that were fitted, tuned or trained on these ratings; they get no "
        "verdict"
    ),
)

BENCHMARKS = Argument(
    metavar="BENCHMARK",
    nargs="+",
    help="a folder of benchmarks/",
)

JOBS = Argument(
    read=count,
    default=2,
    help="stages at a time (default 2)",
)

NO_PREFECT = Argument(
    flag=True,
    help="no Prefect server, no retries",
    group="server",
)

PREFECT_API = Argument(
    metavar="URL",
    read=url,
    group="server",
    help=(
        "report keys and numbers to this Prefect server (default: a server for this "
        "run)"
    ),
)

MIRROR = Argument(
    metavar="DIR",
    read=Path,
    help="a local copy of the datasets, a folder per set",
)

BENCHMARK = Argument(
    metavar="BENCHMARK",
    nargs="?",
    help="a folder of benchmarks/",
)

CSV = Argument(
    metavar="FILE",
    read=out_file,
    help="write every row as CSV; - is stdout",
)

OUT = Argument(
    metavar="DIR",
    read=Path,
    help="the study's folder, if not studies/BENCHMARK/NAME",
)

BY = Argument(
    metavar="COLUMN,...",
    read=names,
    help="slice the texts by this column; each slice is also evaluated by itself",
)
