"""The command lines of `metassay.meta_eval` and `metassay.judge_check`."""

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.padding import Padding
from rich.table import Column
from rich.text import Text

from metassay.api.columns import Roles
from metassay.api.eval_request import EvalRequest
from metassay.api.example import write_example
from metassay.api.meta_eval import check_drawing, evaluate_sheets
from metassay.api.reading import EVERYBODY, find_faults, read_file
from metassay.cli.parsing import ROLES
from metassay.cli.terminal import numbers, ruled, say
from metassay.cli.tool_files import propose_import
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput, collect_problems, raise_problems
from metassay.core.progress import bars
from metassay.format.frames import records
from metassay.format.numbers import (
    counted,
    missing,
    probability,
    short,
    short_interval,
    shown,
    shown_interval,
)
from metassay.format.terms import COEFFICIENT_NAMES, DECISIONS
from metassay.meta_evaluation.agreement import ALL
from metassay.reporting.certificates import best, ranked
from metassay.reporting.names import Row
from metassay.tables.names import FULL, metric_label
from metassay.tabular.decoding import check_names
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet

SETTINGS = (
    "coefficient",
    "resample",
    "resamples",
    "permutations",
    "confidence",
    "useful",
    "margin",
    "digits",
    "seed",
    "primary",
    "primary_criterion",
    "tried",
    "fitted",
)


def meta_eval(args: argparse.Namespace) -> int:
    """Read, evaluate and print; with --out, write."""
    console = Console()
    if args.example:
        if args.files or args.scores or args.ratings:
            raise BadInput("--example DIR: takes no files; it writes them")
        command = write_example(args.example)
        say(
            console,
            f"written to {args.example}: scores.csv, ratings.csv, README.md. Next:",
        )
        # one line, to copy
        say(console, f"  cd {args.example}\n  {command}", wrap=False)
        return 0
    request = _request(args)
    files = _files(args)
    with ExitStack() as stack:
        named = bool(args.columns)
        stack.enter_context(propose_import(files[0], ratings=files[1], named=named))
        scores, ratings = _read(*files, request.roles)
        folder = (
            stack.enter_context(whole_folder(args.out, "--out")) if args.out else None
        )
        with bars() as progress:
            results = evaluate_sheets(scores, ratings, request, progress)
        if folder is not None:
            results.write(folder, figures=args.figures)
    # First, because no verdict below should be read without them.
    for line in results.warning_lines:
        limit = line.kind == "size"
        label, style = ("LIMIT", None) if limit else ("WARNING", "bold yellow")
        say(console, f"{label}: {line.sentence}", style=style)
    if results.warnings:
        console.print()
    if "certificates" in results.tables:
        show(dict(results.tables), results.options.confidence, console)
    else:
        show_raters(dict(results.tables), console)
    say(console, *results.notes)
    if args.out:
        names = ", ".join(f"{name}.csv" for name in results.tables)
        say(console, f"written to {args.out}: {names}")
        say(console, f"page: {args.out / 'index.html'}", wrap=False)
    else:
        tables = "every table behind this as CSV with all digits"
        say(console, f"--out DIR writes a page, and {tables}")
    return 0


def _request(args: argparse.Namespace) -> EvalRequest:
    problems = [
        f"--scale {scale}: write CRITERION=SCALE, several with commas"
        for scale in args.scale
        if "=" not in scale
    ]
    of_metrics = [args.compared, args.confound, args.primary, args.fitted, args.figures]
    if not _files(args)[0] and any(of_metrics):
        problems.append(
            "--compared, --confound, --primary, --fitted, --figures: are about metrics; name SCORES"
            " before RATINGS"
        )
    if args.figures:
        if args.out is None:
            problems.append("--figures: add --out DIR, where they are written")
        with collect_problems(problems):
            check_drawing("--figures")
    raise_problems(problems)
    pairs = [word.partition("=") for word in args.columns]
    roles = {role: column for role, _, column in pairs if role in ROLES and column}
    others = tuple(word for word in args.columns if word.partition("=")[0] not in roles)
    return EvalRequest(
        Roles(
            **roles,
            by=tuple(dict.fromkeys(args.by)),
            columns=others,
            rows=tuple(args.rows),
            missing=tuple(args.missing),
        ),
        {"lower": args.lower, "higher": args.higher},
        dict(scale.rpartition("=")[::2] for scale in args.scale),
        args.compared or None,
        args.confound,
        {name: getattr(args, name) for name in SETTINGS},
    )


def _files(args: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    """Return the files of scores and those of ratings; one file alone is RATINGS."""
    scores, ratings, files = args.scores, args.ratings, args.files
    named = bool(scores or ratings)
    if named and files:
        raise BadInput(
            f"{', '.join(map(str, files))}: cannot be combined with --scores or --ratings; name all"
            " files by these options"
        )
    if not named and not 1 <= len(files) <= 2:
        raise BadInput(
            [
                "meta-eval takes two files, SCORES RATINGS, or RATINGS alone; there are"
                f" {len(files)}. Name several of a kind by --scores FILE FILE and"
                " --ratings FILE FILE. This command writes a pair to start from:",
                "  metassay meta-eval --example study",
            ]
        )
    if named and not ratings:
        raise BadInput(
            "--ratings FILE: is missing; --scores names only the files of scores"
        )
    return (scores, ratings) if named else (files[:-1], files[-1:])


def _read(
    scores: Sequence[Path], ratings: Sequence[Path], roles: Roles
) -> tuple[list[Sheet], list[Sheet]]:
    both = {*map(os.path.realpath, scores)} & {*map(os.path.realpath, ratings)}
    kinds = {word.partition(".")[0] for word in roles.columns if "." in word}
    if both and not {"scores", "ratings"} <= kinds:
        raise BadInput(
            f"{Path(min(both)).name}: is given as SCORES and as RATINGS; say which columns"
            " hold which:"
            " --columns scores.metrics=METRIC,METRIC ratings.criteria=CRITERION,CRITERION"
        )
    faults = Findings()
    for paths in (scores, ratings):
        check_names(paths, faults)
    problems = faults.lines()
    of_scores, of_ratings = (
        [sheet for path in paths if (sheet := read_file(path, problems))]
        for paths in (scores, ratings)
    )
    if problems:
        for sheet in (*of_scores, *of_ratings):
            problems += find_faults(sheet, scores=sheet in of_scores, roles=roles)
        raise BadInput(problems)
    return of_scores, of_ratings


SHOWN = 12  # metrics printed per level
# columns of a terminal: below them, the comparison with a rater is left out
NARROW = 72

_STUDY_KEY = ["study", "criterion", "part"]
_ONE_RATER = (
    "No text has two raters, so there is no agreement, and no rater to compare with."
)


def show(tables: dict[str, pd.DataFrame], confidence: float, console: Console) -> None:
    """Print each criterion's certificates, best verdict first, and the best in words.

    On a narrow terminal names and verdicts fold, and are never cut.
    """
    certificates = tables["certificates"]
    if certificates.empty:
        nothing = (
            "no metric here says which of two texts is better: nothing can be certified"
        )
        console.print(nothing)
        return
    alpha = _alphas(tables["agreement"])
    for key, of_criterion in certificates.groupby(_STUDY_KEY, sort=True):
        study, criterion, part = (str(name) for name in key)
        title = [criterion]
        if certificates["part"].nunique() > 1 or part != FULL:
            title.append(f"part {part}")
        if certificates["study"].nunique() > 1:
            title.append(f"study {study}")
        console.print(Text(", ".join(title), style="bold", overflow="fold"))
        frames = (
            (level, of_criterion[of_criterion["level"] == level]) for level in DECISIONS
        )
        by_level = {
            level: ranked(records(frame)) for level, frame in frames if len(frame)
        }
        for level, rows in by_level.items():
            _print_level(rows, level, confidence, console)
        for level, rows in by_level.items():
            console.print(_indent(_headline(rows, level)))
        console.print(_indent(alpha.get((study, criterion), _ONE_RATER)))
        console.print()


def _indent(line: str) -> Padding:
    return Padding(Text(line, overflow="fold"), (0, 0, 0, 1))


def _print_level(
    rows: list[Row], level: str, confidence: float, console: Console
) -> None:
    narrow = console.width < NARROW
    compared = not narrow and any(row["rater"] is not None for row in rows)
    coefficient = COEFFICIENT_NAMES[rows[0]["coefficient"]]
    columns = [
        Column("metric", overflow="fold", ratio=1, min_width=8),
        numbers(f"{coefficient}\n[{confidence:.0%}]"),
        numbers("p"),
    ]
    if compared:
        columns.append(numbers("metric / rater"))
    columns.append(Column("verdict", overflow="fold", max_width=14 if narrow else 21))
    table = ruled(
        *columns,
        expand=True,
        title=Text(f"{DECISIONS[level]} ({level} level)", style="italic"),
        title_justify="left",
    )
    for row in rows[:SHOWN]:
        table.add_row(*_cells(row, compared=compared))
    console.print(table)
    if len(rows) > SHOWN:
        more = counted(len(rows) - SHOWN, "more metric")
        console.print(_indent(f"and {more}: --out writes all"))


def _cells(row: Row, *, compared: bool) -> Iterator[Text]:
    yield Text(metric_label(row["metric"], row["judge"]))
    ends = short_interval(row["low"], row["high"]) or "[no interval]"
    yield Text("" if row["value"] is None else f"{short(row['value'])} {ends}")
    yield Text(probability(row["p"]))
    if compared:
        has_rater = row["rater"] is not None
        yield Text(
            f"{short(row['with_raters'])} / {short(row['rater'])}" if has_rater else ""
        )
    yield Text(row["verdict"], style="bold" if row["trusted"] else "")


def _headline(rows: list[Row], level: str) -> str:
    """Return the best metric's sentence with its corrected value, or that there is none to use."""
    leader = best(rows)
    if leader is None:
        return ""
    row = leader.row
    ends = short_interval(row["corrected_low"], row["corrected_high"])
    corrected = f"{short(row['corrected'])} {ends}".strip()
    if row["trusted"]:
        many = f" Corrected as {leader.choice}: {corrected}." if len(rows) > 1 else ""
        return f"{row['sentence']}{many}"
    none = f"For {DECISIONS[level]} there is no metric to use yet: {leader.verdicts}."
    if row["corrected"] is None:
        return none
    first = f"First is {leader.metric} ({row['verdict']}: {row['advice']})"
    return f"{none} {first}, corrected as {leader.choice}: {corrected}."


def _alphas(agreement: pd.DataFrame) -> dict[tuple[str, str], str]:
    lines = {}
    overall = agreement[(agreement["rater_a"] == ALL) & (agreement["rater_b"] == ALL)]
    for row in overall.to_dict("records"):
        name = str(row["coefficient"])
        if not name.startswith("krippendorff_alpha"):
            continue
        ends = short_interval(row["low"], row["high"])
        value = (
            "undefined"
            if missing(row["value"])
            else f"{short(row['value'])} {ends}".strip()
        )
        lines[str(row["study"]), str(row["criterion"])] = (
            f"Raters among themselves: Krippendorff's alpha ({name.rpartition('_')[2]}) {value},"
            f" {counted(int(row['n']), 'text')} with two raters or more."
        )
    return lines


def show_raters(tables: dict[str, pd.DataFrame], console: Console) -> None:
    """Print the raters' means and their agreement, a table per criterion."""
    agreement = tables["agreement"]
    for key, rows in tables["raters"].groupby(_STUDY_KEY, sort=True):
        study, criterion, part = (str(name) for name in key)
        board = ruled(
            Column("rater", overflow="fold"),
            *map(numbers, ("n", "mean", "SD (n − 1)")),
            title=Text(f"{criterion}, {part}, {study}"),
            title_justify="left",
        )
        for row in records(rows[rows["author"] == EVERYBODY]):
            cells = (
                row["rater"],
                f"{row['n']:,}",
                shown(row["mean"]),
                shown(row["sd"]),
            )
            board.add_row(*map(Text, cells))
        console.print(board)
        of_study = (agreement["study"] == study) & (agreement["criterion"] == criterion)
        for line in _agreement_lines(agreement[of_study]):
            console.print(line, markup=False, highlight=False)


def _agreement_lines(agreement: pd.DataFrame) -> Iterator[str]:
    overall = agreement[(agreement["rater_a"] == ALL) & (agreement["rater_b"] == ALL)]
    if overall.empty:
        yield "No text has two raters, so there is no agreement.\n"
        return
    yield "All raters together [interval]:"
    for row in records(overall):
        ends = shown_interval(row["low"], row["high"])
        value = shown(row["value"]) or "undefined"
        yield f"  {row['coefficient']} {value} {ends}, n = {row['n']:,}".replace(
            " ,", ","
        )
    yield ""
