"""Put every distinct question to a judge once."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields

import numpy as np
import pandas as pd

from metassay.errors import BadInput, shown
from metassay.judges.protocol import Judge, Judgment, Pair
from metassay.pairing.instruments import INSTRUMENTS, Answers
from metassay.parquet import empty
from metassay.tables import JUDGMENTS

_TYPES = {
    "label": "str",
    "probability": "float64",
    "grade": "float64",
    "explanation": "str",
    "tokens": "Int64",
}
BATCH = 1024  # pairs per call: enough for a judge to work on many at once, little to hold


def _unheard(count: int) -> None:
    """Progress that nobody watches."""


def judge_pairs(
    pairs: pd.DataFrame,
    name: str,
    judge: Judge,
    instruments: Collection[str],
    *,
    progress: Callable[[int], None] = _unheard,
) -> pd.DataFrame:
    """Ask the judge about every pair_id that is not settled; returns table `judgments`.

    Questions come by instrument, premise and hypothesis, in batches, whatever the order of the
    rows, so that a judge meets all questions about one premise together. `instruments` are those
    that the judge can answer. `progress` is told after each batch how many pairs it held.

    Raises BadInput if the pairs ask what the judge cannot answer, and RuntimeError if the judge
    does not give one sound judgment per pair: with status ok, a label or a grade that the
    instrument knows, and neither with another status.
    """
    _check_instruments(pairs, name, instruments)
    batches = []
    for batch in _batches(pairs):
        judgments = judge.judge(batch)
        if len(judgments) != len(batch):
            given = f"gave {len(judgments)} judgments for {len(batch)} pairs"
            raise RuntimeError(f"judge {name!r} {given}")
        rows = _rows(batch, judgments, name, judge.signature)
        _check(batch, rows)
        batches.append(rows)
        progress(len(batch))
    return pd.concat(batches, ignore_index=True) if batches else empty(JUDGMENTS)


def _check_instruments(pairs: pd.DataFrame, name: str, instruments: Collection[str]) -> None:
    asked = pairs.loc[pairs["settled"].isna(), ["instrument", "measure"]].drop_duplicates()
    problems = [
        f"judges > {name}: cannot answer instrument {instrument!r}, which {', '.join(measures)}"
        f" asks; choose another judge, or leave out the measure"
        for instrument, measures in asked.groupby("instrument")["measure"]
        if instrument not in instruments
    ]
    if problems:
        raise BadInput(problems)


def _batches(pairs: pd.DataFrame) -> Iterator[list[Pair]]:
    questions = pairs.loc[
        pairs["settled"].isna(), ["pair_id", "instrument", "premise", "hypothesis"]
    ].drop_duplicates("pair_id")
    premises = questions["premise"].astype("category")
    texts = premises.cat.categories.to_numpy(dtype=object)
    # Sorting by the rank of the premise's text sorts by the text without copying it per row.
    rank = np.empty(len(texts), dtype=np.int64)
    rank[np.argsort(texts, kind="stable")] = np.arange(len(texts))
    codes = premises.cat.codes.to_numpy()
    order = questions.assign(premise=rank[codes], code=codes).sort_values(
        ["instrument", "premise", "hypothesis"]
    )
    for start in range(0, len(order), BATCH):
        part = order.iloc[start : start + BATCH]
        columns = (part[name].tolist() for name in ("pair_id", "instrument", "code", "hypothesis"))
        yield [
            Pair(pair_id, instrument, texts[code], hypothesis)
            for pair_id, instrument, code, hypothesis in zip(*columns, strict=True)
        ]


def _check(batch: Sequence[Pair], rows: pd.DataFrame) -> None:
    ok = (rows["status"] == "ok").to_numpy()
    sound = ~ok & rows["label"].isna().to_numpy() & rows["grade"].isna().to_numpy()
    answers, asked = Answers.of(rows), np.array([pair.instrument for pair in batch])
    for instrument in np.unique(asked):
        worth = INSTRUMENTS[instrument].answer.worth(answers, {})
        sound |= ok & (asked == instrument) & ~np.isnan(worth)
    for row in rows[~sound].itertuples():
        pair = batch[int(str(row.Index))]
        raise RuntimeError(
            f"judge {row.judge!r}: pair_id {row.pair_id}: status {row.status!r} with label"
            f" {shown(row.label)} and grade {row.grade!r}; instrument {pair.instrument!r} wants"
            f" {INSTRUMENTS[pair.instrument].answer.said} with status 'ok', and neither otherwise"
        )


def _rows(
    batch: Sequence[Pair], judgments: Sequence[Judgment], name: str, signature: str
) -> pd.DataFrame:
    columns = [field.name for field in fields(Judgment)]
    answers = pd.DataFrame({column: [getattr(j, column) for j in judgments] for column in columns})
    # Batches in which nothing has a probability, say, must have the same types as the others.
    answers = answers.astype(_TYPES)
    answers["pair_id"] = [pair.pair_id for pair in batch]
    answers["judge"] = name
    answers["recipe"] = signature
    return answers[list(JUDGMENTS.columns)]
