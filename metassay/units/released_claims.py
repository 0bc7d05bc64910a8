"""Claims of ACI-BENCH's references as DocLens released them; every other author's by rule."""

import pandas as pd

from metassay.core.errors import BadInput, shown
from metassay.core.options import Options
from metassay.datasets.doclens_claims import FILE, read_claims
from metassay.llm.needs import Resources
from metassay.tables.names import FULL, REFERENCE
from metassay.units.clauses import clauses
from metassay.units.record import Decomposed, Decomposition
from metassay.units.statements import units_of

DATASET = "doclens_aci_claims"


def _take_apart(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: Options,  # noqa: ARG001
    resources: Resources,
) -> Decomposed:
    units = units_of(parts, sources, clauses)
    whole = parts[(parts["author"] == REFERENCE) & (parts["part"] == FULL)]
    texts = dict(zip(whole["doc_id"], whole["text"].fillna(""), strict=True))
    claims, warnings = read_claims(resources.raw / DATASET / FILE, texts)
    _check_parts(claims, parts)
    theirs = (units["kind"] == "claim") & (units["author"] == REFERENCE)
    return Decomposed(pd.concat([units[~theirs], claims], ignore_index=True), warnings)


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
            f" first is doc_id {shown(doc_id)}, {shown(part)}; choose a segmentation of kind soap"
        )


KIND = Decomposition(options=Options, take_apart=_take_apart, datasets=lambda _: (DATASET,))
