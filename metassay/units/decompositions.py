"""Every kind of decomposition. Statements are always cut by rule: only claims differ.

Not in `__init__`, so that segmenting does not depend on language models.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.datasets.doclens_claims import FILE, read_claims
from metassay.errors import BadInput
from metassay.llm.endpoints import parse_models
from metassay.llm.project import Desk, find_model
from metassay.llm.prompts import Decoding
from metassay.params import Options, Params, options_of, printed
from metassay.tables import FULL, REFERENCE
from metassay.units.decompose import ClauseOptions, decompose
from metassay.units.llm_claims import LlmClaimOptions, llm_claims, signature

RELEASED = "doclens_aci_claims"  # the dataset, and its folder of raw files


class ReleasedOptions(Options):
    """Claims of ACI-BENCH's references as DocLens released them; other authors' by rule."""


DECOMPOSITIONS: Mapping[str, type[Options]] = {
    "clauses": ClauseOptions,
    "llm": LlmClaimOptions,
    "doclens_claims": ReleasedOptions,
}


class Apart(NamedTuple):
    """Rows of tables.UNITS, and what their owner should know: lines without any text."""

    units: pd.DataFrame
    warnings: tuple[str, ...]


def take_apart(parts: pd.DataFrame, sources: pd.DataFrame, options: Options, desk: Desk) -> Apart:
    """Statements and claims of the leaf parts: tables.PARTS, SOURCES to tables.UNITS.

    The kind of decomposition follows from the class of `options`. Raises BadInput as the kinds do.
    """
    units = decompose(parts, sources, ClauseOptions())
    match options:
        case LlmClaimOptions():
            asked = desk.model(options.model, options.max_tokens)
            claims = llm_claims(parts, sources, options, *asked)
            return Apart(_instead(units, units["kind"] == "claim", claims), ())
        case ReleasedOptions():
            whole = parts[(parts["author"] == REFERENCE) & (parts["part"] == FULL)]
            texts = dict(zip(whole["doc_id"], whole["text"].fillna(""), strict=True))
            claims, warnings = read_claims(desk.raw / RELEASED / FILE, texts)
            _check_parts(claims, parts)
            theirs = (units["kind"] == "claim") & (units["author"] == REFERENCE)
            return Apart(_instead(units, theirs, claims), warnings)
        case _:
            return Apart(units, ())


def check_claims(options: Options, claims: Path, raw: Path, *, where: str) -> None:
    """Check that released claims are read from `claims`, the folder that DVC watches for them.

    Else BadInput: a change of them would go unnoticed. `raw` has a folder per dataset.
    """
    if isinstance(options, ReleasedOptions) and claims != raw / RELEASED:
        raise BadInput(
            f"{where} > claims: is {claims}, but the released claims are in {raw / RELEASED}; name"
            " that folder, so that a change in it is noticed"
        )


def decomposition_of(params: Params, name: str) -> Options:
    """The options of a named decomposition."""
    where = f"params.yaml > decompositions > {name}"
    return options_of(params.decompositions[name], DECOMPOSITIONS, where=where)


def recipe_of(params: Params, name: str) -> str:
    """A named decomposition as recipes print it; by a model, with its prompt's hash."""
    options = decomposition_of(params, name)
    if not isinstance(options, LlmClaimOptions):
        return printed(params.decompositions[name])
    model = find_model(parse_models(params.endpoints, params.models), options.model)
    return signature(options, Decoding.of(model, options.max_tokens))


def _instead(units: pd.DataFrame, gone: "pd.Series[bool]", claims: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([units[~gone], claims], ignore_index=True)


def _check_parts(claims: pd.DataFrame, parts: pd.DataFrame) -> None:
    """Released claims are of sections, so the references must have been cut into them."""
    leaves = parts[parts["leaf"] == "yes"]
    place = ["doc_id", "author", "part"]
    known = set(zip(*(leaves[name] for name in place), strict=True))
    wanted = sorted(set(zip(*(claims[name] for name in place), strict=True)) - known)
    if wanted:
        doc_id, _, part = wanted[0]
        raise BadInput(
            f"{len(wanted)} section(s) with released claims are no parts of the references, the"
            f" first is doc_id {doc_id!r}, {part!r}; choose a segmentation of kind soap"
        )
