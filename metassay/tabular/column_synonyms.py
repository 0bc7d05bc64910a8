"""What columns and their contents are usually called."""

import re

from metassay.core.confusables import folded

_SPACING = re.compile(r"[\W_]+")
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")


class Role:
    """What a column holds; strata and clusters are of documents, families of systems."""

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


# In English, and what German spreadsheets write.
_USUAL = {
    Role.DOC: "doc_id doc document_id document docid id visit_id visit encounter_id encounter"
    " case_id case note_id item_id item sample_id sample example_id example instance_id record_id"
    " patient_id patient dokument fall fall_id fallnummer fall_nr text_id",
    Role.SYSTEM: "system system_id author model model_id model_name system_name llm method"
    " generator summarizer modell",
    Role.TEXT: "text output system_output prediction generated generated_text summary response"
    " hypothesis candidate answer note generated_note generated_summary note_text summary_text"
    " zusammenfassung ausgabe",
    Role.SOURCE: "source input dialogue dialog transcript conversation article source_text"
    " input_text document_text context report findings passage quelle quelltext",
    Role.REFERENCE: "reference gold target reference_text reference_summary reference_note ref"
    " ground_truth human_reference gold_note gold_summary referenz",
    Role.RATER: "rater rater_id annotator annotator_id judge coder expert reviewer evaluator"
    " worker_id reader participant participant_id user username email e_mail email_address bewerter"
    " gutachter",
    Role.CRITERION: "criterion dimension aspect question quality category criteria kriterium",
    Role.METRIC: "metric metric_name measure",
    Role.STRATA: "strata stratum",
    Role.CLUSTER: "cluster cluster_id",
    Role.FAMILY: "family system_family model_family",
    Role.VALUE: "value score rating grade label judgment judgement wert bewertung",
}
USUAL = {role: words.split() for role, words in _USUAL.items()}

A_RATER = (
    r"(?:(?:rater|annotator|expert|judge|coder|reviewer|evaluator)(?:[ _.-]?\d+|[ _.-][a-z])"
    r"|[ra][ _.-]?\d+)"
)
_OF_RATER = re.compile(A_RATER, re.IGNORECASE)

# Columns of numbers that programs for forms and tables add, and what raters are asked about
# themselves: no ratings, and no metrics.
_BESIDE = re.compile(
    r"id|.*_id|.*_ids|unnamed_\d+|index|level_\d|row|row_\w+|nr|no|lfd_nr|seed|session|batch|trial"
    r"|n|.*_(sd|std|se|sem|stdev|variance)|(sd|std|se|sem)_.*"
    r"|created_at|updated_at|timestamp|.*_timestamp|date|(?!up_to_).*_date|redcap_\w+"
)
_BESIDE_RATINGS = re.compile(
    r"lead_time|duration|duration_\w+|progress|finished|status|location_?latitude"
    r"|location_?longitude|q_(recaptcha|relevantid|duplicate|ballot|total)\w*|seconds|order|page"
    r"|((completion|response|reading)_)?time(_(taken|spent|ms|s|sec|seconds))?|start_?date|end_?date"
    r"|(rater_)?(age|sex|gender|no|number)|alter|years|years_\w+"
)
_COMPLETE = re.compile(r".*_complete")  # REDCap's, of each form: 0, 1 or 2

# Columns of words beside texts that nobody takes for those of a system.
NO_SYSTEM = re.compile(
    r"(.*_)?(prompt|instructions?|comments?|remarks?|title|feedback|rationale|explanation"
    r"|justification|question|bemerkung(en)?|kommentare?|titel|url|link|timestamp)(_.*)?"
)

_KINDS = "summary|summaries|note|notes|text|texts|report|output|impression|answer|standard|truth"
# Systems that are called as references are, alone or numbered, `Reference 2`.
REFERENCES = re.compile(
    rf"(human_|expert_)?(reference|gold|golden|ref|ground_truth|groundtruth|goldstandard|referenz)s?"
    rf"(_({_KINDS}))?(_?\d+)?(_human)?"
)
# Those with a word of references that may mean something else.
LIKE_REFERENCE = re.compile(
    r"(.*_)?(reference|gold|golden|ref|gt|ground_truth|groundtruth|referenz|target)(_.*)?"
)
# What says of what sort a text is, and not who wrote it.
KIND_OF_TEXT = re.compile(
    r"((full|original|discharge|clinical|progress|lay|plain|patient|assessment|and)_)*"
    r"(impression|abstract|highlights|conclusions?|findings|plan|assessment|history|hpi|letter"
    r"|diagnosis|description|background|answer|question|key_points|body|content"
    rf"|{_KINDS})(_text)?"
)
# Systems that are called as people are, who may have written references.
HUMAN = re.compile(
    r"(.*_)?(human|humans|expert|experts|physician|clinician|doctor|original|mensch|arzt)(_.*)?"
)

_LIKE_CRITERION = re.compile(
    r"q_?\d+|.*(ness|ity|cy|ance|ence|tion|sion|ment|ing|ship|keit|heit|ung|qualität|quality|overall"
    r"|total|rating|score|grade|grammar|style|tone|format|rank|readab|errors?|fehler|hallu"
    r"|safe|harm|bias|useful|helpful|correct|complete|concise|accura|fluen|coheren|relevan|faithful"
    r"|factual|consisten|missing|clear|omission)(_?\w{0,6})"
)


# Which of two texts is better, and the two.
WINNERS = ("winner", "preferred", "preference", "preferred_model", "choice", "chosen", "better")
OF_TWO = re.compile(
    r"(model|system|response|output|answer|text|summary|candidate|author)_?([ab12]|left|right)"
)
# Columns of numbers that may hold who rated, or what such a person gave.
MAY_RATE = re.compile("expert|judge|reviewer|evaluator|reader|user")


def plain(name: str) -> str:
    """A name in small letters, digits and single underscores."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def called(name: str, names: re.Pattern[str]) -> bool:
    """Whether a column or system is called so: the whole name, as `plain` has it."""
    return bool(names.fullmatch(plain(name)))


def of_rater(name: str) -> bool:
    """Whether it is called as raters are who have numbers, `rater_1`."""
    return bool(_OF_RATER.fullmatch(name.strip()))


def beside(name: str, *, ratings: bool, redcap: bool = False) -> bool:
    """Whether a column of numbers is called as one that holds no ratings, or no metric."""
    return bool(
        called(name, _BESIDE)
        or (ratings and called(name, _BESIDE_RATINGS))
        or (redcap and called(name, _COMPLETE))
    )


def like_criterion(name: str) -> bool:
    """Whether a column is called as something that is rated, and not as somebody who rates."""
    return called(name, _LIKE_CRITERION) or plain(name).count("_") >= 2


def plain_key(key: str) -> str:
    """A key without case, spacing, leading zeros and a float's tail: `D-01.0` is `d1`."""
    lower = folded(key).removesuffix(".0")
    return _SPACING.sub("", _ZEROS.sub("", lower)) or lower
