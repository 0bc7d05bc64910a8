"""Tables that reports and `meta-eval` make for their readers, beside those of stages: CSV alone."""

from collections.abc import Iterable, Sequence

import pandas as pd
import pyarrow as pa

from metassay.tables.columns import columns, table
from metassay.tables.parquet import Table

_KNOWN = columns(
    """
    low real?: lower end of the interval
    rubric text: the rubric
    p10 real?: a tenth is below
    p25 real?: a quarter is below
    median real?: half is below
    p75 real?: three quarters are below
    p90 real?: nine tenths are below
    metric_a text: a metric, with its judge in brackets
    metric_b text: another one
    """,
    {},
)


def _table(name: str, says: str, key: str, spec: str) -> Table:
    return table(name, says, key, spec, _KNOWN)


_ALL = (
    _table(
        "conflict_shares",
        "how often two metrics disagree, over all documents",
        "part metric_a metric_b",
        """
        part metric_a metric_b
        n_pairs integer: pairs of texts that have both scores
        n_disagreements integer: those of them that are in conflict
        n_documents integer: documents with such pairs
        share real?: conflicts by pairs; null without a pair
        """,
    ),
    _table(
        "system_groups",
        "which systems a metric cannot tell apart",
        "metric judge author",
        """
        metric judge author
        value real?: mean over the documents that it was compared on
        place integer: 1 is the best
        group text: systems with a common letter cannot be told apart
        n_documents integer: documents with a score of the system
        n_missing integer: the other documents that some system has a score for
        """,
    ),
    _table(
        "rating_violins",
        "what people gave each system, from 0 (worst) to 1 (best)",
        "study criterion part author",
        """
        study criterion part author
        mean real?: mean of the system’s ratings, from 0 (worst) to 1 (best)
        low high p25 median p75
        n integer: ratings
        n_documents integer: documents that it rests on
        """,
    ),
    _table(
        "ranks",
        "every system's mean and rank by each metric and human criterion",
        "scorer_is scorer study part author",
        """
        scorer_is text: whether a metric or people scored
        scorer text: the metric with its judge, or the criterion
        study part metric judge author
        value real?: the system’s mean
        low high better
        rank integer?: 1 is the best, equal values share one; null without a value
        n_ranked integer: how many systems have a value
        """,
    ),
    _table(
        "answers",
        "what came of the places that need an answer",
        "judge measure",
        """
        judge
        measure text: what was asked
        places integer: places that need an answer; the counts from answered on, but for repaired,
          add up to it
        questions integer: put to the judge, equal ones once
        answered integer: places with an answer
        repaired integer: answered, but not in just the form that was asked for
        abstained integer: the judge was not sure enough
        unparsed integer: failed, as the answer could not be read
        refused integer: failed, as the model refused
        truncated integer: failed, as the answer was cut off
        error integer: failed otherwise
        not_needed integer: about one citation, where all citations together decide
        not_judged integer: without an answer, and nobody said why
        no_evidence integer: settled without asking as not entailed, or with the worst grade
        not_applicable integer: settled without asking, as the criterion is not about the text
        no_text integer: failed without asking, as there is no text
        no_claims integer: failed without asking, as the text could not be taken apart
        no_reference integer: failed without asking, as nobody knows whether the reference has the
          part
        """,
    ),
    _table(
        "profile",
        "what texts are like beside the reference's",
        "quantity author",
        """
        quantity text: words, numbers (written in digits), or popularity of words
        author
        n integer: texts with a value
        n_missing integer: texts without, as they failed or have no words
        mean real?: mean over texts
        low high p10 p25 median p75 p90
        difference real?: mean over documents of the value less the reference’s
        difference_low real?: lower end of the difference’s interval
        difference_high real?: upper end of the difference’s interval
        n_difference integer: documents that have both
        """,
    ),
    _table(
        "facets",
        "which facets or sections texts have, and how long they are",
        "author facet",
        """
        author
        facet text: a facet or section; (in none) are words that no facet holds
        n_texts integer: texts of the author
        n_present integer: texts that have the facet
        n_absent integer: texts that lack it
        n_wholly_made_up integer: of the absent, those for which a model returned only what is not
          in the text
        n_unknown integer: texts of which nobody knows, as an answer failed
        n_undivided integer: texts in which no section was found
        n_segments integer: stretches that were returned as this facet
        n_made_up integer: those of them that are not in the text
        n_shares integer: texts that the share rests on
        share real?: mean over texts of the facet’s share of the words
        low high
        """,
    ),
    _table(
        "rubric_grades",
        "grades by rubrics",
        "rubric criterion judge author",
        """
        rubric criterion judge author
        mean real?: mean of the grades
        sd real?: their standard deviation, divided by n
        n integer: texts with a grade
        n_missing integer: texts whose answer failed
        n_unscored integer: texts that the criterion does not score
        """,
    ),
    _table(
        "rubric_levels",
        "how often each grade was given",
        "rubric criterion judge author grade",
        """
        rubric criterion judge author
        grade real?: the grade
        low real?: the lowest grade that the criterion allows
        high real?: the highest one
        better
        n integer: how often it was given
        share real?: of all grades of the author on the criterion
        """,
    ),
    _table(
        "rubric_agreement",
        "grades of judges beside those of people",
        "rubric criterion judge study coefficient",
        """
        rubric criterion judge study coefficient
        value real?: the coefficient; null if undefined
        low high
        n integer: texts that the judge and anybody graded
        n_missing integer: texts that people graded and the judge did not
        n_documents integer: documents that it rests on
        n_raters integer: people who graded
        """,
    ),
    _table(
        "raters",
        "how each person rated",
        "study criterion part rater author",
        """
        study criterion part
        rater text: who rated; “(all)” is all of them
        author
        n integer: ratings
        mean real?: their mean
        sd real?: their standard deviation, with the denominator n − 1
        """,
    ),
    _table(
        "language_models",
        "what language models were asked, and at which cost",
        "stage model",
        """
        stage text: what asked
        model text: the model
        questions integer: how many were asked
        answered integer: how many were answered
        refused integer: answers in which the model refused
        truncated integer: answers that were cut off
        missing integer: without an answer, which asking again may get
        failed integer: without an answer for good
        why text: codes of what is missing or failed, with their numbers
        uncounted integer: answers that came without a number of tokens
        prompt_tokens integer: tokens read
        completion_tokens integer: tokens written
        cost real?: at list price; null without prices
        currency text?: of the cost
        prices_of text?: the day of the prices
        """,
    ),
    _table(
        "kinds",
        "of each kind of item, what a judge detects of what is not entailed, and its false alarms",
        "study kind judge measure",
        """
        study
        kind text: what is tried with the items
        judge
        measure detected|false alarms: share detected of the verdicts on what is not entailed, or
          share of those on the rest that say it is not entailed
        value real?: the share
        low high
        n integer: verdicts that it is of
        n_abstained integer: items of the kind, of either label, of which the judge abstained
        n_failed integer: items of the kind, of either label, without an answer
        """,
    ),
    _table(
        "causes",
        "what changed since numbers were accepted",
        "kind stage what",
        """
        kind text: the kind of cause
        stage text: the first stage that reads it
        what text: what differs
        """,
    ),
)
SUMMARIES: dict[str, Table] = {one.name: one for one in _ALL}

_PANDAS = {pa.float64(): "float64", pa.int64(): "int64"}


def types(name: str) -> dict[str, str]:
    """The columns of such a table in order, and their types in pandas."""
    columns = SUMMARIES[name].columns.items()
    return {
        column: "Int64" if one.null and one.type == pa.int64() else _PANDAS.get(one.type, "object")
        for column, one in columns
    }


def framed(name: str, made: Iterable[Sequence[object]]) -> pd.DataFrame:
    """These rows as such a table."""
    return pd.DataFrame(list(made), columns=list(types(name))).astype(types(name))
