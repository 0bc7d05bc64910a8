"""Check a judge that prefers one of two texts: agreement, position bias, systems' strengths."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.special

from metassay.api.judge_answers import (
    JUDGES,
    Tables,
    board_line,
    cell_of,
    may_replace,
    name_disagreements,
    rows_by,
    shorten,
)
from metassay.api.label_check import (
    Checked,
    collect_answer,
    find_warnings,
    list_notes,
    more_labels,
    nearness_sentence,
)
from metassay.api.label_tables import (
    KENDALL,
    REQUIRED,
    WHOLE,
    Analysis,
    LabelCard,
    judged_rows,
    labels_for_width,
    make_label_tables,
    weigh_beside_raters,
    why_blank,
)
from metassay.api.labels import PREFERENCES, RANKINGS, Labels
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
from metassay.statistics.rankings import kendall_among, kendall_by_list, mean_kendall
from metassay.statistics.shares import Estimate
from metassay.tables.data_warnings import DataWarning

PEOPLE = "people"
SYSTEMS = 5  # shown on the first screen at most
_SHARE = np.array([1.0, 0.0, 0.5])  # of the win of the first text, by code
AMONG = "kendall_among_raters"
# Numbers of the card on the first screen, and what they are called there, by kind.
_BOARDS = {
    PREFERENCES: {
        "agreement": "agreement",
        "agreement_without_ties": "without ties",
        "cohen_kappa": "kappa",
        "position_bias": "position bias",
    },
    RANKINGS: {
        KENDALL: "Kendall's tau",
        "agreement": "pairs alike",
        "agreement_without_ties": "without ties",
        "cohen_kappa": "kappa",
    },
}


class Standing(NamedTuple):
    """The systems' strengths by people, and by each judge."""

    people: Strengths
    judges: Mapping[str, Strengths]


def check_pairs(pairs: Pairs) -> Checked:
    """Return all that is said of judges of pairs; raises BadInput without a preference."""
    labels = pairs.labels
    required = check_requirements(labels.choices, REQUIRED[labels.kind])
    labels = labels._replace(choices=labels.choices._replace(require=required))
    pairs = pairs._replace(labels=labels)
    judged = [np.isfinite(values).any() for values in labels.judges.values()]
    if judged and not any(judged):
        what = "no judge has a preference; name a column with preferences"
        raise BadInput(f"{labels.name}: {what}")
    standing = find_standing(pairs)
    guess = _better_system(pairs, standing.people)
    make = partial(_make_card, pairs=pairs, guess=guess, standing=standing)
    analysis = Analysis(
        make=make,
        guess=lambda _: guess,
        weigh=partial(weigh_beside_raters, labels=labels),
    )
    tables, unmet = make_label_tables(labels, analysis)
    for name, rows in {
        "strengths": _strength_rows(pairs, standing),
        "rankings": _ranking_rows(pairs),
    }.items():
        table = pd.DataFrame(rows)
        if not table.empty:
            tables[name] = table
    is_ranked = labels.kind == RANKINGS
    return collect_answer(
        labels,
        tables,
        unmet,
        names=_BOARDS[labels.kind],
        # Rankings are counted by texts and documents where they are read.
        notes=labels.notes if is_ranked else list_notes(labels),
        warnings=[*find_warnings(labels), *_warn_of_ends(pairs, tables)],
        answer=_answer(pairs, tables),
        board=_board(pairs, tables),
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
    # A system's texts do not compete with each other.
    played = np.isfinite(won) & (pairs.first != pairs.second)
    return strengths(
        pairs.first[played],
        pairs.second[played],
        won[played],
        pairs.labels.cluster[played],
        systems=len(pairs.systems),
        confidence=pairs.labels.choices.confidence,
    )


def _better_system(pairs: Pairs, people: Strengths) -> Array:
    """Return the preference (items,) for the system that people find better; else a tie.

    Where texts have no systems, always the side that people prefer more often.
    """
    if not pairs.systems:
        more = FIRST if np.nanmean(_people_share(pairs)) >= 0.5 else SECOND
        return np.full(len(pairs.labels.items), more, dtype=np.float64)
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
    if labels.kind == RANKINGS:
        numbers |= _ranking_numbers(labels.judges[name], here, labels)
        # Of the pairs that the judge ranked, as its own tau is.
        judged = np.where(np.isfinite(labels.judges[name]), guess, np.nan)
        base[KENDALL] = _ranking_numbers(judged, here, labels)[KENDALL].value
    else:
        numbers |= _position_numbers(name, here, pairs, rng)
    if part == WHOLE and pairs.systems:
        numbers["strength_correlation"] = strength_correlation(
            standing.judges[name].value, standing.people.value, confidence=confidence
        )
    return LabelCard(
        numbers=numbers,
        base_rate=base,
        needed=labels_for_width(numbers, labels),
        why_blank=why_blank(rows, labels),
    )


def _position_numbers(
    name: str, here: Mask, pairs: Pairs, rng: np.random.Generator
) -> dict[str, Estimate]:
    """Return how far the order in which a judge saw two texts decides."""
    confidence = pairs.labels.choices.confidence
    games = pairs.games[name][:, here]
    cluster = pairs.labels.cluster[here]
    if (games >= 0).all(axis=0).any():
        return position_card(games, cluster, confidence=confidence, rng=rng)
    return {
        "first_beside_people": _first_beside_people(
            games, pairs.people[:, here], cluster, confidence
        )
    }


def _ranking_numbers(judge: Array, here: Mask, labels: Labels) -> dict[str, Estimate]:
    """Return Kendall's tau of a judge and raters, and of raters among themselves."""
    confidence = labels.choices.confidence
    lists, n_lists = labels.cluster[here], int(labels.cluster.max()) + 1
    people = labels.table[:, here]
    tau = kendall_by_list(judge[here], people, lists, n_lists)
    numbers = {KENDALL: mean_kendall(tau, confidence=confidence)}
    if len(people) > 1:
        among = kendall_among(people, lists, n_lists)
        numbers[AMONG] = mean_kendall(among, confidence=confidence)
    return numbers


def _ranking_rows(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """Yield Kendall's tau of each judge and document, the lowest first."""
    labels = pairs.labels
    if labels.kind != RANKINGS:
        return
    lists, n_lists = labels.cluster, int(labels.cluster.max()) + 1
    documents = labels.items["doc"].to_numpy()
    place = np.zeros(n_lists, dtype=np.intp)
    place[lists] = np.arange(lists.size)
    for name, judge in labels.judges.items():
        tau = kendall_by_list(judge, labels.table, lists, n_lists)
        n_pairs = np.bincount(lists[np.isfinite(judge)], minlength=n_lists)
        for code in np.argsort(tau, kind="stable"):
            yield {
                "judge": name,
                "doc": documents[place[code]],
                KENDALL: tau[code],
                "pairs": int(n_pairs[code]),
                "why_blank": ""
                if np.isfinite(tau[code])
                else "all tied, or not ranked",
            }


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
    names = _BOARDS[pairs.labels.kind]
    first = f"{JUDGES} of {len(judges)} judges" if len(judges) > JUDGES else ""
    shown = [key for key in names if any(key in card for card in cards.values())]
    yield board_line(first, [names[key] for key in shown])
    for judge, card in cards.items():
        cells = [cell_of(card[key]) if key in card else "" for key in shown]
        yield board_line(judge, cells)
    of_first = cards[judges[0]]
    if AMONG in of_first:
        yield board_line("rater to rater", [cell_of(of_first[AMONG])])
    base = [short(of_first[key]["base_rate"]) for key in shown]
    guess = "better system" if pairs.systems else "always one side"
    yield board_line(guess, [cell.replace("1.00", "1") for cell in base])
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


def _answer(pairs: Pairs, tables: Tables) -> Iterator[str]:
    """Say how good the judge is, whether order decides, and how it ranks the systems."""
    if not pairs.labels.judges:
        if pairs.systems:
            yield "No judge is here: strengths of systems are by people alone."
        else:
            yield "No judge is here, and nothing tells who wrote the texts."
        return
    first = next(iter(pairs.labels.judges))
    card = rows_by("statistic", tables, "card", first)
    counted_names = _BOARDS[PREFERENCES]
    if pairs.labels.kind == RANKINGS:
        counted_names = {KENDALL: "ranked documents"}
        yield from _kendall_words(first, card, pairs, tables)
    else:
        yield from _position_words(first, card)
    if pairs.systems:
        yield _strength_words(pairs, tables, first, card)
    yield may_replace(tables)
    yield from nearness_sentence(pairs.labels, tables, first)
    yield from more_labels(pairs.labels, tables, first, counted_names)
    yield from name_disagreements(tables, first, card["agreement"]["n"])


def _kendall_words(
    judge: str, card: Mapping[str, Any], pairs: Pairs, tables: Tables
) -> Iterator[str]:
    """Say how a judge ranks, beside raters and one that knows only which system is better."""
    tau = card[KENDALL]
    if tau["value"] is None:
        yield f"No document has texts that {shorten(judge)} and people both rank."
        return
    beside = ""
    if AMONG in card:
        among = card[AMONG]
        beside += f"; raters among themselves {cell_of(among)}"
        if among["n"] != tau["n"]:
            beside += f", of {among['n']:,}"
    if pairs.systems and tau["base_rate"] is not None:
        beside += f"; knowing only which system is better {short(tau['base_rate'])}"
    yield (
        f"{shorten(judge)} and people rank the texts of a document with a tau of"
        f" {cell_of(tau)}, mean of {counted(tau['n'], 'document')}{beside}."
    )
    documents = rows_by("doc", tables, "rankings", judge).values()
    n_undefined = sum(row[KENDALL] is None and row["pairs"] > 0 for row in documents)
    if n_undefined:
        yield (
            f"{counted(n_undefined, 'more document')} that {shorten(judge)} ranks"
            f" {'has' if n_undefined == 1 else 'have'} no tau: it or people tie all texts"
            " that both rank."
        )


def _warn_of_ends(pairs: Pairs, tables: Tables) -> Iterator[DataWarning]:
    """Warn of judges who rank the other way round."""
    if pairs.labels.kind != RANKINGS:
        return
    choices = pairs.labels.choices
    for judge in pairs.labels.judges:
        tau = rows_by("statistic", tables, "card", judge)[KENDALL]
        if tau["high"] is None or tau["high"] >= 0:
            continue
        end = "lower" if judge in choices.higher else "higher"
        better = "less" if end == "lower" else "more"
        option = choices.caller.option(end, judge)
        yield DataWarning(
            kind="labels",
            finding=f"{judge} ranks texts the other way round than people.",
            remedy=f"If {better} is better in its column, say {option}.",
        )


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
