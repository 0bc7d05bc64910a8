"""Put a language model of one's own in the place of every default of a new project."""

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Any

import yaml

from metassay.core.errors import BadInput
from metassay.core.naming import LONGEST, name_problem
from metassay.core.options import Design, parse
from metassay.llm.endpoints import EndpointOptions, ModelOptions
from metassay.project.make import Content, replace_letters, set_key, substitute

Blocks = dict[str, dict[str, Any]]  # blocks of params.yaml below one key, by name

# Facets of notes, reports, abstracts and questions alike; a text need not have all.
FACETS = {
    "background": "what was known or had happened before, and why the text is written",
    "findings": "what was reported, denied, observed, measured or found",
    "assessment": "what the author concludes from it",
    "plan": "what is to be done next",
}
RUBRICS = ["facets", "vanilla"]  # both hold a text against its reference
# What the blocks of questions in params.yaml read, as summary.settings_of chooses them.
_READ_SOURCE = {"all", "uncited", "by_source", "faithful"}
_READ_REFERENCE = {"all", "uncited", "claims"}
_READ_CITATIONS = {"all", "by_source"}


@dataclass(frozen=True, kw_only=True)
class OwnModel:
    """A chat model, and the address where it answers.

    `model` is the provider's identifier, `key_env` the environment variable with the
    key. `prices`: per million tokens read and written, and their currency. `sends`:
    access classes beyond `public` whose texts may go to the address.
    """

    model: str
    base_url: str
    key_env: str | None = None
    prices: tuple[float, float, str] | None = None
    sends: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of its blocks: the last part of the identifier in letters of names."""
        name = replace_letters(self.model.rstrip("/").rpartition("/")[2])[:LONGEST]
        return (
            "own_model" if name_problem(name, ("reference", "given", "none")) else name
        )


def use_everywhere(
    content: Content, own_model: OwnModel, today: datetime.date
) -> Content:
    """Return the project with the model for everything that a model can do.

    It divides texts into facets, lists claims, judges, and grades by rubrics; it also
    writes texts where the project had systems that do. Metrics without a model stay.
    The primary metric is the recall of claims by the model, or, without references, the
    faithfulness. `today` dates the prices.

    Raises BadInput if an option is not valid, a default has the model's name, or there
    is neither a source nor a reference for the model to hold texts against.
    """
    benchmark = yaml.safe_load(content.benchmark)
    questions = set(benchmark["questions"])
    if not questions:
        raise BadInput(
            "--model: no text has a source or a reference, so there is nothing to judge it"
            " by; name their column with --columns texts.source=COLUMN or"
            " texts.reference=COLUMN, or leave out --model"
        )
    blocks = endpoint_and_model(own_model, own_model.name, today)
    blocks |= _kinds(own_model.name, cites=bool(questions & _READ_CITATIONS))
    has_reference = bool(questions & _READ_REFERENCE)
    choices = {
        "systems": [own_model.name] if benchmark["systems"] else [],
        "segmentation": own_model.name,
        "decompositions": [own_model.name],
        "rubrics": RUBRICS if has_reference else [],
        "judges": [own_model.name],
        "design": _design(
            benchmark["design"], own_model.name, has_reference=has_reference
        ),
    }
    of_benchmark = content.benchmark
    for key, value in choices.items():
        of_benchmark = set_key(of_benchmark, key, f"{key}: {write_line(value)}\n")
    return content._replace(
        params=add_blocks(content.params, blocks), benchmark=of_benchmark
    )


def write_line(value: object) -> str:
    """Write a value as YAML in a single line."""
    line = yaml.safe_dump(
        value,
        default_flow_style=True,
        sort_keys=False,
        allow_unicode=True,
        width=10_000,
    )
    return line.removesuffix("...\n").rstrip()


def endpoint_and_model(
    own_model: OwnModel, name: str, today: datetime.date
) -> dict[str, Blocks]:
    """Return the blocks of params.yaml, both called `name`, that reach the model.

    Raises BadInput if an option is not valid.
    """
    endpoint: dict[str, Any] = {"kind": "openai", "base_url": own_model.base_url}
    if own_model.key_env is not None:
        endpoint["key_env"] = own_model.key_env
    if own_model.sends:
        endpoint["sends"] = [*own_model.sends]
    model: dict[str, Any] = {
        "endpoint": name,
        "model": own_model.model,
        "max_tokens": 2000,
    }
    if own_model.prices is not None:
        read, written, currency = own_model.prices
        model["prices"] = {
            "date": today.isoformat(),
            "input_per_million": read,
            "output_per_million": written,
            "currency": currency,
        }
    parse(EndpointOptions, endpoint, where="--base-url")
    parse(ModelOptions, model, where="--model")
    return {"endpoints": {name: endpoint}, "models": {name: model}}


def add_blocks(params: str, blocks: Mapping[str, Blocks]) -> str:
    """Add blocks to the text of a params.yaml, as the first ones below their keys.

    Comments stay. Raises BadInput if a block's name is there already.
    """
    known = yaml.safe_load(params)
    for key, named in blocks.items():
        for name in named:
            if name in known[key]:
                raise BadInput(
                    f"params.yaml > {key} has a block {name!r} already; rename it there,"
                    " or serve the model under another name"
                )
        lines = [f"  {name}: {write_line(block)}\n" for name, block in named.items()]
        pattern = rf"(?m)^{re.escape(key)}:(?: \{{\}})?\n"
        params = substitute(pattern, f"{key}:\n{''.join(lines)}", params)
    return params


def propose_cap(expected: float, at_most: float, questions: int) -> float:
    """Return a cap of all that a project may pay, from what its first run is to cost.

    It is twice the expected price and the bound of one question, rounded up to one
    digit, so that a run of the expected length ends within it. 0 if the model is free.

    >>> propose_cap(expected=0.73, at_most=32.6, questions=5378)
    2.0
    """
    if at_most == 0:
        return 0.0
    needed = 2 * expected + at_most / questions
    digit = Decimal(1).scaleb(Decimal(needed).adjusted())
    return float(Decimal(needed).quantize(digit, rounding=ROUND_UP))


def _kinds(name: str, *, cites: bool) -> dict[str, Blocks]:
    """Return the blocks of all that the model does, by the key of params.yaml."""
    return {
        "systems": {
            name: {
                "kind": "chat",
                "model": name,
                "unit": "full",
                "citations": cites,
                "shots": 0,
                "examples": [],
                "example_citations": "none",
            }
        },
        "segmentations": {
            name: {
                "kind": "llm_facets",
                "model": name,
                "shots": 0,
                "rounds": 2,
                "facets": FACETS,
            }
        },
        "decompositions": {
            name: {"kind": "llm", "model": name, "least": 1, "most": 30, "rounds": 2}
        },
        "judges": {
            name: {
                "kind": "llm",
                "model": name,
                "style": "json_cot",
                "per_call": "part",
                "shots": 1,
                "rounds": 2,
            }
        },
    }


def _design(
    before: dict[str, Any], name: str, *, has_reference: bool
) -> dict[str, Any]:
    """Return the design with a primary metric of the model, unless its user named another."""
    primary = parse(Design, before, where="design").primary
    measure = "claim_recall" if has_reference else "faithfulness"
    if primary is not None and not primary.endswith(" (lexical)"):
        return before
    if primary is not None:
        measure = primary.removesuffix(" (lexical)")
    return {**before, "primary": f"{measure} ({name})"}
