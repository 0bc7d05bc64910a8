"""Put every distinct question to a judge once."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.errors import raise_problems, shown
from metassay.core.progress import bar
from metassay.judges.criteria import RUBRIC, allows, criterion_of
from metassay.judges.protocol import BATCH, Judge, Judgment, Pair
from metassay.scoring.pairing.instruments import INSTRUMENTS, Answers
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.parquet import empty

Ranks = NDArray[np.int64]
Texts = NDArray[np.object_]

_TEXTS = ("premise", "hypothesis", "context")
_ASKED = ["pair_id", "instrument", *_TEXTS, "part", "author"]
_TYPES = {
    "label": "str",
    "probability": "float64",
    "grade": "float64",
    "explanation": "str",
    "tokens": "Int64",
}
_ATTRIBUTION = "attribution"  # a statement's questions about its citations are one group


def judge_pairs(
    pairs: pd.DataFrame,
    name: str,
    judge: Judge,
    instruments: Collection[str],
    *,
    batch: int = BATCH,
) -> pd.DataFrame:
    """Ask the judge about every pair_id that is not settled; returns table `judgments`.

    Questions come in groups, whatever the order of the rows: those about one premise and part,
    those about one statement and its citations, and the criteria by which one text is graded. A
    call has whole groups, of about `batch` pairs together. An answer that the judge says is not
    needed has no row. `instruments` are those that the judge can answer.

    Raises BadInput if the pairs ask what the judge cannot answer, and RuntimeError if the judge
    does not give one sound judgment per pair: with status ok, a label or a grade that the
    instrument knows and the criterion allows, and neither with another status.
    """
    check_instruments(pairs, name, instruments)
    answered, done = [], 0
    total = pairs.loc[pairs["settled"].isna(), "pair_id"].nunique()
    with bar("questions", total) as tell:
        for handed in batches(pairs, batch):
            judgments = judge.judge(handed)
            if (count := len(judgments)) != len(handed):
                raise RuntimeError(f"judge {name!r} gave {count} judgments for {len(handed)} pairs")
            needed = [(p, j) for p, j in zip(handed, judgments, strict=True) if j is not None]
            if needed:
                asked, answers = [pair for pair, _ in needed], [judgment for _, judgment in needed]
                rows = _rows(asked, answers, name, judge.signature)
                _check(asked, rows)
                answered.append(rows)
            done += len(handed)
            tell(done)
    return pd.concat(answered, ignore_index=True) if answered else empty(JUDGMENTS)


def check_instruments(pairs: pd.DataFrame, name: str, instruments: Collection[str]) -> None:
    """BadInput if the pairs ask what the judge `name`, which answers `instruments`, cannot."""
    asked = pairs.loc[pairs["settled"].isna(), ["instrument", "measure"]].drop_duplicates()
    raise_problems(
        f"judges > {name}: cannot answer instrument {instrument!r}, which {', '.join(measures)}"
        f" asks; choose another judge, or leave out the measure"
        for instrument, measures in asked.groupby("instrument")["measure"]
        if instrument not in instruments
    )


def batches(pairs: pd.DataFrame, size: int) -> Iterator[list[Pair]]:
    """What is not settled, each question once, in lists of whole groups of about `size` together.

    Texts that many questions share are held once.
    """
    open_ = pairs.loc[pairs["settled"].isna(), _ASKED].drop_duplicates("pair_id")
    places, texts = _ranked([open_[name] for name in _TEXTS])
    premise, hypothesis, context = places
    cites = open_["instrument"].str.startswith(_ATTRIBUTION).to_numpy(dtype=np.bool_)
    graded = open_["instrument"].isin(RUBRIC).to_numpy(dtype=np.bool_)
    family = open_["instrument"].mask(cites, _ATTRIBUTION).astype("str")
    part = open_["part"].mask(cites | graded, "").astype("str")
    about = np.where((context < 0) | graded, premise, context)
    statement = np.where(cites | graded, hypothesis, -1)
    ranked = open_.assign(premise=premise, hypothesis=hypothesis, context=context)
    questions = ranked.assign(family=family, about=about, group=part, statement=statement)
    group = ["family", "about", "group", "statement"]
    questions = questions.sort_values([*group, "instrument", "hypothesis", "pair_id"])
    first = ~questions.duplicated(group).to_numpy()
    ends = [*np.flatnonzero(first)[1:].tolist(), len(questions)] if len(questions) else []
    begun = 0
    for end in ends:
        # Each list ends with the group that brings it to `size` or more.
        if end - begun >= size or end == len(questions):
            rows, begun = questions.iloc[begun:end], end
            yield [
                Pair(key, asks, texts[p], texts[h], part, None if c < 0 else texts[c], author)
                for key, asks, p, h, c, part, author in zip(
                    *(rows[name].tolist() for name in _ASKED), strict=True
                )
            ]


def _ranked(columns: Sequence[pd.Series]) -> tuple[list[Ranks], Texts]:
    """Columns of texts as places in one sorted list of texts, -1 for null; and that list."""
    categories = [column.astype("category").cat for column in columns]
    texts = [own.categories.to_numpy(dtype=object) for own in categories]
    places, distinct = pd.factorize(np.concatenate(texts), sort=True)
    ranks, before = [], 0
    for own, known in zip(categories, texts, strict=True):
        rank = np.append(places[before : before + len(known)].astype(np.int64), -1)
        ranks.append(rank[own.codes.to_numpy()])  # the code -1 takes the last one
        before += len(known)
    return ranks, np.asarray(distinct, dtype=object)


def _check(batch: Sequence[Pair], rows: pd.DataFrame) -> None:
    ok = (rows["status"] == "ok").to_numpy()
    sound = ~ok & rows["label"].isna().to_numpy() & rows["grade"].isna().to_numpy()
    answers, asked = Answers.of(rows), np.array([pair.instrument for pair in batch])
    for instrument in np.unique(asked):
        worth = INSTRUMENTS[instrument].answer.worth(answers, {})
        sound |= ok & (asked == instrument) & ~np.isnan(worth)
    for place in np.flatnonzero(sound & ok & np.isin(asked, RUBRIC)):
        sound[place] = allows(criterion_of(batch[place]), answers.grades[place])
    for row in rows[~sound].itertuples():
        pair = batch[int(str(row.Index))]
        raise RuntimeError(
            f"judge {row.judge!r}: pair_id {row.pair_id}: status {row.status!r} with label"
            f" {shown(row.label)} and grade {row.grade!r}; instrument {pair.instrument!r} wants"
            f" {INSTRUMENTS[pair.instrument].answer.expected} with status 'ok', else neither"
        )


def _rows(
    batch: Sequence[Pair], judgments: Sequence[Judgment], name: str, signature: str
) -> pd.DataFrame:
    columns = [field.name for field in fields(Judgment)]
    answers = pd.DataFrame({column: [getattr(j, column) for j in judgments] for column in columns})
    # Batches in which nothing has a probability, say, must have the same types as the others.
    answers = answers.astype(_TYPES)
    for lists in ("quotes", "quote_starts"):
        answers[lists] = answers[lists].map(list)
    answers["pair_id"] = [pair.pair_id for pair in batch]
    answers["judge"] = name
    answers["recipe"] = signature
    return answers[list(JUDGMENTS.columns)]
