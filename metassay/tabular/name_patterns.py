"""Regular expressions of the names of columns, systems and criteria.

`column_synonyms.is_called` matches them with a whole name, in small letters with
underscores, unless a comment says otherwise.
"""

import re

# Raters with numbers; as it is written.
RATER = re.compile(
    r"(?:(?:rater|annotator|expert|judge|coder|reviewer|evaluator)(?:[ _.-]?\d+"
    r"|[ _.-][a-z])|[ra][ _.-]?\d+)",
    re.IGNORECASE,
)
# Columns of numbers that programs for forms and tables add: no ratings, and no metrics.
BESIDE = re.compile(
    r"id|.*_id|.*_ids|unnamed_\d+|index|level_\d|row|row_\w+|nr|no|lfd_nr|seed|session"
    r"|batch|trial|n|.*_(sd|std|se|sem|stdev|variance)|(sd|std|se|sem)_.*|created_at"
    r"|updated_at|timestamp|.*_timestamp|date|(?!up_to_).*_date|redcap_\w+"
    # of marked spans
    r"|(.*_)?(start|end|begin)(_(offset|char|pos|position|index))?|(.*_)?offset"
)
# What raters are asked about themselves, and when they rated.
BESIDE_RATINGS = re.compile(
    r"lead_time|duration|duration_\w+|progress|finished|status|location_?latitude"
    r"|location_?longitude|q_(recaptcha|relevantid|duplicate|ballot|total)\w*|seconds"
    r"|order|page|((completion|response|reading)_)?time(_(taken|spent|ms|s|sec"
    r"|seconds))?|start_?date|end_?date|(rater_)?(age|sex|gender|no|number)|alter|years"
    r"|years_\w+|(num(ber)?_(of_)?|total_)?(approvals|rejections|hits|assignments)"
    r"|(approval|rejection)_rate|.*approval_?rate|max_?assignments|.*_?in_?seconds"
    r"|auto_?approval_?delay\w*|reward\w*|bonus\w*|payment|zip(_code)?|postal_code"
    r"|phone|completion_code|consent\w*"
)
# Whether a row counts: of a crowd worker's submission, of a survey's answers.
ROW_STATUS = re.compile(r".*status|(.*_)?(state|approval)")
ROW_COUNTS = re.compile(
    r"(is_|was_)?(finished|included)|(is_|was_)(valid|approved|accepted|completed?)"
    r"|include"
)
ROW_COUNTS_NOT = re.compile(
    r"(is_|was_)?(cancell?ed|preview|test_run|spam)|(is_|was_)(excluded|discarded"
    r"|rejected|skipped)|exclude"
)
# Whether a rater paid attention.
CHECK = re.compile(
    r"(.*_)?(attention_?checks?|attn_?checks?|attention_?(test|question|item)s?|imc"
    r"|instructional_manipulation\w*|catch_?(trial|question|item)s?|trap_?(question"
    r"|item)s?|gold_?(question|item)s?|bot_?check|screener|comprehension_?checks?"
    r"|control_questions?|captcha|passed_checks?|checks?_passed)(_?(\d+|passed|failed"
    r"|answer|response|correct))?"
)
# Columns of words beside texts that nobody takes for those of a system.
NO_SYSTEM = re.compile(
    r"(.*_)?(prompt|instructions?|comments?|remarks?|title|feedback|rationale"
    r"|explanation|justification|question|bemerkung(en)?|kommentare?|titel|url|link"
    r"|timestamp)(_.*)?"
)
# Systems that are called as references are, alone or numbered, `Reference 2`.
REFERENCES = re.compile(
    r"(human_|expert_)?(reference|gold|golden|ref|ground_truth|groundtruth|goldstandard"
    r"|referenz)s?(_(summary|summaries|note|notes|text|texts|report|output|impression"
    r"|answer|standard|truth))?(_?\d+)?(_human)?"
)
# Those with a word of references that may mean something else.
LIKE_REFERENCE = re.compile(
    r"(.*_)?(reference|gold|golden|ref|gt|ground_truth|groundtruth|referenz"
    r"|target)(_.*)?"
)
# What says of what sort a text is, and not who wrote it.
KIND_OF_TEXT = re.compile(
    r"((full|original|discharge|clinical|progress|lay|plain|patient|assessment"
    r"|and)_)*(impression|abstract|highlights|conclusions?|findings|plan|assessment"
    r"|history|hpi|letter|diagnosis|description|background|answer|question|key_points"
    r"|body|content|summary|summaries|note|notes|text|texts|report|output|impression"
    r"|answer|standard|truth)(_text)?"
)
# Systems that are called as people are, who may have written references.
HUMAN = re.compile(
    r"(.*_)?(human|humans|expert|experts|physician|clinician|doctor|original|mensch"
    r"|arzt)(_.*)?"
)
# What is rated, and nobody who rates.
LIKE_CRITERION = re.compile(
    r"q_?\d+|.*(ness|ity|cy|ance|ence|tion|sion|ment|ing|ship|keit|heit|ung|qualität"
    r"|quality|overall|total|rating|score|grade|grammar|style|tone|format|rank|readab"
    r"|errors?|fehler|hallu|safe|harm|bias|useful|helpful|correct|complete|concise"
    r"|accura|fluen|coheren|relevan|faithful|factual|consisten|missing|clear"
    r"|omission)(_?\w{0,6})"
)
# One of two texts of which the better is said.
OF_TWO = re.compile(
    r"(model|system|response|output|answer|text|summary|candidate|author|method|note"
    r"|report|completion)_?([ab12]|left|right|first|second)"
)
# Whose verdicts a column holds: people's, a judge's, or else people's.
HUMAN_VERDICTS = re.compile(
    r"(.*_)?(humans?|people|person|expert|annotators?|annotation|raters?|rated|reviewer"
    r"|coder|clinician|physician|doctor|manual|gold|ground_truth|truth|mensch)(_.*)?"
)
JUDGE_VERDICTS = re.compile(
    r"(.*_)?(judge|judged|llm|autorater|auto|pred|predicted|prediction|verdict|model"
    r"|gpt\w*|claude|gemini|llama\w*|mistral|qwen\w*|grader|evaluator|evaluation|metric"
    r"|score|success|passed|assertion)(_.*)?"
)
LABEL_COLUMN = re.compile(
    r"(.*_)?(labels?|target|expected|answer_key|correct_label|gt)(_.*)?"
)
# What is worse the more there is of it; of ranks the first is the best. As it is
# written.
WORSE = re.compile(
    r"(^|[^a-z])(ter|wer|cer|mer|ppl|perplexity|loss|nll|divergence|distance"
    r"|levenshtein|latency|cost|bias|harms?|harmful|unsafe|rank|ranks|ranking|rang"
    r"|platz|fp|fn|fpr|fnr|mae|mse|rmse|eer|edits?|corrections?|issues?|problems?"
    r"|flaws?|defects?|faults?|redundan\w*|repetiti\w*|severity|confusion|effort"
    r"|workload|noise|risk|delay)([^a-z]|$)|error|fehler|hallu|omission|omitted|missing"
    r"|contradict|incorrect|penalt|mistake|inaccura|inconsisten|unsupported|unfaithful"
    r"|irrelevan|fabricat|misleading|inappropriate|unnecessary|(^|[^a-z])(wrong|invalid"
    r"|flag|flags|flagged|violations?|violates|failures?|fail|failed|abusive|offensive"
    r"|hate|hateful|harmfulness|dangerous|spam|nonsense|off.?topic|fake|stereotypes?"
    r"|stereotyping|misinformation|disinformation|confabulat\w*)([^a-z]|$)"
    r"|(?<!\d)1\s*[=:]\s*(best|excellent|perfect|very good|good|high|strongly agree"
    r"|sehr gut)|toxic|m[aä]ngel|falsch"
)
# With one of these, too little is known: "free of errors", "errors corrected".
TURNED = re.compile(
    r"(^|[^a-z])(no|not|non|without|lack\w*|absence|absent|avoid\w*|zero|low|fewest"
    r"|least|reciprocal|correct|corrected|found|detected|detection|accuracy|robust\w*"
    r"|ohne|keine?|nicht|wenige?)([^a-z]|$)|free|frei"
)
# What a text is like, and not how good it is.
NEITHER = re.compile(
    r"(^|[^a-z])(len|length|lengths|words?|tokens?|chars?|characters?|sentences?"
    r"|seconds?|duration|time|year|count|fkgl|fkg|flesch|kincaid|gunning|fog|smog|ari"
    r"|compression|novelty|density|l[aä]nge|w[oö]rter|anzahl|zeit|dauer)([^a-z]|$)"
)
