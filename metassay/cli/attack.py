"""`metassay attack`: from a judge of params.yaml to its attack card."""

import argparse
import re
from pathlib import Path

from metassay.cli.ledger_commands import confirm_price, print_cost
from metassay.cli.running import run
from metassay.core.atomic import write_if_changed
from metassay.core.errors import BadInput, hint
from metassay.core.exit_codes import REFUSED
from metassay.core.kinds import choose
from metassay.core.naming import name_problem
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import AttackTest, Params, load
from metassay.datasets.registry import REGISTRY, find, folder_of, load_registry
from metassay.judges import JUDGES
from metassay.judges.make import llm_members
from metassay.project import kit

INVENTED = "sample_facts"  # public texts that come with Metassay
# The entry that is added is indented by two spaces, so those below it must be, too.
_HEAD = re.compile(r"^datasets:[ \t]*\n(?=  \S)", re.MULTILINE)
_SETTINGS = """\
# Attacks on {judge}: made by `metassay attack`, and yours to edit (docs/judges.md).
name: {name}
test: attacks
dataset: {dataset}
raw: {raw}
options: {{claims: 120, seed: 1, attacked: hypothesis, kinds: [], margin: 0.1}}
judges: [{judge}]
published: []
seen: {{}}
"""


def attack(args: argparse.Namespace) -> int:
    """Make the test unless it is there, say its price, run it, and print the judge's card."""
    judge = args.judge
    params = load()
    if judge not in params.judges:
        known = ", ".join(sorted(params.judges)) or "none"
        close = hint(judge, params.judges)
        raise BadInput(f"{PARAMS} > judges: no {judge!r}; known: {known}{close}")
    name = f"attacks_{judge}" + (f"_{args.dataset}" if args.dataset else "")
    if problem := name_problem(name):
        raise BadInput(f"{BENCHMARKS / name}: {problem}; give the judge a shorter name")
    file = BENCHMARKS / name / PARAMS.name
    if not file.exists():
        _write_test(file, judge, args.dataset or INVENTED)
        print(f"made {file}")
        params = load()
    test = _check_test(file, params, judge)
    if any(_asks_models(params, each) for each in test.judges):
        n_questions = print_cost(name)
        if n_questions and not args.yes and not confirm_price(args.typed):
            return REFUSED
    unused = {"prefect_api": None, "ask_again": False, "only": None, "dask": None}
    return run(
        argparse.Namespace(
            names=[name],
            jobs=args.jobs,
            no_prefect=True,
            mirror=args.mirror,
            **unused,
        )
    )


def _write_test(file: Path, judge: str, dataset: str) -> None:
    """Write the test's params.yaml, and where they are missing the invented texts."""
    if dataset == INVENTED and INVENTED not in load_registry():
        _add_invented()
    raw = folder_of(dataset, find(load_registry(), dataset))
    settings = _SETTINGS.format(
        judge=judge, name=file.parent.name, dataset=dataset, raw=raw.as_posix()
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    write_if_changed(file, settings)


def _add_invented() -> None:
    """Add the invented texts that come with Metassay, and their entry in the registry."""
    text = REGISTRY.read_text(encoding="utf-8")
    if len(_HEAD.findall(text)) != 1:
        raise BadInput(
            f"{REGISTRY}: {INVENTED} cannot be added; write the datasets as a block below"
            " a line `datasets:`, each name indented by two spaces"
        )
    for name, content in kit.invented_facts().items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    entry = kit.registry_entry(INVENTED)
    text = _HEAD.sub(lambda head: head[0] + entry, text)
    write_if_changed(REGISTRY, text)
    print(f"added the invented texts {INVENTED}: data/{INVENTED}, and {REGISTRY}")


def _check_test(file: Path, params: Params, judge: str) -> AttackTest:
    test = params.every[file.parent.name]
    if not isinstance(test, AttackTest):
        raise BadInput(f"{file}: is not a test by attacks; rename its folder")
    if judge not in test.judges:
        raise BadInput(f"{file} > judges: there is no judge {judge!r}; add it")
    return test


def _asks_models(params: Params, judge: str) -> bool:
    where = f"{PARAMS} > judges > {judge}"
    return bool(llm_members(choose(JUDGES, params.judges[judge], where=where)))
