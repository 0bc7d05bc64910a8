"""Claims by rule: the clauses of a statement.

A wrong cut makes a claim that nobody stated; a missing cut only makes a claim that says
two things. So a rule that is not sure does nothing. Every content word of the statement
is in a clause, with its negation. There are four rules, each applied to the clauses of
the one before:

1. Semicolons, except where a list continues: "Denies cough; fever; chills."
2. Coordinated clauses: "The film was normal, but the monitor showed a pause." We cut at
   "and" or "but" after a clause with a verb, before a pronoun, "the patient" or "there"
   with another verb; after a comma, if it is the first, also before a short noun phrase
   with a verb. We do not cut under "if", "unless", "whether", "because", "either",
   "denies that".
3. Shared subject: "She takes methotrexate and denies pain." becomes "She takes
   methotrexate." and "She denies pain." We cut before "denies", "endorses", "admits",
   "reports that" and the like.
4. Lists: "Skin: He denies itching, rash, or hives." becomes "Skin: He denies itching."
   and so on. After "denies", "negative for" and "no" with "or", two items are enough.
   After "endorses", "reports" and "positive for" we ask for three, so that "nausea and
   vomiting" stays one. An item is short and has no verb, digit or relative clause.

Not cut: modifiers that share a noun ("chest or back pain"), nouns that may share an
adjective or a preposition, brackets, quotation marks, questions, and statements of more
than 2,000 characters.
"""

import re
from collections import Counter
from itertools import chain

from metassay.core.options import Options
from metassay.text.citations import GROUP, parse
from metassay.text.tokens import content_tokens
from metassay.units.record import Decomposed, Decomposition
from metassay.units.statements import units_of

VERSION = 1  # raised by whoever changes results of this module's kinds

_MOST_WORDS = 6  # of an item
_LONGEST = 2000  # characters of a statement; longer ones are noise

# ---- what the rules look for: parts of patterns

_VERBS = "|".join(
    """
    is are was were am has have had does do did will would can could may might should must
    denies denied reports reported endorses endorsed states stated notes noted admits feels
    felt feeling doing takes took continues continued shows showed shown demonstrates
    demonstrated reveals revealed appears appeared remains remained seems seemed needs needed
    wants wanted uses used started stopped began presents presented underwent received tried
    tolerates tolerated improved worsened resolved agrees agreed understands understood lives
    works helps helped
    """.split()
)
_NOMINATIVE = "(?:he|she|they|we|i)"
_PATIENT = "(?:it|the patient|patient|pt)"
_SUBJECT = rf"(?:{_NOMINATIVE}|{_PATIENT}|(?:mr|mrs|ms|dr)\.? [A-Z][\w-]+)"
_ADVERB = "(?:also |still |now |currently |then |only )?"
_NOUN_PHRASE = (
    "(?:his|her|their|the|my|our|this|these|all)"
    r"(?: (?!that\b|who\b|which\b)[\w'-]+){1,4}?"
)
_HAS_VERB = re.compile(rf"\b(?:(?:{_VERBS})|{_NOMINATIVE} \w+)\b", re.IGNORECASE)
# It holds for all that follows it, so nothing after it stands by itself.
_SCOPE = re.compile(
    r"\b(?:if|unless|whether|until|because|when|whenever|in case|either|neither|both|between"
    r"|not only|(?:deny|denies|denied|denying|doubts?) that"
    r"|(?:not|never|n't) (?:think|believe|feel))\b",
    re.IGNORECASE,
)

# ---- the statement

_FINAL_STOP = re.compile(r"[.!\u2026]+$")
_ENCLOSED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"|\u201c[^\u201d]*\u201d")


def clauses(statement: str) -> list[str]:
    """Split a statement into claims, in its order; the statement itself if it is a single claim.

    Clauses end as the statement ends, begin with a capital if it does, and have no
    citations.

    >>> clauses("Skin: He denies itching, rash, or hives.")
    ['Skin: He denies itching.', 'Skin: He denies rash.', 'Skin: He denies hives.']
    >>> clauses("She has chest or back pain.")
    ['She has chest or back pain.']
    """
    statement = statement.strip()
    if not statement:
        return []
    if statement.endswith("?") or len(statement) > _LONGEST:
        return [statement]
    end = _FINAL_STOP.search(statement)
    final_stop = end.group() if end else ""
    pieces = [statement[: len(statement) - len(final_stop)]]
    for rule in (
        _split_at_semicolons,
        _split_coordinated,
        _split_shared_subject,
        _split_list,
    ):
        pieces = list(chain.from_iterable(map(rule, pieces)))
    if len(pieces) == 1:
        return [statement]
    begins_high = statement[0].isupper()
    claims = [_finish_claim(piece, final_stop, capital=begins_high) for piece in pieces]
    return claims if _have_every_word(claims, statement) else [statement]


def _have_every_word(claims: list[str], statement: str) -> bool:
    needed = Counter(content_tokens(GROUP.sub(" ", statement)))
    present = Counter[str]()
    for claim in claims:
        present.update(content_tokens(claim))
    return needed <= present


def _mask(text: str) -> str:
    """Mask brackets and quotations, which no rule cuts."""
    return _ENCLOSED.sub(lambda match: "\u00d7" * len(match.group()), text)


def _finish_claim(clause: str, final_stop: str, *, capital: bool) -> str:
    """Remove citations; end as the statement ends, and begin with a capital if asked to."""
    clause = parse(clause.strip(" ,;")).text
    if capital and clause.split(maxsplit=1)[0].islower():
        clause = clause[0].upper() + clause[1:]
    return clause + final_stop


# ---- rule 1: semicolons

_SEMICOLON = re.compile(r";\s+")
_LISTING = re.compile(
    r"\b(?:den(?:y|ies|ied|ying)|no|not|without|negative|positive|endorses|reports"
    r"|includ(?:es|ing)|following)\b",
    re.IGNORECASE,
)


def _split_at_semicolons(text: str) -> list[str]:
    masked = _mask(text)
    pieces = []
    start = 0
    for match in _SEMICOLON.finditer(masked):
        left = masked[start : match.start()]
        right = masked[match.end() :].split(";")[0]
        if _list_continues(left, right):
            continue
        if any(map(str.isalpha, left)) and any(map(str.isalpha, right)):
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


def _list_continues(left: str, right: str) -> bool:
    """Return whether the right side is another item of a list on the left."""
    if not _LISTING.search(left):
        return False
    return not (_HAS_VERB.search(right) or _LISTING.search(right))


# ---- rule 2: coordinated clauses

_COORDINATED = re.compile(
    r",? (?:and|but) "
    rf"(?={_NOMINATIVE} \w|{_PATIENT} {_ADVERB}(?:(?:{_VERBS})|\w+ed)\b"
    r"|there (?:is|are|was|were|has|have)\b)",
    re.IGNORECASE,
)
_AFTER_COMMA = re.compile(
    rf", (?:and|but) (?={_NOUN_PHRASE} (?:{_VERBS})\b)", re.IGNORECASE
)


def _split_coordinated(text: str) -> list[str]:
    masked = _mask(text)
    cuts = {match.span() for match in _COORDINATED.finditer(masked)}
    after_comma = _AFTER_COMMA.search(masked)
    if after_comma and "," not in masked[: after_comma.start()]:
        cuts.add(after_comma.span())
    pieces = []
    start = 0
    for cut_start, cut_end in sorted(cuts):
        has_verb = _HAS_VERB.search(masked, start, cut_start)
        if has_verb and not _SCOPE.search(masked, 0, cut_start):
            pieces.append(text[start:cut_start])
            start = cut_end
    return [*pieces, text[start:]]


# ---- rule 3: a shared subject

_SHARED = re.compile(
    r",? (?:and|but) (?=(?:denies|denied|endorses|endorsed|admits)\b"
    r"|(?:reports|states|notes) (?:that|he|she|no|having|an?|some|occasional|mild|moderate"
    r"|severe)\b)",
    re.IGNORECASE,
)
_SUBJECT_OPENS = re.compile(
    rf"(?:[^:;.]{{1,60}}: )?(?P<subject>{_SUBJECT}) (?!and\b|or\b)\w", re.IGNORECASE
)
_RELATIVE = re.compile(r"\b(?:who|whose|which|that)\b", re.IGNORECASE)


def _split_shared_subject(text: str) -> list[str]:
    masked = _mask(text)
    opening = _SUBJECT_OPENS.match(masked)
    cut = _SHARED.search(masked)
    if not opening or not cut or cut.start() < opening.end():
        return [text]
    before = masked[: cut.start()]
    if _SCOPE.search(before) or _RELATIVE.search(before):
        return [text]
    return [text[: cut.start()], f"{opening['subject']} {text[cut.end() :]}"]


# ---- rule 4: lists

_OF = "(?:(?:evidence|signs?|symptoms?|complaints?|(?:a )?history) of )?"
_DENIED = (
    f"(?:{_SUBJECT} )?{_ADVERB}(?:denies|denied)"
    f"(?: having)?(?: any)?(?: (?:recent|new))? {_OF}"
)
_NEGATIVE = f"(?:(?:{_SUBJECT}|review of systems|ros) (?:is|was) )?negative for {_OF}"
_NO = f"(?:there (?:is|are|was|were) |{_SUBJECT} (?:has|had) )?no {_OF}"
_POSITIVE = (
    f"(?:{_SUBJECT} )?{_ADVERB}"
    "(?:endorses|reports|complains of|is positive for|positive for)[ ]"
)
_LABEL = "(?:[^:;.,]{1,60}: )?"
# A label, and the words that open a list.
_HEAD = re.compile(
    rf"(?P<head>{_LABEL}"
    rf"(?:(?P<denied>{_DENIED}|{_NEGATIVE})|(?P<no>{_NO})|(?P<positive>{_POSITIVE})))",
    re.IGNORECASE,
)
_JOINT = re.compile(r",? (?:and/or|and|or) |,[ ]", re.IGNORECASE)
# A time after the last item.
_TAIL = re.compile(
    r"[ ](?:(?:over|in|within|during|for|since) the (?:past|last) [\w -]+|at this time|today"
    r"|currently)$",
    re.IGNORECASE,
)
_FIXED_PHRASE = re.compile(
    r"\b(?:shortness of breath|dyspnea on exertion|loss of consciousness)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:of|in|to|with|for|from|on|at|over|under|about|around|during|between|by|into"
    r"|through)\b",
    re.IGNORECASE,
)
# Alone between commas, these words qualify a noun further on.
_MODIFIER = re.compile(
    r"(?:\w+(?:al|ar|ic|ary|ory|ous|ive|ful|ed)|left|right|upper|lower|chest|back|neck|arm|leg"
    r"|foot|hand|knee|hip|ankle|wrist|shoulder|elbow|head|eye|ear|throat|bowel|bladder|heart"
    r"|lung|calf|joint|muscle|skin|sharp|dull|mild|moderate|severe|constant|intermittent"
    r"|stabbing|burning|throbbing|aching|acute|chronic|new|recent|significant|clear|regular)",
    re.IGNORECASE,
)
# At the first item, these words may qualify the whole list: "no extra fat, protein, or salt".
_QUALIFIER = re.compile(
    r"(?:extra|further|additional|known|acute|significant|new|recent|abnormal|obvious|visible"
    r"|active|gross|definite|major|prior|previous|more|worsening)[ ]",
    re.IGNORECASE,
)
_NO_ITEM = re.compile(
    rf"\d|[:()\[\]\"]|\b(?:{_VERBS}"
    r"|he|she|they|it|i|we|you|that|which|who|when|if|because|but|although|despite|except"
    r"|unless|due|secondary|so|then|than|as|while|not|no|nor|neither|without|such|including"
    r"|like|other|others|following|either|both|per|continue|return|follow|take|start|stop|call"
    r"|schedule|recommend|monitor|avoid|repeat|check|obtain|refer|resume|increase|decrease"
    r"|keep)\b",
    re.IGNORECASE,
)


def _split_list(text: str) -> list[str]:
    head = _HEAD.match(text)
    if not head or text != _mask(text):
        return [text]
    listed = text[head.end() :]
    tail = _TAIL.search(listed)
    when = tail.group() if tail else ""
    listed = listed[: len(listed) - len(when)]
    joints = [match.group().strip(", ") for match in _JOINT.finditer(listed)]
    items = _JOINT.split(listed)
    if not _has_enough_items(head, joints):
        return [text]
    if not all(map(_is_item, items)) or _shares_words(items):
        return [text]
    return [f"{head['head']}{item}{when}" for item in items]


def _has_enough_items(head: re.Match[str], joints: list[str]) -> bool:
    """Return whether it is a list; `joints`: what stands between items, "" for a comma."""
    if head["denied"]:
        return len(joints) >= 1
    if head["no"]:  # "No distress, alert": the negation continues only after `or`
        return len(joints) >= 1 and joints[-1] == "or" and "and" not in joints
    return len(joints) >= 2 and joints[-1] in ("and", "or") and not any(joints[:-1])


def _is_item(item: str) -> bool:
    return (
        any(map(str.isalpha, item))
        and len(item.split()) <= _MOST_WORDS
        and not _NO_ITEM.search(item)
    )


def _shares_words(items: list[str]) -> bool:
    """Return whether an item may share an adjective, a noun or a preposition of another."""
    if _QUALIFIER.match(items[0]):
        return True
    for item in items[:-1]:
        if _MODIFIER.fullmatch(item.strip()):
            return True
        if _PREPOSITION.search(_FIXED_PHRASE.sub("", item)):
            return True
    return False


CLAUSES = Decomposition(
    options=Options,
    take_apart=lambda parts, sources, *_: Decomposed(units_of(parts, sources, clauses)),
)
