"""Check judges against their anchors: fresh answers, held against the stored ones."""

import contextlib
import datetime
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.params import Folder, Params, load
from metassay.llm.budget import Spending
from metassay.llm.server_errors import Retired
from metassay.llm.session import SENTINEL
from metassay.tracking.options import SentinelOptions, sentinel_options
from metassay.tracking.sentinel import files
from metassay.tracking.sentinel.anchors import (
    Failed,
    Found,
    anchored,
    compare,
    failed,
    is_blind,
    verdicts,
)
from metassay.tracking.sentinel.asking import Desk, desk
from metassay.tracking.sentinel.create_anchors import folder_of

State = Literal["no alarm", "alarm", "cannot tell", "retired", "another judge"]


@dataclass(frozen=True)
class DriftResult:
    """One check of one judge; a row of table `drift`.

    `anchors` were asked, `answered` of them have a verdict today, `failed` have none: these are
    unknown and in no other number. `changed` have another verdict than the stored one; `expected`
    is how many would, and `high` the most that may be chance, from repeated judging. `shift` is
    the answers that went up (towards the first label, such as `entailed`, or a higher grade) less
    those that went down, which may be chance from `shift_low` to `shift_high`. All of these are
    None where the state is neither `alarm` nor `no alarm`. `false_alarm` is the stated rate per
    check of one judge. `why` says in a plain sentence what was found and what to do: keys and
    numbers alone.
    """

    benchmark: str
    judge: str
    when: datetime.datetime  # UTC, to the second
    state: State
    why: str
    anchor_set: str  # hash of the anchors and their stored verdicts: rows of one set go together
    anchors: int
    answered: int
    failed: int
    false_alarm: float
    changed: int | None = None
    expected: float | None = None
    high: int | None = None
    p_changed: float | None = None
    shift: int | None = None
    shift_low: int | None = None
    shift_high: int | None = None
    p_shift: float | None = None
    spent: float | None = None
    currency: str | None = None

    @property
    def alarm(self) -> bool:
        """Whether the judge answers otherwise than it did, or is gone."""
        return self.state in ("alarm", "retired")

    @property
    def sentence(self) -> str:
        """The whole in one line."""
        return f"{self.benchmark}, judge {self.judge}: {self.state}: {self.why}"

    def row(self) -> dict[str, Any]:
        """As a row of table `drift`."""
        return {**asdict(self), "when": f"{self.when:%Y-%m-%dT%H:%M:%SZ}", "alarm": self.alarm}


def check(
    root: Path, benchmark: str, judge: str | None = None, *, now: datetime.datetime | None = None
) -> list[DriftResult]:
    """Ask each judge that has anchors (or the one named) again, and append rows to table `drift`.

    `root` is the project's folder, which is the working folder meanwhile. Every answer is fresh
    and is kept in the ledger; one that a check left behind when it was cut off, less than a day
    ago, is used. What keeps one judge from being asked (no key, its endpoint is down, text that may
    not go there) is a result `cannot tell` that says why; a result is written before the next judge
    is asked. A second check of the benchmark waits until the first has ended. Raises BadInput where
    params.yaml is not sound, or nobody has anchors.
    """
    with contextlib.chdir(root):
        params = load()
        folder = folder_of(params, benchmark)
        sentinel_options(params)
        names = files.watched(benchmark) if judge is None else [judge]
        if not names:
            raise BadInput(
                f"benchmark {benchmark!r} has no anchors; `metassay sentinel fix {benchmark}` draws"
                " them"
            )
        found = []
        with files.alone(benchmark):
            for name in names:
                anchors = files.read_anchors(benchmark, name)
                moment = files.unused(benchmark, name, now or datetime.datetime.now(datetime.UTC))
                found.append(_one(params, folder, name, anchors, moment))
                files.append_drift(benchmark, pd.DataFrame([found[-1].row()]))
        return found


def _one(
    params: Params, folder: Folder, name: str, anchors: pd.DataFrame, now: datetime.datetime
) -> DriftResult:
    """Check one judge."""
    options, number = sentinel_options(params), len(anchored(anchors))
    anchor_set, recipe = (str(anchors[column].iloc[0]) for column in ("anchor_set", "recipe"))

    def result(
        state: State, why: str, spent: Spending | None = None, found: Found | None = None
    ) -> DriftResult:
        answered = 0 if found is None else found.answered
        numbers = {} if found is None or state not in ("alarm", "no alarm") else _numbers(found)
        currency = None if spent is None else spent.currency
        return DriftResult(
            *(folder.name, name, now, state, why, anchor_set),
            *(number, answered, number - answered, options.false_alarm),
            spent=None if currency is None or spent is None else spent.at_most,
            currency=currency,
            **numbers,  # type: ignore[arg-type] # counts are whole
        )

    try:
        texts = files.read_texts(folder.name, name, anchors["pair_id"])
        begun = files.salt(folder.name, name, f"check {anchor_set}", now)
        with desk(params, folder, name, texts, f"{SENTINEL} {begun}") as asked:
            if asked.judge.signature != recipe:
                return result("another judge", _changed(folder.name, name, recipe, asked))
            try:
                answers = verdicts(asked.ask(texts, begun))
            except Retired as error:
                return result("retired", "; ".join(error.problems), asked.spent)
            spent = asked.spent
    except BadInput as error:
        return result("cannot tell", "; ".join(error.problems))
    lacking = failed([answers])
    found = compare(anchors, answers, options.false_alarm)
    state, why = _judged(found, anchors, options, name, lacking)
    # Else what was answered counts for another try, which would come to the same if nothing lacks.
    if state != "cannot tell" or not lacking.missing:
        files.finished(folder.name, name)
    return result(state, why, spent, found)


def _judged(
    found: Found | None,
    anchors: pd.DataFrame,
    options: SentinelOptions,
    judge: str,
    lacking: Failed,
) -> tuple[State, str]:
    """What the answers say, and the sentence that says why."""
    number = len(anchored(anchors))
    without = number - (0 if found is None else found.answered)
    if found is None or without > options.max_failed * number:
        remedy = (
            "its endpoint answers (or max_cost there is raised)"
            if lacking.missing
            else f"`metassay probe {judge}` shows an answer that can be read"
        )
        return "cannot tell", (
            f"{without} of {number} anchors have no answer ({lacking.counts}), more than"
            f" params.yaml > sentinel > max_failed allows; check again once {remedy}"
        )
    if is_blind(anchors, options.false_alarm):
        return "cannot tell", (
            "the anchors are of so few texts that no change could be told from chance; fix more of"
            " them"
        )
    alarm = found.stands_out(options.false_alarm)
    return "alarm" if alarm else "no alarm", _why(found, judge, alarm=alarm)


def _numbers(found: Found) -> dict[str, float]:
    changed, shift = found.changed, found.shift
    return {
        **{"changed": changed.total, "expected": changed.expected, "high": changed.high},
        **{"p_changed": changed.more, "shift": shift.total, "shift_low": shift.low},
        **{"shift_high": shift.high, "p_shift": found.p_shift},
    }


def _why(found: Found, judge: str, *, alarm: bool) -> str:
    changed, shift = found.changed, found.shift
    said = (
        f"{changed.total} of {found.answered} verdicts differ from the stored ones; repetitions do"
        f" in {changed.expected:.1f} on average, and up to {changed.high} may be chance"
    )
    if found.flips:
        flips = sorted(found.flips.items())
        said += f" ({', '.join(f'{a} to {b}: {n}' for (a, b), n in flips)})"
    said += f"; net shift {shift.total:+d}, and {shift.low:+d} to {shift.high:+d} may be chance"
    if found.failed:
        said += f"; {found.failed} have no answer and are unknown"
    if not alarm:
        return said
    return (
        f"{said}. Judge {judge!r} does not answer as it did: do not put new verdicts beside old"
        " ones. Check it again now: a false alarm seldom comes twice. If it does, ask the provider"
        " what changed, or put another judge beside it"
    )


def _changed(benchmark: str, name: str, recipe: str, asked: Desk) -> str:
    return (
        f"the anchors were answered by {recipe}, and params.yaml now asks for"
        f" {asked.judge.signature}: that is a change of yours and no drift, and nothing was asked;"
        f" `metassay sentinel fix {benchmark} --judge {name} --again` watches the new one"
    )
