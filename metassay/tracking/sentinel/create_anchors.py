"""Fix the anchors of a judge: draw them, and ask the judge again to learn how steady it is."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.params import Benchmark, Folder, JudgeTest, Params, load
from metassay.core.stages import files_in
from metassay.llm.budget import Spending
from metassay.llm.session import SENTINEL
from metassay.tables import parquet
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.sentinel import ANCHORS
from metassay.tracking.options import SentinelOptions, sentinel_options
from metassay.tracking.sentinel import files
from metassay.tracking.sentinel.anchors import (
    Failed,
    anchored,
    draw,
    failed,
    hashed,
    is_blind,
    items_of,
    verdicts,
)
from metassay.tracking.sentinel.asking import chosen_judge, desk

_ROUNDS = 50  # between the salts of two repetitions: more than a judge asks a question again


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
        counted = anchored(self.anchors)
        each = counted[["verdict", "repeats"]].explode("repeats")
        each["differs"] = each["verdict"] != each["repeats"]
        found = each.groupby("verdict")["differs"].agg(["size", "sum"])
        return [(str(name), int(n), int(k)) for name, n, k in found.itertuples()]


def folder_of(params: Params, name: str) -> Folder:
    """The benchmark or test of judges of that name; BadInput for others."""
    known: dict[str, Folder] = {**params.benchmarks, **params.judge_tests}
    if name not in known:
        there = ", ".join(sorted(known))
        raise BadInput(f"benchmarks/: none with judges is called {name!r}; there are: {there}")
    return known[name]


def pairs_of(folder: Folder) -> pd.DataFrame:
    """All that its judges are asked, as the last run left it."""
    names = files_in(folder, PAIRS.name)
    return pd.concat([table(folder.name, PAIRS, name) for name in names], ignore_index=True)


def table(benchmark: str, which: parquet.Table, name: str | None = None) -> pd.DataFrame:
    """A table of a benchmark, as the last run left it; BadInput where it isn't there."""
    at = which.name if name is None else f"{which.name}/{name}"
    file = files.TABLES_FOLDER / benchmark / f"{at}.parquet"
    if not file.exists():
        raise BadInput(f"{file} does not exist; metassay run {benchmark} makes it")
    return parquet.read(which, file)


def judges_asked(params: Params, folder: Folder, judge: str | None) -> list[str]:
    """The judge that is named, or all of the benchmark's that ask a model; BadInput if none."""
    assert isinstance(folder, Benchmark | JudgeTest)
    if judge is not None:
        chosen_judge(params, judge)
        if judge not in folder.judges:
            there = ", ".join(folder.judges) or "none"
            raise BadInput(
                f"benchmarks/{folder.name}/params.yaml > judges: has no {judge!r}, so it has no"
                f" stored verdicts there; there are: {there}"
            )
        return [judge]
    found: list[str] = []
    problems: list[str] = []
    for name in folder.judges:
        try:
            chosen_judge(params, name)
            found.append(name)
        except BadInput as error:
            problems += error.problems
    if not found:
        raise BadInput(problems or f"benchmarks/{folder.name}/params.yaml > judges: there is none")
    return found


def fix(
    benchmark: str,
    judge: str,
    *,
    anchors: int = 100,
    repeats: int = 3,
    seed: int = 1,
    again: bool = False,
    now: datetime.datetime | None = None,
) -> Fixed:
    """Draw at least `anchors` questions that were answered, and ask each `repeats` times more.

    The project is the working folder. Questions whose repetitions have no answer do not count.
    Raises BadInput where there are anchors already (unless `again`), the judge is not that of the
    stored verdicts, the questions may not be sent, too few are answered (`max_failed`), or they are
    of so few texts that no change could be told. What was answered is in the ledger then, and the
    same command goes on from there.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    params = load()
    folder, options = folder_of(params, benchmark), sentinel_options(params)
    judges_asked(params, folder, judge)
    file = files.anchors_file(benchmark, judge)
    if file.exists() and not again:
        raise BadInput(
            f"{file} is there: the anchors are fixed, and stay; --again draws others, with which"
            " the watch begins anew"
        )
    judgments = table(benchmark, JUDGMENTS, judge)
    drawn = draw(items_of(pairs_of(folder), judgments), anchors, seed)
    (recipe, *others) = sorted(judgments["recipe"].unique())
    texts = drawn[list(PAIRS.columns)]
    begun = files.salt(benchmark, judge, f"fix {anchors} {seed}", now)
    with desk(params, folder, judge, texts, f"{SENTINEL} {begun}") as asked:
        if others or asked.judge.signature != recipe:
            raise BadInput(
                f"judge {judge!r}: its stored verdicts are of {recipe}, and params.yaml asks for"
                f" {asked.judge.signature}; metassay run {benchmark} brings them together"
            )
        salts = [begun + _ROUNDS * n for n in range(repeats)]
        answers = [verdicts(asked.ask(texts, salt)) for salt in salts]
        made = _made(drawn, answers, recipe)
        lacking = failed(answers)
        try:
            _check(made, judge, lacking, options)
        except BadInput:
            if not lacking.missing:  # the ledger would give the same answers
                files.finished(benchmark, judge)
            raise
        spent = asked.spent
    files.write_texts(benchmark, judge, texts)
    parquet.write(ANCHORS, made, file)
    files.finished(benchmark, judge)
    return Fixed(judge, file, made, spent)


def _made(drawn: pd.DataFrame, answers: Iterable[pd.DataFrame], recipe: str) -> pd.DataFrame:
    rows = drawn.drop_duplicates("pair_id").copy()
    each = [rows["pair_id"].map(one.set_index("pair_id")["verdict"]) for one in answers]
    rows["repeats"] = [
        ["" if pd.isna(one) else str(one) for one in said] for said in zip(*each, strict=True)
    ]
    known = rows[rows["verdict"].notna()]
    rows["anchor_set"] = hashed(known["pair_id"], known["verdict"])
    rows["recipe"] = recipe
    return rows[list(ANCHORS.columns)]


def _check(made: pd.DataFrame, judge: str, lacking: Failed, options: SentinelOptions) -> None:
    """BadInput where the anchors would not do."""
    stored, whole = int(made["verdict"].notna().sum()), len(anchored(made))
    if stored - whole > options.max_failed * stored:
        raise BadInput(
            f"judge {judge!r}: {stored - whole} of {stored} anchors were not answered in every"
            f" repetition ({lacking.counts}); "
            + (
                "error: no connection, or params.yaml > sentinel > max_cost is reached; every"
                " answer is in the ledger, and the same command within a day asks only what is"
                " missing"
                if lacking.missing
                else f"`metassay probe {judge}` shows what it answers; the same command asks all of"
                " them anew"
            )
        )
    if is_blind(made, options.false_alarm):
        raise BadInput(
            f"judge {judge!r}: the {whole} anchors are of so few texts that no change could be told"
            " from chance; ask for more --anchors or more --repeats"
        )
