"""Fix the anchors of a judge, and check the judge against them: fresh answers beside stored ones.

Each answer is asked past the ledger, and is kept in it all the same. The money is of an account of
its own, with its own cap.
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

from metassay.core.errors import BadInput, collect_problems, meant
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
from metassay.tracking.sentinel.anchors import (
    TABLES_FOLDER,
    Failed,
    Found,
    alone,
    anchored,
    anchors_file,
    append_drift,
    compare,
    draw,
    failed,
    finished,
    hashed,
    is_blind,
    items_of,
    read_anchors,
    read_texts,
    salt,
    stands_out,
    two_sided,
    unused,
    verdicts,
    watched,
    write_texts,
)

_Any = TypeVar("_Any")
State = Literal["no alarm", "alarm", "cannot tell", "retired", "another judge"]
_ROUNDS = 50  # between the salts of two repetitions: more than a judge asks a question again


class SentinelOptions(Options):
    """The block `sentinel` of params.yaml; all of it may be left out.

    `max_cost`: what one fix or check of one judge may cost at most, in the currency of the prices
    of its models (a model without prices has no cap); it is no part of the run's max_cost.
    `false_alarm`: how often a check of a judge that did not change may raise the alarm.
    `max_failed`: of the anchors, the share without an answer from which on nothing can be said.
    """

    max_cost: Annotated[float, Field(ge=0, le=4_000_000)] = 1.0  # as of a run
    false_alarm: Annotated[float, Field(ge=0.0001, le=0.2)] = 0.02
    max_failed: Annotated[float, Field(ge=0, le=0.5)] = 0.1


def sentinel_options(params: Params) -> SentinelOptions:
    """The block `sentinel` as params.yaml has it, checked."""
    return parse(SentinelOptions, params.sentinel, where=f"{PARAMS} > sentinel")


class Desk(NamedTuple):
    """Where one judge can be asked, once or again and again."""

    name: str
    judge: Judge
    chosen: Chosen
    session: Session

    def ask(self, pairs: pd.DataFrame, salt: int) -> pd.DataFrame:
        """Table `judgments` of these pairs; `salt` tells this time from others (0: as in a run)."""
        self.session.repeat = salt
        kinds, size = instruments_of(self.chosen), self.chosen.record.batch
        return judge_pairs(pairs, self.name, self.judge, kinds, batch=size)


@contextmanager
def desk(
    params: Params, benchmark: Evaluation, name: str, texts: pd.DataFrame, account: str
) -> Iterator[Desk]:
    """Make the judge `name`, for these rows of `pairs`; nothing is sent yet.

    Raises BadInput where it is none that asks, its models or prompts are not sound, or the texts
    may not go where it would send them.
    """
    chosen = _chosen_judge(params, name)
    repeated = {repeat for names in texts["repeats"].unique() for repeat in names.split()}
    repeated.update(claim_datasets(benchmark, params.decompositions))
    cap = sentinel_options(params).max_cost
    with open_session(
        params, benchmark, chosen, repeated, account=account, max_cost=cap
    ) as session:
        yield Desk(name, make_judge(chosen, session.provide), chosen, session)


def _chosen_judge(params: Params, name: str) -> Chosen:
    where = f"{PARAMS} > judges"
    chosen = choose(
        JUDGES, _named(name, params.judges, f"{where}: has no"), where=f"{where} > {name}"
    )
    if not llm_members(chosen):
        raise BadInput(
            f"{where} > {name}: asks no language model behind an endpoint. What answers on this"
            " machine gives the same answer to the same question until its code or model changes,"
            " and a run notices that: it needs no sentinel"
        )
    return chosen


def folder_of(params: Params, name: str) -> Evaluation:
    """The benchmark or test of judges of that name; BadInput for others."""
    known: dict[str, Evaluation] = {**params.benchmarks, **params.judge_tests}
    return _named(name, known, f"{BENCHMARKS}/: no", " with judges")


def _named(name: str, known: Mapping[str, _Any], lacks: str, what: str = "") -> _Any:
    if name not in known:
        there, close = ", ".join(sorted(known)), meant(name, known)
        raise BadInput(f"{lacks} {name!r}{what}; there are: {there}{close}")
    return known[name]


def judges_asked(params: Params, folder: Evaluation, judge: str | None) -> list[str]:
    """The judge that is named, or all of the benchmark's that ask a model; BadInput if none."""
    assert isinstance(folder, Benchmark | JudgeTest)
    where = f"benchmarks/{folder.name}/params.yaml > judges:"
    found: list[str] = []
    problems: list[str] = []
    for name in folder.judges if judge is None else [judge]:
        with collect_problems(problems):
            _chosen_judge(params, name)
            found.append(name)
    if judge is not None and found and judge not in folder.judges:
        raise BadInput(
            f"{where} has no {judge!r}, so it has no stored verdicts there; there are:"
            f" {', '.join(folder.judges) or 'none'}"
        )
    if not found:
        raise BadInput(problems or f"{where} there is none")
    return found


@dataclass(frozen=True)
class Fixed:
    """What was fixed; table `anchors`, how many of them count, and what it cost."""

    judge: str
    file: Path
    anchors: pd.DataFrame
    spent: Spending

    @property
    def baseline(self) -> list[tuple[str, int, int]]:
        """By stored verdict: answers of the repetitions, and how many of them differ from it."""
        each = anchored(self.anchors)[["verdict", "repeats"]].explode("repeats")
        each["differs"] = each["verdict"] != each["repeats"]
        found = each.groupby("verdict")["differs"].agg(["size", "sum"])
        return [(str(name), int(n), int(k)) for name, n, k in found.itertuples()]


def fix(
    benchmark: str,
    judge: str,
    *,
    anchors: int = 100,
    repeats: int = 3,
    seed: int = 1,
    replace: bool = False,
    now: datetime.datetime | None = None,
) -> Fixed:
    """Draw at least `anchors` questions that were answered, and ask each `repeats` times more.

    The project is the working folder. Questions whose repetitions have no answer do not count.
    Raises BadInput where there are anchors already (unless `replace`), the judge is not that of the
    stored verdicts, the questions may not be sent, too few are answered (`max_failed`), or they are
    of so few texts that no change could be told. What was answered is in the ledger then, and the
    same command goes on from there.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    params = load()
    folder, options = folder_of(params, benchmark), sentinel_options(params)
    judges_asked(params, folder, judge)
    file = anchors_file(benchmark, judge)
    if file.exists() and not replace:
        raise BadInput(
            f"{file} is there: the anchors are fixed, and stay; --replace draws others, with which"
            " the watch starts again"
        )
    judgments = _table(benchmark, JUDGMENTS, judge)
    asked = [_table(benchmark, PAIRS, name) for name in files_in(folder, PAIRS.name)]
    drawn = draw(items_of(pd.concat(asked, ignore_index=True), judgments), anchors, seed)
    (recipe, *others) = sorted(judgments["recipe"].unique())
    texts = drawn[list(PAIRS.columns)]
    begun = salt(benchmark, judge, f"fix {anchors} {seed}", now)
    with desk(params, folder, judge, texts, f"{SENTINEL} {begun}") as place:
        if others or place.judge.signature != recipe:
            raise BadInput(
                f"judge {judge!r}: its stored verdicts are of {recipe}, and params.yaml asks for"
                f" {place.judge.signature}; metassay run {benchmark} brings them together"
            )
        answers = [verdicts(place.ask(texts, begun + _ROUNDS * n)) for n in range(repeats)]
        made = _anchors(drawn, answers, recipe)
        lacking = failed(answers)
        try:
            _check(made, judge, lacking, options)
        except BadInput:
            if not lacking.missing:  # the ledger would give the same answers
                finished(benchmark, judge)
            raise
        spent = place.session.spent
    write_texts(benchmark, judge, texts)
    parquet.write(ANCHORS, made, file)
    finished(benchmark, judge)
    return Fixed(judge, file, made, spent)


def _table(benchmark: str, which: parquet.Table, name: str) -> pd.DataFrame:
    file = TABLES_FOLDER / benchmark / which.name / f"{name}.parquet"
    if not file.exists():
        raise BadInput(f"{file} does not exist; metassay run {benchmark} makes it")
    return parquet.read(which, file)


def _anchors(drawn: pd.DataFrame, answers: Iterable[pd.DataFrame], recipe: str) -> pd.DataFrame:
    rows = drawn.drop_duplicates("pair_id").copy()
    each = [rows["pair_id"].map(found.set_index("pair_id")["verdict"]) for found in answers]
    rows["repeats"] = [
        ["" if pd.isna(verdict) else str(verdict) for verdict in of_pair]
        for of_pair in zip(*each, strict=True)
    ]
    known = rows[rows["verdict"].notna()]
    rows["anchor_set"] = hashed(known["pair_id"], known["verdict"])
    rows["recipe"] = recipe
    return rows[list(ANCHORS.columns)]


def _check(made: pd.DataFrame, judge: str, lacking: Failed, options: SentinelOptions) -> None:
    """BadInput where the anchors would not do."""
    stored, whole = int(made["verdict"].notna().sum()), len(anchored(made))
    if stored - whole > options.max_failed * stored:
        remedy = (
            f"`metassay probe {judge}` shows what it answers; the same command asks all of them"
            " again"
        )
        if lacking.missing:
            remedy = (
                "error: no connection, or params.yaml > sentinel > max_cost is reached; every"
                " answer is in the ledger, and the same command within a day asks only what is"
                " missing"
            )
        raise BadInput(
            f"judge {judge!r}: {stored - whole} of {stored} anchors were not answered in every"
            f" repetition ({lacking.counts}); {remedy}"
        )
    if is_blind(made, options.false_alarm):
        raise BadInput(
            f"judge {judge!r}: the {whole} anchors are of too few texts to show any change;"
            " ask for more --anchors or more --repeats"
        )


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
        names = watched(benchmark) if judge is None else [judge]
        if not names:
            raise BadInput(
                f"benchmark {benchmark!r} has no anchors; `metassay sentinel fix {benchmark}` draws"
                " them"
            )
        found = []
        with alone(benchmark):
            for name in names:
                anchors = read_anchors(benchmark, name)
                moment = unused(benchmark, name, now or datetime.datetime.now(datetime.UTC))
                found.append(_one(params, folder, name, anchors, moment))
                append_drift(benchmark, pd.DataFrame([found[-1].row()]))
        return found


def _one(
    params: Params, folder: Evaluation, name: str, anchors: pd.DataFrame, now: datetime.datetime
) -> DriftResult:
    options, number = sentinel_options(params), len(anchored(anchors))
    anchor_set, recipe = (str(anchors[column].iloc[0]) for column in ("anchor_set", "recipe"))

    def result(
        state: State, why: str, spent: Spending | None = None, found: Found | None = None
    ) -> DriftResult:
        answered, numbers = 0 if found is None else found.answered, dict[str, Any]()
        if found is not None and state in ("alarm", "no alarm"):
            changed, shift = found.changed, found.shift
            numbers = {
                **{"changed": changed.total, "expected": changed.expected, "high": changed.high},
                **{"p_changed": changed.more, "shift": shift.total, "shift_low": shift.low},
                **{"shift_high": shift.high, "p_shift": two_sided(shift)},
            }
        if spent is not None and spent.currency is not None:
            numbers |= {"spent": spent.at_most, "currency": spent.currency}
        counts = number, answered, number - answered
        told = folder.name, name, now, state, why, anchor_set
        return DriftResult(*told, *counts, options.false_alarm, **numbers)

    try:
        texts = read_texts(folder.name, name, anchors["pair_id"])
        begun = salt(folder.name, name, f"check {anchor_set}", now)
        with desk(params, folder, name, texts, f"{SENTINEL} {begun}") as place:
            if place.judge.signature != recipe:
                return result(
                    "another judge",
                    f"the anchors were answered by {recipe}, and params.yaml now asks for"
                    f" {place.judge.signature}: that is a change of yours and no drift, and nothing"
                    f" was asked; `metassay sentinel fix {folder.name} --judge {name} --replace`"
                    " watches the new one",
                )
            try:
                answers = verdicts(place.ask(texts, begun))
            except Retired as error:
                return result("retired", "; ".join(error.problems), place.session.spent)
            spent = place.session.spent
    except BadInput as error:
        return result("cannot tell", "; ".join(error.problems))
    lacking = failed([answers])
    found = compare(anchors, answers, options.false_alarm)
    state, why = _judged(found, anchors, options, name, lacking)
    # Else what was answered counts for another try, which would come to the same if nothing lacks.
    if state != "cannot tell" or not lacking.missing:
        finished(folder.name, name)
    return result(state, why, spent, found)


def _judged(
    found: Found | None,
    anchors: pd.DataFrame,
    options: SentinelOptions,
    judge: str,
    lacking: Failed,
) -> tuple[State, str]:
    number = len(anchored(anchors))
    without = number - (0 if found is None else found.answered)
    if found is None or without > options.max_failed * number:
        remedy = f"`metassay probe {judge}` shows an answer that can be read"
        if lacking.missing:
            remedy = "its endpoint answers (or max_cost there is raised)"
        return "cannot tell", (
            f"{without} of {number} anchors have no answer ({lacking.counts}), more than"
            f" params.yaml > sentinel > max_failed allows; check again once {remedy}"
        )
    if is_blind(anchors, options.false_alarm):
        return (
            "cannot tell",
            "the anchors are of too few texts to show any change; fix more of them",
        )
    alarm = stands_out(found.changed, found.shift, options.false_alarm)
    return "alarm" if alarm else "no alarm", _why(found, judge, alarm=alarm)


def _why(found: Found, judge: str, *, alarm: bool) -> str:
    changed, shift = found.changed, found.shift
    said = (
        f"{changed.total} of {found.answered} answers changed ({equals(changed.more)};"
        f" {changed.expected:.1f} expected); {changed.high + 1} would raise the alarm"
    )
    if found.flips:
        flips = sorted(found.flips.items())
        said += f" ({', '.join(f'{a} to {b}: {n}' for (a, b), n in flips)})"
    said += f"; net shift {shift.total:+d}, alarm outside {shift.low:+d} to {shift.high:+d}"
    if found.failed:
        said += f"; {found.failed} without an answer, unknown"
    if not alarm:
        return said
    return (
        f"{said}. Judge {judge!r} answers differently than before: do not compare new verdicts with"
        " old ones. Check again now, since a false alarm rarely repeats. If it repeats, ask the"
        " provider what changed, or add another judge"
    )
