"""What differs between two sides: verdicts, missing answers, documents, systems."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.tables.certificates import CERTIFICATES
from metassay.tracking.comparison.differences import (
    ComparisonOptions,
    Differences,
    changed_certificates,
    compare_systems,
    differences,
)
from tests.tracking.comparison.states import row, scores, side

OPTIONS = ComparisonOptions(permutations=2000)
BOUNDED = ["value", "low", "high"]


def compared(before: pd.DataFrame, after: pd.DataFrame, **more: Any) -> Differences:
    return differences(side(before, "old"), side(after), OPTIONS, **more)


def row_of(
    compared: Differences, metric: str = "rouge1", author: str = "lead"
) -> pd.Series:
    return compared.changes.set_index(["metric", "author"]).loc[(metric, author)]


def of_lead(table: pd.DataFrame, metric: str = "rouge1") -> "pd.Series[bool]":
    return (table["metric"] == metric) & (table["author"] == "lead")


def moved(by: float, metric: str = "rouge1", documents: int = 26) -> pd.DataFrame:
    """Scores in which one system's metric moved by about so much, in every document."""
    table = scores(documents)
    table.loc[of_lead(table, metric), BOUNDED] += by
    return table


def failed(
    table: pd.DataFrame, documents: int, low: Any = 0.0, high: Any = 1.0
) -> pd.DataFrame:
    """Scores in which one answer is missing behind each of some documents of lead's rouge1."""
    table = table.copy()
    which = of_lead(table) & (table["doc_id"] < f"d{documents:03}")
    table.loc[which, ["n_failed", *BOUNDED]] = [1, None, low, high]
    return table


@pytest.mark.parametrize(
    ("metric", "by", "verdict"),
    [
        ("rouge1", -0.05, "regressed"),
        ("rouge1", 0.05, "improved"),
        ("edit_distance", 0.05, "regressed"),
        ("edit_distance", -0.05, "improved"),
        ("words", -0.05, "changed"),
    ],
)
def test_a_verdict_knows_which_direction_is_better(metric, by, verdict):
    result = compared(scores(), moved(by, metric))
    assert row_of(result, metric)["verdict"] == verdict
    assert row_of(result, metric)["difference"] == pytest.approx(by)
    assert result.regressed == (verdict == "regressed")
    others = result.changes[~of_lead(result.changes, metric)]
    assert set(others["verdict"]) == {"same numbers"}
    assert others["p"].isna().all()


def test_other_answers_at_random_show_nothing_and_the_same_give_the_same_tables():
    first = compared(scores(seed=1), scores(seed=2))
    assert set(first.changes["verdict"]) == {"no difference shown"}
    assert (first.changes["p_adjusted"] >= first.changes["p"]).all()
    assert (first.changes["low"] < first.changes["difference"]).all()
    second = compared(scores(seed=1), scores(seed=2)[::-1])
    pd.testing.assert_frame_equal(first.changes, second.changes)
    pd.testing.assert_frame_equal(first.documents, second.documents)


def test_few_documents_cannot_tell():
    few = row_of(compared(scores(5), moved(-0.3, documents=5)))
    assert few["verdict"] == "cannot tell"
    assert few["smallest_p"] == 1 / 16
    assert (
        few["why"]
        == "5 of 5 documents changed; at least 6 are needed to show a difference"
    )
    six = scores(6), moved(-0.3, documents=6)
    assert row_of(compared(*six))["verdict"] == "regressed"
    two = row_of(compared(*six, n_benchmarks=2))
    assert (two["verdict"], two["p_adjusted"]) == ("cannot tell", 2 / 32)
    sides, options = (
        (side(scores()), side(moved(-0.3))),
        ComparisonOptions(permutations=100),
    )
    few_signs = row_of(differences(*sides, options, n_benchmarks=17))
    assert few_signs["verdict"] == "cannot tell"
    assert few_signs["why"].endswith("permutations to 340 or more")


def test_rounding_is_no_difference():
    before = scores()
    zeros = before.copy()
    zeros.loc[zeros["doc_id"] < "d010", BOUNDED] = 0.0
    for table, after in (
        (before, before["value"] * (1 + 1e-12)),
        (zeros, zeros["value"] + 1e-17),
    ):
        changes = compared(table, table.assign(value=after)).changes
        assert set(changes["verdict"]) == {"same numbers"}


def test_what_only_one_side_has_is_told():
    before, after = scores(), moved(-0.05)
    before = before[before["doc_id"] != "d000"]
    after = after[~after["doc_id"].isin(["d001", "d002"])]
    both = row_of(compared(before, after))
    assert (both["n"], both["n_only_before"], both["n_only_after"]) == (23, 2, 1)
    assert both["difference"] == pytest.approx(-0.05)
    gone = row_of(compared(scores(), scores()[scores()["metric"] != "words"]), "words")
    assert (gone["verdict"], gone["why"], gone["n"]) == (
        "cannot tell",
        "scored only before",
        0,
    )
    assert pd.isna(gone["before"])
    lone = pd.DataFrame(
        [row(f"d{n:03}", "lead", "bleu", float("nan")) for n in range(3)]
    )
    both = pd.concat([scores(), lone])
    never = row_of(compared(both, both), "bleu")
    assert (never["verdict"], never["why"]) == ("cannot tell", "never scored")
    recipes = moved(-0.05)
    recipes.loc[recipes["metric"] == "rouge1", "recipe"] = "rouge1|v:2"
    result = compared(scores(), recipes)
    assert not row_of(result)["same_recipe"]
    assert row_of(result, "words")["same_recipe"]


def test_sides_with_nothing_in_common_are_refused():
    other, plan = scores(), scores().assign(part="plan")
    for before, after, words in (
        (
            other,
            other.assign(doc_id="x" + other["doc_id"]),
            "no document of sample in common",
        ),
        (other, other.assign(metric="m"), "no metric of sample in common"),
        (plan, other, "no scores of whole texts"),
    ):
        with pytest.raises(BadInput, match=words):
            compared(before, after)
    assert set(compared(plan, plan, parts=True).changes["part"]) == {"plan"}


UNKNOWN, OPEN = "cannot tell", "could still be: "
FREE = {"low": None, "high": None}  # lengths, and own metrics without a range
PART = scores()
PART.loc[PART["metric"] == "rouge1", ["n_failed", "low", "high"]] = [1, 0.0, 1.0]
FEWER = PART.assign(n_failed=PART["n_failed"] * 2)  # the same scores of fewer answers
# and of as many, of other questions
OTHERS = PART.assign(high=PART["high"].replace(1.0, 1.5))
# As many as before, in other documents, and too few to matter.
SWAPPED = failed(scores(), 1)
SWAPPED["doc_id"] = SWAPPED["doc_id"].replace({"d000": "d001", "d001": "d000"})
SWAPPED = SWAPPED.sort_values(["author", "metric", "doc_id"])


@pytest.mark.parametrize(
    ("before", "after", "verdict", "why", "lacks"),
    [
        (
            scores(),
            failed(moved(-0.05), 1, high=0.5),
            "regressed",
            "1 answer missing",
            True,
        ),
        (
            scores(),
            failed(moved(-0.05), 8),
            UNKNOWN,
            f"8 answers missing; it {OPEN}regres",
            True,
        ),
        (
            failed(scores(), 3),
            failed(moved(-0.05), 3),
            "regressed",
            "6 answers missing",
            False,
        ),
        (failed(scores(), 3), failed(scores(), 3), "same numbers", "", False),
        (failed(scores(), 26), failed(scores(), 26), UNKNOWN, "", True),
        (
            scores(),
            failed(scores(), 1, **FREE),
            "same numbers",
            "1 answer missing",
            True,
        ),
        (
            scores(),
            failed(moved(-0.05), 1, **FREE),
            UNKNOWN,
            f"{OPEN}anything, since",
            True,
        ),
        (PART, PART, "same numbers", "", False),
        (FEWER, PART, UNKNOWN, f"{OPEN}regressed or improved", True),
        (OTHERS, PART, UNKNOWN, f"{OPEN}regressed or improved", True),
        (failed(scores(), 1), SWAPPED, "same numbers", "", False),
    ],
)
def test_missing_answers_may_leave_a_verdict_open(before, after, verdict, why, lacks):
    result = compared(before, after)
    assert row_of(result)["verdict"] == verdict
    assert why in row_of(result)["why"]
    assert (row_of(result)["lacks_answers"], result.lacking) == (lacks, lacks)


def test_the_ends_of_what_missing_answers_could_be():
    few = row_of(compared(scores(), failed(moved(-0.05), 1, high=0.5)))
    assert few["least"] < few["difference"] < few["most"]
    assert row_of(compared(failed(scores(), 3), failed(moved(-0.05), 3)))["n"] == 23
    free = failed(scores(), 1, **FREE)
    assert row_of(compared(scores(), free))[["least", "most"]].isna().all()
    assert row_of(compared(free, free))["least"] == 0
    for before, ends in ((PART, [0, 0]), (FEWER, [-1, 1]), (OTHERS, [-1.5, 1])):
        assert row_of(compared(before, PART))[["least", "most"]].tolist() == ends


def test_rows_that_could_show_nothing_among_so_many_say_so():
    """Six documents changed, all one way: alone that is shown, beside busier rows it is not."""
    before, after = scores(seed=1), scores(seed=1)
    after.loc[of_lead(after) & (after["doc_id"] < "d006"), BOUNDED] -= 0.3
    assert row_of(compared(before, after))["verdict"] == "regressed"
    busy = ~of_lead(after)
    after.loc[busy, "value"] = scores(seed=2).loc[busy, "value"]
    result = row_of(compared(before, after))
    assert (result["verdict"], result["lacks_answers"]) == (UNKNOWN, False)
    why = "6 of 26 documents changed: too few for 6 rows, even if all changed in one direction"
    assert result["why"] == why


def test_the_documents_behind_a_row_are_those_that_moved_furthest():
    after = scores()
    for document, by in (("d003", -0.3), ("d001", 0.2), ("d007", -0.1)):
        after.loc[after["doc_id"] == document, BOUNDED] += by
    result = differences(side(scores()), side(after), ComparisonOptions(documents=2))
    rows = result.documents[result.documents["metric"] == "words"]
    assert rows[rows["author"] == "lead"]["doc_id"].tolist() == ["d003", "d001"]
    assert rows["difference"].tolist() == pytest.approx([-0.3, 0.2] * 2)


def test_two_systems_are_compared_on_the_same_documents():
    state = side(scores(lead=0.2))
    changes = compare_systems(
        state, "lead", "longest_turn", OPTIONS
    ).differences.changes
    assert set(changes["author"]) == {"longest_turn"}
    worse = changes[changes["metric"] == "rouge1"].iloc[0]
    assert worse["verdict"] == "regressed"
    assert worse["before"] > worse["after"]
    for name, words in (
        ("nobody", "'nobody' has no scores; choose from 'lead', 'longest_turn'"),
        ("lead", "both systems are 'lead'"),
    ):
        with pytest.raises(BadInput, match=words):
            compare_systems(state, "lead", name, OPTIONS)


def test_certificates_with_another_verdict():
    def state(**verdicts: str) -> Any:
        key = {
            "study": "s",
            "criterion": "c",
            "part": "full",
            "judge": "none",
            "level": "global",
        }
        rows = [
            {**key, "metric": name, "verdict": verdict}
            for name, verdict in verdicts.items()
        ]
        certificates = pd.DataFrame(rows).reindex(columns=list(CERTIFICATES.columns))
        return side(scores(), certificates=certificates)

    before = state(rouge1="holds", bleu="weak", old="weak")
    changed = changed_certificates(before, state(rouge1="weak", bleu="weak"))
    assert changed[["metric", "before", "after"]].to_numpy().tolist() == [
        ["old", "weak", ""],
        ["rouge1", "holds", "weak"],
    ]


def clusters(documents: int, size: int) -> dict[str, str]:
    return {f"d{at:03}": f"t{at // size}" for at in range(documents)}


def test_documents_of_a_topic_count_as_one():
    """Two draws of 8 topics of 5 documents: what differs by topic alone is no difference shown."""
    topic = np.repeat(np.arange(8), 5)
    alarms = {True: 0, False: 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        before = scores(40, seed=seed)
        before = before[of_lead(before)]
        noise = rng.normal(size=8)[topic] + 0.1 * rng.normal(size=40)
        after = before.assign(value=before["value"] + noise)
        for known in alarms:
            now = side(after, clusters=clusters(40, 5) if known else {})
            result = differences(side(before, "old"), now, OPTIONS)
            alarms[known] += (
                result.changes["verdict"].isin(["regressed", "improved"]).any()
            )
            assert row_of(result)[["n", "n_changed"]].tolist() == [40, 40]
    assert alarms[True] <= 8 < alarms[False]  # at most 1 of 20, and the noise of 60


def test_topics_whose_documents_cancel_out_or_that_are_few_show_nothing():
    after = scores(30)
    # is no 0 of floats
    after.loc[of_lead(after), "value"] += np.tile([0.1, 0.2, -0.3], 10)
    result = row_of(
        differences(side(scores(30)), side(after, clusters=clusters(30, 3)), OPTIONS)
    )
    assert (result["verdict"], result["n_changed"]) == ("no difference shown", 30)
    after = moved(-0.2, documents=40)
    result = row_of(
        differences(side(scores(40)), side(after, clusters=clusters(40, 10)), OPTIONS)
    )
    assert result["verdict"] == UNKNOWN
    assert result["why"].startswith(
        "4 of 4 clusters of documents changed; at least 6 are needed"
    )
    assert np.isnan(result["low"])
