"""lm-eval: a line per sample, `samples_TASK_DATE.jsonl` in a folder per model.

A line per filter: newer lines name their filter. Before November 2024 a log had a line per filter
without its name; such lines are told apart by their order, and are the same answer.
"""

import re
from collections import Counter
from collections.abc import Iterator

from metassay.imports.items import (
    Item,
    Judgment,
    Object,
    Task,
    Tool,
    digest,
    first,
    parse_value,
    text,
)
from metassay.imports.records import records

_SAMPLES = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?")
# Fields of a line beside its metrics, before lines had `metrics`.
_BESIDE_METRICS = re.compile(
    r"doc_id|doc|target|arguments|(filtered_)?resps|filter|\w+_hash"
)


def read(task: Task) -> Iterator[Item]:
    """Yield the samples of a log."""
    named = _SAMPLES.fullmatch(task.path.stem)
    prefix = f"{named[1]}:" if named else ""
    folder = task.path.resolve().parent.name
    filters = _UnnamedFilters(task)
    for place, line in records(task.path, task.problems):
        doc = line.get("doc_id")
        filter_name = str(line.get("filter") or "none")
        question = ""
        if "filter" not in line:
            question = filters.number(line)
        judgments = [*_judgments(line, filter_name, question)]
        yield Item(
            place=place,
            record=line,
            judgments=judgments,
            doc=None if doc is None else f"{prefix}{doc}",
            system=folder,
            text=_generated(line),
            source=[text(first(line, "arguments.gen_args_0.arg_0", "arguments.0.0"))],
            reference=line.get("target"),
        )
    filters.note()


class _UnnamedFilters:
    """Numbers the lines of a sample that has several, as old logs have one per filter."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.lines: Counter[int] = Counter()

    def number(self, line: Object) -> str:
        """Return the number of a line among those of the same answer, as `filter 1`."""
        # As a number: a log may have millions of lines.
        answer = int(digest([line.get("doc_id"), line.get("resps")]), 16)
        self.lines[answer] += 1
        return f"filter {self.lines[answer]}"

    def note(self) -> None:
        """Say how many filters there are, if there are several."""
        most = max(self.lines.values(), default=1)
        if most > 1:
            what = (
                f"without a name: each metric has {most} columns, in the file's order"
            )
            fix = "the task's configuration has their names in that order"
            self.task.note(most, "filter", what, fix)


def _judgments(line: Object, filter_name: str, question: str) -> Iterator[Judgment]:
    """Yield a judgment per metric; each filter of an answer has metrics of its own."""
    names = line.get("metrics") or [
        name for name in line if not _BESIDE_METRICS.fullmatch(name)
    ]
    for name in names:
        value = line.get(name)
        if value is None or isinstance(value, bool | int | float):
            scorer = name if filter_name == "none" else f"{name}_{filter_name}"
            yield from parse_value(scorer, value, question=question)


def _generated(line: Object) -> object:
    """Return the generated text; None for a task that compares likelihoods."""
    answers = line.get("resps")
    while isinstance(answers, list) and answers:
        if answers[1:] in (
            [True],
            [False],
            ["True"],
            ["False"],
        ):  # whether it is the likeliest
            return None
        answers = answers[0]
    return answers if isinstance(answers, str) else None


TOOL = Tool(
    name="lm-eval",
    what="samples of lm-eval",
    read=read,
    patterns=("samples_*.jsonl",),
    marks=(("doc_id", "resps"), ("doc_id", "filtered_resps")),
)
