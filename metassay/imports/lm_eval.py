"""Samples of the language-model evaluation harness: `MODEL/samples_TASK_DATE.jsonl`."""

import re
from collections.abc import Iterator

from metassay.imports.record import Item, Kind, Object, Task, judged, several
from metassay.imports.records import records
from metassay.imports.values import field, text, texts

_NAME = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?")
# What a line of before `metrics` had beside its metrics.
_BESIDE = re.compile(r"doc_id|doc|target|arguments|(filtered_)?resps|filter|\w+_hash")


def _read(task: Task) -> Iterator[Item]:
    named = _NAME.fullmatch(task.path.stem)
    of, folder = (f"{named[1]}:" if named else ""), task.path.resolve().parent.name
    for at, line in records(task.path, task.problems):
        number = line.get("doc_id")
        yield Item(
            at,
            task.doc(line, None if number is None else f"{of}{number}"),
            task.system(line, folder),
            several(judged(*one) for one in _metrics(line)),
            text(_answer(line)),
            texts(_prompt(line.get("arguments"))),
            text(line.get("target")),
        )


def _metrics(line: Object) -> Iterator[tuple[str, object]]:
    """Names and values; of several filters of an answer each has metrics of its own."""
    through = str(line.get("filter") or "none")
    for name in line.get("metrics") or [name for name in line if not _BESIDE.fullmatch(name)]:
        value = line.get(name)
        if value is None or isinstance(value, bool | int | float):
            yield (name if through == "none" else f"{name}_{through}"), value


def _answer(line: Object) -> object:
    """The text that was generated; None of a task that compares likelihoods."""
    answers = line.get("resps")
    while isinstance(answers, list) and answers:
        if answers[1:] in ([True], [False], ["True"], ["False"]):  # is it the likeliest?
            return None
        answers = answers[0]
    return answers if isinstance(answers, str) else None


def _prompt(arguments: object) -> str | None:
    """Of a list of lists, or by names, as newer versions have it."""
    if isinstance(arguments, list):
        return text(arguments[0][0]) if arguments and arguments[0] else None
    return text(field(arguments, "gen_args_0.arg_0"))


KIND = Kind(
    "samples of lm-eval", ("samples_*.jsonl",), ("doc_id resps", "doc_id filtered_resps"), _read
)
