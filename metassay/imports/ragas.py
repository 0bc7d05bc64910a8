"""Ragas: experiments as CSV; annotations as {metric: [{metric_input, metric_output, target}]}."""

import ast
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from metassay.core.errors import quoted
from metassay.imports.items import (
    Item,
    Judgment,
    Object,
    Task,
    Tool,
    digest,
    field_of,
    first,
    number,
    parse_rating,
    parse_value,
    text,
)
from metassay.imports.records import Part, Steps, parts
from metassay.tabular.column_synonyms import RATERS, fold_name, scorer_of
from metassay.tabular.files import read_sheet
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet

_QUESTION, _ANSWER = ("user_input", "question"), ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
_REFERENCE = ("reference", "ground_truth", "ground_truths")
_GRADES = 11  # different words of a person's labels, at most
_TEXTS = {*_QUESTION, *_ANSWER, *_CONTEXTS, *_REFERENCE, "id", "index", "row_id"}


def read(task: Task) -> Iterator[Item]:
    """Yield the rows of an experiment, or the records of annotations."""
    if task.path.suffix.lower() == ".json":
        yield from _annotations(task)
    else:
        yield from _experiment(task)


def _experiment(task: Task) -> Iterator[Item]:
    sheet = read_sheet(task.path, task.problems)
    if sheet is None:
        return
    named = {name for names in task.columns.values() for name in names}
    waiting = [name for name in sheet.columns if name not in {*_TEXTS, *named}]
    rater = next((name for name in waiting if _names_raters(sheet, name)), "")
    people = [name for name in waiting if _is_person(sheet, name)]
    metrics = [
        name for name in waiting if name not in people and _is_metric(sheet, name)
    ]
    _note_unread(task, {*waiting} - {rater, *people, *metrics}, sheet)
    for place, row in sheet.rows:
        scores = [parse_value(name, row[name]) for name in metrics]
        by = row.get(rater, "")
        ratings = [parse_rating(name, row[name], by) for name in people]
        yield _item(place, row, chain.from_iterable([*scores, *ratings]))


def _names_raters(sheet: Sheet, name: str) -> bool:
    """Whether a column says who rated; of numbers, `expert` has an expert's ratings."""
    return fold_name(name) in RATERS and sheet.share_of_numbers(name) <= 0.5


def _is_person(sheet: Sheet, name: str) -> bool:
    """Whether a column has a person's ratings: of the same names as in `metassay judge-check`."""
    if _names_raters(sheet, name) or scorer_of(name) != "human":
        return False
    # A reference by another name is different in each row.
    return len(sheet.cells(name)) <= _GRADES or sheet.share_of_numbers(name) > 0.5


def _is_metric(sheet: Sheet, name: str) -> bool:
    """Whether a column has numbers, or the name of a judge's labels."""
    return name.endswith("_label") or sheet.share_of_numbers(name) > 0.5


def _note_unread(task: Task, names: Collection[str], sheet: Sheet) -> None:
    listed = ", ".join(quoted(name) for name in sheet.columns if name in names)
    fix = "if it has verdicts, say --columns judge=FIELD or human=FIELD"
    task.note(len(names), "column", f"not read: {listed}", fix)


def _item(place: Place, row: Object, judgments: Iterable[Judgment]) -> Item:
    question, contexts = first(row, *_QUESTION), first(row, *_CONTEXTS)
    if isinstance(contexts, str) and contexts.startswith("["):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            contexts = ast.literal_eval(contexts)  # a list as Python writes it
    return Item(
        place=place,
        record=row,
        judgments=judgments,
        doc=first(row, "id") or (digest(question) if question else place.row),
        system=None,
        text=first(row, *_ANSWER),
        source=[text(question), contexts],
        reference=first(row, *_REFERENCE),
    )


# ---- annotations
#
# A person's value is the `target`. An output that somebody rejected without one has the other label
# if the metric is binary. An output that was accepted without one has no value of its person's:
# nothing tells a reviewed output from an untouched one, and a value made of it would always agree
# with the judge. With --accepted the user says that every output was reviewed.


@dataclass
class _Counts:
    accepted: int = 0  # outputs without a target
    rejected: int = 0  # outputs of binary metrics without a target
    lost: int = 0  # rejected outputs of other metrics without a target


def _annotations(task: Task) -> Iterator[Item]:
    binary = _binary_metrics(task)
    counts = _Counts()
    for n, part in enumerate(_elements(task, task.problems), start=1):
        place = Place(task.path.name, n, "record")
        name, record = part.steps[0], part.value
        output = field_of(record, "metric_output")
        target = _target(record, name in binary, task, counts)
        judgments = chain(parse_value(name, output), parse_rating(name, target))
        item = _item(place, field_of(record, "metric_input") or {}, judgments)
        yield item._replace(corrected=target not in (None, output))
    _note(task, counts)


def _is_list(steps: Steps) -> bool:
    return len(steps) == 1


def _elements(task: Task, problems: Findings) -> Iterator[Part]:
    return (part for part in parts(task.path, _is_list, problems) if part.is_element)


def _binary_metrics(task: Task) -> set[str]:
    """Return the metrics whose outputs and targets are all 0, 1, or one of two such words."""
    metrics: dict[str, bool] = {}
    for part in _elements(task, Findings()):
        values = [field_of(part.value, name) for name in ("metric_output", "target")]
        known = [value for value in values if value is not None]
        fits = all(_other_label(value) is not None for value in known)
        metrics[part.steps[0]] = metrics.get(part.steps[0], True) and fits
    return {name for name, fits in metrics.items() if fits}


_PAIRS = (
    ("pass", "fail"),
    ("passed", "failed"),
    ("yes", "no"),
    ("correct", "incorrect"),
)


def _other_label(value: object) -> object:
    """Return the other of two labels, None for a value that is none of two."""
    if isinstance(value, str):
        for pair in (*_PAIRS, ("true", "false")):
            if value.strip().casefold() in pair:
                return pair[1 - pair.index(value.strip().casefold())]
        return None
    known = number(value)
    return 1.0 - known if known in (0.0, 1.0) else None


def _target(record: object, binary: bool, task: Task, counts: _Counts) -> object:
    target, output = field_of(record, "target"), field_of(record, "metric_output")
    accepted = field_of(record, "is_accepted")
    if target is not None or accepted is None or output is None:
        return target
    if accepted:
        counts.accepted += 1
        return output if task.accepted else None
    if binary:
        counts.rejected += 1
        return _other_label(output)
    counts.lost += 1
    return None


def _note(task: Task, counts: _Counts) -> None:
    if task.accepted:
        what = "accepted without a target: agreement with the judge, as you say"
        task.note(counts.accepted, "output", what)
    else:
        what = "accepted without a target, which is no rating"
        fix = "if somebody reviewed every output, say --accepted"
        task.note(counts.accepted, "output", what, fix)
    what = "of a binary metric rejected without a target: rated as the other label"
    fix = ""
    if counts.accepted and not task.accepted:
        fix = "without --accepted, these people's labels never agree with the judge"
    task.note(counts.rejected, "output", what, fix)
    what = "rejected without a target, of a metric with more than two values: no rating"
    task.note(counts.lost, "output", what, "give a target")


TOOL = Tool(
    name="ragas",
    what="an experiment or annotations of Ragas",
    read=read,
    patterns=("*.csv", "*.json"),
    marks=(
        ("user_input", "response"),
        ("user_input", "retrieved_contexts"),
        ("metric_input", "metric_output"),
    ),
    weak_marks=(("user_input",), ("question", "answer")),
)
