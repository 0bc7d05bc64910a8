"""Rubrics: grades and their spread, agreement with people, and some filled in to read."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.format.frames import records, rows
from metassay.format.numbers import counted, shown
from metassay.format.terms import COEFFICIENT_NAMES
from metassay.judges.criteria import Scale, read_criterion
from metassay.reporting.facets import Mark, Marked, marks_of, runs
from metassay.reporting.names import ARROWS, part_rank, sorted_authors
from metassay.reporting.resampled import Reals, Resampling
from metassay.reporting.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Row,
    Section,
    estimate,
    grouped,
    matrix,
    number,
    rests_on,
)
from metassay.reporting.specs import section
from metassay.scoring.rubrics.metrics import NO_REFERENCE_PART
from metassay.statistics.agreement import cohen_kappa, krippendorff_alpha, share_within
from metassay.tables.names import ALL_CITATIONS, FULL, is_reference
from metassay.text.spans import Span

_KEY = ("rubric", "criterion", "judge", "author")
_GRADES = (*_KEY, "mean", "sd", "n", "n_missing", "n_unscored")
_LEVELS = (*_KEY, "grade", "low", "high", "better", "n", "share")
_ROUNDED = 9  # decimals: value x high is the level again


class RubricTables(NamedTuple):
    """`grades`: means and SD; `levels`: how often each grade was given."""

    grades: pd.DataFrame
    levels: pd.DataFrame


def rubric_tables(criteria: pd.DataFrame, scores: pd.DataFrame) -> RubricTables:
    """Per criterion, judge and author: mean and SD of the grades, and each grade's count.

    Of table scores, on whole texts; a score that is a share of the highest level is turned back
    into the level. sd is divided by n (ddof 0). n: texts with a grade; n_missing: texts whose
    answer failed; n_unscored: texts that the criterion does not score. Sums of penalties and
    overall scores have means, and no levels.
    """
    grades: list[tuple[Any, ...]] = []
    levels: list[tuple[Any, ...]] = []
    whole = scores[scores["part"] == FULL].sort_values("doc_id")
    for one in sorted(records(criteria), key=lambda row: (row["rubric"], row["position"])):
        times = one["high"] if one["value"] == "share" and one["kind"] == "scale" else 1.0
        mine = whole[whole["metric"] == one["metric"]]
        texts = dict(list(mine.groupby(["judge", "author"])))
        for judge in sorted(set(mine["judge"])):
            for author in sorted_authors(author for of, author in texts if of == judge):
                of = texts[judge, author]
                key = (one["rubric"], one["criterion"], judge, author)
                given = [round(v * times, _ROUNDED) for v in of["value"].dropna().tolist()]
                missing = int((of["value"].isna() & (of["n_failed"] > 0)).sum())
                counts = (len(given), missing, len(of) - len(given) - missing)
                grades.append((*key, *_mean_and_sd(given), *counts))
                ends = (one["low"], one["high"], one["better"])
                if one["kind"] in ("scale", "penalties"):
                    found = sorted(Counter(given).items())
                    levels += [(*key, grade, *ends, n, n / len(given)) for grade, n in found]
    numbers = dict.fromkeys(("grade", "low", "high", "share"), "float64")
    return RubricTables(
        pd.DataFrame(grades, columns=list(_GRADES)).astype({"mean": "float64", "sd": "float64"}),
        pd.DataFrame(levels, columns=list(_LEVELS)).astype(numbers),
    )


def _mean_and_sd(given: list[float]) -> tuple[float | None, float | None]:
    if not given:
        return None, None
    mean = math.fsum(given) / len(given)
    return mean, math.sqrt(math.fsum((one - mean) ** 2 for one in given) / len(given))


# How often a judge gives a criterion of a rubric the grade that people give it.

_EQUAL_KEY = ("rubric", "criterion", "judge", "study")
_COLUMNS = (*_EQUAL_KEY, "coefficient", "value", "low", "high")
_COUNTS = ("n", "n_missing", "n_documents", "n_raters")
_ALIKE = 0.02  # a grade is a level if it is so near: files round shares such as 1/3
_TEXT = ["doc_id", "author"]

_OF_TWO: dict[str, Callable[[Reals, Reals], Reals]] = {
    "percent": partial(share_within, tolerance=0),
    "cohen_kappa_quadratic": partial(cohen_kappa, distance="quadratic"),
}


def rubric_agreement_table(
    criteria: pd.DataFrame,
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    scales: Mapping[str, Criterion],
    how: Resampling,
) -> pd.DataFrame:
    """One row per criterion, judge, study and coefficient: the judge's grades beside people's.

    Of criteria of kind scale and penalties that people graded under the same name, whole texts, on
    a scale with the same direction: all of their ratings must be grades that the criterion allows,
    as levels or as shares of the highest, or it has no row. The reference is left out.

    percent: share of equal grades; cohen_kappa_quadratic: the same by squared distance, beyond
    chance: both between the judge and each rater in turn, on the texts that both graded, then the
    mean over raters for whom it is defined. krippendorff_alpha_ordinal: the judge as one rater more
    among all. 1 is perfect; null if undefined. n: texts that the judge and anybody graded;
    n_missing: texts that people graded and the judge did not. low, high: percentile bootstrap over
    documents, null with one document and where fewer than half of the resamples are defined.
    """
    made: list[dict[str, Any]] = []
    whole = scores[(scores["part"] == FULL) & ~scores["author"].map(is_reference).astype(bool)]
    people = ratings[(ratings["part"] == FULL) & (ratings["unit"] == "text")]
    people = people[people["value"].notna() & ~people["author"].map(is_reference).astype(bool)]
    for one in sorted(records(criteria), key=lambda row: (row["rubric"], row["position"])):
        mine = people[people["criterion"] == one["criterion"]]
        if one["kind"] not in ("scale", "penalties") or mine.empty:
            continue
        if scales[one["criterion"]].better != one["better"]:
            continue
        of_metric = whole[(whole["metric"] == one["metric"]) & whole["value"].notna()]
        for judge, given in of_metric.groupby("judge", sort=True):
            for study, rated in mine.groupby("study", sort=True):
                key = dict(
                    zip(_EQUAL_KEY, (one["rubric"], one["criterion"], judge, study), strict=True)
                )
                made += [key | row for row in _of_study(one, given, rated, how)]
    numbers = dict.fromkeys(("value", "low", "high"), "float64")
    return pd.DataFrame(made, columns=[*_COLUMNS, *_COUNTS]).astype(numbers)


def _of_study(
    one: Mapping[str, Any], given: pd.DataFrame, rated: pd.DataFrame, how: Resampling
) -> Iterator[dict[str, Any]]:
    unit = 1.0 / one["high"] if one["value"] == "share" and one["kind"] == "scale" else 1.0
    opinions = rated.pivot(index=_TEXT, columns="rater", values="value").sort_index(axis=1)
    people = opinions.to_numpy(dtype=np.float64).T / unit
    levels = np.rint(people)
    high = np.inf if one["high"] is None else one["high"]
    allowed = (np.abs(people - levels) <= _ALIKE) & (levels >= one["low"]) & (levels <= high)
    if not allowed[np.isfinite(people)].all():
        return
    judged = given.set_index(_TEXT)["value"].reindex(opinions.index)
    own = judged.to_numpy(dtype=np.float64) / unit
    # A jury's grade may lie between two levels, and stays there.
    own = np.where(np.abs(own - np.rint(own)) <= _ALIKE, np.rint(own), own)
    both = np.isfinite(own)
    document = pd.factorize(opinions.index.get_level_values("doc_id")[both])[0]
    size = int(document.max(initial=-1)) + 1
    counts = {
        "n": int(both.sum()),
        "n_missing": int((~both).sum()),
        "n_documents": size,
        "n_raters": len(levels),
    }
    weights = _weights(document, size, how)
    for coefficient, values in _coefficients(own[both], levels[:, both], weights):
        ends = _ends(values, how.confidence) if size > 1 else (np.nan, np.nan)
        found = {"value": values[0], "low": ends[0], "high": ends[1]}
        yield {"coefficient": coefficient, **found, **counts}


def _weights(document: Any, size: int, how: Resampling) -> Reals:
    """How often each text counts: once, then in each resample; (1 + resamples, texts)."""
    drawn = np.random.default_rng(how.seed).multinomial(
        size, np.full(size, 1.0 / max(size, 1)), size=how.resamples if size else 0
    )
    weights: Reals = np.vstack([np.ones((1, size)), drawn])[:, document].astype(np.float64)
    return weights


def _coefficients(own: Reals, people: Reals, weights: Reals) -> Iterator[tuple[str, Reals]]:
    """Each coefficient of all texts, then of each resample."""
    nothing = np.full(len(weights), np.nan)
    for name, of in _OF_TWO.items():
        each = []
        for rater in people:
            known = np.isfinite(rater)
            counted = weights[:, known]
            drawn = counted.any(axis=1)
            values = nothing.copy()
            values[drawn] = of(np.stack([own[known], rater[known]]), counted[drawn])
            each.append(values)
        yield name, _mean_over_raters(np.array(each))
    everybody = np.vstack([own, people])
    if own.size:
        yield "krippendorff_alpha_ordinal", krippendorff_alpha(everybody, weights, "ordinal")
    else:
        yield "krippendorff_alpha_ordinal", nothing


def _mean_over_raters(values: Reals) -> Reals:
    """Over raters, of the values that there are; NaN of none."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    mean: Reals = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def _ends(values: Reals, confidence: float) -> tuple[float, float]:
    drawn = values[1:][np.isfinite(values[1:])]
    if not np.isfinite(values[0]) or not drawn.size or 2 * drawn.size < len(values) - 1:
        return np.nan, np.nan
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


# Rubrics: what each criterion asks, what was given, and how far judges agree with people.

_COEFFICIENT = "spearman"  # grades are ranks: a level more is not always worth the same
_EQUAL = "rubric_agreement"
_KINDS = {"total": "sum of penalties", "overall": "overall score"}


def rubrics_section(tables: Mapping[str, pd.DataFrame]) -> Section | None:
    """One group per rubric: its criteria, then authors by criterion and judge; None without any.

    `tables`: criteria, rubric_grades, rubric_levels, rubric_agreement and correlations; all
    but the last have rows or are not there.
    """
    if "criteria" not in tables:
        return None
    lines = sorted(records(tables["criteria"]), key=lambda row: (row["rubric"], row["position"]))
    grades, equal = (
        grouped(records(tables.get(name, pd.DataFrame())), lambda row: row["rubric"])
        for name in ("rubric_grades", _EQUAL)
    )
    agreement, groups = _agreement(tables["correlations"]), list[Group]()
    for name, of in grouped(lines, lambda row: row["rubric"]).items():
        made = _rubric(of, grades.get(name, []), equal.get(name, []), agreement)
        groups.append(made._replace(open=not groups))
    files = ["criteria", *(n for n in ("rubric_grades", "rubric_levels", _EQUAL) if n in tables)]
    return section("rubrics", word=COEFFICIENT_NAMES[_COEFFICIENT], files=files, groups=groups)


def _agreement(correlations: pd.DataFrame) -> dict[tuple[str, str, str], Cell]:
    """Of whole texts by metric, judge and people's criterion; of several studies the first."""
    chosen = correlations[
        (correlations["coefficient"] == _COEFFICIENT)
        & (correlations["level"] == "global")
        & (correlations["part"] == FULL)
    ]
    found: dict[tuple[str, str, str], Cell] = {}
    for row in sorted(records(chosen), key=lambda row: row["study"]):
        key = (row["metric"], row["judge"], row["criterion"])
        found.setdefault(key, estimate(row, f"n = {row['n']:,}"))
    return found


def _rubric(
    lines: Sequence[Row],
    grades: Sequence[Row],
    equal: Sequence[Row],
    agreement: Mapping[tuple[str, str, str], Cell],
) -> Group:
    judges = sorted({row["judge"] for row in grades})
    rated = [judge for judge in judges if any(_same(row, judge) in agreement for row in lines)]
    heads = ["criterion", "asks", "answers", "better", "weight"]
    heads += [f"{judge} and people" for judge in rated]
    criteria = []
    for row in lines:
        beside = [agreement.get(_same(row, judge), NOT_COMPUTED) for judge in rated]
        criteria.append((row["criterion"], [*_about(row), *beside]))
    grids = [Grid("Criteria", heads, criteria, sort=False)]
    for judge in judges:
        mine = [row for row in grades if row["judge"] == judge]
        grids.append(_grades(judge, [row["criterion"] for row in lines], mine))
    grids += [_equal_grades(equal)] if equal else []
    says = [f"Source: {lines[0]['source']}."]
    for rule, of in grouped(lines, lambda row: str(row["missing"])).items():  # each rule once
        says.append(f"Missing data of {', '.join(row['criterion'] for row in of)}: {rule}.")
    soft = f"{counted(len(lines), 'measure')}, {counted(len(judges), 'judge')}"
    return Group(lines[0]["rubric"], soft, grids, says=says)


def _same(row: Row, judge: str) -> tuple[str, str, str]:
    return row["metric"], judge, row["criterion"]


def _about(row: Row) -> list[Cell]:
    high = "no end" if row["high"] is None else f"{row['high']:g}"
    share = ("its share is the score",) if row["value"] == "share" else ()
    return [
        Cell(row["meaning"], css="words"),
        Cell(f"{row['low']:.3g} to {high}", (_KINDS.get(row["kind"]) or row["kind"], *share)),
        Cell(f"{row['better']} {ARROWS[row['better']]}"),
        NOT_COMPUTED if row["weight"] is None else Cell(f"{row['weight']:g}"),
    ]


def _grades(judge: str, criteria: Sequence[str], mine: Sequence[Row]) -> Grid:
    lines: dict[str, dict[str, Cell]] = {a: {} for a in sorted_authors(r["author"] for r in mine)}
    for row in mine:
        counts = f"n = {row['n']:,}"
        counts += f", {row['n_missing']:,} missing" if row["n_missing"] else ""
        counts += f", {row['n_unscored']:,} not scored" if row["n_unscored"] else ""
        sd = f"SD {shown(row['sd'])}" if row["sd"] is not None else ""
        lines[row["author"]][row["criterion"]] = number(row["mean"], sd, counts)
    return matrix(f"Mean grades by {judge}", "author", lines, criteria)


def _equal_grades(mine: Sequence[Row]) -> Grid:
    """Judges and people by criterion, in the order of the table."""
    cells: dict[tuple[str, str, str], list[Cell]] = {}
    for row in mine:
        cell = estimate(row, f"{rests_on(row)}, {row['n_raters']} raters")
        cells.setdefault((row["criterion"], row["judge"], row["study"]), []).append(cell)
    heads = ["criterion", "judge", "study", "equal grades", "kappa, quadratic", "alpha, ordinal"]
    lines = [
        (name, [Cell(judge), Cell(study), *own]) for (name, judge, study), own in cells.items()
    ]
    return Grid("The grades of judges and of people", heads, lines, sort=False)


# Rubrics filled in: for some texts every grade, its anchor, the reason, and the quotes marked.

TEXTS = 12  # at most, each by each judge

_WHY = {
    "not_applicable": "no penalty, not asked: not applicable",
    "no_text": "not asked: there is no text",
    "no_claims": "not asked: nobody knows the text’s parts",
    "no_reference": "not asked: nobody knows whether the reference has the part",
}


class FilledLine(NamedTuple):
    """One criterion: the grade (or why there is none), its level's anchor, reason, lost quotes."""

    criterion: str
    said: str
    failed: bool
    anchor: str
    reason: str
    not_in_text: list[str]


class Filled(NamedTuple):
    """One rubric about one text by one judge, and what the judge read with its quotes marked."""

    rubric: str
    doc_id: str
    author: str
    judge: str
    read: list[tuple[str, Marked]]
    lines: list[FilledLine]


class FilledIn(NamedTuple):
    """Some filled-in rubrics, and how they were chosen."""

    rule: str
    rubrics: list[Filled]


_Text = tuple[str, str]  # doc_id, author
_READ = ("pair_id", "doc_id", "author", "part", "citation", "hypothesis", "context", "settled")


class _Rubric(NamedTuple):
    """A rubric's criteria, the part that each reads, and which parts references have."""

    criteria: list[Row]
    parts: dict[str, str]  # by metric; of what is asked of no text, nobody knows
    in_references: set[tuple[str, str]]  # doc_id, part


def filled_in(
    criteria: pd.DataFrame, pairs: pd.DataFrame, judgments: pd.DataFrame, parts: pd.DataFrame
) -> FilledIn | None:
    """At most TEXTS texts, spread evenly over documents and authors; None without a question.

    Criteria that are not scored of a text have a line too, which says why: by table `parts`, the
    reference lacks what they are about, or they do not apply to the document. Quotes are marked in
    what the judge read by where they start there; one that starts nowhere (-1) is named as not in
    the text.
    """
    lines = sorted(records(criteria), key=lambda row: row["position"])
    of_metric = {row["metric"]: row for row in lines}
    mine = pairs[pairs["measure"].isin(of_metric)]
    forms: dict[str, dict[_Text, list[Row]]] = {}
    ordered = mine[["measure", "position", *_READ]].sort_values(["position", "citation"])
    for question in records(ordered):
        of_texts = forms.setdefault(of_metric[question["measure"]]["rubric"], {})
        of_texts.setdefault((question["doc_id"], question["author"]), []).append(question)
    if not forms:
        return None
    chosen = {rubric: _chosen(found, TEXTS // len(forms)) for rubric, found in forms.items()}
    wanted = {q["pair_id"] for name, keys in chosen.items() for k in keys for q in forms[name][k]}
    of_judges = grouped(
        records(judgments[judgments["pair_id"].isin(wanted)]), lambda row: str(row["judge"])
    )
    answers = {judge: {row["pair_id"]: row for row in of} for judge, of in of_judges.items()}
    known = parts[parts["author"].map(is_reference).astype(bool) & parts["text"].notna()]
    there = {(d, part) for d, part, text in rows(known, "doc_id", "part", "text") if text.strip()}
    read = dict(rows(mine.drop_duplicates("measure"), "measure", "part"))
    made = []
    for name in sorted(forms):
        asked = [r for r in lines if r["rubric"] == name and r["kind"] in ("scale", "penalties")]
        rubric = _Rubric(asked, read, there)
        made += [
            _filled(judge, forms[name][key], answers[judge], rubric)
            for key in chosen[name]
            for judge in sorted(answers)
            if any(question["pair_id"] in answers[judge] for question in forms[name][key])
        ]
    return FilledIn(_rule(forms, sum(map(len, chosen.values()))), made) if made else None


def _rule(rubrics: Mapping[str, Collection[tuple[str, str]]], n_chosen: int) -> str:
    n_forms = sum(map(len, rubrics.values()))
    n_texts = len({key for keys in rubrics.values() for key in keys})
    forms = (
        f"{counted(n_forms, 'filled-in form')} ({counted(len(rubrics), 'rubric')},"
        f" {counted(n_texts, 'text')})"
    )
    if n_chosen == n_forms:
        return f"All {forms}."
    return (
        f"{n_chosen} of {forms}: documents spread evenly over all in the order of their names, one"
        " author of each in turn."
    )


def _chosen(found: Collection[_Text], most: int) -> list[_Text]:
    by_document: dict[str, list[str]] = {}
    for doc_id, author in found:
        by_document.setdefault(doc_id, []).append(author)
    doc_ids, at_most = sorted(by_document), max(1, most)
    if len(found) <= at_most:
        return [(doc_id, a) for doc_id in doc_ids for a in sorted_authors(by_document[doc_id])]
    keys = []
    places = dict.fromkeys(place * len(doc_ids) // at_most for place in range(at_most))
    for turn, place in enumerate(places):
        authors = sorted_authors(by_document[doc_ids[place]])
        keys.append((doc_ids[place], authors[turn % len(authors)]))
    return keys


def _filled(
    judge: str, questions: Sequence[Row], answers: Mapping[str, Row], rubric: _Rubric
) -> Filled:
    names = {row["metric"]: row["criterion"] for row in rubric.criteria}
    marks = marks_of(dict.fromkeys(names[q["measure"]] for q in questions))
    by_read: dict[tuple[str, str], dict[Mark, list[Span]]] = {}
    for question in questions:
        text = question["hypothesis"]
        if text:
            mark = marks[names[question["measure"]]]
            spans = by_read.setdefault((question["part"], text), {}).setdefault(mark, [])
            for quote, start in _quotes(answers.get(question["pair_id"])):
                if start >= 0:
                    spans.append(Span(start, min(start + len(quote), len(text))))
    several = len({text for _, text in by_read}) > 1
    texts = [
        (part if several else "", Marked(runs(text, by_read[part, text]), [], [], []))
        for part, text in sorted(by_read, key=lambda key: part_rank(key[0]))
    ]
    doc_id, author = questions[0]["doc_id"], questions[0]["author"]
    lines = []
    for one in rubric.criteria:
        own = [question for question in questions if question["measure"] == one["metric"]]
        lines += [_line(one, question, answers.get(question["pair_id"])) for question in own]
        if not own:
            lines.append(_not_scored(one, rubric, doc_id))
    return Filled(str(rubric.criteria[0]["rubric"]), doc_id, author, judge, texts, lines)


def _quotes(answer: Row | None) -> list[tuple[str, int]]:
    return list(zip(answer["quotes"], answer["quote_starts"], strict=True)) if answer else []


def _not_scored(one: Row, rubric: _Rubric, doc_id: str) -> FilledLine:
    part = rubric.parts.get(one["metric"], "")
    needed = one["missing"].startswith(NO_REFERENCE_PART)
    why = "not applicable"
    if not part:
        why = "asked of no text"
    elif needed and (doc_id, part) not in rubric.in_references:
        why = f"the reference has no {'text' if part == FULL else part}"
    return FilledLine(one["criterion"], f"not scored: {why}", False, "", "", [])


def _line(one: Row, question: Row, answer: Row | None) -> FilledLine:
    number, settled = question["citation"], question["settled"]
    beside = "" if number == ALL_CITATIONS else f", reference {number + 1}"
    name = one["criterion"] + beside
    if settled == "no_evidence":
        worst = one["low"] if one["better"] == "higher" else one["high"]
        grade = f"level {worst:g}" if one["kind"] == "scale" else "the highest penalty"
        lacking = "words" if question["part"] == FULL else question["part"]
        return FilledLine(
            name, f"{grade} without asking: the text has no {lacking}", False, "", "", []
        )
    if settled is not None:
        return FilledLine(name, _WHY[settled], settled != "not_applicable", "", "", [])
    if answer is None:
        return FilledLine(name, "not judged", True, "", "", [])
    lost = [quote for quote, start in _quotes(answer) if start < 0]
    reason, grade = answer["explanation"] or "", answer["grade"]
    if answer["status"] != "ok" or grade is None:
        return FilledLine(name, f"no grade: {answer['status']}", True, "", reason, lost)
    asked = read_criterion(question["context"] or "")
    low, high = asked.bounds
    if isinstance(asked, Scale):
        anchor = asked.levels.get(f"{grade:g}", "between two levels")
        return FilledLine(name, f"{grade:g} on {low} to {high}", False, anchor, reason, lost)
    most = "" if high is None else f", {high} at most"
    return FilledLine(name, f"penalties: {grade:g}{most}", False, "", reason, lost)
