"""A leaderboard: a table with one row per system, of scores and of people's."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.api.judge_answers import WIDE, board_line, shorten
from metassay.api.label_check import Checked
from metassay.api.label_columns import check_names
from metassay.api.labels import SYSTEMS, Choices
from metassay.core.errors import BadInput, quoted, raise_problems
from metassay.format.frames import records
from metassay.format.numbers import counted, probability, short, short_interval
from metassay.statistics.classes import set_apart
from metassay.statistics.correlation import pearson
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.multiple_tests import significance_level
from metassay.statistics.random_numbers import generator
from metassay.statistics.system_scores import (
    FEWEST,
    NAMES,
    correlate_systems,
    count_pairs,
    permutation_p,
)
from metassay.tabular.column_synonyms import (
    USUAL,
    Role,
    fold_name,
    is_metadata,
    scorer_of,
)
from metassay.tabular.guess import listed
from metassay.tabular.preferences import system_columns
from metassay.tabular.row_choice import choose_rows
from metassay.tabular.rows import Findings
from metassay.tabular.scales import guess_direction
from metassay.tabular.sheet import Sheet, to_keys

SHOWN = 8  # scores on the first screen at most
_NUMERIC = 0.5  # the smallest share of numbers in a column of scores
RELATED, TURNED, OPEN, FEW = "related", "reversed", "not shown", "too few systems"
# Options that take labels of texts, by the choice that they make.
_OF_TEXTS = {
    "by": "by",
    "require": "require",
    "card": "card",
    "choose": "choose",
    "passes": "pass",
    "classes": "class",
}


class Board(NamedTuple):
    """Scores of systems, the higher the better; NaN where there is none."""

    name: str
    systems: tuple[str, ...]
    scores: Mapping[str, Array]  # (systems,) each
    people: Mapping[str, Array]
    choices: Choices
    notes: tuple[str, ...]


def holds_systems(sheet: Sheet, choices: Choices) -> bool:
    """Whether a table has one row per system, with numbers of people and of others."""
    # Values that no row has are reported where the table is read.
    sheet = choose_rows(sheet, choices.rows, Findings())
    column = _system_column(sheet, choices)
    names_texts = choices.doc or choices.rater or choices.claim
    if not column or names_texts or system_columns(sheet.columns):
        return False
    of_texts = {*USUAL[Role.DOC]} & {fold_name(name) for name in sheet.columns}
    if of_texts or choices.passes or choices.classes or choices.pass_from is not None:
        return False
    scores, people = _sides(sheet, choices, column)
    if not (scores and people):
        return False
    numbers = np.concatenate([sheet.values(name) for name in (*scores, *people)])
    is_binary = bool(np.isin(numbers[np.isfinite(numbers)], (0.0, 1.0)).all())
    return not is_binary


def _system_column(sheet: Sheet, choices: Choices) -> str:
    """Return the column of systems, if none has two rows; else ""."""
    named = [name for name in sheet.columns if fold_name(name) in USUAL[Role.SYSTEM]]
    if choices.system:
        named = [choices.system]
    if len(named) != 1 or named[0] not in sheet.frame:
        return ""
    systems = to_keys(sheet.frame[named[0]])
    return "" if systems.duplicated().any() or (systems == "").any() else named[0]


def _sides(
    sheet: Sheet, choices: Choices, system: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of scores, and of people's."""
    numeric = [
        name
        for name in sheet.columns
        if name != system
        and name in sheet.frame
        and sheet.cells(name)
        and sheet.share_of_numbers(name) >= _NUMERIC
        and not sheet.numbers(name).words
    ]
    people = choices.human or tuple(n for n in numeric if scorer_of(n) == "human")
    scores = choices.judge or tuple(
        name
        for name in numeric
        if name not in people and not is_metadata(name, ratings=False)
    )
    return tuple(n for n in scores if n in numeric), tuple(
        n for n in people if n in numeric
    )


def read_systems(sheet: Sheet, choices: Choices) -> Board:
    """Read a leaderboard; raises BadInput with every column that is unclear."""
    faults = Findings()
    odd = [name for name in _OF_TEXTS if getattr(choices, name)]
    if odd:
        option = choices.caller.option(_OF_TEXTS[odd[0]])
        what = f"{option}: takes labels of texts, and this table has one row per system"
        raise BadInput(f"{sheet.name}: {what}; leave it out")
    check_names(sheet, choices)
    sheet = choose_rows(sheet, choices.rows, faults)
    column = _system_column(sheet, choices)
    scores, people = _sides(sheet, choices, column)
    for name in (*choices.judge, *choices.human):
        if name not in (*scores, *people):
            what = (
                f"column {quoted(name)} has no numbers by which systems can be compared"
            )
            fix = f"name one of these: {listed([*scores, *people])}"
            faults.add(sheet.head, what, fix)
    neither = [
        name
        for name in scores
        if name not in (*choices.judge, *choices.lower, *choices.higher)
        and guess_direction(name) == "neither"
    ]
    # Without any other score, these are asked about.
    if len(neither) < len(scores):
        scores = tuple(name for name in scores if name not in neither)
    else:
        neither = []
    values: dict[str, Array] = {}
    ends: dict[str, list[str]] = {"higher": [], "lower": []}
    for name in (*scores, *people):
        better = _direction(sheet, name, choices, faults)
        ends[better].append(name)
        read = sheet.values(name, sheet.clear_numbers(name, faults))
        numbers = np.where(np.isfinite(read), read, np.nan)
        values[name] = -numbers if better == "lower" else numbers
    raise_problems(faults.lines())
    systems = tuple(to_keys(sheet.frame[column]))
    return Board(
        name=sheet.name,
        systems=systems,
        scores={name: values[name] for name in scores},
        people={name: values[name] for name in people},
        choices=choices._replace(system=column, judge=scores, human=people),
        notes=tuple(_notes(sheet, column, values, ends, neither)),
    )


def _direction(sheet: Sheet, name: str, choices: Choices, faults: Findings) -> str:
    """Return whether lower or higher scores are better; a problem where nothing tells."""
    if name in choices.lower:
        return "lower"
    better = "higher" if name in choices.higher else guess_direction(name)
    if better in ("", "neither"):
        lower = choices.caller.option("lower", name)
        higher = choices.caller.option("higher", name)
        what = f"the name {quoted(name)} does not tell whether more is better"
        faults.add(sheet.head, what, f"say {higher} if more is better, else {lower}")
        return "higher"
    return better


def _notes(
    sheet: Sheet,
    column: str,
    values: Mapping[str, Array],
    ends: Mapping[str, list[str]],
    neither: list[str],
) -> Iterator[str]:
    n = len(sheet.frame)
    yield (
        f"{sheet.name}: {counted(n, 'system')} ({column}), one row each: all numbers are"
        " about systems, and none about texts"
    )
    words = {"higher": "more is better", "lower": "less is better"}
    for end, names in ends.items():
        if names:
            yield f"{words[end]}: {listed(names, 8)}"
    gaps = [
        f"{int(np.isnan(v).sum()):,} in {quoted(name)}"
        for name, v in values.items()
        if np.isnan(v).any()
    ]
    if gaps:
        yield f"systems without a score: {', '.join(gaps)}"
    unread = [name for name in sheet.columns if name not in (column, *values)]
    if neither:
        yield f"neither more nor less is better, not compared: {listed(neither, 8)}"
        unread = [name for name in unread if name not in neither]
    if unread:
        yield f"columns that are not read: {listed(unread, len(unread))}"
    yield from sheet.notes


def check_systems(board: Board) -> Checked:
    """Return what a leaderboard shows of its scores: correlations of systems, and their doubt."""
    rows = [row for who in board.people for row in _rows(board, who)]
    table = pd.DataFrame(rows)
    answer = [line for who in board.people for line in _answer(records(table), who)]
    first = next(iter(board.people))
    lines = _board([row for row in records(table) if row["human"] == first], first)
    return Checked(
        tables={"systems": table},
        notes=board.notes,
        choices={**board.choices.recorded, "file": board.name, "kind": SYSTEMS},
        answer=(*answer, _limits(len(board.systems), len(board.people))),
        unmet=(),
        board=tuple(line[:WIDE] for line in lines),
        cards=(),
        headline=NAMES,
    )


def _rows(board: Board, who: str) -> Iterator[dict[str, Any]]:
    """Yield what each score is worth beside people's, the highest correlation first."""
    people, choices = board.people[who], board.choices
    rows = []
    for name, score in board.scores.items():
        both = np.isfinite(score) & np.isfinite(people)
        rows.append(_row(name, who, score[both], people[both], choices.confidence))
    for row, (alone, of_best) in zip(rows, _chances(board, who), strict=True):
        row["p"], row["p_of_best"] = alone, of_best
        row["verdict"] = _verdict(row, significance_level(choices.confidence))
    yield from sorted(rows, key=lambda row: -np.nan_to_num(row["pearson"], nan=-2.0))


def _row(
    name: str, who: str, score: Array, people: Array, confidence: float
) -> dict[str, Any]:
    row: dict[str, Any] = {"human": who, "score": name, "n_systems": score.size}
    numbers = correlate_systems(score, people, confidence=confidence)
    for coefficient, estimate in numbers.items():
        row[coefficient] = estimate.value
        row[f"{coefficient}_low"] = estimate.low
        row[f"{coefficient}_high"] = estimate.high
    pairs = count_pairs(score, people)
    row |= {f"pairs_{kind}": n for kind, n in pairs._asdict().items()}
    apart = set_apart(people) if people.size >= FEWEST else np.zeros(people.size, bool)
    row["n_apart"] = int(np.count_nonzero(apart))
    row["pearson_without"] = np.nan
    if apart.any():
        row["pearson_without"] = round(
            float(pearson(score[~apart], people[~apart])), 12
        )
    return row


def _chances(board: Board, who: str) -> list[tuple[float, float]]:
    """Return p of each score alone, and of the best of all scores of the same systems."""
    people = board.people[who]
    chances: dict[str, tuple[float, float]] = {}
    groups: dict[bytes, list[str]] = {}
    present: dict[bytes, Mask] = {}
    for name, score in board.scores.items():
        both = np.isfinite(score) & np.isfinite(people)
        groups.setdefault(both.tobytes(), []).append(name)
        present[both.tobytes()] = both
    for key, names in groups.items():
        both = present[key]
        if np.count_nonzero(both) < FEWEST:
            chances |= dict.fromkeys(names, (np.nan, np.nan))
            continue
        rng = generator(board.choices.seed, "systems", who, *names)
        scores = np.array([board.scores[name][both] for name in names])
        alone, of_best = permutation_p(scores, people[both], rng)
        # Scores of other systems are tested apart from these: each group takes its share.
        of_best = np.minimum(of_best * len(groups), 1.0)
        for name, p, adjusted in zip(names, alone, of_best, strict=True):
            chances[name] = float(p), float(adjusted)
    return [chances[name] for name in board.scores]


def _verdict(row: Mapping[str, Any], level: float) -> str:
    if row["n_systems"] < FEWEST or np.isnan(row["pearson"]):
        return FEW if row["n_systems"] < FEWEST else OPEN
    if not row["p_of_best"] < level:
        return OPEN
    return RELATED if row["pearson"] > 0 else TURNED


# ---- words


def _board(rows: list[dict[str, Any]], who: str) -> Iterator[str]:
    """Show the scores side by side."""
    more = f"{SHOWN} of {len(rows)} scores" if len(rows) > SHOWN else f"by {who}"
    yield board_line(more, ["Pearson", "Spearman", "Kendall", "pairs in order"])
    for row in rows[:SHOWN]:
        n_pairs = row["pairs_right"] + row["pairs_wrong"] + row["pairs_tied"]
        cells = [_cell(row, name) for name in NAMES]
        yield board_line(row["score"], [*cells, f"{row['pairs_right']} of {n_pairs}"])


def _cell(row: Mapping[str, Any], name: str) -> str:
    if row[name] is None:
        return "undefined"
    cell = (
        f"{short(row[name])} {short_interval(row[f'{name}_low'], row[f'{name}_high'])}"
    )
    return cell.strip().replace("1.00", "1")


def _answer(rows: list[dict[str, Any]], who: str) -> Iterator[str]:
    """Say which scores are related to people's, with what doubt, and what rests on few systems."""
    of_human = [row for row in rows if row["human"] == who]
    related = [row for row in of_human if row["verdict"] == RELATED]
    turned = [row for row in of_human if row["verdict"] == TURNED]
    first = of_human[0]
    n = first["n_systems"]
    many = f" of {len(of_human)} scores" if len(of_human) > 1 else ""
    lead = f"Nearest to {who}{many}: {shorten(first['score'])}, r = {_cell(first, 'pearson')}"
    if first["p_of_best"] is not None:
        p = probability(first["p_of_best"])
        lead += f", p {p}" if p.startswith("<") else f", p = {p}"
        lead += f" for the best{many}" if many else ""
    if first["verdict"] == FEW:
        yield f"{lead}: {counted(n, 'system')} show nothing of others."
    elif first["verdict"] == OPEN:
        yield f"{lead}: {counted(n, 'system')} do not show more than chance."
    else:
        yield f"{lead}: {first['verdict']}."
    if related[1:]:
        names = ", ".join(shorten(row["score"]) for row in related[1:6])
        yield f"Related, too: {names}. Which of the related ones is better is not tested."
    if turned:
        names = ", ".join(shorten(row["score"]) for row in turned[:5])
        yield f"Reversed, worse systems get more: {names}: is less of it better?"
    if first["n_apart"] and first["pearson_without"] is not None:
        yield (
            f"{counted(first['n_apart'], 'system')} stand apart by {who}; without them r ="
            f" {short(first['pearson_without'])}."
        )


def _limits(n: int, n_people: int) -> str:
    alone = ""
    if n_people > 1:
        alone = (
            f"Each of the {n_people} columns of people's scores is tested by itself. "
        )
    return alone + (
        f"Intervals are for other systems like these {n}. Nothing here is about single"
        " texts: that takes scores and ratings of texts (metassay meta-eval SCORES"
        " RATINGS), which also tell more of these systems."
    )
