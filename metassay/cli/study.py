"""The command `metassay study`: write sheets for raters, and read them back as ratings."""

import argparse
import contextlib
import math
import secrets
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.api.card_transfer import RATES, read_card, undefined_rate
from metassay.api.label_tables import WHOLE
from metassay.core.errors import BadInput, hint
from metassay.core.kinds import record_of
from metassay.core.naming import name_problem
from metassay.core.options import BENCHMARKS, FROM_DATASET, PARAMS, Criterion
from metassay.core.params import load
from metassay.core.work import close, owner_alone
from metassay.datasets.registry import is_inside, load_registry
from metassay.format.numbers import counted
from metassay.statistics.shares import Estimate
from metassay.studies import FORMATS, importing, key
from metassay.studies.card_items import LABELS_FILE, card_items, label_rows
from metassay.studies.export import SHEETS, Design, build_study, write
from metassay.studies.forms import FORMS
from metassay.studies.next_items import (
    Decision,
    Frame,
    count_undecided,
    next_items,
    weighted_lines,
)
from metassay.studies.record import Options
from metassay.tables.parquet import Table, read
from metassay.tables.ratings import RATINGS
from metassay.tabular.row_choice import CHOSEN_BY

STUDIES = Path("studies")
TABLES = Path("data/tables")


def export(args: argparse.Namespace) -> int:
    """Write blinded sheets and their key."""
    benchmark = _benchmark(args.benchmark)
    if args.only_disagreements and args.form != "pairs":
        raise BadInput(
            "--only-disagreements: compares texts in pairs; add --form pairs"
        )
    for_card = args.decision.split()[:1] == ["card"]
    _check_choice(args, for_card=for_card)
    _check_name(benchmark, args.study)
    raters = _raters(args.raters)
    seed = secrets.randbelow(2**32) if args.seed is None else args.seed
    design = Design(raters, args.per_item or len(raters), args.items, seed)
    differing = tuple(args.only_disagreements) if args.only_disagreements else None
    options = Options(
        seed=seed,
        rubric=args.rubric,
        claims=args.claims,
        disagreeing=differing,
        shares=args.shares,
        questions=args.questions,
    )
    form = FORMS[args.form]
    reads = _reader(benchmark)
    content = form.make(reads, options)
    if args.decision:
        of_card: dict[str, Any] = {}
        if for_card:
            judge, rates = _rates_of_card(args.card)
            drafts, frame, notes = card_items(
                content, args.decision, rates, args.margin, reads, seed
            )
            of_card = {"card": args.card, "judge": judge, "margin": args.margin}
        else:
            drafts, frame, notes = next_items(
                content, args.decision, args.next, reads, seed
            )
        notes = (*content.notes, *notes)
        drawn_by = {**frame._asdict(), **of_card}
        content = content._replace(drafts=drafts, notes=notes, drawn_by=drawn_by)
    folder = args.out or STUDIES / benchmark / args.study
    public = {name for name, data in load_registry().items() if data.access == "public"}
    guarded = sorted({*content.datasets} - public)
    if guarded and args.out is not None and not is_inside(folder, STUDIES):
        raise BadInput(
            f"--out {folder}: the sheets hold texts of {', '.join(guarded)}, which are not public;"
            f" write them into {STUDIES}/, which git ignores, and hand them to those who may read"
            " them"
        )
    study = build_study(benchmark, args.study, form, content, design)
    to_print = [*content.notes]
    if content.drawn_by:
        to_print.append(
            "these texts are chosen, and a correlation over them is not that over all texts: import"
            f" marks their ratings ({CHOSEN_BY}), and evaluations leave them out"
        )
    if guarded:
        close(folder)
        texts = f"the sheets hold texts of {', '.join(guarded)}, which are not public"
        to_print.append(f"{texts}: hand them only to those who may read them")
    with owner_alone() if guarded else contextlib.nullcontext():
        names = write(study, record_of(FORMATS, args.format), folder)
    for note in to_print:
        print(f"note: {note}", file=sys.stderr)
    for sheet in study.sheets():
        n_rows = sum(len(item.rows) for item in sheet.items)
        print(f"{sheet.rater}: {len(sheet.items)} items, {n_rows} rows")
    print(f"send to raters the files in {folder / SHEETS}: {', '.join(names)}")
    print(
        f"KEEP {folder / key.FILE} TO YOURSELF, and the seed ({seed}): they tell who wrote which"
        " text, and no answer can be read without the key"
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
    answers = importing.unblind(rows, study, FORMS[study.form], partial=args.partial)
    importing.write(answers, study, folder)
    for note in answers.notes:
        print(f"note: {note}", file=sys.stderr)
    if answers.n_absent:
        print(f"{answers.n_absent} rows are not there yet and count as empty")
    n_empty, total = answers.n_empty, answers.n_questions
    print(f"{n_empty} of {total} questions have no answer: their ratings are missing")
    ratings, comments = (
        folder / importing.RATINGS_FILE,
        folder / importing.COMMENTS_FILE,
    )
    print(
        f"{ratings}: {len(answers.ratings)} ratings by {len(study.assignments)} raters"
    )
    if n := len(answers.comments):
        print(f"{comments}: {n} comments; they may quote texts, keep them private")
    if not study.drawn_by:
        _print_yaml(benchmark, args.study, ratings, study.criteria)
        return 0
    if "decision" in study.drawn_by:
        _print_drawn(study, answers.ratings, folder)
    else:
        _print_preferred(study, answers.ratings)
    print(
        f"these texts were chosen ({study.chosen_by}), so that a correlation over them is not that"
        f" over all: the column {CHOSEN_BY} of {ratings} says so, and evaluations leave these"
        " ratings out"
    )
    return 0


def _check_choice(args: argparse.Namespace, *, for_card: bool) -> None:
    """Raise BadInput for options of the choice of texts that do not go together."""
    if for_card and (args.next or args.items or not args.card):
        raise BadInput(
            "--for 'card METRIC CRITERION': needs --card DIR, which tells how many texts to"
            " label, and excludes --next and --items"
        )
    if args.card and not for_card:
        raise BadInput("--card DIR: is for --for 'card METRIC CRITERION'")
    drawn = bool(args.next) == bool(args.decision) and not (args.next and args.items)
    if not for_card and not drawn:
        raise BadInput("--next N: needs --for DECISION, and excludes --items")


def _rates_of_card(folder: str) -> tuple[str, dict[str, Estimate]]:
    """Return the judge of a saved card of one judge, and its sensitivity and specificity."""
    card = read_card(Path(folder))
    if any(value not in (None, []) for value in card.passes.values()):
        raise BadInput(
            f"{card.name}: it was made with --pass or --pass-from, and labels of a study are"
            " the words pass and fail; make a card of a table with these words"
        )
    if len(card.judges) != 1:
        judges = ", ".join(card.judges)
        raise BadInput(
            f"{card.name}: it has several judges ({judges}); make a card of one, with --judge"
        )
    (judge,) = card.judges
    rates = {name: card.rates[judge, WHOLE, name] for name in RATES}
    for name, rate in rates.items():
        if math.isnan(rate.value):
            raise undefined_rate(card, judge, name)
    return judge, rates


def _print_drawn(
    study: key.Key, ratings: Iterable[importing.Rating], folder: Path
) -> None:
    """Print the results of ratings of texts that were drawn with unequal chances."""
    frame = Frame(
        study.drawn_by["decision"], tuple(map(tuple, study.drawn_by["texts"]))
    )
    decision = Decision.parse(frame.decision)
    criterion = decision.criterion
    values = [
        (rating.target.doc_id, rating.target.author, rating.value)
        for rating in ratings
        if rating.value is not None
        and (rating.target.criterion, rating.target.unit) == (criterion, "text")
    ]
    n_undecided = count_undecided(values, study.criteria[criterion])
    if n_undecided and decision.kind != "certificate":
        print(
            f"{counted(n_undecided, 'rated text')} left out: the mean rating is the middle of"
            " the scale, neither a pass nor a fail"
        )
    if decision.kind == "card":
        file, judge = folder / LABELS_FILE, study.drawn_by["judge"]
        table = label_rows(frame, values, study.criteria[criterion], judge)
        file.write_text(table.to_csv(index=False), encoding="utf-8")
        n = int((table["human"] != "").sum())
        print(
            f"{file}: verdicts on {len(table)} texts, {n} of them labelled; the next command"
            " weights labels by verdict"
        )
        words = ["metassay", "check", str(file), "--judge", judge, "--human", "human"]
        words += ["--card", study.drawn_by["card"]]
        words += ["--margin", f"{study.drawn_by['margin']:g}"]
        print(shlex.join(words))
        return
    print("\n".join(weighted_lines(frame, values, study.criteria[criterion])))


def _print_preferred(study: key.Key, ratings: Iterable[importing.Rating]) -> None:
    """Print which of two metrics raters side with where these disagree."""
    first, second = study.drawn_by["disagreeing"]
    preferred = {tuple(pair): author for *pair, author in study.drawn_by["preferred"]}
    n_first, n_second, n_ties = 0, 0, 0
    for target, _, value in ratings:
        other = target.unit.removeprefix("versus:")
        if value is None or other == target.unit:
            continue
        by_first = preferred[target.doc_id, *sorted((target.author, other))]
        if value == 0.5:
            n_ties += 1
        elif (value > 0.5) == (by_first == target.author):
            n_first += 1
        else:
            n_second += 1
    print(
        f"of {n_first + n_second + n_ties} comparisons, raters prefer the text of {first} in"
        f" {n_first}, that of {second} in {n_second}, and neither in {n_ties}"
    )


def _print_yaml(
    benchmark: str, study: str, file: Path, criteria: Mapping[str, Criterion]
) -> None:
    evaluation, params = load().benchmarks[benchmark], BENCHMARKS / benchmark / PARAMS
    lines = []
    if getattr(evaluation, "studies", {}).get(study) != file.as_posix():
        lines += ["studies:", f"  {study}: {file.as_posix()}"]
    lacking = {
        name: c for name, c in criteria.items() if evaluation.criteria.get(name) != c
    }
    if lacking:
        lines.append("criteria:")
    for name, c in lacking.items():
        ends = f"low: {c.low:g}, high: {c.high:g}"
        lines.append(f"  {name}: {{{ends}, better: {c.better}, scale: {c.scale}}}")
    if lines:
        print(f"put these lines into {params}, then run: metassay run {benchmark}")
        print("\n".join(lines))
    else:
        print(f"{params} names the study already; run: metassay run {benchmark}")


def _benchmark(name: str) -> str:
    known = sorted(load().benchmarks)
    if name not in known:
        close = hint(name, known)
        raise BadInput(
            f"{BENCHMARKS}/: no {name!r}; there are: {', '.join(known)}{close}"
        )
    return name


def _check_name(benchmark: str, study: str) -> None:
    problem = name_problem(study, [FROM_DATASET])
    file = TABLES / benchmark / RATINGS.name / f"{FROM_DATASET}.parquet"
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
            raise BadInput(f"{file}: does not exist; run: metassay run {benchmark}")
        if table.name not in tables:
            tables[table.name] = read(table, file)
        return tables[table.name]

    return reads


def _raters(argument: str) -> tuple[str, ...]:
    """Return the names of raters, or make names for a number of raters."""
    if argument.isascii() and argument.isdigit():
        return tuple(f"rater_{number}" for number in range(1, int(argument[:4]) + 1))
    return tuple(name.strip() for name in argument.split(","))
