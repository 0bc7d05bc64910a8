"""`metassay init` makes a project for own data, `metassay update` brings a project up to date."""

import argparse
import contextlib
import datetime
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from metassay.cli.terminal import confirm, page
from metassay.cli.tool_files import propose_import
from metassay.core.atomic import write_if_changed
from metassay.core.errors import BadInput, raise_problems
from metassay.core.exit_codes import DONE, REFUSED
from metassay.core.merges import dvc_problems
from metassay.core.naming import name_problem
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import BESIDE_REPORTS, MaxCost, load
from metassay.core.stages import DAG, TRAINING, root_dag
from metassay.project.kit import is_own_repository, upgrade
from metassay.project.make import (
    Content,
    check_place,
    example,
    make,
    name_of,
    set_key,
)
from metassay.project.own_model import OwnModel, propose_cap, use_everywhere
from metassay.project.refresh import refresh

if TYPE_CHECKING:
    from metassay.cli.ledger_commands import NextRun


def init(args: argparse.Namespace) -> int:
    """Make a project; return the exit code, that of the run if there was one."""
    folder: Path = args.folder
    check_place(folder)
    name = args.name or name_of(folder)
    if problem := name_problem(name, BESIDE_REPORTS):
        raise BadInput(f"--name {name!r}: {problem}")
    own_model = _own_model(args)
    content = _content(args, name, own_model)
    if content is None:
        print("nothing was made", file=sys.stderr)
        return REFUSED
    if own_model:
        content = use_everywhere(content, own_model, datetime.date.today())
    notes = make(folder, content)
    print(f"made the project {folder}, with benchmark {name}")
    for line in notes:
        print(f"note: {line}")
    if own_model:
        _print_price(folder, name, own_model)
    if not args.run:
        change = (
            ""
            if folder.resolve() == Path.cwd()
            else f"cd {shlex.quote(str(folder))} && "
        )
        print(f"next: {change}metassay run {name}")
        return DONE
    return _run(folder, name)


def update(_: argparse.Namespace) -> int:
    """Bring the project in this folder up to date, and print what changed."""
    if is_own_repository(Path()):  # which has no kit but itself
        changed = write_if_changed(Path(DAG), root_dag(TRAINING))
        lines = refresh(Path())
        if changed:
            lines.append(f"{DAG}: updated")
        print("\n".join(lines) or "up to date")
    else:
        print("\n".join(upgrade(Path())))
    # A dvc.yaml that cannot be read was left as it is.
    raise_problems(dvc_problems(Path(), sorted(load(Path()).every)))
    return DONE


def _own_model(args: argparse.Namespace) -> OwnModel | None:
    """Return the model that takes the place of defaults; None without --model."""
    if args.model is None:
        options = {
            "--base-url": args.base_url,
            "--key-env": args.key_env,
            "--prices": args.prices,
            "--sends": args.sends,
        }
        for option, value in options.items():
            if value is not None:
                raise BadInput(
                    f"{option}: belongs to a language model, and no option names one; add"
                    " --model MODEL, as its provider calls it"
                )
        return None
    if args.base_url is None:
        raise BadInput(
            f"--model {args.model}: where does it answer? Add --base-url URL, such as"
            " https://api.openai.com/v1, or http://127.0.0.1:8000/v1 for a server here"
        )
    if args.texts and args.sends is None:
        raise BadInput(
            "--model: the texts of your spreadsheets are private, and they would be sent to"
            f" the model; add --sends private if they may go to {args.base_url}"
        )
    if args.run:
        raise BadInput(
            "--run: with --model you see the price before the model is asked; leave out"
            " --run, then type the command that is printed"
        )
    return OwnModel(
        model=args.model,
        base_url=args.base_url,
        key_env=args.key_env,
        prices=args.prices,
        sends=(args.sends,) if args.sends else (),
    )


def _print_price(folder: Path, name: str, own_model: OwnModel) -> None:
    """Print what the first run would ask the model, and its price; nothing is asked.

    A model with prices gets a cap, `max_cost` of params.yaml.
    """
    from metassay.cli.ledger_commands import estimate_next_run, print_next_run

    print(
        f"{own_model.name} does all that a language model can do; params.yaml and"
        f" {BENCHMARKS / name / PARAMS} say what that is"
    )
    with contextlib.chdir(folder):
        next_run = estimate_next_run(name)
        cap = _cap(next_run)
        if cap is not None:
            _write_cap(cap)
        print_next_run(replace(next_run, cap=cap))
    if cap is not None:
        print(
            "the cap is about twice the expected price; a run that reaches it stops, keeps"
            " its answers, and goes on when you have raised max_cost"
        )
    elif own_model.prices is None:
        print(
            "without --prices there is no price and no cap; if the model costs something,"
            f" add prices to params.yaml > models > {own_model.name}, then max_cost"
        )
    print(f"to ask it one question first: metassay probe {own_model.name}")


def _cap(next_run: "NextRun") -> MaxCost | None:
    """Return a cap for the project, in the model's currency; None without a price."""
    for currency, (expected, at_most) in next_run.expected_costs().items():
        amount = propose_cap(expected, at_most, next_run.open_questions)
        if amount:
            return MaxCost(amount=amount, currency=currency)
    return None


def _write_cap(cap: MaxCost) -> None:
    """Write the cap into params.yaml of this folder."""
    content = Path(PARAMS).read_text(encoding="utf-8")
    line = f"max_cost: {{amount: {cap.amount:g}, currency: {cap.currency}}}\n"
    write_if_changed(Path(PARAMS), set_key(content, "max_cost", line))


def _model_words(args: argparse.Namespace) -> list[str]:
    """Return the words of the options of the model, as they were typed."""
    if args.model is None:
        return []
    words = ["--model", args.model, "--base-url", args.base_url]
    words += ["--sends", args.sends]
    if args.key_env is not None:
        words += ["--key-env", args.key_env]
    if args.prices is not None:
        words += ["--prices", ",".join(map(str, args.prices))]
    return words


def _content(
    args: argparse.Namespace, name: str, own_model: OwnModel | None
) -> Content | None:
    if not args.texts:
        if args.ratings or args.scores or args.columns:
            with propose_import(args.scores, ratings=args.ratings):
                pass
            raise BadInput(
                "--texts is missing: name the file with the texts that were rated or scored"
            )
        return example(name)
    from metassay.project.spreadsheets import summary
    from metassay.project.spreadsheets.read import KINDS, Inputs, read_all

    files = {kind: getattr(args, kind) for kind in KINDS if getattr(args, kind)}
    names = [name for name in Inputs._fields if name not in {"files", "scales"}]
    options = {name: getattr(args, name) for name in names}
    request = Inputs(files=files, scales=args.scale, **options)
    tables = [*args.texts, *args.scores]
    with propose_import(tables, ratings=args.ratings, named=bool(args.columns)):
        spreadsheets = read_all(request)
    settings = summary.settings_of(spreadsheets.rows)
    for line in summary.lines(spreadsheets, settings, own_model):
        print(line)
    more = ["--name", args.name] if args.name else []
    more += ["--run"] if args.run else []
    more += _model_words(args)
    if not args.yes and not _confirm_guesses(
        summary.command(args.folder, request, spreadsheets, more)
    ):
        return None
    file_names = [path.name for paths in files.values() for path in paths]
    return summary.project_of(name, spreadsheets, file_names)


def _confirm_guesses(command: str) -> bool:
    """Ask once whether the guesses are right; print the command to correct if not.

    Without a terminal, raise BadInput with the command that confirms.
    """
    refusal = [
        "the guesses need a confirmation, and there is no terminal; nothing was made."
        " Correct this command and run it:",
        f"  {command}",
    ]
    if confirm("Is all of this right?", without_terminal=refusal):
        return True
    print(f"correct this command and run it:\n{command}")
    return False


def _run(folder: Path, name: str) -> int:
    """Make the report without Prefect: without language models there is nothing to retry."""
    from metassay.cli.running import run

    before = Path.cwd()
    os.chdir(folder)
    try:
        unused = {
            "prefect_api": None,
            "mirror": None,
            "ask_again": False,
            "only": None,
            "dask": None,
        }
        code = run(argparse.Namespace(names=[name], jobs=2, no_prefect=True, **unused))
        if page(name).exists():
            print(f"open {page(name).resolve().as_uri()}")
        return code
    finally:
        os.chdir(before)
