"""Judgments to scores: every measure of the table of measures is scored here, by its record.

A score is the mean worth, 0 to 1, of what the measure counts: claims, statements, citations, or
comparisons with other texts. The rule for missing data is the same for all: n_expected is how many
answers there should be, n_failed how many of them nobody has (the judge failed, abstained or gave
no row, or the text failed); an answer that could change nothing is not missed. The value is the
mean over the answered ones, null if there is none; `low` and `high` are its worst cases. Nothing
expected is null without bounds. A text that failed stands as one expected and failed, with bounds 0
and 1. What has no evidence is worth 0 without a judge.

An author who cites nowhere in the benchmark does not cite: null, with nothing expected. For others
a statement without citations is unsupported. Part `full` pools the answers of all leaf parts. Each
text has a row for every part that it or the reference has; whole texts for part `full` alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.scoring.pairing.instruments import Answers, Reals
from metassay.scoring.pairing.measures import Measure, Question
from metassay.scoring.pairing.questions import Questions, clashes, measures_of
from metassay.tables.checks import without_further_references
from metassay.tables.names import FULL, REFERENCE, aligned_suffixes, suffix_of
from metassay.tables.parquet import empty, rounded
from metassay.tables.scores import SCORES

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

KEY = ["doc_id", "author", "part"]


class Cells(NamedTuple):
    """The (document, author, part)s that get scores: arrays of one length, sorted by key."""

    keys: pd.DataFrame  # doc_id, author, part
    whole: Integers  # the cell of part full of the same text
    system: Flags  # the author is not the reference
    compared: Flags  # the document has a reference
    citing: Flags  # the author cites somewhere in the benchmark


class Lost(NamedTuple):
    """Where units are missing because the text that would have them failed."""

    parts: Integers  # cells of leaf parts that failed
    texts: Flags  # cells whose whole text failed


def cells_of(parts: pd.DataFrame, units: pd.DataFrame) -> Cells:
    """One cell for every part that a text or its document's reference has, and for its whole."""
    parts = without_further_references(parts)
    authors = parts[["doc_id", "author"]].drop_duplicates()
    references = parts.loc[parts["author"] == REFERENCE, ["doc_id", "part"]]
    inherited, whole = authors.merge(references, on="doc_id"), authors.assign(part=FULL)
    keys = pd.concat([parts[KEY], inherited, whole]).drop_duplicates()
    keys = keys.sort_values(KEY, ignore_index=True)
    # Who has statements but cites nothing does not cite; of who has none, that is not known.
    statements = units[units["kind"] == "statement"]
    stating = statements["author"].unique()
    citing = statements.loc[statements["citations"].str.len() > 0, "author"].unique()
    return Cells(
        keys,
        places_in(keys.assign(part=FULL), keys),
        (keys["author"] != REFERENCE).to_numpy(),
        keys["doc_id"].isin(references["doc_id"]).to_numpy(),
        (~keys["author"].isin(stating) | keys["author"].isin(citing)).to_numpy(),
    )


def places_in(rows: pd.DataFrame, among: pd.DataFrame) -> Integers:
    """Where each row is in `among`, which has the same columns; -1 where it is not there."""
    index = pd.MultiIndex.from_frame(among)
    return index.get_indexer(pd.MultiIndex.from_frame(rows[list(among)])).astype(np.int64)


def lost_units(parts: pd.DataFrame, cells: Cells, *, by_reference: bool) -> Lost:
    """Where the text's own units are missing or, with `by_reference`, those of its reference."""
    key = ["doc_id", "part"] if by_reference else KEY
    writers = parts[parts["author"] == REFERENCE] if by_reference else parts
    failed = writers[writers["status"] != "ok"]
    leaves, wholes = failed[failed["leaf"] == "yes"][key], failed[failed["part"] == FULL][key]
    return Lost(
        np.flatnonzero(places_in(cells.keys, leaves) >= 0),
        places_in(cells.keys.assign(part=FULL), wholes) >= 0,
    )


@dataclass(frozen=True)
class Setup:
    """What leads from texts to pairs; the settings as recipes print them.

    `alignments` has the benchmark's, by name, in its order; `questions` its blocks, by name.
    """

    segmentation: str
    decomposition: str
    alignments: Mapping[str, str]
    questions: Mapping[str, Questions]
    version: str  # metassay's


def totals(at: Integers, cells: Cells, worth: Reals | None = None) -> Reals:
    """Items, or their worth, per cell; in part full those of all parts."""
    size = len(cells.keys)
    own = np.bincount(at, worth, minlength=size).astype(float)
    pooled = np.bincount(cells.whole, own, minlength=size)
    return np.where(cells.whole == np.arange(size), pooled, own)


def ratio(part: Reals, total: Reals) -> Reals:
    """Null (NaN) where there is nothing to divide by."""
    ratios: Reals = np.full(total.shape, np.nan)
    np.divide(part, total, out=ratios, where=total > 0)
    return ratios


def score_rows(
    keys: pd.DataFrame, worth: Reals, expected: Reals, judged: Reals, bounds: Sequence[Reals]
) -> pd.DataFrame:
    """Columns of `scores` beside these keys: means of what is judged, which add up; and bounds."""
    counts = {"n_expected": expected, "n_judged": judged, "n_failed": expected - judged}
    return keys.assign(
        value=ratio(worth, judged),
        **{name: count.astype(np.int64) for name, count in counts.items()},
        **dict(zip(("low", "high"), bounds, strict=True)),
        statistics=np.stack([worth, judged], axis=1).tolist(),
    )


_READ = ["judge", "pair_id", "status", "label", "grade", "recipe"]  # no explanations are copied


class _Asked(NamedTuple):
    """Rows of `pairs`: where each belongs, and which ask what."""

    places: pd.DataFrame  # cell, the cell of its whole text, position, citation
    rows: dict[str, Integers]  # by question
    unread: Flags  # there was nothing to read
    settled: Flags  # nobody was asked, for this or another reason


class _Answered(NamedTuple):
    """What one judge said: its answers, and for each row of `pairs` the place there, or -1."""

    judge: str
    answers: Answers
    places: Integers


def judged_scores(
    parts: pd.DataFrame,
    units: pd.DataFrame,
    pairs: pd.DataFrame,
    judgments: pd.DataFrame,
    setup: Setup,
) -> pd.DataFrame:
    """Scores of every text by every judge that has a row in `judgments`; returns table `scores`.

    `statistics` are [worth of the answers, answers], which add up over documents. Raises BadInput
    if two blocks ask the same, a judge has rows of several recipes or an answer that its question
    does not know, or pairs ask about parts that are not there.
    """
    raise_problems(clashes(setup.questions, list(setup.alignments)))
    cells = cells_of(parts, units)
    asked = _asked(pairs, cells)
    losses = {
        "text": lost_units(parts, cells, by_reference=False),
        "reference": lost_units(parts, cells, by_reference=True),
        "nothing": Lost(np.empty(0, np.int64), np.zeros(len(cells.keys), np.bool_)),
    }
    codes, questions = pd.factorize(pairs["pair_id"])
    scores = []
    for judge, given in judgments[_READ].groupby("judge", sort=True):
        signed = signature(str(judge), given)
        answered = _answered(str(judge), given, asked, codes, pd.Index(questions))
        for options in setup.questions.values():
            suffixes = aligned_suffixes(options.alignments, list(setup.alignments))
            for measure in measures_of(options, suffixes.values()):
                counted = _rows_of(measure.counted, asked)
                bounds = _worth(measure, counted, asked, answered)
                # Whole texts are asked about although they failed.
                lost = losses["nothing" if measure.counted.whole else measure.counted.whose]
                at = asked.places["cell"].to_numpy()[counted]
                rows = _scored(cells, lost, measure, at, bounds)
                recipe = _recipe(measure, signed, options, setup)
                scores.append(rows.assign(judge=str(judge), recipe=recipe))
    return together(scores)


def together(scores: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Rows of table `scores` as it has them."""
    if not scores:
        return empty(SCORES)
    found = pd.concat(scores, ignore_index=True)
    return found.assign(value=found["value"].astype("float64").map(rounded))


def _asked(pairs: pd.DataFrame, cells: Cells) -> _Asked:
    where = places_in(pairs, cells.keys)
    if (where < 0).any():
        at = ", ".join(f"{k}={shown(v)}" for k, v in pairs.loc[where < 0, KEY].iloc[0].items())
        raise BadInput(f"pairs: {at} is not in parts; run segment, decompose and pair again")
    return _Asked(
        pairs[["position", "citation"]].assign(cell=where, whole=cells.whole[where]),
        {str(name): np.asarray(rows) for name, rows in pairs.groupby("measure").indices.items()},
        (pairs["settled"] == "no_evidence").to_numpy(),
        pairs["settled"].notna().to_numpy(),
    )


def signature(judge: str, given: pd.DataFrame) -> str:
    """The one recipe of a judge's rows of `judgments`; BadInput if there are several."""
    found = sorted(given["recipe"].unique())
    if len(found) > 1:
        several = f"judge {judge!r} has {len(found)} recipes ({'; '.join(found)})"
        raise BadInput(f"judgments: {several}, which make no score together; judge again")
    return str(found[0])


def _answered(
    judge: str, given: pd.DataFrame, asked: _Asked, codes: Integers, questions: pd.Index
) -> _Answered:
    """`codes` says which of the distinct `questions` (pair_id) each row of `pairs` asks."""
    ok = given[given["status"] == "ok"]
    found = questions.get_indexer(pd.Index(ok["pair_id"]))  # -1: nothing asks it any more
    places = np.full(len(questions), -1, dtype=np.int64)
    places[found[found >= 0]] = np.flatnonzero(found >= 0)
    return _Answered(judge, Answers.of(ok), np.where(asked.settled, -1, places[codes]))


def _worth(measure: Measure, counted: Integers, asked: _Asked, answered: _Answered) -> Reals:
    """(2, items): the least and the most that each counted item is worth."""
    bounds = [_bounds(measure.counted, counted, asked, answered)]
    for also in measure.also:
        question, absent = also.question, also.absent
        rows = _rows_of(question, asked)
        # What an answer shares with all that it goes into.
        key = ["cell", "position", *(["citation"] if question.units == "citation" else [])]
        key = ["whole"] if question.units == "text" else key
        at = places_in(asked.places.iloc[counted], asked.places.iloc[rows][key])
        if absent is None and (at < 0).any():
            lacks = f"{measure.counted.name} without its {question.name}"
            raise BadInput(f"pairs: {lacks}; run pair again")
        # A last place, where -1 finds what an answer is worth that nobody was asked for.
        known = np.pad(_bounds(question, rows, asked, answered), ((0, 0), (0, 1)))
        known[:, -1] = 0.0 if absent is None else absent
        bounds.append(known[:, at])
    return measure.reduce(*bounds)


def _rows_of(question: Question, asked: _Asked) -> Integers:
    return asked.rows.get(question.name, np.empty(0, np.int64))


def _bounds(question: Question, rows: Integers, asked: _Asked, answered: _Answered) -> Reals:
    """(2, rows): what each answer is worth at least and at most, the same where it is known."""
    places = answered.places[rows]
    known = places >= 0
    worth = question.instrument.answer.worth(answered.answers.take(places[known]), question.counts)
    if np.isnan(worth).any():
        raise BadInput(
            f"judgments: judge {answered.judge!r} has {int(np.isnan(worth).sum())} answer(s) to"
            f" {question.name} that are not {question.instrument.answer.said}; judge again"
        )
    bounds = np.stack([np.zeros(len(rows)), np.ones(len(rows))])
    bounds[:, known] = worth
    bounds[:, asked.unread[rows]] = 0.0
    return bounds


def _scored(
    cells: Cells, lost: Lost, measure: Measure, items: Integers, bounds: Reals
) -> pd.DataFrame:
    """Rows of `scores` but for judge and recipe; `items`: the cell of each, `bounds` its worth."""
    scored: Flags = np.ones(len(cells.keys), dtype=np.bool_)
    expecting = scored
    if measure.counted.compares:
        scored, expecting = cells.system, cells.compared
    elif measure.counted.cites:
        expecting = cells.citing
    if measure.counted.whole:
        scored = cells.system & (cells.whole == np.arange(len(cells.keys)))
    at = np.concatenate([items, lost.parts])
    unknown = np.repeat([[0.0], [1.0]], len(lost.parts), axis=1)
    least, most = np.concatenate([bounds, unknown], axis=1)[:, expecting[at]]
    at = at[expecting[at]]
    known = least == most
    expected, judged = totals(at, cells), totals(at[known], cells)
    worth = totals(at[known], cells, least[known])
    low, high = totals(at, cells, least), totals(at, cells, most)
    unseen = expecting & lost.texts & (expected == 0)  # sections of a text that failed
    expected[unseen] = high[unseen] = 1
    keys = cells.keys.assign(metric=measure.description.name)
    shares = [ratio(end, expected) for end in (low, high)]
    return score_rows(keys, worth, expected, judged, shares)[scored]


def _recipe(measure: Measure, signed: str, options: Questions, setup: Setup) -> str:
    """Every setting that can change the measure, and no other."""
    suffixes = aligned_suffixes("all", list(setup.alignments))
    read = [n for n, its in suffixes.items() if its == suffix_of(measure.description.name)]
    printed = {
        "against": f"against:{options.against}",
        "alignment": f"alignment:{setup.alignments[read[0]] if read else ''}",
        "borrow": f"borrow:{'yes' if options.borrow else 'no'}",
        "compat": f"compat:{options.compat}",
    }
    settings = {name for question in measure.questions for name in question.evidence.settings}
    own = [printed[name] for name in sorted(settings)]
    units = [f"segmentation:{setup.segmentation}", f"decomposition:{setup.decomposition}"]
    if all(question.whole for question in measure.questions):
        units = []
    name = measure.description.name
    return "|".join([name, f"judge:{signed}", *units, *own, f"metassay:{setup.version}"])
