"""Judgments to scores, for every measure of the table of measures.

A score is the mean worth, 0 to 1, of the items that the measure counts: claims,
statements, citations, or comparisons with other texts. Missing data: n_expected is the
number of answers that there should be, n_failed those that are missing (the judge
failed, abstained or has no row, or the text failed); an answer that could change
nothing does not count as missing. The value is the mean over the answers, null if there
is none; `low` and `high` are its bounds in the worst cases. If nothing is expected, all
three are null. A text that failed counts as a single failed answer, with bounds 0 and
1. An item without evidence is worth 0, and no judge is asked.

An author who cites nowhere in the benchmark has null scores of citations, with nothing
expected. For others a statement without citations is unsupported. Part `full` pools the
answers of all leaf parts. Each text has a row for every part that it or the reference
has; measures of whole texts have part `full` only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.scoring.pairing.instruments import Answers, Reals
from metassay.scoring.pairing.questions import Questions, clashes, measures_of
from metassay.scoring.pairing.record import Measure, Question
from metassay.tables.checks import drop_further_references
from metassay.tables.names import FULL, REFERENCE, aligned_suffixes, suffix_of
from metassay.tables.parquet import empty, round_significant
from metassay.tables.scores import SCORES

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

KEY = ["doc_id", "author", "part"]


class Cells(NamedTuple):
    """The n (document, author, part)s that get scores, sorted by key."""

    keys: pd.DataFrame  # doc_id, author, part
    whole: Integers  # the cell of part full of the same text
    system: Flags  # the author is not the reference
    compared: Flags  # the document has a reference
    citing: Flags  # the author cites somewhere in the benchmark


class Lost(NamedTuple):
    """Where units are missing because their text failed."""

    parts: Integers  # cells of leaf parts that failed
    texts: Flags  # cells whose whole text failed


def cells_of(parts: pd.DataFrame, units: pd.DataFrame) -> Cells:
    """Return a cell for the whole text and each part that it or its document's reference has."""
    parts = drop_further_references(parts)
    authors = parts[["doc_id", "author"]].drop_duplicates()
    references = parts.loc[parts["author"] == REFERENCE, ["doc_id", "part"]]
    inherited = authors.merge(references, on="doc_id")
    whole = authors.assign(part=FULL)
    keys = pd.concat([parts[KEY], inherited, whole]).drop_duplicates()
    keys = keys.sort_values(KEY, ignore_index=True)
    # An author without statements may cite: nobody knows.
    statements = units[units["kind"] == "statement"]
    stating = statements["author"].unique()
    citing = statements.loc[statements["citations"].str.len() > 0, "author"].unique()
    return Cells(
        keys=keys,
        whole=places_in(keys.assign(part=FULL), keys),
        system=(keys["author"] != REFERENCE).to_numpy(),
        compared=keys["doc_id"].isin(references["doc_id"]).to_numpy(),
        citing=(~keys["author"].isin(stating) | keys["author"].isin(citing)).to_numpy(),
    )


def places_in(rows: pd.DataFrame, among: pd.DataFrame) -> Integers:
    """Return each row's place in `among` by the columns of `among`; -1 where it is missing."""
    index = pd.MultiIndex.from_frame(among)
    return index.get_indexer(pd.MultiIndex.from_frame(rows[list(among)])).astype(
        np.int64
    )


def lost_units(parts: pd.DataFrame, cells: Cells, *, by_reference: bool) -> Lost:
    """Find where the text's units are missing or, with `by_reference`, those of its reference."""
    key = ["doc_id", "part"] if by_reference else KEY
    writers = parts[parts["author"] == REFERENCE] if by_reference else parts
    failed = writers[writers["status"] != "ok"]
    leaves = failed[failed["leaf"] == "yes"][key]
    wholes = failed[failed["part"] == FULL][key]
    return Lost(
        np.flatnonzero(places_in(cells.keys, leaves) >= 0),
        places_in(cells.keys.assign(part=FULL), wholes) >= 0,
    )


@dataclass(frozen=True)
class Setup:
    """The settings that lead from texts to pairs, as recipes print them.

    `alignments` are the benchmark's, by name, in its order; `questions` its blocks, by
    name.
    """

    segmentation: str
    decomposition: str
    alignments: Mapping[str, str]
    questions: Mapping[str, Questions]
    version: str  # metassay's


def totals(at: Integers, cells: Cells, worth: Reals | None = None) -> Reals:
    """Sum items, or their worth, per cell; part full has those of all parts."""
    size = len(cells.keys)
    by_part = np.bincount(at, worth, minlength=size).astype(float)
    pooled = np.bincount(cells.whole, by_part, minlength=size)
    return np.where(cells.whole == np.arange(size), pooled, by_part)


def ratio(part: Reals, total: Reals) -> Reals:
    """Return part / total, NaN where total is 0."""
    ratios: Reals = np.full(total.shape, np.nan)
    return np.divide(part, total, out=ratios, where=total > 0)


def score_rows(
    keys: pd.DataFrame,
    worth: Reals,
    expected: Reals,
    judged: Reals,
    bounds: Sequence[Reals],
) -> pd.DataFrame:
    """Add columns of `scores` to these keys: means over the judged items, and their bounds."""
    counts = {"n_expected": expected, "n_judged": judged, "n_failed": expected - judged}
    return keys.assign(
        value=ratio(worth, judged),
        **{name: count.astype(np.int64) for name, count in counts.items()},
        **dict(zip(("low", "high"), bounds, strict=True)),
        statistics=np.stack([worth, judged], axis=1).tolist(),
    )


# no explanations are copied
_READ = ["judge", "pair_id", "status", "label", "grade", "recipe"]


class _Rows(NamedTuple):
    """Rows of `pairs`: the cell of each, and those of each question."""

    places: pd.DataFrame  # cell, the cell of its whole text, position, citation
    rows: dict[str, Integers]  # by question
    unread: Flags  # without evidence
    settled: Flags  # no judge was asked, for this or another reason


class _Answered(NamedTuple):
    """A judge's answers, and the place among them of each row of `pairs`, -1 for none."""

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
    """Score every text by every judge that has a row in `judgments`; return table `scores`.

    `statistics` are [worth of the answers, number of answers], which add up over
    documents. Raises BadInput if two blocks ask the same question, a judge has rows of
    several recipes or an answer that its question does not allow, or pairs ask about
    parts that do not exist.
    """
    raise_problems(clashes(setup.questions, list(setup.alignments)))
    cells = cells_of(parts, units)
    pair_rows = _rows_table(pairs, cells)
    losses = {
        "text": lost_units(parts, cells, by_reference=False),
        "reference": lost_units(parts, cells, by_reference=True),
        "nothing": Lost(np.empty(0, np.int64), np.zeros(len(cells.keys), np.bool_)),
    }
    codes, questions = pd.factorize(pairs["pair_id"])
    scores = []
    for judge, answers in judgments[_READ].groupby("judge", sort=True):
        signed = signature(str(judge), answers)
        answered = _answered(str(judge), answers, pair_rows, codes, pd.Index(questions))
        for options in setup.questions.values():
            suffixes = aligned_suffixes(options.alignments, list(setup.alignments))
            for measure in measures_of(options, suffixes.values()):
                counted = _rows_of(measure.counted, pair_rows)
                bounds = _worth(measure, counted, pair_rows, answered)
                # Whole texts are asked about although they failed.
                lost = losses[
                    "nothing" if measure.counted.whole else measure.counted.whose
                ]
                at = pair_rows.places["cell"].to_numpy()[counted]
                table = _scored(cells, lost, measure, at, bounds)
                recipe = _recipe(measure, signed, options, setup)
                scores.append(table.assign(judge=str(judge), recipe=recipe))
    return concat_scores(scores)


def concat_scores(scores: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables `scores` and round the values as the table stores them."""
    if not scores:
        return empty(SCORES)
    table = pd.concat(scores, ignore_index=True)
    return table.assign(value=table["value"].astype("float64").map(round_significant))


def _rows_table(pairs: pd.DataFrame, cells: Cells) -> _Rows:
    where = places_in(pairs, cells.keys)
    if (where < 0).any():
        at = ", ".join(
            f"{k}={shown(v)}" for k, v in pairs.loc[where < 0, KEY].iloc[0].items()
        )
        raise BadInput(
            f"pairs: {at} is not in parts; run segment, decompose and pair again"
        )
    return _Rows(
        pairs[["position", "citation"]].assign(cell=where, whole=cells.whole[where]),
        {
            str(name): np.asarray(rows)
            for name, rows in pairs.groupby("measure").indices.items()
        },
        (pairs["settled"] == "no_evidence").to_numpy(),
        pairs["settled"].notna().to_numpy(),
    )


def signature(judge: str, judgments: pd.DataFrame) -> str:
    """Return the recipe of a judge's rows of `judgments`; BadInput if there are several."""
    recipes = sorted(judgments["recipe"].unique())
    if len(recipes) > 1:
        problem = f"judge {judge!r} has {len(recipes)} recipes ({'; '.join(recipes)})"
        raise BadInput(
            f"judgments: {problem}, which cannot be scored together; judge again"
        )
    return str(recipes[0])


def _answered(
    judge: str,
    judgments: pd.DataFrame,
    rows: _Rows,
    codes: Integers,
    questions: pd.Index,
) -> _Answered:
    """`codes`: the place in the distinct `questions` (pair_id) of each row of `pairs`."""
    ok = judgments[judgments["status"] == "ok"]
    # An answer to a question that no pair asks any more has no place here.
    places = pd.Index(ok["pair_id"]).get_indexer(questions)
    return _Answered(judge, Answers.read(ok), np.where(rows.settled, -1, places[codes]))


def _worth(
    measure: Measure, counted: Integers, pair_rows: _Rows, answered: _Answered
) -> Reals:
    """Return (2, items): the least and the greatest worth of each counted item."""
    bounds = [_bounds(measure.counted, counted, pair_rows, answered)]
    for also in measure.also:
        question = also.question
        absent = also.absent
        rows = _rows_of(question, pair_rows)
        # The columns that an answer shares with the items that it goes into.
        key = ["cell", "position"]
        if question.units == "citation":
            key.append("citation")
        elif question.units == "text":
            key = ["whole"]
        at = places_in(pair_rows.places.iloc[counted], pair_rows.places.iloc[rows][key])
        if absent is None and (at < 0).any():
            lacks = f"{measure.counted.name} without its {question.name}"
            raise BadInput(f"pairs: {lacks}; run pair again")
        # Place -1, the last, has the worth where the question was not asked.
        padded = np.pad(_bounds(question, rows, pair_rows, answered), ((0, 0), (0, 1)))
        padded[:, -1] = 0.0 if absent is None else absent
        bounds.append(padded[:, at])
    return measure.reduce(*bounds)


def _rows_of(question: Question, pair_rows: _Rows) -> Integers:
    return pair_rows.rows.get(question.name, np.empty(0, np.int64))


def _bounds(
    question: Question, rows: Integers, pair_rows: _Rows, answered: _Answered
) -> Reals:
    """Return (2, rows): the least and the greatest worth of each answer, equal if it is known."""
    places = answered.places[rows]
    judged = places >= 0
    answers = answered.answers.take(places[judged])
    worth = question.instrument.answer.worth(answers, question.counts)
    if np.isnan(worth).any():
        raise BadInput(
            f"judgments: judge {answered.judge!r} has {int(np.isnan(worth).sum())} answer(s) to"
            f" {question.name} that are not {question.instrument.answer.expected}; judge again"
        )
    bounds = np.stack([np.zeros(len(rows)), np.ones(len(rows))])
    bounds[:, judged] = worth
    bounds[:, pair_rows.unread[rows]] = 0.0
    return bounds


def _scored(
    cells: Cells, losses: Lost, measure: Measure, items: Integers, bounds: Reals
) -> pd.DataFrame:
    """Return `scores` without judge and recipe; `items`: the cell of each, `bounds` its worth."""
    scored: Flags = np.ones(len(cells.keys), dtype=np.bool_)
    expecting = scored
    if measure.counted.compares:
        scored = cells.system
        expecting = cells.compared
    elif measure.counted.cites:
        expecting = cells.citing
    if measure.counted.whole:
        scored = cells.system & (cells.whole == np.arange(len(cells.keys)))
    at = np.concatenate([items, losses.parts])
    unknown = np.repeat([[0.0], [1.0]], len(losses.parts), axis=1)
    least, most = np.concatenate([bounds, unknown], axis=1)[:, expecting[at]]
    at = at[expecting[at]]
    certain = least == most
    expected = totals(at, cells)
    judged = totals(at[certain], cells)
    worth = totals(at[certain], cells, least[certain])
    low = totals(at, cells, least)
    high = totals(at, cells, most)
    # sections of a text that failed
    unseen = expecting & losses.texts & (expected == 0)
    expected[unseen] = high[unseen] = 1
    keys = cells.keys.assign(metric=measure.description.name)
    shares = [ratio(end, expected) for end in (low, high)]
    return score_rows(keys, worth, expected, judged, shares)[scored]


def _recipe(measure: Measure, signed: str, options: Questions, setup: Setup) -> str:
    """Print every setting that can change the measure, and no other."""
    suffixes = aligned_suffixes("all", list(setup.alignments))
    names = [
        n
        for n, suffix in suffixes.items()
        if suffix == suffix_of(measure.description.name)
    ]
    printed = {
        "against": f"against:{options.against}",
        "alignment": f"alignment:{setup.alignments[names[0]] if names else ''}",
        "borrow": f"borrow:{'yes' if options.borrow else 'no'}",
        "compat": f"compat:{options.compat}",
    }
    settings: set[str] = set()
    for question in measure.questions:
        settings.update(question.evidence.settings)
    evidence = [printed[name] for name in sorted(settings)]
    units = []
    if not all(question.whole for question in measure.questions):
        units = [
            f"segmentation:{setup.segmentation}",
            f"decomposition:{setup.decomposition}",
        ]
    name = measure.description.name
    return "|".join(
        [name, f"judge:{signed}", *units, *evidence, f"metassay:{setup.version}"]
    )
