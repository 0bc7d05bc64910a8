"""Usual names of columns and of their contents."""

import re
from pathlib import Path
from typing import Any

from metassay.core import strict_yaml
from metassay.core.naming import normalise

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


WORDS: Any = strict_yaml.load(Path(__file__).with_name("words.yaml"))


def pattern(name: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a regular expression of words.yaml."""
    return re.compile("".join(WORDS["patterns"][name]), flags)


USUAL = {role: words.split() for role, words in WORDS["usual"].items()}
_OF_RATER = pattern("rater", re.IGNORECASE)
_BESIDE, _BESIDE_RATINGS = pattern("beside"), pattern("beside_ratings")
_CHECKBOX = re.compile(r"___\w+$")  # REDCap's, one of each answer: 0 or 1
CHECK = pattern("check")
ROW_STATUS, ROW_COUNTS, ROW_COUNTS_NOT = map(
    pattern, ("row_status", "row_counts", "row_counts_not")
)
_OF_ROWS = (CHECK, ROW_STATUS, ROW_COUNTS, ROW_COUNTS_NOT)
_COMPLETE = re.compile(r".*_complete")  # REDCap's, of each form: 0, 1 or 2
_LIKE_CRITERION = pattern("like_criterion")
NO_SYSTEM, KIND_OF_TEXT, HUMAN = map(pattern, ("no_system", "kind_of_text", "human"))
REFERENCES, LIKE_REFERENCE = pattern("references"), pattern("like_reference")
# Names of columns for the better of two texts, and for the two.
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
OF_TWO = pattern("of_two")
# Columns that name who rated, and hold no ratings.
RATERS = frozenset(USUAL[Role.RATER]) - {"judge", "evaluator"}
# Whose verdicts a column holds, by its name: the first that fits.
_SCORERS = (
    ("human", pattern("person")),
    ("judge", pattern("judge")),
    ("human", pattern("label")),
)
# Columns with an id of each respondent of a survey, the most telling first.
RESPONDENTS = tuple(WORDS["respondents"].split())
_RATER_FIELDS = RATERS | set(WORDS["rater_fields"].split())
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
    return bool(_OF_RATER.fullmatch(name.strip()))


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
        is_called(name, _BESIDE)
        or _CHECKBOX.search(name)
        or (ratings and is_called(name, _BESIDE_RATINGS))
        or (ratings and any(is_called(name, names) for names in _OF_ROWS))
        or (redcap and is_called(name, _COMPLETE))
    )


def looks_like_criterion(name: str) -> bool:
    """Whether a column is named like a criterion, not like a rater."""
    return names_quality(name) or fold_name(name).count("_") >= 2


def names_quality(name: str) -> bool:
    """Whether a name has a word for what texts are rated by, such as `faithful`."""
    return is_called(name, _LIKE_CRITERION)


def fold_key(key: str) -> str:
    """Return a key without case, spacing, leading zeros and a float's tail: `D-01.0` is `d1`."""
    lower = normalise(key).removesuffix(".0")
    return _SPACING.sub("", _ZEROS.sub("", lower)) or lower
