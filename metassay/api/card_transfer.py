"""Does a judge's saved card hold on the labels of another table? For `judge_check`."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.api.label_tables import WHOLE
from metassay.api.labels import KIND, Choices
from metassay.core.errors import BadInput, hint, raise_problems
from metassay.format.frames import records
from metassay.format.numbers import short, short_interval
from metassay.meta_evaluation.card_numbers import Row
from metassay.statistics.card_transfer import (
    CANNOT_TELL,
    FEWEST,
    HOLDS,
    NOT_CHECKED,
    WORSE,
    labels_to_hold,
    size_of_interval,
    transfer,
)
from metassay.statistics.shares import Estimate

# The rates that hold on other texts if the judge is the same; all other numbers of a
# card also depend on how many texts pass.
RATES = {
    "sensitivity": "rows that people pass",
    "specificity": "rows that people fail",
}
NEEDED = ("judge", "slice", "statistic", "value", "low", "high", "n")
_PASS_OPTIONS = {
    "passes": "pass",
    "pass_from": "pass-from",
}  # as the command calls them
_UNTOLD = (CANNOT_TELL, NOT_CHECKED)
_OF_KIND = f"{KIND}="  # how slices of `claim_kinds` begin
_FEW = "few of a kind"  # are labelled


@dataclass(frozen=True)
class Card:
    """A saved card: its file's name, its rates, and what a pass was there.

    `rates`: of all texts, and of each kind of claim if the card has kinds; by judge,
    slice and statistic.
    """

    name: str
    rates: Mapping[tuple[str, str, str], Estimate]
    passes: Mapping[str, object]  # the options that said what a pass is

    @property
    def judges(self) -> list[str]:
        """The judges of the card, in its order."""
        return list(dict.fromkeys(judge for judge, _, _ in self.rates))

    @property
    def kinds(self) -> list[str]:
        """The slices of kinds of claim."""
        parts = dict.fromkeys(part for _, part, _ in self.rates)
        return [part for part in parts if part != WHOLE]


def read_card(path: Path) -> Card:
    """Read the card in a folder that `judge-check --out FOLDER` wrote.

    Raises BadInput if there is none, or if it lacks columns or rates.
    """
    file, options = path / "card.csv", path / "choices.json"
    remedy = "name a folder that `metassay judge-check FILE --out FOLDER` wrote"
    try:
        frame = pd.read_csv(file, dtype={"judge": str, "slice": str})
        choices = json.loads(options.read_text(encoding="utf-8"))
        confidence = choices["confidence"]
        passes = {name: choices[name] for name in _PASS_OPTIONS}
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadInput(f"{error.filename}: there is no such file; {remedy}") from None
    except (ValueError, KeyError, TypeError):  # no text, no table, no JSON, other keys
        raise BadInput(f"{file}: this is not a card; {remedy}") from None
    lacking = [name for name in NEEDED if name not in frame]
    if lacking:
        raise BadInput(f"{file}: there is no column {', '.join(lacking)}; {remedy}")
    of_kinds = (frame["slice"] == WHOLE) | frame["slice"].str.startswith(_OF_KIND)
    rates = {}
    for row in records(frame[of_kinds]):
        if row["statistic"] in RATES:
            key = row["judge"], row["slice"], row["statistic"]
            rates[key] = _estimate(row, confidence)
    if not rates:
        raise BadInput(f"{file}: it has no sensitivity and no specificity; {remedy}")
    return Card(str(file), rates, passes)


def undefined_rate(card: Card, judge: str, statistic: str) -> BadInput:
    """Return the error of a card that rests on too few labels for one of its RATES."""
    return BadInput(
        f"{card.name}: {judge} has no {statistic} there; make a card with more labelled"
        f" {RATES[statistic]}"
    )


def check_passes(card: Card, choices: Choices) -> None:
    """Raise BadInput if another option said what a pass is when the card was made."""
    here = {name: getattr(choices, name) for name in _PASS_OPTIONS}
    differing = [
        name
        for name in _PASS_OPTIONS
        if _plain(here[name]) != _plain(card.passes[name])
    ]
    raise_problems(
        f"{card.name}: it was made with {_write(choices, name, card.passes[name])}, and"
        f" this table is read with {_write(choices, name, here[name])}; use the same for both"
        for name in differing
    )


def transfer_rows(card: Card, numbers: pd.DataFrame, choices: Choices) -> list[Row]:
    """Return the rows of table `transfer`: each rate of each judge and slice beside the card.

    `numbers` is table `card` of the new labels, made with `choices`. Slices of one column
    are so many looks: each is tested at a smaller level. Where `choices` name the claims,
    each kind of the card has rows. Raises BadInput if a judge is not on the card.
    """
    judges = list(dict.fromkeys(numbers["judge"]))
    unknown = [judge for judge in judges if judge not in card.judges]
    if unknown:
        listed = ", ".join(card.judges)
        option = choices.caller.option("judge", blank="COLUMN")
        raise BadInput(
            f"{card.name}: it has no judge called {judge}; it has {listed}"
            f"{hint(judge, card.judges)}; rename the column, or name another: {option}"
            for judge in unknown
        )
    rows = [*records(numbers[numbers["statistic"].isin([*RATES])])]
    if choices.claim:
        rows += _absent_kinds(card, rows)
    slices = list(dict.fromkeys(row["slice"] for row in rows))
    return [
        _row(row, card, choices, n_tests=_n_tests(row["slice"], slices)) for row in rows
    ]


def _absent_kinds(card: Card, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield a row without labels for each kind of claim of the card that is not here."""
    here = {(row["judge"], row["slice"], row["statistic"]) for row in rows}
    judges = {row["judge"] for row in rows}
    for key in card.rates:
        judge, part, statistic = key
        if part != WHOLE and judge in judges and key not in here:
            empty = dict.fromkeys(("value", "low", "high"))
            yield {
                "judge": judge,
                "slice": part,
                "statistic": statistic,
                "n": 0,
                **empty,
            }


def transfer_sentences(table: pd.DataFrame, card: str, margin: float) -> Iterator[str]:
    """Yield what the table says of each judge, the whole before the slices."""
    for judge in table["judge"].unique():
        rows = [row for row in records(table) if row["judge"] == judge]
        whole = [_say(row) for row in rows if row["slice"] == WHOLE]
        yield (
            f"Does the card of {card} hold here, within {short(margin)}? {judge}:"
            f" {'; '.join(whole)}."
        )
        parts = [row for row in rows if row["slice"] != WHOLE]
        yield from _say_slices(parts)


def lines_of_worse(table: pd.DataFrame, card: str, margin: float) -> Iterator[str]:
    """Yield a line for each rate that is worse than the card says."""
    for row in records(table):
        if row["outcome"] == WORSE:
            where = "" if row["slice"] == WHOLE else f" on {row['slice']}"
            yield (
                f"WORSE: {row['judge']}{where}: {row['statistic']} {short(row['value'])} is"
                f" below the {short(row['on_card'])} of {card} by more than {short(margin)}:"
                " the card does not hold here"
            )


def is_untold(table: pd.DataFrame) -> bool:
    """Return whether too few labels tell if the card holds on all texts; slices do not count."""
    whole = table[table["slice"] == WHOLE]
    return bool(whole["outcome"].isin(_UNTOLD).any())


def _estimate(row: Mapping[str, Any], confidence: float) -> Estimate:
    """Return a rate with the size that its interval, of this confidence, rests on."""
    value, low, high = (
        math.nan if row[name] is None else float(row[name])
        for name in ("value", "low", "high")
    )
    rate = Estimate(value, low, high, n=int(row["n"]), n_effective=math.nan)
    return rate._replace(n_effective=size_of_interval(rate, confidence=confidence))


def _plain(value: object) -> object:
    """Return an option's value as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


def _write(choices: Choices, name: str, value: Any) -> str:
    """Return how the caller writes an option: `--pass-from 4`, or `no --pass-from`."""
    option = _PASS_OPTIONS[name]
    if value in (None, (), []):
        return f"no {choices.caller.option(option)}"
    if isinstance(value, int | float):
        return choices.caller.option(option, blank=f"{value}")
    return choices.caller.option(option, *value)


def _n_tests(part: str, slices: Sequence[str]) -> int:
    """Return how many slices are of the same column; the whole is one test."""
    if part == WHOLE:
        return 1
    column = part.partition("=")[0]
    return sum(other.startswith(f"{column}=") for other in slices)


def _row(row: Mapping[str, Any], card: Card, choices: Choices, *, n_tests: int) -> Row:
    new = _estimate(row, choices.confidence)
    of_kind = row["slice"].startswith(_OF_KIND)
    # A slice of another column may not be on the card: it is compared with all texts.
    part = row["slice"] if of_kind and card.kinds else WHOLE
    old = card.rates.get((row["judge"], part, row["statistic"]))
    few = old is None or math.isnan(old.value) or min(old.n, new.n) < FEWEST
    if of_kind and few:
        return _unchecked(row, old, new, choices, n_tests=n_tests)
    if old is None or math.isnan(old.value):
        raise undefined_rate(card, row["judge"], row["statistic"])
    moved = transfer(
        old,
        new,
        margin=choices.margin,
        n_tests=n_tests,
        level=1 - choices.confidence,
    )
    return {
        "judge": row["judge"],
        "slice": row["slice"],
        "statistic": row["statistic"],
        "on_card": old.value,
        "value": new.value,
        **moved._asdict(),
        "labelled": new.n,
        "more": max(moved.labels - new.n, 0.0),
    }


def _unchecked(
    row: Mapping[str, Any],
    old: Estimate | None,
    new: Estimate,
    choices: Choices,
    *,
    n_tests: int,
) -> Row:
    """Return the row of a kind of claim of which too few are labelled, here or on the card."""
    labels = math.nan
    if old is not None and old.n >= FEWEST and not math.isnan(old.value):
        level = (1 - choices.confidence) / n_tests
        labels = labels_to_hold(old, margin=choices.margin, level=level)
    return {
        "judge": row["judge"],
        "slice": row["slice"],
        "statistic": row["statistic"],
        "on_card": math.nan if old is None else old.value,
        "value": new.value,
        "difference": math.nan,
        "low": math.nan,
        "high": math.nan,
        "outcome": NOT_CHECKED,
        "labels": labels,
        "labelled": new.n,
        "more": max(labels - new.n, 0.0),
    }


def _say(row: Mapping[str, Any]) -> str:
    """Say one rate: `sensitivity holds (.90 on the card, .91 here; difference .01 [-.05, .07])`."""
    if row["value"] is None:
        numbers = f"{short(row['on_card'])} on the card"
    else:
        interval = short_interval(row["low"], row["high"])
        numbers = (
            f"{short(row['on_card'])} on the card, {short(row['value'])} here; difference"
            f" {short(row['difference'])} {interval}"
        )
    sentence = f"{row['statistic']} {row['outcome']} ({numbers})"
    if row["outcome"] not in _UNTOLD:
        return sentence
    rows = RATES[row["statistic"]]
    if row["more"] is None:
        return f"{sentence}: no number of labels tells, as the card rests on too few"
    if row["more"] > 0:
        return f"{sentence}: label about {row['more']:,.0f} more {rows}"
    return sentence


def _say_slices(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence per outcome with the slices that have it."""
    begins = {
        HOLDS: "It holds on",
        WORSE: "It is worse on",
        CANNOT_TELL: "Too few labels to tell on",
        NOT_CHECKED: "Nothing is labelled on",
        _FEW: f"Not checked, with fewer than {FEWEST} labels here or on the card:",
    }
    by_outcome: dict[str, list[str]] = {}
    for row in rows:
        outcome = row["outcome"]
        if outcome == NOT_CHECKED and row["slice"].startswith(_OF_KIND):
            outcome = _FEW
        names = by_outcome.setdefault(outcome, [])
        names.append(f"{row['slice']} ({row['statistic']})")
    for outcome, names in by_outcome.items():
        yield f"{begins[outcome]} {', '.join(names)}."
