"""`metassay improve`: from a judge of params.yaml and labels to a better judge, or to none."""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from metassay.api.labels import Choices
from metassay.cli.ledger_commands import NextRun, confirm_price, print_next_run
from metassay.cli.parsing import roles_in
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput, Unfinished, hint, raise_problems
from metassay.core.exit_codes import DONE, INCOMPLETE, REFUSED
from metassay.core.naming import name_problem
from metassay.core.options import PARAMS
from metassay.core.params import Params, load
from metassay.datasets.clearance import open_labels_session
from metassay.format.numbers import counted, short
from metassay.judges.candidates import (
    CHANGES,
    Candidate,
    Wanted,
    make_candidates,
    read_present_prompt,
)
from metassay.judges.llm import LlmOptions
from metassay.judges.rewriting import FILE, REWRITES, rewrite_requests
from metassay.llm.needs import Use
from metassay.llm.prompts import load as load_prompt
from metassay.llm.session import Session
from metassay.project import improvement
from metassay.project.claim_labels import ROLES, ClaimLabels, read_claim_labels
from metassay.project.cost import Planned
from metassay.project.improvement import Improvement
from metassay.scoring.pairing.instruments import SUPPORT_GRADE
from metassay.statistics.judge_choice import (
    AGREEMENT,
    BALANCED,
    CHOOSABLE,
    GAIN,
    Parts,
    labels_if,
    split_documents,
)
from metassay.statistics.random_numbers import generator
from metassay.tabular.files import read_sheet
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings

WORK = Path(".work/improve")  # prompts of candidates, which may quote labelled texts
_SHOWING = ("shots",)  # changes that show labelled texts to a judge


def improve(args: argparse.Namespace) -> int:
    """Ask candidates after their price was confirmed; print and write what was found."""
    params = load()
    wanted_names = [args.judge, *args.beside]
    _check_names(args, params, wanted_names)
    claims = _read(args)
    changes = args.changes or [*CHANGES]
    shows = bool(args.with_model) or _shows(params, args.judge, changes)
    parts = split_documents(
        claims.cluster, generator(args.seed, "improve", "documents"), shows=shows
    )
    print(_describe_labels(args.judge, claims, parts))
    for note in claims.notes:
        print(f"note: {note}")
    if too_few := improvement.check_documents(claims, parts, args.choose):
        print(
            f"{too_few}. Keep {args.judge}: about {labels_if(improvement.DIFFER):,.0f}"
            f" labelled rows would show a gain of {short(GAIN)}, if judges differ on"
            f" {100 * improvement.DIFFER:.0f} % of them, and a document's rows do not err"
            " together; else more."
        )
        return DONE
    wanted = Wanted(
        judge=args.judge,
        block=params.judges[args.judge],
        instrument=claims.instrument,
        shown=claims.frame[parts.shown],
        beside={name: params.judges[name] for name in args.beside},
        folder=WORK / args.judge,
        changes=changes,
    )
    rng = generator(args.seed, "improve", "examples")
    candidates, lines = make_candidates(wanted, rng)
    for line in lines:
        print(f"note: {line}")
    with open_labels_session(
        params, claims.name, args.dataset, args.max_cost
    ) as session:
        improvement.check_candidates(candidates, claims.instrument, session)
        try:
            result = _ask(args, params, wanted, candidates, claims, parts, session)
        except Unfinished as error:
            print(f"{error}; the same command asks what is missing", file=sys.stderr)
            return INCOMPLETE
    if result is None:
        return REFUSED
    _show(args, wanted, result)
    return INCOMPLETE if result.n_missing else DONE


def _check_names(args: argparse.Namespace, params: Params, names: list[str]) -> None:
    """Raise BadInput for judges, changes and other words that are not known."""
    problems = []
    for name in names:
        if name not in params.judges:
            known = ", ".join(sorted(params.judges)) or "none"
            close = hint(name, params.judges)
            problems.append(f"{PARAMS} > judges: no {name!r}; known: {known}{close}")
    for change in args.changes:
        if change not in CHANGES:
            problems.append(
                f"--try {change}: write some of {', '.join(CHANGES)}{hint(change, CHANGES)}"
            )
    if args.choose not in CHOOSABLE:
        problems.append(f"--choose {args.choose}: write one of {', '.join(CHOOSABLE)}")
    if args.judge in args.beside:
        problems.append(f"--beside {args.judge}: is the judge itself; name others")
    if args.with_model and args.with_model not in params.models:
        known = ", ".join(sorted(params.models)) or "none"
        close = hint(args.with_model, params.models)
        problems.append(
            f"--with: {PARAMS} > models has no {args.with_model!r}; known: {known}{close}"
        )
    block = params.judges.get(args.judge, {})
    if args.with_model and block and block.get("kind") != "llm":
        problems.append(
            f"--with: judge {args.judge} is of kind {block.get('kind')}, which has no prompt;"
            " leave it out"
        )
    if problem := name_problem(_new_name(args.judge)):
        problems.append(
            f"{_new_name(args.judge)}: {problem}; give the judge a shorter name"
        )
    raise_problems(problems)


def _read(args: argparse.Namespace) -> ClaimLabels:
    faults = Findings()
    sheet = read_sheet(args.file, faults)
    if faults or sheet is None:
        raise BadInput(faults.lines())
    choices = Choices(
        passes=tuple(args.passes),
        pass_from=args.pass_from,
        missing=tuple(args.missing),
        caller=Caller.TERMINAL,
    )
    columns = roles_in(args.columns, ROLES)
    if args.question == SUPPORT_GRADE.name and args.choose == BALANCED:
        raise BadInput(
            f"--choose {BALANCED}: takes passes and fails, and --question {args.question} has"
            f" grades; write --choose {AGREEMENT}"
        )
    claims = read_claim_labels(sheet, args.question, columns, choices)
    if claims.frame.empty:
        raise BadInput(f"{args.file}: no row has two texts and a label")
    return claims


def _shows(params: Params, judge: str, changes: list[str]) -> bool:
    is_llm = params.judges[judge].get("kind") == "llm"
    return is_llm and any(change in _SHOWING for change in changes)


def _describe_labels(judge: str, claims: ClaimLabels, parts: Parts) -> str:
    shown = int(np.count_nonzero(parts.shown))
    can_be_shown = f"{shown:,} may be shown in prompts, " if shown else ""
    line = (
        f"{judge}, {claims.instrument}: {counted(len(claims.frame), 'labelled row')} of"
        f" {counted(int(claims.cluster.max()) + 1, 'document')}; {can_be_shown}"
        f"{np.count_nonzero(parts.choosing):,} choose,"
        f" {np.count_nonzero(parts.telling):,} tell."
    )
    gain = improvement.detectable_gain(parts)
    return (
        f"{line} A gain of {short(gain)} will show in 80 % of such searches, if judges"
        f" differ on {100 * improvement.DIFFER:.0f} % of the rows, and a document's rows do"
        " not err together; else a larger one."
    )


def _ask(
    args: argparse.Namespace,
    params: Params,
    wanted: Wanted,
    candidates: list[Candidate],
    claims: ClaimLabels,
    parts: Parts,
    session: Session,
) -> Improvement | None:
    """Print the price, have it confirmed, and search; None if it was not confirmed."""
    rewrites = _Rewrites(args, wanted, candidates[0], claims, parts, session)
    n_open = rewrites.n_open if args.with_model else 0
    if args.with_model and not n_open:
        candidates = [*candidates, *rewrites.ask()]
        improvement.check_candidates(candidates, claims.instrument, session)
    costs = improvement.plan_questions(candidates, claims, parts, session, args.choose)
    if n_open:
        more = improvement.plan_rewritten(
            candidates[0], claims, parts, session, REWRITES
        )
        costs = costs._replace(planned=[*rewrites.planned, *costs.planned, *more])
    price = NextRun(
        name=f"improve {args.judge}",
        costs=costs,
        refusals=(),
        spent=session.spent,
        cap=params.max_cost,
    )
    print_next_run(price)
    _check_price(args, price)
    if price.open_questions and not args.yes and not confirm_price(args.typed):
        return None
    if n_open:
        candidates = [*candidates, *rewrites.ask()]
        improvement.check_candidates(candidates, claims.instrument, session)
    return improvement.search(
        candidates, claims, parts, session, by=args.choose, seed=args.seed
    )


def _check_price(args: argparse.Namespace, price: NextRun) -> None:
    """Raise BadInput if the expected price exceeds --max-cost, or is not known."""
    if args.max_cost is None:
        return
    planned = price.costs.planned
    raise_problems(
        f"--max-cost {args.max_cost:g}: {PARAMS} > models > {model} has no prices, so that it"
        " cannot be kept; add them (0 for a model of your own)"
        for model in sorted({row.model for row in planned if row.estimate.cost is None})
    )
    expected = sum(cost for cost, _ in price.expected_costs().values())
    if expected > args.max_cost:
        raise BadInput(
            f"--max-cost {args.max_cost:g}: the expected price is {expected:.4f}; nothing was"
            " asked. Try fewer kinds of candidates (--try prompts styles), or allow more"
        )


class _Rewrites:
    """What a named model is asked for rewrites; nothing is asked before `ask`."""

    def __init__(
        self,
        args: argparse.Namespace,
        wanted: Wanted,
        present: Candidate,
        claims: ClaimLabels,
        parts: Parts,
        session: Session,
    ) -> None:
        self._seed = args.seed
        self._wanted = wanted
        self._present = present
        self._claims = claims
        self._parts = parts
        self._session = session
        self.planned: list[Planned] = []
        if not args.with_model:
            return
        load_prompt(FILE.path.stem, filled=FILE.filled)
        self._use = Use(args.with_model, None)
        options: Any = present.chosen.options
        assert isinstance(options, LlmOptions)
        self._content = read_present_prompt(wanted, options)
        raise_problems(session.refusals(args.with_model, []))
        shown = improvement.plan_shown(present, claims, parts, session)
        self.planned = shown.planned
        answers = None
        if not improvement.count_open(shown.planned):
            answers = self._ask_present()
        requests = self._requests(answers)
        if requests:
            planned = improvement.plan_rewrites(requests, self._use, session)
            self.planned = [*self.planned, planned]

    @property
    def n_open(self) -> int:
        """How many questions come before the candidates' own."""
        return improvement.count_open(self.planned)

    def ask(self) -> list[Candidate]:
        """Ask the present judge and the model, and return the candidates that it wrote."""
        requests = self._requests(self._ask_present())
        if not requests:
            print(f"note: no rewrites: {self._wanted.judge} is right on all rows shown")
            return []
        model = self._session.open_model(self._use)
        candidates, lost = improvement.ask_rewrites(
            self._wanted, self._content, requests, model
        )
        self._session.finish()
        if lost:
            print(
                f"note: {counted(lost, 'answer')} of {self._use.model} held no new"
                " instructions: it failed, wrote none, or repeated another answer"
            )
        return candidates

    def _ask_present(self) -> improvement.Answers:
        answers = improvement.ask_candidate(
            self._present, self._claims, self._parts.shown, self._session
        )
        self._session.finish()
        return answers

    def _requests(self, answers: improvement.Answers | None) -> list[Any]:
        rows = improvement.rows_shown(self._claims, self._parts, answers)
        return rewrite_requests(
            self._content["system"],
            rows,
            self._session.decoding(self._use),
            generator(self._seed, "improve", "rewrites"),
        )


def _new_name(judge: str) -> str:
    return f"{judge}_improved"


def _show(args: argparse.Namespace, wanted: Wanted, result: Improvement) -> None:
    """Print what was found, and write the result's folder."""
    print()
    for line in improvement.describe(result, wanted):
        print(line)
    for problem in result.card_problems:
        print(f"note: no card: {problem}")
    name = _new_name(args.judge)
    out = args.out or Path("improved") / args.judge
    is_own = (out / "candidates.csv").exists()
    text = ""
    with whole_folder(out, "--out", replace=is_own) as folder:
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        result.table.to_csv(folder / "candidates.csv", index=False, lineterminator="\n")
        result.wrong.to_csv(folder / "wrong.csv", index=False, lineterminator="\n")
        if result.card is not None:
            (folder / "card").mkdir()
            result.card.write(folder / "card")
        if result.is_better:
            block = {name: improvement.final_block(result, wanted, name)}
            text = yaml.safe_dump({"judges": block}, sort_keys=False, width=100)
            (folder / "judge.yaml").write_text(text, encoding="utf-8")
            prompt = result.chosen.prompt
            if prompt is not None:
                written = prompt.read_text(encoding="utf-8")
                (folder / f"{name}.yaml").write_text(written, encoding="utf-8")
    if result.is_better:
        print(f"\nAdd this to {PARAMS}:\n\n{text}")
        if result.chosen.prompt is not None:
            source = out / f"{name}.yaml"
            quotes = (
                "quotes labelled texts"
                if result.chosen.change == "shots"
                else "was written from labelled texts, and may quote them"
            )
            print(f"and its prompt, which {quotes}, to prompts/:")
            print(f"\n  cp {source} prompts/\n")
    written_files = "candidates.csv and wrong.csv (with texts)"
    if result.card is not None:
        written_files = "candidates.csv, wrong.csv (with texts) and the card"
    print(f"written to {out}: {written_files}")
