"""The questions about a benchmark's texts, with likely claims where none are listed yet."""

import dataclasses
from collections.abc import Sequence

import pandas as pd

from metassay.alignment.align import align_units
from metassay.cost.run import Plan, Run, decoding_of, facets_of
from metassay.kinds import choose
from metassay.llm.client import replayer
from metassay.llm.ledger import Ledger
from metassay.needs import Model, Resources
from metassay.pairing.pairs import build_pairs
from metassay.pairing.questions import questions_of
from metassay.pairing.rubrics import rubric_pairs
from metassay.units import DECOMPOSITIONS
from metassay.units.decompose import take_apart

_TEXTS = ("premise", "hypothesis", "context")


def likely_pairs(
    run: Run, parts: pd.DataFrame, invented: Sequence[str], ledger: Ledger, found: Plan
) -> pd.DataFrame:
    """Rows of PAIRS that are put to judges; what they rest on is noted in `found`.

    `invented` are the authors with stand-ins among their `parts`: what is asked about these is
    asked of nobody else, so they are told apart by blanks behind their texts.
    """
    sources, asked = run.given.sources, []
    if run.questions:
        units = _units(run, parts, ledger, found)
        unchecked = dataclasses.replace(run.alignment.record, oracle=None)  # the stage checks it
        aligned = align_units(sources, units, "it", run.alignment._replace(record=unchecked))
        asked = [
            build_pairs(sources, parts, units, aligned, questions)
            for questions in run.questions.values()
        ]
    facets = facets_of(run.segmentation)
    asked += [rubric_pairs(sources, parts, rubric, facets) for rubric in run.rubrics]
    as_texts = [pairs.astype(dict.fromkeys(_TEXTS, object)) for pairs in asked]
    return _told_apart(run, pd.concat(as_texts, ignore_index=True), invented)


def _units(run: Run, parts: pd.DataFrame, ledger: Ledger, found: Plan) -> pd.DataFrame:
    """Statements and claims, by rule where a model has not listed them yet."""
    sources, chosen = run.given.sources, run.decomposition
    resources = Resources(run.raw)
    if chosen.record.requests is not None:
        decoding = decoding_of(run.models, chosen.record.model(chosen.options))
        resources = Resources(run.raw, Model(replayer(ledger), decoding))
    units = take_apart(parts, sources, chosen, resources).units
    place = ["doc_id", "author", "part"]
    unknown = (units["kind"] == "claim") & (units["status"] == "error")
    lost = pd.MultiIndex.from_frame(units.loc[unknown, place])
    if lost.empty:
        return units
    by_rule = choose(DECOMPOSITIONS, {"kind": "clauses"}, where="clauses")
    theirs = parts[pd.MultiIndex.from_frame(parts[place]).isin(lost)]
    clauses = take_apart(theirs, sources, by_rule, Resources(run.raw)).units
    found.notes.append(
        f"the claims of {len(theirs)} part(s) are not listed yet; what judges are asked about them"
        " is estimated with clauses by rule in their place"
    )
    return pd.concat([units[~unknown], clauses[clauses["kind"] == "claim"]], ignore_index=True)


def _told_apart(run: Run, pairs: pd.DataFrame, invented: Sequence[str]) -> pd.DataFrame:
    """Blanks behind what stand-ins are asked about: they equal the reference now, but not then."""
    of_reference = {
        question.name
        for questions in run.questions.values()
        for question in questions_of(questions)
        if question.whose == "reference"
    }
    pairs = pairs[pairs["settled"].isna()].copy()
    claimed = pairs["measure"].isin(of_reference)
    for number, author in enumerate(invented, start=1):
        theirs = pairs["author"] == author
        pairs.loc[theirs & claimed, "premise"] += " " * number
        pairs.loc[theirs & ~claimed, "hypothesis"] += " " * number
        pairs.loc[theirs, "pair_id"] += f" {number}"
    return pairs
