"""Group the systems and documents of a study that belong together, by labels or by the data."""

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
    clumps_of_systems,
    differ_by_group,
    drift_with_order,
    duplicate_items,
    factorize,
    factorize_by,
    family_means,
    find_near_copies,
    join_partitions,
    make_blocks,
)
from metassay.tables.data_warnings import DataWarning

_FEWEST_OF_SET = 5  # documents of a set of raters that is a stratum
_SETS_DIFFER = 0.05  # significance level for the ratings of such sets
# standard deviations by which documents clump beyond chance
SURE, SUSPICIOUS = 5.0, 3.5
# the same of systems, below which none counts as a version of another
APART = 2.5
CHANCE = 0.01  # significance level for documents whose names begin alike
_ASK = (
    "If you know which documents are of one topic, source or patient, say so by `cluster`: it names"
    " a column of a file, or an attribute of a benchmark's sources. If each document stands for"
    " itself, name their own column, `doc_id`."
)
_ASK_FAMILY = (
    "If each stands for itself, say so by `family`, which names a column of a file (the systems'"
    " own), or by a benchmark's `families`."
)
# with fewer, topics are not seen in scores; systems that share documents show them
ENOUGH_METRICS = 5
_UNSEEN = (
    "Each document has one text, and so few metrics do not show which documents are"
    " alike. A metric can look good that only knows the topic."
)
_VERSIONS = (
    "Systems fall into groups with similar means, as versions of one system do. What"
    " shows between systems alone does not count as a relation."
)
_ASK_STRATA = (
    "If sets should be compared only within themselves, name them by `strata`: a column of"
    " a file, or an attribute of a benchmark's sources."
)
_DIGITS = re.compile(r"(\d+)")
_LAST_NUMBER = re.compile(r"[\W_]*\d+$")

Labels = Mapping[str, str]


class Groups(NamedTuple):
    """The user's labels of documents and systems; without a label, each is its own group."""

    strata: Labels  # by document
    clusters: Labels
    families: Labels  # by system


NO_GROUPS = Groups({}, {}, {})


class Raters(NamedTuple):
    """Who rated what."""

    names: tuple[str, ...]
    ratings: Array  # (raters, systems, documents)


class Grouping(NamedTuple):
    """A layout, the names of its strata, and findings on groups that the user did not label."""

    layout: Layout
    strata: tuple[str, ...]
    findings: tuple[DataWarning, ...]
    documents_named: bool  # whether the user says which belong together, if any
    systems_named: bool  # the same of systems
    # whether systems' means fall into groups, as those of versions do
    systems_clump: bool
    # (systems,) numbers, different for systems that share no rater
    owners: Index


def layout_of(
    systems: Sequence[str],
    documents: Sequence[str],
    human: Array,
    metrics: Sequence[Array],
    groups: Groups,
    rng: np.random.Generator,
    raters: Raters,
) -> Grouping:
    """Find the layout of a study from (systems, documents) matrices `human` and `metrics`.

    The user's labels always count. So do documents, and systems, whose scores are all
    equal. Where there are no labels, unconnected sets of systems and documents are
    strata, and so are documents that share no rater if their ratings differ;
    near-copies of systems are families. Clusters are documents whose names
    begin alike, neighbours in the order of names, or groups with similar scores, if
    scores and ratings show it.
    """
    findings: list[DataWarning] = []
    scores = np.stack(metrics) if metrics else np.empty((0, *human.shape))
    stratum, names = _strata(systems, documents, human, groups, findings)
    if len(names) == 1 and not groups.strata:
        stratum, names = _strata_of_raters(human, raters, findings)
    owners: Index = np.zeros(len(systems), dtype=np.intp)
    if len(names) == 1:
        owners = _owners_of_systems(systems, raters, findings)
    family = _families(systems, human, scores, groups, findings)
    equal = duplicate_items(scores) if metrics else np.arange(len(documents))
    _report_equal(documents, equal, "documents", findings)
    if groups.clusters:
        cluster: Index | None = factorize_by(documents, groups.clusters)
    else:
        plain = Layout(stratum, np.arange(len(documents)), family)
        sides = [plain.less_strata(side) for side in (human, *metrics)]
        # The first search that finds clusters decides, and is the only one to report.
        cluster = _group_by_name(documents, sides, findings)
        if cluster is None:
            cluster = _group_by_order(documents, sides, stratum, findings)
        if cluster is None:
            cluster = _group_by_scores(sides, equal, rng, findings)
        alone = np.all(np.isfinite(human).sum(axis=0) <= 1)
        if cluster is None and alone and len(metrics) < ENOUGH_METRICS:
            findings.append(DataWarning(kind="groups", finding=_UNSEEN, remedy=_ASK))
    if cluster is None:
        cluster = np.arange(len(documents))
    # A cluster that two strata share becomes two clusters.
    cluster = factorize(cluster * (int(stratum.max(initial=0)) + 1) + stratum)
    layout = Layout(stratum, join_partitions(cluster, equal), family)
    beyond = 0.0
    if not groups.families:
        of_families = [family_means(side, family) for side in (human, *metrics)]
        beyond = clumps_of_systems(of_families, rng)
    if beyond > SUSPICIOUS:
        versions = DataWarning(kind="groups", finding=_VERSIONS, remedy=_ASK_FAMILY)
        findings.append(versions)
    return Grouping(
        layout=layout,
        strata=names,
        findings=tuple(findings),
        documents_named=bool(groups.clusters),
        systems_named=bool(groups.families),
        systems_clump=beyond > APART,
        owners=owners,
    )


def _strata(
    systems: Sequence[str],
    documents: Sequence[str],
    human: Array,
    groups: Groups,
    findings: list[DataWarning],
) -> tuple[Index, tuple[str, ...]]:
    if groups.strata:
        labels = [groups.strata.get(document, "") for document in documents]
        stratum = factorize(labels)
        first = np.unique(stratum, return_index=True)[1]
        return stratum, tuple(labels[place] or "no label" for place in first)
    present = np.isfinite(human)
    of_system, of_document = blocks_of(present)
    size = np.bincount(of_system, minlength=int(of_document.max(initial=0)) + 1)
    texts = np.bincount(of_document, minlength=size.size)
    whole = (size[of_document] > 1) & (texts[of_document] > 1)
    # Texts outside every block of two systems and two documents share a stratum of
    # single texts.
    stratum = factorize(np.where(whole, of_document, -1))
    n = int(stratum.max(initial=0)) + 1
    if n == 1 or not whole.any():
        return np.zeros(len(documents), dtype=np.intp), ("",)
    names, sizes = [], []
    for number in range(n):
        members = [
            systems[i]
            for i in np.flatnonzero(present[:, stratum == number].any(axis=1))
        ]
        names.append(listed(members))
        sizes.append(
            f"{len(members)} systems on {np.count_nonzero(stratum == number):,} documents"
        )
    finding = (
        f"The texts fall into {n} sets that share no system and no document ({'; '.join(sizes)})."
        " Correlations are of what varies within each set, averaged over the sets."
    )
    findings.append(DataWarning(kind="groups", finding=finding))
    return stratum, tuple(names)


def _strata_of_raters(
    human: Array, raters: Raters, findings: list[DataWarning]
) -> tuple[Index, tuple[str, ...]]:
    """Return sets of documents that share no rater, if their ratings differ; else one."""
    whole = np.zeros(human.shape[1], dtype=np.intp), ("",)
    # (raters, documents)
    rated = np.asarray(np.isfinite(raters.ratings).any(axis=1))
    sets = blocks_of(rated)[1]
    size = np.bincount(sets)
    if size.size < 2:
        return whole
    small = size < _FEWEST_OF_SET
    if small.any():
        # Sets of few documents are one set, or a part of the smallest other one.
        target = int(np.argmax(small))
        if size[small].sum() < _FEWEST_OF_SET and not small.all():
            target = int(np.argmin(np.where(small, size.max() + 1, size)))
        sets = np.where(small[sets], target, sets)
    sets = factorize(sets)
    n = int(sets.max()) + 1
    if n < 2:
        return whole
    names = []
    for number in range(n):
        members = np.flatnonzero(rated[:, sets == number].any(axis=1))
        names.append(listed([raters.names[i] for i in members]))
    sizes = [
        f"{name} on {np.count_nonzero(sets == number):,} documents"
        for number, name in enumerate(names)
    ]
    shares = (
        f"The documents fall into {n} sets that share no rater ({'; '.join(sizes)})."
    )
    if differ_by_group(human, sets) >= _SETS_DIFFER:
        finding = f"{shares} The sets' ratings do not differ, so they count as one set."
        remedy = _ASK_STRATA
        findings.append(DataWarning(kind="groups", finding=finding, remedy=remedy))
        return whole
    finding = (
        f"{shares} The sets' ratings differ, by the documents or by the raters."
        " Correlations are of what varies within each set, averaged over the sets."
    )
    findings.append(DataWarning(kind="groups", finding=finding))
    return sets, tuple(names)


def _owners_of_systems(
    systems: Sequence[str], raters: Raters, findings: list[DataWarning]
) -> Index:
    """Return (systems,) numbers, different for systems that share no rater."""
    # (raters, systems)
    rated = np.asarray(np.isfinite(raters.ratings).any(axis=2))
    owners = blocks_of(rated)[1]
    n = int(owners.max(initial=0)) + 1
    shared = np.isfinite(raters.ratings).any(axis=0).sum(axis=0).max(initial=0) > 1
    if n < 2 or not shared:
        return np.zeros(len(systems), dtype=np.intp)
    sets = []
    for number in range(n):
        by = [
            raters.names[i]
            for i in np.flatnonzero(rated[:, owners == number].any(axis=1))
        ]
        of = [systems[i] for i in np.flatnonzero(owners == number)]
        sets.append(f"{listed(by)} rated {listed(of)}")
    finding = (
        f"The systems fall into {n} sets that share no rater ({'; '.join(sets)})."
        " Differences between the sets may be the raters', so that no metric gets more"
        " than `cannot tell` for two systems."
    )
    remedy = "Let some raters rate texts of all systems."
    findings.append(DataWarning(kind="groups", finding=finding, remedy=remedy))
    return owners


def listed(names: Sequence[str]) -> str:
    """Return up to four names, or three and how many more there are."""
    if len(names) <= 4:
        return ", ".join(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} more"


def _families(
    systems: Sequence[str],
    human: Array,
    scores: Array,
    groups: Groups,
    findings: list[DataWarning],
) -> Index:
    equal = (
        duplicate_items(scores.transpose(0, 2, 1))
        if len(scores)
        else np.arange(len(systems))
    )
    _report_equal(systems, equal, "systems", findings)
    if groups.families:
        return join_partitions(factorize_by(systems, groups.families), equal)
    alike = find_near_copies([human, *scores])
    if np.unique(alike).size < np.unique(equal).size:
        listed = "; ".join(
            " and ".join(shown(systems[i]) for i in np.flatnonzero(alike == number))
            for number in np.flatnonzero(np.bincount(alike) > 1)
        )
        finding = (
            "Systems go up and down with the same documents, as versions of one system do:"
            f" {listed}. They count as one."
        )
        findings.append(DataWarning(kind="groups", finding=finding, remedy=_ASK_FAMILY))
    return join_partitions(alike, equal)


def _group_by_name(
    documents: Sequence[str], sides: Sequence[Array], findings: list[DataWarning]
) -> Index | None:
    group = factorize([_LAST_NUMBER.sub("", name) for name in documents])
    size = np.bincount(group)
    if not 1 < size.size <= len(documents) / 2 or size[size > 1].sum() < 0.8 * len(
        documents
    ):
        return None
    people, *metrics = sides
    by_metric = min((differ_by_group(metric, group) for metric in metrics), default=1.0)
    if differ_by_group(people, group) > CHANCE or by_metric > CHANCE / max(
        1, len(metrics)
    ):
        return None
    finding = (
        f"The documents' names begin in {size.size} ways, and documents whose names begin alike"
        " have similar scores and ratings. They count as one."
    )
    findings.append(DataWarning(kind="groups", finding=finding, remedy=_ASK))
    return group


def _group_by_order(
    documents: Sequence[str],
    sides: Sequence[Array],
    stratum: Index,
    findings: list[DataWarning],
) -> Index | None:
    order = np.array(
        sorted(range(len(documents)), key=lambda i: _natural(documents[i])), np.intp
    )
    blocks, drifts = np.arange(len(documents)), False
    for number in np.unique(stratum):
        members = order[stratum[order] == number]
        people, *metrics = (side[:, members] for side in sides)
        if drift_with_order(people, metrics).any():
            block = make_blocks(members.size)
            blocks[members] = members[np.searchsorted(block, block)]
            drifts = True
    if not drifts:
        return None
    finding = (
        "Scores and ratings drift with the order of the documents' names. Neighbours count as one:"
        f" {np.unique(blocks).size} blocks."
    )
    findings.append(DataWarning(kind="groups", finding=finding, remedy=_ASK))
    return factorize(blocks)


def _group_by_scores(
    sides: Sequence[Array],
    equal: Index,
    rng: np.random.Generator,
    findings: list[DataWarning],
) -> Index | None:
    first = np.unique(equal, return_index=True)[1]  # equal documents would clump
    group = clumps([side[:, first] for side in sides], rng)
    groups = int(group.number.max(initial=-1)) + 1
    if group.beyond > SURE:
        finding = (
            f"Documents fall into {groups} groups with similar scores, far beyond chance, as those"
            " of a few topics or sources do. Each group counts as one."
        )
        findings.append(DataWarning(kind="groups", finding=finding, remedy=_ASK))
        return group.number[equal]
    if group.beyond > SUSPICIOUS:
        finding = (
            "Documents may fall into groups with similar scores, as documents of a few topics or"
            " sources do. Then a metric can look good that only knows the topic."
        )
        findings.append(DataWarning(kind="groups", finding=finding, remedy=_ASK))
    return None


def _report_equal(
    names: Sequence[str], number: Index, what: str, findings: list[DataWarning]
) -> None:
    size = np.bincount(number)
    n = int(size[size > 1].sum())
    if n:
        first = [names[i] for i in np.flatnonzero(number == np.argmax(size > 1))[:2]]
        finding = (
            f"{n:,} of {len(names):,} {what} have exactly the scores of another one, such as"
            f" {' and '.join(map(shown, first))}. Those with equal scores count as one."
        )
        findings.append(DataWarning(kind="groups", finding=finding))


def _natural(name: str) -> tuple[tuple[int, str], ...]:  # d2 before d10
    return tuple(
        (int(s), "") if s.isdecimal() else (-1, s) for s in _DIGITS.split(name)
    )


def groups_of(
    design: Design, sources: pd.DataFrame, authors: Collection[str], where: str
) -> Groups:
    """Return the groups of a benchmark's `design`, by the attributes of its sources.

    `authors`: the rated systems. Raises BadInput, with `where` first, for an attribute
    that no source has, and for a system that nobody rated.
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
    """Return the cluster of each document by the user's `design`; errors as in `groups_of`."""
    problems: list[str] = []
    clusters = _attribute(sources, design.cluster, f"{where} > cluster", problems)
    raise_problems(problems)
    return clusters


def _attribute(
    sources: pd.DataFrame, name: str, where: str, problems: list[str]
) -> dict[str, str]:
    if not name:
        return {}
    if name == "doc_id":
        return {document: document for document in sources["doc_id"].astype(str)}
    values, names = {}, set()
    for document, text in zip(sources["doc_id"], sources["attributes"], strict=True):
        attributes = {} if pd.isna(text) else json.loads(text)
        names |= set(attributes)
        value = attributes.get(name)
        if value is not None:
            values[str(document)] = (
                value if isinstance(value, str) else json.dumps(value)
            )
    if not values:
        listed = (
            ", ".join(shown(other) for other in sorted(names)[:10]) or "none at all"
        )
        problems.append(
            f"{where}: no source has the attribute {shown(name)}; there are: {listed}. Correct the"
            " name, or add the attribute to the sources"
        )
    return values
