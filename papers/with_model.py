"""`python -m papers.with_model`: tables 21 to 27 of DocLens by a language model of yours.

The model writes the notes of ACI-BENCH test 1 whole and section by section, with no, one
and two examples, lists the claims of all notes, and judges claims and citations, with
the prompts after DocLens. This command writes what that needs into a clone, and prints
the price. It asks the model nothing.
"""

import argparse
import datetime
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from metassay.cli.main import end_in_order
from metassay.cli.main import main as metassay
from metassay.cli.parsing import Parser
from metassay.cli.values import base_url, prices, variable
from metassay.core.errors import BadInput
from metassay.core.exit_codes import DONE
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.project.make import set_key
from metassay.project.own_model import (
    OwnModel,
    add_blocks,
    endpoint_and_model,
    write_line,
)
from metassay.project.refresh import refresh

BENCHMARK = "aci_bench_model"
NAME = "doclens"  # of the model, and of what it does
SHOTS = (0, 1, 2)
EXAMPLES = "aci_bench_train"  # their dataset
# The prompts after DocLens, by how a note is written.
PROMPTS = {"full": "doclens-note", "section": "doclens-section"}
_HEAD = (
    "# DocLens's tables 21 to 27 by a language model: python -m papers.with_model.\n"
)


def main(arguments: Sequence[str]) -> int:
    """Write the benchmark and its blocks, print the price, and return the exit code."""
    args = _parse(arguments)
    own_model = OwnModel(
        model=args.model,
        base_url=args.base_url,
        key_env=args.key_env,
        prices=args.prices,
    )
    prepare(Path(), own_model, datetime.date.today())
    for words in (
        ["run", "aci_bench", EXAMPLES, "--only", "fetch"],
        ["ledger", "cost", BENCHMARK],
    ):
        code = metassay(words)
        if code != DONE:
            return code
    print("next:")
    print(f"  metassay probe {NAME}")
    print(f"  metassay run {BENCHMARK}")
    print("  metassay figures --paper doclens")
    return DONE


def prepare(root: Path, own_model: OwnModel, today: datetime.date) -> None:
    """Add the model and its blocks to params.yaml, and write the benchmark's folder.

    Raises BadInput if they are there already, or an option is not valid.
    """
    folder = root / BENCHMARKS / BENCHMARK
    if folder.exists():
        raise BadInput(
            f"{BENCHMARKS / BENCHMARK} is there already; to ask another model, change"
            f" {PARAMS} > models > {NAME}, or remove the folder and the blocks"
            f" called {NAME} in {PARAMS}"
        )
    path = root / PARAMS
    blocks = endpoint_and_model(own_model, NAME, today) | kinds()
    params = add_blocks(path.read_text(encoding="utf-8"), blocks)
    benchmark = _benchmark(root)
    path.write_text(params, encoding="utf-8")
    folder.mkdir()
    (folder / PARAMS.name).write_text(benchmark, encoding="utf-8")
    refresh(root)


def kinds() -> dict[str, dict[str, Any]]:
    """Return the blocks of all that the model does, by the key of params.yaml."""
    systems = {
        system_name(unit, shots): _system(unit, shots)
        for unit in PROMPTS
        for shots in SHOTS
    }
    claims = {
        "kind": "llm",
        "model": NAME,
        "prompt": "doclens-claims",
        "shots": 2,
        "least": 1,
        "most": 30,
        "rounds": 2,
    }
    judge = {
        "kind": "llm",
        "model": NAME,
        "style": "json",
        "per_call": "part",
        "shots": 2,
        "rounds": 2,
    }
    return {
        "systems": systems,
        "decompositions": {NAME: claims},
        "judges": {NAME: judge},
    }


def system_name(unit: str, shots: int) -> str:
    """Return the name of the system that writes notes so."""
    return f"{NAME}_{unit}_{shots}shot"


def _system(unit: str, shots: int) -> dict[str, Any]:
    system: dict[str, Any] = {
        "kind": "chat",
        "model": NAME,
        "unit": unit,
        "citations": True,
        "shots": shots,
        "examples": [],
        "example_citations": "overlap",
        "prompts": {"note": PROMPTS[unit]},
    }
    if shots:
        system["examples_from"] = f"{EXAMPLES}/train"
    return system


def _benchmark(root: Path) -> str:
    """Return the params.yaml of the benchmark: that of aci_bench, by the model."""
    text = (root / BENCHMARKS / "aci_bench" / PARAMS.name).read_text(encoding="utf-8")
    with_examples = [
        system_name(unit, shots) for unit in PROMPTS for shots in SHOTS if shots
    ]
    values = {
        "name": BENCHMARK,
        "systems": [system_name(unit, 0) for unit in PROMPTS],
        "few_shot": dict.fromkeys(with_examples, f"data/raw/{EXAMPLES}"),
        "decompositions": [NAME],
        "released_claims": {},
        "judges": [NAME],
        "metrics": ["rouge"],
        "published": [],
        "seen": {},
    }
    for key, value in values.items():
        text = set_key(text, key, f"{key}: {write_line(value)}\n")
    return _HEAD + text.partition("\n")[2]


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="python -m papers.with_model", description=__doc__)
    parser.add_argument("--model", required=True, help="as its provider calls it")
    parser.add_argument("--base-url", required=True, type=base_url, metavar="URL")
    parser.add_argument("--key-env", type=variable, metavar="VARIABLE")
    parser.add_argument("--prices", type=prices, metavar="READ,WRITTEN,CURRENCY")
    return parser.parse_args(list(arguments))


if __name__ == "__main__":
    sys.exit(end_in_order(partial(main, sys.argv[1:])))
