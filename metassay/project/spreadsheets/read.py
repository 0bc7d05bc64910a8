"""Read spreadsheets of own data whole: every problem at once, or what the files contain."""

import os
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, quoted, raise_problems, shown
from metassay.core.naming import LONGEST, name_problem, words_problem
from metassay.core.options import Criterion, Design, find_contradictions
from metassay.core.params import bad_criteria
from metassay.datasets.checks import check
from metassay.metrics.describe import RELEASED
from metassay.project.make import replace_letters
from metassay.project.spreadsheets.convert import (
    ONE_CRITERION,
    Table,
    add_ratings,
    add_scores,
    add_texts,
)
from metassay.scoring.catalogue import descriptions
from metassay.tables.names import REFERENCE, is_reference
from metassay.tabular.column_synonyms import Role, fold_key, is_called
from metassay.tabular.columns import (
    Keys,
    check_files,
    directions_in,
    parse_columns,
)
from metassay.tabular.far_ratings import check_ratings
from metassay.tabular.files import read_sheets
from metassay.tabular.guess import listed
from metassay.tabular.infer_columns import find_columns, join_by_text
from metassay.tabular.name_patterns import HUMAN, LIKE_REFERENCE, REFERENCES
from metassay.tabular.rankings import find_rankings
from metassay.tabular.row_choice import (
    ask_rows,
    choose_rows,
    leave_out_chosen,
    parse_rows,
)
from metassay.tabular.rows import Findings, Place, RatingRow, Rows
from metassay.tabular.scales import (
    BY_USER,
    Direction,
    Scales,
    direction,
    direction_lines,
    directions_of_cells,
    ends_in_name,
    guess_scale,
    parse_scales,
)
from metassay.tabular.sheet import Sheet

KINDS = ("texts", "ratings", "scores")
_PREFIX = "own_"  # before a metric's name that is also one of ours
_LOW = -0.3  # Spearman's correlation below which a direction is doubted
_TEXTS = 10  # fewer texts say nothing
# of the correlation times the root of the number of texts: one in 200 by chance
_SURE = -2.6
_ENDS = "ends"
# What the user says of a scale on which no number is odd.
_DECLARED = (_ENDS, "count", "nominal")


class Inputs(NamedTuple):
    """The files by kind, and the options of the command on their columns and numbers."""

    files: Mapping[str, Sequence[Path]]
    columns: Sequence[str] = ()  # "doc=visit_id", "ratings.doc=id"
    # who of the systems wrote the references; "" if nobody
    reference: str | None = None
    lower: Sequence[str] = ()  # metrics and criteria of which less is better
    higher: Sequence[str] = ()  # those of which more is better
    neither: Sequence[str] = ()  # metrics that say nothing of how good a text is
    scales: Sequence[str] = ()  # "fluency=1..5", "clarity=poor<fair<good"
    primary: str | None = None  # the metric that was named before anybody looked
    primary_criterion: str | None = None
    tried: int = 1  # how many metrics each was the best of, elsewhere
    fitted: Sequence[str] = ()  # metrics that were fitted on the ratings
    rows: Sequence[str] = ()  # which rows count: "Status=APPROVED"
    missing: Sequence[str] = ()  # words that mean that nobody rated

    @property
    def directions(self) -> dict[str, Sequence[str]]:
        """Names of metrics and criteria by the option that gives their direction."""
        return {"lower": self.lower, "higher": self.higher, "neither": self.neither}


class OwnData(NamedTuple):
    """The content of the files, and what was guessed or counted."""

    tables: Mapping[str, Table]
    rows: Rows
    criteria: Mapping[str, Criterion]
    # who wrote them in the file -> their author names here
    references: Mapping[str, str]
    renamed: Mapping[str, str]  # metrics: name in the file -> name here
    empty: Mapping[str, int]  # by kind, cells without a text or number
    design: Design
    directions: Sequence[str]  # which end of what is better, and why: lines to print


def read_all(inputs: Inputs) -> OwnData:
    """Read the files; BadInput has every problem of all of them, with file, row and remedy."""
    rows = Rows()
    problems: list[str] = []
    columns = parse_columns(inputs.columns, inputs.files, problems)
    scales = parse_scales(
        [scale.rpartition("=")[::2] for scale in inputs.scales], problems
    )
    problems += _problems_of_parts(columns)
    raise_problems(problems)
    sheets = _read_sheets(inputs, scales, rows.problems)
    tables = _find_tables(sheets, columns, rows.problems)
    if "texts" not in tables:
        raise BadInput(rows.problems.lines())
    systems = tables["texts"].names(Role.SYSTEM)
    references = _find_references(
        inputs.reference, systems, rows.problems, tables["texts"]
    )
    real = {
        kind: {os.path.realpath(path) for path in paths}
        for kind, paths in inputs.files.items()
    }
    again = real["texts"] & (real.get("ratings", set()) | real.get("scores", set()))
    texts = add_texts(tables["texts"], references, rows, again=bool(again))
    empty = {"texts": texts.n_empty}
    column = tables["texts"].columns.roles.get(Role.REFERENCE)
    references_by = dict(references)
    if column:
        references_by[column] = REFERENCE
    if "ratings" in tables:
        empty["ratings"] = add_ratings(tables["ratings"], systems, references_by, rows)
    renamed: dict[str, str] = {}
    of_metrics: dict[str, Direction] = {}
    if "scores" in tables:
        scores = tables["scores"]
        renamed = _rename_metrics(scores, rows.problems)
        of_metrics = _directions_of_metrics(scores, renamed, inputs, rows.problems)
        better = {renamed[old]: end.better for old, end in of_metrics.items()}
        empty["scores"] = add_scores(
            scores,
            systems,
            references_by,
            renamed,
            better,
            rows,
            again=bool(real["scores"] & (real.get("ratings", set()) | real["texts"])),
        )
    scales.ranges.update(
        {c: (1.0, float(len(words))) for c, words in scales.words.items()}
    )
    rated = list(dict.fromkeys(rating.criterion for rating in rows.ratings))
    by_cells = _guess_directions(tables.get("ratings"), rows)
    of_criteria = {
        name: direction(
            [name], inputs.directions, {}, by_cells=by_cells, criterion=True
        )
        for name in rated
    }
    criteria = _build_criteria(of_criteria, scales, rows)
    _check_names(inputs, criteria, renamed, rows.problems)
    check(rows, criteria)
    _check_silent_errors(rows, {**scales.kinds, **dict.fromkeys(scales.ranges, _ENDS)})
    raise_problems(rows.problems.lines())
    guessed = {name for name, end in of_criteria.items() if end.why != BY_USER}
    guessed |= {renamed[name] for name, end in of_metrics.items() if end.why != BY_USER}
    _warn(rows, criteria, guessed, sheets["texts"].name)
    # What belongs together: documents by attributes of their sources, systems by name.
    roles = tables["texts"].columns.roles
    labels = {
        role: role if role in roles else "" for role in (Role.STRATA, Role.CLUSTER)
    }
    primary = renamed.get(inputs.primary, inputs.primary) if inputs.primary else None
    design = Design(
        **labels,
        families=texts.families,
        primary=primary,
        primary_criterion=inputs.primary_criterion,
        tried=inputs.tried,
        fitted=[renamed.get(name, name) for name in inputs.fitted],
    )
    lines = [
        *direction_lines(of_metrics, "metrics"),
        *direction_lines(of_criteria, "criteria"),
    ]
    return OwnData(tables, rows, criteria, references, renamed, empty, design, lines)


def _problems_of_parts(columns: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield a problem for each file whose column of parts is named: texts are rated whole."""
    for kind in ("ratings", "scores"):
        if Role.PART in columns[kind]:
            option = f"--columns {kind}.part={quoted(columns[kind][Role.PART])}"
            fix = "metassay meta-eval tests labels of sentences and other parts"
            yield f"{option}: init reads {kind} of whole texts; {fix}"


def _read_sheets(
    inputs: Inputs, scales: Scales, problems: Findings
) -> dict[str, Sheet]:
    """Read the files of each kind, with the user's grades in words and words for no answer."""
    sheets: dict[str, Sheet] = {}
    for kind, paths in inputs.files.items():
        sheet = read_sheets(paths, problems, page=kind)
        if sheet is not None:
            sheets[kind] = replace(
                sheet,
                words=scales.words if kind == "ratings" else {},
                missing=frozenset(map(str.casefold, inputs.missing)),
            )
    return _choose_rows(sheets, inputs, problems)


def _choose_rows(
    sheets: Mapping[str, Sheet], inputs: Inputs, problems: Findings
) -> dict[str, Sheet]:
    """Return the rows that count; a problem where that is unclear of ratings."""
    columns = [column for sheet in sheets.values() for column in sheet.columns]
    rows = parse_rows(inputs.rows, columns)
    for column in rows:
        if column not in columns:
            fix = f"name one of these: {listed(columns, len(columns))}"
            problems.add(Place("--rows"), f"there is no column {quoted(column)}", fix)
    chosen = {
        kind: choose_rows(sheet, rows, problems) for kind, sheet in sheets.items()
    }
    if "ratings" in chosen:
        sheet, finding, remedy = leave_out_chosen(chosen["ratings"], rows, problems)
        notes = [f"{finding} {remedy}"] if finding else []
        chosen["ratings"] = replace(sheet, notes=[*sheet.notes, *notes])
        for what, fix in ask_rows(chosen["ratings"], rows):
            problems.add(Place(chosen["ratings"].name), what, fix)
    return chosen


def has_reference(rows: Rows) -> bool:
    """Whether any document has a reference."""
    return any(text.author == REFERENCE for text in rows.texts)


def _find_tables(
    sheets: Mapping[str, Sheet],
    columns: Mapping[str, Mapping[str, str]],
    problems: Findings,
) -> dict[str, Table]:
    """Find the columns of each sheet; `columns` are those that `--columns` names, by kind."""
    tables: dict[str, Table] = {}
    keys = Keys()
    for kind in (kind for kind in KINDS if kind in sheets):
        sheet, of_kind = sheets[kind], dict(columns[kind])
        # named for all files, a column may be called otherwise here
        if kind != "texts":
            optional = (Role.DOC, Role.SYSTEM)
            of_kind = {
                r: c
                for r, c in of_kind.items()
                if r not in optional or c in sheet.columns
            }
            doc, system = keys.columns.get(Role.DOC), keys.columns.get(Role.SYSTEM)
            if doc and system and doc not in of_kind.values():
                sheet = join_by_text(sheet, tables["texts"].sheet, doc, system)
        inferred = find_columns(kind, sheet, of_kind, keys, problems)
        if inferred is not None:
            check_files(kind, sheet, inferred, problems)
            tables[kind] = Table(sheet, inferred)
        if kind == "texts" and inferred is not None:
            documents = frozenset(sheet.cells(inferred.roles[Role.DOC]))
            keys = Keys(
                documents, frozenset(tables["texts"].names(Role.SYSTEM)), inferred.roles
            )
    return tables


def _find_references(
    option: str | None, systems: Sequence[str], problems: Findings, texts: Table
) -> dict[str, str]:
    """Map each system that wrote references to its author name: `reference`, `reference:2` ..."""
    at = Place(texts.sheet.name)
    if option is not None:
        if option and option not in systems:
            what = f"--reference: no system is called {quoted(option)}"
            problems.add(at, what, f"there are {', '.join(map(shown, systems))}")
        return {option: REFERENCE} if option else {}
    first = 2 if Role.REFERENCE in texts.columns.roles else 1
    references = sorted(name for name in systems if is_called(name, REFERENCES))
    for name in systems:
        if name not in references and is_called(name, LIKE_REFERENCE):
            what = f"{quoted(name)} may be a system, or have written the references"
            problems.add(
                at,
                what,
                f"say --reference {shlex.quote(name)}, or --reference '' if not",
            )
    return {
        name: REFERENCE if number == 1 else f"{REFERENCE}:{number}"
        for number, name in enumerate(references, start=first)
    }


def _rename_metrics(scores: Table, problems: Findings) -> dict[str, str]:
    """Give each metric a valid name that no metric of ours has."""
    ours = {
        name.casefold() for name, m in descriptions().items() if m.family != RELEASED
    }
    renamed: dict[str, str] = {}
    for metric in scores.names(Role.METRIC) or [scores.default_metric]:
        name = replace_letters(metric)[: LONGEST - len(_PREFIX)]
        if name.casefold() in ours or name_problem(name):
            name = f"{_PREFIX}{name}"
        at, fix = Place(scores.sheet.name), "rename it"
        if problem := words_problem(metric) or name_problem(name):
            problems.add(
                at, f"metric {quoted(metric)} cannot be a name", f"{fix}: {problem}"
            )
        elif name_problem(name, list(renamed.values())):
            problems.add(
                at,
                f"metric {quoted(metric)} would be called as another one, {name}",
                fix,
            )
        renamed[metric] = name
    return renamed


def _guess_directions(ratings: Table | None, rows: Rows) -> dict[str, Direction]:
    """Return the directions that the cells of ratings tell: passes, and ranks."""
    if ratings is None:
        return {}
    keys = ["doc_id", "author", "rater", "criterion", "value"]
    values = [[getattr(rating, key) for key in keys] for rating in rows.ratings]
    table = pd.DataFrame(values, columns=keys).astype({"value": "float64"})
    rankings, likely = find_rankings(table, "criterion", ["doc_id", "rater"])
    unnamed = {ONE_CRITERION} - {*ratings.sheet.columns}
    verdicts = ratings.verdicts(Role.CRITERION, ONE_CRITERION)
    return directions_of_cells(verdicts, rankings, unnamed, likely)


def _directions_of_metrics(
    scores: Table, renamed: Mapping[str, str], inputs: Inputs, problems: Findings
) -> dict[str, Direction]:
    """Find which end of each metric is better; a problem where that is unclear."""
    known = {name: metric.better for name, metric in descriptions().items()}
    column = scores.columns.roles.get(Role.METRIC)
    by_file = directions_in(scores.sheet, column, problems)
    verdicts = scores.verdicts(Role.METRIC, scores.default_metric)
    by_cells = directions_of_cells(verdicts, (), ())
    directions = {
        old: direction(
            [old, new], inputs.directions, known, by_file=by_file, by_cells=by_cells
        )
        for old, new in renamed.items()
    }
    _check_directions(directions, scores.sheet.name, problems)
    return directions


def _check_directions(
    directions: Mapping[str, Direction], file: str, problems: Findings
) -> None:
    for end in directions.values():
        if end.problem:
            problems.add(Place(file), *end.problem)


def _build_criteria(
    directions: Mapping[str, Direction], scales: Scales, rows: Rows
) -> dict[str, Criterion]:
    values: dict[str, list[float]] = {name: [] for name in directions}
    for rating in rows.ratings:
        values[rating.criterion] += [] if rating.value is None else [rating.value]
    at = Place(rows.ratings[0].at.file) if rows.ratings else Place("ratings")
    for problem in bad_criteria(values):
        rows.problems.add(at, f"criterion {problem}", "rename it")
    for name in dict.fromkeys([*scales.ranges, *scales.kinds]):
        if name not in values:
            what = f"--scale: no criterion is called {quoted(name)}"
            rows.problems.add(
                at, what, f"there are {', '.join(map(shown, values)) or 'none'}"
            )
    _check_directions(directions, at.file, rows.problems)
    criteria = {}
    for name, numbers in values.items():
        ends = scales.ranges.get(name) or ends_in_name(name, numbers)
        scale = guess_scale(numbers, ends, lower=directions[name].better == "lower")
        criteria[name] = scale.model_copy(
            update={"scale": scales.kinds.get(name, scale.scale)}
        )
    return criteria


def _check_names(
    inputs: Inputs,
    criteria: Collection[str],
    renamed: Mapping[str, str],
    problems: Findings,
) -> None:
    """Record names in options that no metric and no criterion has, and contradictions."""
    names = {*criteria, *renamed}
    of_criterion = inputs.primary_criterion
    if of_criterion is not None and of_criterion not in criteria:
        what = f"--primary-criterion: no criterion is called {quoted(of_criterion)}"
        fix = f"there are {', '.join(map(shown, sorted(criteria))) or 'none'}"
        problems.add(Place("the files"), what, fix)
    for fault in find_contradictions(inputs.primary, inputs.tried, inputs.fitted):
        what = f"--{'-'.join(fault.keys)}: {fault.text}"
        problems.add(Place("the files"), what, "")
    for option, values in inputs.directions.items():
        for name in values:
            if name not in names | {*renamed.values()}:
                what = f"--{option}: nothing is called {quoted(name)}"
                fix = f"there are {', '.join(map(shown, sorted(names)))}"
                problems.add(Place("the files"), what, fix)


# ---- errors that would stay silent, and numbers that contradict a guess -------------------------


def _check_silent_errors(rows: Rows, scales: Mapping[str, str]) -> None:
    """Record keys that a program changed, and codes that count as grades.

    `scales`: what the user declared of the scale of criteria.
    """
    documents = {source.doc_id for source in rows.sources}
    similar = {fold_key(doc): doc for doc in documents}
    for of_kind in (rows.ratings, rows.scores):
        unknown = {row.doc_id: row.at for row in of_kind if row.doc_id not in documents}
        for doc, at in unknown.items():
            if like := similar.get(fold_key(doc)):
                what = "names the same documents as the texts, except for zeros, case or .0"
                fix = "write them alike; programs for tables take 007 for 7 unless told it is text"
                example = f"doc {shown(doc)}, in the texts {shown(like)}"
                rows.problems.add(Place(at.file), what, fix, example)
    ratings: dict[str, list[RatingRow]] = defaultdict(list)
    for row in rows.ratings:
        if row.value is not None and scales.get(row.criterion) not in _DECLARED:
            ratings[row.criterion].append(row)
    for criterion, of_criterion in ratings.items():
        values = [row.value for row in of_criterion if row.value is not None]
        places = [row.at for row in of_criterion]
        check_ratings(
            criterion, values, places.__getitem__, rows.problems, rows.warnings
        )


def _warn(
    rows: Rows, criteria: Mapping[str, Criterion], guessed: set[str], file: str
) -> None:
    """Add warnings about odd numbers; `guessed`: criteria and metrics of guessed direction."""
    # Criteria that contradict each other, and metrics that contradict people.
    lower = {name: criterion.better == "lower" for name, criterion in criteria.items()}
    people = _text_means(
        [(r.doc_id, r.author, r.criterion, r.value) for r in rows.ratings], lower
    )
    for a, b in combinations(criteria, 2):
        if {a, b} & guessed and _contradict(people[a], people[b]):
            what = f"{quoted(a)} and {quoted(b)} go against each other"
            _warn_of_direction(rows.ratings[0].at.file, what, rows.warnings)
    # The mean over criteria, each divided by its standard deviation.
    overall = ((people - people.mean()) / people.std(ddof=0).replace(0, np.nan)).mean(
        axis=1
    )
    lower = {
        m.metric: m.better == "lower" for m in rows.metrics if m.better != "neither"
    }
    scores = _text_means(
        [(r.doc_id, r.author, r.metric, r.value) for r in rows.scores], lower
    )
    for at, metric, _ in rows.metrics:
        if metric in guessed & lower.keys() and _contradict(scores[metric], overall):
            what = f"metric {quoted(metric)} disagrees with people"
            _warn_of_direction(at.file, what, rows.warnings)
    _warn_of_systems(rows, Place(file))


def _warn_of_direction(file: str, what: str, warnings: Findings) -> None:
    fix = "if one of the directions is wrong, say --lower NAME or --higher NAME"
    warnings.add(Place(file), what, fix)


def _text_means(
    values: Sequence[tuple[str, str, str, float | None]], lower: Mapping[str, bool]
) -> pd.DataFrame:
    """The mean of each text by each name in `lower`, negated where that is True."""
    frame = pd.DataFrame(values, columns=["doc", "system", "name", "value"])
    frame["value"] = frame["value"].astype("float64")
    means = frame.groupby(["doc", "system", "name"])["value"].mean().unstack("name")
    return means.reindex(columns=list(lower)) * [
        -1 if lower[name] else 1 for name in lower
    ]


def _contradict(a: "pd.Series[float]", b: "pd.Series[float]") -> bool:
    both = pd.concat([a, b], axis=1).dropna()
    if len(both) < _TEXTS or both.nunique().min() < 2:
        return False
    # Spearman's, without SciPy, which takes a second to load.
    rho = float(both.rank().corr().to_numpy()[0, 1])
    return rho < _LOW and rho * len(both) ** 0.5 < _SURE


def _warn_of_systems(rows: Rows, at: Place) -> None:
    """Warn of systems that nobody rated or that may be people, and of documents with one text."""
    texts = [text for text in rows.texts if not is_reference(text.author)]
    systems = sorted({text.author for text in texts})
    rated = {rating.author for rating in rows.ratings}
    for name in (name for name in systems if rated and name not in rated):
        what = f"system {quoted(name)} has no ratings, and others do"
        rows.warnings.add(
            at, what, "if it is not a system, name the columns or rows that are"
        )
    for name in (name for name in systems if is_called(name, HUMAN)):
        what = f"{quoted(name)} is taken for a system"
        rows.warnings.add(
            at, what, f"if it wrote the references, say --reference {quoted(name)}"
        )
    if len(systems) > 1 and len({text.doc_id for text in texts}) == len(texts):
        what = "no document has texts of two systems, so none are compared on the same documents"
        fix = "if another column names the documents, say --columns doc=COLUMN"
        rows.warnings.add(at, what, fix)
