"""Draw the texts whose labels tell whether a judge's card holds for a benchmark's texts.

As many texts that the judge passes as that it fails are drawn by lot, as many as the
answer needs. Labels come back beside the verdicts on all texts, so that `metassay check
--card` weighs each verdict's labels by the rows that they stand for.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.format.frames import rows
from metassay.format.numbers import counted, short
from metassay.statistics.card_transfer import labels_by_verdict
from metassay.statistics.shares import THRESHOLD, Estimate
from metassay.studies.export import lot
from metassay.studies.next_items import (
    Decision,
    Frame,
    drafts_by_text,
    find_scores,
    mean_ratings,
    passed_texts,
    rated_texts,
)
from metassay.studies.record import Draft, ReadTable, StudyDraft
from metassay.tables.leaderboard import LEADERBOARD

LABELS_FILE = "labels.csv"  # verdicts on all texts, and labels of those that were drawn
_WORDS = {1.0: "pass", 0.0: "fail"}


def card_items(
    content: StudyDraft,
    words: str,
    card: Mapping[str, Estimate],
    margin: float,
    read: ReadTable,
    seed: int,
) -> tuple[list[Draft], Frame, tuple[str, ...]]:
    """Draw the texts to label, none of which anybody has rated by the criterion yet.

    `card` has sensitivity and specificity. Returns drafts, the frame of all texts, and
    what to say of the number. Raises BadInput as `next_items` does.
    """
    decision = Decision.parse(words)
    by_text = drafts_by_text(content, decision, words)
    metric, scores = find_scores(read, decision.metric)
    rated = rated_texts(read, decision)
    texts = sorted(text for text in scores if text in by_text and text not in rated)
    if not texts:
        raise BadInput(
            f"--for {words!r}: every text with a score is rated; name another metric"
        )
    x = np.array([scores[text] for text in texts], dtype=np.float64)
    if x.min() < 0 or x.max() > 1:
        raise BadInput(
            f"--for {words!r}: scores of {decision.metric} are not within 0 to 1"
        )
    if (metric, "lower") in rows(read(LEADERBOARD), "metric", "better"):
        x = 1 - x  # of passing
    verdict = (x >= THRESHOLD).astype(np.float64)
    n = labels_by_verdict(verdict, card, margin=margin)
    chance = np.zeros(len(texts))
    drawn: list[int] = []
    for side in (1.0, 0.0):
        of_side = np.flatnonzero(verdict == side)
        order = sorted(of_side.tolist(), key=lambda i: lot(seed, "card", *texts[i]))
        drawn += order[:n]
        chance[of_side] = min(1.0, n / max(1, len(of_side)))
    values = zip(texts, x.tolist(), chance.tolist(), strict=True)
    frame = Frame(words, tuple((*text, score, p) for text, score, p in values))
    note = _say_number(verdict, n, decision.metric, margin)
    return [by_text[texts[i]] for i in sorted(drawn)], frame, (note,)


def _say_number(verdict: Any, n: int, metric: str, margin: float) -> str:
    passes, fails = (int((verdict == side).sum()) for side in (1.0, 0.0))
    of_passes, of_fails = min(n, passes), min(n, fails)
    note = (
        f"label {counted(of_passes + of_fails, 'text')}: {of_passes:,} of {passes:,} that"
        f" {metric} passes and {of_fails:,} of {fails:,} that it fails"
    )
    holds = f"that the card holds within {short(margin)}"
    if n >= max(passes, fails):
        return f"{note}; these are all, and may be too few to show {holds}"
    return f"{note}; if nothing changed, they show in four of five samples {holds}"


def label_rows(
    frame: Frame, ratings: Iterable[Any], criterion: Criterion, judge: str
) -> pd.DataFrame:
    """Return the table for `metassay check`: the verdict on each text, and its label or none.

    The column of verdicts is called `judge`, as the card calls it.
    """
    means = mean_ratings(ratings)
    texts = pd.DataFrame(frame.texts, columns=["doc_id", "system", "score", "chance"])
    values = np.array(
        [means.get((doc, system), np.nan) for doc, system, *_ in frame.texts]
    )
    labels = passed_texts(values, criterion)
    return pd.DataFrame(
        {
            "id": texts["doc_id"] + " " + texts["system"],
            "doc_id": texts["doc_id"],
            "system": texts["system"],
            judge: [_WORDS[float(score >= THRESHOLD)] for score in texts["score"]],
            "human": [_WORDS.get(float(label), "") for label in labels],
        }
    )
