"""What other tools write: a reader per tool, and how to know its files.

Each takes the judge's original where a person's value stands in its place. docs/importing.md has
the fields of each tool; older versions spell some otherwise.
"""

import ast
import json
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from metassay.core import strict_yaml
from metassay.core.errors import shown
from metassay.imports.record import (
    Item,
    Judgment,
    Object,
    Task,
    digest,
    field,
    first,
    judged,
    number,
    objects,
    rated,
    text,
    unpacked,
)
from metassay.imports.records import FIX, LINES, TABLES, Record, Steps, listed, parts, records
from metassay.tabular.column_synonyms import USUAL, Role
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet, read_sheet

_all = chain.from_iterable


# ---- Inspect: `.eval`, a zip archive, and `.json`. A person's correction replaces a score's value;
# what the scorer said is the first entry of its `history`, the one without provenance. A score that
# only has entries of people has no judge's value.

_ZSTD = 93  # of a member's compression, which Python's zipfile reads from 3.14 on
_HEADS = ("header.json", "_journal/start.json")  # the second in a log that was broken off
_SAMPLE = re.compile(r"samples/[^/]*(\.json|/sample\.json)")  # the second in a log in chunks


def _inspect(task: Task) -> Iterator[Item]:
    """The samples of a log."""
    zipped = task.path.suffix == ".eval" or zipfile.is_zipfile(task.path)
    model, found = _archive(task) if zipped else _json_log(task)
    for at, sample in found:
        scores = sample.get("scores") or {"score": sample.get("score")}
        judgments = [one for name, score in scores.items() for one in _score(name, score)]
        said = first(sample, "output.completion", "output.choices.0.message.content")
        yield Item(
            *(at, sample, judgments, sample.get("id"), model, said, [text(sample.get("input"))]),
            sample.get("target"),
            failed=bool(sample.get("error")),
            corrected=any(one.person for one in judgments),
            epoch=sample.get("epoch") or 1,
        )


def _score(name: str, score: object) -> Iterator[Judgment]:
    history = objects(field(score, "history"))
    originals = [one.get("value") for one in history if not one.get("provenance")]
    said = judged(name, (originals or [field(score, "value")])[0])
    each = [said] if originals or (score is not None and not history) else []
    last = {
        field(one, "provenance.author"): one["value"]
        for one in history
        if one.get("provenance") and one.get("value", "UNCHANGED") != "UNCHANGED"
    }
    each += [judged(name, value, author, person=True) for author, value in last.items()]
    return _all(each)


def _json_log(task: Task) -> tuple[object, Iterator[Record]]:
    """The model, which stands above the samples, and these."""
    head = parts(task.path, listed, Findings())
    model = next((one.value for one in head if one.steps == ("eval", "model")), None)
    return model, records(task.path, task.problems)


def _archive(task: Task) -> tuple[object, Iterator[Record]]:
    try:
        with zipfile.ZipFile(task.path) as archive:
            names = archive.namelist()
            head = next(name for name in _HEADS if name in names)
            model = field(_member(task.path, archive, head), "eval.model")
    except Exception:  # noqa: BLE001 - what damaged archives make readers raise has no common name
        task.problems.add(Place(task.path.name), "is damaged, or no log of Inspect", FIX)
        return None, iter(())
    return model, _samples(task, [name for name in names if _SAMPLE.fullmatch(name)])


def _samples(task: Task, names: list[str]) -> Iterator[Record]:
    with zipfile.ZipFile(task.path) as archive:
        for number, name in enumerate(names, start=1):
            at = Place(task.path.name, number, "sample")
            try:
                yield at, dict(_member(task.path, archive, name))
            except Exception:  # noqa: BLE001 - as above
                task.problems.add(at, "is damaged", FIX)


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    """A member's content; one of zstd stands behind 30 bytes, its name and its extra field."""
    info = archive.getinfo(name)
    if info.compress_type != _ZSTD:
        return json.loads(archive.read(name))
    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
        packed = pa.BufferReader(file.read(info.compress_size))
    data = pa.CompressedInputStream(packed, "zstd").read()
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(name)
    return json.loads(data)


# ---- lm-eval: a line per sample

_SAMPLES = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?")
# What a line of before `metrics` had beside its metrics.
_BESIDE_METRICS = re.compile(r"doc_id|doc|target|arguments|(filtered_)?resps|filter|\w+_hash")


def _lm_eval(task: Task) -> Iterator[Item]:
    named = _SAMPLES.fullmatch(task.path.stem)
    of, folder = (f"{named[1]}:" if named else ""), task.path.resolve().parent.name
    for at, line in records(task.path, task.problems):
        doc, prompt = line.get("doc_id"), first(line, "arguments.gen_args_0.arg_0", "arguments.0.0")
        yield Item(
            *(at, line, _all(judged(*one) for one in _lm_eval_metrics(line))),
            *(None if doc is None else f"{of}{doc}", folder),
            *(_generated(line), [text(prompt)]),
            line.get("target"),
        )


def _lm_eval_metrics(line: Object) -> Iterator[tuple[str, object]]:
    """Names and values; of several filters of an answer each has metrics of its own."""
    through = str(line.get("filter") or "none")
    for name in line.get("metrics") or [n for n in line if not _BESIDE_METRICS.fullmatch(n)]:
        value = line.get(name)
        if value is None or isinstance(value, bool | int | float):
            yield (name if through == "none" else f"{name}_{through}"), value


def _generated(line: Object) -> object:
    """The text that was generated; None of a task that compares likelihoods."""
    answers = line.get("resps")
    while isinstance(answers, list) and answers:
        if answers[1:] in ([True], [False], ["True"], ["False"]):  # is it the likeliest?
            return None
        answers = answers[0]
    return answers if isinstance(answers, str) else None


# ---- Ragas: experiments as CSV; annotations as {metric: [{metric_input, metric_output, target}]}

_QUESTION, _ANSWER = ("user_input", "question"), ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
_REFERENCE = ("reference", "ground_truth", "ground_truths")
_NO_METRICS = {*_QUESTION, *_ANSWER, *_CONTEXTS, *_REFERENCE, "target", "id", "index", "row_id"}


def _ragas(task: Task) -> Iterator[Item]:
    if task.path.suffix.lower() == ".json":
        yield from _annotations(task)
        return
    sheet = read_sheet(task.path, task.problems)
    metrics = [name for name in sheet.columns if _is_metric(sheet, name, task)] if sheet else []
    for at, row in sheet.rows if sheet else ():
        scored = [judged(name, row[name]) for name in metrics]
        yield _of_ragas(at, row, _all([*scored, rated("target", row.get("target"))]))


def _is_metric(sheet: Sheet, name: str, task: Task) -> bool:
    """A column of numbers, or one that is called as the judge's labels are."""
    free = name not in {*_NO_METRICS, task.doc_field, task.system_field}
    return free and (name.endswith("_label") or sheet.share_of_numbers(name) > 0.5)


def _of_ragas(at: Place, row: Object, said: Iterable[Judgment]) -> Item:
    asks, contexts = first(row, *_QUESTION), first(row, *_CONTEXTS)
    if isinstance(contexts, str) and contexts.startswith("["):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            contexts = ast.literal_eval(contexts)  # a list that a cell holds as Python writes it
    doc = first(row, "id") or (digest(asks) if asks else at.row)
    answer, reference = first(row, *_ANSWER), first(row, *_REFERENCE)
    return Item(at, row, said, doc, None, answer, [text(asks), contexts], reference)


def _annotations(task: Task) -> Iterator[Item]:
    # The person's value is `target` alone: that somebody accepted an output is no value of theirs,
    # and would agree with the judge by itself.
    accepted = 0
    found = parts(task.path, lambda steps: len(steps) == 1, task.problems)
    for n, part in enumerate((one for one in found if one.listed), start=1):
        at, name, one = Place(task.path.name, n, "record"), part.steps[0], part.value
        said, target = field(one, "metric_output"), field(one, "target")
        accepted += bool(field(one, "is_accepted")) and target is None
        each, row = _all((judged(name, said), rated(name, target))), field(one, "metric_input")
        yield _of_ragas(at, row or {}, each)._replace(corrected=target not in (None, said))
    what = "outputs are accepted without a target, which is no rating"
    task.note(accepted, what, "give a target where somebody rated")


# ---- DeepEval: a run with a list of cases

_CASES = ("testCases", "test_cases", "conversationalTestCases")


def _is_cases(steps: Steps) -> bool:
    return bool(steps) and steps[-1] in _CASES


def _deepeval(task: Task) -> Iterator[Item]:
    # What names the run stands below its cases.
    leaves = {one.steps[-1:]: one.value for one in parts(task.path, _is_cases, Findings())}
    named = (leaves.get((name,)) for name in ("identifier", "model", "Model"))
    system = next(filter(None, named), None)
    for at, case in records(task.path, task.problems, _is_cases):
        metrics = objects(first(case, "metricsData", "metrics_data", "metricsMetadata"))
        notes = objects(case.get("annotations") or [case.get("annotation")])
        yield Item(
            *(at, case, _all([*map(_metric, metrics), *map(_annotation, notes)])),
            *(case.get("name"), system, first(case, "actualOutput", "actual_output", "turns")),
            [case.get("input"), first(case, "retrievalContext", "retrieval_context")],
            first(case, "expectedOutput", "expected_output"),
        )


def _metric(one: Object) -> Iterator[Judgment]:
    name, by = first(one, "name", "metric"), first(one, "evaluationModel", "evaluation_model")
    score = None if one.get("error") else one.get("score")
    return judged(name, score, by, label="" if score is None else one.get("success"))


def _annotation(one: Object) -> Iterator[Judgment]:
    """What a person said: 0 or 1 for thumbs, 1 to 5 for stars."""
    name, by = first(one, "name", "metric"), first(one, "userId", "annotator", "user")
    return rated(name or "rating", first(one, "rating", "value", "score"), by)


# ---- promptfoo. Once somebody rated an output, its `success` and `score` are that person's, and so
# are those of `gradingResult`. The judge's are then made again of the components that no person
# gave: all of them passed, or the weighted mean reaches the test's threshold.

_OVERALL = "overall"
_BY_HAND = "Manual result (overrides all other grading results)"
_FAILED = 2  # `failureReason` of what ended with an error


def _promptfoo(task: Task) -> Iterator[Item]:
    columns: dict[str, list[object]] = {}  # of each provider, its prompts
    for at, row in records(task.path, task.problems):
        named = row.get("provider")
        provider = named if isinstance(named, str) else str(first(named, "label", "id") or "")
        prompts, prompt = columns.setdefault(provider, []), first(row, "promptIdx", "promptId")
        if prompt not in prompts:
            prompts.append(prompt)
        place = prompts.index(prompt) + 1
        judgments, test = tuple(_components(row)), row.get("testIdx")
        yield Item(
            *(at, row, judgments, digest(row.get("vars")) if test is None else test),
            provider if place == 1 else f"{provider}#{place}",
            *(first(row, "response.output", "text"), [text(field(row, "prompt.raw"))]),
            failed=row.get("failureReason") == _FAILED,
            corrected=any(one.person for one in judgments),
        )


def _components(row: Object) -> Iterator[Judgment]:
    grading = row.get("gradingResult") or {}
    each = objects(grading.get("componentResults"))
    people = [one for one in each if field(one, "assertion.type") == "human"]
    judges = [one for one in each if one not in people]
    if grading.get("reason") == _BY_HAND or field(grading, "assertion.type") == "human":
        people = people or [grading]
    names: Counter[str] = Counter()
    for one in judges:  # called after their metric, or the assertion's type, then with a number
        name = str(first(one, "assertion.metric", "assertion.type") or "assertion")
        names[name] += 1
        called = name if names[name] == 1 else f"{name}_{names[name]}"
        yield from judged(called, one.get("score"), label=one.get("pass"))
    for name, value in (row.get("namedScores") or {}).items():
        if name not in names:
            yield from judged(name, value)
    for one in people[-1:]:
        yield from rated(_OVERALL, one.get("score"), label=one.get("pass"))
    if not people and row.get("failureReason") != _FAILED:
        passed = row.get("success", grading.get("pass"))
        yield from judged(_OVERALL, row.get("score", grading.get("score")), label=passed)
    elif judges:
        yield from _recomputed(judges, number(field(row, "testCase.threshold")))


def _recomputed(judges: Sequence[Object], threshold: float | None) -> Iterator[Judgment]:
    scores = np.array([number(one.get("score")) for one in judges], np.float64)
    weighed = [number(field(one, "assertion.weight")) for one in judges]
    weights = np.array([1.0 if weight is None else weight for weight in weighed])
    mean = float(scores @ weights / weights.sum()) if weights.sum() > 0 else np.nan
    passed = all(one.get("pass") is True for one in judges)
    if threshold is not None and np.isfinite(mean):
        passed = mean >= threshold
    return judged(_OVERALL, mean, label=passed)


# ---- Langfuse: a row per score, whose `source` is ANNOTATION where a person gave it


def _langfuse(task: Task) -> Iterator[Item]:
    unread = 0
    for at, row in records(task.path, task.problems):
        kind = str(first(row, "dataType", "data_type") or "").upper()
        if kind in ("TEXT", "CORRECTION"):  # no verdicts
            unread += 1
            continue
        person = str(row.get("source") or "").upper() == "ANNOTATION"
        by = first(row, "authorUserId", "author_user_id") if person else ""
        names = ("value", "stringValue", "string_value")
        value = first(row, *(reversed(names) if kind == "CATEGORICAL" else names))
        trace = first(row, "traceId", "trace_id", "sessionId", "session_id")
        part = first(row, "observationId", "observation_id")
        said = judged(row.get("name"), value, by, person=person)
        doc, system = f"{trace}/{part}" if part else trace, ("datasetRunId", "dataset_run_id")
        yield Item(at, row, said, doc, first(row, *system))
    task.note(unread, "scores are texts, not values, and not read", "read them in Langfuse")


# ---- Phoenix: a row per annotation of a span


def _phoenix(task: Task) -> Iterator[Item]:
    for at, row in records(task.path, task.problems):
        person = str(row.get("annotator_kind") or "").upper() == "HUMAN"
        by = first(row, "identifier", "user_id", "username") if person else ""
        score, label = first(row, "result.score", "score"), first(row, "result.label", "label")
        value, name = (label if score is None else score), first(row, "annotation_name", "name")
        said = judged(name, value, by, person=person, label=label)
        span = first(row, "span_id", "context.span_id", "__index_level_0__", "index")
        yield Item(at, row, said, span, None)


# ---- MLflow: traces with their assessments. Who corrects an assessment adds another one that names
# it in `overrides`; the first one stays, with `valid` false. That one is the judge's, and is read;
# of people only what holds.

_EXPECTED = ("expected_response", "expected_answer", "expected_output")


def _mlflow(task: Task) -> Iterator[Item]:
    for at, trace in _traces(task):
        info = {**trace, **(trace.get("info") or {})}
        each = objects(unpacked(info.get("assessments")))
        metadata = unpacked(first(info, "trace_metadata", "request_metadata"))
        by_id = {first(one, "assessment_id", "id"): one for one in each}
        # Each that replaces another one, and that one; {} where it is not there.
        over = [(one, by_id.get(one["overrides"], {})) for one in each if one.get("overrides")]
        expected = (
            field(one, "expectation.value")
            for one in each
            if first(one, "name", "assessment_name") in _EXPECTED
        )
        yield Item(
            *(at, info, _all(map(_assessment, _holding(each, over)))),
            first(info, "trace_id", "request_id"),
            first(info, "run_id") or dict(metadata or {}).get("mlflow.sourceRun"),
            first(info, "response", "response_preview"),
            [text(first(info, "request", "request_preview"))],
            next(filter(None, expected), None),
            failed=str(first(info, "state", "status") or "").upper().endswith("ERROR"),
            corrected=any(_is_person(one) and not _is_person(former) for one, former in over),
        )


def _traces(task: Task) -> Iterator[Record]:
    """Each trace; pandas writes a frame as an object per column unless it is told otherwise."""
    at = None
    for at, record in records(task.path, task.problems):
        yield at, record
    if not at and task.path.suffix.lower() == ".json" and not task.problems:
        columns = unpacked(task.path.read_text("utf-8-sig"))
        rows = field(columns, "assessments")
        for row, name in enumerate(rows if isinstance(rows, Mapping) else (), start=1):
            cells = {column: field(cells, name) for column, cells in columns.items()}
            yield Place(task.path.name, row, "record"), cells


def _is_person(one: Object) -> bool:
    return str(first(one, "source.source_type", "source_type") or "").upper().endswith("HUMAN")


def _holding(each: Sequence[Object], over: Sequence[tuple[Object, Object]]) -> Iterator[Object]:
    """The judges' own, and what holds of people's; a judge that judged again replaces itself."""
    again = {id(former) for one, former in over if _is_person(former) or not _is_person(one)}
    for one in each:
        if id(one) not in again and (one.get("valid") is not False or not _is_person(one)):
            yield one


def _assessment(one: Object) -> Iterator[Judgment]:
    failed = bool(one.get("error") or field(one, "feedback.error"))
    if failed or one.get("feedback") is not None:
        value = None if failed else field(one, "feedback.value")
        by, name = first(one, "source.source_id", "source_id"), ("name", "assessment_name")
        yield from judged(first(one, *name), value, by, person=_is_person(one))


# ---- Inspect Scout: validations, which people made, and the results of scans


def _scout(task: Task) -> Iterator[Item]:
    for at, row in records(task.path, task.problems):
        people = [name for name in row if name == "target" or name.startswith("label_")]
        said: Iterable[Judgment] = _all(rated(n.removeprefix("label_"), row[n]) for n in people)
        if scanner := first(row, "scanner_name", "scanner", "scanner_key"):
            failed = first(row, "scan_error", "error")
            said = judged(scanner, None if failed else first(row, "value", "label"))
        yield Item(at, row, said, first(row, "transcript_id", "id"), "transcripts")


# ---- Label Studio: annotations of any project. Rows of `metassay study` come back through
# `metassay study import` instead.

_ANSWERS = ("rating", "number", "choices")  # other types of results mark or remark


def _label_studio(task: Task) -> Iterator[Item]:
    unread: Counter[str] = Counter()
    for at, one in records(task.path, task.problems):
        data = one.get("data") or {}
        usual = {role: first(data, *names) for role, names in USUAL.items()}
        submitted = [a for a in objects(one.get("annotations")) if not a.get("was_cancelled")]
        yield Item(
            *(at, data, _all(_answers(annotation, unread) for annotation in submitted)),
            *(usual[Role.DOC] or one.get("id"), usual[Role.SYSTEM], usual[Role.TEXT]),
            [text(usual[Role.SOURCE])],
            usual[Role.REFERENCE],
        )
    for kind, count in unread.items():
        what = f"results of type {shown(kind)} are no ratings, and not read"
        task.note(count, what, "rate by choices, a rating or a number")


def _answers(annotation: Object, unread: Counter[str]) -> Iterator[Judgment]:
    by = first(annotation, "completed_by.email", "completed_by.id", "completed_by")
    for result in objects(annotation.get("result")):
        value = result.get("value") or {}
        said = next((value[kind] for kind in _ANSWERS if value.get(kind) is not None), None)
        if said is None:
            unread[str(result.get("type") or "unknown")] += 1
        chosen = " | ".join(map(str, said)) if isinstance(said, list) else said
        yield from rated(result.get("from_name"), chosen, by)


FILES: Any = strict_yaml.load(Path(__file__).with_suffix(".yaml"))
READERS: Mapping[str, Callable[[Task], Iterator[Item]]] = {
    **{"inspect": _inspect, "lm-eval": _lm_eval, "ragas": _ragas, "deepeval": _deepeval},
    **{"promptfoo": _promptfoo, "langfuse": _langfuse, "phoenix": _phoenix, "mlflow": _mlflow},
    **{"scout": _scout, "label-studio": _label_studio},
}


def kinds_of(path: Path, names: Iterable[str]) -> list[str]:
    """The tools that write such files with these names of fields."""
    there = {*names, path.suffix.lower()}
    return [name for name, kind in FILES.items() if any(map(there.issuperset, kind["marks"]))]


def described(path: Path, kind: str, names: list[str]) -> tuple[str, str]:
    """Of a file that the reader of `kind` cannot read: what it is, and what would read it."""
    if {"headings", "columns", "row"} <= set(names):
        return "is a sheet of a study of Metassay", "metassay study import reads it"
    for other in kinds_of(path, names)[:1]:
        return f"is {FILES[other]['what']}", f"metassay import {other} reads it"
    table = path.suffix.lower() in TABLES
    form = "a table" if table else "JSON Lines" if path.suffix.lower() in LINES else "JSON"
    seen = ", ".join(map(shown, names[:5])) or "nothing that can be read"
    reads = "metassay judge-check, meta-eval and init read tables as they are"
    what = f"is {form} with {seen}, and not {FILES[kind]['what']}"
    return what, reads if table else "docs/importing.md has what is read of each tool"
