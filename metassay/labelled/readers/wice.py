"""WiCE (Kamoi et al. 2023): claims of Wikipedia beside what the pages that they cite say.

A record is one chunk of a claim's evidence, sentences that were read together; records with one
meta.id are one claim. A claim is `entailed` if it is labelled `supported`; `partially_supported`
and `not_supported` are `not_entailed`, as in the paper's table of binary scores.
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from metassay.core.errors import shown
from metassay.core.options import Options
from metassay.datasets.own_data import Clean, Filled, Key
from metassay.labelled import records
from metassay.tabular.decoding import UNREAD, load_json
from metassay.tabular.rows import Place

CLAIMS = "oracle_claim_*.jsonl"
SCORES = "*.entailment_score.json"
JUDGE = "t5_3b_anli"  # whose scores are released: probabilities that a claim is entailed

_AGAIN = "fetch the file again"


class _Meta(Options):
    model_config = ConfigDict(extra="ignore")

    id: Key
    claim_title: Key


class _Record(Options):
    """One chunk; other keys are not read."""

    model_config = ConfigDict(extra="ignore")

    label: Literal["supported", "partially_supported", "not_supported"]
    claim: Filled
    evidence: list[Clean] = Field(min_length=1)
    meta: _Meta


def read(folder: Path) -> records.Items:
    """Read the claims and, where there are any, the published scores of T5-3B-ANLI.

    A subset is what follows `oracle_claim_` in a file's name: dev. An item's premises are its
    chunks, their sentences joined by spaces, in the order of the file. Claims of one Wikipedia
    article are alike.
    """
    items = records.Items()
    for path in records.files(folder, CLAIMS, items.problems, _AGAIN):
        _add_claims(path, items)
    for path in sorted(folder.glob(SCORES)):
        _add_scores(path, items)
    return items


def _add_claims(path: Path, items: records.Items) -> None:
    found: dict[str, tuple[records.ItemRow, _Record]] = {}
    for at, one in records.parsed_lines([path], _Record, items.problems, _AGAIN):
        premise = " ".join(sentence.strip() for sentence in one.evidence if sentence.strip())
        if one.meta.id not in found:
            label: records.Label = (
                records.ENTAILED if one.label == "supported" else records.NOT_ENTAILED
            )
            subset = path.stem.rpartition("_")[2]
            title = one.meta.claim_title
            row = records.ItemRow(
                at, one.meta.id, [premise], one.claim, label, subset, cluster=title
            )
            found[one.meta.id] = (row, one)
            continue
        row, first = found[one.meta.id]
        row.premises.append(premise)
        for name in ("claim", "label"):
            if getattr(one, name) != getattr(first, name):
                what = f"{name!r} is not that of the claim's first record"
                items.problems.add(at, what, _AGAIN, f"meta.id {shown(one.meta.id)}")
    items.items += [row for row, _ in found.values()]


def _add_scores(path: Path, items: records.Items) -> None:
    at, problems = Place(path.name), items.problems
    scores: Any = load_json(path, problems, remedy=_AGAIN)
    if scores is UNREAD:
        return
    if not isinstance(scores, dict):
        problems.add(at, "is not an object of scores by claim", _AGAIN)
        return
    for number, (item, score) in enumerate(scores.items(), start=1):
        here = Place(path.name, number, "score")
        if isinstance(score, bool) or not isinstance(score, int | float):
            problems.add(here, "a score is not a number", _AGAIN, f"claim {shown(item)}")
        else:
            items.verdicts.append(records.VerdictRow(here, item, JUDGE, probability=float(score)))
