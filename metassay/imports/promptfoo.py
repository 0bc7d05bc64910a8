"""promptfoo: `promptfoo eval -o results.json`, or JSON Lines.

Once somebody rated an output, its `success` and `score` are that person's, and so are those of
`gradingResult`. The judge's are then computed again from the components of judges: all of them
passed, or the weighted mean reaches the test's threshold. A component whose grader failed is
missing, although promptfoo counts it as a fail; what depends on it is computed again, too.

The score of a component is 1 where its assertion holds, whatever its name: of `cost` or `latency`,
too, more is better.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from metassay.imports.items import (
    Item,
    Judgment,
    Object,
    Task,
    Tool,
    digest,
    field_of,
    first,
    key,
    missing_judgment,
    number,
    objects,
    parse_rating,
    parse_value,
    text,
)
from metassay.imports.records import records

_OVERALL = "overall"
_BY_HAND = "Manual result (overrides all other grading results)"
_FAILED = 2  # `failureReason` of an output that ended with an error
# Assertions whose value is what is asked; that of others is the answer to compare with.
_QUESTIONS = frozenset(
    (
        "llm-rubric",
        "agent-rubric",
        "search-rubric",
        "g-eval",
        "model-graded-closedqa",
        "select-best",
        "javascript",
        "python",
        "ruby",
        "webhook",
    )
)


def read(task: Task) -> Iterator[Item]:
    """Yield the outputs; further prompts of a provider are systems of their own."""
    prompts_by_provider: dict[str, list[object]] = {}
    failed_graders = 0
    for place, row in records(task.path, task.problems):
        named = row.get("provider")
        provider = (
            named if isinstance(named, str) else str(first(named, "label", "id") or "")
        )
        prompts = prompts_by_provider.setdefault(provider, [])
        prompt = first(row, "promptIdx", "promptId")
        if prompt not in prompts:
            prompts.append(prompt)
        n = prompts.index(prompt) + 1
        judgments = [*_judgments(row)]
        test = row.get("testIdx")
        failed_graders += sum(map(_grader_failed, _components(row)))
        yield Item(
            place=place,
            record=row,
            judgments=judgments,
            doc=digest(row.get("vars")) if test is None else test,
            system=provider if n == 1 else f"{provider}#{n}",
            text=first(row, "response.output", "text"),
            source=[text(field_of(row, "prompt.raw"))],
            failed=row.get("failureReason") == _FAILED,
            corrected=any(judgment.person for judgment in judgments),
        )
    what = "without a verdict, as the grader failed (graderError): missing, and no fail"
    task.note(failed_graders, "assertion", what, "run these outputs again in promptfoo")


def _components(row: Object) -> list[Object]:
    return objects(field_of(row, "gradingResult.componentResults"))


def _judgments(row: Object) -> Iterator[Judgment]:
    grading = row.get("gradingResult") or {}
    components = _components(row)
    people = [
        part for part in components if field_of(part, "assertion.type") == "human"
    ]
    judges = [part for part in components if part not in people]
    if (
        grading.get("reason") == _BY_HAND
        or field_of(grading, "assertion.type") == "human"
    ):
        people = people or [grading]
    names: Counter[tuple[str, str]] = Counter()
    for judge in judges:
        name = str(first(judge, "assertion.metric", "assertion.type") or "assertion")
        question = _question(judge)
        # The same assertion twice in a test is numbered.
        names[name, question] += 1
        n = names[name, question]
        failed = _grader_failed(judge)
        yield from parse_value(
            name if n == 1 else f"{name}_{n}",
            None if failed else judge.get("score"),
            label="" if failed else judge.get("pass"),
            question=question,
            better="higher",
        )
    used = {name for name, _ in names}
    for name, value in (row.get("namedScores") or {}).items():
        if name not in used:
            yield from parse_value(name, value)
    for person in people[-1:]:
        yield from parse_rating(_OVERALL, person.get("score"), label=person.get("pass"))
    yield from _overall(row, judges, rated=bool(people))


def _overall(
    row: Object, judges: Sequence[Object], *, rated: bool
) -> Iterator[Judgment]:
    """Yield the judge's verdict on the whole output, if there is one."""
    if not judges and _grader_failed(row.get("gradingResult") or {}):
        yield missing_judgment(_OVERALL)
    elif any(map(_grader_failed, judges)) or (rated and judges):
        yield from _recompute(judges, number(field_of(row, "testCase.threshold")))
    elif not rated and row.get("failureReason") != _FAILED:
        grading = row.get("gradingResult") or {}
        passed = row.get("success", grading.get("pass"))
        score = row.get("score", grading.get("score"))
        yield from parse_value(_OVERALL, score, label=passed, better="higher")


def _question(judge: Object) -> str:
    """Return what a judge was asked, where the assertion's value says it; else ""."""
    kind = str(field_of(judge, "assertion.type") or "").removeprefix("not-")
    value = field_of(judge, "assertion.value")
    if field_of(judge, "assertion.metric") or kind not in _QUESTIONS or not value:
        return ""
    return key(text(value))


def _grader_failed(judge: Object) -> bool:
    """Whether the grader of an assertion, or of one in a set of assertions, gave no verdict."""
    if field_of(judge, "metadata.graderError") is True:
        return True
    return any(map(_grader_failed, objects(judge.get("componentResults"))))


def _recompute(judges: Sequence[Object], threshold: float | None) -> Iterator[Judgment]:
    """Yield the verdict of all judges; missing where it depends on a missing one."""
    missing = [_grader_failed(judge) for judge in judges]
    known = [judge for judge, failed in zip(judges, missing, strict=True) if not failed]
    scores = np.array(
        [
            np.nan if failed else _score(judge)
            for judge, failed in zip(judges, missing, strict=True)
        ]
    )
    weights = np.array([_weight(judge) for judge in judges])
    mean = float(scores @ weights / weights.sum()) if weights.sum() > 0 else np.nan
    passed: object = all(judge.get("pass") is True for judge in known)
    if threshold is not None and not any(missing):
        passed = mean >= threshold if np.isfinite(mean) else passed
    elif any(missing) and (threshold is not None or passed):
        # Without a threshold a single fail decides; everything else is open.
        passed = ""
    score = None if any(missing) or not np.isfinite(mean) else mean
    yield from parse_value(_OVERALL, score, label=passed, better="higher")


def _score(judge: Object) -> float:
    score = number(judge.get("score"))
    return np.nan if score is None else score


def _weight(judge: Object) -> float:
    weight = number(field_of(judge, "assertion.weight"))
    return 1.0 if weight is None else weight


TOOL = Tool(
    name="promptfoo",
    what="results of promptfoo",
    read=read,
    patterns=("*.json", "*.jsonl"),
    marks=(
        ("evalId", "results"),
        ("results", "promptIdx"),
        ("gradingResult", "promptIdx"),
    ),
)
