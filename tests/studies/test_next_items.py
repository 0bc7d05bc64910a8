"""Texts that are drawn for a decision: the decision's words, who may be drawn, what comes of it."""

from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.studies.forms import FORMS
from metassay.studies.next_items import Decision, Frame, next_items, weighted_lines
from metassay.studies.record import Options
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import round_trip
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.studies import invented_tables

ROOT = Path(__file__).parents[2]
SCALE = Criterion(low=0, high=4, better="higher", scale="ordinal")


def reads(**changes):
    """The invented tables with a judge's probabilities, of two judges one metric."""
    scores = invented_tables.ranked()["scores"]
    rows = [
        scores[scores["metric"] == "long"].assign(
            metric=name, judge=judge, value=lambda t, by=by: t["value"].map(by)
        )
        for name, judge, by in (
            ("sure", "mini", {1.0: 0.02, 2.0: 0.6, 3.0: 0.97}),
            ("sure", "maxi", {1.0: 0.0, 2.0: 1.0, 3.0: 1.0}),
        )
    ]
    table = round_trip(SCORES, pd.concat([scores, *rows], ignore_index=True))
    return invented_tables.tables(scores=table, **changes)


def rated(*texts):
    rows = pd.DataFrame(texts, columns=["doc_id", "author", "value"])
    rows = rows.assign(
        study="s", part="full", unit="text", rater="r", criterion="vanilla_rating"
    )
    return round_trip(RATINGS, rows)


def make(read):
    return FORMS["rubric"].make(read, Options(1, rubric="vanilla", root=ROOT))


def test_words_of_a_decision():
    decision = Decision.parse("certificate claim_recall (lexical) completeness system")
    assert decision == (
        "certificate",
        "claim_recall (lexical)",
        "completeness",
        "system",
    )
    assert Decision.parse("judge-card sure good") == ("judge-card", "sure", "good", "")
    assert Decision.parse("judge-card sure good pass_rate").number == "pass_rate"
    for wrong in ("", "certificate a b", "certificate a b c", "judge-card a", "card a",
                  "judge-card a b system", "certificate a b global more"):  # fmt: skip
        with pytest.raises(
            BadInput, match="write 'certificate METRIC CRITERION LEVEL'"
        ):
            Decision.parse(wrong)


def test_texts_of_which_a_judge_is_unsure_have_larger_chances():
    read = reads(ratings=rated(("d1", "alpha", 4.0)))
    words = "judge-card sure (mini) vanilla_rating pass_rate"
    drafts, frame, notes = next_items(make(read), words, 3, read, 1)
    assert len(drafts) == 3
    assert not notes
    assert ("d1", "alpha") not in {text[:2] for text in frame.texts}  # rated before
    by_score = {score: chance for _, _, score, chance in frame.texts}
    assert by_score[0.6] > by_score[0.02]
    assert by_score[0.6] > by_score[0.97]
    again, _, _ = next_items(make(read), words, 3, read, 1)
    assert [draft.identity for draft in again] == [draft.identity for draft in drafts]
    # A judge of errors passes what it gives little.
    board = read(LEADERBOARD)
    errors = pd.concat([board, board.head(1).assign(metric="sure", better="lower")])
    turned = reads(ratings=rated(("d1", "alpha", 4.0)), leaderboard=errors)
    _, other, _ = next_items(make(turned), words, 3, turned, 1)
    assert {text[:2]: text[2] for text in other.texts} == {
        text[:2]: 1 - text[2] for text in frame.texts
    }
    with pytest.raises(
        BadInput, match=r"sure is of several judges: sure \(maxi\), sure \(mini\)"
    ):
        next_items(make(read), "judge-card sure vanilla_rating", 3, read, 1)


def test_ratings_are_weighted_by_their_chances():
    texts = [("d1", "a", 1.0, 0.5), ("d2", "a", 1.0, 0.5), ("d3", "a", 0.0, 1.0),
             ("d4", "a", 0.0, 1.0)]  # fmt: skip
    frame = Frame("judge-card sure good", tuple(texts))
    ratings = [("d1", "a", 4.0), ("d1", "a", 3.0), ("d3", "a", 1.0), ("d4", "a", 3.0)]
    lines = weighted_lines(frame, ratings, SCALE)
    # Of two texts that the judge passes one is rated, and passes; of two that it fails
    # one does.
    assert lines[0].startswith("sensitivity: 0.667 [")
    assert lines[1].startswith("specificity: 1.000 [")
    assert lines[2].startswith("pass rate: 0.750 [")
    assert lines[2].endswith("from 3 rated texts weighted by 1 / chance")
    nothing = weighted_lines(frame, [], SCALE)
    assert nothing[0] == "sensitivity: cannot be told from 0 rated texts"
    certificate = Frame("certificate sure good global", tuple(texts))
    (line,) = weighted_lines(certificate, ratings, SCALE)
    assert line.startswith("correlation of sure and good, global: ")
