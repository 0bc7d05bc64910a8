"""Ask a judge every distinct question once."""

from collections.abc import Collection, Iterator, Sequence

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
_COLUMNS = ["pair_id", "instrument", *_TEXTS, "part", "author"]
_TYPES = {
    "label": "str",
    "explanation": "str",
    "tokens": "Int64",
    "probability": "float64",
    "grade": "float64",
}
# a statement's questions about its citations are one group
_ATTRIBUTION = "attribution"


def judge_pairs(
    pairs: pd.DataFrame,
    name: str,
    judge: Judge,
    instruments: Collection[str],
    *,
    batch: int = BATCH,
) -> pd.DataFrame:
    """Ask the judge about every pair_id that is not settled; return table `judgments`.

    Questions come in groups, whatever the order of the rows: those about one premise
    and part, those about one statement and its citations, and the criteria by which one
    text is graded. A call has whole groups, about `batch` pairs in total. An answer
    that the judge does not need has no row. `instruments` are those that the judge can
    answer.

    Raises BadInput if the pairs ask what the judge cannot answer, and RuntimeError if
    the judge does not return one valid judgment per pair: with status ok, a label or
    grade that the instrument and the criterion allow; with any other status, neither.
    """
    check_instruments(pairs, name, instruments)
    answered = []
    done = 0
    total = pairs.loc[pairs["settled"].isna(), "pair_id"].nunique()
    with bar("questions", total) as advance:
        for questions in batches(pairs, batch):
            judgments = judge.judge(questions)
            if (count := len(judgments)) != (size := len(questions)):
                raise RuntimeError(
                    f"judge {name!r} gave {count} judgments for {size} pairs"
                )
            answers = [
                (p, j)
                for p, j in zip(questions, judgments, strict=True)
                if j is not None
            ]
            if answers:
                answered.append(_checked_rows(answers, name, judge.signature))
            done += size
            advance(done)
    return pd.concat(answered, ignore_index=True) if answered else empty(JUDGMENTS)


def check_instruments(
    pairs: pd.DataFrame, name: str, instruments: Collection[str]
) -> None:
    """Raise BadInput if pairs that are not settled have other instruments than the judge's."""
    measures_of = pairs.loc[
        pairs["settled"].isna(), ["instrument", "measure"]
    ].drop_duplicates()
    raise_problems(
        f"judges > {name}: cannot answer instrument {instrument!r}, which {', '.join(measures)}"
        f" asks; choose another judge, or leave out the measure"
        for instrument, measures in measures_of.groupby("instrument")["measure"]
        if instrument not in instruments
    )


def batches(pairs: pd.DataFrame, size: int) -> Iterator[list[Pair]]:
    """Yield every open question once, in lists of whole groups, about `size` questions each.

    A text that many questions share is one object in memory.
    """
    open_ = pairs.loc[pairs["settled"].isna(), _COLUMNS].drop_duplicates("pair_id")
    (premise, hypothesis, context), texts = _ranked([open_[name] for name in _TEXTS])
    cites = open_["instrument"].str.startswith(_ATTRIBUTION).to_numpy(dtype=np.bool_)
    graded = open_["instrument"].isin(RUBRIC).to_numpy(dtype=np.bool_)
    family = open_["instrument"].mask(cites, _ATTRIBUTION).astype("str")
    part = open_["part"].mask(cites | graded, "").astype("str")
    about = np.where((context < 0) | graded, premise, context)
    statement = np.where(cites | graded, hypothesis, -1)
    questions = open_.assign(premise=premise, hypothesis=hypothesis, context=context)
    questions = questions.assign(
        family=family, about=about, group=part, statement=statement
    )
    group = ["family", "about", "group", "statement"]
    questions = questions.sort_values([*group, "instrument", "hypothesis", "pair_id"])
    first = ~questions.duplicated(group).to_numpy()
    ends = (
        [*np.flatnonzero(first)[1:].tolist(), len(questions)] if len(questions) else []
    )
    start = 0
    for end in ends:
        # Each list ends with the group that brings it to `size` or more.
        if end - start >= size or end == len(questions):
            rows = questions.iloc[start:end]
            start = end
            columns = [rows[name].tolist() for name in _COLUMNS]
            group_pairs = []
            for key, instrument, p, h, c, part, author in zip(*columns, strict=True):
                read_beside = None if c < 0 else texts[c]
                group_pairs.append(
                    Pair(
                        pair_id=key,
                        instrument=instrument,
                        premise=texts[p],
                        hypothesis=texts[h],
                        part=part,
                        context=read_beside,
                        author=author,
                    )
                )
            yield group_pairs


def _ranked(columns: Sequence[pd.Series]) -> tuple[list[Ranks], Texts]:
    """Return each column as ranks in one sorted list of distinct texts, -1 for null; and the list.

    Columns are made categories before they are joined: that takes less memory.
    """
    categories = [column.astype("category").cat for column in columns]
    texts = [column.categories.to_numpy(dtype=object) for column in categories]
    places, distinct = pd.factorize(np.concatenate(texts), sort=True)
    ends = np.cumsum([len(values) for values in texts])
    ranks = [
        np.append(part, -1) for part in np.split(places.astype(np.int64), ends[:-1])
    ]
    codes = [column.codes.to_numpy() for column in categories]  # -1 takes the last rank
    ranked = [rank[code] for rank, code in zip(ranks, codes, strict=True)]
    return ranked, np.asarray(distinct, dtype=object)


def _checked_rows(
    answers: Sequence[tuple[Pair, Judgment]], name: str, signature: str
) -> pd.DataFrame:
    batch = [pair for pair, _ in answers]
    # A column of missing values must have the same type in every batch.
    rows = pd.DataFrame([vars(judgment) for _, judgment in answers]).astype(_TYPES)
    rows = rows.assign(
        pair_id=[pair.pair_id for pair in batch], judge=name, recipe=signature
    )
    for column in ("quotes", "quote_starts"):
        rows[column] = rows[column].map(list)
    ok = (rows["status"] == "ok").to_numpy()
    valid = ~ok & rows["label"].isna().to_numpy() & rows["grade"].isna().to_numpy()
    values = Answers.read(rows)
    instruments = np.array([pair.instrument for pair in batch])
    for instrument in np.unique(instruments):
        worth = INSTRUMENTS[instrument].answer.worth(values, {})
        valid |= ok & (instruments == instrument) & ~np.isnan(worth)
    for place in np.flatnonzero(valid & ok & np.isin(instruments, RUBRIC)):
        valid[place] = allows(criterion_of(batch[place]), values.grades[place])
    for row in rows[~valid].itertuples():
        pair = batch[int(str(row.Index))]
        raise RuntimeError(
            f"judge {row.judge!r}: pair_id {row.pair_id}: status {row.status!r} with label"
            f" {shown(row.label)} and grade {row.grade!r}; instrument {pair.instrument!r} wants"
            f" {INSTRUMENTS[pair.instrument].answer.expected} with status 'ok', else neither"
        )
    return rows[list(JUDGMENTS.columns)]
