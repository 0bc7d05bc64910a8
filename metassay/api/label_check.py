"""Check a judge whose labels are classes, grades or other numbers: the answer in words."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.api.judge_answers import (
    JUDGES,
    WIDE,
    Tables,
    board_line,
    cell_of,
    may_replace,
    name_disagreements,
    rows_by,
    rows_of,
    shorten,
)
from metassay.api.label_tables import (
    COUNTED,
    REQUIRED,
    UNORDERED,
    Analysis,
    find_label_choices,
    is_one_scale,
    join_raters,
    judged_items,
    judged_rows,
    make_card,
    make_label_tables,
    unlabelled_systems,
    usual_label,
    weigh_beside_raters,
)
from metassay.api.labels import (
    NOMINAL,
    NUMBERS,
    ORDINAL,
    PASS_FAIL,
    PREFERENCES,
    Labels,
)
from metassay.api.requirements import check_requirements
from metassay.core.errors import BadInput
from metassay.format.numbers import counted, short, short_interval
from metassay.meta_evaluation.label_warnings import warn_of_choice, warn_of_unlabelled
from metassay.statistics.exact_sums import Mask
from metassay.statistics.nominal_labels import AGREEMENT, BASELINE
from metassay.statistics.ordinal_labels import BIAS
from metassay.tables.data_warnings import DataWarning, warnings_table

CLASSES = 5  # shown on the first screen at most
# Numbers of the card on the first screen, and what they are called there, by kind.
_BOARD: Mapping[str, Mapping[str, str]] = {
    NOMINAL: {
        AGREEMENT: "agreement",
        "cohen_kappa": "kappa",
        "gwet_ac1": "Gwet's AC1",
        "krippendorff_alpha": "alpha",
    },
    ORDINAL: {
        "exact": "exact",
        "within_one": "within one",
        "weighted_kappa_quadratic": "quadratic kappa",
        "mean_absolute_error": "mean abs. error",
    },
    NUMBERS: {
        "pearson": "Pearson",
        "spearman": "Spearman",
        "mean_absolute_error": "mean abs. error",
    },
}
_OF_CLASS = ("precision", "recall", "as_judged", "corrected")


class Checked(NamedTuple):
    """What `JudgeCheck` is made of."""

    tables: Mapping[str, pd.DataFrame]
    notes: tuple[str, ...]
    choices: Mapping[str, object]
    answer: tuple[str, ...]
    unmet: tuple[str, ...]
    board: tuple[str, ...]
    cards: tuple[str, ...]
    headline: tuple[str, ...]


def check_labels(labels: Labels) -> Checked:
    """Return all that is said of judges with such labels; raises BadInput without a verdict."""
    labels = require_verdicts(labels)
    chosen = bool(find_label_choices(labels))
    guess = np.full(len(labels.items), usual_label(labels))
    analysis = Analysis(
        make=partial(make_card, labels=labels, chosen=chosen),
        guess=lambda _: guess,
        weigh=partial(weigh_beside_raters, labels=labels),
    )
    tables, unmet = make_label_tables(labels, analysis)
    return collect_answer(
        labels,
        tables,
        unmet,
        names=_BOARD[labels.kind],
        notes=list_notes(labels),
        warnings=find_warnings(labels),
        answer=_answer(labels, tables),
        board=_board(labels, tables),
    )


def require_verdicts(labels: Labels) -> Labels:
    """Return the labels with the requirements checked; raises BadInput without a verdict."""
    required = check_requirements(labels.choices, REQUIRED[labels.kind])
    if not any(np.isfinite(values).any() for values in labels.judges.values()):
        what = "no judge has a verdict; name a column with verdicts"
        raise BadInput(f"{labels.name}: {what}")
    return labels._replace(choices=labels.choices._replace(require=required))


def collect_answer(  # noqa: PLR0913 - parts of the answer, all named
    labels: Labels,
    tables: dict[str, pd.DataFrame],
    unmet: Iterable[str],
    *,
    names: Mapping[str, str],
    notes: Iterable[str],
    warnings: Iterable[DataWarning],
    answer: Iterable[str],
    board: Iterable[str],
) -> Checked:
    """Return all that is said of judges; `names`: numbers of the card that the screen has."""
    doubts = warnings_table(warnings)
    if not doubts.empty:
        tables = {**tables, "warnings": doubts}
    return Checked(
        tables=tables,
        notes=tuple(notes),
        choices={
            **labels.choices.recorded,
            "file": labels.name,
            "kind": labels.kind,
        },
        answer=tuple(answer),
        unmet=tuple(unmet),
        board=tuple(line[:WIDE] for line in board),
        cards=tuple(write_cards(labels, tables, names)),
        headline=tuple(names),
    )


# ---- what to know first


def list_notes(labels: Labels) -> Iterator[str]:
    """Yield how a table was read: its size first, then columns and rules."""
    judged = judged_items(labels)
    rated = labels.n > 0
    split: Mask = np.zeros(len(labels.items), dtype=np.bool_)
    if labels.kind in UNORDERED:
        split = join_raters(labels).split
    counts = {
        "judged only": judged & ~rated,
        "without a verdict": rated & ~judged if labels.judges else ~rated & False,
        "split by raters and left out of the card": split,
    }
    sizes = [
        counted(len(labels.items), "row"),
        f"{int(rated.sum()):,} labelled by {counted(len(labels.raters), 'rater')}",
    ]
    for what, rows in counts.items():
        if rows.any():
            sizes.append(f"{np.count_nonzero(rows):,} {what}")
    option = labels.choices.caller.column("doc", "COLUMN")
    alike = f"each row by itself ({option} says what rows share)"
    if "doc" in labels.items and not labels.items["doc"].is_unique:
        documents = counted(labels.items["doc"].nunique(), "document")
        alike = f"{documents} ({labels.choices.doc}), whose rows count as alike"
    yield f"{labels.name}: {', '.join(sizes)}; {alike}"
    yield from labels.notes
    if len(labels.raters) > 1 and labels.kind != PASS_FAIL:
        joined = {
            NOMINAL: "people's label of a row is the commonest of its raters",
            ORDINAL: "people's grade of a row is the median of its raters; between two"
            " grades it counts half for each",
            NUMBERS: "people's number of a row is the mean of its raters",
            PREFERENCES: "people's preference of a pair is the commonest of its raters",
        }
        yield joined[labels.kind]
    if labels.kind == NUMBERS:
        yield from _note_numbers(labels)
    elif (judged & ~rated).any():
        yield "each label is weighted by the rows with its verdict and of its system"


def _note_numbers(labels: Labels) -> Iterator[str]:
    """Say what is not told of numbers, and how rows would be systems."""
    if not {"doc", "system"} & {*labels.items}:
        says = labels.choices.caller.column("system", "COLUMN")
        yield f"rows are taken for texts; if each row is a system, say {says}"
    for name in labels.judges:
        if not is_one_scale(name, labels):
            yield (
                f"{name} and people use different ranges of numbers: only correlations"
                " are told, no errors and no test beside raters"
            )


def find_warnings(labels: Labels) -> Iterator[DataWarning]:
    """Yield what users should know before they trust the numbers of the judges."""
    if labels.kind == NUMBERS:
        tests = find_label_choices(labels)
        if tests:
            most = tests[0]
            finding = (
                f"Labels were chosen. People labelled {most.share:.0%} of the {most.value}"
                f" and {most.other_share:.0%} of the others. Numbers are of the labelled"
                " rows alone."
            )
            remedy = "Choose what to label next at random."
            yield DataWarning(kind="labels", finding=finding, remedy=remedy)
        return
    yield from warn_of_labels(labels, partial(_warn_of_judge, labels=labels))


def warn_of_labels(
    labels: Labels, of_judge: Callable[[str], Iterable[DataWarning]]
) -> Iterator[DataWarning]:
    """Yield what labels were chosen by, warnings of each judge, and systems without labels."""
    # A system without any label has a warning of its own.
    yield from warn_of_choice(
        [
            test
            for test in find_label_choices(labels)
            if test.factor != labels.choices.system
            or (test.labelled and test.other_labelled)
        ]
    )
    everywhere = np.ones(len(labels.items), dtype=np.bool_)
    unlabelled: dict[str, None] = {}
    for name in labels.judges:
        yield from of_judge(name)
        unlabelled |= dict.fromkeys(unlabelled_systems(name, labels, everywhere))
    yield from warn_of_unlabelled([*unlabelled], labels.choices.system, "rows")


def _warn_of_judge(name: str, labels: Labels) -> Iterator[DataWarning]:
    rows, _ = judged_rows(name, labels, np.ones(len(labels.items), dtype=np.bool_))
    if np.isfinite(rows.worth_at_most()):
        finding = (
            "Fewer than 5 documents have any label but the commonest: each document"
            " counts once."
        )
        yield DataWarning(kind="labels", finding=finding)
    for code, n in rows.lacking().items() if rows.labelled.any() else ():
        those = f"rows that {name} labels {labels.names[code]}"
        of_verdict = rows.judge == code
        n_labels = int(np.count_nonzero(of_verdict & rows.labelled))
        finding = (
            f"People labelled {n_labels or 'none'} of the"
            f" {np.count_nonzero(of_verdict):,} {those}. Numbers that rest on these"
            " are blank."
        )
        remedy = f"Label {n} more {those}."
        yield DataWarning(kind="labels", finding=finding, remedy=remedy)


# ---- the first screen


def _board(labels: Labels, tables: Tables) -> Iterator[str]:
    """Show the judges side by side, then the first one's classes or grades."""
    names = _BOARD[labels.kind]
    judges = [*labels.judges]
    first = f"{JUDGES} of {len(judges)} judges" if len(judges) > JUDGES else ""
    cards = {
        judge: rows_by("statistic", tables, "card", judge) for judge in judges[:JUDGES]
    }
    shown = [key for key in names if key in cards[judges[0]]]
    yield board_line(first, [names[key] for key in shown])
    for judge, card in cards.items():
        yield board_line(judge, [cell_of(card[key]) for key in shown if key in card])
    base = [short(cards[judges[0]][key]["base_rate"]) for key in shown]
    if any(base):
        cells = [cell.replace("1.00", "1") for cell in base]
        yield board_line("base rate alone", cells)
    of_classes = rows_of(tables, "classes", judges[0])
    if labels.kind == ORDINAL:
        yield board_line("people's grade", ["bias", "rows"])
        for row in of_classes[:CLASSES]:
            yield board_line(row["label"], [cell_of(row), f"{row['n']:,}"])
    if labels.kind == NOMINAL:
        heads = [name.replace("_", " ") for name in _OF_CLASS]
        more = f"{CLASSES} of {len(labels.names)} classes"
        yield board_line(more if len(labels.names) > CLASSES else "class", heads)
        for label in labels.names[:CLASSES]:
            by_name = {
                row["statistic"]: row for row in of_classes if row["label"] == label
            }
            yield board_line(label, [cell_of(by_name[name]) for name in _OF_CLASS])


def write_cards(
    labels: Labels, tables: Tables, names: Mapping[str, str]
) -> Iterator[str]:
    """Write each judge's card as a sentence, for the page; `names` as in `collect_answer`."""
    for judge in labels.judges:
        card = rows_by("statistic", tables, "card", judge)
        numbers = [
            f"{name} {cell_of(card[key])}" for key, name in names.items() if key in card
        ]
        yield f"{judge}: {', '.join(numbers)}."


# ---- the answer


def _answer(labels: Labels, tables: Tables) -> Iterator[str]:
    """Say how good the judge is, beside people and a baseline, where it errs, what settles it."""
    first = next(iter(labels.judges))
    card = rows_by("statistic", tables, "card", first)
    if labels.kind == NOMINAL:
        yield from _class_sentences(tables, first, card)
    elif BIAS in card:
        yield from _bias_sentence(first, card[BIAS])
    yield _replace_words(labels, tables)
    yield from nearness_sentence(labels, tables, first)
    yield from more_labels(labels, tables, first, _BOARD[labels.kind])
    n = card[COUNTED[labels.kind]]["n"]
    yield from name_disagreements(tables, first, n)


def _class_sentences(
    tables: Tables, judge: str, card: Mapping[str, Any]
) -> Iterator[str]:
    """Say what always giving the commonest label gets, and which class is found least."""
    baseline = card[BASELINE]
    if baseline["value"] is not None:
        ends = short_interval(baseline["low"], baseline["high"])
        yield (
            f"Always giving people's commonest label agrees in {short(baseline['value'])}"
            f" {ends} of the rows."
        )
    recalls = [
        row
        for row in rows_of(tables, "classes", judge)
        if row["statistic"] == "recall" and row["value"] is not None
    ]
    if not recalls:
        return
    worst = min(recalls, key=lambda row: row["value"])
    wrong = [
        row
        for row in rows_of(tables, "confusion", judge)
        if row["people"] == worst["label"] != row["judged"] and row["rows"]
    ]
    most = max(wrong, key=lambda row: row["rows"], default=None)
    instead = ""
    if most is not None:
        instead = f"; it says {most['judged']} in {most['rows']:,.0f} of these rows"
    yield (
        f"Least found by {shorten(judge)}: {worst['label']}, recall {cell_of(worst)} of"
        f" {counted(worst['n'], 'row')}{instead}."
    )


def _bias_sentence(judge: str, bias: Mapping[str, Any]) -> Iterator[str]:
    if bias["value"] is None or bias["low"] is None:
        return
    which = "no bias is shown"
    if bias["low"] > 0:
        which = "it is too high"
    if bias["high"] < 0:
        which = "it is too low"
    yield f"{shorten(judge)} less people, on average: {cell_of(bias)}: {which}."


def _replace_words(labels: Labels, tables: Tables) -> str:
    """Say whether the judge may replace a rater."""
    if labels.kind == NUMBERS and not is_one_scale(next(iter(labels.judges)), labels):
        return (
            "May it replace a rater? Unknown: its numbers are not on the raters' scale."
        )
    return may_replace(tables)


def nearness_sentence(labels: Labels, tables: Tables, judge: str) -> Iterator[str]:
    """Say how near judge and raters are to the other raters."""
    rows = rows_by("of", tables, "beside_raters", judge)
    if not rows:
        return
    cells = {who: cell_of({**row, "why_blank": ""}) for who, row in rows.items()}
    if labels.kind in UNORDERED:
        lead = "Share of the other raters who agree"
    else:
        lead = "Mean distance to the other raters"
    yield (
        f"{lead}: with {shorten(judge)} {cells['judge']}, with a rater {cells['rater']},"
        f" difference {cells['difference']}."
    )


def more_labels(
    labels: Labels, tables: Tables, judge: str, names: Mapping[str, str]
) -> Iterator[str]:
    """Say how many labels make intervals narrow, or may reach what is required.

    `names`: the numbers that are told, and what they are called.
    """
    rows = rows_of(tables, "labels", judge)
    width = short(labels.choices.width)
    if not labels.choices.require:
        counts = [
            f"{row['more']:,.0f} {names[row['for']]}"
            for row in rows
            if row["more"] and row["for"] in names
        ]
        if counts:
            yield (
                f"More labels until an interval is {width} wide ({shorten(judge)}):"
                f" {', '.join(counts)}."
            )
        return
    card = rows_by("statistic", tables, "card", judge)
    for row in rows:
        if not row["aim"].startswith("lower end") or row["more"] == 0:
            continue
        number = card[row["for"]]
        if number["value"] is None:
            yield f"{row['for']}: is undefined, as {number['why_blank']}."
        elif row["more"] is None:
            yield (
                f"{row['for']}: the value is not above what is required: labels alone will"
                " not help."
            )
        else:
            yield (
                f"{row['for']}: {row['more']:,.0f} more labels may reach the {row['aim']}."
            )
