"""Draw the texts that raters get next, so that a decision's interval narrows; and estimate it.

The decision is `certificate METRIC CRITERION LEVEL` or `judge-card METRIC CRITERION
[NUMBER]`; `card METRIC CRITERION` is for `card_items`. The key has the chance of every
text that might have been drawn, and import weights by it.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.format.frames import rows
from metassay.statistics import next_labels
from metassay.studies.export import lot
from metassay.studies.record import Draft, ReadTable, StudyDraft
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL, metric_label
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES

Text = tuple[str, str]  # document, author
Rating = tuple[str, str, float]  # the same, and a value
_VALUE = ("doc_id", "author", "value")
_NUMBERS, _LEVELS = next_labels.WeightedCard._fields, get_args(next_labels.Level)
_WORDS = re.compile(
    r"(certificate|judge-card|card) (\S+(?: \([^)]*\))?) (\S+)(?: (\S+))?"
)
_FORMS = (
    "'certificate METRIC CRITERION LEVEL', of global and system, or 'judge-card METRIC CRITERION',"
    f" perhaps with one of {', '.join(_NUMBERS)}, or 'card METRIC CRITERION'"
)


_ENDS = {"certificate": _LEVELS, "judge-card": (*_NUMBERS, ""), "card": ("",)}


class Decision(NamedTuple):
    """The purpose of labels; `number` is a level, or a number of the card ("": all three)."""

    kind: str
    metric: str
    criterion: str
    number: str

    @classmethod
    def parse(cls, words: str) -> "Decision":
        """Parse `--for`; the metric's judge may follow it in brackets. Raises BadInput."""
        match = _WORDS.fullmatch(" ".join(words.split()))
        kind, *_, number = parts = match.groups("") if match else ("", "", "", "")
        if number not in _ENDS.get(kind, ()):
            whole = " (a document's correlation needs all its texts: --items takes them whole)"
            why = whole if number == "document" else ""
            raise BadInput(f"--for {words!r}: write {_FORMS}{why}")
        return cls(*parts)


class Frame(NamedTuple):
    """Every text that might have been drawn, with its score and its chance; part of the key."""

    decision: str
    texts: tuple[tuple[str, str, float, float], ...]  # document, author, score, chance


def next_items(
    content: StudyDraft, words: str, n: int, read: ReadTable, seed: int
) -> tuple[list[Draft], Frame, tuple[str, ...]]:
    """Draw `n` texts, by unequal chances, that nobody has rated by the criterion yet.

    Returns their drafts, the frame, and notes. Raises BadInput if the form does not ask
    for the decision's criterion, or the metric has no score.
    """
    decision = Decision.parse(words)
    by_text = drafts_by_text(content, decision, words)
    metric, scores = find_scores(read, decision.metric)
    rated = rated_texts(read, decision)
    texts = sorted(text for text in scores if text in by_text or text in rated)
    free = np.array(
        [text in by_text and text not in rated for text in texts], dtype=np.bool_
    )
    if not free.any():
        raise BadInput(
            f"--for {words!r}: every text with a score is rated; name another metric"
        )
    x, y = (
        np.array([values.get(t, np.nan) for t in texts]) for values in (scores, rated)
    )
    if decision.kind == "judge-card":
        if x.min() < 0 or x.max() > 1:
            raise BadInput(
                f"--for {words!r}: scores of {decision.metric} are not within 0 to 1"
            )
        if (metric, "lower") in rows(read(LEADERBOARD), "metric", "better"):
            x = 1 - x  # of passing
        passed = passed_texts(y, content.criteria[decision.criterion])
        worth, group = (
            next_labels.card_worth(x, passed, decision.number),
            next_labels.strata(x),
        )
    else:
        _, group = np.unique([author for _, author in texts], return_inverse=True)
        level: Any = decision.number
        worth = next_labels.correlation_worth(x, y, group, level)
    chance = next_labels.chances(worth[free], n)
    unrated = [text for text, is_free in zip(texts, free, strict=True) if is_free]
    keys = [
        (g, lot(seed, "next", *text))
        for g, text in zip(group[free], unrated, strict=True)
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    start = lot(seed, "next", "start") / 2**256
    sample = next_labels.draw_texts(chance, np.array(order), start)
    values = zip(unrated, x[free].tolist(), chance.tolist(), strict=True)
    frame = Frame(words, tuple((*text, score, p) for text, score, p in values))
    n_without = sum(text not in scores for text in by_text)
    note = f"{n_without} texts without a score of {decision.metric}: never drawn"
    return (
        [by_text[unrated[i]] for i in sorted(sample.tolist())],
        frame,
        (note,) * bool(n_without),
    )


def weighted_lines(
    frame: Frame, ratings: Iterable[Rating], criterion: Criterion
) -> list[str]:
    """Estimate the decision's numbers over all texts of the frame from ratings of drawn texts."""
    decision, rated = Decision.parse(frame.decision), mean_ratings(ratings)
    documents, authors, scores, chances = zip(*frame.texts, strict=True)
    x, chance = np.array(scores, dtype=np.float64), np.array(chances, dtype=np.float64)
    y = np.array(
        [rated.get(text, np.nan) for text in zip(documents, authors, strict=True)]
    )
    options: dict[str, Any] = {"confidence": 0.95}
    if decision.kind == "judge-card":
        options |= {"rng": np.random.default_rng(0), "cluster": documents}
        card = next_labels.weighted_card(
            x, passed_texts(y, criterion), chance, **options
        )
        estimates = {
            name.replace("_", " "): number for name, number in card._asdict().items()
        }
    else:
        options |= {"system": authors, "document": documents, "level": decision.number}
        name = f"correlation of {decision.metric} and {decision.criterion}, {decision.number}"
        estimates = {name: next_labels.weighted_correlation(x, y, chance, **options)}
    return [
        f"{name}: {e.value:.3f} [{e.low:.3f}, {e.high:.3f}], from {e.n} rated texts weighted by"
        " 1 / chance"
        if np.isfinite(e.value)
        else f"{name}: cannot be told from {e.n} rated texts"
        for name, e in estimates.items()
    ]


def drafts_by_text(
    content: StudyDraft, decision: Decision, words: str
) -> dict[Text, Draft]:
    """Return a form's drafts by text; raises BadInput if it asks for something else."""
    if decision.criterion not in content.criteria:
        names = ", ".join(content.criteria)
        raise BadInput(f"--for {words!r}: the form asks for {names}; name one of these")
    if any(len(draft.systems) != 1 for draft in content.drafts):
        raise BadInput(
            "--next: draws texts, and an item of this form shows two; give --items"
        )
    return {draft.rows[0].questions[0].target[:2]: draft for draft in content.drafts}


def find_scores(read: ReadTable, metric: str) -> tuple[str, dict[Text, float]]:
    """Return the metric's name without its judge, and the scores of whole texts."""
    table = read(SCORES)
    whole = table[(table["part"] == FULL) & table["value"].notna()]
    names = whole[["metric", "judge"]].astype(str)
    label = pd.Series(
        [metric_label(*pair) for pair in names.to_numpy()], whole.index, dtype="str"
    )
    chosen = label == metric if (label == metric).any() else names["metric"] == metric
    labels = sorted({*label[chosen]})
    if len(labels) != 1:
        what = (
            f"is of several judges: {', '.join(labels)}" if labels else "has no score"
        )
        raise BadInput(
            f"--for: {metric} {what}; name a metric as `metassay show` has it"
        )
    of_texts = {
        (doc, author): value for doc, author, value in rows(whole[chosen], *_VALUE)
    }
    return str(names["metric"][chosen].iloc[0]), of_texts


def rated_texts(read: ReadTable, decision: Decision) -> dict[Text, float]:
    """Return the mean rating of each text that is rated by the decision's criterion."""
    return mean_ratings(_earlier_ratings(read, decision))


def _earlier_ratings(read: ReadTable, decision: Decision) -> Iterable[Rating]:
    try:
        table = read(RATINGS)
    except BadInput:
        return ()
    whole = (table["unit"] == "text") & (table["part"] == FULL) & table["value"].notna()
    return rows(table[whole & (table["criterion"] == decision.criterion)], *_VALUE)


def mean_ratings(ratings: Iterable[Rating]) -> dict[Text, float]:
    """Return the mean rating of each text."""
    frame = pd.DataFrame(ratings, columns=_VALUE)
    means: dict[Any, float] = (
        frame.groupby(["doc_id", "author"])["value"].mean().to_dict()
    )
    return means


def passed_texts(means: Any, criterion: Criterion) -> Any:
    """1 where a text's mean rating is on the better side of the scale's middle, NaN on it."""
    middle = (criterion.low + criterion.high) / 2
    better = means > middle if criterion.better == "higher" else means < middle
    return np.where(np.isnan(means) | (means == middle), np.nan, better)


def count_undecided(ratings: Iterable[Rating], criterion: Criterion) -> int:
    """Count the rated texts that `passed_texts` leaves undecided."""
    means = np.array([*mean_ratings(ratings).values()], dtype=np.float64)
    return int(np.isnan(passed_texts(means, criterion)).sum())
