"""The command `metassay study`: sheets for raters go out, ratings come back."""

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
from metassay.datasets.registry import inside, load_registry
from metassay.studies import FORMATS, importing, key
from metassay.studies.export import SHEETS, Design, build_study, write
from metassay.studies.forms import FORMS
from metassay.studies.next_items import Decision, Frame, next_items, weighted_lines
from metassay.studies.record import Options
from metassay.tables.parquet import Table, read
from metassay.tables.ratings import RATINGS

STUDIES = Path("studies")
TABLES = Path("data/tables")


def export(chosen: argparse.Namespace) -> int:
    """Write blinded sheets and their key."""
    benchmark = _benchmark(chosen.benchmark)
    if chosen.only_disagreements and chosen.form != "pairs":
        raise BadInput("--only-disagreements: is of pairs of texts alone; give --form pairs")
    if bool(chosen.next) != bool(chosen.decision) or (chosen.next and chosen.items):
        raise BadInput("--next N: takes --for DECISION beside it, and no --items")
    _check_name(benchmark, chosen.study)
    raters = _raters(chosen.raters)
    seed = secrets.randbelow(2**32) if chosen.seed is None else chosen.seed
    design = Design(raters, chosen.per_item or len(raters), chosen.items, seed)
    differing = tuple(chosen.only_disagreements) if chosen.only_disagreements else None
    options = Options(seed, chosen.rubric, chosen.claims, differing, chosen.shares)
    form = FORMS[chosen.form]
    reads, drawn_by = _reader(benchmark), dict[str, Any]()
    made = form.make(reads, options)
    if chosen.next:
        drafts, frame, notes = next_items(made, chosen.decision, chosen.next, reads, seed)
        made = made._replace(drafts=drafts, notes=(*made.notes, *notes))
        drawn_by = frame._asdict()
    folder = chosen.out or STUDIES / benchmark / chosen.study
    guarded = _not_public(made.datasets)
    if guarded and chosen.out is not None and not inside(folder, STUDIES):
        raise BadInput(
            f"--out {folder}: the sheets hold texts of {', '.join(guarded)}, which are not public;"
            f" write them into {STUDIES}/, which git ignores, and hand them to those who may read"
            " them"
        )
    study = replace(build_study(benchmark, chosen.study, form, made, design), drawn_by=drawn_by)
    if guarded:
        close(folder)
    with owner_alone() if guarded else contextlib.nullcontext():
        names = write(study, record_of(FORMATS, chosen.format), folder)
    for note in made.notes:
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
    back = "" if chosen.out is None else f" --out {chosen.out}"
    print(f"next: metassay study import {benchmark} {chosen.study} FILES{back}")
    return 0


def import_back(chosen: argparse.Namespace) -> int:
    """Read sheets that came back, and write ratings and comments."""
    benchmark = _benchmark(chosen.benchmark)
    folder = chosen.out or STUDIES / benchmark / chosen.study
    found = key.read(folder / key.FILE)
    if (found.benchmark, found.study) != (benchmark, chosen.study):
        raise BadInput(
            f"{folder / key.FILE}: is the key of study {found.study!r} of {found.benchmark!r}, not"
            f" of {chosen.study!r} of {benchmark!r}; correct the names or --out"
        )
    formats = [record_of(FORMATS, name) for name in FORMATS]
    rows = importing.read_files(chosen.files, formats)
    made = importing.unblind(rows, found, FORMS[found.form], partial=chosen.partial)
    importing.write(made, found, folder)
    for note in made.notes:
        print(f"note: {note}", file=sys.stderr)
    if made.n_absent:
        print(f"{made.n_absent} rows are not there yet and count as empty")
    print(
        f"{made.n_empty} of {made.n_questions} questions have no answer: their ratings are missing"
    )
    ratings, comments = folder / importing.RATINGS_FILE, folder / importing.COMMENTS_FILE
    print(f"{ratings}: {len(made.ratings)} ratings by {len(found.assignments)} raters")
    if made.comments:
        print(f"{comments}: {len(made.comments)} comments; they may quote texts, keep them private")
    if found.drawn_by:
        _say_weighted(found, made.ratings)
        return 0
    _say_params(benchmark, chosen.study, ratings, found.criteria)
    return 0


def _say_weighted(found: key.Key, ratings: Iterable[importing.Rating]) -> None:
    """What ratings say of texts that were drawn by unequal chances."""
    frame = Frame(found.drawn_by["decision"], tuple(map(tuple, found.drawn_by["texts"])))
    criterion = Decision.parse(frame.decision).criterion
    rated = [
        (one.target.doc_id, one.target.author, one.value)
        for one in ratings
        if one.value is not None and (one.target.criterion, one.target.unit) == (criterion, "text")
    ]
    print("\n".join(weighted_lines(frame, rated, found.criteria[criterion])))
    print(
        "the texts were drawn by unequal chances: a certificate or a card that takes these ratings"
        " unweighted is off, so do not name them in params.yaml"
    )


def _say_params(
    benchmark: str, study: str, ratings: Path, criteria: Mapping[str, Criterion]
) -> None:
    own, file = load().benchmarks[benchmark], BENCHMARKS / benchmark / PARAMS
    said = []
    if getattr(own, "studies", {}).get(study) != ratings.as_posix():
        said += ["studies:", f"  {study}: {ratings.as_posix()}"]
    lacking = {name: one for name, one in criteria.items() if own.criteria.get(name) != one}
    if lacking:
        said.append("criteria:")
    for name, one in lacking.items():
        ends = f"low: {one.low:g}, high: {one.high:g}"
        said.append(f"  {name}: {{{ends}, better: {one.better}, scale: {one.scale}}}")
    if said:
        print(f"put these lines into {file}, then run: metassay run {benchmark}")
        print("\n".join(said))
    else:
        print(f"{file} names the study already; run: metassay run {benchmark}")


def _benchmark(name: str) -> str:
    known = sorted(load().benchmarks)
    if name not in known:
        close = meant(name, known)
        raise BadInput(f"{BENCHMARKS}/: no {name!r}; there are: {', '.join(known)}{close}")
    return name


def _check_name(benchmark: str, study: str) -> None:
    problem = name_problem(study, [GIVEN])
    given = TABLES / benchmark / RATINGS.name / f"{GIVEN}.parquet"
    if not problem and given.exists() and study in set(read(RATINGS, given)["study"]):
        problem = "the data bring a study of that name, and both would be taken for one; rename it"
    if problem:
        raise BadInput(f"STUDY {study!r}: {problem}")


def _reader(benchmark: str) -> Any:
    there: dict[str, pd.DataFrame] = {}

    def reads(table: Table) -> pd.DataFrame:
        folder = TABLES / benchmark / table.name
        file = folder if folder.is_dir() else folder.with_suffix(".parquet")
        if not file.exists():
            raise BadInput(f"{file}: is not there; run: metassay run {benchmark}")
        if table.name not in there:
            there[table.name] = read(table, file)
        return there[table.name]

    return reads


def _raters(written: str) -> tuple[str, ...]:
    """Names as they are given, or so many that are made up."""
    if written.isascii() and written.isdigit():
        return tuple(f"rater_{number}" for number in range(1, int(written[:4]) + 1))
    return tuple(name.strip() for name in written.split(","))


def _not_public(datasets: Iterable[str]) -> list[str]:
    known = load_registry()
    return sorted(one for one in datasets if one not in known or known[one].access != "public")
