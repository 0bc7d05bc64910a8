"""What belongs together: as the user says, and as the data show it."""

import json

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Design
from metassay.meta_evaluation.layouts import NO_GROUPS, Groups, groups_of, layout_of

NAN = np.nan


def world(shape=(6, 40), n=10, seed=0):
    """People, then metrics: favourites among systems and documents, and nothing in common."""
    rng = np.random.default_rng(seed)
    return [
        rng.normal(size=(shape[0], 1)) + rng.normal(size=shape[1]) + rng.normal(size=shape)
        for _ in range(n + 1)
    ]


def found(sides, groups=NO_GROUPS, documents=None, systems=None):
    human, *metrics = sides
    systems = systems or [f"s{i}" for i in range(len(human))]
    documents = documents or [f"d{i}" for i in range(human.shape[1])]
    rng = np.random.default_rng(0)
    return layout_of(systems, documents, human, metrics, groups, rng)


def test_where_nothing_belongs_together_nothing_is_said():
    one = found(world())
    assert one.layout.n_families, one.layout.n_clusters == (6, 40)
    assert (one.layout.n_strata, one.dealt_with, one.suspected) == (1, (), ())


def test_unconnected_sets_are_strata():
    sides = world((7, 40))
    for side in sides:
        side[:4, 20:] = side[4:, :20] = NAN
    one = found(sides)
    assert one.layout.stratum.tolist() == [0] * 20 + [1] * 20
    assert one.strata == ("s0, s1, s2, s3", "s4, s5, s6")
    (line,) = one.dealt_with
    assert "2 sets" in line
    assert "4 systems on 20 documents; 3 systems on 20 documents" in line
    # A text that both sets have connects them; what the user says counts in any case.
    sides[0][5, 0] = sides[1][5, 0] = 1.0
    assert found(sides).layout.n_strata == 1
    said = Groups({f"d{i}": "odd" if i % 2 else "even" for i in range(40)}, {}, {})
    one = found(sides, said)
    assert (one.strata, one.dealt_with) == (("even", "odd"), ())
    assert one.layout.stratum.tolist() == [0, 1] * 20


def test_documents_by_one_system_each_are_no_strata():
    sides = world((4, 40))
    away = np.arange(40) % 4 != np.arange(4)[:, None]
    one = found([np.where(away, NAN, side) for side in sides])
    assert (one.layout.n_strata, one.dealt_with) == (1, ())


def test_equal_documents_and_systems_count_as_one_though_their_ratings_differ():
    human, *metrics = world()
    for metric in metrics:
        metric[:, 7] = metric[:, 3]
        metric[4] = metric[1]
    one = found([human, *metrics])
    assert one.layout.cluster[7] == one.layout.cluster[3]
    assert one.layout.n_clusters == 39
    assert one.layout.family.tolist() == [0, 1, 2, 3, 1, 4]
    systems, documents = one.dealt_with
    assert systems.startswith("2 of 6 systems have exactly the scores of another one, such as 's1'")
    assert documents.startswith("2 of 40 documents have exactly the scores of another one")
    # They do so, too, where the user says what else belongs together.
    said = Groups({}, {f"d{i}": str(i // 10) for i in range(40)}, {"s0": "a", "s2": "a"})
    one = found([human, *metrics], said)
    assert one.layout.family.tolist() == [0, 1, 0, 2, 1, 3]
    assert one.layout.n_clusters == 4


def test_near_copies_are_a_family_unless_the_user_says_otherwise():
    human, *metrics = world(seed=2)
    rng = np.random.default_rng(1)
    sides = [human, *metrics]
    for side in sides:
        side[3] = side[2] + 0.2 * rng.normal(size=40)
    one = found(sides)
    assert one.layout.family.tolist() == [0, 1, 2, 2, 3, 4]
    assert "'s2' and 's3'" in one.dealt_with[0]
    assert "`family`" in one.dealt_with[0]
    apart = Groups({}, {}, {f"s{i}": str(i) for i in range(6)})
    assert found(sides, apart).layout.n_families == 6


def test_neighbours_count_as_one_where_scores_drift():
    sides = world(seed=3)
    walk = np.cumsum(np.random.default_rng(4).normal(size=(2, 40)), axis=1)
    for place in (0, 1, 2):
        sides[place] = sides[place] + walk[int(place > 0)]
    one = found(sides)
    assert one.layout.n_clusters == 10
    assert one.layout.cluster.tolist() == sorted(one.layout.cluster.tolist())
    assert "drift with the order" in one.dealt_with[0]
    # The order is that of numbers in names, whatever the order of the columns.
    mixed = np.random.default_rng(0).permutation(40)
    again = found([s[:, mixed] for s in sides], documents=[f"d{i}" for i in mixed])
    same = [one.layout.cluster[i] == one.layout.cluster[j] for i in mixed for j in mixed]
    cluster = again.layout.cluster
    assert same == [a == b for a in cluster for b in cluster]


def test_names_that_begin_alike_are_clusters_if_scores_say_so():
    names = [f"clinic-{'abcd'[i % 4]}-{i:02}" for i in range(40)]
    sides = world(seed=5)
    assert found(sides, documents=names).dealt_with == ()
    mood = np.random.default_rng(6).normal(size=(2, 4))
    for place in (0, 1):
        sides[place] = sides[place] + 2.5 * mood[place][np.arange(40) % 4]
    one = found(sides, documents=names)
    assert one.layout.n_clusters == 4
    assert "begin in 4 ways" in one.dealt_with[0]
    # Clinics that follow each other drift with the order of names, too: names alone decide.
    names = [f"clinic-{'abcdefgh'[i // 5]}-{i:02}" for i in range(40)]
    walk = 3 * np.cumsum(np.random.default_rng(4).normal(size=(2, 8)), axis=1).repeat(5, axis=1)
    sides = world(seed=3)
    for place in (0, 1, 2):
        sides[place] = sides[place] + walk[int(place > 0)]
    assert "drift with the order" in found(sides).dealt_with[0]
    (line,) = found(sides, documents=names).dealt_with
    assert "begin in 8 ways" in line


@pytest.mark.parametrize(("sd", "clusters"), [(1.0, {4, 5, 6}), (0.0, {40})])
def test_topics_that_nobody_names_are_found_by_like_scores(sd, clusters):
    rng = np.random.default_rng(7)
    topic = rng.permutation(np.arange(40) % 5)
    sides = [side + sd * rng.normal(size=5)[topic] for side in world(n=20, seed=8)]
    one = found(sides)
    assert one.layout.n_clusters in clusters
    assert ("groups with similar scores" in " ".join(one.dealt_with)) == (sd > 0)
    said = Groups({}, {f"d{i}": str(i // 20) for i in range(40)}, {})
    assert found(sides, said).dealt_with == ()


def test_a_cluster_in_two_strata_is_two():
    said = Groups(
        {f"d{i}": str(i % 2) for i in range(40)}, {f"d{i}": str(i // 4) for i in range(40)}, {}
    )
    layout = found(world(), said).layout
    assert layout.n_clusters == 20
    assert all(np.unique(layout.stratum[layout.cluster == one]).size == 1 for one in range(20))


def test_what_has_no_label_belongs_to_nothing_else():
    layout = found(world(), Groups({}, {"d1": "x", "d2": "x"}, {"s0": "y", "s5": "y"})).layout
    assert layout.n_clusters == 39
    assert layout.family.tolist() == [0, 1, 2, 3, 4, 0]
    assert found(world(), Groups({"d0": "x"}, {}, {})).strata == ("x", "no label")


SOURCES = pd.DataFrame(
    {
        "doc_id": ["d1", "d2", "d3"],
        "attributes": [json.dumps({"clinic": "north", "year": 7}), '{"clinic":"south"}', None],
    }
)


def test_a_benchmark_names_attributes_of_its_sources():
    design = Design(strata="clinic", cluster="year", families={"a": "x", "b": "x"})
    found_groups = groups_of(design, SOURCES, ["a", "b", "c"], "here")
    assert found_groups == Groups({"d1": "north", "d2": "south"}, {"d1": "7"}, {"a": "x", "b": "x"})
    assert groups_of(Design(), SOURCES, [], "here") == NO_GROUPS


def test_attributes_and_systems_that_are_not_there_are_named_at_once():
    design = Design(cluster="patient", families={"gpt4": "gpt", "b": "x"})
    with pytest.raises(BadInput) as error:
        groups_of(design, SOURCES, ["b"], "benchmarks/x/params.yaml > design")
    families, cluster = sorted(error.value.problems, key=lambda line: "cluster" in line)
    assert cluster.startswith(
        "benchmarks/x/params.yaml > design > cluster: no source has the attribute 'patient'; there"
        " are: 'clinic', 'year'."
    )
    assert "design > families: 'gpt4' is not a rated system" in families
