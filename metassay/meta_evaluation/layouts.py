"""Which systems and documents of a study belong together: as given, and as the data show it."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import raise_problems, shown
from metassay.core.options import Design
from metassay.statistics.exact_sums import Array
from metassay.statistics.layout import (
    Index,
    Layout,
    blocks_of,
    clumps,
    differ_by_group,
    doubles,
    in_blocks,
    joined,
    near_copies,
    numbered,
    numbered_by,
    order_shows,
)

SURE, SUSPICIOUS = 5.0, 3.5  # standard deviations by which documents clump beyond chance
CHANCE = 0.01  # of names that begin alike and mean nothing
_ASK = (
    "If you know which documents are of one topic, source or patient, say so by `cluster`: it names"
    " a column of a file, or an attribute of a benchmark's sources. If each document stands for"
    " itself, name their own column, `doc_id`."
)
_DIGITS = re.compile(r"(\d+)")
_LAST_NUMBER = re.compile(r"[\W_]*\d+$")

Labels = Mapping[str, str]


class Groups(NamedTuple):
    """What the user knows of documents and systems; what has no label belongs to nothing else."""

    strata: Labels  # by document
    clusters: Labels
    families: Labels  # by system


NO_GROUPS = Groups({}, {}, {})


class Found(NamedTuple):
    """A layout, what the strata are called, and what was found that the user did not give."""

    layout: Layout
    strata: tuple[str, ...]
    dealt_with: tuple[str, ...]  # sentences
    suspected: tuple[str, ...]  # sentences that ask for a column


class Told(NamedTuple):
    """Sentences as they come."""

    dealt_with: list[str]
    suspected: list[str]


def layout_of(
    systems: Sequence[str],
    documents: Sequence[str],
    human: Array,
    metrics: Sequence[Array],
    groups: Groups,
    rng: np.random.Generator,
) -> Found:
    """The layout of one study: (systems, documents) matrices `human` and `metrics`.

    What is given counts. Beside it, documents and systems with the same scores throughout belong
    together. Where nothing is given, unconnected sets of systems and documents are strata, and
    near-copies of systems families; clusters are documents whose names begin alike, neighbours in
    the order of names, or groups with like scores, if scores and ratings show it.
    """
    told = Told([], [])
    scores = np.stack(metrics) if metrics else np.empty((0, *human.shape))
    stratum, names = _strata(systems, documents, human, groups, told)
    family = _families(systems, human, scores, groups, told)
    equal = doubles(scores) if metrics else np.arange(len(documents))
    _say_equal(documents, equal, "documents", told)
    if groups.clusters:
        own = numbered_by(documents, groups.clusters)
    else:
        plain = Layout(stratum, np.arange(len(documents)), family)
        sides = [plain.less_strata(one) for one in (human, *metrics)]
        own = _clusters(documents, sides, stratum, equal, rng, told)
    # A cluster lies in one stratum: what two strata share is two.
    own = numbered(own * (int(stratum.max(initial=0)) + 1) + stratum)
    layout = Layout(stratum, joined(own, equal), family)
    return Found(layout, names, tuple(told.dealt_with), tuple(told.suspected))


def _strata(
    systems: Sequence[str], documents: Sequence[str], human: Array, groups: Groups, told: Told
) -> tuple[Index, tuple[str, ...]]:
    if groups.strata:
        labels = [groups.strata.get(one, "") for one in documents]
        found = numbered(labels)
        first = np.unique(found, return_index=True)[1]
        return found, tuple(labels[place] or "no label" for place in first)
    present = np.isfinite(human)
    of_system, of_document = blocks_of(present)
    size = np.bincount(of_system, minlength=int(of_document.max(initial=0)) + 1)
    texts = np.bincount(of_document, minlength=size.size)
    whole = (size[of_document] > 1) & (texts[of_document] > 1)
    # What no block of two systems and two documents has is a stratum of single texts.
    found = numbered(np.where(whole, of_document, -1))
    n = int(found.max(initial=0)) + 1
    if n == 1 or not whole.any():
        return np.zeros(len(documents), dtype=np.intp), ("",)
    names, each = [], []
    for one in range(n):
        mine = [systems[i] for i in np.flatnonzero(present[:, found == one].any(axis=1))]
        several = f"{', '.join(mine[:3])} and {len(mine) - 3} more"
        names.append(", ".join(mine) if len(mine) <= 4 else several)
        each.append(f"{len(mine)} systems on {np.count_nonzero(found == one):,} documents")
    told.dealt_with.append(
        f"The texts fall into {n} sets that share no system and no document ({'; '.join(each)})."
        " Correlations are of what varies within each set, averaged over the sets."
    )
    return found, tuple(names)


def _families(
    systems: Sequence[str], human: Array, scores: Array, groups: Groups, told: Told
) -> Index:
    equal = doubles(scores.transpose(0, 2, 1)) if len(scores) else np.arange(len(systems))
    _say_equal(systems, equal, "systems", told)
    if groups.families:
        own = numbered_by(systems, groups.families)
        return joined(own, equal)
    alike = near_copies([human, *scores])
    if np.unique(alike).size < np.unique(equal).size:
        listed = "; ".join(
            " and ".join(shown(systems[i]) for i in np.flatnonzero(alike == one))
            for one in np.flatnonzero(np.bincount(alike) > 1)
        )
        told.dealt_with.append(
            f"Systems go up and down with the same documents, as versions of one system do:"
            f" {listed}. They count as one. If each stands for itself, say so by `family`, which"
            " names a column of a file (the systems' own), or by a benchmark's `families`."
        )
    return joined(alike, equal)


def _clusters(
    documents: Sequence[str],
    sides: Sequence[Array],
    stratum: Index,
    equal: Index,
    rng: np.random.Generator,
    told: Told,
) -> Index:
    """Documents that scores and ratings (`sides`, people first) show to be alike."""
    for found in (
        _named_alike(documents, sides, told),
        _neighbours(documents, sides, stratum, told),
        _alike(sides, equal, rng, told),
    ):
        if found is not None:
            return found
    return np.arange(len(documents))


def _named_alike(documents: Sequence[str], sides: Sequence[Array], told: Told) -> Index | None:
    group = numbered([_LAST_NUMBER.sub("", one) for one in documents])
    size = np.bincount(group)
    if not 1 < size.size <= len(documents) / 2 or size[size > 1].sum() < 0.8 * len(documents):
        return None
    people, *metrics = sides
    by_metric = min((differ_by_group(one, group) for one in metrics), default=1.0)
    if differ_by_group(people, group) > CHANCE or by_metric > CHANCE / max(1, len(metrics)):
        return None
    told.dealt_with.append(
        f"The documents' names begin in {size.size} ways, and documents whose names begin alike"
        f" have similar scores and ratings. They count as one. {_ASK}"
    )
    return group


def _neighbours(
    documents: Sequence[str], sides: Sequence[Array], stratum: Index, told: Told
) -> Index | None:
    order = np.array(sorted(range(len(documents)), key=lambda i: _natural(documents[i])), np.intp)
    blocks, drifts = np.arange(len(documents)), False
    for one in np.unique(stratum):
        mine = order[stratum[order] == one]
        people, *metrics = (side[:, mine] for side in sides)
        if order_shows(people, metrics).any():
            block = in_blocks(mine.size)
            blocks[mine] = mine[np.searchsorted(block, block)]
            drifts = True
    if not drifts:
        return None
    told.dealt_with.append(
        "Scores and ratings drift with the order of the documents' names. Neighbours count as one:"
        f" {np.unique(blocks).size} blocks. {_ASK}"
    )
    return numbered(blocks)


def _alike(
    sides: Sequence[Array], equal: Index, rng: np.random.Generator, told: Told
) -> Index | None:
    first = np.unique(equal, return_index=True)[1]  # doubles clump, and are known
    found = clumps([side[:, first] for side in sides], rng)
    groups = int(found.number.max(initial=-1)) + 1
    if found.beyond > SURE:
        told.dealt_with.append(
            f"Documents fall into {groups} groups with similar scores, far beyond chance, as those"
            f" of a few topics or sources do. Each group counts as one. {_ASK}"
        )
        return found.number[equal]
    if found.beyond > SUSPICIOUS:
        told.suspected.append(
            "Documents may fall into groups with similar scores, as documents of a few topics or"
            f" sources do. {_ASK} Without it, a metric can look good that only knows the topic."
        )
    return None


def _say_equal(names: Sequence[str], number: Index, what: str, told: Told) -> None:
    again = np.bincount(number)
    n = int(again[again > 1].sum())
    if n:
        first = [names[i] for i in np.flatnonzero(number == np.argmax(again > 1))[:2]]
        told.dealt_with.append(
            f"{n:,} of {len(names):,} {what} have exactly the scores of another one, such as"
            f" {' and '.join(map(shown, first))}. Those with equal scores count as one."
        )


def _natural(name: str) -> tuple[tuple[int, str], ...]:  # d2 before d10
    return tuple((int(one), "") if one.isdecimal() else (-1, one) for one in _DIGITS.split(name))


def groups_of(
    design: Design, sources: pd.DataFrame, authors: Collection[str], where: str
) -> Groups:
    """What a benchmark's `design` says, from the attributes of its sources.

    `authors`: the systems that were rated. Raises BadInput, led by `where`, for an attribute that
    no source has, and for a system that nobody rated.
    """
    problems: list[str] = []
    labels = {
        name: _attribute(sources, getattr(design, name), f"{where} > {name}", problems)
        for name in ("strata", "cluster")
    }
    problems += [
        f"{where} > families: {shown(name)} is not a rated system; correct or remove it"
        for name in sorted(set(design.families) - set(authors))
    ]
    raise_problems(problems)
    return Groups(labels["strata"], labels["cluster"], dict(design.families))


def cluster_labels(design: Design, sources: pd.DataFrame, where: str) -> dict[str, str]:
    """Documents -> the cluster that the user's `design` says they are of; errors as `groups_of`."""
    problems: list[str] = []
    found = _attribute(sources, design.cluster, f"{where} > cluster", problems)
    raise_problems(problems)
    return found


def _attribute(sources: pd.DataFrame, name: str, where: str, problems: list[str]) -> dict[str, str]:
    if not name:
        return {}
    if name == "doc_id":
        return {one: one for one in sources["doc_id"].astype(str)}
    found, there = {}, set()
    for document, written in zip(sources["doc_id"], sources["attributes"], strict=True):
        attributes = {} if pd.isna(written) else json.loads(written)
        there |= set(attributes)
        value = attributes.get(name)
        if value is not None:
            found[str(document)] = value if isinstance(value, str) else json.dumps(value)
    if not found:
        listed = ", ".join(shown(one) for one in sorted(there)[:10]) or "none at all"
        problems.append(
            f"{where}: no source has the attribute {shown(name)}; there are: {listed}. Correct the"
            " name, or add the attribute to the sources"
        )
    return found
