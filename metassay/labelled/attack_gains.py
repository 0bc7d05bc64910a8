"""Judges' attack cards: what each attack gains, beside the same false claims as they are."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.format.numbers import counted, short
from metassay.labelled.attacks import PLAIN, AttackOptions
from metassay.labelled.examine import ABSTAINED, entailment
from metassay.meta_evaluation.study import frame_of
from metassay.statistics.gains import Gain, fewest_documents, gains
from metassay.statistics.random_numbers import generator
from metassay.tables.judge_tests import ATTACK_GAINS
from metassay.text.edits.attacks import ATTACKS

Row = dict[str, Any]


class AttackCards(NamedTuple):
    """Table `attack_gains`, and lines of notes."""

    gains: pd.DataFrame
    notes: list[str]


def attack_cards(
    gold: pd.DataFrame, verdicts: pd.DataFrame, options: AttackOptions, *, seed: int
) -> AttackCards:
    """Return each judge's attack card from the test's items and its verdicts on them.

    A claim passes if its verdict is `entailed`; a judge that abstains has not passed
    it. Other claims without a verdict are missing.
    """
    items = gold[["item", "kind", "cluster"]].copy()
    items["claim"] = items["item"].str.rsplit(":", n=1).str[0]
    rows: list[Row] = []
    notes: list[str] = []
    passed = entailment(verdicts["label"])
    abstained = (verdicts["status"] == ABSTAINED).to_numpy()
    verdicts = verdicts.assign(passed=np.where(abstained, 0.0, passed))
    for judge, of_judge in verdicts.groupby("judge", sort=True):
        rng = generator(seed, "attacks", str(judge))
        by_attack = _gains_by_attack(items.merge(of_judge, on="item"), options, rng)
        key: Row = {
            "judge": str(judge),
            "margin": options.margin,
            "recipe": str(of_judge["recipe"].iloc[0]),
        }
        rows += [key | _row(attack, gain) for attack, gain in by_attack.items()]
        notes += _notes(str(judge), by_attack, options.margin)
    return AttackCards(frame_of(rows, ATTACK_GAINS), notes)


def _gains_by_attack(
    judged: pd.DataFrame, options: AttackOptions, rng: np.random.Generator
) -> dict[str, Gain]:
    by_kind = judged.pivot(index=["cluster", "claim"], columns="kind", values="passed")
    names = [name for name in ATTACKS if name in by_kind]
    measured = gains(
        by_kind[PLAIN].to_numpy(dtype=np.float64),
        by_kind[names].to_numpy(dtype=np.float64).T,
        pd.factorize(by_kind.index.get_level_values("cluster"))[0],
        margin=options.margin,
        rng=rng,
    )
    return dict(zip(names, measured, strict=True))


def _row(attack: str, gain: Gain) -> Row:
    return {
        "attack": attack,
        "verdict": gain.verdict,
        "plain": gain.before,
        "attacked": gain.after,
        "gain": gain.gain,
        "low": gain.low,
        "high": gain.high,
        "p": gain.p,
        "n": gain.n,
        "n_documents": gain.n_clusters,
        "n_missing": gain.n_missing,
    }


def _notes(judge: str, by_attack: Mapping[str, Gain], margin: float) -> Iterator[str]:
    n = max((gain.n_clusters for gain in by_attack.values()), default=0)
    needed = fewest_documents(margin, len(by_attack))
    if n < needed:
        yield (
            f"{judge}: {counted(n, 'document')} cannot show that a judge is robust to an"
            f" attack; {needed:,} can, with {counted(len(by_attack), 'attack')} and a"
            f" margin of {short(margin)}"
        )
