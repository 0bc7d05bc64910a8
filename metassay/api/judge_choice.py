"""Which of several judges is best? For `judge_check`: half of the documents choose."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from metassay.api.label_tables import find_label_choices
from metassay.api.labels import Labels
from metassay.core.errors import BadInput
from metassay.format.numbers import counted, equals, short, short_interval
from metassay.meta_evaluation.card_numbers import Row
from metassay.statistics.judge_choice import (
    AGREEMENT,
    BALANCED,
    BETTER,
    CHOOSABLE,
    SAME,
    JudgeChoice,
    choose_judge,
)
from metassay.statistics.random_numbers import generator
from metassay.statistics.shares import judgments

FEWEST = 12  # documents: six in each half, or no difference can be shown


def choose_best(labels: Labels) -> JudgeChoice:
    """Choose by the rows that all judges and people judged; raises BadInput if it cannot be."""
    choices, names = labels.choices, [*labels.judges]
    option = choices.caller.option("choose")
    if choices.choose not in CHOOSABLE:
        typed = choices.caller.option("choose", choices.choose)
        raise BadInput(f"{typed}: write one of {', '.join(CHOOSABLE)}")
    if len(names) < 2:
        raise BadInput(
            f"{labels.name}: there is only one judge, {names[0]}; {option} needs several:"
            f" {choices.caller.option('judge', 'COLUMN', 'COLUMN')}"
        )
    judged = np.stack([judgments(values) for values in labels.judges.values()])
    complete = np.isfinite(judged).all(axis=0) & np.isfinite(labels.passed)
    documents, cluster = np.unique(labels.cluster[complete], return_inverse=True)
    if documents.size < FEWEST:
        raise BadInput(
            f"{labels.name}: {documents.size} documents have a label and a verdict of every"
            f" judge; {option} needs {FEWEST} or more, because half of them choose"
            " the judge and the other half measure how good it is"
        )
    passed = labels.passed[complete]
    try:
        return choose_judge(
            (judged[:, complete] == passed).astype(np.float64),
            passed,
            cluster,
            by=choices.choose,
            confidence=choices.confidence,
            rng=generator(choices.seed, "choice"),
        )
    except ValueError:  # documents were counted, so that it is the labels
        raise BadInput(
            f"{labels.name}: in one half of the documents people's labels are all the same;"
            f" {choices.caller.option('choose', BALANCED)} needs passes and fails in both"
            f" halves: label more rows, or write {choices.caller.option('choose', AGREEMENT)}"
        ) from None


def choice_rows(choice: JudgeChoice, names: Iterable[str], by: str) -> list[Row]:
    """Return table `choice`: every judge on the half that chooses, and on that which tells.

    `names` of the judges, in order; `by`: the number by which the best was chosen.
    """
    rows: list[Row] = []
    for place, name in enumerate(names):
        is_chosen = place == choice.chosen
        row: Row = {
            "judge": name,
            "statistic": by,
            "chosen": is_chosen,
            "in_use": place == choice.present,
            "choosing": float(choice.choosing.values[place]),
            "value": float(choice.telling.values[place]),
            "low": choice.value_low if is_chosen else np.nan,
            "high": choice.value_high if is_chosen else np.nan,
            "gain": choice.gain if is_chosen else np.nan,
            "gain_low": choice.low if is_chosen else np.nan,
            "gain_high": choice.high if is_chosen else np.nan,
            "p": choice.p if is_chosen else np.nan,
            "outcome": choice.outcome if is_chosen else "",
            "n_choosing": int(np.count_nonzero(choice.choosing.rows)),
            "n": int(np.count_nonzero(choice.telling.rows)),
        }
        rows.append(row)
    return rows


def choice_sentences(
    choice: JudgeChoice, table: pd.DataFrame, labels: Labels
) -> Iterator[str]:
    """Say which judge is best on the half that chooses, and what the other half tells."""
    yield from compare_sentences(choice, table)
    n_rows = int(choice.choosing.rows.size)
    left_out = int(np.count_nonzero(np.isfinite(labels.passed))) - n_rows
    if left_out:
        yield (
            f"{counted(left_out, 'labelled row')} without a verdict of every judge did not"
            " choose, and do not tell."
        )
    if find_label_choices(labels):
        yield (
            "Labels were chosen, and here each counts once: these numbers are about the"
            " labelled rows."
        )


def compare_sentences(choice: JudgeChoice, table: pd.DataFrame) -> Iterator[str]:
    """Say how the best judge of table `choice` compares with the one in use."""
    best, present = table.iloc[choice.chosen], table.iloc[choice.present]
    statistic = best["statistic"].replace("_", " ")
    lead = f"The best of {len(table)} judges by {statistic}"
    if choice.outcome == SAME:
        yield (
            f"{lead} is {best['judge']}, which is in use; keep it: {short(best['choosing'])} on"
            f" the {best['n_choosing']:,} rows that chose, {short(best['value'])}"
            f" {short_interval(best['low'], best['high'])} on the {best['n']:,} others."
        )
        return
    yield (
        f"{lead} is {best['judge']}: {short(best['choosing'])} on the"
        f" {best['n_choosing']:,} rows that chose it, where the luckiest looks best, and"
        f" {short(best['value'])} {short_interval(best['low'], best['high'])} on the"
        f" {best['n']:,} others, which counts."
    )
    gain = (
        f"{short(best['gain'])} {short_interval(best['gain_low'], best['gain_high'])}"
        f" better there than {present['judge']}, {equals(best['p'])}"
    )
    if best["gain"] < 0:
        ends = short_interval(-best["gain_high"], -best["gain_low"])
        gain = (
            f"{short(-best['gain'])} {ends} worse there than {present['judge']},"
            f" {equals(best['p'])}"
        )
    if choice.outcome == BETTER:
        yield f"It is {gain}: take {best['judge']}."
        return
    keep = f"It is {gain}: no gain is shown. Keep {present['judge']}"
    if np.isnan(choice.labels):
        yield f"{keep}."
    else:
        yield (
            f"{keep}; about {choice.labels:,.0f} labelled rows in all would show a gain of"
            f" {short(choice.sought)}."
        )
