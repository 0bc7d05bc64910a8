"""Judgments to scores: worked examples, and brute force over what failed ones could have been."""

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.scoring.aggregation.judged import Setup, judged_scores
from metassay.scoring.pairing.measures import DESCRIPTIONS, MEASURES
from metassay.scoring.pairing.questions import Questions
from metassay.tables import parquet
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.tables.scores import SCORES
from metassay.tables.units import UNITS

DOCLENS = ("claim_recall", "claim_precision", "citation_recall", "citation_precision")
GRADES = ("faithfulness", "claim_recall_grade")
SETUP = Setup(
    segmentation="soap",
    decomposition="clauses",
    alignments={"rouge_topk": "rouge_topk,k:5"},
    questions={
        "doclens": Questions(measures=DOCLENS, against="full", borrow=False),
        "others": Questions(measures=GRADES, against="part", borrow=False),
    },
    version="0.1.0",
)
YES, NO = "entailed", "not_entailed"
NOTHING = (None, 0, 0, 0, None, None)
LOST = (None, 1, 0, 1, 0, 1)
Row = Callable[..., tuple[Any, ...]]


def parts(*rows: str, doc_id: str = "d") -> pd.DataFrame:
    """`author part` of a document, with `-` if it failed; whoever has sections has leaves."""
    frame = pd.DataFrame([row.split() for row in rows], columns=["author", "part"])
    failed = frame["part"].str.endswith("-")
    sections = frame["author"].map(frame["author"].value_counts()) > 1
    leaf = np.where(frame["part"].str.startswith("full") & sections, "no", "yes")
    status = np.where(failed, "error", "ok")
    part = frame["part"].str.removesuffix("-")
    return frame.assign(doc_id=doc_id, part=part, leaf=leaf, status=status)


BOTH = parts("reference full", "sys full")
SECTIONS = ("reference full", "reference plan", "reference exam")


class Answered:
    """Questions and their answers, each question its own pair_id."""

    def __init__(self, *asks: tuple[Any, ...]) -> None:
        self.pairs: list[dict[str, Any]] = []
        self.judgments: list[dict[str, Any]] = []
        for ask in asks:
            self.ask(*ask)

    def ask(
        self, measure: str, answer: str | int | None, position: int = 0, citation: int = -1,
        author: str = "sys", part: str = "full", doc_id: str = "d",
    ) -> None:  # fmt: skip
        """answer: a label, a grade, a settlement, a status other than ok, or None for no row."""
        pair_id = f"q{len(self.pairs):03}"
        settled = answer if answer in ("no_evidence", "no_text", "no_claims") else None
        place = dict(
            doc_id=doc_id,
            author=author,
            part=part,
            position=position,
            citation=citation,
        )
        self.pairs.append(
            dict(pair_id=pair_id, measure=measure, **place, settled=settled)
        )
        if answer is None or settled:
            return
        grade = answer if isinstance(answer, int) else None
        label = answer if answer in (YES, NO, "neutral") else None
        status = "ok" if grade is not None or label else answer
        row = dict(pair_id=pair_id, judge="j", status=status, label=label, grade=grade)
        self.judgments.append({**row, "recipe": "fake,1"})

    def units(self) -> pd.DataFrame:
        """The statements that the questions are about, each with its citations."""
        cited: dict[tuple[Any, ...], list[int]] = {}
        for pair in self.pairs:
            if pair["measure"].startswith("citation"):
                place = (pair["doc_id"], pair["author"], pair["part"], pair["position"])
                single = (
                    [pair["citation"]] if pair["measure"] == "citation_alone" else []
                )
                cited.setdefault(place, []).extend(single)
        rows = [
            (author, "statement", citations)
            for (_, author, *_), citations in cited.items()
        ]
        return pd.DataFrame(rows, columns=["author", "kind", "citations"])

    def scores(self, part: pd.DataFrame = BOTH, setup: Setup = SETUP) -> pd.DataFrame:
        columns = ["pair_id", "judge", "status", "label", "grade", "recipe"]
        judgments = pd.DataFrame(self.judgments, columns=columns)
        names = [
            c for c in PAIRS.columns if c not in ("instrument", "premise", "hypothesis")
        ]
        pairs = pd.DataFrame(self.pairs, columns=names)
        return judged_scores(part, self.units(), pairs, judgments, setup)

    def rows(self, part: pd.DataFrame = BOTH) -> Row:
        """value, expected, judged, failed, low, high of a metric; None for null."""
        scores = self.scores(part).set_index(["doc_id", "metric", "author", "part"])

        def row(
            metric: str, author: str = "sys", part: str = "full", doc_id: str = "d"
        ) -> Any:
            names = ["value", "n_expected", "n_judged", "n_failed", "low", "high"]
            values = scores.loc[(doc_id, metric, author, part), names]
            return tuple(
                None if pd.isna(value) else round(float(value), 12) for value in values
            )

        return row


def rows(part: pd.DataFrame, *asks: tuple[Any, ...]) -> Row:
    return Answered(*asks).rows(part)


def each(measure: str, *answers: Any) -> list[tuple[Any, ...]]:
    return [(measure, answer, position) for position, answer in enumerate(answers)]


@pytest.mark.parametrize("measure", ["claim_recall", "claim_precision", "faithfulness"])
def test_share_by_hand(measure: str) -> None:
    # Six questions: 3 yes, 1 no, 1 without evidence (a no), 1 refused. Judged 5, yes 3:
    # 3/5. Were the refused one a no: 3/6; a yes: 4/6.
    answered = Answered(*each(measure, YES, NO, YES, "no_evidence", "refused", YES))
    assert answered.rows()(measure) == (0.6, 6, 5, 1, 0.5, round(4 / 6, 12))
    scores = answered.scores().set_index(["metric", "author"])
    assert scores.loc[(measure, "sys"), "statistics"] == [3.0, 5.0]
    # A pair without judgment failed; if all did, the value is null.
    assert rows(BOTH, *each(measure, YES, None))(measure) == (1, 2, 1, 1, 0.5, 1)
    assert rows(BOTH, *each(measure, "unparsed", "truncated"))(measure) == (
        None,
        2,
        0,
        2,
        0,
        1,
    )


def test_grades_by_hand() -> None:
    # Five claims, graded 3, 2 and 0; one has no evidence, one was refused. Of three
    # times their number, the four have 3 + 2 + 0 + 0 = 5 of 12. Were the refused one 0:
    # 5 of 15; 3: 8 of 15.
    graded = Answered(*each("claim_recall_grade", 3, 2, 0, "no_evidence", "refused"))
    expected = (5 / 12, 5, 4, 1, 5 / 15, 8 / 15)
    assert graded.rows()("claim_recall_grade") == pytest.approx(expected)
    row = graded.scores().set_index("metric").loc["claim_recall_grade"]
    assert row["statistics"] == pytest.approx([5 / 3, 4])


def test_texts_and_sections_that_failed() -> None:
    # Three reference claims cannot be looked for; claims of its own it has none to
    # count.
    judged = ("faithfulness", YES, 0, -1, "reference")  # a judge has been here
    row = rows(
        parts("reference full", "sys full-"),
        *each("claim_recall", *["no_text"] * 3),
        judged,
    )
    assert row("claim_recall") == (None, 3, 0, 3, 0, 1)
    for metric in (
        "claim_precision",
        "citation_recall",
        "citation_precision",
        "faithfulness",
    ):
        assert row(metric) == LOST
    assert row("faithfulness", "reference") == (1, 1, 1, 0, 1, 1)
    # A failed text has a row for every section of the reference.
    lost = [("claim_recall", "no_text", n, -1, "sys", "plan") for n in range(2)]
    row = rows(parts(*SECTIONS, "sys full-"), *lost, (*judged, "plan"))
    assert (
        row("claim_recall", part="plan") == row("claim_recall") == (None, 2, 0, 2, 0, 1)
    )
    assert row("claim_recall", part="exam") == NOTHING
    assert {row("claim_precision", part=name) for name in ("plan", "exam", "full")} == {
        LOST
    }
    # A section that failed by itself counts in the whole.
    part = parts("reference full", "sys full", "sys plan-", "sys exam")
    row = rows(part, ("claim_precision", YES, 0, -1, "sys", "exam"))
    assert row("claim_precision", part="plan") == LOST
    assert row("claim_precision") == (1, 2, 1, 1, 0.5, 1)


def test_references_that_failed_or_are_not_there() -> None:
    row = rows(
        parts("reference full-", "sys full"),
        ("claim_precision", "no_text"),
        ("faithfulness", NO),
    )
    assert row("claim_recall") == row("claim_precision") == LOST
    assert row("faithfulness") == (0, 1, 1, 0, 0, 0)
    # Without one, claims have no score even if the text failed.
    row = rows(parts("sys full", "lost full-"), ("faithfulness", YES))
    for author in ("sys", "lost"):
        assert row("claim_recall", author) == row("claim_precision", author) == NOTHING
    assert row("faithfulness", "lost") == LOST
    # a text without claims
    assert rows(BOTH, ("claim_recall", NO))("claim_precision") == NOTHING


def test_full_pools_the_leaf_parts_and_parts_come_from_both_texts() -> None:
    # plan 1 of 1, exam 1 of 3: pooled 2 of 4, where the mean of the two would be 2/3.
    answered = Answered(("claim_recall", YES, 0, -1, "sys", "plan"))
    for i, answer in enumerate([YES, NO, NO]):
        answered.ask("claim_recall", answer, i, part="exam")
    part = parts(*SECTIONS, "sys full", "sys plan", "sys results")
    row = answered.rows(part)
    assert row("claim_recall", part="plan") == (1, 1, 1, 0, 1, 1)
    assert row("claim_recall", part="exam")[0] == pytest.approx(1 / 3)
    assert row("claim_recall", part="results") == NOTHING
    assert row("claim_recall") == (0.5, 4, 4, 0, 0.5, 0.5)
    reference = answered.scores(part).query("author == 'reference'")
    assert set(reference["part"]) == {"full", "plan", "exam"}
    assert set(reference["metric"]) == {
        "citation_recall",
        "citation_precision",
        "faithfulness",
    }


THIRDS = round(2 / 3, 12)
UNKNOWN, USED, NOT = LOST, (1, 1, 1, 0, 1, 1), (0, 1, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("together", "single", "expected"),
    [
        # All three entail the statement. The first does so alone: of use. The second
        # does not, but the others fail without it: of use. The third does not, and the
        # others do without: not.
        (YES, [(YES, YES), (NO, NO), (NO, YES)], (THIRDS, 3, 3, 0, THIRDS, THIRDS)),
        (NO, [(YES, NO), (NO, NO), (NO, YES)], (0, 3, 3, 0, 0, 0)),
        # A single one is of use if it entails; one of no passage is wrong and spares
        # the other.
        (YES, [(YES, "-")], USED),
        (NO, [(NO, "-")], NOT),
        (YES, [(YES, "-"), ("no_evidence", "-")], (0.5, 2, 2, 0, 0.5, 0.5)),
        # Failed judgments matter only where the outcome depends on them.
        ("error", [(YES, YES)], UNKNOWN),
        ("error", [(NO, YES)], NOT),  # (ii) fails: of no use whatever all together say
        (NO, [("error", "error")], NOT),  # (i) fails
        (YES, [("error", NO)], USED),  # (ii) holds without it
        (YES, [("error", YES)], UNKNOWN),
        (YES, [(YES, "error")], USED),
        (YES, [(NO, "error")], UNKNOWN),
        (None, [(None, None)], UNKNOWN),
    ],
)
def test_citation_precision_of_a_statement(
    together: Any, single: Any, expected: Any
) -> None:
    """`single`: (alone, rest) of each citation; "-" asks no rest."""
    answered = Answered(("citation_recall", together), ("faithfulness", YES))
    for citation, (alone, rest) in enumerate(single):
        answered.ask("citation_alone", alone, 0, citation)
        if rest != "-":
            answered.ask("citation_rest", rest, 0, citation)
    assert answered.rows()("citation_precision") == expected


def test_an_author_who_cites_nowhere_has_no_citation_scores() -> None:
    row = rows(
        pd.concat(
            [
                parts("silent full", "citing full"),
                parts("silent full-", "citing full", doc_id="e"),
            ]
        ),
        *(
            ("citation_recall", "no_evidence", 0, -1, author)
            for author in ("silent", "citing")
        ),
        ("citation_recall", YES, 0, -1, "citing", "full", "e"),
        ("citation_alone", YES, 0, 0, "citing", "full", "e"),
    )
    for metric in ("citation_recall", "citation_precision"):
        assert row(metric, "silent") == row(metric, "silent", doc_id="e") == NOTHING
    # It cites elsewhere, so its statement without citations is unsupported; precision
    # has nothing.
    assert row("citation_recall", "citing") == NOT
    assert row("citation_precision", "citing") == NOTHING
    assert row("citation_recall", "citing", doc_id="e") == USED


def test_who_cites_is_known_where_nobody_asks_about_single_citations() -> None:
    # `wrong` cites a passage that is not there: it cites, and nothing supports what it
    # says.
    authors = {"wrong": [99], "silent": [], "right": [0]}
    answered = Answered()
    for author in authors:
        answered.ask(
            "citation_recall",
            YES if author == "right" else "no_evidence",
            author=author,
        )
    units = [(author, "statement", citations) for author, citations in authors.items()]
    only = Questions(measures=("citation_recall",), against="full", borrow=False)
    scores = judged_scores(
        parts(*(f"{author} full" for author in authors)),
        pd.DataFrame(units, columns=["author", "kind", "citations"]),
        pd.DataFrame(answered.pairs),
        pd.DataFrame(answered.judgments),
        dataclasses.replace(SETUP, questions={"only": only}),
    )
    assert scores["metric"].unique().tolist() == ["citation_recall"]
    values = scores.set_index("author")
    assert values["value"].dropna().to_dict() == {"wrong": 0, "right": 1}
    assert values["n_expected"].to_dict() == {"wrong": 1, "silent": 0, "right": 1}


def test_recipes_and_judges_are_apart(tmp_path: Path) -> None:
    answered = Answered(("claim_recall", YES))
    more = {**answered.judgments[0], "judge": "k", "label": NO, "recipe": "fake,2"}
    answered.judgments.append(more)
    scores = answered.scores()
    values = scores[scores["metric"] == "claim_recall"].set_index("judge")["value"]
    assert values.to_dict() == {"j": 1.0, "k": 0.0}
    # The settings that change the metric, and no others.
    recipes = scores.groupby("metric")["recipe"].first()
    cut = "judge:fake,1|segmentation:soap|decomposition:clauses"
    assert recipes["claim_recall"] == f"claim_recall|{cut}|against:full|metassay:0.1.0"
    assert "|against:part|" in recipes["claim_recall_grade"]  # the setting of its block
    assert "borrow:no" in recipes["citation_precision"]
    assert "alignment:rouge_topk,k:5" in recipes["faithfulness"]
    assert "against" not in recipes["faithfulness"]
    nothing = (empty(table) for table in (UNITS, PAIRS, JUDGMENTS))
    parquet.write(
        SCORES, judged_scores(BOTH, *nothing, SETUP), tmp_path / "scores.parquet"
    )


@pytest.mark.parametrize(
    ("asks", "problem"),
    [
        *(
            (
                [("claim_recall_grade", grade)],
                "1 answer.* to claim_recall_grade that are not a gr",
            )
            for grade in (-1, 4)
        ),
        (
            [("claim_recall", "neutral")],
            "claim_recall that are not a label, one of entailed, not_",
        ),
        (
            [("claim_recall", YES, 0, -1, "sys", "plan")],
            "'sys', part='plan' is not in parts",
        ),
        ([("citation_alone", YES, 0, 1)], "citation_alone without its citation_recall"),
    ],
)
def test_answers_that_are_bad_input(asks: list[Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        Answered(*asks).scores()


def test_blocks_and_recipes_that_are_bad_input() -> None:
    answered = Answered(*each("faithfulness", YES, YES))
    twice = SETUP.questions["others"]
    setup = dataclasses.replace(SETUP, questions={"first": twice, "second": twice})
    with pytest.raises(BadInput, match="first and second ask the same"):
        answered.scores(setup=setup)
    answered.judgments[1]["recipe"] = "fake,2"
    with pytest.raises(BadInput, match="judge 'j' has 2 recipes"):
        answered.scores()


def test_descriptions() -> None:
    assert [
        name for name, described in DESCRIPTIONS.items() if described.name != name
    ] == []
    assert list(DESCRIPTIONS) == list(MEASURES)
    assert {described.better for described in DESCRIPTIONS.values()} <= {
        "higher",
        "lower",
    }
    assert {described.range for described in DESCRIPTIONS.values()} == {(0.0, 1.0)}


ANSWERS = st.sampled_from([YES, NO, "error", None])
SHARES = ("claim_recall", "claim_precision", "faithfulness", "citation_recall")


@st.composite
def benchmarks(draw: st.DrawFn) -> tuple[pd.DataFrame, Answered]:
    """Two systems with sections and statements with 0 to 3 citations, and answers to all of it."""
    answered, part = Answered(), []
    for author in ("first", "second"):
        sections = draw(st.lists(st.sampled_from(["plan", "exam"]), unique=True))
        part += [f"{author} {name}" for name in ("full", *sections)]
        for name, position in itertools.product(
            sections or ["full"], range(draw(st.integers(0, 2)))
        ):
            here = {"position": position, "author": author, "part": name}
            for measure in ("claim_recall", "claim_precision", "faithfulness"):
                settled = st.sampled_from(["no_evidence", "no_text", "no_claims"])
                answered.ask(measure, draw(ANSWERS | settled), **here)
            wrong = draw(st.lists(st.booleans(), max_size=3))
            readable = wrong.count(False)
            answered.ask(
                "citation_recall", draw(ANSWERS) if readable else "no_evidence", **here
            )
            for citation, unread in enumerate(wrong):
                answer = "no_evidence" if unread else draw(ANSWERS)
                answered.ask("citation_alone", answer, citation=citation, **here)
                if not unread and readable > 1:
                    answered.ask(
                        "citation_rest", draw(ANSWERS), citation=citation, **here
                    )
    more = dict(
        pair_id="x", judge="j", status="ok", label=YES, grade=None, recipe="fake,1"
    )
    answered.judgments.append(more)
    return parts("reference full", *part), answered


def known(answered: Answered) -> dict[tuple[str, ...], bool | None]:
    """Each question's answer, None where it failed; by measure and place."""
    labels = {
        j["pair_id"]: j["label"] == YES
        for j in answered.judgments
        if j["status"] == "ok"
    }
    key = ("measure", "author", "part", "position", "citation")
    return {
        tuple(p[k] for k in key): (
            False if p["settled"] == "no_evidence" else labels.get(p["pair_id"])
        )
        for p in answered.pairs
    }


def of_use(answers: dict[Any, bool | None], place: tuple[Any, ...]) -> set[bool]:
    """What a citation can turn out to be, over all that the failed answers could have been.

    Where the others are not asked about, it has to entail alone.
    """
    author, part, position, _ = place
    together = answers["citation_recall", author, part, position, -1]
    alone = answers["citation_alone", *place]
    rest = answers.get(("citation_rest", *place), True)
    cases = itertools.product(
        *({True, False} if x is None else {x} for x in (together, alone, rest))
    )
    return {t and (a or not r) for t, a, r in cases}


@settings(max_examples=30, deadline=None)
@given(benchmarks(), st.randoms(use_true_random=False))
def test_equals_brute_force_in_any_order(
    benchmark: tuple[pd.DataFrame, Answered], random: Any
) -> None:
    part, answered = benchmark
    answers = known(answered)
    scores = answered.scores(part)
    assert (scores["n_expected"] == scores["n_judged"] + scores["n_failed"]).all()
    cites = {p["author"] for p in answered.pairs if p["measure"] == "citation_alone"}
    states = {p["author"] for p in answered.pairs if p["measure"] == "citation_recall"}
    for score in scores.to_dict("records"):
        outcomes = []
        for (measure, *place), answer in answers.items():
            if place[0] != score["author"] or score["part"] not in ("full", place[1]):
                continue
            if measure == score["metric"] and measure in SHARES:
                outcomes.append({True, False} if answer is None else {answer})
            elif (
                measure == "citation_alone" and score["metric"] == "citation_precision"
            ):
                outcomes.append(of_use(answers, tuple(place)))
        if score["metric"].startswith("citation") and score["author"] in states - cites:
            outcomes = []
        judged = [outcome for outcome in outcomes if len(outcome) == 1]
        n, yes = len(outcomes), judged.count({True})
        assert (score["n_expected"], score["n_judged"]) == (n, len(judged))
        assert score["statistics"] == [yes, len(judged)]
        share = yes / len(judged) if judged else None
        ends = (yes / n, (yes + n - len(judged)) / n) if n else (None, None)
        values = (
            None if pd.isna(score[c]) else score[c] for c in ("value", "low", "high")
        )
        assert tuple(values) == pytest.approx((share, *ends))
    random.shuffle(answered.pairs)
    random.shuffle(answered.judgments)
    order = random.sample(range(len(part)), len(part))
    pd.testing.assert_frame_equal(scores, answered.scores(part.iloc[order]))
