"""Regular expressions of the names of columns, systems and criteria.

`column_synonyms.is_called` matches them with a whole name, in small letters with
underscores, unless a comment says otherwise.
"""

import re

# Raters with numbers; as it is written.
RATER = re.compile(
    r"(?:(?:rater|annotator|expert|judge|coder|reviewer|evaluator)(?:[ _.-]?\d+|[ _.-][a-z])"
    r"|[ra][ _.-]?\d+)",
    re.IGNORECASE,
)
# Columns of numbers that programs for forms and tables add: no ratings, and no metrics.
BESIDE = re.compile(
    r"id|.*_id|.*_ids|unnamed_\d+|index|level_\d|row|row_\w+|nr|no|lfd_nr|seed|session|batch|trial"
    r"|n|.*_(sd|std|se|sem|stdev|variance)|(sd|std|se|sem)_.*|created_at|updated_at|timestamp"
    r"|.*_timestamp|date|(?!up_to_).*_date|redcap_\w+"
    # of marked spans
    r"|(.*_)?(start|end|begin)(_(offset|char|pos|position|index))?|(.*_)?offset"
)
# What raters are asked about themselves, and when they rated.
BESIDE_RATINGS = re.compile(
    r"lead_time|duration|duration_\w+|progress|finished|status|location_?latitude"
    r"|location_?longitude|q_(recaptcha|relevantid|duplicate|ballot|total)\w*|seconds|order|page"
    r"|((completion|response|reading)_)?time(_(taken|spent|ms|s|sec|seconds))?|start_?date"
    r"|end_?date|(rater_)?(age|sex|gender|no|number)|alter|years|years_\w+"
    r"|(num(ber)?_(of_)?|total_)?(approvals|rejections|hits|assignments)|(approval|rejection)_rate"
    r"|.*approval_?rate|max_?assignments|.*_?in_?seconds|auto_?approval_?delay\w*|reward\w*|bonus\w*"
    r"|payment|zip(_code)?|postal_code|phone|completion_code|consent\w*"
)
# Whether a row counts: of a crowd worker's submission, of a survey's answers.
ROW_STATUS = re.compile(r".*status|(.*_)?(state|approval)")
ROW_COUNTS = re.compile(
    r"(is_|was_)?(finished|included)|(is_|was_)(valid|approved|accepted|completed?)|include"
)
ROW_COUNTS_NOT = re.compile(
    r"(is_|was_)?(cancell?ed|preview|test_run|spam)|(is_|was_)(excluded|discarded|rejected|skipped)"
    r"|exclude"
)
# Whether a rater paid attention.
CHECK = re.compile(
    r"(.*_)?(attention_?checks?|attn_?checks?|attention_?(test|question|item)s?|imc"
    r"|instructional_manipulation\w*|catch_?(trial|question|item)s?|trap_?(question|item)s?"
    r"|gold_?(question|item)s?|bot_?check|screener|comprehension_?checks?|control_questions?"
    r"|captcha|passed_checks?|checks?_passed)(_?(\d+|passed|failed|answer|response|correct))?"
)
# Columns of words beside texts that nobody takes for those of a system.
NO_SYSTEM = re.compile(
    r"(.*_)?(prompt|instructions?|comments?|remarks?|title|feedback|rationale|explanation"
    r"|justification|question|bemerkung(en)?|kommentare?|titel|url|link|timestamp)(_.*)?"
)
# Systems that are called as references are, alone or numbered, `Reference 2`.
REFERENCES = re.compile(
    r"(human_|expert_)?(reference|gold|golden|ref|ground_truth|groundtruth|goldstandard"
    r"|referenz)s?(_(summary|summaries|note|notes|text|texts|report|output|impression|answer"
    r"|standard|truth))?(_?\d+)?(_human)?"
)
# Those with a word of references that may mean something else.
LIKE_REFERENCE = re.compile(
    r"(.*_)?(reference|gold|golden|ref|gt|ground_truth|groundtruth|referenz|target)(_.*)?"
)
# What says of what sort a text is, and not who wrote it.
KIND_OF_TEXT = re.compile(
    r"((full|original|discharge|clinical|progress|lay|plain|patient|assessment|and)_)*(impression"
    r"|abstract|highlights|conclusions?|findings|plan|assessment|history|hpi|letter|diagnosis"
    r"|description|background|answer|question|key_points|body|content|summary|summaries|note|notes"
    r"|text|texts|report|output|impression|answer|standard|truth)(_text)?"
)
# Systems that are called as people are, who may have written references.
HUMAN = re.compile(
    r"(.*_)?(human|humans|expert|experts|physician|clinician|doctor|original|mensch|arzt)(_.*)?"
)
# What is rated, and nobody who rates.
LIKE_CRITERION = re.compile(
    r"q_?\d+|.*(ness|ity|cy|ance|ence|tion|sion|ment|ing|ship|keit|heit|ung|qualität|quality"
    r"|overall|total|rating|score|grade|grammar|style|tone|format|rank|readab|errors?|fehler|hallu"
    r"|safe|harm|bias|useful|helpful|correct|complete|concise|accura|fluen|coheren|relevan"
    r"|faithful|factual|consisten|missing|clear|omission)(_?\w{0,6})"
)
# One of two texts of which the better is said.
OF_TWO = re.compile(
    r"(model|system|response|output|answer|text|summary|candidate|author|method|note|report"
    r"|completion)_?([ab12]|left|right|first|second)"
)
# Whose verdicts a column holds: people's, a judge's, or else people's.
HUMAN_VERDICTS = re.compile(
    r"(.*_)?(humans?|people|person|expert|annotators?|annotation|raters?|rated|reviewer|coder"
    r"|clinician|physician|doctor|manual|gold|ground_truth|truth|mensch)(_.*)?"
)
JUDGE_VERDICTS = re.compile(
    r"(.*_)?(judge|judged|llm|autorater|auto|pred|predicted|prediction|verdict|model|gpt\w*|claude"
    r"|gemini|llama\w*|mistral|qwen\w*|grader|evaluator|evaluation|metric|score|success|passed"
    r"|assertion)(_.*)?"
)
LABEL_COLUMN = re.compile(
    r"(.*_)?(labels?|target|expected|answer_key|correct_label|gt)(_.*)?"
)
# What is worse the more there is of it; of ranks the first is the best. As it is written.
WORSE = re.compile(
    r"(^|[^a-z])(ter|wer|cer|mer|ppl|perplexity|loss|nll|divergence|distance|levenshtein|latency"
    r"|cost|bias|harms?|harmful|unsafe|rank|ranks|ranking|rang|platz|fp|fn|fpr|fnr|mae|mse|rmse"
    r"|eer|edits?|corrections?|issues?|problems?|flaws?|defects?|faults?|redundan\w*|repetiti\w*"
    r"|severity|confusion|effort|workload|noise|risk|delay)([^a-z]|$)|error|fehler|hallu|omission"
    r"|omitted|missing|contradict|incorrect|penalt|mistake|inaccura|inconsisten|unsupported"
    r"|unfaithful|irrelevan|fabricat|misleading|inappropriate|unnecessary"
    r"|(^|[^a-z])(wrong|invalid|flag|flags|flagged|violations?|violates|failures?|fail|failed"
    r"|abusive|offensive|hate|hateful|harmfulness|dangerous|spam|nonsense|off.?topic|fake"
    r"|stereotypes?|stereotyping|misinformation|disinformation|confabulat\w*)([^a-z]|$)|(?<!\d)1\s*[=:]\s*(best"
    r"|excellent|perfect|very good|good|high|strongly agree|sehr gut)|toxic|m[aä]ngel|falsch"
)
# With one of these, too little is known: "free of errors", "errors corrected".
TURNED = re.compile(
    r"(^|[^a-z])(no|not|non|without|lack\w*|absence|absent|avoid\w*|zero|low|fewest|least"
    r"|reciprocal|correct|corrected|found|detected|detection|accuracy|robust\w*|ohne|keine?|nicht"
    r"|wenige?)([^a-z]|$)|free|frei"
)
# What a text is like, and not how good it is.
NEITHER = re.compile(
    r"(^|[^a-z])(len|length|lengths|words?|tokens?|chars?|characters?|sentences?|seconds?|duration"
    r"|time|year|count|fkgl|fkg|flesch|kincaid|gunning|fog|smog|ari|compression|novelty|density"
    r"|l[aä]nge|w[oö]rter|anzahl|zeit|dauer)([^a-z]|$)"
)
