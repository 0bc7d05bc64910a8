"""What in the numbers speaks against a guess: warnings to read before one says yes."""

import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.core.naming import LONGEST, name_problem, words_problem
from metassay.core.options import Criterion, Design
from metassay.core.params import bad_criteria
from metassay.datasets.checks import check
from metassay.metrics.describe import RELEASED
from metassay.project.make import in_letters
from metassay.project.spreadsheets.convert import Read, add_ratings, add_scores, add_texts
from metassay.scoring.catalogue import descriptions
from metassay.tables.names import REFERENCE, is_reference
from metassay.tabular.column_synonyms import (
    HUMAN,
    LIKE_REFERENCE,
    REFERENCES,
    Role,
    fold_key,
    is_called,
)
from metassay.tabular.columns import Keys, check_files, parse_columns
from metassay.tabular.infer_columns import find_columns, join_by_text
from metassay.tabular.rows import Findings, Place, Rows
from metassay.tabular.scales import (
    SAID,
    Direction,
    Scales,
    direction,
    direction_lines,
    ends_in_name,
    guess_scale,
    parse_scales,
)
from metassay.tabular.sheet import Sheet, read_sheets

_AGAINST = -0.3  # Spearman's correlation of what should go together, below which it is doubted
_TEXTS = 10  # fewer say nothing
_SURE = -2.6  # of the correlation times the root of the number of texts: one in 200 by chance
# What studies write where nobody rated, beside grades that are few and far below or above.
_CODES = (-1.0, -8.0, -9.0, -88.0, -99.0, -999.0, 77.0, 88.0, 99.0, 999.0, 9999.0)
_GRADES = 10  # grades that are further apart, or so near to such a value, are of one scale with it


def warn(
    rows: Rows, criteria: Mapping[str, Criterion], guessed: Collection[str], file: str
) -> None:
    """Add to the warnings what is odd; `guessed` are criteria and metrics of guessed direction."""
    # Criteria that go against each other, and metrics that go against what people said.
    turned = {name: one.better == "lower" for name, one in criteria.items()}
    people = _by_text([(r.doc_id, r.author, r.criterion, r.value) for r in rows.ratings], turned)
    for one, other in combinations(criteria, 2):
        if {one, other} & set(guessed) and _against(people[one], people[other]):
            what = f"{shown(one)} and {shown(other)} go against each other"
            _turn(rows.ratings[0].at.file, what, rows.warnings)
    # The mean over criteria, each divided by how much it varies.
    everybody = ((people - people.mean()) / people.std(ddof=0).replace(0, np.nan)).mean(axis=1)
    better = {one.metric: one.better == "lower" for one in rows.metrics if one.better != "neither"}
    scored = _by_text([(r.doc_id, r.author, r.metric, r.value) for r in rows.scores], better)
    for metric in rows.metrics:
        if metric.metric in {*guessed} & better.keys() and _against(
            scored[metric.metric], everybody
        ):
            what = f"metric {shown(metric.metric)} disagrees with people"
            _turn(metric.at.file, what, rows.warnings)
    _copied_systems(rows, Place(file), rows.warnings)


def ask(rows: Rows, said: Collection[str]) -> None:
    """Add to the problems what would go wrong in silence: keys that a program changed, and codes.

    `said` are criteria whose scale is said.
    """
    known = {one.doc_id for one in rows.sources}
    alike = {fold_key(doc): doc for doc in known}
    for found in (rows.ratings, rows.scores):
        changed = {one.doc_id: one.at for one in found if one.doc_id not in known}
        for doc, at in changed.items():
            if like := alike.get(fold_key(doc)):
                what = "names documents as the texts do, but for zeros, case or .0"
                fix = "write them alike; programs for tables take 007 for 7 unless told it is text"
                example = f"doc {shown(doc)}, in the texts {shown(like)}"
                rows.problems.add(Place(at.file), what, fix, example)
    values: dict[str, dict[float, Place]] = defaultdict(dict)
    for row in rows.ratings:
        if row.value is not None and row.criterion not in said:
            values[row.criterion].setdefault(row.value, row.at)
    for criterion, held in values.items():
        alone = held.keys() <= {*_CODES}
        for code in _codes(held):
            where = "as where nobody rated" if alone else "far from all others"
            what = f"{shown(criterion)} has the value {code:g}, {where}"
            fix = "leave the cell empty if nobody rated; if it is a grade, say --scale"
            rows.problems.add(held[code], what, fix)


def _codes(held: Collection[float]) -> Iterator[float]:
    """Values that seem to say that there is none: beside grades, or where there are no grades."""
    grades = [value for value in held if value not in _CODES]
    if not grades:
        yield from held
    if grades and max(grades) - min(grades) <= _GRADES:
        low, high = min(grades) - 1, max(grades) + _GRADES
        yield from (one for one in held if one in _CODES and not low <= one <= high)


def _turn(file: str, what: str, warnings: Findings) -> None:
    fix = "if less is better where more was taken for it, or the other way round, say --lower or"
    warnings.add(Place(file), what, f"{fix} --higher NAME")


def _by_text(
    values: Sequence[tuple[str, str, str, float | None]], turned: Mapping[str, bool]
) -> pd.DataFrame:
    """The mean of each text by each of `turned`, negated where less of it is better."""
    frame = pd.DataFrame(values, columns=["doc", "system", "name", "value"])
    frame["value"] = frame["value"].astype("float64")
    means = frame.groupby(["doc", "system", "name"])["value"].mean().unstack("name")
    return means.reindex(columns=list(turned)) * [-1 if turned[name] else 1 for name in turned]


def _against(one: "pd.Series[float]", other: "pd.Series[float]") -> bool:
    both = pd.concat([one, other], axis=1).dropna()
    if len(both) < _TEXTS or both.nunique().min() < 2:
        return False
    # Spearman's, without SciPy, which takes a second to load.
    rho = float(both.rank().corr().to_numpy()[0, 1])
    return rho < _AGAINST and rho * len(both) ** 0.5 < _SURE


def _copied_systems(rows: Rows, at: Place, warnings: Findings) -> None:
    """Systems that nobody rated, or that may be people; documents that have one text each."""
    texts = [one for one in rows.texts if not is_reference(one.author)]
    systems = sorted({one.author for one in texts})
    rated = {one.author for one in rows.ratings}
    for name in (one for one in systems if rated and one not in rated):
        what = f"system {shown(name)} has no ratings, and others do"
        warnings.add(at, what, "if it is no system, say which columns or rows are")
    for name in (one for one in systems if is_called(one, HUMAN)):
        what = f"{shown(name)} is taken for a system"
        warnings.add(at, what, f"if it wrote the references, say --reference {shown(name)}")
    if len(systems) > 1 and len({one.doc_id for one in texts}) == len(texts):
        what = "no document has texts of two systems, so none are compared on the same documents"
        warnings.add(at, what, "if another column names the documents, say --columns doc=COLUMN")


# Spreadsheets of one's own, read whole: every problem at once, or what they hold.


KINDS = ("texts", "ratings", "scores")
_OWN = "own_"  # before the name of a metric that is one of ours


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

    @property
    def directions(self) -> dict[str, Sequence[str]]:
        """What is said of directions."""
        return {"lower": self.lower, "higher": self.higher, "neither": self.neither}


class Found(NamedTuple):
    """What the files hold: rows that are sound, and what was guessed or counted."""

    reads: Mapping[str, Read]
    rows: Rows
    criteria: Mapping[str, Criterion]
    references: Mapping[str, str]  # who wrote them in the file -> what they are called here
    renamed: Mapping[str, str]  # metrics: as the file calls them -> as they are called here
    empty: Mapping[str, int]  # by kind, cells without a text or number
    design: Design
    directions: Sequence[str]  # which end of what is better, and why: lines to print


def read_all(asked: Asked) -> Found:
    """Read the files; BadInput has every problem of all of them, with file, row and remedy."""
    rows = Rows()
    problems: list[str] = []
    said = parse_columns(asked.columns, asked.files, problems)
    pairs = [one.rpartition("=")[::2] for one in asked.scales]
    scales = parse_scales(pairs, problems)
    raise_problems(problems)
    sheets: dict[str, Sheet] = {}
    for kind, paths in asked.files.items():
        sheet = read_sheets(paths, rows.problems, page=kind)
        if sheet is not None:
            sheets[kind] = replace(sheet, words=scales.words if kind == "ratings" else {})
    reads = _reads(sheets, said, rows.problems)
    if "texts" not in reads:
        raise BadInput(rows.problems.lines())
    systems = _systems(reads["texts"])
    references = _references(asked.reference, systems, rows.problems, reads["texts"])
    real = {kind: {path.resolve() for path in some} for kind, some in asked.files.items()}
    again = real["texts"] & (real.get("ratings", set()) | real.get("scores", set()))
    texts = add_texts(reads["texts"], references, rows, again=bool(again))
    empty = {"texts": texts.n_empty}
    column = reads["texts"].columns.get(Role.REFERENCE)
    by = {**references, **({column: REFERENCE} if column else {})}
    if "ratings" in reads:
        empty["ratings"] = add_ratings(reads["ratings"], systems, by, rows)
    renamed: dict[str, str] = {}
    of_metrics: dict[str, Direction] = {}
    if "scores" in reads:
        renamed = _renamed(_metrics(reads["scores"]), reads["scores"], rows.problems)
        known = {name: one.better for name, one in descriptions().items()}
        of_metrics = {
            theirs: direction([theirs, name], asked.directions, known)
            for theirs, name in renamed.items()
        }
        _checked(of_metrics, sheets["scores"].name, rows.problems)
        better = {renamed[theirs]: one.better for theirs, one in of_metrics.items()}
        empty["scores"] = add_scores(reads["scores"], systems, by, renamed, better, rows)
    scales.ranges.update(
        {criterion: (1.0, float(len(grades))) for criterion, grades in scales.words.items()}
    )
    rated = list(dict.fromkeys(one.criterion for one in rows.ratings))
    of_criteria = {name: direction([name], asked.directions, {}, criterion=True) for name in rated}
    criteria = _criteria(of_criteria, scales, rows)
    _unknown(asked, criteria, renamed, rows.problems)
    check(rows, criteria)
    ask(rows, scales.ranges)
    raise_problems(rows.problems.lines())
    guessed = {name for name, one in of_criteria.items() if one.why != SAID}
    guessed |= {renamed[name] for name, one in of_metrics.items() if one.why != SAID}
    warn(rows, criteria, guessed, sheets["texts"].name)
    # What belongs together: documents by attributes of their sources, systems by name.
    labels = {
        r: r if r in reads["texts"].columns.roles else "" for r in (Role.STRATA, Role.CLUSTER)
    }
    main = renamed.get(asked.primary, asked.primary) if asked.primary else None
    design = Design(**labels, families=texts.families, primary=main)
    lines = [*direction_lines(of_metrics, "metrics"), *direction_lines(of_criteria, "criteria")]
    return Found(reads, rows, criteria, references, renamed, empty, design, lines)


def _reads(
    sheets: Mapping[str, Sheet], said: Mapping[str, Mapping[str, str]], problems: Findings
) -> dict[str, Read]:
    reads: dict[str, Read] = {}
    keys = Keys()
    for kind in (kind for kind in KINDS if kind in sheets):
        sheet = sheets[kind]
        own = dict(said[kind])
        if kind != "texts":  # said of all files, it may be what another one calls it
            own = {
                r: c
                for r, c in own.items()
                if r not in (Role.DOC, Role.SYSTEM) or c in sheet.columns
            }
            doc, system = keys.called.get(Role.DOC), keys.called.get(Role.SYSTEM)
            if doc and system and doc not in own.values():
                sheet = join_by_text(sheet, reads["texts"].sheet, doc, system)
        columns = find_columns(kind, sheet, own, keys, problems)
        if columns is not None:
            check_files(kind, sheet, columns, problems)
            reads[kind] = Read(sheet, columns)
        if kind == "texts" and columns is not None:
            documents = frozenset(sheet.cells(columns.roles[Role.DOC]))
            keys = Keys(documents, frozenset(_systems(reads["texts"])), columns.roles)
    return reads


def _systems(texts: Read) -> list[str]:
    if Role.SYSTEM in texts.columns.each:
        return list(texts.columns.spread)
    column = texts.columns.get(Role.SYSTEM)
    return texts.sheet.cells(column) if column else []


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
    first = 2 if Role.REFERENCE in texts.columns.roles else 1
    written = sorted(one for one in systems if is_called(one, REFERENCES))
    for one in systems:
        if one not in written and is_called(one, LIKE_REFERENCE):
            what = f"{shown(one)} may be a system, or have written the references"
            problems.add(at, what, f"say --reference {shlex.quote(one)}, or --reference '' if not")
    return {
        one: REFERENCE if number == 1 else f"{REFERENCE}:{number}"
        for number, one in enumerate(written, start=first)
    }


def _metrics(scores: Read) -> list[str]:
    if Role.METRIC in scores.columns.each:
        return list(dict.fromkeys(one[Role.METRIC] for one in scores.columns.spread.values()))
    column = scores.columns.get(Role.METRIC)
    return scores.sheet.cells(column) if column else [scores.one_metric]


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


def _checked(found: Mapping[str, Direction], file: str, problems: Findings) -> None:
    for one in found.values():
        if one.problem:
            problems.add(Place(file), *one.problem)


def _criteria(better: Mapping[str, Direction], scales: Scales, rows: Rows) -> dict[str, Criterion]:
    values: dict[str, list[float]] = {name: [] for name in better}
    for rating in rows.ratings:
        values[rating.criterion] += [] if rating.value is None else [rating.value]
    at = Place(rows.ratings[0].at.file) if rows.ratings else Place("ratings")
    for problem in bad_criteria(values):
        rows.problems.add(at, f"criterion {problem}", "rename it")
    for name in dict.fromkeys([*scales.ranges, *scales.kinds]):
        if name not in values:
            what = f"--scale: no criterion is called {shown(name)}"
            rows.problems.add(at, what, f"there are {', '.join(map(shown, values)) or 'none'}")
    _checked(better, at.file, rows.problems)
    found = {}
    for name, held in values.items():
        ends = scales.ranges.get(name) or ends_in_name(name, held)
        scale = guess_scale(held, ends, lower=better[name].better == "lower")
        found[name] = scale.model_copy(update={"scale": scales.kinds.get(name, scale.scale)})
    return found


def _unknown(
    asked: Asked, criteria: Iterable[str], renamed: Mapping[str, str], problems: Findings
) -> None:
    known = {*criteria, *renamed, *renamed.values()}
    listed = ", ".join(map(shown, sorted({*criteria, *renamed})))
    for option, names in asked.directions.items():
        for name in names:
            if name not in known:
                what = f"--{option}: nothing is called {shown(name)}"
                problems.add(Place("the files"), what, f"there are {listed}")


def reference_there(rows: Rows) -> bool:
    """Whether any document has a reference."""
    return any(text.author == REFERENCE for text in rows.texts)
