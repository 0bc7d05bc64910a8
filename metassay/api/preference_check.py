"""Check a judge that prefers one of two texts: agreement, position bias, systems' strengths."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.special

from metassay.api.judge_answers import (
    JUDGES,
    WIDE,
    Tables,
    board_line,
    cell_of,
    may_replace,
    name_disagreements,
    rows_by,
    shorten,
)
from metassay.api.judge_tables import WHOLE
from metassay.api.label_check import (
    Checked,
    find_warnings,
    list_notes,
    more_labels,
    nearness_sentence,
)
from metassay.api.label_table import PREFERENCES
from metassay.api.label_tables import (
    REQUIRED,
    LabelCard,
    judged_rows,
    make_label_tables,
    why_blank,
)
from metassay.api.preference_study import Pairs
from metassay.api.requirements import check_requirements
from metassay.core.errors import BadInput
from metassay.format.frames import records
from metassay.format.numbers import counted, short, short_interval
from metassay.statistics.exact_sums import Array, Index, Mask
from metassay.statistics.preferences import (
    FEWEST_SYSTEMS,
    FIRST,
    SECOND,
    TIE,
    Strengths,
    base_rates,
    first_beside_people,
    position_card,
    preference_card,
    strength_correlation,
    strengths,
)
from metassay.statistics.random_numbers import generator
from metassay.statistics.shares import Estimate
from metassay.tables.data_warnings import warnings_table

PEOPLE = "people"
SYSTEMS = 5  # shown on the first screen at most
_SHARE = np.array([1.0, 0.0, 0.5])  # of the win of the first text, by code
_BOARD = {
    "agreement": "agreement",
    "agreement_without_ties": "without ties",
    "cohen_kappa": "kappa",
    "position_bias": "position bias",
}


class Standing(NamedTuple):
    """The systems' strengths by people, and by each judge."""

    people: Strengths
    judges: Mapping[str, Strengths]


def check_pairs(pairs: Pairs) -> Checked:
    """Return all that is said of judges of pairs; raises BadInput without a preference."""
    labels = pairs.labels
    required = check_requirements(labels.choices, REQUIRED[PREFERENCES])
    labels = labels._replace(choices=labels.choices._replace(require=required))
    pairs = pairs._replace(labels=labels)
    judged = [np.isfinite(values).any() for values in labels.judges.values()]
    if judged and not any(judged):
        what = "no judge has a preference; name a column with preferences"
        raise BadInput(f"{labels.name}: {what}")
    standing = find_standing(pairs)
    guess = _better_system(pairs, standing.people)
    make = partial(_make_card, pairs=pairs, guess=guess, standing=standing)
    tables, unmet = make_label_tables(labels, make, guess)
    rows = [*_strength_rows(pairs, standing)]
    if rows:
        tables["strengths"] = pd.DataFrame(rows)
    warnings = warnings_table(find_warnings(labels))
    if not warnings.empty:
        tables["warnings"] = warnings
    return Checked(
        tables=tables,
        notes=tuple(list_notes(labels)),
        choices={
            **labels.choices._asdict(),
            "file": labels.name,
            "kind": labels.kind,
        },
        answer=tuple(_answer(pairs, tables)),
        unmet=tuple(unmet),
        board=tuple(line[:WIDE] for line in _board(pairs, tables)),
        cards=tuple(_cards(pairs, tables)),
        headline=tuple(_BOARD),
    )


# ---- systems


def find_standing(pairs: Pairs) -> Standing:
    """Return the strengths of systems, by people and by each judge."""
    judges = {}
    for name, codes in pairs.labels.judges.items():
        won = np.full(codes.size, np.nan)
        played = np.isfinite(codes)
        won[played] = _SHARE[codes[played].astype(np.intp)]
        judges[name] = _strengths_of(won, pairs)
    return Standing(people=_strengths_of(_people_share(pairs), pairs), judges=judges)


def _people_share(pairs: Pairs) -> Array:
    """Return the mean share (items,) of the first text's win by people; NaN without any."""
    table = pairs.labels.table
    rated = np.isfinite(table)
    share = np.where(rated, _SHARE[np.where(rated, table, 0).astype(np.intp)], 0.0)
    n = rated.sum(axis=0)
    return np.where(n > 0, share.sum(axis=0) / np.maximum(n, 1), np.nan)


def _strengths_of(won: Array, pairs: Pairs) -> Strengths:
    played = np.isfinite(won)
    return strengths(
        pairs.first[played],
        pairs.second[played],
        won[played],
        pairs.labels.cluster[played],
        systems=len(pairs.systems),
        confidence=pairs.labels.choices.confidence,
    )


def _better_system(pairs: Pairs, people: Strengths) -> Array:
    """Return the preference (items,) for the system that people find better; else a tie."""
    gap = people.value[pairs.first] - people.value[pairs.second]
    return np.where(gap > 0, FIRST, np.where(gap < 0, SECOND, TIE)).astype(np.float64)


def _strength_rows(pairs: Pairs, standing: Standing) -> Iterator[dict[str, Any]]:
    """Yield each system's strength, by people and judges, and its chance against the average."""
    by = {PEOPLE: standing.people, **standing.judges}
    order = np.argsort(-np.nan_to_num(standing.people.value), kind="stable")
    for who, strength in by.items():
        if np.isnan(strength.value).all():
            continue
        for place in order:
            ends = (strength.value[place], strength.low[place], strength.high[place])
            yield {
                "by": who,
                "system": pairs.systems[place],
                "value": ends[0],
                "low": ends[1],
                "high": ends[2],
                "n": int(strength.n[place]),
                "wins": float(scipy.special.expit(ends[0])),
                "wins_low": float(scipy.special.expit(ends[1])),
                "wins_high": float(scipy.special.expit(ends[2])),
            }


# ---- cards


def _make_card(
    name: str,
    part: str,
    here: Mask,
    *,
    pairs: Pairs,
    guess: Array,
    standing: Standing,
) -> LabelCard:
    labels = pairs.labels
    confidence = labels.choices.confidence
    rng = generator(labels.choices.seed, "preference_card", name, part)
    rows, places = judged_rows(name, labels, here)
    numbers = preference_card(rows, confidence=confidence, rng=rng)
    base = base_rates(rows, guess[places].astype(np.intp))
    games = pairs.games[name][:, here]
    cluster = labels.cluster[here]
    if (games >= 0).all(axis=0).any():
        numbers |= position_card(games, cluster, confidence=confidence, rng=rng)
    else:
        numbers["first_beside_people"] = _first_beside_people(
            games, pairs.people[:, here], cluster, confidence
        )
    if part == WHOLE:
        numbers["strength_correlation"] = strength_correlation(
            standing.judges[name].value, standing.people.value, confidence=confidence
        )
    return LabelCard(
        numbers=numbers,
        base_rate=base,
        classes=(),
        why_blank=why_blank(rows, labels),
    )


def _first_beside_people(
    games: Index, people: Array, cluster: Index, confidence: float
) -> Estimate:
    """Return how much more often than people a judge prefers what is shown first."""
    # By the order in which the judge saw a pair: the second game shows its second text first.
    mirror = np.array([SECOND, FIRST, TIE])
    in_second = games[1] >= 0
    second = np.where(in_second, mirror[np.maximum(games[1], 0)], -1)
    shown_first = np.where(in_second, second, games[0]).astype(np.intp)
    of_people = np.where(in_second, -people[1], people[0])
    return first_beside_people(shown_first, of_people, cluster, confidence=confidence)


# ---- words


def _board(pairs: Pairs, tables: Tables) -> Iterator[str]:
    """Show the judges side by side, then the systems by people and by judges."""
    judges = [*pairs.labels.judges]
    if not judges:
        yield from _systems_board(tables)
        return
    cards = {
        judge: rows_by("statistic", tables, "card", judge) for judge in judges[:JUDGES]
    }
    first = f"{JUDGES} of {len(judges)} judges" if len(judges) > JUDGES else ""
    shown = [key for key in _BOARD if any(key in card for card in cards.values())]
    yield board_line(first, [_BOARD[key] for key in shown])
    for judge, card in cards.items():
        cells = [cell_of(card[key]) if key in card else "" for key in shown]
        yield board_line(judge, cells)
    base = [short(cards[judges[0]][key]["base_rate"]) for key in shown[:3]]
    yield board_line("better system", [cell.replace("1.00", "1") for cell in base])
    yield from _systems_board(tables)


def _systems_board(tables: Tables) -> Iterator[str]:
    """Show the strongest systems, by people and by judges."""
    if "strengths" not in tables:
        return
    rows = records(tables["strengths"])
    by = [*dict.fromkeys(row["by"] for row in rows)][: JUDGES + 1]
    cells_of = {(row["by"], row["system"]): _wins(row) for row in rows}
    systems = [*dict.fromkeys(row["system"] for row in rows)]
    more = f"{SYSTEMS} of {len(systems)} systems" if len(systems) > SYSTEMS else ""
    yield board_line(more or "beats average", [f"by {shorten(who)}" for who in by])
    for system in systems[:SYSTEMS]:
        yield board_line(system, [cells_of.get((who, system), "") for who in by])


def _wins(row: Mapping[str, Any]) -> str:
    ends = short_interval(row["wins_low"], row["wins_high"])
    return f"{short(row['wins'])} {ends}".replace("1.00", "1")


def _cards(pairs: Pairs, tables: Tables) -> Iterator[str]:
    """Write each judge's card as a sentence, for the page."""
    for judge in pairs.labels.judges:
        card = rows_by("statistic", tables, "card", judge)
        numbers = [
            f"{name} {cell_of(card[key])}"
            for key, name in _BOARD.items()
            if key in card
        ]
        yield f"{judge}: {', '.join(numbers)}."


def _answer(pairs: Pairs, tables: Tables) -> Iterator[str]:
    """Say how good the judge is, whether order decides, and how it ranks the systems."""
    if not pairs.labels.judges:
        yield "No judge is here: strengths of systems are by people alone."
        return
    first = next(iter(pairs.labels.judges))
    card = rows_by("statistic", tables, "card", first)
    yield from _position_words(first, card)
    yield _strength_words(pairs, tables, first, card)
    yield may_replace(tables)
    yield from nearness_sentence(pairs.labels, tables, first)
    yield from more_labels(pairs.labels, tables, first, _BOARD)
    yield from name_disagreements(tables, first, card["agreement"]["n"])


def _position_words(judge: str, card: Mapping[str, Any]) -> Iterator[str]:
    if "position_bias" not in card:
        lean = card["first_beside_people"]
        beside = ""
        if lean["low"] is not None:
            beside = (
                f" It prefers the text shown first by {cell_of(lean)} more than people."
            )
        yield (
            f"Position bias of {shorten(judge)}: unknown, as it saw each pair in one"
            f" order.{beside}"
        )
        return
    bias, same = card["position_bias"], card["consistency"]
    which = "no position bias is shown"
    if bias["low"] > 0:
        which = "it favours the text shown first"
    if bias["high"] < 0:
        which = "it favours the text shown second"
    yield (
        f"{shorten(judge)}: {which}, bias {cell_of(bias)}; in both orders the same"
        f" preference in {cell_of(same)} of {counted(same['n'], 'pair')}."
    )


def _strength_words(
    pairs: Pairs, tables: Tables, judge: str, card: Mapping[str, Any]
) -> str:
    n = len(pairs.systems)
    if "strengths" not in tables:
        return (
            f"Strengths of {counted(n, 'system')}: unknown, as some never meet, not even by"
            " way of others."
        )
    correlation = card["strength_correlation"]
    if correlation["value"] is None:
        return (
            f"{counted(n, 'system')}: strengths by {shorten(judge)} and by people are"
            f" correlated from {FEWEST_SYSTEMS} systems on."
        )
    return (
        f"Strengths of {n} systems by {shorten(judge)} and by people correlate"
        f" {cell_of(correlation)}; the interval is for other systems."
    )
