"""Claims by rule: the clauses of a statement.

A cut that is wrong makes a claim that nobody stated; a cut that is missing only makes a claim that
says two things. So a rule that is not sure does nothing. Every content word of the statement is in
some clause, with what negates it. The rules, in order, each on what the one before left:

1. Semicolons. "Lungs are clear; stop aspirin." -> "Lungs are clear." + "Stop aspirin."
   Not where a list goes on: "Denies cough; fever; chills."
2. Coordinated clauses. "The film was normal, but the monitor showed a pause."
   -> "The film was normal." + "The monitor showed a pause."
   and/but, after a clause with a verb, before a pronoun, `the patient` or `there` with a verb of
   its own; after a comma, if it is the first, also before a short noun phrase with a verb. Not
   under if, unless, whether, because, either, denies that: "if he coughs and he is hot, call".
3. Shared subject. "She takes methotrexate and denies pain."
   -> "She takes methotrexate." + "She denies pain."
   A subject that opens the statement is repeated before denies, endorses, admits, reports that ...
4. Lists. "Skin: He denies itching, rash, or hives over the past week."
   -> "Skin: He denies itching over the past week." + "Skin: He denies rash over ..." + ...
   After denies, negative for, no ... or: two items are enough, since what is denied of both is
   denied of each. After endorses, reports, positive for: three or more, so that "nausea and
   vomiting" stays one. An item is short and has no verb, no digit, no relative clause. Left alone:
   modifiers that share a noun ("chest or back pain"), nouns that may share an adjective ("no acute
   fracture or dislocation") or a preposition ("no tenderness in the neck, back, or hips"). Numbers
   are no items: "March 3, 2021", "2 or 3 days".

Nothing is cut within brackets or quotation marks, nor in a question, nor in what runs on for more
than 2,000 characters.
"""

import re
from collections import Counter

import pandas as pd

from metassay.core.options import Options
from metassay.llm.needs import Resources
from metassay.text.citations import GROUP, parse
from metassay.text.tokens import content_tokens
from metassay.units.record import Decomposed, Decomposition
from metassay.units.statements import units_of

_VERBS = (
    "is are was were am has have had does do did will would can could may might should must denies"
    " denied reports reported endorses endorsed states stated notes noted admits feels felt feeling"
    " doing takes took continues continued shows showed shown demonstrates demonstrated reveals"
    " revealed appears appeared remains remained seems seemed needs needed wants wanted uses used"
    " started stopped began presents presented underwent received tried tolerates tolerated"
    " improved worsened resolved agrees agreed understands understood lives works helps helped"
)
_VERB = rf"(?:{'|'.join(_VERBS.split())})"
_NOMINATIVE = r"(?:he|she|they|we|i)"
_PATIENT = r"(?:it|the patient|patient|pt)"
_SUBJECT = rf"(?:{_NOMINATIVE}|{_PATIENT}|(?:mr|mrs|ms|dr)\.? [A-Z][\w-]+)"
_ADVERB = r"(?:also |still |now |currently |then |only )?"
_NOUN_PHRASE = (
    r"(?:his|her|their|the|my|our|this|these|all)(?: (?!that\b|who\b|which\b)[\w'-]+){1,4}?"
)

_SEMICOLON = re.compile(r";\s+")
_COORDINATED = re.compile(
    rf",? (?:and|but) (?={_NOMINATIVE} \w|{_PATIENT} {_ADVERB}(?:{_VERB}|\w+ed)\b"
    r"|there (?:is|are|was|were|has|have)\b)",
    re.I,
)
_AFTER_COMMA = re.compile(rf", (?:and|but) (?={_NOUN_PHRASE} {_VERB}\b)", re.I)
_SHARED = re.compile(
    r",? (?:and|but) (?=(?:denies|denied|endorses|endorsed|admits)\b"
    r"|(?:reports|states|notes)"
    r" (?:that|he|she|no|having|an?|some|occasional|mild|moderate|severe)\b)",
    re.I,
)
_HAS_VERB = re.compile(rf"\b(?:{_VERB}|{_NOMINATIVE} \w+)\b", re.I)
_OPENS = re.compile(rf"(?:[^:;.]{{1,60}}: )?(?P<subject>{_SUBJECT}) (?!and\b|or\b)\w", re.I)
# What holds for all that follows it, so that nothing after it stands by itself.
_SCOPE = re.compile(
    r"\b(?:if|unless|whether|until|because|when|whenever|in case|either|neither|both|between"
    r"|not only|(?:deny|denies|denied|denying|doubts?) that"
    r"|(?:not|never|n't) (?:think|believe|feel))\b",
    re.I,
)
_RELATIVE = re.compile(r"\b(?:who|whose|which|that)\b", re.I)
_LISTING = re.compile(
    r"\b(?:den(?:y|ies|ied|ying)|no|not|without|negative|positive|endorses|reports|includ(?:es|ing)"
    r"|following)\b",
    re.I,
)

_OF = r"(?:(?:evidence|signs?|symptoms?|complaints?|(?:a )?history) of )?"
_DENIED = (
    rf"(?:{_SUBJECT} )?{_ADVERB}(?:denies|denied)(?: having)?(?: any)?(?: (?:recent|new))? {_OF}"
)
_NEGATIVE = rf"(?:(?:{_SUBJECT}|review of systems|ros) (?:is|was) )?negative for {_OF}"
_NO = rf"(?:there (?:is|are|was|were) |{_SUBJECT} (?:has|had) )?no {_OF}"
_POSITIVE = (
    rf"(?:{_SUBJECT} )?{_ADVERB}(?:endorses|reports|complains of|is positive for|positive for) "
)
_LABEL = r"(?:[^:;.,]{1,60}: )?"
_HEAD = re.compile(
    rf"(?P<head>{_LABEL}(?:(?P<denied>{_DENIED}|{_NEGATIVE})|(?P<no>{_NO})|(?P<positive>{_POSITIVE})))",
    re.I,
)
_BETWEEN = re.compile(r",? (?:and/or|and|or) |, ", re.I)
_TAIL = re.compile(
    r" (?:(?:over|in|within|during|for|since) the (?:past|last) [\w -]+"
    r"|at this time|today|currently)$",
    re.I,
)
_FIXED = re.compile(r"\b(?:shortness of breath|dyspnea on exertion|loss of consciousness)\b", re.I)
_PREPOSITION = re.compile(
    r"\b(?:of|in|to|with|for|from|on|at|over|under|about|around|during|between|by|into|through)\b",
    re.I,
)
_NO_ITEM = re.compile(
    rf"\d|[:()\[\]\"]|\b(?:{'|'.join(_VERBS.split())}|he|she|they|it|i|we|you|that|which|who|when|if"
    r"|because|but|although|despite|except|unless|due|secondary|so|then|than|as|while|not|no|nor"
    r"|neither|without|such|including|like|other|others|following|either|both|per|continue|return"
    r"|follow|take|start|stop|call|schedule|recommend|monitor|avoid|repeat|check|obtain|refer|resume"
    r"|increase|decrease|keep)\b",
    re.I,
)
# Words that qualify a noun further on, if they stand alone between commas.
_MODIFIER = re.compile(
    r"(?:\w+(?:al|ar|ic|ary|ory|ous|ive|ful|ed)|left|right|upper|lower|chest|back|neck|arm|leg|foot"
    r"|hand|knee|hip|ankle|wrist|shoulder|elbow|head|eye|ear|throat|bowel|bladder|heart|lung|calf"
    r"|joint|muscle|skin|sharp|dull|mild|moderate|severe|constant|intermittent|stabbing|burning"
    r"|throbbing|aching|acute|chronic|new|recent|significant|clear|regular)",
    re.I,
)
# Words that may qualify a whole list from its first item: "no extra fat, protein, or salt".
_QUALIFIER = re.compile(
    r"(?:extra|further|additional|known|acute|significant|new|recent|abnormal|obvious|visible|active"
    r"|gross|definite|major|prior|previous|more|worsening) ",
    re.I,
)
_MOST_WORDS = 6  # of an item
_LONGEST = 2000  # characters of a statement; longer ones are no sentences but noise
_ENCLOSED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"|\u201c[^\u201d]*\u201d")
_FINAL = re.compile(r"[.!\u2026]+$")


def clauses(statement: str) -> list[str]:
    """The claims that a statement makes, in its order; the statement itself if it makes one.

    Clauses end as the statement ends, begin with a capital if it does, and have no citations.
    """
    statement = statement.strip()
    if not statement:
        return []
    if statement.endswith("?") or len(statement) > _LONGEST:
        return [statement]
    end = _FINAL.search(statement)
    final = end.group() if end else ""
    found = [statement[: len(statement) - len(final)]]
    for rule in (_at_semicolons, _at_clauses, _at_shared_subject, _in_list):
        found = [clause for one in found for clause in rule(one)]
    if len(found) == 1:
        return [statement]
    written = [_written(clause, final, capital=statement[0].isupper()) for clause in found]
    return written if _covers(written, statement) else [statement]


def _masked(text: str) -> str:
    """The text with what stands in brackets or quotation marks out of every rule's sight."""
    return _ENCLOSED.sub(lambda match: "\u00d7" * len(match.group()), text)


def _at_semicolons(text: str) -> list[str]:
    shown = _masked(text)
    found, start = [], 0
    for match in _SEMICOLON.finditer(shown):
        left, right = shown[start : match.start()], shown[match.end() :].split(";")[0]
        goes_on = _LISTING.search(left) and not (_HAS_VERB.search(right) or _LISTING.search(right))
        if not goes_on and _speaks(left) and _speaks(right):
            found.append(text[start : match.start()])
            start = match.end()
    return [*found, text[start:]]


def _at_clauses(text: str) -> list[str]:
    shown = _masked(text)
    cuts = {match.span() for match in _COORDINATED.finditer(shown)}
    after_comma = _AFTER_COMMA.search(shown)
    if after_comma and "," not in shown[: after_comma.start()]:
        cuts.add(after_comma.span())
    found, start = [], 0
    for left, right in sorted(cuts):
        if _HAS_VERB.search(shown, start, left) and not _SCOPE.search(shown, 0, left):
            found.append(text[start:left])
            start = right
    return [*found, text[start:]]


def _at_shared_subject(text: str) -> list[str]:
    shown = _masked(text)
    opens = _OPENS.match(shown)
    cut = _SHARED.search(shown)
    if not opens or not cut or cut.start() < opens.end():
        return [text]
    if _SCOPE.search(shown, 0, cut.start()) or _RELATIVE.search(shown, 0, cut.start()):
        return [text]
    return [text[: cut.start()], f"{opens['subject']} {text[cut.end() :]}"]


def _in_list(text: str) -> list[str]:
    head = _HEAD.match(text)
    if not head or text != _masked(text):
        return [text]
    rest = text[head.end() :]
    tail = _TAIL.search(rest)
    when = tail.group() if tail else ""
    rest = rest[: len(rest) - len(when)]
    joints = [match.group().strip(", ") for match in _BETWEEN.finditer(rest)]
    items = _BETWEEN.split(rest)
    if not _enough(head, joints) or not all(map(_is_item, items)) or _share(items):
        return [text]
    return [f"{head['head']}{item}{when}" for item in items]


def _enough(head: re.Match[str], joints: list[str]) -> bool:
    if head["denied"]:
        return len(joints) >= 1
    if head["no"]:  # "No distress, alert": only `or` says that the negation goes on
        return len(joints) >= 1 and joints[-1] == "or" and "and" not in joints
    return len(joints) >= 2 and joints[-1] in ("and", "or") and not any(joints[:-1])


def _is_item(item: str) -> bool:
    return _speaks(item) and len(item.split()) <= _MOST_WORDS and not _NO_ITEM.search(item)


def _share(items: list[str]) -> bool:
    """Whether some item may lean on an adjective, a noun or a preposition of another."""
    return bool(_QUALIFIER.match(items[0])) or any(
        _MODIFIER.fullmatch(item.strip()) or _PREPOSITION.search(_FIXED.sub("", item))
        for item in items[:-1]
    )


def _speaks(text: str) -> bool:
    return any(map(str.isalpha, text))


def _written(clause: str, final: str, *, capital: bool) -> str:
    clause = parse(clause.strip(" ,;")).text
    if capital and clause.split(maxsplit=1)[0].islower():
        clause = clause[0].upper() + clause[1:]
    return clause + final


def _covers(found: list[str], statement: str) -> bool:
    need = Counter(content_tokens(GROUP.sub(" ", statement)))
    have = Counter(token for clause in found for token in content_tokens(clause))
    return need <= have


class ClauseOptions(Options):
    """There is nothing to set: it is one set of rules."""


def _take_apart(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: ClauseOptions,  # noqa: ARG001
    resources: Resources,  # noqa: ARG001
) -> Decomposed:
    return Decomposed(units_of(parts, sources, clauses))


KIND = Decomposition(options=ClauseOptions, take_apart=_take_apart)
