"""Who gets what: balanced, by chance, the same each time, and blinded."""

import re
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.studies.export import assign, draw_ids, draw_items
from tests.studies.invented_tables import drafts, study


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=5),
    st.integers(1, 6),
    st.integers(0, 5),
    st.data(),
)
def test_everybody_gets_as_many_and_of_every_system(counts, raters, seed, data):
    per_item = data.draw(st.integers(1, raters))
    items = {f"{s}-{n}": (f"s{s}",) for s, count in enumerate(counts) for n in range(count)}
    named = [f"r{n}" for n in range(raters)]
    assignments = assign(items, named, per_item, seed)
    assert list(assignments) == named
    given_to = Counter(item for of in assignments.values() for item in of)
    assert given_to == dict.fromkeys(items, per_item)
    loads = [len(of) for of in assignments.values()]
    assert max(loads) - min(loads) <= 2
    for system in range(len(counts)):
        of = [
            sum(item.startswith(f"{system}-") for item in dealt) for dealt in assignments.values()
        ]
        assert max(of) - min(of) <= 1
    assert all(len(set(of)) == len(of) for of in assignments.values())


def test_any_two_raters_share_items():
    items = {f"i{n}": ("s",) for n in range(30)}
    assignments = {rater: set(of) for rater, of in assign(items, list("abcd"), 2, 1).items()}
    shared = [len(assignments[a] & assignments[b]) for a, b in combinations("abcd", 2)]
    assert sum(shared) == 30
    assert max(shared) - min(shared) <= 1


def test_orders_differ_between_raters_and_not_between_draws():
    items = {f"i{n}": ("s",) for n in range(12)}
    first, again = (assign(items, ["a", "b"], 2, 7) for _ in range(2))
    assert first == again
    assert first["a"] != first["b"]
    assert assign(items, ["a", "b"], 2, 8) != first


def test_too_many_raters_per_item():
    with pytest.raises(ValueError, match="1 to 2"):
        assign({"i": ("s",)}, ["a", "b"], 3, 1)


def test_some_items_are_of_whole_documents_or_of_all_pairs_of_systems():
    every = drafts(documents=[f"d{n:02}" for n in range(20)])
    some = draw_items(every, 30, 1, together=True)
    assert Counter(one.systems for one in some) == dict.fromkeys({d.systems for d in every}, 10)
    assert len({one.identity[0] for one in some}) == 10
    for n in range(1, 61):
        counts = Counter(item.systems for item in draw_items(every, n, 3, together=True))
        assert max(counts.values()) - min([*counts.values(), *[0] * (len(counts) < 3)]) <= 1
    spread = draw_items(every, 30, 1, together=False)
    assert Counter(one.systems for one in spread) == dict.fromkeys({d.systems for d in every}, 10)
    assert len({one.identity[0] for one in spread}) > 12
    assert draw_items(every, None, 1, together=True) == sorted(every, key=lambda one: one.identity)


def test_ids_say_nothing_and_no_spreadsheet_rewrites_them():
    named = [(f"d{n}", author) for n in range(2000) for author in ("alpha", "beta")]
    ids = draw_ids(named, 1)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[bcdfghjklmnpqrstvwxz]{8}", one) for one in ids)
    assert not set(ids) & set(draw_ids(named, 2))


def test_sheets_know_no_author_and_no_document():
    sent = study()
    for sheet in sent.sheets():
        assert len(sheet.items) == 9
        said = repr(sheet)
        assert "alpha" not in said
        assert "'d1'" not in said
    assert {
        asked.target.author for row in sent.key.rows.values() for asked in row.questions.values()
    } == {"alpha", "beta", "gamma"}
