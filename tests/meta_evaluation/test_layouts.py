"""What belongs together: as the user says, and as the data show it."""

import json

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Design
from metassay.meta_evaluation.layouts import (
    NO_GROUPS,
    Groups,
    Raters,
    groups_of,
    layout_of,
)

NAN = np.nan
PLACE = np.arange(40)


def world(shape=(6, 40), n=10, seed=0):
    """People, then metrics: favourites among systems and documents, and nothing in common."""
    rng = np.random.default_rng(seed)
    return [
        rng.normal(size=(shape[0], 1))
        + rng.normal(size=shape[1])
        + rng.normal(size=shape)
        for _ in range(n + 1)
    ]


def moved(sides, steps):
    """People moved by the first step, the first two metrics by the second."""
    return [side + steps[min(n, 1)] if n < 3 else side for n, side in enumerate(sides)]


def grouping(sides, groups=NO_GROUPS, documents=None, raters=None):
    human, *metrics = sides
    ratings = human[None] if raters is None else raters
    names = tuple("abcdefgh"[: len(ratings)])
    return layout_of(
        [f"s{i}" for i in range(len(human))],
        documents or [f"d{i}" for i in range(human.shape[1])],
        human,
        metrics,
        groups,
        np.random.default_rng(0),
        Raters(names, ratings),
    )


def sentences(grouping):
    return [warning.sentence for warning in grouping.findings]


def labels(label):
    return {f"d{i}": str(label(i)) for i in range(40)}


def test_where_nothing_belongs_together_nothing_is_said():
    away = np.arange(4)[:, None] != PLACE % 4
    for systems, sides in (
        (6, world()),
        # one system a document
        (4, [np.where(away, NAN, side) for side in world((4, 40))]),
    ):
        plain = grouping(sides)
        layout = plain.layout
        assert (layout.n_families, layout.n_clusters, layout.n_strata) == (
            systems,
            40,
            1,
        )
        assert plain.findings == ()


def test_unconnected_sets_are_strata():
    sides = world((7, 40))
    for side in sides:
        side[:4, 20:] = side[4:, :20] = NAN
    apart = grouping(sides)
    assert apart.layout.stratum.tolist() == [0] * 20 + [1] * 20
    assert apart.strata == ("s0, s1, s2, s3", "s4, s5, s6")
    (line,) = sentences(apart)
    assert "2 sets" in line
    assert "4 systems on 20 documents; 3 systems on 20 documents" in line
    # A text that both sets have connects them; what the user says counts in any case.
    sides[0][5, 0] = sides[1][5, 0] = 1.0
    assert grouping(sides).layout.n_strata == 1
    parity = labels(lambda i: "odd" if i % 2 else "even")
    named = grouping(sides, Groups(parity, {}, {}))
    assert (named.strata, named.findings) == (("even", "odd"), ())
    assert named.layout.stratum.tolist() == [0, 1] * 20
    # A cluster in two strata is two.
    layout = grouping(world(), Groups(parity, labels(lambda i: i // 4), {})).layout
    assert layout.n_clusters == 20
    assert len(set(zip(layout.stratum, layout.cluster, strict=True))) == 20


def owned(human, owner, axis):
    """Ratings (raters, systems, documents) in which each rater has some rows or columns."""
    n = owner.max() + 1
    owns = owner == np.arange(n)[:, None]
    owns = owns[:, :, None] if axis == -2 else owns[:, None, :]
    return np.where(owns, human, NAN)


def test_documents_that_share_no_rater_are_strata_if_their_ratings_differ():
    sides, owner = world(), PLACE // 20
    same = grouping(sides, raters=owned(sides[0], owner, -1))
    assert same.layout.n_strata == 1
    (line,) = sentences(same)
    assert "2 sets that share no rater (a on 20 documents; b on 20 documents)" in line
    assert "do not differ" in line
    assert "`strata`" in line
    sides[0] = sides[0] + 3.0 * owner
    apart = grouping(sides, raters=owned(sides[0], owner, -1))
    assert apart.layout.stratum.tolist() == owner.tolist()
    assert apart.strata == ("a", "b")
    assert "what varies within each set" in sentences(apart)[0]
    # One document that both rated connects them; sets of few documents are one.
    both = owned(sides[0], owner, -1)
    both[1, :, 3] = both[0, :, 3]
    assert grouping(sides, raters=both).findings == ()
    few = grouping(
        sides, raters=owned(sides[0], np.where(PLACE > 37, PLACE - 36, 0), -1)
    )
    assert few.findings == ()


def test_systems_that_share_no_rater_are_told():
    sides = world()
    owner = np.arange(6) // 3
    apart = grouping(sides, raters=owned(sides[0], owner, -2))
    assert apart.owners.tolist() == owner.tolist()
    assert "a rated s0, s1, s2; b rated s3, s4, s5" in sentences(apart)[0]
    # Raters who share the systems out by document are no owners.
    mixed = (np.arange(6)[:, None] + PLACE) % 2
    shared = np.stack([np.where(mixed == r, sides[0], NAN) for r in (0, 1)])
    assert not grouping(sides, raters=shared).owners.any()


def test_equal_documents_and_systems_count_as_one_though_their_ratings_differ():
    human, *metrics = world()
    for metric in metrics:
        metric[:, 7] = metric[:, 3]
        metric[4] = metric[1]
    equal = grouping([human, *metrics])
    assert equal.layout.cluster[7] == equal.layout.cluster[3]
    assert equal.layout.n_clusters == 39
    assert equal.layout.family.tolist() == [0, 1, 2, 3, 1, 4]
    systems, documents = sentences(equal)
    assert systems.startswith(
        "2 of 6 systems have exactly the scores of another one, such as 's1'"
    )
    assert documents.startswith(
        "2 of 40 documents have exactly the scores of another one"
    )
    # They do so, too, where the user says what else belongs together.
    by_user = Groups({}, labels(lambda i: i // 10), {"s0": "a", "s2": "a"})
    layout = grouping([human, *metrics], by_user).layout
    assert layout.family.tolist() == [0, 1, 0, 2, 1, 3]
    assert layout.n_clusters == 4


def test_near_copies_are_a_family_unless_the_user_says_otherwise():
    sides, rng = world(seed=2), np.random.default_rng(1)
    for side in sides:
        side[3] = side[2] + 0.2 * rng.normal(size=40)
    copies = grouping(sides)
    assert copies.layout.family.tolist() == [0, 1, 2, 2, 3, 4]
    assert "'s2' and 's3'" in sentences(copies)[0]
    assert "`family`" in sentences(copies)[0]
    apart = Groups({}, {}, {f"s{i}": str(i) for i in range(6)})
    assert grouping(sides, apart).layout.n_families == 6


def test_neighbours_count_as_one_where_scores_drift():
    walk = np.cumsum(np.random.default_rng(4).normal(size=(2, 40)), axis=1)
    sides = moved(world(seed=3), walk)
    drift = grouping(sides)
    cluster = drift.layout.cluster
    assert drift.layout.n_clusters == 10
    assert cluster.tolist() == sorted(cluster.tolist())
    assert "drift with the order" in sentences(drift)[0]
    # The order is that of numbers in names, whatever the order of the columns.
    mixed = np.random.default_rng(0).permutation(40)
    again = grouping([s[:, mixed] for s in sides], documents=[f"d{i}" for i in mixed])
    other = again.layout.cluster
    expected = cluster[mixed][:, None] == cluster[mixed]
    assert ((other[:, None] == other) == expected).all()


def test_names_that_begin_alike_are_clusters_if_scores_say_so():
    names = [f"clinic-{'abcd'[i % 4]}-{i:02}" for i in range(40)]
    sides = world(seed=5)
    assert grouping(sides, documents=names).findings == ()
    mood = 2.5 * np.random.default_rng(6).normal(size=(2, 4))[:, PLACE % 4]
    alike = grouping(
        [s + mood[n] if n < 2 else s for n, s in enumerate(sides)], documents=names
    )
    assert alike.layout.n_clusters == 4
    assert "begin in 4 ways" in sentences(alike)[0]
    # Clinics that follow each other drift with the order of names, too: names alone
    # decide.
    names = [f"clinic-{'abcdefgh'[i // 5]}-{i:02}" for i in range(40)]
    walk = 3 * np.cumsum(np.random.default_rng(4).normal(size=(2, 8)), axis=1).repeat(
        5, axis=1
    )
    sides = moved(world(seed=3), walk)
    assert "drift with the order" in sentences(grouping(sides))[0]
    (line,) = sentences(grouping(sides, documents=names))
    assert "begin in 8 ways" in line


@pytest.mark.parametrize(("sd", "clusters"), [(1.0, {4, 5, 6}), (0.0, {40})])
def test_topics_that_nobody_names_are_seen_by_like_scores(sd, clusters):
    rng = np.random.default_rng(7)
    topic = rng.permutation(PLACE % 5)
    sides = [side + sd * rng.normal(size=5)[topic] for side in world(n=20, seed=8)]
    topics = grouping(sides)
    assert topics.layout.n_clusters in clusters
    assert ("groups with similar scores" in " ".join(sentences(topics))) == (sd > 0)
    by_user = Groups({}, labels(lambda i: i // 20), {})
    assert grouping(sides, by_user).findings == ()


def test_systems_with_like_means_may_be_versions():
    level = np.random.default_rng(1).normal(size=(5, 4)).repeat(2, axis=1)
    sides = [s + 12 * v[:, None] for s, v in zip(world((8, 40), 4), level, strict=True)]
    (line,) = sentences(grouping(sides))
    assert "Systems fall into groups with similar means" in line
    assert "`family`" in line
    apart = Groups({}, {}, {f"s{i}": str(i) for i in range(8)})
    assert grouping(sides, apart).findings == ()
    assert grouping(sides).systems_clump
    assert not grouping(sides, apart).systems_clump


def test_who_has_a_text_per_document_and_few_metrics_is_asked_for_topics():
    nested = [side[:1] for side in world(n=3)]
    (line,) = sentences(grouping(nested))
    assert "Each document has one text" in line
    assert "`cluster`" in line
    for more in ([side[:1] for side in world(n=6)], world(n=3)):
        assert grouping(more).findings == ()
    by_user = Groups({}, labels(lambda i: i // 4), {})
    assert grouping(nested, by_user).findings == ()


def test_what_has_no_label_belongs_to_nothing_else():
    groups = Groups({}, {"d1": "x", "d2": "x"}, {"s0": "y", "s5": "y"})
    layout = grouping(world(), groups).layout
    assert layout.n_clusters == 39
    assert layout.family.tolist() == [0, 1, 2, 3, 4, 0]
    assert grouping(world(), Groups({"d0": "x"}, {}, {})).strata == ("x", "no label")


def test_a_benchmark_names_attributes_of_its_sources():
    attributes = [
        json.dumps({"clinic": "north", "year": 7}),
        '{"clinic":"south"}',
        None,
    ]
    sources = pd.DataFrame({"doc_id": ["d1", "d2", "d3"], "attributes": attributes})
    families = {"a": "x", "b": "x"}
    design = Design(strata="clinic", cluster="year", families=families)
    groups = groups_of(design, sources, ["a", "b", "c"], "here")
    assert groups == Groups({"d1": "north", "d2": "south"}, {"d1": "7"}, families)
    assert groups_of(Design(), sources, [], "here") == NO_GROUPS
    wrong = Design(cluster="patient", families={"gpt4": "gpt", "b": "x"})
    with pytest.raises(BadInput) as error:
        groups_of(wrong, sources, ["b"], "params.yaml > design")
    of_families, cluster = sorted(
        error.value.problems, key=lambda line: "cluster" in line
    )
    message = "params.yaml > design > cluster: no source has the attribute 'patient'; there are:"
    assert cluster.startswith(f"{message} 'clinic', 'year'.")
    assert "design > families: 'gpt4' is not a rated system" in of_families
