"""Which texts raters get next, so that a decision's interval gets narrow; and what came of it.

The decision is `certificate METRIC CRITERION LEVEL` or `judge-card METRIC CRITERION [NUMBER]`. The
key keeps the chance of every text that might have been drawn, and import weights by it.
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
from metassay.studies.drawing import lot
from metassay.studies.record import Draft, Made, Reads
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL, metric_label
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES

Text = tuple[str, str]  # document, author
Rating = tuple[str, str, float]  # the same, and a value
_VALUE = ("doc_id", "author", "value")
_NUMBERS, _LEVELS = next_labels.WeightedCard._fields, get_args(next_labels.Level)
_WORDS = re.compile(r"(certificate|judge-card) (\S+(?: \([^)]*\))?) (\S+)(?: (\S+))?")
_FORMS = (
    "'certificate METRIC CRITERION LEVEL', of global and system, or 'judge-card METRIC CRITERION',"
    f" perhaps with one of {', '.join(_NUMBERS)}"
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
        found = _WORDS.fullmatch(" ".join(words.split()))
        kind, *_, number = parts = found.groups("") if found else ("", "", "", "")
        if number not in {"certificate": _LEVELS, "judge-card": (*_NUMBERS, "")}.get(kind, ()):
            whole = " (a document's correlation needs all its texts: --items takes them whole)"
            why = whole if number == "document" else ""
            raise BadInput(f"--for {words!r}: write {_FORMS}{why}")
        return cls(*parts)


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
    if any(len(draft.systems) != 1 for draft in made.drafts):
        raise BadInput("--next: draws texts, and an item of this form shows two; give --items")
    by_text = {draft.rows[0].asked[0].of[:2]: draft for draft in made.drafts}
    (metric, scores), rated = (
        _scores(reads(SCORES), decision.metric),
        _means(_earlier(reads, decision)),
    )
    texts = sorted(text for text in scores if text in by_text or text in rated)
    free = np.array([text in by_text and text not in rated for text in texts], dtype=np.bool_)
    if not free.any():
        raise BadInput(
            f"--for {words!r}: no text with a score is left to rate; name another metric"
        )
    x, y = (np.array([of.get(text, np.nan) for text in texts]) for of in (scores, rated))
    if decision.kind == "judge-card":
        if x.min() < 0 or x.max() > 1:
            raise BadInput(f"--for {words!r}: scores of {decision.metric} are not within 0 to 1")
        if (metric, "lower") in rows(reads(LEADERBOARD), "metric", "better"):
            x = 1 - x  # of passing
        passed = _passed(y, made.criteria[decision.criterion])
        worth, group = next_labels.card_worth(x, passed, decision.number), next_labels.strata(x)
    else:
        _, group = np.unique([author for _, author in texts], return_inverse=True)
        level: Any = decision.number
        worth = next_labels.correlation_worth(x, y, group, level)
    chance = next_labels.chances(worth[free], n)
    left = [text for text, one in zip(texts, free, strict=True) if one]
    order = sorted(range(len(left)), key=lambda i: (group[free][i], lot(seed, "next", *left[i])))
    start = lot(seed, "next", "start") / 2**256
    drawn = next_labels.drawn_by(chance, np.array(order), start)
    each = zip(left, x[free].tolist(), chance.tolist(), strict=True)
    frame = Frame(words, tuple((*text, score, one) for text, score, one in each))
    without = sum(text not in scores for text in by_text)
    notes = (f"{without} texts without a score of {decision.metric}: never drawn",) * bool(without)
    return [by_text[left[i]] for i in sorted(drawn.tolist())], frame, notes


def weighted_lines(frame: Frame, ratings: Iterable[Rating], criterion: Criterion) -> list[str]:
    """The decision's numbers over all texts of the frame, from ratings of those that were drawn."""
    decision, rated = Decision.of(frame.decision), _means(ratings)
    documents, authors, scores, chances = zip(*frame.texts, strict=True)
    x, chance = np.array(scores, dtype=np.float64), np.array(chances, dtype=np.float64)
    y = np.array([rated.get(text, np.nan) for text in zip(documents, authors, strict=True)])
    sure: dict[str, Any] = {"confidence": 0.95}
    if decision.kind == "judge-card":
        sure |= {"rng": np.random.default_rng(0), "cluster": documents}
        card = next_labels.weighted_card(x, _passed(y, criterion), chance, **sure)
        found = {name.replace("_", " "): one for name, one in card._asdict().items()}
    else:
        sure |= {"system": authors, "document": documents, "level": decision.number}
        name = f"correlation of {decision.metric} and {decision.criterion}, {decision.number}"
        found = {name: next_labels.weighted_correlation(x, y, chance, **sure)}
    return [
        f"{name}: {one.value:.3f} [{one.low:.3f}, {one.high:.3f}], from {one.n} rated texts"
        " weighted by 1 / chance"
        if np.isfinite(one.value)
        else f"{name}: cannot be told from {one.n} rated texts"
        for name, one in found.items()
    ]


def _scores(table: pd.DataFrame, metric: str) -> tuple[str, dict[Text, float]]:
    whole = table[(table["part"] == FULL) & table["value"].notna()]
    names = whole[["metric", "judge"]].astype(str)
    label = pd.Series([metric_label(*one) for one in names.to_numpy()], whole.index, dtype="str")
    mine = label == metric if (label == metric).any() else names["metric"] == metric
    every = sorted({*label[mine]})
    if len(every) != 1:
        what = f"is of several judges: {', '.join(every)}" if every else "has no score"
        raise BadInput(f"--for: {metric} {what}; name a metric as `metassay show` has it")
    of_texts = {(doc, author): value for doc, author, value in rows(whole[mine], *_VALUE)}
    return str(names["metric"][mine].iloc[0]), of_texts


def _earlier(reads: Reads, decision: Decision) -> Iterable[Rating]:
    try:
        table = reads(RATINGS)
    except BadInput:
        return ()
    whole = (table["unit"] == "text") & (table["part"] == FULL) & table["value"].notna()
    return rows(table[whole & (table["criterion"] == decision.criterion)], *_VALUE)


def _means(ratings: Iterable[Rating]) -> dict[Text, float]:
    means: Any = pd.DataFrame(ratings, columns=_VALUE).groupby(["doc_id", "author"]).mean()
    found: dict[Text, float] = means["value"].to_dict()
    return found


def _passed(means: Any, criterion: Criterion) -> Any:
    """1 where a text's mean rating is on the better side of the scale's middle; a tie is none."""
    middle = (criterion.low + criterion.high) / 2
    better = means > middle if criterion.better == "higher" else means < middle
    return np.where(np.isnan(means) | (means == middle), np.nan, better)
