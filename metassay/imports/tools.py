"""A reader for the files of each other tool, and how to recognize them.

Readers take the judge's original where a person's value replaced it. docs/importing.md
has the fields of each tool; older versions spell some differently.
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
from metassay.imports.records import (
    FIX,
    LINES,
    TABLES,
    Item,
    Judgment,
    Object,
    Record,
    Steps,
    Task,
    digest,
    field,
    first,
    is_list,
    number,
    objects,
    parse_rating,
    parse_value,
    parts,
    records,
    text,
    unpack,
)
from metassay.tabular.column_synonyms import USUAL, Role
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet, read_sheet

_chain = chain.from_iterable


# ---- Inspect: `.eval`, a zip archive, and `.json`. A person's correction replaces a score's value;
# the scorer's value is the first entry of its `history`, the one without provenance. A score that
# only has entries of people has no judge's value.

_ZSTD = 93  # compression of a member, which Python's zipfile reads since 3.14
_HEADS = ("header.json", "_journal/start.json")  # the second in an unfinished log
# the second in a log in chunks
_SAMPLE = re.compile(r"samples/[^/]*(\.json|/sample\.json)")


def _inspect(task: Task) -> Iterator[Item]:
    """Yield the samples of a log."""
    zipped = task.path.suffix == ".eval" or zipfile.is_zipfile(task.path)
    model, samples = _archive(task) if zipped else _json_log(task)
    for place, sample in samples:
        scores = sample.get("scores") or {"score": sample.get("score")}
        judgments = [*_chain(_score(name, score) for name, score in scores.items())]
        output = first(sample, "output.completion", "output.choices.0.message.content")
        yield Item(
            place,
            sample,
            judgments,
            sample.get("id"),
            model,
            output,
            [text(sample.get("input"))],
            sample.get("target"),
            failed=bool(sample.get("error")),
            corrected=any(judgment.person for judgment in judgments),
            epoch=sample.get("epoch") or 1,
        )


def _score(name: str, score: object) -> Iterator[Judgment]:
    history = objects(field(score, "history"))
    originals = [edit.get("value") for edit in history if not edit.get("provenance")]
    original = parse_value(name, (originals or [field(score, "value")])[0])
    judgments = [original] if originals or (score is not None and not history) else []
    last = {
        field(edit, "provenance.author"): edit["value"]
        for edit in history
        if edit.get("provenance") and edit.get("value", "UNCHANGED") != "UNCHANGED"
    }
    judgments += [
        parse_value(name, value, author, person=True) for author, value in last.items()
    ]
    return _chain(judgments)


def _json_log(task: Task) -> tuple[object, Iterator[Record]]:
    """Return the model, which stands above the samples, and the samples."""
    head = parts(task.path, is_list, Findings())
    model = next((part.value for part in head if part.steps == ("eval", "model")), None)
    return model, records(task.path, task.problems)


def _archive(task: Task) -> tuple[object, Iterator[Record]]:
    try:
        with zipfile.ZipFile(task.path) as archive:
            names = archive.namelist()
            head = next(name for name in _HEADS if name in names)
            model = field(_member(task.path, archive, head), "eval.model")
    except Exception:  # noqa: BLE001 - damaged archives make readers raise errors of many types
        task.problems.add(
            Place(task.path.name), "is damaged, or no log of Inspect", FIX
        )
        return None, iter(())
    return model, _samples(task, [name for name in names if _SAMPLE.fullmatch(name)])


def _samples(task: Task, names: list[str]) -> Iterator[Record]:
    with zipfile.ZipFile(task.path) as archive:
        for number, name in enumerate(names, start=1):
            place = Place(task.path.name, number, "sample")
            try:
                yield place, dict(_member(task.path, archive, name))
            except Exception:  # noqa: BLE001 - as above
                task.problems.add(place, "is damaged", FIX)


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    """Read a member; one of zstd stands behind 30 bytes, its name and its extra field."""
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
# Fields of a line beside its metrics, before lines had `metrics`.
_BESIDE_METRICS = re.compile(
    r"doc_id|doc|target|arguments|(filtered_)?resps|filter|\w+_hash"
)


def _lm_eval(task: Task) -> Iterator[Item]:
    named = _SAMPLES.fullmatch(task.path.stem)
    prefix, folder = (f"{named[1]}:" if named else ""), task.path.resolve().parent.name
    for place, line in records(task.path, task.problems):
        doc, prompt = (
            line.get("doc_id"),
            first(line, "arguments.gen_args_0.arg_0", "arguments.0.0"),
        )
        yield Item(
            place,
            line,
            _chain(parse_value(*metric) for metric in _lm_eval_metrics(line)),
            None if doc is None else f"{prefix}{doc}",
            folder,
            _generated(line),
            [text(prompt)],
            line.get("target"),
        )


def _lm_eval_metrics(line: Object) -> Iterator[tuple[str, object]]:
    """Yield names and values; each filter of an answer has metrics of its own."""
    filtered = str(line.get("filter") or "none")
    for name in line.get("metrics") or [
        n for n in line if not _BESIDE_METRICS.fullmatch(n)
    ]:
        value = line.get(name)
        if value is None or isinstance(value, bool | int | float):
            yield (name if filtered == "none" else f"{name}_{filtered}"), value


def _generated(line: Object) -> object:
    """Return the generated text; None for a task that compares likelihoods."""
    answers = line.get("resps")
    while isinstance(answers, list) and answers:
        # whether it is the likeliest
        if answers[1:] in ([True], [False], ["True"], ["False"]):
            return None
        answers = answers[0]
    return answers if isinstance(answers, str) else None


# ---- Ragas: experiments as CSV; annotations as {metric: [{metric_input, metric_output, target}]}

_QUESTION, _ANSWER = ("user_input", "question"), ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
_REFERENCE = ("reference", "ground_truth", "ground_truths")
_NO_METRICS = {
    *_QUESTION,
    *_ANSWER,
    *_CONTEXTS,
    *_REFERENCE,
    "target",
    "id",
    "index",
    "row_id",
}


def _ragas(task: Task) -> Iterator[Item]:
    if task.path.suffix.lower() == ".json":
        yield from _annotations(task)
        return
    sheet = read_sheet(task.path, task.problems)
    metrics = (
        [name for name in sheet.columns if _is_metric(sheet, name, task)]
        if sheet
        else []
    )
    for place, row in sheet.rows if sheet else ():
        scores = [parse_value(name, row[name]) for name in metrics]
        yield _ragas_item(
            place, row, _chain([*scores, parse_rating("target", row.get("target"))])
        )


def _is_metric(sheet: Sheet, name: str, task: Task) -> bool:
    """Return whether a column has numbers, or the name of a judge's labels."""
    other = name in {*_NO_METRICS, task.doc_field, task.system_field}
    return not other and (name.endswith("_label") or sheet.share_of_numbers(name) > 0.5)


def _ragas_item(place: Place, row: Object, judgments: Iterable[Judgment]) -> Item:
    question, contexts = first(row, *_QUESTION), first(row, *_CONTEXTS)
    if isinstance(contexts, str) and contexts.startswith("["):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            contexts = ast.literal_eval(contexts)  # a list as Python writes it
    doc = first(row, "id") or (digest(question) if question else place.row)
    answer, reference = first(row, *_ANSWER), first(row, *_REFERENCE)
    return Item(
        place, row, judgments, doc, None, answer, [text(question), contexts], reference
    )


def _annotations(task: Task) -> Iterator[Item]:
    # A person's value is `target` alone: an output that somebody accepted has no value
    # of theirs, and one made of it would always agree with the judge.
    accepted = 0
    values = parts(task.path, lambda steps: len(steps) == 1, task.problems)
    for n, part in enumerate((part for part in values if part.is_element), start=1):
        place, name, record = (
            Place(task.path.name, n, "record"),
            part.steps[0],
            part.value,
        )
        output, target = field(record, "metric_output"), field(record, "target")
        accepted += bool(field(record, "is_accepted")) and target is None
        judgments = _chain((parse_value(name, output), parse_rating(name, target)))
        item = _ragas_item(place, field(record, "metric_input") or {}, judgments)
        yield item._replace(corrected=target not in (None, output))
    what = "outputs are accepted without a target, which is no rating"
    task.note(accepted, what, "give a target where somebody rated")


# ---- DeepEval: a run with a list of cases

_CASES = ("testCases", "test_cases", "conversationalTestCases")


def _is_cases(steps: Steps) -> bool:
    return bool(steps) and steps[-1] in _CASES


def _deepeval(task: Task) -> Iterator[Item]:
    # The name of the run stands below its cases.
    leaves = {
        part.steps[-1:]: part.value for part in parts(task.path, _is_cases, Findings())
    }
    systems = (leaves.get((name,)) for name in ("identifier", "model", "Model"))
    system = next(filter(None, systems), None)
    for place, case in records(task.path, task.problems, _is_cases):
        metrics = objects(first(case, "metricsData", "metrics_data", "metricsMetadata"))
        notes = objects(case.get("annotations") or [case.get("annotation")])
        yield Item(
            place,
            case,
            _chain([*map(_metric, metrics), *map(_annotation, notes)]),
            case.get("name"),
            system,
            first(case, "actualOutput", "actual_output", "turns"),
            [case.get("input"), first(case, "retrievalContext", "retrieval_context")],
            first(case, "expectedOutput", "expected_output"),
        )


def _metric(metric: Object) -> Iterator[Judgment]:
    name, by = (
        first(metric, "name", "metric"),
        first(metric, "evaluationModel", "evaluation_model"),
    )
    score = None if metric.get("error") else metric.get("score")
    return parse_value(
        name, score, by, label="" if score is None else metric.get("success")
    )


def _annotation(note: Object) -> Iterator[Judgment]:
    """Yield a person's judgment: 0 or 1 for thumbs, 1 to 5 for stars."""
    name, by = first(note, "name", "metric"), first(note, "userId", "annotator", "user")
    return parse_rating(name or "rating", first(note, "rating", "value", "score"), by)


# ---- promptfoo. Once somebody rated an output, its `success` and `score` are that person's, and so
# are those of `gradingResult`. The judge's are then computed again from the components of judges:
# all of them passed, or the weighted mean reaches the test's threshold.

_OVERALL = "overall"
_BY_HAND = "Manual result (overrides all other grading results)"
_FAILED = 2  # `failureReason` of an output that ended with an error


def _promptfoo(task: Task) -> Iterator[Item]:
    prompts_by_provider: dict[str, list[object]] = {}
    for place, row in records(task.path, task.problems):
        named, prompt = row.get("provider"), first(row, "promptIdx", "promptId")
        provider = (
            named if isinstance(named, str) else str(first(named, "label", "id") or "")
        )
        prompts = prompts_by_provider.setdefault(provider, [])
        if prompt not in prompts:
            prompts.append(prompt)
        n = prompts.index(prompt) + 1
        judgments, test = tuple(_components(row)), row.get("testIdx")
        yield Item(
            place,
            row,
            judgments,
            digest(row.get("vars")) if test is None else test,
            provider if n == 1 else f"{provider}#{n}",
            first(row, "response.output", "text"),
            [text(field(row, "prompt.raw"))],
            failed=row.get("failureReason") == _FAILED,
            corrected=any(judgment.person for judgment in judgments),
        )


def _components(row: Object) -> Iterator[Judgment]:
    grading = row.get("gradingResult") or {}
    components = objects(grading.get("componentResults"))
    people = [part for part in components if field(part, "assertion.type") == "human"]
    judges = [part for part in components if part not in people]
    if grading.get("reason") == _BY_HAND or field(grading, "assertion.type") == "human":
        people = people or [grading]
    names: Counter[str] = Counter()
    # named after the metric, or the assertion's type, then with a number
    for judge in judges:
        name = str(first(judge, "assertion.metric", "assertion.type") or "assertion")
        names[name] += 1
        scorer = name if names[name] == 1 else f"{name}_{names[name]}"
        yield from parse_value(scorer, judge.get("score"), label=judge.get("pass"))
    for name, value in (row.get("namedScores") or {}).items():
        if name not in names:
            yield from parse_value(name, value)
    for person in people[-1:]:
        yield from parse_rating(_OVERALL, person.get("score"), label=person.get("pass"))
    if not people and row.get("failureReason") != _FAILED:
        passed = row.get("success", grading.get("pass"))
        yield from parse_value(
            _OVERALL, row.get("score", grading.get("score")), label=passed
        )
    elif judges:
        yield from _recompute(judges, number(field(row, "testCase.threshold")))


def _recompute(judges: Sequence[Object], threshold: float | None) -> Iterator[Judgment]:
    scores = np.array([number(judge.get("score")) for judge in judges], np.float64)
    known = [number(field(judge, "assertion.weight")) for judge in judges]
    weights = np.array([1.0 if weight is None else weight for weight in known])
    mean = float(scores @ weights / weights.sum()) if weights.sum() > 0 else np.nan
    passed = all(judge.get("pass") is True for judge in judges)
    if threshold is not None and np.isfinite(mean):
        passed = mean >= threshold
    return parse_value(_OVERALL, mean, label=passed)


# ---- Langfuse: a row per score, whose `source` is ANNOTATION where a person gave it


def _langfuse(task: Task) -> Iterator[Item]:
    unread = 0
    for place, row in records(task.path, task.problems):
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
        judgments = parse_value(row.get("name"), value, by, person=person)
        doc, system = (
            f"{trace}/{part}" if part else trace,
            ("datasetRunId", "dataset_run_id"),
        )
        yield Item(place, row, judgments, doc, first(row, *system))
    task.note(
        unread, "scores are texts, not values, and not read", "read them in Langfuse"
    )


# ---- Phoenix: a row per annotation of a span


def _phoenix(task: Task) -> Iterator[Item]:
    for place, row in records(task.path, task.problems):
        person = str(row.get("annotator_kind") or "").upper() == "HUMAN"
        by = first(row, "identifier", "user_id", "username") if person else ""
        score, label = (
            first(row, "result.score", "score"),
            first(row, "result.label", "label"),
        )
        value, name = (
            (label if score is None else score),
            first(row, "annotation_name", "name"),
        )
        judgments = parse_value(name, value, by, person=person, label=label)
        span = first(row, "span_id", "context.span_id", "__index_level_0__", "index")
        yield Item(place, row, judgments, span, None)


# ---- MLflow: traces with their assessments. A correction is another assessment that names the
# corrected one in `overrides`; that one stays, with `valid` false. A judge's is read nevertheless,
# a person's only if it is valid.

_EXPECTED = ("expected_response", "expected_answer", "expected_output")


def _mlflow(task: Task) -> Iterator[Item]:
    for place, trace in _traces(task):
        info = {**trace, **(trace.get("info") or {})}
        assessments = objects(unpack(info.get("assessments")))
        metadata = unpack(first(info, "trace_metadata", "request_metadata"))
        by_id = {first(value, "assessment_id", "id"): value for value in assessments}
        # Pairs of an assessment and the one that it replaces, {} if that is missing.
        pairs = [
            (v, by_id.get(v["overrides"], {}))
            for v in assessments
            if v.get("overrides")
        ]
        expected = (
            field(value, "expectation.value")
            for value in assessments
            if first(value, "name", "assessment_name") in _EXPECTED
        )
        yield Item(
            place,
            info,
            _chain(map(_assessment, _select(assessments, pairs))),
            first(info, "trace_id", "request_id"),
            first(info, "run_id") or dict(metadata or {}).get("mlflow.sourceRun"),
            first(info, "response", "response_preview"),
            [text(first(info, "request", "request_preview"))],
            next(filter(None, expected), None),
            failed=str(first(info, "state", "status") or "").upper().endswith("ERROR"),
            corrected=any(
                _is_person(new) and not _is_person(old) for new, old in pairs
            ),
        )


def _traces(task: Task) -> Iterator[Record]:
    """Yield each trace of a list, or of a frame that pandas wrote with an object per column."""
    place = None
    for place, record in records(task.path, task.problems):
        yield place, record
    if not place and task.path.suffix.lower() == ".json" and not task.problems:
        columns = unpack(task.path.read_text("utf-8-sig"))
        rows = field(columns, "assessments")
        for row, name in enumerate(rows if isinstance(rows, Mapping) else (), start=1):
            cells = {column: field(cells, name) for column, cells in columns.items()}
            yield Place(task.path.name, row, "record"), cells


def _is_person(value: Object) -> bool:
    return (
        str(first(value, "source.source_type", "source_type") or "")
        .upper()
        .endswith("HUMAN")
    )


def _select(
    values: Sequence[Object], pairs: Sequence[tuple[Object, Object]]
) -> Iterator[Object]:
    """Yield the assessments of judges, and the valid ones of people, that were not
    replaced; a person's correction of a judge's assessment does not replace it.
    """
    replaced = {id(old) for new, old in pairs if _is_person(old) or not _is_person(new)}
    for value in values:
        if id(value) not in replaced and (
            value.get("valid") is not False or not _is_person(value)
        ):
            yield value


def _assessment(value: Object) -> Iterator[Judgment]:
    failed = bool(value.get("error") or field(value, "feedback.error"))
    if failed or value.get("feedback") is not None:
        rating = None if failed else field(value, "feedback.value")
        by, name = (
            first(value, "source.source_id", "source_id"),
            ("name", "assessment_name"),
        )
        yield from parse_value(
            first(value, *name), rating, by, person=_is_person(value)
        )


# ---- Inspect Scout: validations, which people wrote, and the results of scans


def _scout(task: Task) -> Iterator[Item]:
    for place, row in records(task.path, task.problems):
        people = [name for name in row if name == "target" or name.startswith("label_")]
        ratings = (
            parse_rating(name.removeprefix("label_"), row[name]) for name in people
        )
        judgments: Iterable[Judgment] = _chain(ratings)
        if scanner := first(row, "scanner_name", "scanner", "scanner_key"):
            failed = first(row, "scan_error", "error")
            judgments = parse_value(
                scanner, None if failed else first(row, "value", "label")
            )
        yield Item(
            place, row, judgments, first(row, "transcript_id", "id"), "transcripts"
        )


# ---- Label Studio: annotations of any project. Sheets of `metassay study` are read by `metassay
# study import` instead.

_ANSWERS = ("rating", "number", "choices")  # results of other types mark or comment


def _label_studio(task: Task) -> Iterator[Item]:
    unread: Counter[str] = Counter()
    for place, record in records(task.path, task.problems):
        data = record.get("data") or {}
        usual = {role: first(data, *names) for role, names in USUAL.items()}
        submitted = [
            a for a in objects(record.get("annotations")) if not a.get("was_cancelled")
        ]
        yield Item(
            place,
            data,
            _chain(_answers(annotation, unread) for annotation in submitted),
            usual[Role.DOC] or record.get("id"),
            usual[Role.SYSTEM],
            usual[Role.TEXT],
            [text(usual[Role.SOURCE])],
            usual[Role.REFERENCE],
        )
    for kind, count in unread.items():
        what = f"results of type {shown(kind)} are not ratings, and not read"
        task.note(count, what, "rate by choices, a rating or a number")


def _answers(annotation: Object, unread: Counter[str]) -> Iterator[Judgment]:
    by = first(annotation, "completed_by.email", "completed_by.id", "completed_by")
    for result in objects(annotation.get("result")):
        value = result.get("value") or {}
        answer = next(
            (value[kind] for kind in _ANSWERS if value.get(kind) is not None), None
        )
        if answer is None:
            unread[str(result.get("type") or "unknown")] += 1
        chosen = " | ".join(map(str, answer)) if isinstance(answer, list) else answer
        yield from parse_rating(result.get("from_name"), chosen, by)


FILES: Any = strict_yaml.load(Path(__file__).with_suffix(".yaml"))
READERS: Mapping[str, Callable[[Task], Iterator[Item]]] = {
    "inspect": _inspect,
    "lm-eval": _lm_eval,
    "ragas": _ragas,
    "deepeval": _deepeval,
    "promptfoo": _promptfoo,
    "langfuse": _langfuse,
    "phoenix": _phoenix,
    "mlflow": _mlflow,
    "scout": _scout,
    "label-studio": _label_studio,
}


def kinds_of(path: Path, names: Iterable[str]) -> list[str]:
    """Return the tools that write such files with these names of fields."""
    marks = {*names, path.suffix.lower()}
    return [
        name
        for name, kind in FILES.items()
        if any(map(marks.issuperset, kind["marks"]))
    ]


def describe_file(path: Path, kind: str, names: list[str]) -> tuple[str, str]:
    """Describe a file that the reader of `kind` cannot read, and tell what would read it."""
    if {"headings", "columns", "row"} <= set(names):
        return "is a sheet of a study of Metassay", "metassay study import reads it"
    for other in kinds_of(path, names)[:1]:
        return f"is {FILES[other]['what']}", f"metassay import {other} reads it"
    table = path.suffix.lower() in TABLES
    form = (
        "a table" if table else "JSON Lines" if path.suffix.lower() in LINES else "JSON"
    )
    fields = ", ".join(map(shown, names[:5])) or "nothing that can be read"
    reads = "metassay judge-check, meta-eval and init read tables as they are"
    what = f"is {form} with {fields}, and not {FILES[kind]['what']}"
    return what, reads if table else "docs/importing.md has what is read of each tool"
