"""The command `metassay study`: write sheets for raters, and read them back as ratings."""

import argparse
import contextlib
import secrets
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.core.errors import BadInput, meant
from metassay.core.kinds import record_of
from metassay.core.naming import name_problem
from metassay.core.options import BENCHMARKS, GIVEN, PARAMS, Criterion
from metassay.core.params import load
from metassay.core.work import close, owner_alone
from metassay.datasets.registry import is_inside, load_registry
from metassay.studies import FORMATS, importing, key
from metassay.studies.export import SHEETS, Design, study_of, write
from metassay.studies.forms import FORMS
from metassay.studies.next_items import Decision, Frame, next_items, weighted_lines
from metassay.studies.record import Options
from metassay.tables.parquet import Table, read
from metassay.tables.ratings import RATINGS

STUDIES = Path("studies")
TABLES = Path("data/tables")


def export(args: argparse.Namespace) -> int:
    """Write blinded sheets and their key."""
    benchmark = _benchmark(args.benchmark)
    if args.only_disagreements and args.form != "pairs":
        raise BadInput("--only-disagreements: is of pairs of texts alone; give --form pairs")
    if bool(args.next) != bool(args.decision) or (args.next and args.items):
        raise BadInput("--next N: takes --for DECISION beside it, and no --items")
    _check_name(benchmark, args.study)
    raters = _raters(args.raters)
    seed = secrets.randbelow(2**32) if args.seed is None else args.seed
    design = Design(raters, args.per_item or len(raters), args.items, seed)
    differing = tuple(args.only_disagreements) if args.only_disagreements else None
    options = Options(seed, args.rubric, args.claims, differing, args.shares)
    form = FORMS[args.form]
    reads, drawn_by = _reader(benchmark), dict[str, Any]()
    content = form.make(reads, options)
    if args.next:
        drafts, frame, notes = next_items(content, args.decision, args.next, reads, seed)
        content = content._replace(drafts=drafts, notes=(*content.notes, *notes))
        drawn_by = frame._asdict()
    folder = args.out or STUDIES / benchmark / args.study
    guarded = _not_public(content.datasets)
    if guarded and args.out is not None and not is_inside(folder, STUDIES):
        raise BadInput(
            f"--out {folder}: the sheets hold texts of {', '.join(guarded)}, which are not public;"
            f" write them into {STUDIES}/, which git ignores, and hand them to those who may read"
            " them"
        )
    study = study_of(benchmark, args.study, form, content, design)
    study = replace(study, drawn_by=drawn_by)
    if guarded:
        close(folder)
    with owner_alone() if guarded else contextlib.nullcontext():
        names = write(study, record_of(FORMATS, args.format), folder)
    for note in content.notes:
        print(f"note: {note}", file=sys.stderr)
    if guarded:
        print(
            f"note: the sheets hold texts of {', '.join(guarded)}, which are not public: hand them"
            " only to those who may read them",
            file=sys.stderr,
        )
    for sheet in study.sheets():
        n_rows = sum(len(item.rows) for item in sheet.items)
        print(f"{sheet.rater}: {len(sheet.items)} items, {n_rows} rows")
    print(f"send to raters what is in {folder / SHEETS}: {', '.join(names)}")
    print(
        f"KEEP {folder / key.FILE} TO YOURSELF, and the seed ({seed}): they say who wrote what, and"
        " no answer can be read without the key"
    )
    back = "" if args.out is None else f" --out {args.out}"
    print(f"next: metassay study import {benchmark} {args.study} FILES{back}")
    return 0


def import_back(args: argparse.Namespace) -> int:
    """Read completed sheets, and write ratings and comments."""
    benchmark = _benchmark(args.benchmark)
    folder = args.out or STUDIES / benchmark / args.study
    study = key.read(folder / key.FILE)
    if (study.benchmark, study.study) != (benchmark, args.study):
        raise BadInput(
            f"{folder / key.FILE}: is the key of study {study.study!r} of {study.benchmark!r}, not"
            f" of {args.study!r} of {benchmark!r}; correct the names or --out"
        )
    formats = [record_of(FORMATS, name) for name in FORMATS]
    rows = importing.read_files(args.files, formats)
    answers = importing.imported(rows, study, FORMS[study.form], partial=args.partial)
    importing.write(answers, study, folder)
    for note in answers.notes:
        print(f"note: {note}", file=sys.stderr)
    if answers.absent:
        print(f"{answers.absent} rows are not there yet and count as empty")
    print(f"{answers.empty} of {answers.asked} questions have no answer: their ratings are missing")
    ratings, comments = folder / importing.RATINGS_FILE, folder / importing.COMMENTS_FILE
    print(f"{ratings}: {len(answers.ratings)} ratings by {len(study.assignments)} raters")
    if n := len(answers.comments):
        print(f"{comments}: {n} comments; they may quote texts, keep them private")
    if study.drawn_by:
        _print_weighted(study, answers.ratings)
        return 0
    _print_params(benchmark, args.study, ratings, study.criteria)
    return 0


def _print_weighted(study: key.Key, ratings: Iterable[importing.Rated]) -> None:
    """Print the results of ratings of texts that were drawn with unequal chances."""
    frame = Frame(study.drawn_by["decision"], tuple(map(tuple, study.drawn_by["texts"])))
    criterion = Decision.of(frame.decision).criterion
    values = [
        (rating.of.doc_id, rating.of.author, rating.value)
        for rating in ratings
        if rating.value is not None and (rating.of.criterion, rating.of.unit) == (criterion, "text")
    ]
    print("\n".join(weighted_lines(frame, values, study.criteria[criterion])))
    print(
        "the texts were drawn by unequal chances: a certificate or a card that takes these ratings"
        " unweighted is off, so do not name them in params.yaml"
    )


def _print_params(
    benchmark: str, study: str, ratings: Path, criteria: Mapping[str, Criterion]
) -> None:
    evaluation, file = load().benchmarks[benchmark], BENCHMARKS / benchmark / PARAMS
    lines = []
    if getattr(evaluation, "studies", {}).get(study) != ratings.as_posix():
        lines += ["studies:", f"  {study}: {ratings.as_posix()}"]
    lacking = {name: c for name, c in criteria.items() if evaluation.criteria.get(name) != c}
    if lacking:
        lines.append("criteria:")
    for name, c in lacking.items():
        ends = f"low: {c.low:g}, high: {c.high:g}"
        lines.append(f"  {name}: {{{ends}, better: {c.better}, scale: {c.scale}}}")
    if lines:
        print(f"put these lines into {file}, then run: metassay run {benchmark}")
        print("\n".join(lines))


def _benchmark(name: str) -> str:
    known = sorted(load().benchmarks)
    if name not in known:
        close = meant(name, known)
        raise BadInput(f"{BENCHMARKS}/: no {name!r}; there are: {', '.join(known)}{close}")
    return name


def _check_name(benchmark: str, study: str) -> None:
    problem = name_problem(study, [GIVEN])
    file = TABLES / benchmark / RATINGS.name / f"{GIVEN}.parquet"
    if not problem and file.exists() and study in set(read(RATINGS, file)["study"]):
        problem = "the data bring a study of that name, and both would be taken for one; rename it"
    if problem:
        raise BadInput(f"STUDY {study!r}: {problem}")


def _reader(benchmark: str) -> Any:
    tables: dict[str, pd.DataFrame] = {}

    def reads(table: Table) -> pd.DataFrame:
        folder = TABLES / benchmark / table.name
        file = folder if folder.is_dir() else folder.with_suffix(".parquet")
        if not file.exists():
            raise BadInput(f"{file}: is not there; run: metassay run {benchmark}")
        if table.name not in tables:
            tables[table.name] = read(table, file)
        return tables[table.name]

    return reads


def _raters(argument: str) -> tuple[str, ...]:
    """Return the names of raters, or make names for a number of raters."""
    if argument.isascii() and argument.isdigit():
        return tuple(f"rater_{number}" for number in range(1, int(argument[:4]) + 1))
    return tuple(name.strip() for name in argument.split(","))


def _not_public(datasets: Iterable[str]) -> list[str]:
    known = load_registry()
    return sorted(d for d in datasets if d not in known or known[d].access != "public")
