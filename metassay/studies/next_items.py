"""Which texts raters get next, so that a decision's interval gets narrow; and what came of it.

The decision is `certificate METRIC CRITERION LEVEL` or `judge-card METRIC CRITERION [NUMBER]`. The
key keeps the chance of every text that might have been drawn, and import weights by it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.statistics.next_labels import (
    Level,
    WeightedCard,
    card_worth,
    chances,
    correlation_worth,
    drawn_by,
    strata,
    weighted_card,
    weighted_correlation,
)
from metassay.statistics.shares import Estimate
from metassay.studies.drawing import lot
from metassay.studies.record import Draft, Made, Reads
from metassay.tables.names import FULL, metric_label
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES

Text = tuple[str, str]  # document and author
_FORMS = (
    "'certificate METRIC CRITERION LEVEL', of global and system, or 'judge-card METRIC CRITERION',"
    f" perhaps with one of {', '.join(WeightedCard._fields)}"
)


class Decision(NamedTuple):
    """What the labels are for; `number` is a level, or a number of the card ("": all three)."""

    kind: str
    metric: str
    criterion: str
    number: str

    @classmethod
    def of(cls, words: str) -> "Decision":
        """Read `--for`; a metric may be followed by its judge in brackets. Raises BadInput."""
        kind, _, rest = words.strip().partition(" ")
        named = rest.replace(" (", "\x1f(").split()
        numbers = get_args(Level) if kind == "certificate" else (*WeightedCard._fields, "")
        found = (*named, "")[:3]
        fits = len(named) in ((3,) if kind == "certificate" else (2, 3))
        if kind not in ("certificate", "judge-card") or not fits or found[2] not in numbers:
            why = " (a document's correlation rests on all its texts: --items takes them whole)"
            of_documents = why if rest.endswith(" document") else ""
            raise BadInput(f"--for {words!r}: write {_FORMS}{of_documents}")
        return cls(kind, found[0].replace("\x1f", " "), found[1], found[2])


class Frame(NamedTuple):
    """Every text that might have been drawn, with its score and its chance; kept in the key."""

    decision: str
    texts: tuple[tuple[str, str, float, float], ...]  # document, author, score, chance


def next_items(
    made: Made, words: str, n: int, reads: Reads, seed: int
) -> tuple[list[Draft], Frame, tuple[str, ...]]:
    """The drafts of `n` texts that nobody has rated by the criterion yet, by unequal chances.

    Raises BadInput where the decision is none of the form's, or the metric has no score.
    """
    decision = Decision.of(words)
    if decision.criterion not in made.criteria:
        known = ", ".join(made.criteria)
        raise BadInput(f"--for {words!r}: the form asks for {known}; name one of these")
    by_text: dict[Text, Draft] = {}
    for draft in made.drafts:
        if len(draft.systems) != 1:
            raise BadInput("--next: draws texts, and an item of this form shows two; give --items")
        target = draft.rows[0].asked[0].of
        by_text[target.doc_id, target.author] = draft
    scores = _scores(reads(SCORES), decision)
    rated = _means(_earlier(reads, decision.criterion))
    texts = sorted(text for text in scores if text in by_text or text in rated)
    free = [text for text in texts if text in by_text and text not in rated]
    if not free:
        raise BadInput(
            f"--for {words!r}: no text with a score is left to rate; give another metric"
        )
    x = np.array([scores[text] for text in texts])
    y = np.array([rated.get(text, np.nan) for text in texts])
    if decision.kind == "judge-card":
        if not ((x >= 0) & (x <= 1)).all():
            raise BadInput(f"--for {words!r}: scores of {decision.metric} are not within 0 to 1")
        worth, of_text = card_worth(x, _passed(y, made.criteria[decision.criterion])), strata(x)
    else:
        systems = [author for _, author in texts]
        level: Any = decision.number
        worth = correlation_worth(x, y, systems, level)
        _, of_text = np.unique(systems, return_inverse=True)
    place = np.array([texts.index(text) for text in free])
    chance = chances(worth[place], n)
    lots = [lot(seed, "next", *text) for text in free]
    order = np.array(sorted(range(len(free)), key=lambda i: (of_text[place[i]], lots[i])))
    start = lot(seed, "next", "start") / 2**256
    drafts = [by_text[free[i]] for i in sorted(drawn_by(chance, order, start).tolist())]
    rows = zip(free, x[place].tolist(), chance.tolist(), strict=True)
    frame = Frame(words, tuple((*text, score, one) for text, score, one in rows))
    without = sum(text not in scores for text in by_text)
    notes = (f"{without} texts without a score of {decision.metric}: never drawn",) * bool(without)
    return drafts, frame, notes


def weighted_lines(
    frame: Frame,
    ratings: Iterable[tuple[str, str, float]],
    criterion: Criterion,
    *,
    confidence: float = 0.95,
) -> list[str]:
    """The decision's numbers over all texts of the frame, from ratings of those that were drawn."""
    decision, rated = Decision.of(frame.decision), _means(ratings)
    documents, authors = ([one[i] for one in frame.texts] for i in (0, 1))
    x, chance = (np.array([one[i] for one in frame.texts], dtype=np.float64) for i in (2, 3))
    pairs = zip(documents, authors, strict=True)
    y = np.array([rated.get((str(a), str(b)), np.nan) for a, b in pairs])
    if decision.kind == "judge-card":
        rng = np.random.default_rng(0)
        passed = _passed(y, criterion)
        card = weighted_card(x, passed, chance, confidence=confidence, rng=rng, cluster=documents)
        return [_line(name.replace("_", " "), one) for name, one in card._asdict().items()]
    level: Any = decision.number
    found = weighted_correlation(
        x, y, chance, system=authors, document=documents, level=level, confidence=confidence
    )
    return [_line(f"correlation of {decision.metric} and {decision.criterion}, {level}", found)]


def _line(name: str, found: Estimate) -> str:
    if np.isnan(found.value):
        return f"{name}: cannot be told from {found.n} rated texts"
    return (
        f"{name}: {found.value:.3f} [{found.low:.3f}, {found.high:.3f}], from {found.n} rated texts"
        " weighted by 1 / chance"
    )


def _scores(table: pd.DataFrame, decision: Decision) -> dict[Text, float]:
    whole = table[(table["part"] == FULL) & table["value"].notna()]
    labels = [
        metric_label(str(metric), str(judge))
        for metric, judge in zip(whole["metric"], whole["judge"], strict=True)
    ]
    named = pd.Series(labels, whole.index, dtype="str")
    mine = named == decision.metric
    if not mine.any():
        mine = whole["metric"].astype(str) == decision.metric
    every = sorted({*named[mine]})
    if len(every) != 1:
        what = f"is of several judges: {', '.join(every)}" if every else "has no score"
        raise BadInput(f"--for: {decision.metric} {what}; name a metric as `metassay show` has it")
    found = whole[mine]
    keys = zip(found["doc_id"].astype(str), found["author"].astype(str), strict=True)
    return dict(zip(keys, found["value"].astype(float), strict=True))


def _earlier(reads: Reads, criterion: str) -> Sequence[tuple[str, str, float]]:
    try:
        table = reads(RATINGS)
    except BadInput:
        return []
    mine = table[
        (table["criterion"] == criterion)
        & (table["unit"] == "text")
        & (table["part"] == FULL)
        & table["value"].notna()
    ]
    columns = (mine["doc_id"].astype(str), mine["author"].astype(str), mine["value"].astype(float))
    return list(zip(*columns, strict=True))


def _means(ratings: Iterable[tuple[str, str, float]]) -> Mapping[Text, float]:
    found: dict[Text, list[float]] = defaultdict(list)
    for document, author, value in ratings:
        found[document, author].append(value)
    return {text: float(np.mean(values)) for text, values in found.items()}


def _passed(means: Any, criterion: Criterion) -> Any:
    """1 where a text's mean rating is on the better side of the scale's middle; a tie is none."""
    middle = (criterion.low + criterion.high) / 2
    better = means > middle if criterion.better == "higher" else means < middle
    return np.where(np.isnan(means) | (means == middle), np.nan, better)
