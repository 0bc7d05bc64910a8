"""Put every distinct question to a judge once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields

import numpy as np
import pandas as pd

from metassay.judges.protocol import Judge, Pair, Verdict
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
    *,
    progress: Callable[[int], None] = _unheard,
) -> pd.DataFrame:
    """Ask the judge about every pair_id that is not settled; returns table `judgments`.

    Questions come by instrument, premise and hypothesis, in batches, whatever the order of the
    rows, so that a judge meets all questions about one premise together. `progress` is told after
    each batch how many pairs it held. Raises RuntimeError if the judge does not give one sound
    verdict per pair.
    """
    batches = []
    for batch in _batches(pairs):
        verdicts = judge.judge(batch)
        _check(name, batch, verdicts)
        batches.append(_rows(batch, verdicts, name, judge.signature))
        progress(len(batch))
    return pd.concat(batches, ignore_index=True) if batches else empty(JUDGMENTS)


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


def _check(name: str, batch: Sequence[Pair], verdicts: Sequence[Verdict]) -> None:
    if len(verdicts) != len(batch):
        raise RuntimeError(f"judge {name!r} gave {len(verdicts)} verdicts for {len(batch)} pairs")
    for pair, verdict in zip(batch, verdicts, strict=True):
        if (verdict.label is None) == (verdict.status == "ok"):
            raise RuntimeError(
                f"judge {name!r}: pair_id {pair.pair_id}: status {verdict.status!r} with label"
                f" {verdict.label!r}; a label goes with status 'ok' and with no other"
            )


def _rows(
    batch: Sequence[Pair], verdicts: Sequence[Verdict], name: str, signature: str
) -> pd.DataFrame:
    columns = [field.name for field in fields(Verdict)]
    answers = pd.DataFrame({column: [getattr(v, column) for v in verdicts] for column in columns})
    # Batches in which nothing has a probability, say, must have the same types as the others.
    answers = answers.astype(_TYPES)
    answers["pair_id"] = [pair.pair_id for pair in batch]
    answers["judge"] = name
    answers["recipe"] = signature
    return answers[list(JUDGMENTS.columns)]
