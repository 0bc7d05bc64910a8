"""Verdicts to scores: claim recall and precision, citation recall and precision, faithfulness.

All five are shares of positive answers, 0 to 1, higher is better (`DESCRIPTIONS` says of what).

The rule for missing data is the same for all. n_expected is how many answers there should be,
n_failed how many of them nobody has: the judge failed, gave no row, or the text it would have read
failed. The value is the share among the answered ones, null if there is none. `low` and `high` are
its worst cases: every failed one counted against the text, and for it. Nothing expected is no
score: null without bounds. A text that failed has no claims or statements to count, so it stands
as one expected and failed, with bounds 0 and 1. An author who cites nowhere in the whole benchmark
does not cite: its citation scores are null with nothing expected. For the others a statement
without citations is unsupported.

Part `full` pools the answers of all leaf parts (their sums, not the mean of their scores). Each
text has a row for every part that it or the reference has.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.errors import BadInput
from metassay.metrics.describe import Description
from metassay.pairing.pairs import PairOptions
from metassay.parquet import empty
from metassay.tables import FULL, MEASURES, REFERENCE, SCORES

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Answers, in an order in which `and` is the minimum, `or` the maximum and `not` is YES - answer.
NO, UNKNOWN, YES = 0, 1, 2

KEY = ["doc_id", "author", "part"]

_DOCLENS = "DocLens, Xie et al. 2024, section "
_MISSING = "null if nothing is expected or answered; failed answers are counted and bounded; "
_CITING = "null for an author who cites nowhere in the benchmark"


def _share(name: str, of: str, source: str, missing: str) -> Description:
    return Description(name, f"share of {of}", "higher", (0.0, 1.0), _MISSING + missing, source)


DESCRIPTIONS: dict[str, Description] = {
    "claim_recall": _share(
        "claim_recall",
        "the reference's claims that the text entails: completeness",
        _DOCLENS + "3.1",
        "null without a reference",
    ),
    "claim_precision": _share(
        "claim_precision",
        "the text's claims that the reference entails: conciseness",
        _DOCLENS + "3.2",
        "null without a reference",
    ),
    "citation_recall": _share(
        "citation_recall",
        "the text's statements that the passages they cite together entail",
        _DOCLENS + "3.3",
        "a statement without citations is not entailed; " + _CITING,
    ),
    "citation_precision": _share(
        "citation_precision",
        "the text's citations that are of use: all passages cited by the statement entail it, and"
        " this one does so alone or the others do not without it",
        _DOCLENS + "3.3, conditions (i) and (ii)",
        "a citation whose worth no failed answer could change is answered; " + _CITING,
    ),
    "faithfulness": _share(
        "faithfulness",
        "the text's statements that the source passages aligned with them entail",
        "Adams et al. 2023, sections 6.1 and 6.2: entailment by aligned sentences",
        "a statement with which nothing is aligned is not entailed",
    ),
}


@dataclass(frozen=True)
class Setup:
    """What leads from texts to pairs; the settings as recipes print them."""

    segmentation: str
    decomposition: str
    alignment: str
    pairing: PairOptions
    version: str  # metassay's


class _Cells(NamedTuple):
    """The (document, author, part)s that get scores: arrays of one length, sorted by key."""

    keys: pd.DataFrame  # doc_id, author, part
    whole: Integers  # the cell of part full of the same text
    system: Flags  # the author is not the reference
    compared: Flags  # the document has a reference
    citing: Flags  # the author cites somewhere in the benchmark


class _Lost(NamedTuple):
    """Where units are missing because the text that would have them failed."""

    parts: Integers  # cells of leaf parts that failed
    texts: Flags  # cells whose whole text failed


class _Asked(NamedTuple):
    """Rows of `pairs`: each one's cell, and those behind each metric."""

    cells: Integers
    rows: dict[str, Integers]  # by measure
    together: Integers  # for each row of citation_alone: the one of citation_recall
    rest: Integers  # and the one of citation_rest; -1 where no other citation is left
    unread: Flags  # and whether there was nothing to read


def verdict_scores(
    parts: pd.DataFrame, pairs: pd.DataFrame, judgments: pd.DataFrame, setup: Setup
) -> pd.DataFrame:
    """Scores of every text by every judge that has a row in `judgments`; returns table `scores`.

    `statistics` are [positive answers, answers], which add up over documents. Raises BadInput if
    a judge has rows of several recipes, or pairs ask about parts that are not there.
    """
    cells = _cells(parts, pairs)
    asked = _asked(pairs, cells)
    own_lost, reference_lost = _lost(parts, cells, KEY), _lost(parts, cells, ["doc_id", "part"])
    scores = []
    for judge, verdicts in judgments.groupby("judge", sort=True):
        signature = _signature(str(judge), verdicts)
        answers = _answers(pairs, verdicts)
        for metric in [m for m in DESCRIPTIONS if _family(m) in setup.pairing.measures]:
            lost = reference_lost if metric == "claim_recall" else own_lost
            rows = _scored(cells, lost, metric, *_items(metric, asked, answers))
            recipe = _recipe(metric, signature, setup)
            scores.append(rows.assign(judge=str(judge), recipe=recipe))
    return pd.concat(scores, ignore_index=True) if scores else empty(SCORES)


def _cells(parts: pd.DataFrame, pairs: pd.DataFrame) -> _Cells:
    authors = parts[["doc_id", "author"]].drop_duplicates()
    references = parts.loc[parts["author"] == REFERENCE, ["doc_id", "part"]]
    inherited, whole = authors.merge(references, on="doc_id"), authors.assign(part=FULL)
    keys = pd.concat([parts[KEY], inherited, whole]).drop_duplicates()
    keys = keys.sort_values(KEY, ignore_index=True)
    # Who has statements but cites nothing does not cite; of who has none, that is not known.
    stating, citing = (
        pairs.loc[pairs["measure"] == measure, "author"].unique()
        for measure in ("citation_recall", "citation_alone")
    )
    return _Cells(
        keys,
        _places(keys.assign(part=FULL), keys),
        (keys["author"] != REFERENCE).to_numpy(),
        keys["doc_id"].isin(references["doc_id"]).to_numpy(),
        (~keys["author"].isin(stating) | keys["author"].isin(citing)).to_numpy(),
    )


def _places(rows: pd.DataFrame, among: pd.DataFrame) -> Integers:
    """Where each row is in `among`, which has the same columns; -1 where it is not there."""
    index = pd.MultiIndex.from_frame(among)
    return index.get_indexer(pd.MultiIndex.from_frame(rows[list(among)])).astype(np.int64)


def _lost(parts: pd.DataFrame, cells: _Cells, key: list[str]) -> _Lost:
    """With the whole key, by the author's own text; without its author, by the reference's."""
    writers = parts if "author" in key else parts[parts["author"] == REFERENCE]
    failed = writers[writers["status"] != "ok"]
    leaves, wholes = failed[failed["leaf"] == "yes"][key], failed[failed["part"] == FULL][key]
    return _Lost(
        np.flatnonzero(_places(cells.keys, leaves) >= 0),
        _places(cells.keys.assign(part=FULL), wholes) >= 0,
    )


def _asked(pairs: pd.DataFrame, cells: _Cells) -> _Asked:
    where = _places(pairs, cells.keys)
    if (where < 0).any():
        at = ", ".join(f"{k}={v!r}" for k, v in pairs.loc[where < 0, KEY].iloc[0].items())
        raise BadInput(f"pairs: {at} is not in parts; run segment, decompose and pair again")
    rows = {str(m): np.asarray(at) for m, at in pairs.groupby("measure").indices.items()}
    rows = {measure: rows.get(measure, np.empty(0, np.int64)) for measure in MEASURES}
    places = pairs[["position", "citation"]].assign(cell=where)
    alone, together, rest = (
        places.iloc[rows[m]] for m in ("citation_alone", "citation_recall", "citation_rest")
    )
    at_together, at_rest = _places(alone, together[["cell", "position"]]), _places(alone, rest)
    if (at_together < 0).any():
        raise BadInput("pairs: citation_alone without its citation_recall; run pair again")
    return _Asked(
        where,
        rows,
        rows["citation_recall"][at_together],
        np.append(rows["citation_rest"], -1)[at_rest],  # -1 takes the -1 at the end
        (pairs["settled"].iloc[rows["citation_alone"]] == "no_evidence").to_numpy(),
    )


def _signature(judge: str, verdicts: pd.DataFrame) -> str:
    found = sorted(verdicts["recipe"].unique())
    if len(found) > 1:
        several = f"judge {judge!r} has {len(found)} recipes ({'; '.join(found)})"
        raise BadInput(f"judgments: {several}, which make no score together; judge again")
    return str(found[0])


def _answers(pairs: pd.DataFrame, verdicts: pd.DataFrame) -> Integers:
    """One judge's answer to each row of `pairs`."""
    codes, questions = pd.factorize(pairs["pair_id"])
    given = np.full(len(questions), UNKNOWN, dtype=np.int64)
    ok = verdicts[(verdicts["status"] == "ok") & verdicts["pair_id"].isin(questions)]
    yes = np.where(ok["label"] == "entailed", YES, NO)
    given[pd.Index(questions).get_indexer(ok["pair_id"])] = yes
    answers = np.where(pairs["settled"].isna(), given[codes], UNKNOWN)
    return np.where(pairs["settled"] == "no_evidence", NO, answers)


def _items(metric: str, asked: _Asked, answers: Integers) -> tuple[Integers, Integers]:
    """The cell and the answer of everything that the metric counts."""
    if metric == "citation_precision":
        return asked.cells[asked.rows["citation_alone"]], _of_use(asked, answers)
    return asked.cells[asked.rows[metric]], answers[asked.rows[metric]]


def _of_use(asked: _Asked, answers: Integers) -> Integers:
    """Whether each citation is of use: together and (alone or not rest).

    Each answer is in the formula once, so its value under three-valued logic is unknown exactly
    where the failed answers could make it either.
    """
    together, alone = answers[asked.together], answers[asked.rows["citation_alone"]]
    rest = np.where(asked.rest < 0, NO, answers[asked.rest])
    useful = np.minimum(together, np.maximum(alone, YES - rest))
    return np.where(asked.unread, NO, useful)


def _scored(
    cells: _Cells, lost: _Lost, metric: str, items: Integers, answers: Integers
) -> pd.DataFrame:
    """Rows of `scores` but for judge and recipe."""
    scored: Flags = np.ones(len(cells.keys), dtype=np.bool_)
    expecting = scored
    if _family(metric) == "claim":
        scored, expecting = cells.system, cells.compared
    elif _family(metric) == "citation":
        expecting = cells.citing
    at = np.concatenate([items, lost.parts])
    answer = np.concatenate([answers, np.full(len(lost.parts), UNKNOWN)])
    at, answer = at[expecting[at]], answer[expecting[at]]
    expected = _count(at, cells)
    failed = _count(at[answer == UNKNOWN], cells)
    positive = _count(at[answer == YES], cells)
    unseen = expecting & lost.texts & (expected == 0)  # sections of a text that failed
    expected[unseen] = failed[unseen] = 1
    rows = cells.keys.assign(
        metric=metric,
        value=_ratio(positive, expected - failed),
        n_expected=expected,
        n_judged=expected - failed,
        n_failed=failed,
        low=_ratio(positive, expected),
        high=_ratio(positive + failed, expected),
        statistics=np.stack([positive, expected - failed], axis=1).astype(float).tolist(),
    )
    return rows[scored]


def _count(at: Integers, cells: _Cells) -> Integers:
    """Items per cell; in part full those of all parts."""
    size = len(cells.keys)
    own, pooled = np.bincount(at, minlength=size), np.bincount(cells.whole[at], minlength=size)
    return np.where(cells.whole == np.arange(size), pooled, own)


def _ratio(part: Integers, total: Integers) -> NDArray[np.float64]:
    """Null (NaN) where there is nothing to divide by."""
    ratios = np.full(len(total), np.nan)
    np.divide(part, total, out=ratios, where=total > 0)
    return ratios


def _recipe(metric: str, signature: str, setup: Setup) -> str:
    """Every setting that can change the metric, and no other."""
    own = {
        "claim": f"against:{setup.pairing.against}",
        "citation": f"borrow:{'yes' if setup.pairing.borrow else 'no'}",
        "faithfulness": f"alignment:{setup.alignment}",
    }[_family(metric)]
    units = f"segmentation:{setup.segmentation}|decomposition:{setup.decomposition}"
    return f"{metric}|judge:{signature}|{units}|{own}|metassay:{setup.version}"


def _family(metric: str) -> str:
    return metric.partition("_")[0]
