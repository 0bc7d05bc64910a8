"""Usual names of columns, and what a name says of a column."""

import re

from metassay.core.naming import normalise
from metassay.tabular.name_patterns import (
    BESIDE,
    BESIDE_RATINGS,
    CHECK,
    HUMAN_VERDICTS,
    JUDGE_VERDICTS,
    LABEL_COLUMN,
    LIKE_CRITERION,
    RATER,
    ROW_COUNTS,
    ROW_COUNTS_NOT,
    ROW_STATUS,
)

_SPACING = re.compile(r"[\W_]+")
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")


class Role:
    """Roles of columns; strata and clusters are of documents, families of systems."""

    DOC = "doc"
    SYSTEM = "system"
    TEXT = "text"
    SOURCE = "source"
    REFERENCE = "reference"
    RATER = "rater"
    CRITERION = "criterion"
    METRIC = "metric"
    VALUE = "value"
    STRATA = "strata"
    CLUSTER = "cluster"
    FAMILY = "family"
    PART = "part"


# Usual names of columns by role, in English and in German, in the order in which they are
# looked for.
USUAL = {
    Role.DOC: (
        "doc_id",
        "doc",
        "document_id",
        "document",
        "docid",
        "id",
        "visit_id",
        "visit",
        "encounter_id",
        "encounter",
        "case_id",
        "case",
        "note_id",
        "item_id",
        "item",
        "sample_id",
        "sample",
        "example_id",
        "example",
        "instance_id",
        "record_id",
        "patient_id",
        "patient",
        "dokument",
        "fall",
        "fall_id",
        "fallnummer",
        "fall_nr",
        "text_id",
    ),
    Role.SYSTEM: (
        "system",
        "system_id",
        "author",
        "model",
        "model_id",
        "model_name",
        "system_name",
        "llm",
        "method",
        "generator",
        "summarizer",
        "modell",
    ),
    Role.TEXT: (
        "text",
        "output",
        "system_output",
        "prediction",
        "generated",
        "generated_text",
        "summary",
        "response",
        "hypothesis",
        "candidate",
        "answer",
        "note",
        "generated_note",
        "generated_summary",
        "note_text",
        "summary_text",
        "zusammenfassung",
        "ausgabe",
    ),
    Role.SOURCE: (
        "source",
        "input",
        "dialogue",
        "dialog",
        "transcript",
        "conversation",
        "article",
        "source_text",
        "input_text",
        "document_text",
        "context",
        "report",
        "findings",
        "passage",
        "quelle",
        "quelltext",
    ),
    Role.REFERENCE: (
        "reference",
        "gold",
        "target",
        "reference_text",
        "reference_summary",
        "reference_note",
        "ref",
        "ground_truth",
        "human_reference",
        "gold_note",
        "gold_summary",
        "referenz",
    ),
    Role.RATER: (
        "rater",
        "rater_id",
        "annotator",
        "annotator_id",
        "judge",
        "coder",
        "expert",
        "reviewer",
        "evaluator",
        "worker_id",
        "reader",
        "workerid",
        "annotatorid",
        "raterid",
        "participant",
        "participant_id",
        "prolific_pid",
        "user",
        "username",
        "email",
        "e_mail",
        "email_address",
        "your_name",
        "your_email",
        "annotator_name",
        "rater_name",
        "ihr_name",
        "bewerter",
        "gutachter",
    ),
    Role.CRITERION: (
        "criterion",
        "dimension",
        "aspect",
        "question",
        "quality",
        "category",
        "criteria",
        "kriterium",
    ),
    Role.METRIC: (
        "metric",
        "metric_name",
        "measure",
    ),
    Role.STRATA: (
        "strata",
        "stratum",
    ),
    Role.CLUSTER: (
        "cluster",
        "cluster_id",
    ),
    Role.FAMILY: (
        "family",
        "system_family",
        "model_family",
    ),
    Role.VALUE: (
        "value",
        "score",
        "rating",
        "grade",
        "label",
        "judgment",
        "judgement",
        "wert",
        "bewertung",
    ),
}
# Names of columns for the better of two texts.
WINNERS = (
    "winner",
    "preferred",
    "preference",
    "preferred_model",
    "preferred_text",
    "choice",
    "chosen",
    "better",
    "vote",
    "decision",
    "label",
)
# Columns that name who rated, and hold no ratings.
RATERS = frozenset(USUAL[Role.RATER]) - {"judge", "evaluator"}
# Further fields of nested answers that name the person who gave them.
_RATER_FIELDS = RATERS | {
    "user_id",
    "annotator_index",
    "annotator_uuid",
    "labeler",
    "labeler_id",
    "labeller",
    "user",
    "created_username",
    "completed_by",
    "created_by",
    "reviewer_id",
    "coder_id",
    "expert_id",
    "worker",
    "respondent",
    "respondent_id",
}
# Ids of those who answered a survey, where a row has all answers of one person, the most
# telling first.
RESPONDENTS = (
    "prolific_pid",
    "prolific_id",
    "participant_id",
    "workerid",
    "worker_id",
    "mturk_id",
    "email",
    "email_address",
    "recipientemail",
    "respondent_id",
    "respondent",
    "responseid",
    "response_id",
    "submission_id",
    "id",
    "nr",
    "no",
)
# Whose verdicts a column holds, by its name: the first that fits.
_SCORERS = (
    ("human", HUMAN_VERDICTS),
    ("judge", JUDGE_VERDICTS),
    ("human", LABEL_COLUMN),
)
_OF_ROWS = (CHECK, ROW_STATUS, ROW_COUNTS, ROW_COUNTS_NOT)
_CHECKBOX = re.compile(r"___\w+$")  # REDCap's, one of each answer: 0 or 1
_COMPLETE = re.compile(r".*_complete")  # REDCap's, of each form: 0, 1 or 2
_QUESTION = re.compile(r"q_?\d+")
# A system, as well as a judge.
_MODEL = re.compile("gpt|claude|gemini|llama|mistral|qwen")
# Names of columns of numbers that can be of raters or of their ratings.
MAY_RATE = re.compile("expert|judge|reviewer|evaluator|reader|user")


def fold_name(name: str) -> str:
    """Write a name in small letters, digits and single underscores."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def last_step(name: str) -> str:
    """Write the last step of a nested field's name, `metadata.model`, as `fold_name` does."""
    return fold_name(name.rpartition(".")[2])


def is_called(name: str, names: re.Pattern[str]) -> bool:
    """Whether the whole name of a column or system, folded by `fold_name`, matches."""
    return bool(names.fullmatch(fold_name(name)))


def scorer_of(name: str) -> str:
    """Return whose verdicts a column with this name holds: "human", "judge", or "" if unclear.

    Every command and every reader of other tools' files asks here.

    >>> scorer_of("human_label"), scorer_of("gpt4_verdict"), scorer_of("faithfulness")
    ('human', 'judge', '')
    """
    return next((scorer for scorer, names in _SCORERS if is_called(name, names)), "")


def is_rater_name(name: str) -> bool:
    """Whether a name is that of a rater with a number, `rater_1`."""
    return bool(RATER.fullmatch(name.strip()))


def is_rater_column(name: str) -> bool:
    """Whether a field names the person who gave an answer."""
    return fold_name(name) in _RATER_FIELDS


def is_field_name(name: str) -> bool:
    """Whether a name is a usual one of a column, of a criterion or of a scorer.

    >>> [is_field_name(name) for name in ("doc_id", "human_1", "rater_a", "fluency", "d17")]
    [True, True, True, True, False]
    """
    folded = fold_name(name)
    usual = any(folded in names for names in USUAL.values())
    criterion = names_quality(name) and not _QUESTION.fullmatch(folded)
    scorer = bool(scorer_of(name)) and not _MODEL.match(folded)
    return usual or criterion or scorer or is_rater_name(name)


def is_metadata(name: str, *, ratings: bool, redcap: bool = False) -> bool:
    """Whether a column of numbers is named like neither ratings nor a metric."""
    return bool(
        is_called(name, BESIDE)
        or _CHECKBOX.search(name)
        or (ratings and is_called(name, BESIDE_RATINGS))
        or (ratings and any(is_called(name, names) for names in _OF_ROWS))
        or (redcap and is_called(name, _COMPLETE))
    )


def looks_like_criterion(name: str) -> bool:
    """Whether a column is named like a criterion, not like a rater."""
    return names_quality(name) or fold_name(name).count("_") >= 2


def names_quality(name: str) -> bool:
    """Whether a name has a word for what texts are rated by, such as `faithful`."""
    return is_called(name, LIKE_CRITERION)


def fold_key(key: str) -> str:
    """Return a key without case, spacing, leading zeros and a float's tail: `D-01.0` is `d1`."""
    lower = normalise(key).removesuffix(".0")
    return _SPACING.sub("", _ZEROS.sub("", lower)) or lower
