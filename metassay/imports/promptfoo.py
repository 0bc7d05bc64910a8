"""Results of promptfoo, as `promptfoo eval -o results.json` and its export write them.

Once somebody rated an output, its own `success` and `score` are that person's, and so are those of
`gradingResult`. The judge's are then made again of the components that no person gave: all of them
passed, or the weighted mean reaches the test's threshold.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from metassay.imports.record import Item, Judgment, Kind, Object, Task, judged, rated
from metassay.imports.records import records
from metassay.imports.values import digest, field, first, number, objects, text, texts, verdict

_OVERALL = "overall"
_BY_HAND = "Manual result (overrides all other grading results)"
_FAILED = 2  # `failureReason` of what ended with an error


def _read(task: Task) -> Iterator[Item]:
    columns: dict[str, list[object]] = {}  # of each provider, its prompts
    for at, row in records(task.path, task.problems):
        named = row.get("provider")
        provider = named if isinstance(named, str) else str(first(named, "label", "id") or "")
        prompts, prompt = columns.setdefault(provider, []), first(row, "promptIdx", "promptId")
        if prompt not in prompts:
            prompts.append(prompt)
        place = prompts.index(prompt) + 1
        judgments = tuple(_judgments(row))
        test = row.get("testIdx")
        yield Item(
            *(at, task.doc(row, digest(row.get("vars")) if test is None else test)),
            task.system(row, provider if place == 1 else f"{provider}#{place}"),
            judgments,
            text(first(row, "response.output", "text")),
            texts(text(field(row, "prompt.raw"))),
            failed=row.get("failureReason") == _FAILED,
            corrected=any(one.person for one in judgments),
        )


def _judgments(row: Object) -> Iterator[Judgment]:
    grading = row.get("gradingResult") or {}
    each = objects(grading.get("componentResults"))
    people = [one for one in each if field(one, "assertion.type") == "human"]
    judges = [one for one in each if one not in people]
    if grading.get("reason") == _BY_HAND or field(grading, "assertion.type") == "human":
        people = people or [grading]
    names = list(_names(judges))
    for name, one in zip(names, judges, strict=True):
        yield from judged(name, one.get("score"), label=verdict(one.get("pass")))
    for name, value in (row.get("namedScores") or {}).items():
        if name not in names:
            yield from judged(name, value)
    for one in people[-1:]:
        yield from rated(_OVERALL, one.get("score"), label=verdict(one.get("pass")))
    if not people and row.get("failureReason") != _FAILED:
        passed = verdict(row.get("success", grading.get("pass")))
        yield from judged(_OVERALL, row.get("score", grading.get("score")), label=passed)
    elif judges:
        yield from _recomputed(judges, number(field(row, "testCase.threshold")))


def _names(judges: Sequence[Object]) -> Iterator[str]:
    """What the components are called: their metric, or the assertion's type, then with a number."""
    seen: Counter[str] = Counter()
    for one in judges:
        name = str(first(one, "assertion.metric", "assertion.type") or "assertion")
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}_{seen[name]}"


def _recomputed(judges: Sequence[Object], threshold: float | None) -> Iterator[Judgment]:
    scores = [number(one.get("score")) for one in judges]
    weighed = [number(field(one, "assertion.weight")) for one in judges]
    weights = [1.0 if weight is None else weight for weight in weighed]
    known = [score for score in scores if score is not None]
    mean = None
    if sum(weights) > 0 and len(known) == len(scores):
        mean = sum(map(float.__mul__, known, weights)) / sum(weights)
    passed = all(one.get("pass") is True for one in judges)
    if threshold is not None and mean is not None:
        passed = mean >= threshold
    yield from judged(_OVERALL, mean, label=verdict(passed))


KIND = Kind(
    "results of promptfoo",
    ("*.json", "*.jsonl"),
    ("evalId results", "results promptIdx", "gradingResult promptIdx"),
    _read,
)
