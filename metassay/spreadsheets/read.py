"""Spreadsheets of one's own, read whole: every problem at once, or what they hold."""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import NamedTuple

from metassay.datasets.checks import check
from metassay.datasets.decoding import finite_number
from metassay.datasets.rows import Findings, Place, Rows
from metassay.errors import BadInput, shown
from metassay.metrics.catalogue import descriptions
from metassay.metrics.describe import RELEASED
from metassay.naming import LONGEST, name_problem, words_problem
from metassay.options import Criterion, Design
from metassay.params import bad_criteria
from metassay.project.make import in_letters
from metassay.spreadsheets.columns import ROLES, SPREADS, Columns, Keys
from metassay.spreadsheets.convert import Read, add_ratings, add_scores, add_texts
from metassay.spreadsheets.doubts import ask, warn
from metassay.spreadsheets.find import find_columns
from metassay.spreadsheets.scales import ends_in, guessed_direction, guessed_scale
from metassay.spreadsheets.several import check_each, read_sheets
from metassay.spreadsheets.sheet import Sheet
from metassay.spreadsheets.words import (
    CLUSTER,
    DOC,
    METRIC,
    STRATA,
    SYSTEM,
    called_reference,
    like_reference,
)
from metassay.spreadsheets.words import REFERENCE as REFERENCE_COLUMN
from metassay.tables.names import REFERENCE

KINDS = ("texts", "ratings", "scores")
_OWN = "own_"  # before the name of a metric that is one of ours
_CRITERION = re.compile(r"(.+)=([^=]+)")
_RANGE = re.compile(r"(-?[\d.]+)\.\.(-?[\d.]+)")


class Asked(NamedTuple):
    """What the command was given: files by kind, and what is said of their columns and numbers."""

    files: Mapping[str, Sequence[Path]]
    columns: Sequence[str] = ()  # "doc=visit_id", "ratings.doc=id"
    reference: str | None = None  # who of the systems wrote the references; "" if nobody
    lower: Sequence[str] = ()  # metrics and criteria of which less is better
    higher: Sequence[str] = ()  # those of which more is better
    neither: Sequence[str] = ()  # metrics that say nothing of how good a text is
    scales: Sequence[str] = ()  # "fluency=1..5", "clarity=poor<fair<good"
    primary: str | None = None  # the metric that was named before anybody looked


class Found(NamedTuple):
    """What the files hold: rows that are sound, and what was guessed or counted."""

    reads: Mapping[str, Read]
    rows: Rows
    criteria: Mapping[str, Criterion]
    references: Mapping[str, str]  # who wrote them in the file -> what they are called here
    renamed: Mapping[str, str]  # metrics: as the file calls them -> as they are called here
    empty: Mapping[str, int]  # by kind, cells without a text or number
    design: Design


def read_all(asked: Asked) -> Found:
    """Read the files; BadInput has every problem of all of them, with file, row and remedy."""
    rows = Rows()
    said = _said(asked)
    ranges, words = _scales(asked.scales)
    sheets: dict[str, Sheet] = {}
    for kind, paths in asked.files.items():
        sheet = read_sheets(paths, rows.problems, page=kind)
        if sheet is not None:
            sheets[kind] = sheet._replace(words=words if kind == "ratings" else {})
    reads = _reads(sheets, said, rows.problems)
    if "texts" not in reads:
        raise BadInput(rows.problems.lines())
    systems = _systems(reads["texts"])
    references = _references(asked.reference, systems, rows.problems, reads["texts"])
    again = bool(_resolved(asked, ("texts",)) & _resolved(asked, ("ratings", "scores")))
    texts = add_texts(reads["texts"], references, rows, again=again)
    empty = {"texts": texts.n_empty}
    column = reads["texts"].columns.get(REFERENCE_COLUMN)
    by = {**references, **({column: REFERENCE} if column else {})}
    if "ratings" in reads:
        empty["ratings"] = add_ratings(reads["ratings"], systems, by, rows)
    renamed: dict[str, str] = {}
    if "scores" in reads:
        renamed = _renamed(_metrics(reads["scores"]), reads["scores"], rows.problems)
        better = _directions(asked, renamed, sheets["scores"].name, rows.problems)
        empty["scores"] = add_scores(reads["scores"], systems, by, renamed, better, rows)
    ranges |= {criterion: (1.0, float(len(grades))) for criterion, grades in words.items()}
    criteria = _criteria(asked, ranges, rows)
    _unknown(asked, criteria, renamed, rows.problems)
    check(rows, criteria)
    ask(rows, ranges)
    if rows.problems:
        raise BadInput(rows.problems.lines())
    told = {*asked.lower, *asked.higher, *asked.neither}
    guessed = {*criteria, *(name for one, name in renamed.items() if one not in told)} - told
    warn(rows, criteria, guessed, sheets["texts"].name)
    design = _design(reads["texts"].columns, texts.families, asked.primary, renamed)
    return Found(reads, rows, criteria, references, renamed, empty, design)


def _resolved(asked: Asked, kinds: Iterable[str]) -> set[Path]:
    return {path.resolve() for kind in kinds for path in asked.files.get(kind, ())}


def _design(
    columns: Columns, families: Mapping[str, str], primary: str | None, renamed: Mapping[str, str]
) -> Design:
    """What belongs together: documents by attributes of their sources, systems by name."""
    labels = {role: role if role in columns.roles else "" for role in (STRATA, CLUSTER)}
    main = renamed.get(primary, primary) if primary else None
    return Design(**labels, families=dict(families), primary=main)


def _said(asked: Asked) -> dict[str, dict[str, str]]:
    """By kind what is said of its columns; a role without a file is said of every file."""
    found: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    problems = []
    for one in asked.columns:
        left, equals, column = one.partition("=")
        kind, dot, role = left.rpartition(".")
        taken = [k for k in KINDS if kind in ("", k) and role in (*ROLES[k], *SPREADS[k])]
        if not equals or not column or not taken or (dot and kind not in asked.files):
            known = sorted({*sum(ROLES.values(), ()), *sum(SPREADS.values(), ())})
            problems.append(
                f"--columns {shown(one)}: write ROLE=COLUMN, or FILE.ROLE=COLUMN for one of"
                f" {', '.join(asked.files)}; roles are {', '.join(known)}"
            )
        for k in taken:
            if dot or role not in found[k]:
                found[k][role] = column
    if problems:
        raise BadInput(problems)
    return found


def _reads(
    sheets: Mapping[str, Sheet], said: Mapping[str, Mapping[str, str]], problems: Findings
) -> dict[str, Read]:
    reads: dict[str, Read] = {}
    keys = Keys()
    for kind in (kind for kind in KINDS if kind in sheets):
        sheet = sheets[kind]
        own = dict(said[kind])
        if kind != "texts":  # said of all files, it may be what another one calls it
            own = {r: c for r, c in own.items() if r not in (DOC, SYSTEM) or c in sheet.columns}
        columns = find_columns(kind, sheet, own, keys, problems)
        if columns is not None:
            check_each(kind, sheet, columns, problems)
            reads[kind] = Read(sheet, columns)
        if kind == "texts" and columns is not None:
            documents = frozenset(sheet.cells(columns.roles[DOC]))
            keys = Keys(documents, frozenset(_systems(reads["texts"])), columns.roles)
    return reads


def _systems(texts: Read) -> list[str]:
    columns: Columns = texts.columns
    if SYSTEM in columns.each:
        return list(columns.spread)
    column = columns.get(SYSTEM)
    return list(dict.fromkeys(texts.sheet.cells(column))) if column else []


def _references(
    said: str | None, systems: Sequence[str], problems: Findings, texts: Read
) -> dict[str, str]:
    """Who of the systems wrote references, and what each is called here: `reference`, the second
    one `reference:2`."""
    at = Place(texts.sheet.name)
    if said is not None:
        if said and said not in systems:
            what = f"--reference: no system is called {shown(said)}"
            problems.add(at, what, f"there are {', '.join(map(shown, systems))}")
        return {said: REFERENCE} if said else {}
    first = 2 if REFERENCE_COLUMN in texts.columns.roles else 1
    called = sorted(filter(called_reference, systems))
    for one in systems:
        if one not in called and like_reference(one):
            what = f"{shown(one)} may be a system, or have written the references"
            problems.add(at, what, f"say --reference {shlex.quote(one)}, or --reference '' if not")
    return {
        one: REFERENCE if number == 1 else f"{REFERENCE}:{number}"
        for number, one in enumerate(called, start=first)
    }


def _metrics(scores: Read) -> list[str]:
    if METRIC in scores.columns.each:
        return list(dict.fromkeys(one[METRIC] for one in scores.columns.spread.values()))
    column = scores.columns.get(METRIC)
    return list(dict.fromkeys(scores.sheet.cells(column))) if column else [scores.one_metric]


def _renamed(metrics: Sequence[str], read: Read, problems: Findings) -> dict[str, str]:
    """What each metric is called here: in the letters that names have, and not as one of ours."""
    ours = {n.casefold() for n, one in descriptions().items() if one.family != RELEASED}
    found: dict[str, str] = {}
    for metric in metrics:
        name = in_letters(metric)[: LONGEST - len(_OWN)]
        if name.casefold() in ours or name_problem(name):
            name = f"{_OWN}{name}"
        at, fix = Place(read.sheet.name), "rename it"
        if problem := words_problem(metric) or name_problem(name):
            problems.add(at, f"metric {shown(metric)} cannot be a name", f"{fix}: {problem}")
        elif name_problem(name, list(found.values())):
            problems.add(at, f"metric {shown(metric)} would be called as another one, {name}", fix)
        found[metric] = name
    return found


def _direction(asked: Asked, names: Collection[str], at: Place, problems: Findings) -> str:
    """Of one metric or criterion, by its names: as its user says, or as the first name does."""
    options = {"lower": asked.lower, "higher": asked.higher, "neither": asked.neither}
    said = [better for better, told in options.items() if {*names} & {*told}]
    name = next(iter(names))
    if len(said) > 1:
        what = f"{shown(name)} is named by --{said[0]} and --{said[1]}"
        problems.add(at, what, "name it by one of them")
    guess = said[0] if said else guessed_direction(name)
    if not guess:
        fix = f"say --higher {shlex.quote(name)} if more is better, else --lower"
        problems.add(at, f"the name {shown(name)} does not tell whether more is better", fix)
    return guess or "higher"


def _directions(
    asked: Asked, renamed: Mapping[str, str], file: str, problems: Findings
) -> dict[str, str]:
    """Each metric's direction, by the name that it has here."""
    return {
        name: _direction(asked, [metric, name], Place(file), problems)
        for metric, name in renamed.items()
    }


def _scales(
    said: Iterable[str],
) -> tuple[dict[str, tuple[float, float]], dict[str, list[str]]]:
    """What `--scale` says of criteria: the ends of a scale, or its grades in words."""
    ranges: dict[str, tuple[float, float]] = {}
    words: dict[str, list[str]] = {}
    problems = []
    for one in said:
        match = _CRITERION.fullmatch(one)
        ends = _RANGE.fullmatch(match[2]) if match else None
        grades = [word.strip() for word in match[2].split("<")] if match else []
        if match and ends and _number(ends[1]) < _number(ends[2]):
            ranges[match[1]] = (float(ends[1]), float(ends[2]))
        elif match and len(grades) > 1 and all(grades) and len(set(grades)) == len(grades):
            words[match[1]] = grades
        else:
            problems.append(
                f"--scale {shown(one)}: write CRITERION=LOW..HIGH, such as fluency=1..5, or the"
                " grades, of which the first counts 1, such as fluency=poor<fair<good"
            )
    if problems:
        raise BadInput(problems)
    return ranges, words


def _number(written: str) -> float:
    found = finite_number(written.removeprefix("-"))
    return nan if found is None else -found if written.startswith("-") else found


def _criteria(
    asked: Asked, said: Mapping[str, tuple[float, float]], rows: Rows
) -> dict[str, Criterion]:
    values: dict[str, list[float]] = {}
    for rating in rows.ratings:
        values.setdefault(rating.criterion, [])
        if rating.value is not None:
            values[rating.criterion].append(rating.value)
    at = Place(rows.ratings[0].at.file) if rows.ratings else Place("ratings")
    for problem in bad_criteria(values):
        rows.problems.add(at, f"criterion {problem}", "rename it")
    for name in said:
        if name not in values:
            what = f"--scale: no criterion is called {shown(name)}"
            rows.problems.add(at, what, f"there are {', '.join(map(shown, values)) or 'none'}")
    found = {}
    for name, held in values.items():
        better = _direction(asked, [name], at, rows.problems)
        if better == "neither":
            what = f"{shown(name)} is a criterion, and nothing tells whether more of it is better"
            option = shlex.quote(name)
            fix = f"say --higher {option} or --lower {option}, or leave its column out of the file"
            rows.problems.add(at, what, fix)
        ends = said.get(name) or ends_in(name, held)
        found[name] = guessed_scale(held, ends, lower=better == "lower")
    return found


def _unknown(
    asked: Asked, criteria: Iterable[str], renamed: Mapping[str, str], problems: Findings
) -> None:
    known = {*criteria, *renamed, *renamed.values()}
    for option, names in (
        ("--lower", asked.lower),
        ("--higher", asked.higher),
        ("--neither", asked.neither),
    ):
        for name in names:
            if name not in known:
                what = f"{option}: nothing is called {shown(name)}"
                listed = ", ".join(map(shown, sorted({*criteria, *renamed})))
                problems.add(Place("the files"), what, f"there are {listed}")


def reference_there(rows: Rows) -> bool:
    """Whether any document has a reference."""
    return any(text.author == REFERENCE for text in rows.texts)
