"""Which of two texts of one document is better? And how much does each of them cover?"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from metassay.errors import BadInput
from metassay.options import Criterion
from metassay.statistics.preference import disagreements
from metassay.studies.drawing import lot
from metassay.studies.record import (
    Asked,
    Choice,
    Draft,
    DraftRow,
    Form,
    Made,
    Options,
    Question,
    Reads,
    Shown,
    Target,
)
from metassay.studies.texts import inputs, written
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL, REFERENCE, metric_label
from metassay.tables.scores import SCORES

_PREFERENCE, _COVERED = "preference", "covered"
_INSTRUCTIONS = (
    "Two texts, A and B, were written from one input. Say which of them you would rather have, as a"
    " whole: what is right, complete and clear. If neither is better, say tie.",
)
_SHARES = (
    "Then say how much of what is in the reference each text covers, in per cent from 0 to 100,"
    " without a sign.",
)
_BETTER = Question(
    _PREFERENCE,
    "better",
    "choice",
    "Which text is better?",
    (Choice("A", 1.0), Choice("B", 0.0), Choice("tie", 0.5)),
)


def _make(read: Reads, options: Options) -> Made:
    """Two texts are an item; which of them is A is drawn by lot.

    The rating's unit is `versus:AUTHOR`: 1 if `author`'s text is better, .5 for a tie. The share
    that a text covers is asked once of each text, in one of its pairs.
    """
    texts, given = written(read), inputs(read)
    by_document: dict[str, list[str]] = defaultdict(list)
    for doc, author in texts.of_systems:
        by_document[doc].append(author)
    wanted = None if options.disagreeing is None else _disagreeing(read, *options.disagreeing)
    drafts = []
    for doc, authors in by_document.items():
        reference = texts.whole.get((doc, REFERENCE), "")
        shown = (Shown("input", given[doc]), *([Shown("reference", reference)] * bool(reference)))
        for pair in combinations(authors, 2):
            if wanted is not None and (doc, *pair) not in wanted:
                continue
            turned = lot(options.seed, "side", doc, *pair) % 2
            first, second = (pair[1], pair[0]) if turned else pair
            sides = (
                Shown("text A", texts.whole[doc, first]),
                Shown("text B", texts.whole[doc, second]),
            )
            row = DraftRow((), tuple(_asked(doc, first, second, options.shares and reference)))
            drafts.append(Draft((doc, *pair), pair, (*shown, *sides), (row,)))
    criteria = {_PREFERENCE: Criterion(low=0, high=1, better="higher", scale="ordinal")}
    if options.shares:
        criteria[_COVERED] = Criterion(low=0, high=100, better="higher")
    told = _INSTRUCTIONS + (_SHARES if options.shares else ())
    return Made(drafts, criteria, told, tuple(texts.notes), texts.datasets)


def _asked(doc: str, first: str, second: str, shares: object) -> Iterator[Asked]:
    yield Asked(_BETTER, Target(doc, first, FULL, f"versus:{second}", _PREFERENCE))
    for side, author in (("A", first), ("B", second)) if shares else ():
        asks = f"How much of what is in the reference does text {side} cover, in per cent?"
        name = f"{_COVERED} by {side}"
        question = Question(name, name, "number", asks, low=0.0, high=100.0)
        yield Asked(question, Target(doc, author, FULL, "text", _COVERED))


def _disagreeing(read: Reads, a: str, b: str) -> set[tuple[str, str, str]]:
    """Documents and pairs of systems, sorted, that two metrics order in opposite ways."""
    scores = read(SCORES)
    scores = scores[(scores["part"] == FULL) & (scores["author"] != REFERENCE)]
    labels = [metric_label(m, j) for m, j in zip(scores["metric"], scores["judge"], strict=True)]
    scores = scores.assign(label=labels)
    known = sorted(set(labels))
    problems = [
        f"--only-disagreements: {name!r} is no metric of this benchmark; known: {', '.join(known)}"
        for name in dict.fromkeys((a, b))
        if name not in known
    ]
    better = dict(zip(*(read(LEADERBOARD)[name] for name in ("metric", "better")), strict=True))
    for name in (a, b) if not problems else ():
        metric = str(scores.loc[scores["label"] == name, "metric"].iloc[0])
        if better.get(metric) == "neither":
            problems.append(
                f"--only-disagreements: {name!r} does not say which text is better; name another"
            )
    if problems:
        raise BadInput(problems)
    rows = pd.MultiIndex.from_frame(scores[["author", "doc_id"]]).unique()
    authors, documents = (sorted(set(rows.get_level_values(level))) for level in (0, 1))
    values = [_matrix(scores[scores["label"] == one], authors, documents, better) for one in (a, b)]
    found = disagreements(*values)
    sides = zip(found.document, found.preferred_by_a, found.preferred_by_b, strict=True)
    return {(documents[doc], *sorted((authors[one], authors[other]))) for doc, one, other in sides}


def _matrix(
    scores: pd.DataFrame, authors: list[str], documents: list[str], better: dict[str, str]
) -> np.ndarray:  # type: ignore[type-arg]
    values = scores.pivot(index="author", columns="doc_id", values="value")
    sign = -1.0 if better[str(scores["metric"].iloc[0])] == "lower" else 1.0
    return sign * values.reindex(index=authors, columns=documents).to_numpy(dtype=np.float64)


KIND = Form("pairs", _make, together=False)
