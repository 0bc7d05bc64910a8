"""Tables of reports and `meta-eval` for readers, in addition to those of stages: CSV only."""

from collections.abc import Iterable, Sequence

import pandas as pd
import pyarrow as pa

from metassay.tables.columns import (
    AUTHOR,
    BETTER,
    COEFFICIENT,
    CRITERION,
    HIGH,
    INTEGER,
    JUDGE,
    METRIC,
    PART,
    REAL,
    STUDY,
    TEXT,
)
from metassay.tables.parquet import Column, Table

CONFLICT_SHARES = Table(
    name="conflict_shares",
    says="how often two metrics disagree, over all documents",
    key=("part", "metric_a", "metric_b"),
    columns={
        "part": PART,
        "metric_a": Column(TEXT, "a metric, with its judge in brackets"),
        "metric_b": Column(TEXT, "another one"),
        "n_pairs": Column(INTEGER, "pairs of texts that have both scores"),
        "n_disagreements": Column(INTEGER, "those of them that are in conflict"),
        "n_documents": Column(INTEGER, "documents with such pairs"),
        "share": Column(
            REAL,
            "conflicts by pairs; null without a pair",
            null=True,
        ),
    },
)

SYSTEM_GROUPS = Table(
    name="system_groups",
    says="which systems a metric cannot tell apart",
    key=("metric", "judge", "author"),
    columns={
        "metric": METRIC,
        "judge": JUDGE,
        "author": AUTHOR,
        "value": Column(
            REAL,
            "mean over the documents that it was compared on",
            null=True,
        ),
        "place": Column(INTEGER, "1 is the best"),
        "group": Column(TEXT, "systems with a common letter cannot be told apart"),
        "n_documents": Column(INTEGER, "documents with a score of the system"),
        "n_missing": Column(
            INTEGER,
            "the other documents that some system has a score for",
        ),
    },
)

RATING_VIOLINS = Table(
    name="rating_violins",
    says="what people gave each system, from 0 (worst) to 1 (best)",
    key=("study", "criterion", "part", "author"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "author": AUTHOR,
        "mean": Column(
            REAL,
            "mean of the system’s ratings, from 0 (worst) to 1 (best)",
            null=True,
        ),
        "low": Column(
            REAL,
            "lower end of the interval",
            null=True,
        ),
        "high": HIGH,
        "p25": Column(
            REAL,
            "a quarter is below",
            null=True,
        ),
        "median": Column(
            REAL,
            "half is below",
            null=True,
        ),
        "p75": Column(
            REAL,
            "three quarters are below",
            null=True,
        ),
        "n": Column(INTEGER, "ratings"),
        "n_documents": Column(INTEGER, "documents that it rests on"),
    },
)

RANKS = Table(
    name="ranks",
    says="every system's mean and rank by each metric and human criterion",
    key=("scorer_is", "scorer", "study", "part", "author"),
    columns={
        "scorer_is": Column(TEXT, "whether a metric or people scored"),
        "scorer": Column(TEXT, "the metric with its judge, or the criterion"),
        "study": STUDY,
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "author": AUTHOR,
        "value": Column(
            REAL,
            "the system’s mean",
            null=True,
        ),
        "low": RATING_VIOLINS.columns["low"],
        "high": HIGH,
        "better": BETTER,
        "rank": Column(
            INTEGER,
            "1 is the best, equal values share one; null without a value",
            null=True,
        ),
        "n_ranked": Column(INTEGER, "how many systems have a value"),
    },
)

ANSWERS = Table(
    name="answers",
    says="what came of the places that need an answer",
    key=("judge", "measure"),
    columns={
        "judge": JUDGE,
        "measure": Column(TEXT, "what was asked"),
        "places": Column(
            INTEGER,
            (
                "places that need an answer; the counts from answered on, but for "
                "repaired, add up to it"
            ),
        ),
        "questions": Column(INTEGER, "put to the judge, equal ones once"),
        "answered": Column(INTEGER, "places with an answer"),
        "repaired": Column(
            INTEGER,
            "answered, but not in just the form that was asked for",
        ),
        "abstained": Column(INTEGER, "the judge was not sure enough"),
        "unparsed": Column(INTEGER, "failed, as the answer could not be read"),
        "refused": Column(INTEGER, "failed, as the model refused"),
        "truncated": Column(INTEGER, "failed, as the answer was cut off"),
        "error": Column(INTEGER, "failed otherwise"),
        "not_needed": Column(
            INTEGER,
            "about one citation, where all citations together decide",
        ),
        "not_judged": Column(INTEGER, "without an answer, and nobody said why"),
        "no_evidence": Column(
            INTEGER,
            "settled without asking as not entailed, or with the worst grade",
        ),
        "not_applicable": Column(
            INTEGER,
            "settled without asking, as the criterion is not about the text",
        ),
        "no_text": Column(INTEGER, "failed without asking, as there is no text"),
        "no_claims": Column(
            INTEGER,
            "failed without asking, as the text could not be taken apart",
        ),
        "no_reference": Column(
            INTEGER,
            "failed without asking, as nobody knows whether the reference has the part",
        ),
    },
)

PROFILE = Table(
    name="profile",
    says="what texts are like beside the reference's",
    key=("quantity", "author"),
    columns={
        "quantity": Column(
            TEXT,
            "words, numbers (written in digits), or popularity of words",
        ),
        "author": AUTHOR,
        "n": Column(INTEGER, "texts with a value"),
        "n_missing": Column(INTEGER, "texts without, as they failed or have no words"),
        "mean": Column(
            REAL,
            "mean over texts",
            null=True,
        ),
        "low": RATING_VIOLINS.columns["low"],
        "high": HIGH,
        "p10": Column(
            REAL,
            "a tenth is below",
            null=True,
        ),
        "p25": RATING_VIOLINS.columns["p25"],
        "median": RATING_VIOLINS.columns["median"],
        "p75": RATING_VIOLINS.columns["p75"],
        "p90": Column(
            REAL,
            "nine tenths are below",
            null=True,
        ),
        "difference": Column(
            REAL,
            "mean over documents of the value less the reference’s",
            null=True,
        ),
        "difference_low": Column(
            REAL,
            "lower end of the difference’s interval",
            null=True,
        ),
        "difference_high": Column(
            REAL,
            "upper end of the difference’s interval",
            null=True,
        ),
        "n_difference": Column(INTEGER, "documents that have both"),
    },
)

FACETS = Table(
    name="facets",
    says="which facets or sections texts have, and how long they are",
    key=("author", "facet"),
    columns={
        "author": AUTHOR,
        "facet": Column(
            TEXT,
            "a facet or section; (in none) are words that no facet holds",
        ),
        "n_texts": Column(INTEGER, "texts of the author"),
        "n_present": Column(INTEGER, "texts that have the facet"),
        "n_absent": Column(INTEGER, "texts that lack it"),
        "n_wholly_made_up": Column(
            INTEGER,
            (
                "of the absent, those for which a model returned only what is not in "
                "the text"
            ),
        ),
        "n_unknown": Column(
            INTEGER,
            "texts of which nobody knows, as an answer failed",
        ),
        "n_undivided": Column(INTEGER, "texts in which no section was found"),
        "n_segments": Column(INTEGER, "stretches that were returned as this facet"),
        "n_made_up": Column(INTEGER, "those of them that are not in the text"),
        "n_shares": Column(INTEGER, "texts that the share rests on"),
        "share": Column(
            REAL,
            "mean over texts of the facet’s share of the words",
            null=True,
        ),
        "low": RATING_VIOLINS.columns["low"],
        "high": HIGH,
    },
)

RUBRIC_GRADES = Table(
    name="rubric_grades",
    says="grades by rubrics",
    key=("rubric", "criterion", "judge", "author"),
    columns={
        "rubric": Column(TEXT, "the rubric"),
        "criterion": CRITERION,
        "judge": JUDGE,
        "author": AUTHOR,
        "mean": Column(
            REAL,
            "mean of the grades",
            null=True,
        ),
        "sd": Column(
            REAL,
            "their standard deviation, divided by n",
            null=True,
        ),
        "n": Column(INTEGER, "texts with a grade"),
        "n_missing": Column(INTEGER, "texts whose answer failed"),
        "n_unscored": Column(INTEGER, "texts that the criterion does not score"),
    },
)

RUBRIC_LEVELS = Table(
    name="rubric_levels",
    says="how often each grade was given",
    key=("rubric", "criterion", "judge", "author", "grade"),
    columns={
        "rubric": RUBRIC_GRADES.columns["rubric"],
        "criterion": CRITERION,
        "judge": JUDGE,
        "author": AUTHOR,
        "grade": Column(
            REAL,
            "the grade",
            null=True,
        ),
        "low": Column(
            REAL,
            "the lowest grade that the criterion allows",
            null=True,
        ),
        "high": Column(
            REAL,
            "the highest one",
            null=True,
        ),
        "better": BETTER,
        "n": Column(INTEGER, "how often it was given"),
        "share": Column(
            REAL,
            "of all grades of the author on the criterion",
            null=True,
        ),
    },
)

RUBRIC_AGREEMENT = Table(
    name="rubric_agreement",
    says="grades of judges beside those of people",
    key=("rubric", "criterion", "judge", "study", "coefficient"),
    columns={
        "rubric": RUBRIC_GRADES.columns["rubric"],
        "criterion": CRITERION,
        "judge": JUDGE,
        "study": STUDY,
        "coefficient": COEFFICIENT,
        "value": Column(
            REAL,
            "the coefficient; null if undefined",
            null=True,
        ),
        "low": RATING_VIOLINS.columns["low"],
        "high": HIGH,
        "n": Column(INTEGER, "texts that the judge and anybody graded"),
        "n_missing": Column(INTEGER, "texts that people graded and the judge did not"),
        "n_documents": Column(INTEGER, "documents that it rests on"),
        "n_raters": Column(INTEGER, "people who graded"),
    },
)

RATERS = Table(
    name="raters",
    says="how each person rated",
    key=("study", "criterion", "part", "rater", "author"),
    columns={
        "study": STUDY,
        "criterion": CRITERION,
        "part": PART,
        "rater": Column(TEXT, "who rated; “(all)” is all of them"),
        "author": AUTHOR,
        "n": Column(INTEGER, "ratings"),
        "mean": Column(
            REAL,
            "their mean",
            null=True,
        ),
        "sd": Column(
            REAL,
            "their standard deviation, with the denominator n − 1",
            null=True,
        ),
    },
)

LANGUAGE_MODELS = Table(
    name="language_models",
    says="what language models were asked, and at which cost",
    key=("stage", "model"),
    columns={
        "stage": Column(TEXT, "what asked"),
        "model": Column(TEXT, "the model"),
        "questions": Column(INTEGER, "how many were asked"),
        "answered": Column(INTEGER, "how many were answered"),
        "refused": Column(INTEGER, "answers in which the model refused"),
        "truncated": Column(INTEGER, "answers that were cut off"),
        "missing": Column(INTEGER, "without an answer, which asking again may get"),
        "failed": Column(INTEGER, "without an answer for good"),
        "why": Column(TEXT, "codes of what is missing or failed, with their numbers"),
        "uncounted": Column(INTEGER, "answers that came without a number of tokens"),
        "prompt_tokens": Column(INTEGER, "tokens read"),
        "completion_tokens": Column(INTEGER, "tokens written"),
        "cost": Column(
            REAL,
            "at list price; null without prices",
            null=True,
        ),
        "currency": Column(
            TEXT,
            "of the cost",
            null=True,
        ),
        "prices_of": Column(
            TEXT,
            "the day of the prices",
            null=True,
        ),
    },
)

KINDS = Table(
    name="kinds",
    says=(
        "of each kind of item, what a judge detects of what is not entailed, and its "
        "false alarms"
    ),
    key=("study", "kind", "judge", "measure"),
    columns={
        "study": STUDY,
        "kind": Column(TEXT, "what is tried with the items"),
        "judge": JUDGE,
        "measure": Column(
            TEXT,
            (
                "share detected of the verdicts on what is not entailed, or share of "
                "those on the rest that say it is not entailed"
            ),
            choices=(
                "detected",
                "false alarms",
            ),
        ),
        "value": Column(
            REAL,
            "the share",
            null=True,
        ),
        "low": RATING_VIOLINS.columns["low"],
        "high": HIGH,
        "n": Column(INTEGER, "verdicts that it is of"),
        "n_abstained": Column(
            INTEGER,
            "items of the kind, of either label, of which the judge abstained",
        ),
        "n_failed": Column(
            INTEGER,
            "items of the kind, of either label, without an answer",
        ),
    },
)

CAUSES = Table(
    name="causes",
    says="what changed since numbers were accepted",
    key=("kind", "stage", "what"),
    columns={
        "kind": Column(TEXT, "the kind of cause"),
        "stage": Column(TEXT, "the first stage that reads it"),
        "what": Column(TEXT, "what differs"),
    },
)

SUMMARIES: dict[str, Table] = {
    CONFLICT_SHARES.name: CONFLICT_SHARES,
    SYSTEM_GROUPS.name: SYSTEM_GROUPS,
    RATING_VIOLINS.name: RATING_VIOLINS,
    RANKS.name: RANKS,
    ANSWERS.name: ANSWERS,
    PROFILE.name: PROFILE,
    FACETS.name: FACETS,
    RUBRIC_GRADES.name: RUBRIC_GRADES,
    RUBRIC_LEVELS.name: RUBRIC_LEVELS,
    RUBRIC_AGREEMENT.name: RUBRIC_AGREEMENT,
    RATERS.name: RATERS,
    LANGUAGE_MODELS.name: LANGUAGE_MODELS,
    KINDS.name: KINDS,
    CAUSES.name: CAUSES,
}

_PANDAS = {pa.float64(): "float64", pa.int64(): "int64"}


def types(name: str) -> dict[str, str]:
    """Return the columns of such a table in order, with their pandas types."""
    return {
        column: "Int64"
        if c.null and c.type == pa.int64()
        else _PANDAS.get(c.type, "object")
        for column, c in SUMMARIES[name].columns.items()
    }


def make_frame(name: str, rows: Iterable[Sequence[object]]) -> pd.DataFrame:
    """Return rows as such a table."""
    return pd.DataFrame(list(rows), columns=list(types(name))).astype(types(name))
