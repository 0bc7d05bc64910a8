"""Check judges against their anchors: fresh answers, held against the stored ones."""

import contextlib
import datetime
from pathlib import Path

import pandas as pd

from metassay.drift import files
from metassay.drift.agreement import Found, anchored, compare, is_blind
from metassay.drift.anchors import Failed, failed, verdicts
from metassay.drift.asking import Desk, desk
from metassay.drift.fixing import folder_of
from metassay.drift.record import DriftResult, State, settings
from metassay.errors import BadInput
from metassay.llm.budget import Spending
from metassay.llm.connection import SENTINEL
from metassay.llm.retired import Retired
from metassay.params import Folder, Params, load


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
        settings(params)
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
    said = _Saying(params, folder.name, name, anchors, now)
    try:
        texts = files.read_texts(folder.name, name, anchors["pair_id"])
        begun = files.salt(folder.name, name, f"check {said.anchor_set}", now)
        with desk(params, folder, name, texts, f"{SENTINEL} {begun}") as asked:
            recipe = str(anchors["recipe"].iloc[0])
            if asked.judge.signature != recipe:
                return said.nothing("another judge", _changed(folder.name, name, recipe, asked))
            try:
                answers = verdicts(asked.ask(texts, begun))
            except Retired as error:
                return said.nothing("retired", "; ".join(error.problems), asked.spent)
            spent = asked.spent
    except BadInput as error:
        return said.nothing("cannot tell", "; ".join(error.problems))
    lacking = failed([answers])
    result = said.found(compare(anchors, answers, said.options.false_alarm), lacking, spent)
    # Else what was answered counts for another try, which would come to the same if nothing lacks.
    if result.state != "cannot tell" or not lacking.missing:
        files.finished(folder.name, name)
    return result


class _Saying:
    """Puts what came of one judge into a result."""

    def __init__(
        self,
        params: Params,
        benchmark: str,
        judge: str,
        anchors: pd.DataFrame,
        now: datetime.datetime,
    ) -> None:
        self.options = settings(params)
        self.anchor_set = str(anchors["anchor_set"].iloc[0])
        self._benchmark = benchmark
        self._judge = judge
        self._anchors = anchors
        self._number = len(anchored(anchors))
        self._now = now

    def nothing(self, state: State, why: str, spent: Spending | None = None) -> DriftResult:
        """Nobody answered."""
        return self._result(state, why, 0, spent)

    def found(self, found: Found | None, lacking: Failed, spent: Spending) -> DriftResult:
        """What the answers say."""
        answered = 0 if found is None else found.answered
        without = self._number - answered
        if found is None or without > self.options.max_failed * self._number:
            why = (
                f"{without} of {self._number} anchors have no answer ({lacking.counts}), more than"
                " params.yaml > sentinel > max_failed allows; check again once "
            )
            if lacking.missing:
                why += "its endpoint answers (or max_cost there is raised)"
            else:
                why += f"`metassay probe {self._judge}` shows an answer that can be read"
            return self._result("cannot tell", why, answered, spent)
        if is_blind(self._anchors, self.options.false_alarm):
            why = "the anchors are of so few texts that no change could be told from chance; fix"
            return self._result("cannot tell", f"{why} more of them", answered, spent)
        out = found.stands_out(self.options.false_alarm)
        changed, shift = found.changed, found.shift
        return self._result(
            "alarm" if out else "no alarm",
            _why(found, self._judge, alarm=out),
            answered,
            spent,
            changed=changed.total,
            expected=changed.expected,
            high=changed.high,
            p_changed=changed.more,
            shift=shift.total,
            shift_low=shift.low,
            shift_high=shift.high,
            p_shift=found.p_shift,
        )

    def _result(
        self, state: State, why: str, answered: int, spent: Spending | None, **numbers: float
    ) -> DriftResult:
        currency = None if spent is None else spent.currency
        return DriftResult(
            self._benchmark,
            self._judge,
            self._now,
            state,
            why,
            self.anchor_set,
            self._number,
            answered,
            self._number - answered,
            self.options.false_alarm,
            spent=None if currency is None or spent is None else spent.at_most,
            currency=currency,
            **numbers,  # type: ignore[arg-type] # counts are whole
        )


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
        " what changed, or take another judge by `metassay sentinel bridge`"
    )


def _changed(benchmark: str, name: str, recipe: str, asked: Desk) -> str:
    return (
        f"the anchors were answered by {recipe}, and params.yaml now asks for"
        f" {asked.judge.signature}: that is a change of yours and no drift, and nothing was asked;"
        f" `metassay sentinel fix {benchmark} --judge {name} --again` watches the new one,"
        f" `metassay sentinel bridge {benchmark} {name} NEW` says what another judge changes"
    )
