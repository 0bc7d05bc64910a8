"""Test metrics against people: `meta_eval` of two frames, `evaluate_sheets` of two files."""

import importlib.util
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from threadpoolctl import threadpool_limits

from metassay.api.columns import REMEDY, InputTable, Roles
from metassay.api.eval_request import EvalRequest, EvalSettings, check_request
from metassay.api.reading import (
    count_overlap,
    pool_parts,
    rater_means,
    read_both,
    warn_of_names,
)
from metassay.api.results import Results, list_names
from metassay.api.slices import Slice, find_groups, find_slices
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput, collect_problems, raise_problems
from metassay.format.numbers import counted
from metassay.meta_evaluation.analysis import Evaluation, Progress
from metassay.meta_evaluation.evaluate import RESULT_TABLES, evaluate, evaluate_raters
from metassay.meta_evaluation.layouts import Groups
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.meta_evaluation.study import NAMELESS
from metassay.reporting.certificates import advice, best_of
from metassay.reporting.sentences import make_certificates
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.data_warnings import DataWarning
from metassay.tables.parquet import empty, round_trip
from metassay.tables.scores import SCORES
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings
from metassay.tabular.scales import parse_scales
from metassay.tabular.sheet import Sheet, frame_sheet

TableProgress = Callable[[str], Progress]


class _Inputs(NamedTuple):
    """The files and the settings, checked against each other."""

    scores: InputTable | None
    ratings: InputTable
    settings: EvalSettings
    slices: list[Slice]
    groups: Groups


@dataclass(frozen=True, eq=False)
class MetaEvaluation(Results):
    """The results of `meta_eval`; each table is an attribute: `.certificates`, `.agreement`, ...

    `tables` has them by name, with the columns and rounding of docs/tables.md, and
    `raters` beside them. `warnings`: what to know before verdicts are trusted. `notes`:
    what was assumed, counted and left out. `choices`: all that the numbers depend on
    beside scores and ratings.
    """

    options: MetaOptions
    certification: CertificationOptions

    @property
    def answer(self) -> tuple[str, ...]:
        """Which metric to use for which decision, in a sentence each; empty for ratings alone.

        The best metric of every decision comes first. `certificates` has the numbers
        behind.
        """
        table = self.tables.get("certificates")
        return (
            ()
            if table is None
            else tuple(advice(best_of(table), self.options.confidence))
        )

    def __repr__(self) -> str:
        """Return the answer, then the number of warnings and notes."""
        rest = f"{counted(len(self.warnings), 'warning')}, {counted(len(self.notes), 'note')}"
        answer = self.answer or [
            "No metric was tested against people: see `agreement`."
        ]
        return "\n".join([*answer, f"{rest}; tables: {', '.join(self.tables)}"])

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in repr(self).splitlines())

    def save(self, folder: str | Path, *, figures: bool = False) -> None:
        """Write the page `index.html`, every table as CSV, `choices.json` and `notes.txt`.

        With `figures`, also figures/forest.svg and .png for a paper: each metric's
        correlation by criterion, with intervals. Matplotlib draws them. The folder must
        be new or empty, and appears whole or not at all; else BadInput. Tables have all
        their digits; a missing number is an empty cell.
        """
        if figures:
            check_drawing("figures")
        with whole_folder(Path(folder), "save") as partial:
            self.write(partial, figures=figures)

    def write(self, folder: Path, *, figures: bool = False) -> None:
        """Write the same files to an existing, empty folder."""
        self.write_tables(folder)
        # Here, because a call without pages needs none of it.
        from metassay.reporting.meta_page import write_meta_page
        from metassay.reporting.page import draw_figures

        names = [
            str(self.choices[key]) for key in ("scores", "ratings") if self.choices[key]
        ]
        call = f"meta_eval({', '.join(names)})"
        if all("." in name for name in names):  # files, not frames
            call = f"metassay meta-eval {shlex.join(names)}"
        write_meta_page(
            self.tables,
            folder,
            options=self.certification,
            confidence=self.options.confidence,
            title=" and ".join(names),
            command=call,
            notes=self.notes,
        )
        if figures and "certificates" in self.tables:
            useful = self.certification.useful
            draw_figures(folder, self.tables["certificates"], {"forest": ""}, useful)


def check_drawing(option: str) -> None:
    """Raise BadInput about this option if Matplotlib, which draws figures, is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise BadInput(
            f"{option}: needs matplotlib, which is not installed; run: pip install matplotlib"
        )


def meta_eval(  # noqa: PLR0913 - one argument per choice, all named, as on the command line
    scores: Any = None,
    ratings: Any = None,
    *,
    doc: str = "doc_id",
    system: str = "system",
    rater: str = "rater",
    by: str | Sequence[str] = (),
    strata: str = "",
    cluster: str = "",
    family: str = "",
    part: str = "",
    rows: Mapping[str, str | Sequence[str]] | None = None,
    missing: str | Sequence[str] = (),
    primary: str | None = None,
    primary_criterion: str | None = None,
    tried: int = 1,
    fitted: str | Sequence[str] = (),
    lower: str | Sequence[str] = (),
    higher: str | Sequence[str] = (),
    columns: str | Sequence[str] = (),
    scale: Mapping[str, str] | None = None,
    compared: str | Sequence[str] | None = None,
    confounds: str | Sequence[str] = (),
    **options: Any,
) -> MetaEvaluation:
    """Find out which metric to trust, for which decision, and how sure that is, without files.

    Parameters
    ----------
    scores : frame of pandas, Arrow or polars, optional
        One row per text, with columns doc_id, system (or author), optionally judge and
        part, and one column per metric (wide); or metric and value (long). None: only
        the raters' agreement and means are computed.
    ratings : frame of pandas, Arrow or polars
        One row per rating, with columns doc_id and system, optionally rater and study,
        and one column per criterion (wide); or criterion and value (long).
    doc, system, rater : str
        Names of these columns. If both frames lack `system`, all texts are by one
        system.
    by : str or sequence of str
        Columns of either frame whose values slice the texts; each slice is also
        evaluated by itself, as a study `STUDY, column=value`.
    strata, cluster, family : str
        Columns of either frame that group texts: only documents of the same stratum are
        compared; documents of one cluster (a patient, a topic) and systems of one
        family (versions) count as one.
    part : str, optional
        Column that names a part of a text, such as a sentence or a claim, in both frames.
        Each part then counts as a text of its own, and those of a document as one cluster.
    rows : mapping, optional
        Which rows count, by the values of a column: `{"Status": ["APPROVED"]}`.
    missing : str or sequence of str
        Words that mean that nobody rated, such as "skip".
    primary : str, optional
        The one metric that was named before anybody saw results; it is not adjusted for
        the others.
    primary_criterion : str, optional
        The one criterion that was named before anybody saw results; it is not adjusted
        for the other criteria.
    tried : int
        Each metric is the best of so many that were tried on these ratings elsewhere,
        such as prompts of a judge; p and intervals are adjusted for all of them.
    fitted : str or sequence of str
        Metrics that were fitted, tuned or trained on these ratings; they get no
        verdict.
    lower, higher : str or sequence of str
        Metrics and criteria of which less, or more, is better, if their names do not
        say it, or say the opposite.
    columns : str or sequence of str
        What columns hold, such as `ratings.raters=ann,ben`, if names and cells leave
        it open.
    scale : mapping, optional
        Scales of criteria: nominal, ordinal, interval (default) or count; their ends,
        `1..5`; or their grades in words, `poor<fair<good`.
    compared : str or sequence of str, optional
        Metrics to compare with each other; by default all, if at most 12.
    confounds : str or sequence of str
        Columns of `scores` that may explain a metric and are not ranked.
    **options
        Other fields of MetaOptions (`resamples` 1000, `confidence` .95, `seed` 0,
        `permutations`, `coefficient`, `resample`, ...) and those of
        CertificationOptions (`useful`, `margin`).

    Returns
    -------
    MetaEvaluation
        The tables, and warnings and notes about them.

    Raises
    ------
    BadInput
        With all problems at once, each with the row's index label and a remedy.

    Notes
    -----
    Missing values (None, NaN, pd.NA, "", "N/A", "-", "none") are left out and counted, never 0.
    Equal input gives equal numbers, whatever the order of rows.
    """
    if ratings is None:
        fix = "meta_eval(scores, ratings); for ratings alone: meta_eval(ratings=...)"
        raise BadInput(f"ratings are missing: {fix}")
    faults = Findings()
    of_scores = (
        frame_sheet(scores, "scores", faults, REMEDY) if scores is not None else None
    )
    of_ratings = frame_sheet(ratings, "ratings", faults, REMEDY)
    if faults or of_ratings is None:
        raise BadInput(faults.lines())
    request = EvalRequest(
        Roles(
            doc=doc,
            system=system,
            rater=rater,
            by=list_names(by),
            strata=strata,
            cluster=cluster,
            family=family,
            part=part,
            columns=list_names(columns),
            rows=_words_of_rows(rows or {}),
            missing=list_names(missing),
        ),
        {"lower": list_names(lower), "higher": list_names(higher)},
        dict(scale or {}),
        None if compared is None else list_names(compared),
        list_names(confounds),
        {
            **options,
            "primary": primary,
            "primary_criterion": primary_criterion,
            "tried": tried,
            "fitted": list(list_names(fitted)),
        },
        Caller.PYTHON,
    )
    # Small matrices gain nothing from several threads of linear algebra, which wait for
    # each other in a loop.
    with threadpool_limits(limits=1, user_api="blas"):
        return evaluate_sheets([of_scores] if of_scores else [], [of_ratings], request)


def evaluate_sheets(
    scores: Sequence[Sheet],
    ratings: Sequence[Sheet],
    request: EvalRequest,
    progress: TableProgress | None = None,
) -> MetaEvaluation:
    """Evaluate scores against ratings, for `meta_eval` and the command.

    `progress`: called with the name of each table that is begun. Raises BadInput as
    `meta_eval`.
    """
    inputs = _read_all(scores, ratings, request)
    notes, warnings = list[str](), list(inputs.ratings.warnings)
    if inputs.scores is not None:
        both, scored, rated = count_overlap(inputs.scores, inputs.ratings)
        notes.append(
            f"{counted(both, 'text')} with scores and ratings; {scored:,} with scores only,"
            f" {rated:,} with ratings only"
        )
        for line in warn_of_names(inputs.scores, inputs.ratings):
            warnings.append(DataWarning(kind="input", finding=line))
        # two files of ratings?
        if inputs.scores.cells.columns == inputs.ratings.cells.columns:
            names = f"{inputs.scores.name} and {inputs.ratings.name}"
            finding = f"{names} have the same columns."
            option = request.caller.option("ratings")
            remedy = f"If both hold ratings, name both by {option}."
            warnings.append(DataWarning(kind="input", finding=finding, remedy=remedy))
    pieces = [_tables(inputs, notes, warnings, progress)]
    for part in inputs.slices:
        if of_part := _select(inputs, part):
            pieces.append(_tables(of_part, [], [], progress, f"{part.name}: "))
        else:
            notes.append(f"{part.name}: no text with scores and ratings: not evaluated")
    tables = {
        name: _concat(name, [piece[name] for piece in pieces]) for name in pieces[0]
    }
    settings = inputs.settings
    if "evidence" in tables:  # the certificates have all of its numbers
        rows = make_certificates(tables.pop("evidence"), settings.certification)
        tables["certificates"] = round_trip(CERTIFICATES, rows)
    return MetaEvaluation(
        tables=tables,
        notes=(*notes, *_notes(inputs, request)),
        choices=_choices(inputs, request),
        options=settings.options,
        certification=settings.certification,
    )


def _read_all(
    scores: Sequence[Sheet], ratings: Sequence[Sheet], request: EvalRequest
) -> _Inputs:
    """Read all files and options; raises BadInput with all faults of the files, or of options."""
    problems: list[str] = []
    scales = parse_scales(request.scale.items(), problems, request.caller)
    ratings = [replace(sheet, words=scales.words) for sheet in ratings]
    of_scores, of_ratings = read_both(scores, ratings, request.all_names, scales)
    if request.roles.part:
        of_ratings, documents = pool_parts(of_ratings)
        if of_scores is not None:
            of_scores, of_scored = pool_parts(of_scores)
            documents |= of_scored
    files = [file for file in (of_scores, of_ratings) if file is not None]
    with collect_problems(problems):
        settings = check_request(of_scores, of_ratings, request, scales)
    with collect_problems(problems):
        slices, notes = find_slices(files, request.roles.by)
    with collect_problems(problems):
        groups, of_groups = find_groups(files, request.roles)
    raise_problems(problems)
    if request.roles.part and (not groups.clusters or request.roles.alone("cluster")):
        groups = groups._replace(clusters=documents)
        each = f"each {request.roles.part} counts as a text, and those of a document as one"
        of_groups.append(f"{each} cluster")
    settings = settings._replace(notes=[*notes, *of_groups, *settings.notes])
    return _Inputs(of_scores, of_ratings, settings, slices, groups)


def _tables(
    inputs: _Inputs,
    notes: list[str],
    warnings: Sequence[DataWarning],
    progress: TableProgress | None,
    prefix: str = "",
) -> dict[str, pd.DataFrame]:
    settings, rated = inputs.settings, inputs.ratings.table
    evaluation = Evaluation(
        scores=empty(SCORES) if inputs.scores is None else inputs.scores.table,
        ratings=rated,
        criteria=settings.criteria,
        better=settings.better,
        options=settings.options,
        groups=inputs.groups,
        progress=None
        if progress is None
        else lambda table: progress(f"{prefix}{table}"),
        note=notes.append,
        known_warnings=warnings,
    )
    tables = (
        evaluate(evaluation)
        if inputs.scores is not None
        else evaluate_raters(evaluation)
    )
    return {**tables, "raters": rater_means(rated)}


def _select(inputs: _Inputs, part: Slice) -> _Inputs | None:
    """Return a slice's texts, as studies with its name; None if no text can be evaluated."""
    rated = part.rows_of(inputs.ratings.table)
    rated = rated.assign(study=rated["study"] + f", {part.name}").reset_index(drop=True)
    ratings, scores = inputs.ratings._replace(table=rated), inputs.scores
    if scores is not None:
        scores = scores._replace(
            table=part.rows_of(scores.table).reset_index(drop=True)
        )
        try:
            count_overlap(scores, ratings)
        except BadInput:
            return None
    return None if rated.empty else inputs._replace(scores=scores, ratings=ratings)


def _concat(name: str, pieces: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join the whole and the slices to a table as the stage would write and read it.

    A table without studies is of scores alone, so only the whole has it.
    """
    table = pieces[0]
    if "study" in table and len(pieces) > 1:
        filled = [piece for piece in pieces if len(piece)]
        table = pd.concat(filled, ignore_index=True) if filled else table
    return round_trip(RESULT_TABLES[name], table) if name in RESULT_TABLES else table


def _notes(inputs: _Inputs, request: EvalRequest) -> Iterator[str]:
    files = [file for file in (inputs.scores, inputs.ratings) if file is not None]
    if all((file.table["author"] == NAMELESS).all() for file in files):
        where = (
            "neither file has" if len(files) > 1 else f"{files[0].name} does not have"
        )
        yield (
            f"{where} a column {request.roles.system!r}: all texts count as one system's."
            " Two texts of one document, and two systems, cannot be compared"
        )
    for file in files:
        yield from file.notes
    yield from inputs.settings.notes


def _choices(inputs: _Inputs, request: EvalRequest) -> dict[str, object]:
    """Return all that the numbers depend on beside the two files."""
    scores, ratings = (
        file and (", ".join(part.name for part in file.cells.parts) or file.name)
        for file in (inputs.scores, inputs.ratings)
    )
    settings = inputs.settings
    return {
        "scores": scores,
        "ratings": ratings,
        "columns": {k: v for k, v in request.roles._asdict().items() if k != "values"},
        "better": settings.better,
        "criteria": {name: c.model_dump() for name, c in settings.criteria.items()},
        "options": {
            **settings.options.model_dump(),
            **settings.certification.model_dump(),
        },
    }


def _words_of_rows(rows: Mapping[str, str | Sequence[str]]) -> tuple[str, ...]:
    """Write which rows count as the command line does."""
    return tuple(
        f"{column}={value}"
        for column, values in rows.items()
        for value in list_names(values)
    )
