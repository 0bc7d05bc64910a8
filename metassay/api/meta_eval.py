"""Metrics tested against people: from two DataFrames, and for the command from two files."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.api.columns import REMEDY, Given, Named
from metassay.api.eval_request import Asked, Wanted, asked
from metassay.api.reading import misnamed, overlap, rater_means, read_both
from metassay.api.results import Results, several
from metassay.api.slices import Slice, grouped, sliced
from metassay.core.errors import BadInput, collect_problems, raise_problems
from metassay.format.numbers import counted
from metassay.meta_evaluation.agreement import agreement
from metassay.meta_evaluation.analysis import Evaluation, Progress
from metassay.meta_evaluation.evaluate import RESULT_TABLES, evaluate
from metassay.meta_evaluation.layouts import Groups
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.reporting.certificates import advice, best_of
from metassay.reporting.sentences import certificates
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.designs import DESIGNS
from metassay.tables.parquet import as_written, empty
from metassay.tabular.rows import Findings
from metassay.tabular.scales import parse_scales
from metassay.tabular.sheet import Sheet, frame_sheet

Told = Callable[[str], Progress]
_ROLES = ("doc", "system", "rater", "strata", "cluster", "family")  # arguments of their own
_CALLED = {"confound": "confounds"}
# An option, and its value where one follows, which is no word of the sentence: parts of it may be
# in quotes, and it ends before punctuation.
_OPTION = re.compile(
    r"--([a-z]+)(?: (?!(?:and|or|if|names)\b)"
    r"((?:'[^']*'|[^\s';:,()]|[,.](?=\S))*(?:'[^']*'|[^\s';:,.()]|\.{3})))?"
)


class _Read(NamedTuple):
    """The files and the words, once they fit each other."""

    scores: Given | None
    ratings: Given
    said: Asked
    slices: list[Slice]
    groups: Groups


@dataclass(frozen=True, eq=False)
class MetaEvaluation(Results):
    """What scores and ratings say; each table is an attribute: `.certificates`, `.agreement`, ...

    `tables` holds them by name, with columns and rounding as docs/tables.md says, and `raters`
    beside them. `warnings` are what belongs together as the data show it, and names that only one
    side has; `notes` what was assumed, counted and left out. `choices`: all that the numbers depend
    on beside scores and ratings.
    """

    warnings: tuple[str, ...]
    options: MetaOptions
    certification: CertificationOptions

    @property
    def answer(self) -> tuple[str, ...]:
        """Which metric to use for which decision, in a sentence each; none of ratings alone.

        The first of every decision comes first. `certificates` has what they rest on.
        """
        every = self.tables.get("certificates")
        return () if every is None else tuple(advice(best_of(every), self.options.confidence))

    def __repr__(self) -> str:
        """The answer, then how many warnings and notes there are."""
        rest = f"{counted(len(self.warnings), 'warning')}, {counted(len(self.notes), 'note')}"
        answer = self.answer or ["No metric was tested against people: see `agreement`."]
        return "\n".join([*answer, f"{rest}; tables: {', '.join(self.tables)}"])

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in repr(self).splitlines())

    @property
    def of_names(self) -> tuple[str, ...]:
        """The warnings without those of the design, which pages and terminals say elsewhere."""
        return tuple(one for one in self.warnings if one not in _of_design(self.tables))

    def _texts(self) -> Mapping[str, Sequence[str]]:
        return {"notes.txt": [*(f"warning: {one}" for one in self.warnings), *self.notes]}

    def _write_page(self, folder: Path) -> None:
        # Here, because Matplotlib takes a second to import and a call without pages needs none.
        from metassay.reporting.meta_page import write_meta_page

        names = [str(self.choices[one]) for one in ("scores", "ratings") if self.choices[one]]
        write_meta_page(
            self.tables,
            folder,
            options=self.certification,
            confidence=self.options.confidence,
            title=" and ".join(names),
            command=_command(names),
            notes=(*self.of_names, *self.notes),
        )


def _command(names: Sequence[str]) -> str:
    """What makes a page again, with the options of choices.json; `names` are files, or frames."""
    files = all("." in name for name in names)
    return f"metassay meta-eval {shlex.join(names)}" if files else f"meta_eval({', '.join(names)})"


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
    primary: str | None = None,
    lower: str | Sequence[str] = (),
    higher: str | Sequence[str] = (),
    columns: str | Sequence[str] = (),
    scale: Mapping[str, str] | None = None,
    compared: str | Sequence[str] | None = None,
    confounds: str | Sequence[str] = (),
    **options: Any,
) -> MetaEvaluation:
    """Say which metric to trust, for which decision, and how sure that is; without any file.

    Parameters
    ----------
    scores : frame of pandas, Arrow or polars, optional
        One row per text, with columns doc_id, system (or author), perhaps judge and part, and one
        column per metric (wide); or metric and value (long). None: the raters' agreement and means
        alone.
    ratings : frame of pandas, Arrow or polars
        The same with criteria, or criterion and value, and perhaps rater and study.
    doc, system, rater : str
        What these columns are called. Where both lack `system`, all texts are by one system.
    by : str or sequence of str
        Columns of either whose values slice the texts; each slice is evaluated by itself as a
        study `STUDY, column=value` beside the whole.
    strata, cluster, family : str
        Columns of either that say what belongs together: documents of one stratum are held against
        each other alone; documents of one cluster (a patient, a topic) and systems of one family
        (versions) count as one.
    primary : str, optional
        The one metric that was named before anybody looked; it is not adjusted for the others.
    lower, higher : str or sequence of str
        Metrics and criteria of which less, or more, is better, where their names say otherwise or
        nothing.
    columns : str or sequence of str
        What columns hold, such as `ratings.raters=ann,ben`, where names and cells do not say it.
    scale : mapping, optional
        Of criteria: nominal, ordinal, interval (default) or count; their ends, `1..5`; or their
        grades in words, `poor<fair<good`.
    compared : str or sequence of str, optional
        Metrics to hold against each other; by default all, if at most 12.
    confounds : str or sequence of str
        Columns of `scores` that may explain a metric and are not ranked.
    **options
        Other fields of MetaOptions (`resamples` 1000, `confidence` .95, `seed` 0, `permutations`,
        `coefficient`, `resample`, ...) and those of CertificationOptions (`useful`, `margin`).

    Returns
    -------
    MetaEvaluation
        The tables, and what is worth knowing of them.

    Raises
    ------
    BadInput
        With every problem at once, each with the row's index label and a remedy.

    Notes
    -----
    Missing (None, NaN, pd.NA, "", "N/A", "-", "none") is left out and counted, never 0. Equal input
    gives equal numbers, in whatever order the rows are.
    """
    if ratings is None:
        fix = "meta_eval(scores, ratings); with ratings alone, say so: meta_eval(ratings=...)"
        raise BadInput(f"ratings are missing: {fix}")
    faults = Findings()
    of_scores = frame_sheet(scores, "scores", faults, REMEDY) if scores is not None else None
    of_ratings = frame_sheet(ratings, "ratings", faults, REMEDY)
    if faults or of_ratings is None:
        raise BadInput(faults.lines())
    wanted = Wanted(
        Named(doc, system, rater, several(by), strata, cluster, family, several(columns)),
        {"lower": several(lower), "higher": several(higher)},
        dict(scale or {}),
        None if compared is None else several(compared),
        several(confounds),
        {**options, "primary": primary},
    )
    with _naming_arguments():
        found = evaluated([of_scores] if of_scores else [], [of_ratings], wanted)
    warnings, notes = (tuple(map(_of_arguments, told)) for told in (found.warnings, found.notes))
    return replace(found, warnings=warnings, notes=notes)


def evaluated(
    scores: Sequence[Sheet], ratings: Sequence[Sheet], wanted: Wanted, progress: Told | None = None
) -> MetaEvaluation:
    """What `meta_eval` and the command both do with cells; `progress` as for `evaluate`."""
    read = _read(scores, ratings, wanted)
    notes, warnings = list[str](), list[str]()
    if read.scores is not None:
        both, scored, rated = overlap(read.scores, read.ratings)
        notes.append(
            f"{counted(both, 'text')} with scores and ratings; {scored:,} with scores only,"
            f" {rated:,} with ratings only"
        )
        warnings = [*misnamed(read.scores, read.ratings), *_two_raters(read.scores, read.ratings)]
    pieces = [_tables(read, read.scores, read.ratings, notes, progress)]
    for one in read.slices:
        found = _of_slice(read, one, progress)
        if found is None:
            notes.append(f"{one.name}: no text with scores and ratings: not evaluated")
        else:
            pieces.append(found)
    tables = {name: _joined(name, [piece[name] for piece in pieces]) for name in pieces[0]}
    if "evidence" in tables:  # its numbers all stand in the certificates
        made = certificates(tables.pop("evidence"), read.said.certification)
        tables["certificates"] = as_written(CERTIFICATES, made)
    return MetaEvaluation(
        *(tables, (*notes, *_notes(read, wanted)), _choices(read, wanted)),
        *((*_of_design(tables), *warnings), read.said.options, read.said.certification),
    )


def _read(scores: Sequence[Sheet], ratings: Sequence[Sheet], wanted: Wanted) -> _Read:
    """All files and all words; raises BadInput with the faults of the files, or of the words."""
    problems: list[str] = []
    scales = parse_scales(wanted.scale.items(), problems)
    ratings = [replace(one, words=scales.words) for one in ratings]
    of_scores, of_ratings = read_both(scores, ratings, wanted.all_names)
    given = [one for one in (of_scores, of_ratings) if one is not None]
    found: list[Any] = []
    for step in (
        partial(asked, of_scores, of_ratings, wanted, scales),
        partial(sliced, given, wanted.named.by),
        partial(grouped, given, wanted.named),
    ):
        with collect_problems(problems):
            found.append(step())
    raise_problems(problems)
    said, (slices, notes), (groups, more) = found
    said = said._replace(notes=[*notes, *more, *said.notes])
    return _Read(of_scores, of_ratings, said, slices, groups)


def _tables(
    read: _Read,
    scores: Given | None,
    ratings: Given,
    notes: list[str],
    progress: Told | None,
    what: str = "",
) -> dict[str, pd.DataFrame]:
    said, rated = read.said, ratings.table
    told = None if progress is None else lambda table: progress(f"{what}{table}")
    if scores is not None:
        evaluation = Evaluation(
            *(scores.table, rated, said.criteria, said.better, said.options),
            groups=read.groups,
            progress=told,
            note=notes.append,
        )
        made = evaluate(evaluation)
    else:
        made = {"agreement": agreement(rated, said.criteria, said.options, read.groups.clusters)}
    return {**made, "raters": rater_means(rated)}


def _of_slice(read: _Read, one: Slice, progress: Told | None) -> dict[str, pd.DataFrame] | None:
    """The slice's tables, as studies that carry its name; None where it has nothing to say."""
    rated = one.of(read.ratings.table)
    rated = rated.assign(study=rated["study"] + f", {one.name}").reset_index(drop=True)
    ratings = read.ratings._replace(table=rated)
    scores = read.scores
    if scores is not None:
        scores = scores._replace(table=one.of(scores.table).reset_index(drop=True))
        try:
            overlap(scores, ratings)
        except BadInput:
            return None
    if rated.empty:
        return None
    return _tables(read, scores, ratings, [], progress, f"{one.name}: ")


def _joined(name: str, pieces: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One table of the whole and the slices, as the stage would write and read it.

    A table without studies is of scores alone, and stays that of the whole.
    """
    whole_one, *others = pieces
    if "study" in whole_one and others:
        filled = [piece for piece in pieces if len(piece)]
        whole_one = pd.concat(filled, ignore_index=True) if filled else whole_one
    return as_written(RESULT_TABLES[name], whole_one) if name in RESULT_TABLES else whole_one


def _of_design(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """What was found or suspected to belong together, each line once."""
    found = tables["designs"] if "designs" in tables else empty(DESIGNS)
    said = (text for name in ("found", "suspected") for text in found[name])
    return list(dict.fromkeys(line for text in said for line in text.splitlines()))


def _notes(read: _Read, wanted: Wanted) -> Iterator[str]:
    given = [one for one in (read.scores, read.ratings) if one is not None]
    if all("author" not in one.keys for one in given):
        where = "neither file has" if len(given) > 1 else f"{given[0].name} does not have"
        yield (
            f"{where} a column {wanted.named.system!r}: all texts count as one system's."
            " Two texts of one document, and two systems, cannot be compared"
        )
    for one in given:
        yield from one.notes
    yield from read.said.notes


def _two_raters(scores: Given, ratings: Given) -> Iterator[str]:
    """Two files of ratings are easily taken for one of scores and one of ratings."""
    if scores.cells.columns == ratings.cells.columns:
        both = f"{scores.name} and {ratings.name} have the same columns"
        yield f"{both}; if both hold ratings, name both by --ratings"


def _choices(read: _Read, wanted: Wanted) -> dict[str, object]:
    """What the numbers depend on beside the two files."""
    scores, ratings = (
        one and (", ".join(part.name for part in one.cells.parts) or one.name)
        for one in (read.scores, read.ratings)
    )
    return {
        "scores": scores,
        "ratings": ratings,
        "columns": {k: v for k, v in wanted.named._asdict().items() if k != "values"},
        "better": read.said.better,
        "criteria": {name: one.model_dump() for name, one in read.said.criteria.items()},
        "options": {**read.said.options.model_dump(), **read.said.certification.model_dump()},
    }


def _of_arguments(message: str) -> str:
    """`--columns doc=id` is `doc='id'`, `--scale a=1..5` is `scale={'a': '1..5'}`, `--lower` is
    `lower=`."""
    return _OPTION.sub(_argument, message)


@contextmanager
def _naming_arguments() -> Iterator[None]:
    """What is raised inside names arguments."""
    try:
        yield
    except BadInput as error:
        raise BadInput([_of_arguments(line) for line in error.problems]) from None


def _argument(found: re.Match[str]) -> str:
    option, value = found[1], "".join(shlex.split(found[2] or ""))
    name = _CALLED.get(option, option)
    first, equals, second = value.partition("=")
    if option == "columns" and equals and first in _ROLES:
        return f"{first}={second!r}"
    if option == "scale" and equals:
        criterion, _, scale = value.rpartition("=")
        return f"{name}={{{criterion!r}: {scale!r}}}"
    return f"{name}={value!r}" if value else f"{name}="
