"""Fix the anchors of a judge, and check the judge against them: new answers beside stored ones.

Each answer is asked anew, past the ledger, and stored there too. The money is of a
separate account with its own cap.
"""

import contextlib
import datetime
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import pandas as pd
from pydantic import Field

from metassay.core.errors import BadInput, collect_problems, hint
from metassay.core.kinds import Chosen, choose
from metassay.core.options import BENCHMARKS, PARAMS, Options, parse
from metassay.core.params import Benchmark, Evaluation, JudgeTest, Params, load
from metassay.core.stages import files_in
from metassay.datasets.clearance import open_session
from metassay.format.numbers import equals
from metassay.judges import JUDGES
from metassay.judges.make import claim_datasets, instruments_of, llm_members, make_judge
from metassay.judges.protocol import Judge
from metassay.judges.run import judge_pairs
from metassay.llm.budget import Spending
from metassay.llm.server_errors import Retired
from metassay.llm.session import SENTINEL, Session
from metassay.tables import parquet
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.tracking import ANCHORS
from metassay.tracking.sentinel import anchors as store

_Any = TypeVar("_Any")
State = Literal["no alarm", "alarm", "cannot tell", "retired", "another judge"]
# between the salts of two repetitions: more than a judge asks a question again
_ROUNDS = 50


class SentinelOptions(Options):
    """The block `sentinel` of params.yaml; all of it may be left out.

    `max_cost`: the most that one fix or check of one judge may cost, in the currency of
    the prices of its models (a model without prices has no cap); it is no part of the
    run's max_cost. `false_alarm`: how often a check of an unchanged judge may raise the
    alarm. `max_failed`: the share of anchors without an answer above which nothing can
    be told.
    """

    max_cost: Annotated[float, Field(ge=0, le=4_000_000)] = 1.0  # as of a run
    false_alarm: Annotated[float, Field(ge=0.0001, le=0.2)] = 0.02
    max_failed: Annotated[float, Field(ge=0, le=0.5)] = 0.1


def sentinel_options(params: Params) -> SentinelOptions:
    """Return the block `sentinel` of params.yaml, checked."""
    return parse(SentinelOptions, params.sentinel, where=f"{PARAMS} > sentinel")


class OpenJudge(NamedTuple):
    """A judge with the session in which it can be asked, once or again and again."""

    name: str
    judge: Judge
    chosen: Chosen
    session: Session

    def ask(self, pairs: pd.DataFrame, salt: int) -> pd.DataFrame:
        """Return table `judgments` of these pairs; `salt` tells rounds apart (0: as in a run)."""
        self.session.repeat = salt
        kinds, size = instruments_of(self.chosen), self.chosen.record.batch
        return judge_pairs(pairs, self.name, self.judge, kinds, batch=size)


@contextmanager
def open_judge(
    params: Params, benchmark: Evaluation, name: str, texts: pd.DataFrame, account: str
) -> Iterator[OpenJudge]:
    """Make the judge `name`, for these rows of `pairs`; nothing is sent yet.

    Raises BadInput if it asks no model, its models or prompts are not valid, or the
    texts may not be sent where it would send them.
    """
    chosen = _choose_judge(params, name)
    repeated = {
        repeat for names in texts["repeats"].unique() for repeat in names.split()
    }
    repeated.update(claim_datasets(benchmark, params.decompositions))
    cap = sentinel_options(params).max_cost
    with open_session(
        params, benchmark, chosen, repeated, account=account, max_cost=cap
    ) as session:
        yield OpenJudge(name, make_judge(chosen, session.provide), chosen, session)


def _choose_judge(params: Params, name: str) -> Chosen:
    where = f"{PARAMS} > judges"
    chosen = choose(
        JUDGES,
        _lookup(name, params.judges, f"{where}: has no"),
        where=f"{where} > {name}",
    )
    if not llm_members(chosen):
        raise BadInput(
            f"{where} > {name}: asks no language model behind an endpoint. A judge on this machine"
            " gives the same answer to the same question until its code or model changes, and a"
            " run notices that: it needs no sentinel"
        )
    return chosen


def find_folder(params: Params, name: str) -> Evaluation:
    """Return the benchmark or test of judges of that name; raises BadInput for others."""
    folders: dict[str, Evaluation] = {**params.benchmarks, **params.judge_tests}
    return _lookup(name, folders, f"{BENCHMARKS}/: no", " with judges")


def _lookup(name: str, blocks: Mapping[str, _Any], lacks: str, what: str = "") -> _Any:
    if name not in blocks:
        names, close = ", ".join(sorted(blocks)), hint(name, blocks)
        raise BadInput(f"{lacks} {name!r}{what}; there are: {names}{close}")
    return blocks[name]


def watchable_judges(
    params: Params, folder: Evaluation, judge: str | None
) -> list[str]:
    """Return `judge`, or all judges of the benchmark that ask a model; raises BadInput if none."""
    assert isinstance(folder, Benchmark | JudgeTest)
    where = f"benchmarks/{folder.name}/params.yaml > judges:"
    names: list[str] = []
    problems: list[str] = []
    for name in folder.judges if judge is None else [judge]:
        with collect_problems(problems):
            _choose_judge(params, name)
            names.append(name)
    if judge is not None and names and judge not in folder.judges:
        raise BadInput(
            f"{where} has no {judge!r}, so it has no stored verdicts there; there are:"
            f" {', '.join(folder.judges) or 'none'}"
        )
    if not names:
        raise BadInput(problems or f"{where} there is none")
    return names


@dataclass(frozen=True)
class FixedAnchors:
    """The anchors fixed for a judge: their table and file, and what they cost."""

    judge: str
    file: Path
    anchors: pd.DataFrame
    spent: Spending

    @property
    def baseline(self) -> list[tuple[str, int, int]]:
        """By stored verdict: the answers of the repetitions, and how many differ from it."""
        repeats = store.complete_anchors(self.anchors)[["verdict", "repeats"]].explode(
            "repeats"
        )
        repeats["differs"] = repeats["verdict"] != repeats["repeats"]
        counts = repeats.groupby("verdict")["differs"].agg(["size", "sum"])
        return [(str(name), int(n), int(k)) for name, n, k in counts.itertuples()]


def fix(
    benchmark: str,
    judge: str,
    *,
    anchors: int = 100,
    repeats: int = 3,
    seed: int = 1,
    replace: bool = False,
    now: datetime.datetime | None = None,
) -> FixedAnchors:
    """Draw at least `anchors` answered questions, and ask each `repeats` times more.

    The project is the working folder. Questions whose repetitions have no answer do not
    count. Raises BadInput if there are anchors already (unless `replace`), the stored
    verdicts are of another judge, the questions may not be sent, too few are answered
    (`max_failed`), or they are of so few texts that no change could be shown. The
    answers so far are in the ledger then, and the same command goes on from there.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    params = load()
    folder, options = find_folder(params, benchmark), sentinel_options(params)
    watchable_judges(params, folder, judge)
    file = store.anchors_file(benchmark, judge)
    if file.exists() and not replace:
        raise BadInput(
            f"{file} is there: the anchors are fixed, and stay; --replace draws others, with which"
            " the watch starts again"
        )
    judgments = _table(benchmark, JUDGMENTS, judge)
    pairs = [_table(benchmark, PAIRS, name) for name in files_in(folder, PAIRS.name)]
    items = store.draw_items(
        store.number_items(pd.concat(pairs, ignore_index=True), judgments),
        anchors,
        seed,
    )
    (recipe, *others) = sorted(judgments["recipe"].unique())
    texts = items[list(PAIRS.columns)]
    begun = store.salt(benchmark, judge, f"fix {anchors} {seed}", now)
    with open_judge(params, folder, judge, texts, f"{SENTINEL} {begun}") as opened:
        if others or opened.judge.signature != recipe:
            raise BadInput(
                f"judge {judge!r}: its stored verdicts are of {recipe}, and params.yaml asks for"
                f" {opened.judge.signature}; metassay run {benchmark} brings them together"
            )
        answers = [
            store.verdicts(opened.ask(texts, begun + _ROUNDS * n))
            for n in range(repeats)
        ]
        rows = _anchors(items, answers, recipe)
        failures = store.count_failures(answers)
        try:
            _require_usable(rows, judge, failures, options)
        except BadInput:
            if not failures.missing:  # the ledger would give the same answers
                store.end_round(benchmark, judge)
            raise
        spent = opened.session.spent
    store.write_texts(benchmark, judge, texts)
    parquet.write(ANCHORS, rows, file)
    store.end_round(benchmark, judge)
    return FixedAnchors(judge, file, rows, spent)


def _table(benchmark: str, table: parquet.Table, name: str) -> pd.DataFrame:
    file = store.TABLES_FOLDER / benchmark / table.name / f"{name}.parquet"
    if not file.exists():
        raise BadInput(f"{file} does not exist; metassay run {benchmark} makes it")
    return parquet.read(table, file)


def _anchors(
    items: pd.DataFrame, answers: Iterable[pd.DataFrame], recipe: str
) -> pd.DataFrame:
    rows = items.drop_duplicates("pair_id").copy()
    rounds = [
        rows["pair_id"].map(table.set_index("pair_id")["verdict"]) for table in answers
    ]
    rows["repeats"] = [
        ["" if pd.isna(verdict) else str(verdict) for verdict in of_pair]
        for of_pair in zip(*rounds, strict=True)
    ]
    answered = rows[rows["verdict"].notna()]
    rows["anchor_set"] = store.hash_anchors(answered["pair_id"], answered["verdict"])
    rows["recipe"] = recipe
    return rows[list(ANCHORS.columns)]


def _require_usable(
    anchors: pd.DataFrame,
    judge: str,
    failures: store.Failures,
    options: SentinelOptions,
) -> None:
    """Raise BadInput if too few anchors are complete, or they are of too few texts."""
    stored, complete = (
        int(anchors["verdict"].notna().sum()),
        len(store.complete_anchors(anchors)),
    )
    if stored - complete > options.max_failed * stored:
        remedy = (
            f"`metassay probe {judge}` shows what it answers; the same command asks all of them"
            " again"
        )
        if failures.missing:
            remedy = (
                "error: no connection, or params.yaml > sentinel > max_cost is reached; every"
                " answer is in the ledger, and the same command within a day asks only what is"
                " missing"
            )
        raise BadInput(
            f"judge {judge!r}: {stored - complete} of {stored} anchors were not answered in every"
            f" repetition ({failures.counts}); {remedy}"
        )
    if store.too_few_texts(anchors, options.false_alarm):
        raise BadInput(
            f"judge {judge!r}: the {complete} anchors are of too few texts to show any change;"
            " ask for more --anchors or more --repeats"
        )


@dataclass(frozen=True)
class DriftResult:
    """A check of a judge; a row of table `drift`.

    `anchors` were asked; `answered` of them have a verdict today, and `failed` have
    none: these are unknown and in no other number. `changed` have another verdict than
    the stored one; `expected` is how many would by repeated judging alone, and `high`
    the most that may be chance. `shift` is the answers that went up (towards the first
    label, such as `entailed`, or a higher grade) less those that went down, which may
    be chance from `shift_low` to `shift_high`. All of these are None if the state is
    neither `alarm` nor `no alarm`. `false_alarm` is the nominal rate per check of a
    judge. `why` says in a plain sentence what was found and what to do: keys and
    numbers only.
    """

    benchmark: str
    judge: str
    when: datetime.datetime  # UTC, to the second
    state: State
    why: str
    # hash of the anchors and their stored verdicts: rows of one set go together
    anchor_set: str
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
        """Whether the judge answers otherwise than before, or is retired."""
        return self.state in ("alarm", "retired")

    @property
    def sentence(self) -> str:
        """The result in a line."""
        return f"{self.benchmark}, judge {self.judge}: {self.state}: {self.why}"

    def row(self) -> dict[str, Any]:
        """Return the result as a row of table `drift`."""
        return {
            **asdict(self),
            "when": f"{self.when:%Y-%m-%dT%H:%M:%SZ}",
            "alarm": self.alarm,
        }


def check(
    root: Path,
    benchmark: str,
    judge: str | None = None,
    *,
    now: datetime.datetime | None = None,
) -> list[DriftResult]:
    """Ask each judge that has anchors (or `judge`) again, and append rows to table `drift`.

    `root` is the project's folder, the working folder meanwhile. Every answer is new
    and stored in the ledger; answers of a check that was cut off less than a day ago
    are used. What keeps a judge from being asked (no key, its endpoint is down, text
    that may not be sent there) is a result `cannot tell` that says why; a result is
    written before the next judge is asked. A second check of the benchmark waits for
    the first to end. Raises BadInput if params.yaml is not valid, or no judge has
    anchors.
    """
    with contextlib.chdir(root):
        params = load()
        folder = find_folder(params, benchmark)
        sentinel_options(params)
        names = store.watched_judges(benchmark) if judge is None else [judge]
        if not names:
            raise BadInput(
                f"benchmark {benchmark!r} has no anchors; `metassay sentinel fix {benchmark}` draws"
                " them"
            )
        results = []
        with store.lock_benchmark(benchmark):
            for name in names:
                anchors = store.read_anchors(benchmark, name)
                today = now or datetime.datetime.now(datetime.UTC)
                moment = store.unused_time(benchmark, name, today)
                results.append(_check_judge(params, folder, name, anchors, moment))
                store.append_drift(benchmark, pd.DataFrame([results[-1].row()]))
        return results


def _check_judge(
    params: Params,
    folder: Evaluation,
    name: str,
    anchors: pd.DataFrame,
    now: datetime.datetime,
) -> DriftResult:
    options, number = sentinel_options(params), len(store.complete_anchors(anchors))
    anchor_set, recipe = (
        str(anchors[column].iloc[0]) for column in ("anchor_set", "recipe")
    )

    def result(
        state: State,
        why: str,
        spent: Spending | None = None,
        drift: store.Drift | None = None,
    ) -> DriftResult:
        answered, numbers = 0 if drift is None else drift.answered, dict[str, Any]()
        if drift is not None and state in ("alarm", "no alarm"):
            changed, shift = drift.changed, drift.shift
            numbers = {
                "changed": changed.total,
                "expected": changed.expected,
                "high": changed.high,
                "p_changed": changed.more,
                "shift": shift.total,
                "shift_low": shift.low,
                "shift_high": shift.high,
                "p_shift": store.two_sided(shift),
            }
        if spent is not None and spent.currency is not None:
            numbers |= {"spent": spent.at_most, "currency": spent.currency}
        counts = number, answered, number - answered
        fields = folder.name, name, now, state, why, anchor_set
        return DriftResult(*fields, *counts, options.false_alarm, **numbers)

    try:
        texts = store.read_texts(folder.name, name, anchors["pair_id"])
        begun = store.salt(folder.name, name, f"check {anchor_set}", now)
        with open_judge(params, folder, name, texts, f"{SENTINEL} {begun}") as opened:
            if opened.judge.signature != recipe:
                return result(
                    "another judge",
                    f"the anchors were answered by {recipe}, and params.yaml now asks for"
                    f" {opened.judge.signature}: that is a change of yours and no drift, and"
                    f" nothing was asked; `metassay sentinel fix {folder.name} --judge {name}"
                    " --replace` watches the new one",
                )
            try:
                answers = store.verdicts(opened.ask(texts, begun))
            except Retired as error:
                return result(
                    "retired", "; ".join(error.problems), opened.session.spent
                )
            spent = opened.session.spent
    except BadInput as error:
        return result("cannot tell", "; ".join(error.problems))
    failures = store.count_failures([answers])
    drift = store.compare(anchors, answers, options.false_alarm)
    state, why = _state_of(drift, anchors, options, name, failures)
    # With answers missing, another try reuses those that came; else it would end the
    # same.
    if state != "cannot tell" or not failures.missing:
        store.end_round(folder.name, name)
    return result(state, why, spent, drift)


def _state_of(
    drift: store.Drift | None,
    anchors: pd.DataFrame,
    options: SentinelOptions,
    judge: str,
    failures: store.Failures,
) -> tuple[State, str]:
    number = len(store.complete_anchors(anchors))
    without = number - (0 if drift is None else drift.answered)
    if drift is None or without > options.max_failed * number:
        remedy = f"`metassay probe {judge}` shows an answer that can be read"
        if failures.missing:
            remedy = "its endpoint answers (or max_cost there is raised)"
        return "cannot tell", (
            f"{without} of {number} anchors have no answer ({failures.counts}), more than"
            f" params.yaml > sentinel > max_failed allows; check again once {remedy}"
        )
    if store.too_few_texts(anchors, options.false_alarm):
        reason = "the anchors are of too few texts to show any change; fix more of them"
        return "cannot tell", reason
    alarm = store.stands_out(drift.changed, drift.shift, options.false_alarm)
    return "alarm" if alarm else "no alarm", _why(drift, judge, alarm=alarm)


def _why(drift: store.Drift, judge: str, *, alarm: bool) -> str:
    changed, shift = drift.changed, drift.shift
    message = (
        f"{changed.total} of {drift.answered} answers changed ({equals(changed.more)};"
        f" {changed.expected:.1f} expected); {changed.high + 1} would raise the alarm"
    )
    if drift.flips:
        flips = sorted(drift.flips.items())
        message += f" ({', '.join(f'{a} to {b}: {n}' for (a, b), n in flips)})"
    message += (
        f"; net shift {shift.total:+d}, alarm outside {shift.low:+d} to {shift.high:+d}"
    )
    if drift.failed:
        message += f"; {drift.failed} without an answer, unknown"
    if not alarm:
        return message
    return (
        f"{message}. Judge {judge!r} answers differently than before: do not compare new verdicts"
        " with old ones. Check again now, since a false alarm rarely repeats. If it repeats, ask"
        " the provider what changed, or add another judge"
    )
